//! Means, variances and sorting of plain slices, for the rest of the crate.

/// The mean, computed around the first value: a constant sample gives exactly
/// that constant.
///
/// # Panics
/// If the slice is empty.
pub fn mean(values: &[f64]) -> f64 {
    let first = values[0];
    first + values.iter().map(|v| v - first).sum::<f64>() / values.len() as f64
}

/// The sum of squared deviations from the mean, by two passes.
pub(crate) fn sum_of_squares(values: &[f64]) -> f64 {
    let centre = mean(values);
    values.iter().map(|v| (v - centre) * (v - centre)).sum()
}

/// The variance with divisor n - 1, of at least two values.
///
/// # Panics
/// If the slice is empty.
pub fn variance(values: &[f64]) -> f64 {
    sum_of_squares(values) / (values.len() - 1) as f64
}

/// The natural logarithms of positive values.
pub(crate) fn logs(values: &[f64]) -> Vec<f64> {
    values.iter().map(|v| v.ln()).collect()
}

/// A sorted copy; the values must be comparable (no `NaN`).
pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut copy = values.to_vec();
    copy.sort_by(f64::total_cmp);
    copy
}

/// The median of sorted, non-empty values.
pub(crate) fn median_of_sorted(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[half]
    } else {
        0.5 * (sorted[half - 1] + sorted[half])
    }
}

/// The median of the absolute deviations from the median, not scaled.
pub(crate) fn median_absolute_deviation(values: &[f64]) -> f64 {
    let centre = median_of_sorted(&sorted(values));
    let deviations: Vec<f64> = values.iter().map(|v| (v - centre).abs()).collect();
    median_of_sorted(&sorted(&deviations))
}
