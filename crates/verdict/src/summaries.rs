//! Comparisons of cells of which only mean and spread are known.

use assize_bundle::Spread;
use assize_judge::welch::{self, PublishedMean};

use crate::cells::{Cell, standard_error, usable};
use crate::compare::{CellComparison, take_estimate};
use crate::document::{Scale, TTest};
use crate::means::{arithmetic, variance};
use crate::words::{finite, p_value};

/// Whether a cell's summary is the mean of the cell's own runs.
pub(crate) fn agreeing_summary(cell: &Cell<'_>) -> bool {
    let Some(summary) = &cell.summary else {
        return false;
    };
    let values = cell.values();
    let Some(mean) = arithmetic(&values) else {
        return false;
    };
    let same_count = summary.n.is_none_or(|n| n as usize == values.len());
    same_count && (mean - summary.mean).abs() <= 1e-3 * mean.abs().max(summary.mean.abs())
}

/// Compares two cells, at least one of which has only a summary.
pub(crate) fn by_summary(a: &Cell<'_>, b: &Cell<'_>) -> CellComparison {
    let mut comparison = CellComparison::new(Scale::Summary);
    let (Some((mean_a, error_a, n_a)), Some((mean_b, error_b, n_b))) = (moments(a), moments(b))
    else {
        return comparison;
    };
    comparison.mean_a = Some(mean_a);
    comparison.mean_b = Some(mean_b);
    comparison.n_a = n_a;
    comparison.n_b = n_b;
    if mean_a <= 0.0 || mean_b <= 0.0 {
        comparison
            .because
            .push("a mean is zero or negative: no ratio".into());
        return comparison;
    }
    comparison.ratio = finite(mean_b / mean_a);
    if let Some(p) = printed_p(a, b) {
        comparison.p_t = Some(p);
        comparison.t_test = Some(TTest::Printed);
        let said = format!(
            "the tool that printed the means gives the p of its own test, {}, and no interval",
            p_value(p)
        );
        comparison.because.push(said);
        return comparison;
    }
    let has_spread = |cell: &Cell<'_>| {
        let summary = cell.summary.as_deref();
        summary.is_none_or(|summary| summary.spread.is_some())
    };
    if (n_a.is_none() || n_b.is_none()) && has_spread(a) && has_spread(b) {
        comparison
            .because
            .push("the number of runs is not given: no interval and no test".into());
        return comparison;
    }
    let sound = |error: Option<f64>, mean| error.filter(|&e| usable(e) && usable(e / mean));
    let (Some(error_a), Some(error_b)) = (sound(error_a, mean_a), sound(error_b, mean_b)) else {
        comparison
            .because
            .push("the spread of the runs is not given: no interval and no test".into());
        return comparison;
    };
    let moments = |mean, standard_error, n| PublishedMean {
        mean,
        standard_error,
        n,
    };
    let estimate =
        welch::ratio_from_summaries(moments(mean_a, error_a, n_a), moments(mean_b, error_b, n_b));
    take_estimate(&mut comparison, estimate, TTest::Welch, 0.0);
    comparison
}

/// The p of the test by which a tool compared two means of one line, one of them the first.
fn printed_p(a: &Cell<'_>, b: &Cell<'_>) -> Option<f64> {
    let (a, b) = (a.summary.as_deref()?, b.summary.as_deref()?);
    match (a.spread, b.spread) {
        (None, Some(Spread::PrintedP(p))) | (Some(Spread::PrintedP(p)), None) => {
            (a.place == b.place).then_some(p)
        }
        _ => None,
    }
}

/// Mean, standard error and number of a cell's runs, or of its summary.
pub(crate) fn moments(cell: &Cell<'_>) -> Option<(f64, Option<f64>, Option<u32>)> {
    let values = cell.values();
    if let Some(mean) = arithmetic(&values) {
        let n = values.len() as f64;
        let error = variance(&values).map(|v| (v / n).sqrt());
        return Some((mean, error, u32::try_from(values.len()).ok()));
    }
    let summary = cell.summary.as_deref()?;
    Some((summary.mean, standard_error(summary), summary.n))
}
