//! Quantiles of the samples within one run.

use crate::dist::{binomial_lower, binomial_upper};
use crate::error::{Error, Result, check_finite, check_open_unit};
use crate::welch::Interval;

/// A quantile needs at least this many samples on either side of it.
const SUPPORT: f64 = 10.0;

/// The quantile by the Hyndman-Fan type 7 rule: linear interpolation at
/// h = (n - 1) p between the order statistics around it.
///
/// - Shape: sorted ascending, n >= 1, finite; 0 <= p <= 1. Unit: the samples'.
/// - Cost: O(n) to check for finite values; the lookup itself is O(1).
/// - Source: Hyndman and Fan 1996, "Sample quantiles in statistical packages",
///   The American Statistician 50, definition 7.
/// - Checked against `numpy.quantile`.
///
/// # Errors
/// [`Error::TooFew`] if empty, [`Error::NotFinite`], [`Error::BadArgument`] if
/// p is outside \[0, 1\] or the values are not sorted.
pub fn type7(sorted: &[f64], p: f64) -> Result<f64> {
    check_sorted(sorted, 1)?;
    if !(0.0..=1.0).contains(&p) {
        return Err(Error::BadArgument("the probability must lie in [0, 1]"));
    }
    Ok(type7_unchecked(sorted, p))
}

/// [`type7`] without its checks.
pub(crate) fn type7_unchecked(sorted: &[f64], p: f64) -> f64 {
    let (rank, share) = type7_position(sorted.len(), p);
    let below = sorted[rank];
    if share == 0.0 {
        below
    } else {
        below + share * (sorted[rank + 1] - below)
    }
}

/// The index of the lower order statistic and the weight of the next one.
pub(crate) fn type7_position(n: usize, p: f64) -> (usize, f64) {
    let h = (n - 1) as f64 * p;
    let rank = (h as usize).min(n - 1);
    let share = if rank + 1 < n { h - rank as f64 } else { 0.0 };
    (rank, share)
}

/// An interval between two order statistics, with its actual coverage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuantileInterval {
    /// The interval between two order statistics.
    pub interval: Interval,
    /// The rank of the lower one, counted from 1.
    pub rank_low: usize,
    /// The rank of the upper one, counted from 1.
    pub rank_high: usize,
    /// The actual coverage for a continuous distribution, at least the requested
    /// level (ties can only raise it).
    pub coverage: f64,
}

/// A distribution-free interval of a quantile from order statistics.
///
/// With K ~ binomial(n, p), the interval \[x_(l), x_(u)\] covers with
/// probability P(l <= K < u). l is the largest rank with P(K < l) <= alpha / 2,
/// u the smallest with P(K >= u) <= alpha / 2.
///
/// The interval assumes independent samples. Latencies of one run often come in bursts;
/// then the interval is too narrow, and runs, not samples, are the unit.
///
/// - Shape: sorted ascending, finite; 0 < p < 1; 0 < level < 1.
/// - Cost: O(n) to check, O(sqrt(n) log(n)) to compute.
/// - Source: David and Nagaraja 2003, "Order Statistics", section 7.1.
/// - Checked against `scipy.stats.binom`.
///
/// # Errors
/// [`Error::TooFew`] with the number of samples that such an interval needs,
/// [`Error::NotFinite`], [`Error::BadArgument`] for p, level or the order.
pub fn interval(sorted: &[f64], p: f64, level: f64) -> Result<QuantileInterval> {
    check_open_unit(p, "the probability must lie between 0 and 1")?;
    check_open_unit(level, "the level must lie between 0 and 1")?;
    check_sorted(sorted, 1)?;
    let tail = 0.5 * (1.0 - level);
    let n = sorted.len() as u64;
    // Largest l in 0..=n with P(K <= l - 1) <= tail.
    let low = last_true(n, |l| l == 0 || binomial_lower(l - 1, n, p) <= tail);
    // Smallest u in 1..=n + 1 with P(K >= u) <= tail.
    let high = 1 + last_true(n, |u| u == 0 || binomial_upper(u, n, p) > tail);
    if low == 0 || high > n {
        let needed = (tail.ln() / p.max(1.0 - p).ln()).ceil();
        return Err(Error::TooFew {
            needed: needed as usize,
            got: sorted.len(),
        });
    }
    Ok(QuantileInterval {
        interval: Interval {
            low: sorted[low as usize - 1],
            high: sorted[high as usize - 1],
        },
        rank_low: low as usize,
        rank_high: high as usize,
        coverage: 1.0 - binomial_lower(low - 1, n, p) - binomial_upper(high, n, p),
    })
}

/// The last i in 0..=n with `holds(i)`, which is true up to that i and false
/// after it.
fn last_true(n: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if holds(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

/// Whether n samples support the quantile p: at least ten are expected on either
/// side, n p >= 10 and n (1 - p) >= 10. The extremes, p = 0 and p = 1, are
/// observed values of the run, not estimates, and need one sample.
#[must_use]
pub fn supported(n: usize, p: f64) -> bool {
    if p == 0.0 || p == 1.0 {
        return n >= 1;
    }
    // 100 * (1 - 0.9) must count as ten.
    let enough = SUPPORT * (1.0 - 1e-9);
    n as f64 * p >= enough && n as f64 * (1.0 - p) >= enough
}

/// The quantiles of one run that its samples support, and its spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunQuantiles {
    /// The median.
    pub p50: Option<f64>,
    /// The 0.9 quantile.
    pub p90: Option<f64>,
    /// The 0.99 quantile.
    pub p99: Option<f64>,
    /// The 0.999 quantile.
    pub p999: Option<f64>,
    /// The largest sample.
    pub max: Option<f64>,
    /// p99 - p50; `None` without p99.
    pub p99_minus_p50: Option<f64>,
    /// The median absolute deviation from the median, not scaled to a normal
    /// standard deviation; `None` without p50.
    pub mad: Option<f64>,
}

/// p50, p90, p99, p99.9 and max by [`type7`], each `None` unless [`supported`];
/// and two measures of spread, p99 - p50 and the median absolute deviation, each
/// supported if the quantiles it is based on are.
///
/// - Shape: sorted ascending, finite, may be empty.
/// - Cost: O(n log n).
/// - Checked: the spread against [`crate::jitter::jitter`].
///
/// # Errors
/// [`Error::NotFinite`], [`Error::BadArgument`] if the values are not sorted.
pub fn per_run(sorted: &[f64]) -> Result<RunQuantiles> {
    check_sorted(sorted, 0)?;
    let at = |p| supported(sorted.len(), p).then(|| type7_unchecked(sorted, p));
    let mad = at(0.5).map(|centre| {
        let mut deviations: Vec<f64> = sorted.iter().map(|v| (v - centre).abs()).collect();
        deviations.sort_by(f64::total_cmp);
        type7_unchecked(&deviations, 0.5)
    });
    Ok(RunQuantiles::new(at, mad))
}

impl RunQuantiles {
    /// Builds it from the quantiles that the samples support; the maximum is that of 1.
    pub(crate) fn new(at: impl Fn(f64) -> Option<f64>, mad: Option<f64>) -> Self {
        let (p50, p99) = (at(0.5), at(0.99));
        RunQuantiles {
            p50,
            p90: at(0.9),
            p99,
            p999: at(0.999),
            max: at(1.0),
            p99_minus_p50: p99.zip(p50).map(|(p99, p50)| p99 - p50),
            mad,
        }
    }
}

/// Rejects too few values, values that are not finite, and unsorted values.
pub(crate) fn check_sorted(sorted: &[f64], needed: usize) -> Result<()> {
    check_finite(sorted, needed)?;
    if sorted.is_sorted() {
        Ok(())
    } else {
        Err(Error::BadArgument("the samples must be sorted"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_samples_on_either_side_support_a_quantile() {
        assert!(supported(20, 0.5) && !supported(19, 0.5));
        assert!(supported(100, 0.9) && !supported(99, 0.9));
        assert!(supported(1000, 0.99) && supported(10_000, 0.999));
        assert!(supported(1, 1.0) && !supported(0, 1.0));
        let run: Vec<f64> = (0..100).map(f64::from).collect();
        let q = per_run(&run).unwrap();
        assert_eq!((q.p50, q.p99, q.max), (Some(49.5), None, Some(99.0)));
        assert_eq!((q.p99_minus_p50, q.mad), (None, Some(25.0)));
        let none = per_run(&[]).unwrap();
        assert_eq!((none.max, none.mad), (None, None));
        let few = per_run(&run[..19]).unwrap();
        assert_eq!((few.p50, few.mad), (None, None));
    }

    #[test]
    fn the_spread_of_a_run_is_that_of_its_jitter() {
        let run: Vec<f64> = (0..1000u32).map(|i| f64::from(i * i % 7919)).collect();
        let jitter = crate::jitter::jitter(&run).unwrap();
        let of = per_run(&crate::moments::sorted(&run)).unwrap();
        assert_eq!(of.p99_minus_p50, jitter.p99_minus_p50);
        assert_eq!((of.mad, of.max), (Some(jitter.mad), Some(jitter.max)));
        assert!(jitter.mad > 0.0 && of.p99_minus_p50 > of.mad);
    }

    #[test]
    fn too_few_samples_name_the_number_that_would_do() {
        let five = [1.0, 2.0, 3.0, 4.0, 5.0];
        let error = interval(&five, 0.5, 0.95);
        assert_eq!(error, Err(Error::TooFew { needed: 6, got: 5 }));
        let six: Vec<f64> = (0..6).map(f64::from).collect();
        let i = interval(&six, 0.5, 0.95).unwrap();
        assert_eq!((i.rank_low, i.rank_high), (1, 6));
        assert!((i.coverage - 0.96875).abs() < 1e-12);
        assert!(type7(&[2.0, 1.0], 0.5).is_err());
    }
}
