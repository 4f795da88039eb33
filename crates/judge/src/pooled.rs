//! One effect measured on several machines (or kernels): the pooled effect, and how much the
//! machines differ.
//!
//! Each machine gives a [`Study`]: an effect on the scale on which it was averaged (a logarithm of
//! a ratio, or a difference), its standard error and the degrees of freedom behind that error.
//! [`fixed`] estimates the common effect of these machines, [`random`] the mean effect on machines
//! like these, and [`heterogeneity`] whether a common effect makes sense at all.
//!
//! The permutation test within machines is that of [`crate::family`], whose sites are the blocks of
//! each machine.

use crate::dist::{chi2_upper, f_upper, gamma_quantile, t_quantile};
use crate::error::{Error, Result, check_finite};
use crate::welch::{Estimate, Interval, estimate};

/// The effect on one machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Study {
    /// The effect: a logarithm of a ratio, or a difference.
    pub effect: f64,
    /// Its standard error, on the same scale.
    pub standard_error: f64,
    /// Degrees of freedom of the standard error.
    pub df: f64,
}

/// How much the machines differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Heterogeneity {
    /// Cochran's Q.
    pub q: f64,
    /// Its degrees of freedom: the number of machines minus one.
    pub df: f64,
    /// P(chi-squared >= Q): p, treating the standard errors as known exactly.
    pub p: f64,
    /// Welch's p, which accounts for standard errors estimated from few runs.
    pub p_welch: f64,
    /// The variance of the effect between machines.
    pub tau2: f64,
    /// Its 95 % interval.
    pub tau2_ci: Interval,
    /// The share of the variance of the effects that is between machines.
    pub i2: f64,
    /// Its 95 % interval.
    pub i2_ci: Interval,
}

/// The estimate for machines like these.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomEffects {
    /// The mean over the population of machines.
    pub effect: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Its 95 % interval.
    pub ci: Interval,
    /// The 95 % prediction interval for a further machine; from three machines
    /// on.
    pub prediction: Option<Interval>,
}

/// The common effect of the machines, each weighted by the inverse of its
/// squared standard error.
///
/// With w = 1 / s², W = the sum of w and u = w / W: effect = the sum of u y. Its
/// variance is not 1 / W, since the weights are estimated too, but (1 + 4 sum u
/// (1 - u) / f) / W; the interval is Student's t with 1 / sum(u² / f) degrees of
/// freedom. With many runs per machine (f large) both become the textbook's 1 /
/// W and normal quantiles.
///
/// - Shape: at least two machines, standard errors > 0, df > 0.
/// - Range: `standard_error` > 0; df from the smallest f to the sum of all f.
/// - Cost: O(k).
/// - Source: Cochran 1937, "Problems arising in the analysis of a series of
///   similar experiments", JRSS Supplement 4; variance and df by Meier 1953,
///   "Variance of a weighted mean", Biometrics 9.
/// - Checked against the same formulas in numpy and scipy, and with large df
///   against statsmodels' `combine_effects` (fixed effect).
///
/// # Errors
/// [`Error::TooFew`] below two machines, [`Error::NotFinite`],
/// [`Error::BadArgument`] for a standard error or df that is not positive.
///
/// ```
/// use assize_judge::pooled::{Study, fixed};
/// let on = |effect, standard_error| Study { effect, standard_error, df: 7.0 };
/// let pooled = fixed(&[on(-0.10, 0.02), on(-0.12, 0.01)])?;
/// assert!((pooled.effect + 0.116).abs() < 1e-12 && pooled.ci.high < 0.0);
/// # Ok::<(), assize_judge::Error>(())
/// ```
pub fn fixed(studies: &[Study]) -> Result<Estimate> {
    check(studies)?;
    let weights = weights(studies, 0.0);
    let total: f64 = weights.iter().sum();
    let (mut inflation, mut inverse_df) = (0.0, 0.0);
    for (study, w) in studies.iter().zip(&weights) {
        let share = w / total;
        inflation += share * (1.0 - share) / study.df;
        inverse_df += share * share / study.df;
    }
    Ok(estimate(
        weighted_mean(studies, &weights),
        ((1.0 + 4.0 * inflation) / total).sqrt(),
        1.0 / inverse_df,
    ))
}

/// The weight of each machine in [`fixed`]; the weights add up to 1.
///
/// # Errors
/// As for [`fixed`].
pub fn shares(studies: &[Study]) -> Result<Vec<f64>> {
    check(studies)?;
    let weights = weights(studies, 0.0);
    let total: f64 = weights.iter().sum();
    Ok(weights.into_iter().map(|w| w / total).collect())
}

/// How much the machines differ.
///
/// - Q = sum w (y - the pooled y)², `p` from chi-squared with k - 1 degrees of freedom (Cochran
///   1954, "The combination of estimates from different experiments", Biometrics 10). It treats the
///   standard errors as known: with few runs per machine it is too small.
/// - `p_welch`: with L = sum (1 - u)² / f, F = Q / (k - 1) / (1 + 2 (k - 2) L / (k² - 1)) on k - 1
///   and (k² - 1) / (3 L) degrees of freedom (Welch 1951, "On the comparison of several mean
///   values", Biometrika 38). For two machines it is Welch's t test of their difference.
/// - tau²: Paule and Mandel 1982, Journal of Research of the NBS 87: the tau² >= 0 with which sum
///   (y - mean)² / (s² + tau²) is k - 1, and 0 if it is smaller even without tau². Its interval by
///   the Q-profile (Viechtbauer 2007, Statistics in Medicine 26): the same sum at the quantiles of
///   chi-squared.
/// - I² = tau² / (tau² + v), v = (k - 1) W / (W² - sum w²), with v a typical s² (Higgins and
///   Thompson 2002, Statistics in Medicine 21, equation 9), and its interval from that of tau².
///
/// Shape, errors: as for [`fixed`]. Range: p in \[0, 1\], `i2` in \[0, 1). Cost: O(k) times about
/// 100 bisection steps. Checked against statsmodels' `combine_effects(method_re="iterated")`,
/// against scipy's root finder for the Q-profile, and `anova_generic(use_var="unequal")` for
/// Welch's.
pub fn heterogeneity(studies: &[Study]) -> Result<Heterogeneity> {
    check(studies)?;
    let k = studies.len() as f64;
    let weights = weights(studies, 0.0);
    let (total, squares) = sums(&weights);
    let q = generalised_q(studies, 0.0);
    let lambda: f64 = studies
        .iter()
        .zip(&weights)
        .map(|(study, w)| (1.0 - w / total) * (1.0 - w / total) / study.df)
        .sum();
    let squared = k * k - 1.0;
    let f = q / (k - 1.0) / (1.0 + 2.0 * (k - 2.0) * lambda / squared);
    let typical = (k - 1.0) * total / (total * total - squares);
    let share = |tau2: f64| tau2 / (tau2 + typical);
    let quantile = |p: f64| 2.0 * gamma_quantile(p, 0.5 * (k - 1.0));
    let tau2 = tau2_where(studies, k - 1.0);
    let tau2_ci = Interval {
        low: tau2_where(studies, quantile(0.975)),
        high: tau2_where(studies, quantile(0.025)),
    };
    Ok(Heterogeneity {
        q,
        df: k - 1.0,
        p: chi2_upper(q, k - 1.0),
        p_welch: f_upper(f, k - 1.0, squared / (3.0 * lambda)),
        tau2,
        tau2_ci,
        i2: share(tau2),
        i2_ci: Interval {
            low: share(tau2_ci.low),
            high: share(tau2_ci.high),
        },
    })
}

/// The mean over machines like these, whose effects differ by tau², with the interval of Hartung,
/// Knapp, Sidik and Jonkman.
///
/// With w* = 1 / (s² + tau²), tau² by Paule and Mandel: effect = the weighted mean, its squared
/// standard error max(1, h) / sum w*, h = sum w* (y - mean)² / (k - 1), and t with k - 1 degrees of
/// freedom. The maximum with 1 prevents machines that agree by chance from making the interval
/// narrower than their errors allow (Knapp and Hartung 2003; Röver, Knapp and Friede 2015). The
/// prediction interval is mean ± t with k - 2 degrees of freedom times the root of tau² plus the
/// squared standard error (Higgins, Thompson and Spiegelhalter 2009).
///
/// - Shape, errors: as for [`fixed`]. Two machines leave one degree of freedom, which gives a very
///   wide, but correct, interval.
/// - Cost: as for [`heterogeneity`].
/// - Source: Hartung and Knapp 2001, Statistics in Medicine 20; Sidik and Jonkman 2002, Statistics
///   in Medicine 21; Knapp and Hartung 2003, Statistics in Medicine 22; Röver et al. 2015, BMC
///   Medical Research Methodology 15; Higgins et al. 2009, JRSS A 172.
/// - Checked against statsmodels' `combine_effects(method_re="iterated")` and its Hartung-Knapp
///   interval if h >= 1, and against scipy.
pub fn random(studies: &[Study]) -> Result<RandomEffects> {
    check(studies)?;
    let k = studies.len() as f64;
    let tau2 = tau2_where(studies, k - 1.0);
    let weights = weights(studies, tau2);
    let (total, _) = sums(&weights);
    let effect = weighted_mean(studies, &weights);
    let h = generalised_q(studies, tau2) / (k - 1.0);
    let squared = h.max(1.0) / total;
    let around = |half: f64| Interval {
        low: effect - half,
        high: effect + half,
    };
    let prediction =
        (studies.len() > 2).then(|| around(t_quantile(0.975, k - 2.0) * (tau2 + squared).sqrt()));
    Ok(RandomEffects {
        effect,
        standard_error: squared.sqrt(),
        ci: around(t_quantile(0.975, k - 1.0) * squared.sqrt()),
        prediction,
    })
}

fn check(studies: &[Study]) -> Result<()> {
    for of in [
        |s: &Study| s.effect,
        |s: &Study| s.standard_error,
        |s: &Study| s.df,
    ] {
        let values: Vec<f64> = studies.iter().map(of).collect();
        check_finite(&values, 2)?;
    }
    if studies.iter().any(|s| s.standard_error <= 0.0) {
        return Err(Error::BadArgument("a standard error is not positive"));
    }
    if studies.iter().any(|s| s.df <= 0.0) {
        return Err(Error::BadArgument("degrees of freedom are not positive"));
    }
    // The inverse of a smaller square is not finite.
    let finite = |s: &Study| (1.0 / (s.standard_error * s.standard_error)).is_normal();
    if studies.iter().all(finite) {
        Ok(())
    } else {
        Err(Error::NotFinite)
    }
}

fn weights(studies: &[Study], tau2: f64) -> Vec<f64> {
    studies
        .iter()
        .map(|s| 1.0 / (s.standard_error * s.standard_error + tau2))
        .collect()
}

fn sums(weights: &[f64]) -> (f64, f64) {
    (
        weights.iter().sum(),
        weights.iter().map(|w| w * w).sum::<f64>(),
    )
}

/// The weighted mean, computed around the first effect, so that equal effects
/// give exactly that.
fn weighted_mean(studies: &[Study], weights: &[f64]) -> f64 {
    let first = studies[0].effect;
    let total: f64 = weights.iter().sum();
    let around = studies.iter().zip(weights);
    first + around.map(|(s, w)| w * (s.effect - first)).sum::<f64>() / total
}

/// The sum of weighted squares around the weighted mean; it decreases with tau².
fn generalised_q(studies: &[Study], tau2: f64) -> f64 {
    let weights = weights(studies, tau2);
    let mean = weighted_mean(studies, &weights);
    let squares = studies.iter().zip(&weights);
    squares
        .map(|(s, w)| w * (s.effect - mean) * (s.effect - mean))
        .sum()
}

/// The tau² at which that sum equals `target`; 0 if it is not above it at tau² =
/// 0.
fn tau2_where(studies: &[Study], target: f64) -> f64 {
    if generalised_q(studies, 0.0) <= target {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for study in studies {
        high = f64::max(high, study.standard_error * study.standard_error);
    }
    // From there, scale up or down to the magnitude of the data.
    while generalised_q(studies, high) > target {
        low = high;
        high *= 4.0;
    }
    while low == 0.0 && high > f64::MIN_POSITIVE && generalised_q(studies, high / 4.0) <= target {
        high /= 4.0;
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if generalised_q(studies, middle) > target {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}
