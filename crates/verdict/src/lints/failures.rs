//! Failed runs, and metrics that the target could not provide.

use std::collections::{BTreeMap, BTreeSet};

use assize_bundle::Unavailable;

use super::{first_names, lint};
use crate::cells::Cells;
use crate::document::Lint;
use crate::failed::{FailedCell, failed_cells};
use crate::names::folded;
use crate::words::count_of;

/// Maximum number of reasons listed per cell; the rest are counted.
const MOST_REASONS: usize = 3;

/// Lints for failed runs, with counts and reasons, one per configuration and
/// workload.
pub(super) fn failed(cells: &Cells<'_>) -> Vec<Lint> {
    failed_cells(cells.records).iter().map(of_cell).collect()
}

fn of_cell(cell: &FailedCell<'_>) -> Lint {
    let goes_on = match cell.left {
        0 => "nothing is compared there".to_owned(),
        left => format!("comparisons use the {} left", count_of(left, "run")),
    };
    lint(
        "failed-run",
        format!("{} on {}", cell.configuration, cell.workload),
        format!(
            "{} of {} failed: {}; {goes_on}",
            cell.failures.len(),
            count_of(cell.runs(), "run"),
            reasons(cell)
        ),
    )
}

/// The distinct reasons, the most frequent first.
fn reasons(cell: &FailedCell<'_>) -> String {
    let texts: Vec<String> = cell
        .reasons()
        .iter()
        .map(|&(why, times)| match times {
            1 => why.to_owned(),
            _ => format!("{why} ({times} times)"),
        })
        .collect();
    first_names(&texts, MOST_REASONS)
}

/// Lints for what the target could not provide and why, one per instrument or
/// metric and reason.
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
                format!("{reason} ({})", first_names(&places, MOST_REASONS))
            };
            lint("unavailable", what, detail)
        })
        .collect()
}

/// Every attempted configuration and workload, whether or not its runs failed.
fn places(cells: &Cells<'_>) -> BTreeSet<(String, String)> {
    let runs = cells.records.runs.iter();
    let failures = cells.records.failures.iter();
    runs.map(|run| (folded(&run.configuration), folded(&run.workload)))
        .chain(failures.map(|f| (folded(&f.configuration), folded(&f.workload))))
        .collect()
}
