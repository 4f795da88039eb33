//! Main effects and two-way interactions of factors with two levels.

use std::collections::{BTreeMap, BTreeSet};

use crate::dist::{t_quantile, t_two_sided};
use crate::error::{Error, Result, check_finite};
use crate::flips;
use crate::moments::mean;
use crate::qr;
use crate::welch::Interval;

/// The largest number of factors; a full grid of twelve has 4,096 cells.
const MOST_FACTORS: usize = 12;

/// One effect of a factorial model.
#[derive(Debug, Clone, PartialEq)]
pub struct FactorialEffect {
    /// The factor, or both factors of an interaction: `bypass`, `bypass:irq`.
    pub name: String,
    /// The effect as a difference of logarithms.
    pub ln_effect: f64,
    /// exp(`ln_effect`): the ratio on / off for a factor, the ratio of the two
    /// ratios for an interaction.
    pub ratio: f64,
    /// The 95 % interval of `ratio`.
    pub ci: Interval,
    /// The standard error of `ln_effect`.
    pub standard_error: f64,
    /// `ln_effect / standard_error`; infinite if the model fits exactly.
    pub t: f64,
    /// The two-sided p of `t`.
    pub p: f64,
    /// Whether this is a two-way interaction.
    pub interaction: bool,
}

impl FactorialEffect {
    /// The effect from its contrasts in complete blocks ([`block_contrasts`]): their mean, with the
    /// p of the one-sample t test and the interval of [`flips::interval`], or the t interval if
    /// that is `None`.
    ///
    /// Each effect has a separate error: how much its contrast varies between blocks. The residual
    /// of [`fit_in_blocks`] averages these over all effects, so an interval based on it is too wide
    /// for an effect that is the same in all blocks when another is not, and too narrow for that
    /// other.
    ///
    /// - Shape: at least two contrasts, differences of logarithms.
    /// - Range: m - 1 degrees of freedom for m contrasts; if all are equal, the interval is a point
    ///   and p is 0, or 1 if all are 0.
    /// - Cost: O(m).
    /// - Source: Winer 1971, "Statistical Principles in Experimental Design", section 4.6
    ///   (contrasts of repeated measures with separate errors).
    /// - Checked against scipy's `ttest_1samp`.
    ///
    /// # Errors
    /// [`Error::TooFew`], [`Error::NotFinite`].
    pub fn of_contrasts(name: String, contrasts: &[f64]) -> Result<FactorialEffect> {
        check_finite(contrasts, 0)?;
        if contrasts.len() < 2 {
            return Err(Error::TooFew {
                needed: 2,
                got: contrasts.len(),
            });
        }
        let count = contrasts.len() as f64;
        let df = count - 1.0;
        let ln_effect = mean(contrasts);
        let squares: f64 = contrasts.iter().map(|c| (c - ln_effect).powi(2)).sum();
        // Below this, differences between the contrasts are rounding.
        let rounding = 1e-14 * contrasts.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let spread = Some((squares / df).sqrt()).filter(|spread| *spread > rounding);
        let standard_error = spread.unwrap_or(0.0) / count.sqrt();
        let is_interaction = name.contains(':');
        let effect = FactorialEffect::new(name, is_interaction, ln_effect, standard_error, df);
        let by_flips = flips::interval(contrasts, 0.95, 0.0)?.filter(|_| standard_error > 0.0);
        Ok(match by_flips {
            Some(interval) => FactorialEffect {
                ci: interval.exponentiated(),
                ..effect
            },
            None => effect,
        })
    }

    /// An effect with the interval and the p of the t test.
    fn new(
        name: String,
        interaction: bool,
        ln_effect: f64,
        standard_error: f64,
        df: f64,
    ) -> FactorialEffect {
        // An exact fit has no error; then an effect of 0 has t = 0.
        let t = match ln_effect == 0.0 {
            true => 0.0,
            false => ln_effect / standard_error,
        };
        let half = t_quantile(0.975, df) * standard_error;
        FactorialEffect {
            name,
            ln_effect,
            ratio: ln_effect.exp(),
            ci: Interval {
                low: ln_effect - half,
                high: ln_effect + half,
            }
            .exponentiated(),
            standard_error,
            t,
            p: t_two_sided(t, df),
            interaction,
        }
    }
}

/// A fitted factorial model.
#[derive(Debug, Clone, PartialEq)]
pub struct FactorialFit {
    /// Main effects in the order of the names, then the interactions in the
    /// order 0:1, 0:2, ..., 1:2, ...
    pub effects: Vec<FactorialEffect>,
    /// Residual degrees of freedom: N - 1 - k - k (k - 1) / 2, less the number
    /// of blocks minus one.
    pub residual_df: usize,
    /// The residual standard deviation of the logarithms.
    pub residual_sd: f64,
    /// The number of runs.
    pub runs: usize,
}

/// Fits main effects and all two-way interactions, and nothing higher, by
/// ordinary least squares on logarithms.
///
/// `cells` holds one entry per run: the level of each factor (`true` is on) and
/// ln(value). `names` names the factors. The columns are coded -1/2 and +1/2,
/// and an interaction is the product of its two columns, ±1/4. Then a main
/// effect is the ln-ratio on / off averaged over the other factors' levels, and
/// an interaction's coefficient g contributes g/4, -g/4, -g/4, g/4 to the cells
/// (on, on), (off, on), (on, off), (off, off), so that (x11 - x01) - (x10 - x00)
/// = g/2 + g/2 = g: the difference of the two ln-ratios, without a further
/// factor.
///
/// - Shape: runs in any order; every cell of the full 2^k grid must have a run;
///   unequal numbers of runs are allowed (the averages over levels then still
///   weight each level equally). Three-way and higher interactions are assumed
///   to be zero; if they are not, they inflate the residual and widen intervals.
/// - Range: `residual_df` >= 1; p in \[0, 1\]. If the model fits exactly (the
///   residual is below rounding), intervals are points and p is 0, or 1 for an
///   effect that is itself below rounding.
/// - Cost: O(N k^4) time, O(N k^2) memory.
/// - Source: Yates 1937, "The Design and Analysis of Factorial Experiments";
///   least squares by Householder QR (Golub and Van Loan, section 5.3).
/// - Checked against statsmodels' `OLS`, balanced and unbalanced, and against
///   the direct difference of cell means.
///
/// # Errors
/// [`Error::MissingCell`] names the first hole in the grid,
/// [`Error::NoResidualDf`], [`Error::RankDeficient`], [`Error::NotFinite`],
/// [`Error::BadArgument`] if there are no factors, more than twelve, or a run's
/// number of levels differs from the number of names.
pub fn fit(cells: &[(Vec<bool>, f64)], names: &[&str]) -> Result<FactorialFit> {
    fit_in_blocks::<u32>(cells, &[], names)
}

/// Like [`fit`], for runs in several blocks: each block has its own intercept, so that what the
/// runs of a block have in common (its seed, the machine, the hour) does not count as noise.
///
/// `blocks` holds the block of each run, or is empty. Any ordered label can be used: a machine, a
/// block, or the pair (machine, block), which distinguishes blocks of the same number on several
/// machines. Each block but the first costs one residual degree of freedom. The effects are
/// averages over the blocks; whether they differ between blocks is not tested. Blocks need not be
/// complete.
///
/// - Cost: O(N (k^2 + m)^2) time for m blocks.
/// - Source: Fisher 1935, "The Design of Experiments", chapter 4 (randomised blocks); fitted as
///   columns of indicators.
/// - Checked against statsmodels' `OLS` with those columns, and, if all blocks are complete,
///   against the mean of [`block_contrasts`].
///
/// # Errors
/// As for [`fit`]; [`Error::BadArgument`] if `blocks` has another length, [`Error::RankDeficient`]
/// if blocks and levels are confounded.
pub fn fit_in_blocks<B: Ord + Copy>(
    cells: &[(Vec<bool>, f64)],
    blocks: &[B],
    names: &[&str],
) -> Result<FactorialFit> {
    if !blocks.is_empty() && blocks.len() != cells.len() {
        return Err(Error::BadArgument("a run has no block"));
    }
    let distinct: BTreeSet<B> = blocks.iter().copied().collect();
    let others: Vec<B> = distinct.into_iter().skip(1).collect();
    let response = checked(cells, names)?;
    check_grid(cells, names)?;
    let terms = terms(names.len());
    let parameters = 1 + terms.len() + others.len();
    if cells.len() <= parameters {
        return Err(Error::NoResidualDf {
            parameters,
            runs: cells.len(),
        });
    }
    let mut columns = columns(cells, &terms);
    for other in &others {
        let indicator = blocks.iter().map(|b| f64::from(u8::from(b == other)));
        columns.push(indicator.collect());
    }
    let solution = qr::least_squares(columns, &response).ok_or(Error::RankDeficient)?;
    let residual_df = cells.len() - parameters;
    Ok(describe(&solution, &terms, names, &response, residual_df))
}

/// The logarithms of all runs, if names and levels match.
fn checked(cells: &[(Vec<bool>, f64)], names: &[&str]) -> Result<Vec<f64>> {
    let k = names.len();
    if k == 0 || k > MOST_FACTORS {
        return Err(Error::BadArgument("there must be 1 to 12 factors"));
    }
    if cells.iter().any(|(levels, _)| levels.len() != k) {
        return Err(Error::BadArgument(
            "a run does not give one level per factor",
        ));
    }
    let response: Vec<f64> = cells.iter().map(|c| c.1).collect();
    check_finite(&response, 0)?;
    Ok(response)
}

/// The effects in each complete block, one number per block, as input for a sign-flip test.
///
/// A block is complete if it holds every cell of the 2^k grid exactly once; the others are left
/// out. In such a block a main effect is the mean of ln(value) over the cells with the factor on,
/// less the mean over those with it off; an interaction is the difference of the two ln-ratios of
/// one factor, with the other on and with it off, averaged over the remaining factors. What all
/// runs of a block have in common cancels. If a factor changes nothing and the order within blocks
/// was random, its contrast is as likely d as -d in each block, whatever the noise and whatever the
/// other blocks show.
///
/// - Shape: as for [`fit_in_blocks`]; `blocks` has a label for each run.
/// - Returns the effects in the order of [`FactorialFit::effects`], each with the contrasts of the
///   complete blocks in ascending order of the labels, as differences of logarithms. Their mean is
///   `ln_effect` of [`fit_in_blocks`] if every block is complete.
/// - Cost: O(N k^2).
/// - Source: Yates 1937; Box, Hunter and Hunter 2005, "Statistics for Experimenters", section 5.
/// - Checked against differences of means of cells in numpy.
///
/// # Errors
/// [`Error::TooFew`] if no block is complete; [`Error::NotFinite`] and [`Error::BadArgument`] as
/// for [`fit_in_blocks`].
///
/// ```
/// let block = |of: f64| [(vec![false], of), (vec![true], of + 0.25)];
/// let cells: Vec<_> = [1.0, 4.0].into_iter().flat_map(block).collect();
/// let found = assize_judge::factorial::block_contrasts(&cells, &[1, 1, 2, 2], &["irq"])?;
/// assert_eq!(found, [("irq".to_owned(), vec![0.25, 0.25])]);
/// # Ok::<(), assize_judge::Error>(())
/// ```
pub fn block_contrasts<B: Ord + Copy>(
    cells: &[(Vec<bool>, f64)],
    blocks: &[B],
    names: &[&str],
) -> Result<Vec<(String, Vec<f64>)>> {
    if blocks.len() != cells.len() {
        return Err(Error::BadArgument("a run has no block"));
    }
    checked(cells, names)?;
    let mut grids: BTreeMap<B, BlockCells> = BTreeMap::new();
    for ((levels, x), block) in cells.iter().zip(blocks) {
        let grid = grids
            .entry(*block)
            .or_insert_with(|| BlockCells::new(names.len()));
        grid.put(index(levels), *x);
    }
    let complete: Vec<Vec<f64>> = grids
        .into_values()
        .filter_map(BlockCells::complete)
        .collect();
    if complete.is_empty() {
        return Err(Error::TooFew { needed: 1, got: 0 });
    }
    let on = |cell: usize, factor: usize| cell >> (names.len() - 1 - factor) & 1 == 1;
    let contrasts = terms(names.len()).into_iter().map(|term| {
        let (i, other) = term;
        let plus = |cell: usize| on(cell, i) == other.is_none_or(|j| on(cell, j));
        // Of the 2^k cells, half are on either side of a factor; either pair of
        // cells of an interaction counts twice.
        let cells = (1_usize << names.len()) as f64;
        let share = if other.is_some() { 4.0 } else { 2.0 } / cells;
        let of = |grid: &Vec<f64>| {
            let around = mean(grid);
            let signed = grid.iter().enumerate().map(|(cell, x)| {
                let x = x - around;
                if plus(cell) { x } else { -x }
            });
            share * signed.sum::<f64>()
        };
        (name_of(term, names), complete.iter().map(of).collect())
    });
    Ok(contrasts.collect())
}

/// The cells of one block, by [`index`].
struct BlockCells {
    values: Vec<Option<f64>>,
    repeated: bool,
}

impl BlockCells {
    fn new(factors: usize) -> Self {
        BlockCells {
            values: vec![None; 1 << factors],
            repeated: false,
        }
    }

    fn put(&mut self, cell: usize, value: f64) {
        self.repeated |= self.values[cell].replace(value).is_some();
    }

    /// All values, if each cell was given once.
    fn complete(self) -> Option<Vec<f64>> {
        let values: Option<Vec<f64>> = self.values.into_iter().collect();
        values.filter(|_| !self.repeated)
    }
}

/// The index of a combination of levels; the first factor is the most
/// significant bit.
fn index(levels: &[bool]) -> usize {
    levels.iter().fold(0, |acc, &on| 2 * acc + usize::from(on))
}

/// The factors of a term: one for a main effect, two for an interaction.
type FactorTerm = (usize, Option<usize>);

/// Main effects, then interactions.
fn terms(k: usize) -> Vec<FactorTerm> {
    let mut terms: Vec<_> = (0..k).map(|i| (i, None)).collect();
    for i in 0..k {
        terms.extend((i + 1..k).map(|j| (i, Some(j))));
    }
    terms
}

/// `bypass` for a factor, `bypass:irq` for an interaction.
fn name_of((i, other): FactorTerm, names: &[&str]) -> String {
    other.map_or_else(
        || names[i].to_owned(),
        |j| format!("{}:{}", names[i], names[j]),
    )
}

/// The model matrix by columns, the intercept first.
fn columns(cells: &[(Vec<bool>, f64)], terms: &[FactorTerm]) -> Vec<Vec<f64>> {
    let code = |on: bool| if on { 0.5 } else { -0.5 };
    let mut columns = vec![vec![1.0; cells.len()]];
    for &(i, other) in terms {
        columns.push(
            cells
                .iter()
                .map(|(levels, _)| code(levels[i]) * other.map_or(1.0, |j| code(levels[j])))
                .collect(),
        );
    }
    columns
}

/// Names the first combination of levels that no run has.
fn check_grid(cells: &[(Vec<bool>, f64)], names: &[&str]) -> Result<()> {
    let mut seen = vec![false; 1 << names.len()];
    for (levels, _) in cells {
        seen[index(levels)] = true;
    }
    let Some(hole) = seen.iter().position(|&s| !s) else {
        return Ok(());
    };
    let cell: Vec<String> = names
        .iter()
        .enumerate()
        .map(|(i, name)| {
            let on = hole >> (names.len() - 1 - i) & 1 == 1;
            format!("{name}={}", if on { "on" } else { "off" })
        })
        .collect();
    Err(Error::MissingCell(cell.join(", ")))
}

fn describe(
    solution: &qr::LeastSquares,
    terms: &[FactorTerm],
    names: &[&str],
    response: &[f64],
    residual_df: usize,
) -> FactorialFit {
    let runs = response.len();
    let df = residual_df as f64;
    // Below this, a residual or an effect is rounding, not data.
    let rounding = 1e-14 * response.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let mut residual_sd = (solution.residual_squares / df).sqrt();
    if residual_sd <= rounding {
        residual_sd = 0.0;
    }
    let effects = terms
        .iter()
        .enumerate()
        .map(|(index, &(i, other))| {
            let standard_error = residual_sd * solution.unscaled_variances[index + 1].sqrt();
            let mut ln_effect = solution.coefficients[index + 1];
            if ln_effect.abs() <= 10.0 * rounding {
                ln_effect = 0.0;
            }
            let name = name_of((i, other), names);
            FactorialEffect::new(name, other.is_some(), ln_effect, standard_error, df)
        })
        .collect();
    FactorialFit {
        effects,
        residual_df,
        residual_sd,
        runs,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_effect_alike_in_all_blocks_is_found_whatever_another_does() {
        // Two factors: the effect of the first is anything from 0 to 40 % in a
        // block, the interaction 0.3 to 0.4 % in each.
        let varying = [0.02, 0.4, 0.1, 0.3, 0.0, 0.2, 0.35, 0.05];
        let alike = [0.003, 0.0032, 0.0035, 0.0038, 0.004, 0.0036, 0.0033, 0.0039];
        let (mut cells, mut blocks) = (Vec::new(), Vec::new());
        for (block, (a, ab)) in (0_u32..).zip(varying.iter().zip(alike)) {
            for (on_a, on_b) in [(false, false), (false, true), (true, false), (true, true)] {
                let x = if on_a { *a } else { 0.0 } + if on_a && on_b { ab } else { 0.0 };
                cells.push((vec![on_a, on_b], x));
                blocks.push(block);
            }
        }
        let names = ["a", "b"];
        let of_fit = fit_in_blocks(&cells, &blocks, &names).unwrap();
        assert!(of_fit.effects[2].ci.low < 1.0 && of_fit.effects[2].ci.high > 1.0);
        let contrasts = block_contrasts(&cells, &blocks, &names).unwrap();
        let (name, values) = contrasts[2].clone();
        let effect = FactorialEffect::of_contrasts(name, &values).unwrap();
        assert!(effect.interaction && effect.name == "a:b");
        assert!((effect.ln_effect - of_fit.effects[2].ln_effect).abs() < 1e-12);
        // scipy.stats.ttest_1samp of the eight.
        assert!((effect.ln_effect - 0.003_537_5).abs() < 1e-12);
        assert!(
            (effect.t - 28.239_551_372_771_84).abs() < 1e-9,
            "{}",
            effect.t
        );
        assert!(effect.ci.low > 1.0);
        // The other effect varies more than the residual indicates.
        let main = FactorialEffect::of_contrasts("a".into(), &contrasts[0].1).unwrap();
        assert!(main.ci.high > of_fit.effects[0].ci.high);
    }

    #[test]
    fn contrasts_that_do_not_differ_are_a_point() {
        let effect = |all: &[f64]| FactorialEffect::of_contrasts("a".into(), all);
        let point = effect(&[0.25; 4]).unwrap();
        assert_eq!((point.ci.low, point.p), (point.ci.high, 0.0));
        assert_eq!(effect(&[0.0; 4]).unwrap().p, 1.0);
        assert!(effect(&[0.1]).is_err() && effect(&[0.1, f64::NAN]).is_err());
    }

    use super::*;
    use crate::random::RandomStream;

    fn grid(values: [f64; 8]) -> Vec<(Vec<bool>, f64)> {
        // Two runs of each cell: off/off, off/on, on/off, on/on.
        (0..8)
            .map(|i| (vec![i / 4 == 1, i / 2 % 2 == 1], values[i]))
            .collect()
    }

    #[test]
    fn an_interaction_is_the_difference_of_the_two_ln_ratios() {
        let x = [1.0, 1.2, 1.5, 1.4, 2.0, 2.2, 3.0, 3.1];
        let fitted = fit(&grid(x), &["bypass", "irq"]).unwrap();
        let cell = |i: usize| 0.5 * (x[2 * i] + x[2 * i + 1]);
        let with_irq = cell(3) - cell(1);
        let without = cell(2) - cell(0);
        let effect = |n: &str| {
            fitted
                .effects
                .iter()
                .find(|e| e.name == n)
                .unwrap()
                .ln_effect
        };
        assert!((effect("bypass:irq") - (with_irq - without)).abs() < 1e-14);
        assert!((effect("bypass") - 0.5 * (with_irq + without)).abs() < 1e-14);
        assert_eq!(fitted.residual_df, 4);
    }

    #[test]
    fn holes_and_saturated_models_are_refused() {
        let x = [1.0, 1.2, 1.5, 1.4, 2.0, 2.2, 3.0, 3.1];
        let hole: Vec<_> = grid(x).into_iter().take(6).collect();
        assert_eq!(
            fit(&hole, &["bypass", "irq"]),
            Err(Error::MissingCell("bypass=on, irq=on".into()))
        );
        let once: Vec<_> = grid(x).into_iter().step_by(2).collect();
        assert_eq!(
            fit(&once, &["bypass", "irq"]),
            Err(Error::NoResidualDf {
                parameters: 4,
                runs: 4
            })
        );
        assert!(fit(&once, &[]).is_err());
    }

    #[test]
    fn an_exact_fit_is_not_a_division_of_rounding_by_rounding() {
        let fitted = fit(&grid([0.1, 0.1, 0.1, 0.1, 0.3, 0.3, 0.3, 0.3]), &["a", "b"]).unwrap();
        assert_eq!(fitted.residual_sd, 0.0);
        assert_eq!(fitted.effects[0].p, 0.0);
        assert_eq!((fitted.effects[1].p, fitted.effects[2].p), (1.0, 1.0));
    }

    type CellValues = Vec<(Vec<bool>, f64)>;

    /// 2 x 2 runs in each of ten blocks: the blocks differ by 20 %, the runs
    /// within a block by 2 %, and `bypass` costs 5 %.
    fn unequal_blocks() -> (CellValues, Vec<(u32, u32)>) {
        let mut draws = RandomStream::new(11);
        let (mut cells, mut blocks) = (Vec::new(), Vec::new());
        for block in 0..10 {
            let level = 0.2 * draws.normal();
            for cell in 0..4 {
                let (bypass, irq) = (cell / 2 == 1, cell % 2 == 1);
                let effect = if bypass { 1.05_f64.ln() } else { 0.0 };
                cells.push((vec![bypass, irq], level + effect + 0.02 * draws.normal()));
                // The same block numbers on two machines.
                blocks.push((block % 2, block / 2));
            }
        }
        (cells, blocks)
    }

    #[test]
    fn an_effect_smaller_than_what_blocks_differ_by_is_found_with_blocks_only() {
        let (cells, blocks) = unequal_blocks();
        let names = ["bypass", "irq"];
        let without = fit(&cells, &names).unwrap();
        let with = fit_in_blocks(&cells, &blocks, &names).unwrap();
        assert!(without.effects[0].p > 0.2, "{}", without.effects[0].p);
        assert!(with.effects[0].p < 1e-4, "{}", with.effects[0].p);
        assert!(with.effects[0].ci.contains(1.05));
        assert_eq!((with.residual_df, without.residual_df), (27, 36));
        // The other factor and the interaction have no effect.
        assert!(with.effects[1..].iter().all(|e| e.p > 0.05));
        // The machines alone explain little of the blocks.
        let machines: Vec<u32> = blocks.iter().map(|b| b.0).collect();
        let coarse = fit_in_blocks(&cells, &machines, &names).unwrap();
        assert!(coarse.effects[0].p > 0.2);
    }

    #[test]
    fn contrasts_of_blocks_have_the_effects_as_their_means() {
        let (mut cells, mut blocks) = unequal_blocks();
        let names = ["bypass", "irq"];
        let fitted = fit_in_blocks(&cells, &blocks, &names).unwrap();
        let contrasts = block_contrasts(&cells, &blocks, &names).unwrap();
        for (effect, (name, values)) in fitted.effects.iter().zip(&contrasts) {
            assert_eq!((&effect.name, values.len()), (name, 10));
            assert!((mean(values) - effect.ln_effect).abs() < 1e-14);
        }
        // A cell given twice and a missing one: two complete blocks fewer.
        cells.push((vec![true, true], 9.0));
        blocks.push((0, 0));
        cells.remove(4);
        blocks.remove(4);
        let fewer = block_contrasts(&cells, &blocks, &names).unwrap();
        assert!(fewer.iter().all(|(_, values)| values.len() == 8));
        assert_eq!(
            block_contrasts(&cells[..3], &blocks[..3], &names),
            Err(Error::TooFew { needed: 1, got: 0 })
        );
        assert!(block_contrasts(&cells, &blocks[1..], &names).is_err());
    }

    #[test]
    fn blocks_that_hold_one_cell_each_are_refused() {
        let x = [1.0, 1.2, 1.5, 1.4, 2.0, 2.2, 3.0, 3.1];
        let blocks = [0, 0, 1, 1, 2, 2, 3, 3];
        let fitted = fit_in_blocks(&grid(x), &blocks, &["a", "b"]);
        assert_eq!(fitted, Err(Error::RankDeficient));
    }
}
