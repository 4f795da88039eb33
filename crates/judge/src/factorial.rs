//! Main effects and two-way interactions of factors with two levels.

use std::collections::BTreeSet;

use crate::dist::{t_quantile, t_two_sided};
use crate::error::{Error, Result, check_finite};
use crate::qr;
use crate::welch::Interval;

/// The largest number of factors; a full grid of twelve has 4,096 cells.
const MOST_FACTORS: usize = 12;

/// One effect of a factorial model.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
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

/// A fitted factorial model.
#[derive(Debug, Clone, PartialEq)]
pub struct Factorial {
    /// Main effects in the order of the names, then the interactions in the
    /// order 0:1, 0:2, ..., 1:2, ...
    pub effects: Vec<Effect>,
    /// Residual degrees of freedom: N - 1 - k - k (k - 1) / 2, less the
    /// machines but one.
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
/// (on, on), (off, on), (on, off), (off, off), so that
/// (x11 - x01) - (x10 - x00) = g/2 + g/2 = g: the difference of the two
/// ln-ratios, as it stands, without a factor.
///
/// - Shape: runs in any order; every cell of the full 2^k grid must have a run;
///   unequal numbers of runs are allowed (the averages over levels then still
///   weigh each level equally). Three-way and higher interactions are taken to
///   be zero; if they are not, they inflate the residual and widen intervals.
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
/// [`Error::BadArgument`] if there are no factors, more than twelve, or a run
/// with another number of levels than there are names.
pub fn fit(cells: &[(Vec<bool>, f64)], names: &[&str]) -> Result<Factorial> {
    fit_in_blocks(cells, &[], names)
}

/// As [`fit`], where the runs are of several machines: each has a level of its
/// own, so that what differs between machines is not taken for noise.
///
/// `blocks` holds the machine of each run, or nothing. Each machine but the first
/// costs one residual degree of freedom. The effects are averages over the
/// machines; whether they differ between them is not asked here.
///
/// - Source: Fisher 1935, chapter 4 (randomised blocks); fitted as columns of
///   indicators.
/// - Checked against statsmodels' `OLS` with those columns.
///
/// # Errors
/// As for [`fit`]; [`Error::BadArgument`] if `blocks` has another length.
pub fn fit_in_blocks(
    cells: &[(Vec<bool>, f64)],
    blocks: &[u32],
    names: &[&str],
) -> Result<Factorial> {
    if !blocks.is_empty() && blocks.len() != cells.len() {
        return Err(Error::BadArgument("a run has no block"));
    }
    let distinct: BTreeSet<u32> = blocks.iter().copied().collect();
    let others: Vec<u32> = distinct.into_iter().skip(1).collect();
    let k = names.len();
    if k == 0 || k > MOST_FACTORS {
        return Err(Error::BadArgument("the factors must number 1 to 12"));
    }
    if cells.iter().any(|(levels, _)| levels.len() != k) {
        return Err(Error::BadArgument(
            "a run does not give one level per factor",
        ));
    }
    let response: Vec<f64> = cells.iter().map(|c| c.1).collect();
    check_finite(&response, 0)?;
    check_grid(cells, names)?;
    let terms = terms(k);
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

/// The factors of each term: one for a main effect, two for an interaction.
fn terms(k: usize) -> Vec<(usize, Option<usize>)> {
    let mut terms: Vec<_> = (0..k).map(|i| (i, None)).collect();
    for i in 0..k {
        terms.extend((i + 1..k).map(|j| (i, Some(j))));
    }
    terms
}

/// The model matrix by columns, the intercept first.
fn columns(cells: &[(Vec<bool>, f64)], terms: &[(usize, Option<usize>)]) -> Vec<Vec<f64>> {
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
        let index = levels.iter().fold(0, |acc, &on| 2 * acc + usize::from(on));
        seen[index] = true;
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
    solution: &qr::Solution,
    terms: &[(usize, Option<usize>)],
    names: &[&str],
    response: &[f64],
    residual_df: usize,
) -> Factorial {
    let runs = response.len();
    let df = residual_df as f64;
    // Below this, a residual or an effect is rounding, not data.
    let rounding = 1e-14 * response.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let mut residual_sd = (solution.residual_squares / df).sqrt();
    if residual_sd <= rounding {
        residual_sd = 0.0;
    }
    let quantile = t_quantile(0.975, df);
    let effects = terms
        .iter()
        .enumerate()
        .map(|(index, &(i, other))| {
            let standard_error = residual_sd * solution.unscaled_variances[index + 1].sqrt();
            let mut ln_effect = solution.coefficients[index + 1];
            if ln_effect.abs() <= 10.0 * rounding {
                ln_effect = 0.0;
            }
            let t = if ln_effect == 0.0 {
                0.0
            } else {
                ln_effect / standard_error
            };
            let half = quantile * standard_error;
            Effect {
                name: other.map_or_else(
                    || names[i].to_owned(),
                    |j| format!("{}:{}", names[i], names[j]),
                ),
                ln_effect,
                ratio: ln_effect.exp(),
                ci: Interval {
                    low: (ln_effect - half).exp(),
                    high: (ln_effect + half).exp(),
                },
                standard_error,
                t,
                p: t_two_sided(t, df),
                interaction: other.is_some(),
            }
        })
        .collect();
    Factorial {
        effects,
        residual_df,
        residual_sd,
        runs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
