//! How many runs would do.

use crate::dist::{normal_cdf, t_quantile};
use crate::equivalence::bounds;
use crate::permutation::runs_needed;

/// No answer above this is worth giving: nobody will make so many runs.
const MOST_RUNS: u32 = 100_000;

/// The chance that n runs a side find a given ratio, by the two-sided t test.
///
/// `sd_ln` is the standard deviation between runs of ln(value), taken to be the
/// same on both sides (0.02 is about 2 %). This is the power of the t interval;
/// the permutation test's is a little lower for small n, and zero where the
/// design cannot attain alpha (which this function does not look at).
///
/// - Shape: n >= 2; sd_ln > 0; ratio > 0; 0 < alpha < 1. `NaN` otherwise.
/// - Range: \[alpha, 1\]; alpha itself for ratio = 1.
/// - Cost: about 20 microseconds.
/// - Source: noncentral t with 2 n - 2 degrees of freedom and noncentrality
///   |ln ratio| / sd_ln * sqrt(n / 2) (Cohen 1988, section 2.2), integrated
///   numerically over the distribution of the sample's standard deviation.
/// - Checked against statsmodels' `TTestIndPower.power`.
#[must_use]
pub fn power_of(n: u32, sd_ln: f64, ratio: f64, alpha: f64) -> f64 {
    let in_range = n >= 2 && sd_ln > 0.0 && sd_ln.is_finite() && ratio > 0.0 && ratio.is_finite();
    if !(in_range && alpha > 0.0 && alpha < 1.0) {
        return f64::NAN;
    }
    let df = 2.0 * f64::from(n) - 2.0;
    let shift = ratio.ln().abs() / sd_ln * (f64::from(n) / 2.0).sqrt();
    let critical = t_quantile(1.0 - 0.5 * alpha, df);
    over_spread(df, f64::INFINITY, |s| {
        normal_cdf(shift - critical * s) + normal_cdf(-shift - critical * s)
    })
}

/// The smallest equal number of runs a side, 2 to 100,000, that finds `ratio`
/// with at least the given `power`, and at which the permutation test can
/// attain alpha at all. `None` if there is none, or if an argument is outside
/// the range of [`power_of`], or ratio = 1.
///
/// Cost: about 2 log2(n) calls of [`power_of`]. Checked against statsmodels'
/// `TTestIndPower.solve_power`.
#[must_use]
pub fn runs_for_effect(sd_ln: f64, ratio: f64, alpha: f64, power: f64) -> Option<u32> {
    if ratio == 1.0 {
        return None;
    }
    // Below this the permutation test cannot attain alpha whatever it finds.
    let fewest = runs_needed(alpha)?.max(2);
    smallest(fewest, |n| power_of(n, sd_ln, ratio, alpha) >= power)
}

/// The smallest equal number of runs a side, 2 to 100,000, for which two
/// one-sided tests at `alpha` declare two equal configurations equivalent
/// within ± `margin` with at least the given `power`. `None` if there is none,
/// or unless sd_ln > 0, 0 < margin < 1, 0 < alpha < 0.5.
///
/// - Source: Phillips 1990, Journal of Pharmacokinetics and Biopharmaceutics 18,
///   as an integral over the sample's standard deviation; bounds as in
///   [`crate::equivalence::bounds`]; 2 n - 2 degrees of freedom.
/// - Cost: as [`runs_for_effect`].
/// - Checked against the same integral by `scipy.integrate.quad`.
#[must_use]
pub fn runs_for_equivalence(sd_ln: f64, margin: f64, alpha: f64, power: f64) -> Option<u32> {
    let margin = bounds(margin).ok()?;
    if !(sd_ln > 0.0 && sd_ln.is_finite() && alpha > 0.0 && alpha < 0.5) {
        return None;
    }
    smallest(2, |n| {
        equivalence_power(n, sd_ln, margin.low.ln(), margin.high.ln(), alpha) >= power
    })
}

/// The chance that the interval lies in [low, high], both on logarithms, if the
/// true difference is zero.
fn equivalence_power(n: u32, sd_ln: f64, low: f64, high: f64, alpha: f64) -> f64 {
    let df = 2.0 * f64::from(n) - 2.0;
    let scale = sd_ln * (2.0 / f64::from(n)).sqrt();
    let critical = t_quantile(1.0 - alpha, df);
    let (low, high) = (low / scale, high / scale);
    // Beyond this spread the interval is wider than the margin.
    over_spread(df, (high - low) / (2.0 * critical), |s| {
        normal_cdf(high - critical * s) - normal_cdf(low + critical * s)
    })
}

/// The smallest n from `fewest` on that `suffices`, which must not turn false
/// again above it. Doubles until it does, since most answers are small.
fn smallest(fewest: u32, suffices: impl Fn(u32) -> bool) -> Option<u32> {
    let (mut low, mut high) = (fewest, fewest);
    while !suffices(high) {
        if high >= MOST_RUNS {
            return None;
        }
        low = high + 1;
        high = (2 * high).min(MOST_RUNS);
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if suffices(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}

/// The expectation of `f(s)` for s <= `limit`, where s = sqrt(chi2(df) / df) is
/// a sample's standard deviation in units of the true one.
///
/// Composite Gauss-Legendre quadrature over the mean ± 14 standard deviations
/// of s, with density s^(df - 1) exp(-df s^2 / 2), normalised by its own
/// integral so that no gamma function is needed.
fn over_spread(df: f64, limit: f64, f: impl Fn(f64) -> f64) -> f64 {
    let reach = 14.0 / (2.0 * df).sqrt();
    let (low, high) = ((1.0 - reach).max(0.0), 1.0 + reach);
    // Relative to its value at 1, so that it neither over- nor underflows.
    let density = |s: f64| ((df - 1.0) * s.ln() - 0.5 * df * (s * s - 1.0)).exp();
    let total = quadrature(low, high, &density);
    let end = high.min(limit);
    if end <= low {
        return 0.0;
    }
    quadrature(low, end, &|s| density(s) * f(s)) / total
}

/// Nodes and weights of the 8-point Gauss-Legendre rule on [-1, 1], positive
/// half (Abramowitz and Stegun 1964, table 25.4).
const GAUSS: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

fn quadrature(low: f64, high: f64, f: &impl Fn(f64) -> f64) -> f64 {
    const PANELS: u32 = 64;
    let half = 0.5 * (high - low) / f64::from(PANELS);
    let mut sum = 0.0;
    for panel in 0..PANELS {
        let centre = low + half * f64::from(2 * panel + 1);
        for (node, weight) in GAUSS {
            sum += weight * (f(centre - half * node) + f(centre + half * node));
        }
    }
    sum * half
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_effect_is_found_with_chance_alpha() {
        for n in [2, 3, 10, 1000] {
            assert!((power_of(n, 0.02, 1.0, 0.05) - 0.05).abs() < 1e-9);
        }
        assert!(power_of(1, 0.02, 1.1, 0.05).is_nan());
    }

    #[test]
    fn answers_respect_what_the_permutation_test_can_attain() {
        assert_eq!(runs_for_effect(0.001, 2.0, 0.05, 0.8), Some(4));
        assert_eq!(runs_for_effect(0.02, 1.0, 0.05, 0.8), None);
        assert_eq!(runs_for_effect(0.02, 1.05, 1e-9, 0.8), None);
        assert_eq!(runs_for_equivalence(0.02, 0.01, 0.7, 0.8), None);
    }
}
