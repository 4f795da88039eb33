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

/// Two families of tests that share the chance of a false alarm: adjusted p of the
/// first and of the second, so that at level alpha the first is tested at `share`
/// times alpha and the second at the rest; and a family that is rejected whole
/// leaves its part to the other.
///
/// The p of each family are adjusted for the tests of that family already, so that
/// they bound the chance of one false alarm in it. Then the chance of one in
/// either is at most alpha, whatever the dependence. Where one family is empty the
/// other has all of alpha.
///
/// - Shape: adjusted p in \[0, 1\], any number, any order; 0 < `share` < 1.
/// - Range: \[p, 1\]. A `NaN` stays `NaN` and was not rejected.
/// - Cost: O(n).
/// - Source: the fallback procedure of Wiens 2003, Pharmaceutical Statistics 2,
///   with Holm's weights (Wiens and Dmitrienko 2005), its hypotheses being whole
///   families.
/// - Checked against a program that carries the procedure out at every level.
#[must_use]
pub fn share_alpha(first: &[f64], second: &[f64], share: f64) -> (Vec<f64>, Vec<f64>) {
    if first.is_empty() || second.is_empty() {
        return (first.to_vec(), second.to_vec());
    }
    // The level at which a family is rejected whole.
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
    fn families_share_alpha_and_leave_it_to_each_other() {
        let near = |got: (Vec<f64>, Vec<f64>), want: (&[f64], &[f64])| {
            let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
            assert!(close(&got.0, want.0) && close(&got.1, want.1), "{got:?}");
        };
        // The first is not rejected whole: the second has a fifth.
        near(
            share_alpha(&[0.03, 0.5], &[0.009, 0.02], 0.8),
            (&[0.0375, 0.5], &[0.045, 0.1]),
        );
        // The first is rejected at 0.0375: above that the second has all.
        near(share_alpha(&[0.03], &[0.04], 0.8), (&[0.0375], &[0.04]));
        // The second leaves its part as well.
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
