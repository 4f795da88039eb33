//! Rare events: counts with their exposures.

use crate::dist::{
    binomial_lower, binomial_pmf, binomial_upper, chi2_lower, chi2_upper, gamma_quantile,
};
use crate::error::{Error, Result, check_finite, check_open_unit};
use crate::moments::{mean, sorted, variance};
use crate::welch::{Interval, combine};

/// Garwood's exact interval of a rate, in events per second.
///
/// For c > 0 events in T seconds: the alpha/2 quantile of gamma(c) and the 1 -
/// alpha/2 quantile of gamma(c + 1), both divided by T. For c = 0 all of alpha
/// is on the upper side: \[0, -ln(1 - level) / T\], at 95 % the known "rule of
/// three", 2.996 / T. (The two-sided bound for zero would be 3.689 / T; a rate
/// cannot be below zero, so that gains nothing.)
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

/// The comparison of two rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoissonComparison {
    /// Rate b / rate a: 0 if only b has no events, infinite if only a has none,
    /// `None` if neither has any.
    pub ratio: Option<f64>,
    /// The exact two-sided p for equal rates, in (0, 1\].
    pub p: f64,
}

/// Compares two Poisson rates; `a` is the baseline.
///
/// Given the total, the count of b is binomial with probability t_b / (t_a +
/// t_b) if the rates are equal. p is the sum of the probabilities of all
/// outcomes that are no more likely than the observed one, equality within 1e-7
/// relative. No events at all give p = 1.
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
) -> Result<PoissonComparison> {
    check_exposure(exposure_a_s)?;
    check_exposure(exposure_b_s)?;
    let ratio = match (count_a, count_b) {
        (0, 0) => None,
        (0, _) => Some(f64::INFINITY),
        _ => Some((count_b as f64 / exposure_b_s) / (count_a as f64 / exposure_a_s)),
    };
    let chance = exposure_b_s / (exposure_a_s + exposure_b_s);
    Ok(PoissonComparison {
        ratio,
        p: binomial_two_sided(count_b, count_a + count_b, chance),
    })
}

/// With fewer events than this on a side, clustering cannot be assessed.
pub const FEWEST_CLUSTERED: usize = 10;

/// One side of a comparison of rates whose events may come in clusters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EventTimes<'a> {
    /// The times of the events, in seconds since the start of the exposure; any
    /// order.
    pub times_s: &'a [f64],
    /// The duration of the observation, in seconds.
    pub exposure_s: f64,
}

/// Events counted in windows of equal length.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowCounts {
    /// Events in each window, in order of time.
    pub counts: Vec<u64>,
    /// The length of a window.
    pub width_s: f64,
    /// Pearson's sum of (count - mean)² / mean.
    pub chi2: f64,
    /// The number of windows minus one.
    pub df: f64,
    /// The dispersion: chi2 / df, but at least 1. About 1 for a Poisson process,
    /// about k if events come k at a time.
    pub phi: f64,
}

/// Divides the exposure into windows and computes how much their counts vary.
///
/// The number of windows makes the mean count about 5: c / 5 for c events, rounded to the nearest
/// integer, at least 6 and at most 50. Windows include their start and exclude their end; the last
/// includes both. Counts that vary less than in a Poisson process (phi < 1) give phi = 1: regular
/// events do not make their rate more certain.
///
/// - Shape: at least 10 events ([`FEWEST_CLUSTERED`]), times in \[0, `exposure_s`\].
/// - Range: `phi` >= 1. Clusters that are longer than a window are underestimated.
/// - Cost: O(c).
/// - Source: Fisher 1950, "The significance of deviations from expectation in a Poisson series",
///   Biometrics 6; dispersion by Wedderburn 1974, Biometrika 61.
/// - Checked against `numpy.histogram` and statsmodels' quasi-Poisson `GLM`.
///
/// # Errors
/// [`Error::TooFew`] below 10 events, [`Error::NotFinite`], [`Error::BadArgument`] for the exposure
/// or a time outside of it.
pub fn windows(side: EventTimes<'_>) -> Result<WindowCounts> {
    check_exposure(side.exposure_s)?;
    check_finite(side.times_s, FEWEST_CLUSTERED)?;
    let outside = |t: &f64| *t < 0.0 || *t > side.exposure_s;
    if side.times_s.iter().any(outside) {
        return Err(Error::BadArgument("an event lies outside of the exposure"));
    }
    let events = side.times_s.len();
    let number = ((events as f64 / 5.0).round() as usize).clamp(6, 50);
    let mut counts = vec![0_u64; number];
    for t in side.times_s {
        let window = (t / side.exposure_s * number as f64) as usize;
        counts[window.min(number - 1)] += 1;
    }
    let expected = events as f64 / number as f64;
    let squares = counts.iter().map(|&c| (c as f64 - expected).powi(2));
    let chi2 = squares.sum::<f64>() / expected;
    let df = (number - 1) as f64;
    Ok(WindowCounts {
        counts,
        width_s: side.exposure_s / number as f64,
        chi2,
        df,
        phi: (chi2 / df).max(1.0),
    })
}

/// The comparison of two rates whose events may be clustered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClusteredComparison {
    /// Rate b / rate a.
    pub ratio: f64,
    /// The 95 % interval of `ratio`.
    pub ci: Interval,
    /// The standard error of ln(ratio).
    pub standard_error: f64,
    /// Degrees of freedom of the standard error.
    pub df: f64,
    /// The two-sided p for equal rates.
    pub p: f64,
    /// The dispersion of a.
    pub phi_a: f64,
    /// The dispersion of b.
    pub phi_b: f64,
}

/// Compares two rates whose events may be clustered; `a` is the baseline.
///
/// ln(rate b / rate a) has squared standard error phi_a / c_a + phi_b / c_b, with the dispersion of
/// each side from its own [`windows`], and Satterthwaite's degrees of freedom from windows - 1 of
/// each side; interval and p by Student's t.
///
/// The dispersions are separate because a change may consist in events now arriving together.
/// Measured over 2,000 pairs of sides each, with equal rates and 20, 40, 100 and 300 expected
/// events on the shorter side, exposures 1 : 1 and 1 : 3, events that come one, two, three or five
/// at a time on either side: p <= 0.05 in 0.4 to 5.6 % of the pairs (0.4 % for the smallest and
/// most clustered). With one phi for both it was up to 16 %, if the shorter side has clusters and
/// the other none; without phi (Poisson) 12 to 39 % whenever there are clusters.
///
/// - Shape: at least 10 events on each side ([`FEWEST_CLUSTERED`]).
/// - Range: ratio > 0; p in \[0, 1\]. Without clusters less powerful than [`compare`], which is
///   exact.
/// - Cost: O(c).
/// - Source: McCullagh and Nelder 1989, "Generalized Linear Models", section 6.2.3
///   (quasi-likelihood); df by Satterthwaite 1946.
/// - Checked against the formula in numpy and scipy, the error of each side against statsmodels'
///   Poisson `GLM` with `scale="X2"`, and by simulation.
///
/// # Errors
/// As for [`windows`], of either side.
pub fn compare_clustered(a: EventTimes<'_>, b: EventTimes<'_>) -> Result<ClusteredComparison> {
    let (of_a, of_b) = (windows(a)?, windows(b)?);
    let rate = |side: EventTimes<'_>| side.times_s.len() as f64 / side.exposure_s;
    let squared =
        |side: EventTimes<'_>, of: &WindowCounts| (of.phi / side.times_s.len() as f64, of.df);
    let effect = (rate(b) / rate(a)).ln();
    let found = combine(effect, squared(a, &of_a), squared(b, &of_b)).exponentiated();
    Ok(ClusteredComparison {
        ratio: found.effect,
        ci: found.ci,
        standard_error: found.standard_error,
        df: found.df,
        p: found.p_t,
        phi_a: of_a.phi,
        phi_b: of_b.phi,
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

/// The total probability of all outcomes that are no more likely than `k`.
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
pub struct GapDispersion {
    /// The number of gaps, one less than the events.
    pub n: usize,
    /// The mean gap, in the unit of the times.
    pub mean: f64,
    /// The coefficient of variation (divisor n - 1): about 1 for a Poisson
    /// process, more for clusters, less for regular events.
    pub cv: f64,
    /// Moran's statistic, about chi-squared with n - 1 degrees of freedom.
    pub statistic: f64,
    /// The probability of gaps at least as even: small means regular events.
    pub p_regular: f64,
    /// The probability of gaps at least as uneven: small means clusters.
    pub p_clustered: f64,
}

/// Tests the gaps between events for an exponential distribution.
///
/// The statistic is 2 n (ln(mean gap) - mean ln(gap)) / (1 + (n + 1) / (6 n)),
/// Bartlett's test of equal variances applied to gaps. Both p are one-sided and
/// sum to 1. Two events at the same time make a gap of zero, an infinite
/// statistic and `p_clustered` = 0, so the times must be finer than the shortest
/// gap that matters.
///
/// - Shape: event times in any order, any unit, at least 4 (3 gaps).
/// - `None` for fewer, for a time that is not finite, or if all are equal.
/// - Cost: O(n log n).
/// - Source: Moran 1951, "The random division of an interval, part II", Journal
///   of the Royal Statistical Society B 13; Cox and Lewis 1966, section 6.3.
/// - Checked against the formula in scipy, and by simulation.
#[must_use]
pub fn gaps(times: &[f64]) -> Option<GapDispersion> {
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
    Some(GapDispersion {
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
    use crate::random::RandomStream;

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
        let mut draws = RandomStream::new(3);
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

    /// The times of clusters of `size` events, with `expected` events in total.
    fn clusters(draws: &mut RandomStream, size: usize, expected: f64, exposure_s: f64) -> Vec<f64> {
        let (mut t, mut times) = (0.0, Vec::new());
        loop {
            t -= draws.uniform().ln() * exposure_s * size as f64 / expected;
            if t >= exposure_s {
                return times;
            }
            times.extend(std::iter::repeat_n(t, size));
        }
    }

    /// The shares of false alarms with equal rates: of the test for clustered
    /// events, and of Poisson's test.
    fn alarms(sizes: (usize, usize), expected: f64, longer: f64) -> (f64, f64) {
        let mut draws = RandomStream::new(9);
        let (mut clustered, mut poisson, mut tried) = (0, 0, 0);
        for _ in 0..1500 {
            let a = clusters(&mut draws, sizes.0, expected, 60.0);
            let b = clusters(&mut draws, sizes.1, expected * longer, 60.0 * longer);
            let side = |times_s, exposure_s| EventTimes {
                times_s,
                exposure_s,
            };
            let Ok(of) = compare_clustered(side(&a, 60.0), side(&b, 60.0 * longer)) else {
                continue;
            };
            let plain = compare(a.len() as u64, 60.0, b.len() as u64, 60.0 * longer).unwrap();
            tried += 1;
            clustered += u32::from(of.p <= 0.05);
            poisson += u32::from(plain.p <= 0.05);
        }
        let share = |count| f64::from(count) / f64::from(tried);
        (share(clustered), share(poisson))
    }

    #[test]
    fn clusters_alarm_no_more_often_than_promised() {
        for sizes in [(1, 1), (2, 2), (3, 3), (5, 5), (1, 5), (5, 1)] {
            for (expected, longer) in [(40.0, 1.0), (100.0, 1.0), (100.0, 3.0)] {
                let (clustered, poisson) = alarms(sizes, expected, longer);
                let what = format!("{sizes:?} {expected} {longer}: {clustered} {poisson}");
                assert!(clustered < 0.07, "{what}");
                assert!(sizes == (1, 1) || poisson > 0.1, "{what}");
            }
        }
    }

    #[test]
    fn a_doubled_rate_of_clusters_is_found_and_their_size_is_seen() {
        let mut draws = RandomStream::new(2);
        let (mut found, mut covered, mut phi) = (0, 0, 0.0);
        for _ in 0..1000 {
            let a = clusters(&mut draws, 3, 300.0, 60.0);
            let b = clusters(&mut draws, 3, 600.0, 60.0);
            let side = |times_s| EventTimes {
                times_s,
                exposure_s: 60.0,
            };
            let of = compare_clustered(side(&a), side(&b)).unwrap();
            found += u32::from(of.p <= 0.05);
            covered += u32::from(of.ci.contains(2.0));
            phi += 0.5 * (of.phi_a + of.phi_b) / 1000.0;
        }
        assert!(found > 980, "{found} of 1000");
        assert!((930..970).contains(&covered), "{covered} of 1000");
        assert!((2.8..3.2).contains(&phi), "{phi}");
    }

    #[test]
    fn windows_are_as_many_as_the_events_fill() {
        let of = |events: usize| {
            let times: Vec<f64> = (0..events).map(|i| i as f64 + 0.5).collect();
            windows(EventTimes {
                times_s: &times,
                exposure_s: events as f64,
            })
        };
        assert_eq!(of(9), Err(Error::TooFew { needed: 10, got: 9 }));
        let number = |events| of(events).unwrap().counts.len();
        assert_eq!([10, 30, 100, 250, 9000].map(number), [6, 6, 20, 50, 50]);
        assert_eq!(of(100).unwrap().counts, [5; 20]);
        // Regular events do not give a dispersion below Poisson's.
        assert_eq!(of(100).unwrap().phi, 1.0);
        let ends = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 6.0, 6.0, 6.0];
        let found = windows(EventTimes {
            times_s: &ends,
            exposure_s: 6.0,
        })
        .unwrap();
        assert_eq!(found.counts, [1, 1, 1, 1, 1, 5]);
        let outside = windows(EventTimes {
            times_s: &ends,
            exposure_s: 5.9,
        });
        assert!(matches!(outside, Err(Error::BadArgument(_))));
    }
}
