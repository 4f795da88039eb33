//! Rows in which each side has the same value in all its runs. Such a row is not a sample but a
//! fact, like the size of a structure.

use assize_verdict::{Comparison, Document, Scale, TTest, Verdict};

use super::figures::RowOutcome;

/// The outcome of a row that cannot be tested because nothing varies: both sides are equal in every
/// run, or differ by the same amount in every run. `None` for other rows.
pub(crate) fn fixed_outcome(document: &Document, row: &Comparison) -> Option<RowOutcome> {
    if row.verdict != Verdict::Undecided {
        return None;
    }
    let [before, after] = fixed_values(document, row)?;
    Some(match before == after {
        true => RowOutcome::Equal,
        false => RowOutcome::Fixed,
    })
}

/// The values of both sides, baseline first, if all runs of each side are equal, or all runs with
/// the same seed are. The row then has no interval, only a difference.
pub(crate) fn fixed_values(document: &Document, row: &Comparison) -> Option<[f64; 2]> {
    /// The rounding error that summation leaves in an interval of zero width.
    const ROUNDING: f64 = 1e-9;
    let [low, high] = row.ci?;
    if (high - low).abs() > ROUNDING * high.abs() {
        return None;
    }
    // Runs may differ if those with the same seed are equal.
    let is_equal = match row.scale {
        Scale::Raw => high.abs() <= ROUNDING,
        Scale::Log | Scale::Summary => (high - 1.0).abs() <= ROUNDING,
    };
    let in_pairs = row.t_test == Some(TTest::Paired);
    if let Some(mean) = row.mean_baseline.filter(|_| is_equal && in_pairs) {
        return Some([mean, mean]);
    }
    // Values printed with decimals may differ in the digits that were cut off.
    if row.resolution.is_some_and(|step| step < 1.0) {
        return None;
    }
    let before = one_value(document, row, &row.baseline)?;
    Some([before, one_value(document, row, &row.configuration)?])
}

/// The common value of a configuration's runs, if there are at least two runs and all
/// have it.
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
