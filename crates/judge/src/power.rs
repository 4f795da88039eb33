//! How many runs are enough.

use crate::dist::{gamma_quantile, normal_cdf, normal_quantile, t_quantile};
use crate::equivalence::bounds;
use crate::permutation::{EXACT_LIMIT, MONTE_CARLO_DRAWS, attainable};

/// Larger numbers of runs are not returned, because they are not feasible.
const MOST_RUNS: u32 = 100_000;

/// The probability that n runs per side find a given ratio, by the two-sided t
/// test.
///
/// `sd_ln` is the standard deviation between runs of ln(value), assumed to be
/// the same on both sides (0.02 is about 2 %). This is the power of the t
/// interval; the permutation test's is a little lower for small n, and zero
/// where the design cannot attain alpha (which this function does not check).
///
/// - Shape: n >= 2; sd_ln > 0; ratio > 0; 0 < alpha < 1. `NaN` otherwise.
/// - Range: \[alpha, 1\]; alpha itself for ratio = 1.
/// - Cost: about 20 microseconds.
/// - Source: noncentral t with 2 n - 2 degrees of freedom and noncentrality
///   |ln ratio| / sd_ln * sqrt(n / 2) (Cohen 1988, section 2.2), integrated
///   numerically over the distribution of the sample's standard deviation.
/// - Checked against statsmodels' `TTestIndPower.power`.
#[must_use]
pub fn power_of(n: u32, sd_ln: f64, ratio: f64, alpha: f64) -> f64 {
    let in_range = n >= 2 && sd_ln > 0.0 && sd_ln.is_finite() && ratio > 0.0 && ratio.is_finite();
    if !(in_range && alpha > 0.0 && alpha < 1.0) {
        return f64::NAN;
    }
    let df = 2.0 * f64::from(n) - 2.0;
    let shift = ratio.ln().abs() / sd_ln * (f64::from(n) / 2.0).sqrt();
    power_of_shift(shift, df, alpha)
}

/// The probability that Student's t with noncentrality `shift` and `df` degrees
/// of freedom is beyond its critical values.
fn power_of_shift(shift: f64, df: f64, alpha: f64) -> f64 {
    let critical = t_quantile(1.0 - 0.5 * alpha, df);
    over_spread(df, f64::INFINITY, |s| {
        normal_cdf(shift - critical * s) + normal_cdf(-shift - critical * s)
    })
}

/// How two configurations are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonLayout {
    /// Blocks with one run of each side; labels are exchanged within blocks.
    Pairs,
    /// Runs of both sides without blocks.
    TwoSamples,
}

/// A layout and a number of runs per side; for pairs, the number of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PowerDesign {
    /// How the sides are compared.
    pub layout: ComparisonLayout,
    /// Runs of each side.
    pub runs: u32,
}

impl PowerDesign {
    /// The smallest two-sided p that the permutation test of this design can
    /// give: 2 / 2^n for pairs, 2 / C(2 n, n) for two samples, and at least 1 /
    /// 100,000 where Monte Carlo draws are used. 1 without runs.
    ///
    /// In a family that is corrected by the joint distribution of all its rows
    /// (the largest statistic under each relabeling), the floor does not change.
    ///
    /// Cost: O(runs). Checked against the definition by enumeration.
    #[must_use]
    pub fn least_p(self) -> f64 {
        let runs = self.runs as usize;
        match self.layout {
            ComparisonLayout::TwoSamples => attainable(runs, runs),
            ComparisonLayout::Pairs => {
                let relabelings = 2.0_f64.powf(f64::from(self.runs));
                if relabelings > EXACT_LIMIT {
                    return 1.0 / f64::from(MONTE_CARLO_DRAWS + 1);
                }
                (2.0 / relabelings).min(1.0)
            }
        }
    }

    /// Degrees of freedom of the t test.
    fn df(self) -> f64 {
        let n = f64::from(self.runs);
        match self.layout {
            ComparisonLayout::Pairs => n - 1.0,
            ComparisonLayout::TwoSamples => 2.0 * n - 2.0,
        }
    }

    /// The level of one row; `None` if the family's level is out of reach.
    fn level(self, aim: PowerAim) -> Option<f64> {
        let floor = self.least_p();
        let reachable = self.runs >= 2 && floor <= aim.alpha;
        reachable.then(|| f64::max(aim.alpha / f64::from(aim.rows), floor))
    }
}

/// The tests to plan for, and the power wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerAim {
    /// Rows in the family: comparisons that are corrected together.
    pub rows: u32,
    /// The level of the family.
    pub alpha: f64,
    /// The probability of finding a row's effect.
    pub power: f64,
}

impl PowerAim {
    fn makes_sense(self) -> bool {
        let inside = |p: f64| p > 0.0 && p < 1.0;
        self.rows > 0 && inside(self.alpha) && inside(self.power) && self.power > self.alpha
    }
}

/// The smallest ratio above 1 that a design finds with the requested power; its
/// inverse has the same power.
///
/// `sd_ln` is the standard deviation of ln(value) between the runs of one configuration; for pairs
/// it is that within a block, which excludes what the runs of a block have in common. The
/// calculation assumes a t test of each row at the level alpha / rows (Bonferroni, a lower bound of
/// the level under the correction by the joint distribution of all rows: correlated rows cost
/// less), but not below [`PowerDesign::least_p`], below which no such correction goes.
///
/// - Shape: at least two runs, sd_ln > 0, rows >= 1, 0 < alpha < power < 1.
/// - `None` if the design's least p is above alpha, so that nothing is ever
///   found, or for arguments out of range.
/// - Range: above 1.
/// - Cost: about 60 integrals of 20 microseconds.
/// - Source: noncentral t with noncentrality ln(ratio) / (sd_ln sqrt(2 / n)),
///   with n - 1 degrees of freedom for pairs, otherwise 2 n - 2 (Cohen 1988,
///   section 2.2), solved by bisection.
/// - Checked against the same integral by `scipy.integrate.quad`, solved by
///   `scipy.optimize.brentq`.
///
/// ```
/// use assize_judge::power::{PowerAim, PowerDesign, ComparisonLayout, least_effect};
/// let six = PowerDesign { layout: ComparisonLayout::Pairs, runs: 6 };
/// let aim = PowerAim { rows: 1, alpha: 0.05, power: 0.8 };
/// let ratio = least_effect(six, 0.03, aim).ok_or("out of reach")?;
/// assert!((ratio - 1.065).abs() < 0.005, "{ratio}");
/// # Ok::<(), &str>(())
/// ```
#[must_use]
pub fn least_effect(design: PowerDesign, sd_ln: f64, aim: PowerAim) -> Option<f64> {
    let in_range = sd_ln > 0.0 && sd_ln.is_finite();
    if !in_range || !aim.makes_sense() {
        return None;
    }
    let (level, df) = (design.level(aim)?, design.df());
    let found = |shift: f64| power_of_shift(shift, df, level) >= aim.power;
    let (mut low, mut high) = (0.0, 4.0);
    while !found(high) {
        low = high;
        high *= 2.0;
        if high > 1e6 {
            return None;
        }
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if found(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some((high * sd_ln * (2.0 / f64::from(design.runs)).sqrt()).exp())
}

/// The smallest number of runs per side (for pairs: blocks), 2 to 100,000, that finds a ratio with
/// the requested power, see [`least_effect`].
///
/// `None` if there is none, for arguments out of range, or if ratio = 1. Cost: up to 25 integrals.
/// Checked like [`least_effect`], by trying every number.
#[must_use]
pub fn runs_for(layout: ComparisonLayout, sd_ln: f64, ratio: f64, aim: PowerAim) -> Option<u32> {
    let in_range = sd_ln > 0.0 && sd_ln.is_finite() && ratio > 0.0 && ratio.is_finite();
    if !in_range || ratio == 1.0 || !aim.makes_sense() {
        return None;
    }
    let suffices = |runs: u32| {
        let design = PowerDesign { layout, runs };
        let shift = ratio.ln().abs() / sd_ln * (f64::from(runs) / 2.0).sqrt();
        let level = design.level(aim);
        level.is_some_and(|level| power_of_shift(shift, design.df(), level) >= aim.power)
    };
    // Up to here, another run may lower the level, and so the power. No level is above alpha.
    let most = PowerDesign {
        layout,
        runs: NONE_EXACT - 1,
    };
    let shift = ratio.ln().abs() / sd_ln * (f64::from(most.runs) / 2.0).sqrt();
    let few = (power_of_shift(shift, most.df(), aim.alpha) >= aim.power)
        .then(|| (2..NONE_EXACT).find(|&runs| suffices(runs)));
    let level = aim.alpha / f64::from(aim.rows);
    let guess = large_sample(sd_ln / ratio.ln(), 1.0 - 0.5 * level, aim.power);
    few.flatten()
        .or_else(|| smallest(NONE_EXACT, guess, suffices))
}

/// The number of runs per side with which a normal test of this quantile has this power:
/// `2 spread^2 (z + z_power)^2`, where `spread` is the standard deviation in units of the effect
/// (Cohen 1988, equation 12.2.1).
fn large_sample(spread: f64, quantile: f64, power: f64) -> f64 {
    let z = normal_quantile(quantile) + normal_quantile(power);
    2.0 * (spread * z).powi(2)
}

/// From this many runs on, no design is exact, and its least p is constant.
const NONE_EXACT: u32 = 24;

/// The smallest number of runs per side, 2 to 100,000, for which two one-sided tests at `alpha`
/// declare two equal configurations equivalent within ± `margin` with at least the given `power`.
/// `None` if there is none, or unless sd_ln > 0, 0 < margin < 1, 0 < alpha < 0.5.
///
/// - Source: Phillips 1990, Journal of Pharmacokinetics and Biopharmaceutics 18, as an integral
///   over the sample's standard deviation; bounds as in [`crate::equivalence::bounds`]; n - 1
///   degrees of freedom for pairs, otherwise 2 n - 2.
/// - Cost: about 4 integrals.
/// - Checked against the same integral by `scipy.integrate.quad` (two samples), and by simulation
///   (pairs).
#[must_use]
pub fn runs_for_equivalence(
    layout: ComparisonLayout,
    sd_ln: f64,
    margin: f64,
    alpha: f64,
    power: f64,
) -> Option<u32> {
    let margin = bounds(margin).ok()?;
    if !(sd_ln > 0.0 && sd_ln.is_finite() && alpha > 0.0 && alpha < 0.5) {
        return None;
    }
    let (low, high) = (margin.low.ln(), margin.high.ln());
    let guess = large_sample(2.0 * sd_ln / (high - low), 1.0 - alpha, 0.5 * (1.0 + power));
    smallest(2, guess, |runs| {
        let design = PowerDesign { layout, runs };
        equivalence_power(design, sd_ln, low, high, alpha) >= power
    })
}

/// The upper end of the one-sided interval of a standard deviation that was estimated with `df`
/// degrees of freedom, at `confidence`. A number of runs computed from it has at least the
/// requested power with that confidence; computed from the estimate itself, about half of all have
/// less.
///
/// - Shape: sd >= 0, df > 0, 0 < confidence < 1; `NaN` otherwise.
/// - Source: Browne 1995, Statistics in Medicine 14, for normal values.
/// - Checked against `scipy.stats.chi2.ppf`.
///
/// ```
/// let sd = assize_judge::power::upper_sd(0.02, 10.0, 0.8);
/// assert!((sd - 0.0254430).abs() < 1e-6, "{sd}");
/// ```
#[must_use]
pub fn upper_sd(sd: f64, df: f64, confidence: f64) -> f64 {
    let in_range = sd >= 0.0 && df > 0.0 && df.is_finite();
    if !(in_range && confidence > 0.0 && confidence < 1.0) {
        return f64::NAN;
    }
    sd * (0.5 * df / gamma_quantile(1.0 - confidence, 0.5 * df)).sqrt()
}

/// The probability that the interval lies in [low, high], both on the log scale,
/// if the true difference is zero.
fn equivalence_power(design: PowerDesign, sd_ln: f64, low: f64, high: f64, alpha: f64) -> f64 {
    let df = design.df();
    let scale = sd_ln * (2.0 / f64::from(design.runs)).sqrt();
    let critical = t_quantile(1.0 - alpha, df);
    let (low, high) = (low / scale, high / scale);
    // Beyond this spread the interval is wider than the margin.
    over_spread(df, (high - low) / (2.0 * critical), |s| {
        normal_cdf(high - critical * s) - normal_cdf(low + critical * s)
    })
}

/// The smallest n from `fewest` to [`MOST_RUNS`] for which `suffices` holds; it must not turn
/// false again above that. Goes from `guess` in steps that double until the answer is enclosed,
/// so that a good guess costs few calls.
fn smallest(fewest: u32, guess: f64, suffices: impl Fn(u32) -> bool) -> Option<u32> {
    // A float that does not fit is cut off, and `NaN` is 0.
    let guess = (guess.ceil() as u32).clamp(fewest, MOST_RUNS);
    // All below `low` are too few, and `high` is enough.
    let (mut low, mut high) = (fewest, guess);
    let mut step = 1;
    if suffices(guess) {
        while high > fewest {
            let fewer = high.saturating_sub(step).max(fewest);
            if !suffices(fewer) {
                low = fewer + 1;
                break;
            }
            high = fewer;
            step *= 2;
        }
    } else {
        loop {
            if high >= MOST_RUNS {
                return None;
            }
            low = high + 1;
            high = high.saturating_add(step).min(MOST_RUNS);
            if suffices(high) {
                break;
            }
            step *= 2;
        }
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if suffices(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(high)
}

/// The expectation of `f(s)` for s <= `limit`, where s = sqrt(chi2(df) / df) is
/// a sample's standard deviation in units of the true one.
///
/// Composite Gauss-Legendre quadrature over the mean ± 14 standard deviations
/// of s, with density s^(df - 1) exp(-df s^2 / 2), normalised by its own
/// integral so that no gamma function is needed.
fn over_spread(df: f64, limit: f64, f: impl Fn(f64) -> f64) -> f64 {
    let reach = 14.0 / (2.0 * df).sqrt();
    let (low, high) = ((1.0 - reach).max(0.0), 1.0 + reach);
    // Relative to its value at 1, so that it neither over- nor underflows.
    let density = |s: f64| ((df - 1.0) * s.ln() - 0.5 * df * (s * s - 1.0)).exp();
    let total = quadrature(low, high, &density);
    let end = high.min(limit);
    if end <= low {
        return 0.0;
    }
    quadrature(low, end, &|s| density(s) * f(s)) / total
}

/// Nodes and weights of the 8-point Gauss-Legendre rule on [-1, 1], positive
/// half (Abramowitz and Stegun 1964, table 25.4).
const GAUSS: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

fn quadrature(low: f64, high: f64, f: &impl Fn(f64) -> f64) -> f64 {
    const PANELS: u32 = 64;
    let half = 0.5 * (high - low) / f64::from(PANELS);
    let mut sum = 0.0;
    for panel in 0..PANELS {
        let centre = low + half * f64::from(2 * panel + 1);
        for (node, weight) in GAUSS {
            sum += weight * (f(centre - half * node) + f(centre + half * node));
        }
    }
    sum * half
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::RandomStream;
    use crate::{equivalence, paired};

    #[test]
    fn no_effect_is_found_with_chance_alpha() {
        for n in [2, 3, 10, 1000] {
            assert!((power_of(n, 0.02, 1.0, 0.05) - 0.05).abs() < 1e-9);
        }
        assert!(power_of(1, 0.02, 1.1, 0.05).is_nan());
    }

    #[test]
    fn answers_respect_what_the_permutation_test_can_attain() {
        let two = ComparisonLayout::TwoSamples;
        let smallest = |sd, ratio, alpha| runs_for(two, sd, ratio, PowerAim { alpha, ..ONE });
        assert_eq!(smallest(0.001, 2.0, 0.05), Some(4));
        assert_eq!(smallest(0.02, 1.0, 0.05), None);
        assert_eq!(smallest(0.02, 1.05, 1e-9), None);
        assert_eq!(runs_for_equivalence(two, 0.02, 0.01, 0.7, 0.8), None);
    }

    const PAIRS: ComparisonLayout = ComparisonLayout::Pairs;
    const ONE: PowerAim = PowerAim {
        rows: 1,
        alpha: 0.05,
        power: 0.8,
    };

    fn design(layout: ComparisonLayout, runs: u32) -> PowerDesign {
        PowerDesign { layout, runs }
    }

    #[test]
    fn the_smallest_is_found_from_any_guess() {
        for answer in [2, 3, 7, 24, 1000, MOST_RUNS] {
            for guess in [0.0, 2.0, 6.5, 1000.0, 1e9, f64::INFINITY, f64::NAN] {
                assert_eq!(smallest(2, guess, |n| n >= answer), Some(answer), "{guess}");
            }
        }
        assert_eq!(smallest(5, 1.0, |_| true), Some(5));
        for guess in [2.0, 1e9] {
            assert_eq!(smallest(2, guess, |n| n > MOST_RUNS), None);
        }
    }

    #[test]
    fn designs_that_cannot_reach_the_level_find_nothing() {
        assert_eq!(design(PAIRS, 6).least_p(), 2.0 / 64.0);
        assert_eq!(
            design(ComparisonLayout::TwoSamples, 4).least_p(),
            2.0 / 70.0
        );
        assert_eq!(design(PAIRS, 40).least_p(), 1.0 / 100_000.0);
        assert_eq!(design(PAIRS, 0).least_p(), 1.0);
        assert_eq!(least_effect(design(PAIRS, 5), 0.001, ONE), None);
        assert_eq!(
            least_effect(design(ComparisonLayout::TwoSamples, 3), 0.001, ONE),
            None
        );
        // This holds however large the effect is.
        assert_eq!(runs_for(PAIRS, 0.001, 5.0, ONE), Some(6));
        assert_eq!(
            runs_for(ComparisonLayout::TwoSamples, 0.001, 5.0, ONE),
            Some(4)
        );
        // 2 / 2^8 is the first at most 0.01.
        let others = PowerAim { alpha: 0.01, ..ONE };
        assert_eq!(runs_for(PAIRS, 0.001, 5.0, others), Some(8));
        // Below the floor of drawn relabelings nothing can be established.
        let too_low = PowerAim { alpha: 1e-6, ..ONE };
        assert_eq!(runs_for(PAIRS, 0.001, 5.0, too_low), None);
    }

    #[test]
    fn the_effect_that_a_design_finds_needs_that_design() {
        for layout in [PAIRS, ComparisonLayout::TwoSamples] {
            for (runs, rows) in [(9, 1), (12, 4), (30, 50)] {
                let aim = PowerAim { rows, ..ONE };
                let ratio = least_effect(design(layout, runs), 0.03, aim).unwrap();
                assert_eq!(runs_for(layout, 0.03, ratio * 1.0001, aim), Some(runs));
                let inverse = runs_for(layout, 0.03, 1.0 / ratio / 1.0001, aim);
                assert_eq!(inverse, Some(runs));
                let more = least_effect(design(layout, 2 * runs), 0.03, aim).unwrap();
                assert!(1.0 < more && more < ratio);
            }
        }
    }

    #[test]
    fn so_many_pairs_find_what_they_are_said_to_find() {
        // t tests of simulated pairs at the level assumed.
        let (runs, sd) = (10, 0.03);
        let aim = PowerAim { rows: 5, ..ONE };
        let ratio = least_effect(design(PAIRS, runs), sd, aim).unwrap();
        let mut draws = RandomStream::new(23);
        let found = (0..2000).filter(|_| {
            let mut side = |effect: f64| -> Vec<f64> {
                (0..runs)
                    .map(|_| (effect + sd * draws.normal()).exp())
                    .collect()
            };
            let (a, b) = (side(0.0), side(ratio.ln()));
            paired::ratio(&a, &b).unwrap().p_t <= 0.01
        });
        let found = found.count();
        assert!((1540..1660).contains(&found), "{found} of 2000");
    }

    #[test]
    fn so_many_equal_pairs_are_found_equivalent() {
        let (sd, margin) = (0.004, 0.01);
        let runs = runs_for_equivalence(PAIRS, sd, margin, 0.05, 0.8).unwrap();
        let two =
            runs_for_equivalence(ComparisonLayout::TwoSamples, sd, margin, 0.05, 0.8).unwrap();
        assert!(two < runs, "half the degrees of freedom: {two} and {runs}");
        let mut draws = RandomStream::new(29);
        let found = (0..2000).filter(|_| {
            let mut side =
                || -> Vec<f64> { (0..runs).map(|_| (sd * draws.normal()).exp()).collect() };
            let estimate = paired::ratio(&side(), &side()).unwrap();
            equivalence::of_ratio(&estimate, margin).unwrap().equivalent
        });
        let found = found.count();
        // One run fewer has less than 80 %; rounding up adds a sixth of a run.
        assert!((1560..1860).contains(&found), "{found} of 2000");
    }

    #[test]
    fn the_upper_end_of_a_spread_is_above_the_true_one_as_often_as_it_says() {
        let mut draws = RandomStream::new(31);
        let above = (0..2000).filter(|_| {
            let values: Vec<f64> = (0..6).map(|_| draws.normal()).collect();
            let sd = crate::moments::variance(&values).sqrt();
            upper_sd(sd, 5.0, 0.8) > 1.0
        });
        let above = above.count();
        assert!((1540..1660).contains(&above), "{above} of 2000");
        assert!(upper_sd(1.0, 0.0, 0.8).is_nan() && upper_sd(1.0, 5.0, 1.0).is_nan());
    }

    #[test]
    fn aims_that_make_no_sense_have_no_answer() {
        let of = |aim| least_effect(design(PAIRS, 10), 0.03, aim);
        assert!(of(ONE).is_some());
        assert_eq!(of(PowerAim { rows: 0, ..ONE }), None);
        assert_eq!(
            of(PowerAim {
                alpha: f64::NAN,
                ..ONE
            }),
            None
        );
        assert_eq!(of(PowerAim { power: 1.0, ..ONE }), None);
        assert_eq!(of(PowerAim { power: 0.04, ..ONE }), None);
        assert_eq!(least_effect(design(PAIRS, 10), 0.0, ONE), None);
        assert_eq!(runs_for(PAIRS, 0.03, 1.0, ONE), None);
    }
}
