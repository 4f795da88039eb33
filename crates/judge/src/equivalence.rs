//! Equivalence: is the difference too small to matter?

use crate::dist::t_upper;
use crate::error::{Error, Result, check_positive};
use crate::moments::logs;
use crate::welch::{Estimate, Interval, on_values};

/// What the two one-sided tests found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Equivalence {
    /// The 90 % interval of the ratio b / a.
    pub ci90: Interval,
    /// The range of ratios that counts as no difference.
    pub bounds: Interval,
    /// The larger of the two one-sided p-values.
    pub p: f64,
    /// Whether `ci90` lies within `bounds`; the same as p <= 0.05.
    pub equivalent: bool,
}

/// The ratios that a margin declares to be no difference: \[1 - m, 1 + m\].
///
/// The margin is read on the ratio scale, "at most 1 % less, at most 1 % more",
/// not as \[1 / (1 + m), 1 + m\]; for 1 % the two differ by 1e-4 at the lower end,
/// and this one is what a reader takes "± 1 %" to mean. It is not symmetric on
/// logarithms, so exchanging a and b may change a borderline outcome.
///
/// # Errors
/// [`Error::BadArgument`] unless 0 < margin < 1.
pub fn bounds(margin: f64) -> Result<Interval> {
    if margin > 0.0 && margin < 1.0 {
        Ok(Interval {
            low: 1.0 - margin,
            high: 1.0 + margin,
        })
    } else {
        Err(Error::BadArgument("the margin must lie between 0 and 1"))
    }
}

/// Two one-sided tests that the ratio b / a lies within ± `margin` of 1.
///
/// - Shape: two unpaired samples in any order, n >= 2 each, positive; margin a
///   share (0.01 is 1 %), see [`bounds`].
/// - Range: p in \[0, 1\]. Without any variation p is 0 inside the bounds and 1
///   outside.
/// - Cost: O(n).
/// - Source: Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics
///   15, on logarithms with Welch's standard error.
/// - Checked against statsmodels' `ttost_ind(usevar="unequal")` on logarithms.
///
/// # Errors
/// [`Error::TooFew`], [`Error::NotFinite`], [`Error::NotPositive`],
/// [`Error::BadArgument`] for the margin.
pub fn tost(a: &[f64], b: &[f64], margin: f64) -> Result<Equivalence> {
    let bounds = bounds(margin)?;
    check_positive(a, 2)?;
    check_positive(b, 2)?;
    let ratio = on_values(&logs(a), &logs(b)).exponentiated();
    Ok(Equivalence {
        ci90: ratio.ci90,
        bounds,
        p: p_of_ratio(&ratio, margin)?,
        equivalent: ratio.ci90.within(&bounds),
    })
}

/// The p of the two one-sided tests that a ratio lies within ± `margin` of 1, from
/// an estimate of it, as of paired runs: the larger of the two.
///
/// - Range: \[0, 1\]. Without any standard error 0 inside the bounds and 1 outside.
/// - Cost: O(1). Source: as [`tost`], with which it agrees.
///
/// # Errors
/// [`Error::BadArgument`] for the margin.
pub fn p_of_ratio(ratio: &Estimate, margin: f64) -> Result<f64> {
    let bounds = bounds(margin)?;
    let effect = ratio.effect.ln();
    let tail = |distance: f64| {
        if ratio.standard_error > 0.0 {
            t_upper(distance / ratio.standard_error, ratio.df)
        } else if distance >= 0.0 {
            0.0
        } else {
            1.0
        }
    };
    Ok(tail(effect - bounds.low.ln()).max(tail(bounds.high.ln() - effect)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_equal_groups_are_equivalent() {
        let e = tost(&[2.0, 2.0], &[2.0, 2.0], 0.01).unwrap();
        assert!(e.equivalent && e.p == 0.0);
        let e = tost(&[2.0, 2.0], &[3.0, 3.0], 0.01).unwrap();
        assert!(!e.equivalent && e.p == 1.0);
        assert!(tost(&[2.0, 2.0], &[2.0, 2.0], 0.0).is_err());
    }
}
