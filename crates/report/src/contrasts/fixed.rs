//! Rows in which no run of a side differs from another of it: what they show is no sample
//! but a fact, as the size of a structure is.

use assize_verdict::{Comparison, Document, Verdict};

use super::figures::Outcome;

/// What no run contradicts of a row that no test can decide, since nothing varies: the
/// sides are equal in every run, or differ by the same in every run.
pub(crate) fn fixed(document: &Document, row: &Comparison) -> Option<Outcome> {
    /// What sums leave of intervals without a width.
    const ROUNDING: f64 = 1e-9;
    // Values that are printed with decimals may differ in those that were cut off.
    if row.resolution.is_some_and(|step| step < 1.0) {
        return None;
    }
    let [low, high] = row.ci?;
    let is_point = (high - low).abs() <= ROUNDING * high.abs();
    if row.verdict != Verdict::Undecided || !is_point {
        return None;
    }
    let before = one_value(document, row, &row.baseline)?;
    let after = one_value(document, row, &row.configuration)?;
    Some(match before == after {
        true => Outcome::Equal,
        false => Outcome::Fixed,
    })
}

/// The value that several runs of a configuration have, if they have but one.
fn one_value(document: &Document, row: &Comparison, configuration: &str) -> Option<f64> {
    let runs = document
        .runs
        .iter()
        .filter(|run| run.configuration == configuration && run.workload == row.workload);
    let mut values = runs
        .filter_map(|run| run.metrics.get(&row.metric))
        .filter(|measured| measured.unit == row.unit)
        .map(|measured| measured.value);
    let first = values.next()?;
    let mut others = values.peekable();
    others.peek()?;
    others.all(|value| value == first).then_some(first)
}
