//! Corrections for multiple tests.

/// Holm's step-down adjusted p-values, which bound the chance of one or more false alarms among all
/// tests.
///
/// - Shape: any number, any order; the output keeps the order of the input.
/// - Range: \[p, 1\]. A `NaN` counts as a test and stays `NaN`.
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

/// Shares alpha between two families of tests. Returns the adjusted p of the first and of the
/// second: at level alpha, the first is tested at `share` times alpha and the second at the rest,
/// and a family that is rejected completely passes its share to the other.
///
/// The p of each family must already be adjusted within that family, so that they bound its chance
/// of any false alarm. Then the chance of a false alarm in either is at most alpha, whatever the
/// dependence. If one family is empty, the other has all of alpha.
///
/// - Shape: adjusted p in \[0, 1\], any number, any order; 0 < `share` < 1.
/// - Range: \[p, 1\]. A `NaN` stays `NaN` and counts as not rejected.
/// - Cost: O(n).
/// - Source: the fallback procedure of Wiens 2003, Pharmaceutical Statistics 2, with Holm's weights
///   (Wiens and Dmitrienko 2005), applied to whole families instead of single hypotheses.
/// - Checked against a program that runs the procedure at every level.
#[must_use]
pub fn share_alpha(first: &[f64], second: &[f64], share: f64) -> (Vec<f64>, Vec<f64>) {
    if first.is_empty() || second.is_empty() {
        return (first.to_vec(), second.to_vec());
    }
    // The level at which a family is rejected completely.
    let whole = |p: &[f64], share: f64| {
        let largest = p.iter().fold(
            0.0_f64,
            |most, &p| if p > most || p.is_nan() { p } else { most },
        );
        if largest.is_nan() {
            f64::INFINITY
        } else {
            largest / share
        }
    };
    let adjusted = |p: &[f64], share: f64, other: f64| {
        let of = |&p: &f64| {
            if p.is_nan() {
                p
            } else {
                (p / share).min(p.max(other)).min(1.0)
            }
        };
        p.iter().map(of).collect::<Vec<f64>>()
    };
    let (of_first, of_second) = (whole(first, share), whole(second, 1.0 - share));
    (
        adjusted(first, share, of_second),
        adjusted(second, 1.0 - share, of_first),
    )
}

/// The indices of the p-values in ascending order, without `NaN`s.
fn ascending(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).filter(|&i| !p[i].is_nan()).collect();
    order.sort_by(|&i, &j| p[i].total_cmp(&p[j]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_share_alpha_and_leave_it_to_each_other() {
        let near = |got: (Vec<f64>, Vec<f64>), want: (&[f64], &[f64])| {
            let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
            assert!(close(&got.0, want.0) && close(&got.1, want.1), "{got:?}");
        };
        // The first family is not completely rejected: the second has a fifth of
        // alpha.
        near(
            share_alpha(&[0.03, 0.5], &[0.009, 0.02], 0.8),
            (&[0.0375, 0.5], &[0.045, 0.1]),
        );
        // The first family is rejected at 0.0375: above that, the second has all
        // of alpha.
        near(share_alpha(&[0.03], &[0.04], 0.8), (&[0.0375], &[0.04]));
        // The second family passes on its share as well.
        near(share_alpha(&[0.045], &[0.004], 0.8), (&[0.045], &[0.02]));
        near(share_alpha(&[0.045], &[], 0.8), (&[0.045], &[]));
        near(share_alpha(&[], &[0.045], 0.8), (&[], &[0.045]));
    }

    #[test]
    fn a_nan_counts_but_stays() {
        let holm = holm(&[0.01, f64::NAN]);
        assert_eq!(holm[0], 0.02);
        assert!(holm[1].is_nan());
        assert_eq!(benjamini_hochberg(&[0.01, f64::NAN])[0], 0.02);
        assert!(benjamini_hochberg(&[]).is_empty());
    }
}
