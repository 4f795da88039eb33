//! Rare events: counts with their exposure.

use crate::dist::{
    binomial_lower, binomial_pmf, binomial_upper, chi2_lower, chi2_upper, gamma_quantile,
};
use crate::error::{Error, Result, check_open_unit};
use crate::moments::{mean, sorted, variance};
use crate::welch::Interval;

/// Garwood's exact interval of a rate, in events per second.
///
/// For c > 0 events in T seconds: the alpha/2 quantile of gamma(c) and the
/// 1 - alpha/2 quantile of gamma(c + 1), both divided by T. For c = 0 the whole
/// alpha goes to the upper side: \[0, -ln(1 - level) / T\], at 95 % the known
/// "rule of three", 2.996 / T. (The two-sided bound for zero would be
/// 3.689 / T; a rate cannot be below zero, so nothing is gained by it.)
///
/// - Shape: one count, `exposure_s` > 0 in seconds, 0 < level < 1.
/// - Range: 0 <= low < high. Coverage is at least `level` if the events are a
///   Poisson process; see [`gaps`] for whether they are.
/// - Cost: O(sqrt count).
/// - Source: Garwood 1936, "Fiducial limits for the Poisson distribution",
///   Biometrika 28.
/// - Checked against `scipy.stats.chi2.ppf`.
///
/// # Errors
/// [`Error::BadArgument`] for the exposure or the level.
pub fn garwood(count: u64, exposure_s: f64, level: f64) -> Result<Interval> {
    check_exposure(exposure_s)?;
    check_open_unit(level, "the level must lie between 0 and 1")?;
    if count == 0 {
        return Ok(Interval {
            low: 0.0,
            high: -(1.0 - level).ln() / exposure_s,
        });
    }
    let tail = 0.5 * (1.0 - level);
    let count = count as f64;
    Ok(Interval {
        low: gamma_quantile(tail, count) / exposure_s,
        high: gamma_quantile(1.0 - tail, count + 1.0) / exposure_s,
    })
}

/// Two rates compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateComparison {
    /// Rate b / rate a: 0 if only b has no events, infinite if only a has none,
    /// `None` if neither has any.
    pub ratio: Option<f64>,
    /// The exact two-sided p for equal rates, in (0, 1\].
    pub p: f64,
}

/// Compares two Poisson rates, `a` being the baseline.
///
/// Given the total, the count of b is binomial with chance t_b / (t_a + t_b) if
/// the rates are equal. p is the sum of the probabilities of all outcomes that
/// are no more likely than the observed one, equality within 1e-7 relative. No
/// events at all give p = 1.
///
/// - Shape: counts, exposures > 0 in seconds.
/// - Cost: O(sqrt(count) log(count)).
/// - Source: Przyborowski and Wilenski 1940, Biometrika 31; the tolerance is
///   that of R's `poisson.test` and scipy's `binomtest`.
/// - Checked against `scipy.stats.binomtest`.
///
/// # Errors
/// [`Error::BadArgument`] for an exposure.
pub fn compare(
    count_a: u64,
    exposure_a_s: f64,
    count_b: u64,
    exposure_b_s: f64,
) -> Result<RateComparison> {
    check_exposure(exposure_a_s)?;
    check_exposure(exposure_b_s)?;
    let ratio = match (count_a, count_b) {
        (0, 0) => None,
        (0, _) => Some(f64::INFINITY),
        _ => Some((count_b as f64 / exposure_b_s) / (count_a as f64 / exposure_a_s)),
    };
    let chance = exposure_b_s / (exposure_a_s + exposure_b_s);
    Ok(RateComparison {
        ratio,
        p: binomial_two_sided(count_b, count_a + count_b, chance),
    })
}

fn check_exposure(exposure_s: f64) -> Result<()> {
    if exposure_s > 0.0 && exposure_s.is_finite() {
        Ok(())
    } else {
        Err(Error::BadArgument(
            "the exposure must be a positive number of seconds",
        ))
    }
}

/// The probability of all outcomes no more likely than `k`.
fn binomial_two_sided(k: u64, n: u64, p: f64) -> f64 {
    let expected = n as f64 * p;
    let limit = binomial_pmf(k, n, p) * (1.0 + 1e-7);
    let unlikely = |i: u64| binomial_pmf(i, n, p) <= limit;
    let both = if k as f64 == expected {
        1.0
    } else if (k as f64) < expected {
        // The first outcome above the mean that is unlikely enough.
        let first = first_true(expected.ceil() as u64, n + 1, unlikely);
        binomial_lower(k, n, p)
            + if first <= n {
                binomial_upper(first, n, p)
            } else {
                0.0
            }
    } else {
        // The first outcome below the mean that is no longer unlikely.
        let first = first_true(0, expected.floor() as u64 + 1, |i| !unlikely(i));
        binomial_upper(k, n, p)
            + if first > 0 {
                binomial_lower(first - 1, n, p)
            } else {
                0.0
            }
    };
    both.min(1.0)
}

/// The first i in low..high with `holds(i)`, which is false before and true
/// after it; `high` if there is none.
fn first_true(mut low: u64, mut high: u64, holds: impl Fn(u64) -> bool) -> u64 {
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// How the gaps between events differ from those of a Poisson process.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gaps {
    /// The number of gaps, one less than the events.
    pub n: usize,
    /// The mean gap, in the unit of the times.
    pub mean: f64,
    /// The coefficient of variation (divisor n - 1): about 1 for a Poisson
    /// process, more for clusters, less for a regular beat.
    pub cv: f64,
    /// Moran's statistic, about chi-squared with n - 1 degrees of freedom.
    pub statistic: f64,
    /// The chance of gaps at least as even: small means a regular beat.
    pub p_regular: f64,
    /// The chance of gaps at least as uneven: small means clusters.
    pub p_clustered: f64,
}

/// Tests the gaps between events for an exponential distribution.
///
/// The statistic is 2 n (ln(mean gap) - mean ln(gap)) / (1 + (n + 1) / (6 n)),
/// Bartlett's test of equal variances applied to gaps. Both p are one-sided and
/// sum to 1. Two events at the same time make a gap of zero, an infinite
/// statistic and `p_clustered` = 0, so the times must be finer than the
/// shortest gap that matters.
///
/// - Shape: event times in any order, any unit, 4 or more (3 gaps).
/// - `None` for fewer, for a time that is not finite, or if all are equal.
/// - Cost: O(n log n).
/// - Source: Moran 1951, "The random division of an interval, part II", Journal
///   of the Royal Statistical Society B 13; Cox and Lewis 1966, section 6.3.
/// - Checked against the formula in scipy, and by simulation.
#[must_use]
pub fn gaps(times: &[f64]) -> Option<Gaps> {
    if times.len() < 4 || times.iter().any(|t| !t.is_finite()) {
        return None;
    }
    let gaps: Vec<f64> = sorted(times).windows(2).map(|w| w[1] - w[0]).collect();
    let mean_gap = mean(&gaps);
    if mean_gap <= 0.0 {
        return None;
    }
    let n = gaps.len() as f64;
    let mean_ln = gaps.iter().map(|g| (g / mean_gap).ln()).sum::<f64>() / n;
    let statistic = (-2.0 * n * mean_ln / (1.0 + (n + 1.0) / (6.0 * n))).max(0.0);
    Some(Gaps {
        n: gaps.len(),
        mean: mean_gap,
        cv: variance(&gaps).sqrt() / mean_gap,
        statistic,
        p_regular: chi2_lower(statistic, n - 1.0),
        p_clustered: chi2_upper(statistic, n - 1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Draws;

    #[test]
    fn zero_events_get_the_one_sided_bound() {
        let i = garwood(0, 100.0, 0.95).unwrap();
        assert_eq!(i.low, 0.0);
        assert!((i.high - 0.029_957_322_735_539_91).abs() < 1e-15);
        assert!(garwood(1, 0.0, 0.95).is_err());
    }

    #[test]
    fn ratios_of_zero_counts_are_never_nan() {
        let ratio = |a, b| compare(a, 10.0, b, 20.0).unwrap().ratio;
        assert_eq!(ratio(0, 0), None);
        assert_eq!(ratio(0, 3), Some(f64::INFINITY));
        assert_eq!(ratio(3, 0), Some(0.0));
        assert_eq!(compare(0, 1.0, 0, 1.0).unwrap().p, 1.0);
    }

    #[test]
    fn the_gap_test_holds_its_level_on_a_poisson_process() {
        let mut draws = Draws::new(3);
        let (mut clustered, mut regular) = (0, 0);
        for _ in 0..4000 {
            let mut t = 0.0;
            let times: Vec<f64> = (0..12)
                .map(|_| {
                    t -= draws.uniform().ln();
                    t
                })
                .collect();
            let g = gaps(&times).unwrap();
            clustered += u32::from(g.p_clustered <= 0.05);
            regular += u32::from(g.p_regular <= 0.05);
        }
        for alarms in [clustered, regular] {
            assert!((150..260).contains(&alarms), "{alarms} of 4000");
        }
    }
}
