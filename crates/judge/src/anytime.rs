//! Tests that hold at any number of observations, so that one may look after each.

/// The evidence that an outcome is more frequent on one side than on the other, from paired runs.
/// Arguments: the numbers of pairs in which only the run of `a`, or only that of `b`, has it.
///
/// If both sides have the same probability, each such pair is a fair coin toss whatever the pairs
/// before it were. The value is the likelihood of the tosses under a coin whose bias has the
/// arcsine distribution, divided by that under a fair one. The chance that it ever exceeds
/// 1 / alpha is at most alpha, for any number of pairs and any dependence within a pair.
///
/// - Range: above 0; 1 if no pair differs.
/// - Cost: O(pairs that differ).
/// - Source: Krichevsky and Trofimov 1981, IEEE Transactions on Information Theory 27; Ville 1939
///   for the bound.
/// - Checked against the sum over all sequences, which is 1 under a fair coin, and against sums of
///   exact fractions.
#[must_use]
pub fn paired_evidence(only_a: u32, only_b: u32) -> f64 {
    let (mut logarithm, mut tosses) = (0.0f64, 0u32);
    for side in [only_a, only_b] {
        for seen in 0..side {
            logarithm += (2.0 * (f64::from(seen) + 0.5) / f64::from(tosses + 1)).ln();
            tosses += 1;
        }
    }
    logarithm.exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_evidence_is_the_ratio_of_two_likelihoods() {
        // The mixture gives k of n the chance (1/2)_k (1/2)_(n-k) / n!, a fair coin 2^-n.
        for (a, b, exact) in [
            (0, 0, 1.0),
            (1, 0, 1.0),
            (2, 0, 1.5),
            (1, 1, 0.5),
            (3, 0, 2.5),
            (2, 1, 0.5),
        ] {
            assert!((paired_evidence(a, b) - exact).abs() < 1e-12, "{a} {b}");
            let turned = paired_evidence(b, a);
            assert!((turned - exact).abs() < 1e-12, "{b} {a}");
        }
    }

    #[test]
    fn a_fair_coin_gives_one_on_average() {
        let n = 12u32;
        let mean: f64 = (0..1u32 << n)
            .map(|tosses| paired_evidence(tosses.count_ones(), n - tosses.count_ones()))
            .sum::<f64>()
            / f64::from(1u32 << n);
        assert!((mean - 1.0).abs() < 1e-9, "{mean}");
    }

    /// Counts, among all walks of 20 tosses, those that ever got beyond 20.
    #[test]
    fn a_fair_coin_ever_exceeds_twenty_in_no_more_than_one_of_twenty_walks() {
        let n = 20u32;
        let exceeds = |walk: &u32| {
            let mut ones = 0;
            (0..n).any(|at| {
                ones += walk >> at & 1;
                paired_evidence(ones, at + 1 - ones) >= 20.0
            })
        };
        let count = (0..1u32 << n).filter(exceeds).count();
        let share = count as f64 / f64::from(1u32 << n);
        assert!(share > 0.0 && share <= 0.05, "{share}");
    }

    #[test]
    fn seven_pairs_that_all_differ_alike_are_enough() {
        assert!(paired_evidence(7, 0) >= 20.0);
        assert!(paired_evidence(6, 0) < 20.0);
    }
}
