//! Figures whose unit, scale or origin is doubtful.

use std::collections::BTreeMap;

use super::{first_names, lint, place};
use crate::cells::Cells;
use crate::document::Lint;
use crate::means::arithmetic;
use crate::summaries::agreeing_summary;
use crate::units::{is_measured, words};
use crate::words::{count_of, three};

/// A lint for metrics without a unit that are not plain counts: their values are fractions, or
/// their names suggest a quantity with a unit. A name such as `switches_per_job` contains its unit.
pub(super) fn unknown(cells: &Cells<'_>) -> Option<Lint> {
    let mut fractional = vec![false; cells.metrics.len()];
    for (key, cell) in cells.iter() {
        let summary = cell.summary.as_ref().map(|s| s.mean);
        let mut values = cell.runs.iter().map(|r| r.value);
        fractional[key.metric] |= values.any(|v| v.fract() != 0.0);
        fractional[key.metric] |= cell.runs.is_empty() && summary.is_some_and(|v| v.fract() != 0.0);
    }
    let names: Vec<&str> = cells
        .metrics
        .iter()
        .enumerate()
        .filter(|(i, metric)| {
            let ratio = words(&metric.name).any(|word| word == "per");
            metric.unit.is_empty() && (fractional[*i] && !ratio || is_measured(&metric.name))
        })
        .map(|(_, metric)| metric.name.as_str())
        .collect();
    (!names.is_empty()).then(|| {
        lint(
            "unit-unknown",
            first_names(&names, 6),
            "no unit is given, and the values are not plain counts",
        )
    })
}

/// Lints for metrics given in several units that cannot be converted into each
/// other.
pub(super) fn mixed(cells: &Cells<'_>) -> Vec<Lint> {
    let mut units: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for metric in &cells.metrics {
        let unit = if metric.unit.is_empty() {
            "no unit"
        } else {
            metric.unit.as_str()
        };
        units.entry(&metric.name).or_default().push(unit);
    }
    let several = units.into_iter().filter(|(_, units)| units.len() > 1);
    several
        .map(|(name, units)| {
            lint(
                "unit-unknown",
                name,
                format!(
                    "given in {}, which cannot be converted into each other: each is judged \
                     separately",
                    first_names(&units, 6)
                ),
            )
        })
        .collect()
}

/// Lints for summaries that contradict the runs of the same cell, or are given
/// twice.
pub(super) fn summaries(cells: &Cells<'_>) -> Vec<Lint> {
    let mut lints = Vec::new();
    for (key, cell) in cells.iter() {
        let Some(summary) = &cell.summary else {
            continue;
        };
        let location = format!(
            "{} {} {}",
            cells.workloads[key.workload],
            cells.metrics[key.metric].name,
            cells.configurations[key.configuration]
        );
        if let Some(mean) = arithmetic(&cell.values()).filter(|_| !agreeing_summary(cell)) {
            let claimed = summary.n.map_or(String::new(), |n| {
                format!(" of {}", count_of(n as usize, "run"))
            });
            lints.push(lint(
                "summary-mismatch",
                location.clone(),
                format!(
                    "the summary says {}{claimed}, the {} have the mean {}: the runs are used",
                    three(summary.mean),
                    count_of(cell.runs.len(), "run"),
                    three(mean)
                ),
            ));
        }
        if cell.further_summaries > 0 {
            lints.push(lint(
                "duplicate-rows",
                location,
                format!(
                    "{}: the first is used",
                    count_of(cell.further_summaries + 1, "summary line")
                ),
            ));
        }
    }
    lints
}

/// Lints for figures that are not runs.
pub(super) fn statements(cells: &Cells<'_>) -> Vec<Lint> {
    let statements = &cells.records.statements;
    let (normalised, single): (Vec<_>, Vec<_>) =
        statements.iter().partition(|s| s.normalised_to.is_some());
    let mut lints = Vec::new();
    if let Some(first) = normalised.first() {
        let mut to: Vec<&str> = Vec::new();
        for base in normalised.iter().filter_map(|s| s.normalised_to.as_deref()) {
            if !to.contains(&base) {
                to.push(base);
            }
        }
        lints.push(lint(
            "normalised-values",
            place(first.place),
            format!(
                "{} normalised to {}: neither the values nor their number of runs can be \
                 recovered",
                figures(normalised.len()),
                first_names(&to, 4)
            ),
        ));
    }
    let single: Vec<_> = single.iter().filter(|s| !s.not_admitted).collect();
    if let Some(first) = single.first() {
        lints.push(lint(
            "n-too-small",
            place(first.place),
            format!("{} given without a number of runs", figures(single.len())),
        ));
    }
    lints
}

fn figures(n: usize) -> String {
    format!(
        "{} {}",
        count_of(n, "figure"),
        if n == 1 { "is" } else { "are" }
    )
}

/// A lint for unusable values.
pub(super) fn left_out(cells: &Cells<'_>) -> Option<Lint> {
    (cells.left_out > 0).then(|| {
        lint(
            "unsupported-counter",
            cells.records.source.clone(),
            format!(
                "{} left out: not finite, or beyond 1e140",
                count_of(cells.left_out, "value")
            ),
        )
    })
}
