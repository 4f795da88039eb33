//! Two configurations in randomised complete blocks: the ratio or the difference
//! of their means, from the differences within blocks.

use crate::error::{Error, Result, check_finite, check_positive};
use crate::moments::{logs, mean, variance};
use crate::welch::{Estimate, estimate, exponentiate};

/// The ratio b / a, if each block holds one run of either; `a[i]` and `b[i]` are
/// from the same block, and `a` is the baseline.
///
/// With d = ln b - ln a in each block: effect = exp(mean d), the interval is
/// Student's t on d, transformed back by exp. What all runs of a block have in
/// common (its seed, the machine, the hour) is in both and cancels; that is the
/// purpose of blocks.
///
/// - Shape: equally many values on both sides, n >= 2 blocks, positive.
/// - Range: effect > 0; `p_t` in \[0, 1\]; `df` = n - 1.
/// - No variation of d at all: as for [`crate::welch::ratio`]; equal runs give p
///   = 1 and the interval \[1, 1\], a constant ratio gives p = 0 and the
///   degenerate interval \[effect, effect\].
/// - Cost: O(n).
/// - Source: Student 1908, "The probable error of a mean", Biometrika 6; for
///   randomised blocks Fisher 1935, "The Design of Experiments", chapter 4 (with
///   two treatments its analysis of variance is this t test).
/// - Checked against `scipy.stats.ttest_rel` on logarithms, and its
///   `confidence_interval`.
///
/// # Errors
/// [`Error::BadArgument`] if the sides differ in length, [`Error::TooFew`] below
/// 2 blocks, [`Error::NotFinite`], [`Error::NotPositive`].
///
/// ```
/// let a = [10.0, 14.0, 8.0, 21.0];
/// let b = [9.1, 12.5, 7.2, 18.8];
/// let e = assize_judge::paired::ratio(&a, &b)?;
/// assert!(e.ci.high < 0.92 && e.df == 3.0);
/// # Ok::<(), assize_judge::Error>(())
/// ```
pub fn ratio(a: &[f64], b: &[f64]) -> Result<Estimate> {
    check_positive(a, 2)?;
    check_positive(b, 2)?;
    Ok(exponentiate(on_differences(&logs(a), &logs(b))?))
}

/// The difference mean b - mean a from the differences within blocks, for values
/// that may be zero or negative.
///
/// Shape, range, cost, source and check as for [`ratio`], on the values
/// themselves.
///
/// # Errors
/// [`Error::BadArgument`] if the sides differ in length, [`Error::TooFew`] below
/// 2 blocks, [`Error::NotFinite`].
pub fn difference(a: &[f64], b: &[f64]) -> Result<Estimate> {
    check_finite(a, 2)?;
    check_finite(b, 2)?;
    on_differences(a, b)
}

fn on_differences(a: &[f64], b: &[f64]) -> Result<Estimate> {
    if a.len() != b.len() {
        return Err(Error::BadArgument(
            "one side of the pairs has more values than the other",
        ));
    }
    let d: Vec<f64> = a.iter().zip(b).map(|(a, b)| b - a).collect();
    check_finite(&d, 2)?;
    let n = d.len() as f64;
    Ok(estimate(mean(&d), (variance(&d) / n).sqrt(), n - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_without_variation_of_the_ratio_give_points() {
        let same = ratio(&[3.7, 2.1, 9.9], &[3.7, 2.1, 9.9]).unwrap();
        assert_eq!((same.p_t, same.ci.low, same.ci.high), (1.0, 1.0, 1.0));
        assert_eq!(same.standard_error, 0.0);
        let constant = difference(&[1.0, 5.0], &[3.0, 7.0]).unwrap();
        assert_eq!(
            (constant.p_t, constant.ci.low, constant.ci.high),
            (0.0, 2.0, 2.0)
        );
    }

    #[test]
    fn bad_input_is_refused() {
        let two = [1.0, 2.0];
        assert!(matches!(
            ratio(&two, &[1.0, 2.0, 3.0]),
            Err(Error::BadArgument(_))
        ));
        assert_eq!(
            ratio(&[1.0], &[2.0]),
            Err(Error::TooFew { needed: 2, got: 1 })
        );
        assert_eq!(ratio(&[1.0, 0.0], &two), Err(Error::NotPositive));
        assert_eq!(difference(&[f64::NAN, 1.0], &two), Err(Error::NotFinite));
    }
}
