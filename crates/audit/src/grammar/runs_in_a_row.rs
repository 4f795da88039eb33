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

use super::begins::Begins;
use super::cells::{configuration, line_at};
use super::quantity::{is_measure, metric_of, quantity};
use super::{Block, Figure, Finding, Grammar, Taken};
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

impl Grammar for RunsInARow {
    fn name(&self) -> &'static str {
        RUNS_IN_A_ROW
    }

    fn begins(&self) -> Begins {
        Begins::holding(b":=")
    }

    fn starts(&self, line: &str) -> bool {
        let line = line.trim_end();
        let row = || (line.len() <= LONGEST).then(|| parted(line)).flatten();
        row().is_some_and(|(_, rest)| {
            let numbers = rest.split_ascii_whitespace().filter(|word| is_number(word));
            numbers.take(3).count() == 3
        })
    }

    fn reach(&self) -> usize {
        0
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
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
    let (name, rest) = line.split_at(line.find([':', '='])?);
    let name = name.trim().trim_start_matches(['-', '*', '•']).trim();
    let rest = &rest[1..];
    let fits = name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.split_ascii_whitespace().count() <= WORDS
        && names_configuration(name)
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
