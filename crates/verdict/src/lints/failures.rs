//! Runs that failed, and what the target could not give.

use std::collections::{BTreeMap, BTreeSet};

use assize_bundle::{FailedRun, Unavailable};

use super::{lint, some};
use crate::cells::Cells;
use crate::document::Lint;
use crate::names::folded;
use crate::words::count;

/// More reasons of one cell are counted only.
const MOST_REASONS: usize = 3;

/// How many runs of how many failed, and why, once per configuration and
/// workload.
pub(super) fn failed(cells: &Cells<'_>) -> Vec<Lint> {
    let mut by_cell: Vec<((String, String), Vec<&FailedRun>)> = Vec::new();
    for failure in &cells.records.failures {
        let cell = (folded(&failure.configuration), folded(&failure.workload));
        match by_cell.iter_mut().find(|(known, _)| *known == cell) {
            Some((_, failures)) => failures.push(failure),
            None => by_cell.push((cell, vec![failure])),
        }
    }
    by_cell
        .into_iter()
        .map(|((configuration, workload), failures)| {
            let left = cells.records.runs.iter().filter(|run| {
                folded(&run.configuration) == configuration && folded(&run.workload) == workload
            });
            of_cell(&failures, left.count())
        })
        .collect()
}

fn of_cell(failures: &[&FailedRun], left: usize) -> Lint {
    let location = failures.first().map_or(String::new(), |first| {
        format!("{} on {}", first.configuration, first.workload)
    });
    let all = failures.len() + left;
    let goes_on = match left {
        0 => "nothing is compared there".to_owned(),
        left => format!("comparisons go on with the {} left", count(left, "run")),
    };
    let reasons = reasons(failures);
    let failed = failures.len();
    lint(
        "failed-run",
        location,
        format!(
            "{failed} of {} failed: {reasons}; {goes_on}",
            count(all, "run")
        ),
    )
}

/// Each reason once, the most frequent first.
fn reasons(failures: &[&FailedRun]) -> String {
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for failure in failures {
        match reasons.iter_mut().find(|(why, _)| *why == failure.why) {
            Some((_, times)) => *times += 1,
            None => reasons.push((&failure.why, 1)),
        }
    }
    reasons.sort_by_key(|&(_, times)| std::cmp::Reverse(times));
    let texts: Vec<String> = reasons
        .iter()
        .map(|&(why, times)| match times {
            1 => why.to_owned(),
            _ => format!("{why} ({times} times)"),
        })
        .collect();
    some(&texts, MOST_REASONS)
}

/// What the target could not give and why, once per instrument or metric and
/// reason.
pub(super) fn unavailable(cells: &Cells<'_>) -> Vec<Lint> {
    let mut found: BTreeMap<(&str, Option<&str>, &str), BTreeSet<String>> = BTreeMap::new();
    let place = |one: &Unavailable| format!("{} on {}", one.configuration, one.workload);
    for one in &cells.records.unavailable {
        let key = (
            one.instrument.as_str(),
            one.metric.as_deref(),
            one.reason.as_str(),
        );
        found.entry(key).or_default().insert(place(one));
    }
    let everywhere = places(cells).len();
    found
        .into_iter()
        .map(|((instrument, metric, reason), places)| {
            let what = metric.unwrap_or(instrument);
            let places: Vec<String> = places.into_iter().collect();
            let detail = if places.len() >= everywhere {
                reason.to_owned()
            } else {
                format!("{reason} ({})", some(&places, MOST_REASONS))
            };
            lint("unavailable", what, detail)
        })
        .collect()
}

/// Every configuration and workload that was tried, whatever became of it.
fn places(cells: &Cells<'_>) -> BTreeSet<(String, String)> {
    let runs = cells.records.runs.iter();
    let failures = cells.records.failures.iter();
    runs.map(|run| (folded(&run.configuration), folded(&run.workload)))
        .chain(failures.map(|f| (folded(&f.configuration), folded(&f.workload))))
        .collect()
}
