//! The interval that corresponds to the sign-flip test.

use crate::dist::t_quantile;
use crate::error::{Error, Result, check_finite, check_open_unit};
use crate::moments::mean;
use crate::welch::Interval;

/// Maximum number of differences; with more, t intervals are used, because there are 2^n subsets.
const MOST: usize = 16;

/// The interval of centres of symmetry that the sign-flip test does not reject: it excludes 0
/// exactly if the test rejects 0, whatever the tails of the distribution.
///
/// Of the means of all 2^n - 1 non-empty subsets of the differences, in ascending order, it spans
/// the kth to the kth last, k = floor((1 - `level`) 2^n / 2); it covers the centre in 1 - 2k/2^n of
/// all samples, at least `level`. `None` if k is 0 (at 95 % for fewer than 6 differences), and for
/// more than 16 differences, for which the t interval is used.
///
/// `variance` is the variance of the mean that the differences do not show because values come in
/// steps; it widens each half of the interval in quadrature, as it does the t interval.
///
/// - Shape: at least two differences, on the scale that is averaged.
/// - Range: contains the mean; a point if all differences are equal and `variance` is 0.
/// - Cost: O(2^n).
/// - Source: Hartigan 1969, "Using subsample values as typical values", Journal of the American
///   Statistical Association 64.
/// - Checked against an enumeration in numpy, and against the test itself
///   ([`crate::family::step_down`]) for random differences.
///
/// # Errors
/// [`Error::TooFew`] below 2 differences, [`Error::NotFinite`], [`Error::BadArgument`] unless 0 <
/// `level` < 1 and `variance` >= 0.
///
/// ```
/// let far = [0.01, 0.02, 0.01, 0.03, 0.02, 0.01, 0.02, 0.90];
/// let found = assize_judge::flips::interval(&far, 0.95, 0.0)?.expect("8 differences");
/// // All lie above 0. A t interval would include 0, because of the last one.
/// assert!(found.low > 0.0);
/// # Ok::<(), assize_judge::Error>(())
/// ```
pub fn interval(differences: &[f64], level: f64, variance: f64) -> Result<Option<Interval>> {
    check_finite(differences, 2)?;
    check_open_unit(level, "the level must lie between 0 and 1")?;
    if !(variance >= 0.0 && variance.is_finite()) {
        return Err(Error::BadArgument("a variance is negative or infinite"));
    }
    let n = differences.len();
    if n > MOST {
        return Ok(None);
    }
    let k = (0.5 * (1.0 - level) * (1_u32 << n) as f64 * (1.0 + 1e-12)).floor() as usize;
    if k == 0 {
        return Ok(None);
    }
    let mut means = subset_means(differences);
    let last = means.len() - k;
    let (_, low, _) = means.select_nth_unstable_by(k - 1, f64::total_cmp);
    let low = *low;
    let (_, high, _) = means.select_nth_unstable_by(last, f64::total_cmp);
    let centre = mean(differences);
    let hidden = match variance > 0.0 {
        true => t_quantile(0.5 + 0.5 * level, n as f64 - 1.0) * variance.sqrt(),
        false => 0.0,
    };
    Ok(Some(Interval {
        low: centre - (centre - low).max(0.0).hypot(hidden),
        high: centre + (*high - centre).max(0.0).hypot(hidden),
    }))
}

/// The mean of each non-empty subset.
fn subset_means(values: &[f64]) -> Vec<f64> {
    let all = 1_usize << values.len();
    let mut sums = vec![0.0; all];
    for subset in 1..all {
        let first = subset.trailing_zeros() as usize;
        sums[subset] = sums[subset & (subset - 1)] + values[first];
    }
    let means = sums.iter().enumerate().skip(1);
    means
        .map(|(subset, sum)| sum / f64::from(subset.count_ones()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many_differences_have_none() {
        let of = |n: usize| interval(&vec![1.0; n], 0.95, 0.0).unwrap();
        assert_eq!((of(5), of(17)), (None, None));
        let point = Interval {
            low: 1.0,
            high: 1.0,
        };
        assert_eq!((of(6), of(16)), (Some(point), Some(point)));
    }

    #[test]
    fn of_six_it_is_their_range() {
        let six = [0.3, -0.2, 0.9, 0.4, 0.1, 0.2];
        let found = interval(&six, 0.95, 0.0).unwrap().unwrap();
        assert!((found.low + 0.2).abs() < 1e-15 && (found.high - 0.9).abs() < 1e-15);
        // The variance hidden by the steps of the values makes it wider.
        let wider = interval(&six, 0.95, 1e-4).unwrap().unwrap();
        assert!(found.within(&wider) && wider.low < found.low);
    }

    #[test]
    fn bad_input_is_refused() {
        let two = [1.0, 2.0];
        assert_eq!(
            interval(&two[..1], 0.95, 0.0),
            Err(Error::TooFew { needed: 2, got: 1 })
        );
        assert_eq!(interval(&[1.0, f64::NAN], 0.95, 0.0), Err(Error::NotFinite));
        for (level, variance) in [(1.0, 0.0), (0.95, -1.0)] {
            assert!(matches!(
                interval(&two, level, variance),
                Err(Error::BadArgument(_))
            ));
        }
    }
}
