//! The runs behind the largest effect: each configuration's mean and spread.

use assize_verdict::{Comparison, Document};

use super::Sheet;
use crate::contrasts::{gain, leading};
use crate::number::significant;
use crate::printable;
use crate::readable::Readable;

/// The least that is worth a table: a heading and two configurations.
const LEAST: usize = 3;

/// Values of one configuration.
struct Spread<'a> {
    name: &'a str,
    least: f64,
    mean: f64,
    most: f64,
}

/// Mean and spread of each configuration, in at most so many lines.
pub(super) fn lines(sheet: &Sheet<'_>, room: usize) -> Vec<String> {
    let Some(row) = most_striking(sheet.document).filter(|_| room >= LEAST) else {
        return Vec::new();
    };
    let spreads = spreads(sheet.document, row);
    if spreads.len() < 2 {
        return Vec::new();
    }
    let shown = spreads.len().min(room - 1);
    let low = spreads
        .iter()
        .map(|one| one.least)
        .fold(f64::INFINITY, f64::min);
    let high = spreads
        .iter()
        .map(|one| one.most)
        .fold(f64::NEG_INFINITY, f64::max);
    let readable = Readable::of(&row.unit, [low, high].into_iter());
    let value = |value: f64| significant(readable.value(value), 3);
    let unit = match readable.unit.as_str() {
        "" => String::new(),
        unit => format!(", {unit}"),
    };
    let title = printable(sheet.words().title(&row.metric)).into_owned();
    let what = format!("Each run of {}, {title}{unit}", printable(&row.workload));
    let range = format!("; runs from {} to {}", value(low), value(high));
    // The range where it fits, and of a long name what does.
    let head = match what.chars().count() + range.len() < sheet.width {
        true => format!("{what}{range}:"),
        false => what.chars().take(sheet.width - 1).chain([':']).collect(),
    };
    let mut lines = vec![head];
    let columns = sheet.names.max(8);
    let bar = sheet.width.saturating_sub(columns + 16);
    for one in spreads.iter().take(shown) {
        let name: String = printable(one.name).chars().take(columns).collect();
        let drawn = drawn(one, (low, high), bar);
        lines.push(format!(
            "  {name:columns$}  {:>8}  {drawn}",
            value(one.mean)
        ));
    }
    lines
}

/// The row with the largest effect of those that the answer is made of.
fn most_striking(document: &Document) -> Option<&Comparison> {
    let size = |row: &&Comparison| gain(row, None).abs();
    let rows = leading(document).into_iter();
    rows.max_by(|a, b| size(a).total_cmp(&size(b)))
}

/// The values of the runs, those of the baseline first.
fn spreads<'a>(document: &'a Document, row: &Comparison) -> Vec<Spread<'a>> {
    let of = |name: &'a str| {
        let runs = document
            .runs
            .iter()
            .filter(|run| run.configuration == name && run.workload == row.workload);
        let values: Vec<f64> = runs
            .filter_map(|run| run.metrics.get(&row.metric))
            .filter(|measured| measured.unit == row.unit)
            .map(|measured| measured.value)
            .collect();
        let mean = mean_of(document, row, name)?;
        (!values.is_empty()).then(|| Spread {
            name,
            least: values.iter().copied().fold(f64::INFINITY, f64::min),
            mean,
            most: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    };
    let mut names: Vec<&str> = document
        .configurations
        .iter()
        .map(|configuration| configuration.name.as_str())
        .collect();
    names.sort_by_key(|name| *name != row.baseline);
    names.into_iter().filter_map(of).collect()
}

/// The mean that the document has of a configuration on the metric of a row.
fn mean_of(document: &Document, row: &Comparison, name: &str) -> Option<f64> {
    if name == row.baseline {
        return row.mean_baseline;
    }
    let is = |one: &&Comparison| {
        one.configuration == name
            && one.baseline == row.baseline
            && one.workload == row.workload
            && one.metric == row.metric
    };
    document.comparisons.iter().find(is)?.mean
}

/// `   |--o---|` between the ends of the scale.
fn drawn(one: &Spread<'_>, (low, high): (f64, f64), columns: usize) -> String {
    let span = high - low;
    let last = columns.saturating_sub(1);
    let place = |value: f64| {
        if span > 0.0 {
            ((value - low) / span * last as f64).round() as usize
        } else {
            0
        }
    };
    let (from, mean, to) = (place(one.least), place(one.mean), place(one.most));
    let sign = |at: usize| match at {
        at if at == mean => 'o',
        at if at == from || at == to => '|',
        at if from < at && at < to => '-',
        _ => ' ',
    };
    (0..=to).map(sign).collect()
}
