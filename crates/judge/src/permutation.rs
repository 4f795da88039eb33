//! The number of relabelings of a design, and the p that its permutation test can reach.

/// Up to this many relabelings every one is visited.
pub const EXACT_LIMIT: f64 = 1e6;
/// Above [`EXACT_LIMIT`], at most this many are drawn; more would add nothing.
pub const MONTE_CARLO_DRAWS: u32 = 99_999;

/// The smallest two-sided p of `n_a` against `n_b` runs: 2 / C for equal n (a
/// labeling and its mirror image always tie), 1 / C otherwise, and at least 1 /
/// 100,000 where Monte Carlo draws are used. 1 if a side is empty.
///
/// Cost: O(min(n_a, n_b)). Checked against the definition by enumeration.
#[must_use]
pub fn attainable(n_a: usize, n_b: usize) -> f64 {
    floor_of(choose(n_a + n_b, n_a), n_a == n_b)
}

/// The smallest number of runs per side whose [`attainable`] p is at most
/// `alpha`: 4 for 0.05. `None` if `alpha` is below the Monte Carlo floor 1 /
/// 100,000 or is `NaN`, so that no number of runs suffices.
#[must_use]
pub fn runs_needed(alpha: f64) -> Option<u32> {
    // C(24, 12) is beyond the exact limit; p does not get smaller after that.
    (1..=12_u32).find(|&n| attainable(n as usize, n as usize) <= alpha)
}

/// The binomial coefficient; exact while below 2^51.
pub(crate) fn choose(n: usize, k: usize) -> f64 {
    (1..=k.min(n - k)).fold(1.0, |c, i| {
        (c * (n - k.min(n - k) + i) as f64 / i as f64).round()
    })
}

/// The smallest p of a design with `relabelings`.
fn floor_of(relabelings: f64, balanced: bool) -> f64 {
    if relabelings > EXACT_LIMIT {
        return 1.0 / f64::from(MONTE_CARLO_DRAWS + 1);
    }
    let ways = if balanced { 2.0 } else { 1.0 };
    (ways / relabelings).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_designs_are_known_by_heart() {
        assert_eq!(attainable(3, 3), 0.1);
        assert_eq!(attainable(2, 3), 0.1);
        assert_eq!(attainable(1, 1), 1.0);
        assert_eq!(attainable(4, 4), 2.0 / 70.0);
        assert_eq!(attainable(0, 4), 1.0);
        assert_eq!(attainable(12, 12), 1.0 / 100_000.0);
        assert_eq!(runs_needed(0.05), Some(4));
        assert_eq!(runs_needed(0.1), Some(3));
        assert_eq!(runs_needed(1e-6), None);
    }
}
