//! The runs behind the largest effect: mean and spread of each configuration.

use assize_verdict::{Comparison, Document, MachineComparison, Verdict};

use super::BriefSheet;
use crate::contrasts::{leading_rows, log_gain, percent, size, stands_for};
use crate::number::significant;
use crate::printable;
use crate::readable::Readable;

/// Maximum number of lines to reserve.
const MOST: usize = 7;
/// The shortest table worth printing: a heading and two configurations.
const LEAST: usize = 3;

/// The number of lines, of `room`, to reserve for the runs: at most half, and no more than needed.
pub(super) fn lines_wanted(sheet: &BriefSheet<'_>, room: usize) -> usize {
    let needed = sheet.document.configurations.len() + 2;
    if most_striking(sheet.document).is_some() {
        needed.min(MOST).min(room / 2)
    } else {
        0
    }
}

/// The values of one configuration.
struct ConfigurationSpread<'a> {
    name: &'a str,
    least: f64,
    mean: f64,
    most: f64,
    /// The difference from the baseline; empty for the baseline itself.
    change: String,
}

/// The mean and spread of each configuration, in at most `room` lines.
pub(super) fn lines(sheet: &BriefSheet<'_>, room: usize) -> Vec<String> {
    let Some(row) = most_striking(sheet.document).filter(|_| room >= LEAST) else {
        return Vec::new();
    };
    let machine = one_machine(sheet.document, row);
    let spreads = spreads(sheet.document, row, machine);
    if spreads.len() < 2 {
        return Vec::new();
    }
    let low = spreads
        .iter()
        .map(|one| one.least)
        .fold(f64::INFINITY, f64::min);
    let high = spreads
        .iter()
        .map(|one| one.most)
        .fold(f64::NEG_INFINITY, f64::max);
    let readable = Readable::chosen(
        sheet.document.time_unit.as_deref(),
        &row.unit,
        [low, high].into_iter(),
    );
    // If a mean is small in the common unit, each value gets a separate unit.
    let is_small = |one: &ConfigurationSpread<'_>| {
        one.mean != 0.0 && readable.value(one.mean).abs() < crate::readable::LEAST
    };
    let own_units = spreads.iter().any(is_small);
    let value = |value: f64| match own_units {
        true => with_unit(sheet.document, value, &row.unit),
        false => significant(readable.value(value), 3),
    };
    let unit = if own_units { "" } else { &readable.unit };
    let range = format!("; runs from {} to {}", value(low), value(high));
    let head = head(sheet, row, machine, unit, &range);
    let mut lines = vec![head];
    let columns = sheet.names.max(8);
    let changes = spreads.iter().map(|one| one.change.chars().count());
    let changes = changes.max().unwrap_or(0);
    let bar = sheet.width.saturating_sub(columns + changes + 18);
    for one in spreads {
        let name = printable(one.name).replace('\n', " ");
        let figures = format!(
            "{:>8}  {:>changes$}  {}",
            value(one.mean),
            one.change,
            draw_interval(&one, (low, high), bar)
        );
        let wide = name.chars().count() > columns;
        if lines.len() + usize::from(wide) >= room {
            break;
        }
        if wide {
            lines.push(format!("  {name}"));
            lines.push(format!("  {:columns$}  {figures}", ""));
        } else {
            lines.push(format!("  {name:columns$}  {figures}"));
        }
    }
    lines
}

/// The row of the answer with the largest effect; established rows have priority.
fn most_striking(document: &Document) -> Option<&Comparison> {
    let sure = |row: &Comparison| match row.verdict {
        Verdict::Established => 2,
        Verdict::Supported => 1,
        Verdict::Equivalent | Verdict::Undecided => 0,
    };
    let size = |row: &Comparison| log_gain(row, None).abs();
    let rows = leading_rows(document).into_iter();
    rows.max_by(|a, b| sure(a).cmp(&sure(b)).then(size(a).total_cmp(&size(b))))
}

/// `5.03 us`.
pub(super) fn with_unit(document: &Document, value: f64, unit: &str) -> String {
    let own = Readable::chosen(document.time_unit.as_deref(), unit, std::iter::once(value));
    let text = format!("{} {}", significant(own.value(value), 3), own.unit);
    text.trim_end().to_owned()
}

/// The heading: which runs are shown, and their range if it fits; cut if it is too long.
fn head(
    sheet: &BriefSheet<'_>,
    row: &Comparison,
    machine: Option<&str>,
    unit: &str,
    range: &str,
) -> String {
    let unit = match unit {
        "" => String::new(),
        unit => format!(", {unit}"),
    };
    let title = printable(sheet.words().title(&row.metric));
    let on = machine.map_or(String::new(), |name| format!(" on {}", printable(name)));
    let what = format!(
        "Each run of {}{on}, {title}{unit}",
        printable(&row.workload)
    );
    match what.chars().count() + range.len() < sheet.width {
        true => format!("{what}{range}:"),
        false => what.chars().take(sheet.width - 1).chain([':']).collect(),
    }
}

/// The machine whose runs are shown; `None` if all changes agree, as printed, with the means over
/// all machines.
fn one_machine<'a>(document: &'a Document, row: &Comparison) -> Option<&'a str> {
    let beside = document.comparisons.iter().filter(|one| {
        (&one.workload, &one.metric, &one.baseline) == (&row.workload, &row.metric, &row.baseline)
    });
    let mut all = std::iter::once(row).chain(beside);
    let on = all.find_map(|one| stands_for(document, one))?;
    Some(&on.machine)
}

/// The values of the runs, of one machine only if `machine` is given: the baseline first,
/// then the row's configuration, then the others, since not all may fit.
fn spreads<'a>(
    document: &'a Document,
    row: &Comparison,
    machine: Option<&str>,
) -> Vec<ConfigurationSpread<'a>> {
    let of = |name: &'a str| {
        let runs = document.runs.iter().filter(|run| {
            let there = machine.is_none() || run.machine.as_deref() == machine;
            run.configuration == name && run.workload == row.workload && there
        });
        let values: Vec<f64> = runs
            .filter_map(|run| run.metrics.get(&row.metric))
            .filter(|measured| measured.unit == row.unit)
            .map(|measured| measured.value)
            .collect();
        let (mean, change) = match machine {
            Some(machine) => compared_on(machine, document, row, name)?,
            None => compared(document, row, name)?,
        };
        (!values.is_empty()).then(|| ConfigurationSpread {
            name,
            least: values.iter().copied().fold(f64::INFINITY, f64::min),
            mean,
            most: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            change,
        })
    };
    let mut names: Vec<&str> = document
        .configurations
        .iter()
        .map(|configuration| configuration.name.as_str())
        .collect();
    names.sort_by_key(|name| (*name != row.baseline, *name != row.configuration));
    names.into_iter().filter_map(of).collect()
}

/// The mean of a configuration on the row's metric according to the document, and how
/// much it differs from the baseline.
pub(super) fn compared(document: &Document, row: &Comparison, name: &str) -> Option<(f64, String)> {
    if name == row.baseline {
        return Some((row.mean_baseline?, String::new()));
    }
    let is = |one: &&Comparison| {
        one.configuration == name
            && one.baseline == row.baseline
            && one.workload == row.workload
            && one.metric == row.metric
    };
    let found = document.comparisons.iter().find(is)?;
    Some((found.mean?, size(found)))
}

/// Like [`compared`], on one machine.
fn compared_on(
    machine: &str,
    document: &Document,
    row: &Comparison,
    name: &str,
) -> Option<(f64, String)> {
    let is = |one: &&MachineComparison| {
        (&one.workload, &one.metric, &one.baseline) == (&row.workload, &row.metric, &row.baseline)
            && one.machine == machine
            && (one.configuration == name || name == row.baseline)
    };
    let found = document.machines.iter().find(is)?;
    if name == row.baseline {
        return Some((found.mean_baseline?, String::new()));
    }
    let (before, after) = (found.mean_baseline?, found.mean?);
    let change = (before != 0.0).then(|| percent((after - before) / before.abs()));
    Some((after, change.unwrap_or_default()))
}

/// ` |--o---|`, placed between the ends of the scale.
fn draw_interval(one: &ConfigurationSpread<'_>, (low, high): (f64, f64), columns: usize) -> String {
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
