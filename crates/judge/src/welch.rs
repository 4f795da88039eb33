//! Two configurations: the ratio or the difference of their means, with Welch's
//! interval.

use crate::dist::{t_quantile, t_two_sided};
use crate::error::{Error, Result, check_finite, check_open_unit, check_positive};
use crate::moments::{logs, mean, variance};

/// A closed interval. Its ends may be infinite where a function's documentation
/// says so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Whether `value` lies in the closed interval.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Converts an interval of logarithms to one of ratios.
    #[must_use]
    pub fn exponentiated(self) -> Self {
        Interval {
            low: self.low.exp(),
            high: self.high.exp(),
        }
    }

    /// Whether this interval lies wholly in `other`.
    #[must_use]
    pub fn within(&self, other: &Self) -> bool {
        other.low <= self.low && self.high <= other.high
    }
}

/// The effect between two configurations, with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The effect: a ratio b / a (no unit) from [`ratio`], or a difference b - a
    /// (the unit of the values) from [`difference`].
    pub effect: f64,
    /// The 95 % interval of the effect, on the scale of the effect.
    pub ci: Interval,
    /// The 90 % interval of the effect, on the scale of the effect.
    pub ci90: Interval,
    /// The standard error, on the scale that was averaged: of the logarithm for
    /// a ratio, of the values for a difference.
    pub standard_error: f64,
    /// Degrees of freedom: by Welch and Satterthwaite, or for paired runs the
    /// number of pairs minus one.
    pub df: f64,
    /// The two-sided p of the t test, for no effect (ratio 1, difference 0).
    pub p_t: f64,
}

impl Estimate {
    /// The interval of a ratio at another level than 95 %.
    ///
    /// # Errors
    /// [`Error::BadArgument`] unless 0 < level < 1.
    pub fn ratio_interval(&self, level: f64) -> Result<Interval> {
        let on_logs = Estimate {
            effect: self.effect.ln(),
            ..*self
        };
        Ok(on_logs.difference_interval(level)?.exponentiated())
    }

    /// Converts an estimate on the log scale to one of ratios: effect and
    /// intervals by exp, the standard error unchanged.
    #[must_use]
    pub fn exponentiated(self) -> Self {
        exponentiate(self)
    }

    /// The estimate of a ratio with `variance` added to the square of its standard error, which is
    /// on the log scale; intervals and p follow. The variance hidden by steps of u is u²/12 for
    /// each run.
    #[must_use]
    pub fn ratio_widened(self, variance: f64) -> Self {
        let on_logs = Estimate {
            effect: self.effect.ln(),
            ..self
        };
        exponentiate(on_logs.difference_widened(variance))
    }

    /// The estimate of a difference, widened in the same way.
    #[must_use]
    pub fn difference_widened(self, variance: f64) -> Self {
        let squared = self.standard_error * self.standard_error + variance;
        estimate(self.effect, squared.sqrt(), self.df)
    }

    /// The interval of a difference at another level than 95 %.
    ///
    /// # Errors
    /// [`Error::BadArgument`] unless 0 < level < 1.
    pub fn difference_interval(&self, level: f64) -> Result<Interval> {
        check_open_unit(level, "the level must lie between 0 and 1")?;
        let half = if self.standard_error > 0.0 {
            t_quantile(0.5 + 0.5 * level, self.df) * self.standard_error
        } else {
            0.0
        };
        Ok(Interval {
            low: self.effect - half,
            high: self.effect + half,
        })
    }
}

/// A configuration for which only a summary was published.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PublishedMean {
    /// The mean over the runs.
    pub mean: f64,
    /// The standard error of that mean (a standard deviation divided by the
    /// square root of the number of runs), in the unit of the mean.
    pub standard_error: f64,
    /// The number of runs, if it was published.
    pub n: Option<u32>,
}

/// The ratio b / a of two independent sets of runs; `a` is the baseline.
///
/// With x = ln(value): effect = exp(mean x_b - mean x_a), a ratio of geometric means. The interval
/// is Welch's t on x, transformed back by exp.
///
/// - Shape: two unpaired samples in any order, n >= 2 each, positive.
/// - Range: effect > 0; `p_t` in \[0, 1\]; `df` in \[min(n) - 1, n_a + n_b - 2\].
/// - No variation at all in either group: equal means give p = 1 and the interval \[1, 1\]; unequal
///   means give p = 0 and the degenerate interval \[effect, effect\]; df = n_a + n_b - 2. Distrust
///   both.
/// - Cost: O(n).
/// - Source: Welch 1947, "The generalization of Student's problem", Biometrika 34; df by
///   Satterthwaite 1946, eq. 17.
/// - Checked against `scipy.stats.ttest_ind(equal_var=False)` on logarithms and statsmodels'
///   `CompareMeans.tconfint_diff(usevar="unequal")`.
///
/// # Errors
/// [`Error::TooFew`] below 2 runs per side, [`Error::NotFinite`], [`Error::NotPositive`].
///
/// ```
/// let a = [10.0, 10.2, 9.9, 10.1];
/// let b = [8.0, 8.1, 7.9, 8.2];
/// let e = assize_judge::welch::ratio(&a, &b)?;
/// assert!(e.ci.high < 0.85 && e.p_t < 0.001);
/// # Ok::<(), assize_judge::Error>(())
/// ```
pub fn ratio(a: &[f64], b: &[f64]) -> Result<Estimate> {
    check_positive(a, 2)?;
    check_positive(b, 2)?;
    Ok(exponentiate(on_values(&logs(a), &logs(b))))
}

/// The difference mean b - mean a of two independent sets of runs, for values
/// that may be zero or negative.
///
/// Shape, range, zero variance, cost, source and check as for [`ratio`], on the
/// values themselves: equal means without variation give the interval \[0, 0\].
///
/// # Errors
/// [`Error::TooFew`] below 2 runs per side, [`Error::NotFinite`].
pub fn difference(a: &[f64], b: &[f64]) -> Result<Estimate> {
    check_finite(a, 2)?;
    check_finite(b, 2)?;
    Ok(on_values(a, b))
}

/// The ratio b / a from published summaries, by the delta method.
///
/// ln(mean) is assumed to have standard error `standard_error / mean`, and n - 1
/// degrees of freedom, combined by Satterthwaite. This is an approximation: it
/// is good while the standard error is a few per cent of the mean, and the
/// effect is a ratio of arithmetic, not geometric, means.
///
/// - Shape: means > 0, standard errors >= 0, n >= 2.
/// - Range and zero variance: as for [`ratio`].
/// - Cost: O(1).
/// - Source: delta method, for example Casella and Berger 2002, section 5.5.4;
///   df by Satterthwaite 1946.
/// - Checked against the same formula in scipy.
///
/// # Errors
/// [`Error::BadArgument`] if n is unknown (there is no valid interval then) or a
/// standard error is negative, [`Error::TooFew`], [`Error::NotFinite`],
/// [`Error::NotPositive`].
pub fn ratio_from_summaries(a: PublishedMean, b: PublishedMean) -> Result<Estimate> {
    let (ln_a, squared_a, df_a) = summary_on_logs(a)?;
    let (ln_b, squared_b, df_b) = summary_on_logs(b)?;
    Ok(exponentiate(combine(
        ln_b - ln_a,
        (squared_a, df_a),
        (squared_b, df_b),
    )))
}

/// ln(mean), its squared standard error and its degrees of freedom.
fn summary_on_logs(m: PublishedMean) -> Result<(f64, f64, f64)> {
    let Some(n) = m.n else {
        return Err(Error::BadArgument("the number of runs is not known"));
    };
    if n < 2 {
        return Err(Error::TooFew {
            needed: 2,
            got: n as usize,
        });
    }
    check_positive(&[m.mean], 1)?;
    check_finite(&[m.standard_error], 1)?;
    if m.standard_error < 0.0 {
        return Err(Error::BadArgument("a standard error is negative"));
    }
    let relative = m.standard_error / m.mean;
    Ok((m.mean.ln(), relative * relative, f64::from(n - 1)))
}

/// Welch's t on untransformed values; both slices hold at least two values.
pub(crate) fn on_values(a: &[f64], b: &[f64]) -> Estimate {
    let (n_a, n_b) = (a.len() as f64, b.len() as f64);
    combine(
        mean(b) - mean(a),
        (variance(a) / n_a, n_a - 1.0),
        (variance(b) / n_b, n_b - 1.0),
    )
}

/// Combines a difference and two (squared standard error, df) pairs into an
/// estimate.
pub(crate) fn combine(effect: f64, a: (f64, f64), b: (f64, f64)) -> Estimate {
    let squared = a.0 + b.0;
    if squared <= 0.0 {
        return estimate(effect, 0.0, a.1 + b.1);
    }
    // Shares, not squares, so that tiny variances do not underflow.
    let (share_a, share_b) = (a.0 / squared, b.0 / squared);
    let df = 1.0 / (share_a * share_a / a.1 + share_b * share_b / b.1);
    estimate(effect, squared.sqrt(), df)
}

/// The t interval and the t test of an effect; a point if nothing varies.
pub(crate) fn estimate(effect: f64, standard_error: f64, df: f64) -> Estimate {
    if standard_error <= 0.0 {
        let point = Interval {
            low: effect,
            high: effect,
        };
        return Estimate {
            effect,
            ci: point,
            ci90: point,
            standard_error: 0.0,
            df,
            p_t: if effect == 0.0 { 1.0 } else { 0.0 },
        };
    }
    let around = |level: f64| {
        let half = t_quantile(0.5 + 0.5 * level, df) * standard_error;
        Interval {
            low: effect - half,
            high: effect + half,
        }
    };
    Estimate {
        effect,
        ci: around(0.95),
        ci90: around(0.90),
        standard_error,
        df,
        p_t: t_two_sided(effect / standard_error, df),
    }
}

/// Transforms an estimate on the log scale back to ratios.
pub(crate) fn exponentiate(e: Estimate) -> Estimate {
    Estimate {
        effect: e.effect.exp(),
        ci: e.ci.exponentiated(),
        ci90: e.ci90.exponentiated(),
        ..e
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_groups_give_points() {
        let same = ratio(&[3.7, 3.7, 3.7], &[3.7, 3.7]).unwrap();
        assert_eq!((same.p_t, same.ci.low, same.ci.high), (1.0, 1.0, 1.0));
        let other = ratio(&[2.0, 2.0], &[4.0, 4.0]).unwrap();
        assert_eq!((other.p_t, other.df), (0.0, 2.0));
        assert!((other.effect - 2.0).abs() < 1e-15);
    }

    #[test]
    fn other_levels_agree_with_the_two_that_are_given() {
        let near = |a: Interval, b: Interval| {
            (a.low - b.low).abs() < 1e-12 && (a.high - b.high).abs() < 1e-12
        };
        let (a, b) = ([10.0, 10.2, 9.9, 10.1], [8.0, 8.1, 7.9, 8.4]);
        let r = ratio(&a, &b).unwrap();
        assert!(near(r.ratio_interval(0.95).unwrap(), r.ci));
        assert!(near(r.ratio_interval(0.90).unwrap(), r.ci90));
        let d = difference(&a, &b).unwrap();
        assert!(near(d.difference_interval(0.95).unwrap(), d.ci));
        assert!(r.ci.within(&r.ratio_interval(0.99).unwrap()));
        let point = ratio(&[2.0, 2.0], &[4.0, 4.0]).unwrap();
        assert_eq!(point.ratio_interval(0.99).unwrap(), point.ci);
        assert!(r.ratio_interval(1.0).is_err());
    }

    #[test]
    fn bad_input_is_refused() {
        let two = [1.0, 2.0];
        assert_eq!(
            ratio(&[1.0], &two),
            Err(Error::TooFew { needed: 2, got: 1 })
        );
        assert_eq!(ratio(&[1.0, 0.0], &two), Err(Error::NotPositive));
        assert_eq!(difference(&[1.0, f64::NAN], &two), Err(Error::NotFinite));
        let unknown = PublishedMean {
            mean: 1.0,
            standard_error: 0.1,
            n: None,
        };
        assert!(matches!(
            ratio_from_summaries(unknown, unknown),
            Err(Error::BadArgument(_))
        ));
    }
}
