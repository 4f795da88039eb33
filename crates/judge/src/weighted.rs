//! Quantiles of samples given as a histogram.

use crate::error::{Error, Result, check_finite};
use crate::quantile::{RunQuantiles, supported, type7_position};

/// The quantile by the Hyndman-Fan type 7 rule of the samples in a histogram,
/// without expanding them: each value counts as often as it occurred.
///
/// - Shape: (value, count) pairs, values strictly ascending and finite, at least
///   one count above 0; 0 <= p <= 1. Unit: the values'.
/// - Cost: O(number of pairs).
/// - Source: as [`crate::quantile::type7`], with bit-identical results.
///
/// # Errors
/// [`Error::TooFew`] if nothing was counted, [`Error::NotFinite`],
/// [`Error::BadArgument`] if p is outside \[0, 1\], the values do not ascend or
/// the counts are too many to add.
///
/// ```
/// let latencies = [(3.0, 2), (4.0, 1), (9.0, 1)];
/// assert_eq!(assize_judge::weighted::type7(&latencies, 0.5), Ok(3.5));
/// ```
pub fn type7(histogram: &[(f64, u64)], p: f64) -> Result<f64> {
    let n = checked(histogram)?;
    if n == 0 {
        return Err(Error::TooFew { needed: 1, got: 0 });
    }
    if !(0.0..=1.0).contains(&p) {
        return Err(Error::BadArgument("the probability must lie in [0, 1]"));
    }
    Ok(type7_unchecked(histogram, n, p))
}

/// Returns the same as [`crate::quantile::per_run`] for the expanded samples,
/// bit for bit.
pub fn per_run(histogram: &[(f64, u64)]) -> Result<RunQuantiles> {
    let n = checked(histogram)?;
    let at = |p| supported(n, p).then(|| type7_unchecked(histogram, n, p));
    let mad = at(0.5).map(|centre| {
        let deviation = |&(value, count): &(f64, u64)| ((value - centre).abs(), count);
        let mut deviations: Vec<(f64, u64)> = histogram.iter().map(deviation).collect();
        deviations.sort_by(|a, b| a.0.total_cmp(&b.0));
        type7_unchecked(&deviations, n, 0.5)
    });
    Ok(RunQuantiles::new(at, mad))
}

/// The number of samples in a histogram, after checking it.
fn checked(histogram: &[(f64, u64)]) -> Result<usize> {
    let values: Vec<f64> = histogram.iter().map(|&(value, _)| value).collect();
    check_finite(&values, 0)?;
    if !values.is_sorted_by(|a, b| a < b) {
        return Err(Error::BadArgument("the values must ascend"));
    }
    histogram
        .iter()
        .try_fold(0u64, |sum, &(_, count)| sum.checked_add(count))
        .and_then(|sum| usize::try_from(sum).ok())
        .ok_or(Error::BadArgument("there are too many samples to count"))
}

/// [`type7`] without its checks; `n` samples, at least one. Consecutive equal
/// values each count.
fn type7_unchecked(histogram: &[(f64, u64)], n: usize, p: f64) -> f64 {
    let (rank, share) = type7_position(n, p);
    let below = at_rank(histogram, rank);
    if share == 0.0 {
        below
    } else {
        below + share * (at_rank(histogram, rank + 1) - below)
    }
}

/// The order statistic with `rank` samples before it.
fn at_rank(histogram: &[(f64, u64)], rank: usize) -> f64 {
    let mut before = 0;
    for &(value, count) in histogram {
        before += count;
        if before > rank as u64 {
            return value;
        }
    }
    histogram.last().map_or(f64::NAN, |&(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantile;
    use proptest::prelude::*;

    fn written_out(histogram: &[(f64, u64)]) -> Vec<f64> {
        let repeat = |&(value, count): &(f64, u64)| std::iter::repeat_n(value, count as usize);
        histogram.iter().flat_map(repeat).collect()
    }

    fn histograms() -> impl Strategy<Value = Vec<(f64, u64)>> {
        let pairs = proptest::collection::btree_map(0u32..100_000, 0u64..400, 1..40);
        pairs.prop_map(|map| map.into_iter().map(|(v, c)| (f64::from(v), c)).collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_histogram_has_the_quantiles_of_its_samples(histogram in histograms(), p in 0.0..=1.0f64) {
            let samples = written_out(&histogram);
            prop_assert_eq!(per_run(&histogram), quantile::per_run(&samples));
            if samples.is_empty() {
                prop_assert!(type7(&histogram, p).is_err());
            } else {
                prop_assert_eq!(type7(&histogram, p), quantile::type7(&samples, p));
            }
        }
    }

    #[test]
    fn what_is_no_histogram_is_refused() {
        assert!(type7(&[], 0.5).is_err() && type7(&[(1.0, 0)], 0.5).is_err());
        assert!(type7(&[(2.0, 1), (1.0, 1)], 0.5).is_err());
        assert!(type7(&[(1.0, 1), (1.0, 1)], 0.5).is_err());
        assert!(type7(&[(f64::NAN, 1)], 0.5).is_err());
        assert!(type7(&[(1.0, u64::MAX), (2.0, 1)], 0.5).is_err());
        assert!(type7(&[(1.0, 1)], 1.5).is_err());
    }

    #[test]
    fn few_samples_support_few_quantiles() {
        let q = per_run(&[(1.0, 60), (2.0, 39), (7.0, 1)]).unwrap();
        assert_eq!((q.p50, q.p90), (Some(1.0), Some(2.0)));
        assert_eq!((q.p99, q.max), (None, Some(7.0)));
    }
}
