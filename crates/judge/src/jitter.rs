//! The jitter of a stream of completions.

use crate::error::{Result, check_finite};
use crate::moments::{median_absolute_deviation, sorted, variance};
use crate::quantile::{supported, type7_unchecked};

/// The spread of one run's values, by four measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jitter {
    /// The standard deviation (divisor n - 1): the jitter of the run. Tables
    /// show its median over runs; ratios are tested on its logarithm.
    pub sd: f64,
    /// The median absolute deviation from the median, not scaled to a normal
    /// standard deviation.
    pub mad: f64,
    /// p99 - p50 by type 7; `None` with fewer than 1,000 values, too few to
    /// support p99.
    pub p99_minus_p50: Option<f64>,
    /// The largest value itself, not its deviation.
    pub max: f64,
}

/// The jitter of one run.
///
/// - Shape: the run's values d_i in any order, n >= 2; any finite values.
///   Unit: all four are in the unit of the values.
/// - Range: sd, mad >= 0; zero if the values are equal.
/// - Cost: O(n log n).
/// - Source: definitions; the quantiles as [`crate::quantile::type7`].
/// - Checked against `numpy.std(ddof=1)`, `scipy.stats.median_abs_deviation`
///   and `numpy.quantile`.
///
/// # Errors
/// [`crate::Error::TooFew`], [`crate::Error::NotFinite`].
pub fn jitter(values: &[f64]) -> Result<Jitter> {
    check_finite(values, 2)?;
    let sorted = sorted(values);
    let at = |p| type7_unchecked(&sorted, p);
    Ok(Jitter {
        sd: variance(values).sqrt(),
        mad: median_absolute_deviation(values),
        p99_minus_p50: supported(values.len(), 0.99).then(|| at(0.99) - at(0.5)),
        max: sorted[sorted.len() - 1],
    })
}
