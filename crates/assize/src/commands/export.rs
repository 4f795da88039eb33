//! Writes results in the formats of hyperfine's `--export-json`, `--export-csv` and
//! `--export-markdown`, for scripts that read those.

use std::path::{Path, PathBuf};

use assize_bundle::{Records, Run};
use assize_judge::quantile::type7;
use assize_judge::{mean, variance};
use assize_report::significant;
use assize_verdict::{Comparison, Document};
use serde::Serialize;

use super::file::{CommandsExperiment, ELAPSED};
use crate::cli::CommandsArguments;
use crate::failure::Failure;
use crate::output;

const NANOSECONDS: f64 = 1e9;
/// Units of a table, the largest first: word, symbol, number per second.
const UNITS: [(&str, f64); 4] = [("s", 1.0), ("ms", 1e3), ("µs", 1e6), ("ns", 1e9)];
/// Significant digits of a figure in a table.
const DIGITS: usize = 4;

/// The results of one command; times in seconds.
#[derive(Debug, Serialize)]
struct CommandTimes {
    command: String,
    mean: f64,
    /// Standard deviation; `null` for a single run.
    stddev: Option<f64>,
    median: f64,
    user: f64,
    system: f64,
    min: f64,
    max: f64,
    times: Vec<f64>,
    /// The name of its configuration.
    #[serde(skip)]
    configuration: String,
}

/// The contents of the JSON file.
#[derive(Debug, Serialize)]
struct Results<'t> {
    results: &'t [CommandTimes],
}

/// Writes the files that the command line requests.
pub(super) fn write(
    asked: &CommandsArguments,
    experiment: &CommandsExperiment,
    records: &Records,
    document: &Document,
) -> Result<(), Failure> {
    let files: [(&Option<PathBuf>, Export); 3] = [
        (&asked.export_json, as_json),
        (&asked.export_csv, as_csv),
        (&asked.export_markdown, as_markdown),
    ];
    let times = command_times(experiment, records);
    for (path, export) in files {
        if let Some(path) = path {
            let text = export(&times, document).map_err(|why| failed(path, why))?;
            output::deliver(text.as_bytes(), Some(path))?;
        }
    }
    Ok(())
}

/// A function that formats a file.
type Export = fn(&[CommandTimes], &Document) -> Result<String, std::io::Error>;

fn failed(path: &Path, source: std::io::Error) -> Failure {
    Failure::Write {
        what: path.display().to_string(),
        source,
    }
}

/// The times of each command that completed at least once, in the order of the commands.
fn command_times(experiment: &CommandsExperiment, records: &Records) -> Vec<CommandTimes> {
    let configurations = records.configurations.iter();
    let times = configurations.filter_map(|configuration| {
        let name = &configuration.name;
        let runs = records.runs.iter();
        let mut runs: Vec<&Run> = runs.filter(|run| run.configuration == *name).collect();
        runs.sort_by_key(|run| run.order);
        let seconds = |metric: &str| -> Vec<f64> {
            let values = runs.iter().filter_map(|run| run.metrics.get(metric));
            values.map(|one| one.value / NANOSECONDS).collect()
        };
        let mean_of = |metric: &str| {
            let values = seconds(metric);
            if values.is_empty() {
                0.0
            } else {
                mean(&values)
            }
        };
        let times = seconds(ELAPSED);
        let mut sorted = times.clone();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        Some(CommandTimes {
            command: experiment.command_of(name).to_owned(),
            mean: mean(&times),
            stddev: (times.len() > 1).then(|| variance(&times).sqrt()),
            median: type7(&sorted, 0.5).ok()?,
            user: mean_of("command_user_time"),
            system: mean_of("command_system_time"),
            min,
            max,
            times,
            configuration: name.clone(),
        })
    });
    times.collect()
}

fn as_json(times: &[CommandTimes], _: &Document) -> Result<String, std::io::Error> {
    let mut text = serde_json::to_string_pretty(&Results { results: times })?;
    text.push('\n');
    Ok(text)
}

fn as_csv(times: &[CommandTimes], _: &Document) -> Result<String, std::io::Error> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record([
        "command", "mean", "stddev", "median", "user", "system", "min", "max",
    ])?;
    for one in times {
        let stddev = one.stddev.map_or(String::new(), |value| value.to_string());
        let [mean, median, user, system, min, max] =
            [one.mean, one.median, one.user, one.system, one.min, one.max]
                .map(|value| value.to_string());
        let row = [
            &one.command,
            &mean,
            &stddev,
            &median,
            &user,
            &system,
            &min,
            &max,
        ];
        table.write_record(row)?;
    }
    let bytes = table.into_inner().map_err(|error| error.into_error())?;
    String::from_utf8(bytes).map_err(std::io::Error::other)
}

/// Formats hyperfine's table, with the ratio to the baseline and its interval.
fn as_markdown(times: &[CommandTimes], document: &Document) -> Result<String, std::io::Error> {
    let largest = times.iter().map(|one| one.mean).fold(0.0, f64::max);
    let chosen = document
        .time_unit
        .as_deref()
        .map(|unit| unit.replace("us", "µs"));
    let (unit, per_second) = UNITS
        .into_iter()
        .find(|(unit, per_second)| match &chosen {
            Some(chosen) => chosen == unit,
            None => largest * per_second >= 1.0,
        })
        .unwrap_or(UNITS[UNITS.len() - 1]);
    let figure = |seconds: f64| significant(seconds * per_second, DIGITS);
    let mut text = format!(
        "| Command | Mean [{unit}] | Min [{unit}] | Max [{unit}] | Relative |\n\
         |:---|---:|---:|---:|---:|\n"
    );
    for one in times {
        let spread = one
            .stddev
            .map_or(String::new(), |sd| format!(" ± {}", figure(sd)));
        text.push_str(&format!(
            "| `{}` | {}{spread} | {} | {} | {} |\n",
            one.command.replace('|', "\\|"),
            figure(one.mean),
            figure(one.min),
            figure(one.max),
            relative(&one.configuration, document)
        ));
    }
    Ok(text)
}

/// The ratio of elapsed time to the baseline, with its interval.
fn relative(configuration: &str, document: &Document) -> String {
    let of_elapsed =
        |row: &&Comparison| row.metric == ELAPSED && row.configuration == configuration;
    let row = document.comparisons.iter().find(of_elapsed);
    let ratio = |value: f64| significant(value, DIGITS);
    match row.and_then(|row| row.ratio.map(|of| (of, row.ci))) {
        Some((of, Some([low, high]))) => {
            format!("{} ({} to {})", ratio(of), ratio(low), ratio(high))
        }
        Some((of, None)) => ratio(of),
        None if document.baseline.as_deref() == Some(configuration) => "1".to_owned(),
        None => "–".to_owned(),
    }
}
