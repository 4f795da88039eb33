//! Correction for many tests.

/// Holm's step-down adjusted p-values, which bound the chance of even one false
/// alarm among all tests.
///
/// - Shape: any number, any order; the output keeps the order of the input.
/// - Range: \[p, 1\]. A `NaN` counts as a test that was made, and stays `NaN`.
/// - Cost: O(n log n).
/// - Source: Holm 1979, "A simple sequentially rejective multiple test
///   procedure", Scandinavian Journal of Statistics 6.
/// - Checked against statsmodels' `multipletests(method="holm")`.
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut adjusted = p.to_vec();
    let mut largest = 0.0_f64;
    for (rank, &index) in ascending(p).iter().enumerate() {
        largest = largest.max((p.len() - rank) as f64 * p[index]);
        adjusted[index] = largest.min(1.0);
    }
    adjusted
}

/// Benjamini and Hochberg's step-up adjusted p-values, which bound the expected
/// share of false alarms among the alarms of independent tests.
///
/// - Shape, range, `NaN`, cost: as for [`holm`]; never above its values.
/// - Source: Benjamini and Hochberg 1995, "Controlling the false discovery
///   rate", Journal of the Royal Statistical Society B 57.
/// - Checked against statsmodels' `multipletests(method="fdr_bh")`.
#[must_use]
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let mut adjusted = p.to_vec();
    let mut smallest = 1.0_f64;
    for (rank, &index) in ascending(p).iter().enumerate().rev() {
        smallest = smallest.min(p.len() as f64 / (rank + 1) as f64 * p[index]);
        adjusted[index] = smallest;
    }
    adjusted
}

/// The indices of the p-values from small to large, without the `NaN`s.
fn ascending(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).filter(|&i| !p[i].is_nan()).collect();
    order.sort_by(|&i, &j| p[i].total_cmp(&p[j]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nan_counts_but_stays() {
        let holm = holm(&[0.01, f64::NAN]);
        assert_eq!(holm[0], 0.02);
        assert!(holm[1].is_nan());
        assert_eq!(benjamini_hochberg(&[0.01, f64::NAN])[0], 0.02);
        assert!(benjamini_hochberg(&[]).is_empty());
    }
}
