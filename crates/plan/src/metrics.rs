//! Checks that the experiment measures the metrics that it mentions.

use assize_job::{ELAPSED, Mark, MetricName, MetricSource, Workload, WorkloadKind};

use crate::experiment::Experiment;
use crate::plan::PlannedConfiguration;
use crate::report::{tables, tradeoffs};
use crate::values::document::join;
use crate::values::error::{Error, comma_separated, did_you_mean, suggestion};

/// Former names of metrics, with the current ones.
const FORMER: &[(&str, &str)] = &[("time", ELAPSED)];

/// The instrument that measures the metrics below.
const RESIDENCY: &str = "cpu-residency";
/// Metrics that need idle states with declared powers.
const MODELLED: [&str; 3] = [
    "modelled_energy",
    "modelled_power",
    "modelled_energy_per_job",
];
/// Metrics that need declared frequencies.
const OF_FREQUENCY: [&str; 2] = ["frequency_changes", "mean_frequency"];

/// Checks every metric that the file mentions; the error is the first mistake.
/// `configurations` are all configurations of the file: a metric counts as
/// measured if one of them measures it.
pub(crate) fn check(
    experiment: &Experiment,
    configurations: &[PlannedConfiguration],
) -> Result<(), Error> {
    let file = &experiment.file;
    let every = || configurations.iter().flat_map(|one| &one.workloads);
    check_printed(experiment, every())?;
    check_power_declared(experiment, configurations)?;
    let here = GivenMetrics::new(experiment, every());
    for (at, primary) in file.primary.iter().enumerate() {
        here.require_measured(&format!("primary[{at}].metric"), &primary.metric)?;
    }
    for (at, metric) in file.higher_is_better.iter().enumerate() {
        here.require_measured(&format!("higher_is_better[{at}]"), metric)?;
    }
    let names = experiment.names();
    for (at, table) in file.tables.iter().enumerate() {
        let columns = table.columns(&names);
        let is_column = |workload: &&Workload| columns.contains(&workload.name.as_str());
        let here = GivenMetrics::new(experiment, every().filter(is_column));
        for (which, metric) in table.metric.iter().enumerate() {
            here.require_measured(
                &tables::metric_path(&experiment.document, at, which),
                metric,
            )?;
        }
    }
    for (at, tradeoff) in file.tradeoffs.iter().enumerate() {
        for (path, side) in tradeoffs::sides(at, tradeoff) {
            let meant = |workload: &&Workload| match &side.workload {
                Some(name) => workload.name == *name,
                None => true,
            };
            let here = GivenMetrics::new(experiment, every().filter(meant));
            here.require_measured(&format!("{path}.metric"), &side.metric)?;
        }
    }
    Ok(())
}

/// The workloads that measure all of these metrics, in the order of the file.
pub(crate) fn workloads_with(
    experiment: &Experiment,
    configurations: &[PlannedConfiguration],
    metrics: &[&str],
) -> Vec<String> {
    let names = experiment.file.workloads.keys();
    let all = names.filter(|name| {
        let every = configurations.iter().flat_map(|one| &one.workloads);
        let here = GivenMetrics::new(experiment, every.filter(|one| one.name == **name));
        metrics.iter().all(|metric| here.measures(metric))
    });
    all.cloned().collect()
}

/// Checks that idle states or frequencies are declared where a metric needs
/// them.
fn check_power_declared(
    experiment: &Experiment,
    configurations: &[PlannedConfiguration],
) -> Result<(), Error> {
    let file = &experiment.file;
    if !file.instruments.iter().any(|name| name == RESIDENCY) {
        return Ok(());
    }
    let idle = configurations.iter().any(|one| one.idle.is_some());
    let frequency = configurations.iter().any(|one| one.frequency.is_some());
    let primary = file.primary.iter().map(|primary| &primary.metric);
    let primary = primary
        .enumerate()
        .map(|(at, metric)| (format!("primary[{at}].metric"), metric));
    let of_tables = file.tables.iter().enumerate().flat_map(|(at, table)| {
        let path = move |which| tables::metric_path(&experiment.document, at, which);
        let metrics = table.metric.iter().enumerate();
        metrics.map(move |(which, metric)| (path(which), metric))
    });
    let of_tradeoffs = file
        .tradeoffs
        .iter()
        .enumerate()
        .flat_map(|(at, tradeoff)| {
            let sides = tradeoffs::sides(at, tradeoff).into_iter();
            sides.map(|(path, side)| (format!("{path}.metric"), &side.metric))
        });
    for (path, metric) in primary.chain(of_tables).chain(of_tradeoffs) {
        let error = |what: &str, mend: &str| {
            let why = format!("'{metric}' needs {what}, and none are declared");
            Err(experiment.error(&path, why).mend(mend))
        };
        if MODELLED.contains(&metric.as_str()) && !idle {
            return error("idle states", "add idle = { states = \"phone\" }");
        }
        let of_frequency =
            OF_FREQUENCY.contains(&metric.as_str()) || metric.starts_with("frequency_time:");
        if of_frequency && !frequency {
            return error("frequencies", "add frequency = { steps = \"phone\" }");
        }
    }
    Ok(())
}

/// Rejects a metric parsed from a program's output that has the name of a
/// built-in one.
fn check_printed<'a>(
    experiment: &Experiment,
    workloads: impl Iterator<Item = &'a Workload>,
) -> Result<(), Error> {
    for workload in workloads {
        let WorkloadKind::Command(command) = &workload.kind else {
            continue;
        };
        let mut silent = workload.clone();
        silent.kind = WorkloadKind::Command(assize_job::CommandWorkload::default());
        let others = assize_job::measured(&[&silent], &experiment.file.instruments);
        for (at, metric) in command.metrics.iter().enumerate() {
            if others.iter().any(|name| name.matches(metric)) {
                let path = join(&join("workloads", &workload.name), "metrics");
                let why = format!("'{metric}' is measured by assize, not by the program");
                let error = experiment.error(&format!("{path}[{at}]"), why);
                return Err(error.mend("let the program print its metric under another name"));
            }
        }
    }
    Ok(())
}

/// The metrics that a set of workloads provides.
struct GivenMetrics<'a> {
    experiment: &'a Experiment,
    names: Vec<MetricName>,
}

impl<'a> GivenMetrics<'a> {
    fn new(experiment: &'a Experiment, workloads: impl Iterator<Item = &'a Workload>) -> Self {
        let workloads: Vec<&Workload> = workloads.collect();
        GivenMetrics {
            experiment,
            names: assize_job::measured(&workloads, &experiment.file.instruments),
        }
    }

    /// Returns an error unless the metric is measured.
    fn require_measured(&self, path: &str, metric: &str) -> Result<(), Error> {
        if self.measures(metric) {
            return Ok(());
        }
        let error = |why: &str| self.experiment.error(path, format!("{why} '{metric}'"));
        if assize_job::is_event(metric) {
            let error = error("only rates are computed for the events");
            return Err(error.mend("remove it: rates are compared anyway"));
        }
        let error = error("nothing here measures");
        let former = FORMER
            .iter()
            .find(|(before, now)| *before == metric && self.measures(now));
        if let Some((_, now)) = former {
            return Err(error.mend(did_you_mean(now)));
        }
        if let Some(mend) = self.elsewhere(metric) {
            return Err(error.mend(mend));
        }
        let names: Vec<String> = self
            .names
            .iter()
            .map(|name| name.closest_name(metric))
            .collect();
        let names = names.iter().map(String::as_str);
        let former = FORMER.iter().filter(|(_, now)| self.measures(now));
        let former = former.filter(|(before, _)| suggestion(metric, [*before]).is_some());
        let former = former.map(|(_, now)| did_you_mean(now)).next();
        let mend = suggestion(metric, names).or(former);
        Err(error.mend(mend.unwrap_or_else(|| self.all())))
    }

    fn measures(&self, metric: &str) -> bool {
        self.names.iter().any(|name| name.matches(metric))
    }

    /// Describes how to measure the metric; `None` if no such metric exists.
    fn elsewhere(&self, metric: &str) -> Option<String> {
        Some(match assize_job::metric_sources(metric).next()? {
            MetricSource::Workloads(kinds) => {
                format!("workloads that do: {}", comma_separated(kinds))
            }
            MetricSource::Instrument(name) => {
                let instruments = &self.experiment.file.instruments;
                match instruments.iter().any(|one| one == name) {
                    true => "only workloads that submit to simgpu have jobs".into(),
                    false => format!("add '{name}' to instruments"),
                }
            }
        })
    }

    /// All metric names for a message, with only the median of each
    /// distribution.
    fn all(&self) -> String {
        let is_shown = |name: &&MetricName| name.mark.is_none_or(|mark| mark == Mark::P50);
        let shown: Vec<String> = self
            .names
            .iter()
            .filter(is_shown)
            .map(MetricName::to_string)
            .collect();
        if shown.is_empty() {
            return "no workload here gives a metric; add instruments that do".into();
        }
        let rest = match self.names.iter().any(|name| name.mark.is_some()) {
            false => String::new(),
            true => {
                let words = Mark::ALL.iter().skip(1).map(|mark| mark.word());
                format!(
                    "; instead of p50 also {}",
                    words.collect::<Vec<_>>().join(", ")
                )
            }
        };
        format!("measured: {}{rest}", shown.join(", "))
    }
}
