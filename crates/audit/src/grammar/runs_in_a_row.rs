//! All runs of a configuration on one line, behind its name:
//!
//! ```text
//! Before patch: map_time: 2.88s 2.91s 2.85s      off: 40.3s = avg(40.6 39.3 41.0)
//! After patch:  map_time: 0.31s 0.30s 0.33s      on:  38.8s = avg(38.6 39.1 38.7)
//! ```
//!
//! A block has at least two such lines, each with a name that configurations have, and
//! none of them twice. Each figure is a run. A mean that is given beside them must be
//! that of the figures, else none is read.
//!
//! Below a heading they stand behind what was measured, and above their mean, without
//! which nothing says that they are runs:
//!
//! ```text
//! Without the patch:
//!   Times: 3.088, 3.103, 3.068, 3.103, 3.107
//!   Mean: 3.0938
//! ```

use super::begins::Begins;
use super::cells::{configuration, label, line_at};
use super::quantity::{Quantity, is_measure, metric_of, quantity};
use super::spread::{DEVIATIONS, MEANS};
use super::{Block, Figure, Finding, Grammar, Labels, Taken};
use crate::Line;
use crate::roles::words::names_configuration;

/// Runs in a row; see the module.
pub struct RunsInARow;

/// Its name among the formats.
pub(crate) const RUNS_IN_A_ROW: &str = "runs-in-a-row";

/// A longer line is no such line.
const LONGEST: usize = 300;
/// The runs of a configuration stand on no more lines.
const LINES: usize = 8;
/// A name of a configuration has no more words.
const WORDS: usize = 6;
/// So many runs of each are needed, and more are not read.
const RUNS: std::ops::RangeInclusive<usize> = 3..=1000;
const TAKEN: Taken = "runs in a row";
/// How runs are called that are not called after what was measured.
const NAMES_OF_RUNS: [&str; 8] = [
    "times", "timings", "time", "elapsed", "runs", "results", "samples", "values",
];

impl Grammar for RunsInARow {
    fn name(&self) -> &'static str {
        RUNS_IN_A_ROW
    }

    fn is_report(&self) -> bool {
        false
    }

    fn begins(&self) -> Begins {
        Begins::holding(b":=")
    }

    fn starts(&self, line: &str) -> bool {
        let line = line.trim_end();
        let row = || (line.len() <= LONGEST).then(|| behind_name(line)).flatten();
        row().is_some_and(|(_, rest)| {
            let numbers = rest.split_ascii_whitespace().filter(|word| is_number(word));
            numbers.take(3).count() == 3
        })
    }

    fn reach(&self) -> usize {
        0
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        above_their_mean(lines).or_else(|| by_configuration(lines))
    }
}

/// Runs behind the names of configurations.
fn by_configuration(lines: &[Line<'_>]) -> Option<Block> {
    let mut rows: Vec<(usize, Row<'_>)> = Vec::new();
    let mut at = 0;
    loop {
        let blank = line_at(lines, at).is_some_and(|text| text.trim().is_empty());
        let from = at + usize::from(blank && !rows.is_empty());
        let Some((row, used)) = row(lines, from) else {
            break;
        };
        let first = rows.first().map_or(&row, |(_, first)| first);
        let other = rows.iter().all(|(_, known)| known.name != row.name);
        if !other || (&first.metric, first.unit) != (&row.metric, row.unit) {
            break;
        }
        rows.push((from, row));
        at = from + used;
    }
    if rows.len() < 2 {
        return None;
    }
    let mut block = Block {
        findings: Vec::new(),
        taken: vec![TAKEN; at],
    };
    for (at, row) in rows {
        for run in row.runs {
            let mut figure = Figure::new(row.metric.clone(), run.value, row.unit);
            figure.step = Some(run.step);
            let labels = configuration(Some(row.name));
            let figures = vec![figure];
            block.find(at, Finding::Run { labels, figures });
        }
    }
    Some(block)
}

/// Runs behind what was measured, above their mean and maybe their deviation.
fn above_their_mean(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let text = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let (name, rest) = behind_name(text(0)?)?;
    if names_configuration(name) || rest.len() > LONGEST {
        return None;
    }
    let parts = rest.split([',', ' ', '\t']).filter(|part| !part.is_empty());
    let runs: Vec<Quantity<'_>> = parts
        .map(|part| quantity(part).filter(|(_, behind)| behind.is_empty()))
        .map(|found| found.map(|(run, _)| run))
        .collect::<Option<_>>()?;
    let unit = runs.first()?.unit;
    if !RUNS.contains(&runs.len()) || runs.iter().any(|run| run.unit != unit) {
        return None;
    }
    let (what, given) = behind_name(text(1)?)?;
    let words = what.to_lowercase();
    let is_mean = MEANS.contains(&words.split(' ').next().unwrap_or_default());
    let (given, _) = quantity(given).filter(|_| is_mean)?;
    let mean = runs.iter().map(|run| run.value).sum::<f64>() / runs.len() as f64;
    let own = given.unit == unit || given.unit.is_empty() || unit.is_empty();
    if !own || (given.value - mean).abs() > given.step {
        return None;
    }
    let unit = if unit.is_empty() { given.unit } else { unit };
    let deviates = |text: &str| {
        let name = behind_name(text).map(|(name, _)| name.to_lowercase());
        name.is_some_and(|name| DEVIATIONS.contains(&name.as_str()))
    };
    let mut block = Block {
        findings: Vec::new(),
        taken: vec![TAKEN; 2 + usize::from(text(2).is_some_and(deviates))],
    };
    let called = name.to_lowercase();
    let metric = match NAMES_OF_RUNS.contains(&called.as_str()) {
        true if called.starts_with("tim") || called == "elapsed" => "time",
        true if !unit.is_empty() => metric_of(unit),
        _ => name,
    };
    for run in runs {
        let mut figure = Figure::new(label(metric), run.value, unit);
        figure.step = Some(run.step);
        let (labels, figures) = (Labels::default(), vec![figure]);
        block.find(0, Finding::Run { labels, figures });
    }
    Some(block)
}

/// The runs of one configuration.
struct Row<'t> {
    name: &'t str,
    metric: String,
    unit: &'t str,
    runs: Vec<Run>,
}

struct Run {
    value: f64,
    step: f64,
}

fn is_number(word: &str) -> bool {
    let word = word.strip_prefix("avg(").unwrap_or(word);
    word.trim_start_matches('(')
        .starts_with(|c: char| c.is_ascii_digit())
}

/// The name of a configuration and what stands behind it.
fn parted(line: &str) -> Option<(&str, &str)> {
    behind_name(line).filter(|(name, _)| names_configuration(name))
}

/// A name and what stands behind it.
fn behind_name(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_at(line.find([':', '='])?);
    let name = name.trim().trim_start_matches(['-', '*', '•']).trim();
    let rest = &rest[1..];
    let fits = name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.split_ascii_whitespace().count() <= WORDS
        && rest.starts_with([' ', '\t']);
    fits.then_some((name, rest.trim()))
}

/// The row that begins on a line, and on how many lines it stands.
fn row<'t>(lines: &'t [Line<'_>], at: usize) -> Option<(Row<'t>, usize)> {
    let text = line_at(lines, at).filter(|text| text.len() <= LONGEST)?;
    let (name, mut rest) = parted(text)?;
    let mut metric = None;
    if let Some((word, behind)) = rest.split_once(": ")
        && word.starts_with(|c: char| c.is_ascii_alphabetic())
        && !word.contains(char::is_whitespace)
    {
        (metric, rest) = (Some(word), behind.trim_start());
    }
    let (mut words, mut used) = (Vec::new(), 1);
    let (mean, unit) = match rest.split_once("avg(") {
        Some((head, behind)) => {
            let (mean, unit) = mean(head.trim().strip_suffix('=')?.trim())?;
            let mut last = behind;
            while !last.contains(')') && used < LINES {
                words.extend(last.split_ascii_whitespace());
                last = line_at(lines, at + used)?;
                used += 1;
            }
            let (end, none) = last.split_once(')')?;
            if !none.trim().is_empty() {
                return None;
            }
            words.extend(end.split_ascii_whitespace());
            (Some(mean), unit)
        }
        None => {
            words.extend(rest.split_ascii_whitespace());
            let (first, _) = quantity(words.first()?)?;
            (None, first.unit)
        }
    };
    let mut runs = Vec::new();
    for word in words {
        // `*average 89% improvement*`
        if mean.is_none() && word.starts_with(['*', '(', '[']) {
            break;
        }
        let (run, behind) = quantity(word)?;
        let own = run.unit == unit || mean.is_some() && run.unit.is_empty();
        if !own || !matches!(behind, "" | "," | ";") {
            return None;
        }
        let (value, step) = (run.value, run.step);
        runs.push(Run { value, step });
    }
    let sum: f64 = runs.iter().map(|run| run.value).sum();
    let own = sum / runs.len() as f64;
    let right = mean.is_none_or(|mean| (mean.value - own).abs() <= mean.step);
    let metric = metric.unwrap_or(metric_of(unit)).to_owned();
    let row = Row {
        name,
        metric,
        unit,
        runs,
    };
    let named = !row.metric.is_empty();
    (RUNS.contains(&row.runs.len()) && right && named).then_some((row, used))
}

/// A mean and its unit: `40.3s`, `7029/minute`.
fn mean(text: &str) -> Option<(Run, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',')));
    let (number, unit) = text.split_at(end?);
    let (number, _) = quantity(number)?;
    let unit = unit.trim();
    let per = unit.strip_prefix('/').is_some_and(|word| {
        (1..=12).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_alphabetic())
    });
    let (value, step) = (number.value, number.step);
    (per || is_measure(unit)).then_some((Run { value, step }, unit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::testing;

    #[test]
    fn runs_above_their_mean_are_those_of_the_heading() {
        let read = |text: &str| testing::figures(&RunsInARow, text);
        let time = |value: f64| ("time".to_owned(), value);
        assert_eq!(
            read("  Times: 3.1, 3.3, 3.2\n  Mean: 3.2\n  Standard deviation: 0.1\n"),
            [time(3.1), time(3.3), time(3.2)]
        );
        assert_eq!(
            read("Times: 10m52.978s 10m50.161s 10m45.601s\nMean: 649.58s\n"),
            [time(652.978), time(650.161), time(645.601)]
        );
        let speed = |value: f64| ("Speed".to_owned(), value);
        assert_eq!(
            read("Speed: 266.8MiB/s, 265.1MiB/s, 262.9MiB/s\nAverage speed: 264.9MiB/s\n"),
            [speed(266.8), speed(265.1), speed(262.9)]
        );
        for none in [
            // Of something else, of what nobody says, too few, and in two units.
            "Times: 3.1, 3.3, 3.2\nMean: 3.7\n",
            "Times: 3.1, 3.3, 3.2\nLongest: 3.3\n",
            "Times: 3.1, 3.3\nMean: 3.2\n",
            "Speed: 266.8MiB/s, 265.1KiB/s, 262.9MiB/s\nAverage speed: 264.9MiB/s\n",
        ] {
            assert_eq!(read(none), [], "{none}");
        }
    }
}
