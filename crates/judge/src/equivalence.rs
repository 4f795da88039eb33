//! Equivalence: is the difference too small to matter?

use crate::dist::t_upper;
use crate::error::{Error, Result, check_finite, check_open_unit, check_positive};
use crate::welch::{Estimate, Interval, estimate as from_error};

/// The result of the two one-sided tests.
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

/// The range of ratios that a margin defines as no difference: \[1 - m, 1 + m\].
///
/// The margin is on the ratio scale, "at most 1 % less, at most 1 % more", as readers understand
/// "± 1 %". So the lower end is 1 - m and not 1 / (1 + m); for 1 % the two differ by 1e-4. The range
/// is not symmetric on the log scale, so exchanging a and b may change a borderline outcome.
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

/// Two one-sided tests that a ratio lies within ± `margin` of 1, given an estimate with its standard
/// error and degrees of freedom: from pairs ([`crate::paired::ratio`]), from independent runs
/// ([`crate::welch::ratio`]), from summaries, or pooled over machines.
///
/// - Shape: `estimate` of a ratio: effect and intervals as ratios, the standard error of its
///   logarithm; margin as a fraction (0.01 is 1 %), see [`bounds`]. There are no bounds for
///   differences.
/// - Range: p in \[0, 1\]. Without any variation p is 0 inside the bounds and 1 outside.
/// - Cost: constant.
/// - Source: Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15, on logarithms.
/// - Checked against `scipy.stats.t` on the paired differences of logarithms, and for independent
///   runs against statsmodels' `ttost_ind`.
///
/// # Errors
/// [`Error::NotPositive`] for an effect that is not a ratio, [`Error::NotFinite`],
/// [`Error::BadArgument`] for the margin, a negative standard error, or df that is not positive.
pub fn of_ratio(estimate: &Estimate, margin: f64) -> Result<Equivalence> {
    let bounds = bounds(margin)?;
    check_positive(&[estimate.effect], 1)?;
    let Estimate {
        standard_error, df, ..
    } = *estimate;
    check_finite(&[standard_error, df], 2)?;
    if standard_error < 0.0 {
        return Err(Error::BadArgument("a standard error is negative"));
    }
    if df <= 0.0 {
        return Err(Error::BadArgument("degrees of freedom are not positive"));
    }
    let logs = from_error(estimate.effect.ln(), standard_error, df);
    Ok(Equivalence {
        ci90: estimate.ci90,
        equivalent: estimate.ci90.within(&bounds),
        ..of_logs(&logs, bounds)
    })
}

/// The tests on the log scale; the bounds are ratios.
fn of_logs(e: &Estimate, bounds: Interval) -> Equivalence {
    let ci90 = Interval {
        low: e.ci90.low.exp(),
        high: e.ci90.high.exp(),
    };
    let tail = |distance: f64| {
        if e.standard_error > 0.0 {
            t_upper(distance / e.standard_error, e.df)
        } else if distance >= 0.0 {
            0.0
        } else {
            1.0
        }
    };
    Equivalence {
        ci90,
        bounds,
        p: tail(e.effect - bounds.low.ln()).max(tail(bounds.high.ln() - e.effect)),
        equivalent: ci90.within(&bounds),
    }
}

/// The share of runs that may be slow (or fail, or hang) although none of `n` runs was: with any
/// larger share, the probability of n good runs is below alpha.
///
/// 1 - alpha^(1 / n): after 10 runs without a slow one, at 5 %, as many as 25.9 % of all runs may
/// be slow. So no mean of ten runs shows that there are no slow ones.
///
/// - Shape: n independent, identically distributed runs; 0 < alpha < 1.
/// - Range: (0, 1 - alpha\]; about 3 / n for many runs at 5 % (the "rule of three").
/// - Cost: O(1).
/// - Source: Clopper and Pearson 1934, Biometrika 26, for no success in n.
/// - Checked against `scipy.stats.binomtest(0, n).proportion_ci("exact")`.
///
/// # Errors
/// [`Error::TooFew`] for no run, [`Error::BadArgument`] for alpha.
///
/// ```
/// let missed = assize_judge::equivalence::share_missed(10, 0.05)?;
/// assert!((missed - 0.2589).abs() < 1e-4);
/// # Ok::<(), assize_judge::Error>(())
/// ```
pub fn share_missed(n: u32, alpha: f64) -> Result<f64> {
    check_open_unit(alpha, "alpha must lie between 0 and 1")?;
    if n == 0 {
        return Err(Error::TooFew { needed: 1, got: 0 });
    }
    Ok(-(alpha.ln() / f64::from(n)).exp_m1())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{paired, welch};

    fn of_runs(a: &[f64], b: &[f64], margin: f64) -> Result<Equivalence> {
        of_ratio(&welch::ratio(a, b)?, margin)
    }

    #[test]
    fn constant_equal_groups_are_equivalent() {
        let e = of_runs(&[2.0, 2.0], &[2.0, 2.0], 0.01).unwrap();
        assert!(e.equivalent && e.p == 0.0);
        let e = of_runs(&[2.0, 2.0], &[3.0, 3.0], 0.01).unwrap();
        assert!(!e.equivalent && e.p == 1.0);
        assert!(of_runs(&[2.0, 2.0], &[2.0, 2.0], 0.0).is_err());
    }

    #[test]
    fn pairs_that_vary_together_are_equivalent_where_sides_alone_are_not() {
        // The blocks differ by a factor of 10, the runs within a block by 0.1 %.
        let a = [10.0, 31.0, 100.0, 55.0, 17.0, 73.0];
        let b = [10.01, 30.97, 100.1, 54.94, 17.0, 73.07];
        let paired = of_ratio(&paired::ratio(&a, &b).unwrap(), 0.01).unwrap();
        assert!(paired.equivalent && paired.p < 1e-5);
        let alone = of_runs(&a, &b, 0.01).unwrap();
        assert!(!alone.equivalent && alone.p > 0.4);
        // 5 % more in each block is not equivalent, however consistent the
        // blocks.
        let more = a.map(|x| 1.05 * x);
        let other = of_ratio(&paired::ratio(&a, &more).unwrap(), 0.01).unwrap();
        assert!(!other.equivalent && other.p > 0.999);
    }

    #[test]
    fn an_estimate_that_is_no_ratio_and_a_margin_of_all_are_refused() {
        let from = welch::ratio(&[10.0, 10.2, 9.9, 10.1], &[10.1, 10.3, 9.9, 10.05]).unwrap();
        let below = Estimate {
            effect: -0.5,
            ..from
        };
        assert_eq!(of_ratio(&below, 0.02), Err(Error::NotPositive));
        let no_df = Estimate { df: 0.0, ..from };
        assert!(of_ratio(&no_df, 0.02).is_err() && of_ratio(&from, 1.0).is_err());
    }

    #[test]
    fn runs_that_were_never_slow_do_not_exclude_slow_ones() {
        assert_eq!(share_missed(1, 0.05), Ok(0.95));
        assert!(share_missed(0, 0.05).is_err() && share_missed(3, 0.0).is_err());
        // With this share, three runs show none in 5 % of all cases.
        let share = share_missed(3, 0.05).unwrap();
        assert!(((1.0 - share).powi(3) - 0.05).abs() < 1e-15);
    }
}
