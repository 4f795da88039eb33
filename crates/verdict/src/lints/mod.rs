//! Lints: defects of the data.

mod codes;
mod counters;
mod duplicates;
mod failures;
mod holes;
pub(crate) mod order;
pub(crate) mod units;

use std::collections::BTreeSet;

use assize_bundle::{Place, Records};

use crate::cells::Cells;
use crate::document::Lint;

pub use codes::LINTS;

/// Uninformative rows found while looking for lints.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct UninformativeRows {
    /// Workload and metric of constant metrics.
    pub(crate) constant: BTreeSet<(usize, usize)>,
    /// Pairs of metrics that are the same counter, in order of appearance.
    pub(crate) aliased: Vec<(usize, usize)>,
}

impl UninformativeRows {
    /// Whether a metric is uninformative: constant on the workload, or a repetition of an earlier
    /// one.
    pub(crate) fn says_nothing(&self, workload: usize, metric: usize) -> bool {
        self.constant.contains(&(workload, metric)) || self.aliased.iter().any(|a| a.1 == metric)
    }
}

/// Finds all lints except those of comparisons, factors and rates.
///
/// `absent`: primary metrics that were not measured; `primary`: those that were; `order`: the
/// findings on the order of the runs.
pub(crate) fn find_all(
    cells: &Cells<'_>,
    absent: &[String],
    primary: &BTreeSet<usize>,
    order: &order::OrderFindings,
) -> (Vec<Lint>, UninformativeRows) {
    let mut faults = UninformativeRows::default();
    // Lints about useless metrics come last.
    let mut of_metrics = counters::constant(cells, &mut faults);
    of_metrics.extend(counters::aliased(cells, &mut faults));
    let mut lints = duplicates::repetitions(cells);
    lints.extend(duplicates::whole_runs(cells));
    lints.extend(failures::failed(cells));
    lints.extend(counters::unsupported(cells));
    lints.extend(failures::unavailable(cells));
    lints.extend(order::outliers(cells, &faults, primary));
    lints.extend(order::unrandomised(cells, order));
    lints.extend(order::drift(cells, &faults, order));
    lints.extend(order::drift_inside_groups(cells, order));
    lints.extend(order::dependent(cells, order));
    lints.extend(order::shared_images(cells));
    lints.extend(order::unequal_spreads(cells));
    lints.extend(holes::configurations(cells));
    lints.extend(holes::metrics(cells));
    lints.extend(holes::primary(cells, absent));
    lints.extend(units::unknown(cells));
    lints.extend(units::mixed(cells));
    lints.extend(units::summaries(cells));
    lints.extend(units::statements(cells));
    lints.extend(units::left_out(cells));
    lints.extend(of_metrics);
    (lints, faults)
}

/// Turns the doubts noted while reading the records into lints.
pub(crate) fn doubts(records: &Records) -> Vec<Lint> {
    let passed_on = records.doubts.iter().map(|doubt| Lint {
        code: doubt.code.clone(),
        // Doubts that are not about a line of text have line 0.
        location: if doubt.place.line == 0 {
            String::new()
        } else {
            place(doubt.place)
        },
        detail: doubt.detail.clone(),
        ..Lint::default()
    });
    passed_on.collect()
}

/// A place in words.
pub(crate) fn place(place: Place) -> String {
    if place.message > 1 {
        return format!("message {}, line {}", place.message, place.line);
    }
    format!("line {}", place.line)
}

/// Builds a lint.
pub(crate) fn lint(code: &str, location: impl Into<String>, detail: impl Into<String>) -> Lint {
    Lint {
        code: code.into(),
        location: location.into(),
        detail: detail.into(),
        ..Lint::default()
    }
}

/// At most `most` names, and how many more there are.
fn first_names<S: AsRef<str>>(names: &[S], most: usize) -> String {
    let shown: Vec<&str> = names.iter().take(most).map(AsRef::as_ref).collect();
    if names.len() > most {
        format!("{} and {} more", shown.join(", "), names.len() - most)
    } else {
        crate::words::and_list(&shown)
    }
}
