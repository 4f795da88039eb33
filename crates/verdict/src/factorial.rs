//! Effects of two-level factors, if the configurations form a full grid.

use std::collections::{BTreeMap, BTreeSet};

use assize_judge::family::{Contrast, ContrastBlock};
use assize_judge::{Error as JudgeError, Interval, factorial};

use crate::caps::{Cap, Caps};
use crate::cells::Cells;
use crate::compare::ends;
use crate::document::{Effect, Factorial, Lint, Verdict};
use crate::family::{Hypotheses, Hypothesis, HypothesisId, HypothesisResults};
use crate::images;
use crate::interval::clipped_at;
use crate::means::site;
use crate::names::folded;
use crate::options::Options;
use crate::row::capped;
use crate::words::finite;

/// With fewer complete blocks, no effect is supported.
const FEWEST_BLOCKS: usize = 3;

/// The fits, before their effects are decided.
pub(crate) struct FactorialFits {
    fits: Vec<(Factorial, Vec<HypothesisId>, Option<Cap>)>,
    pub(crate) holes: Vec<Lint>,
}

/// Fits every metric of every workload that has the whole grid, reports the other workloads as
/// lints, and registers a hypothesis for every effect.
pub(crate) fn ask_all(
    cells: &Cells<'_>,
    primary: &BTreeSet<usize>,
    caps: &Caps<'_>,
    hypotheses: &mut Hypotheses,
) -> FactorialFits {
    let levels = levels(cells);
    let names: Vec<&str> = cells.records.factors.iter().map(String::as_str).collect();
    let (mut fits, mut holes) = (Vec::new(), Vec::new());
    if names.is_empty() {
        return FactorialFits { fits, holes };
    }
    for (workload, metric) in cells.rows() {
        let Some(runs) = logs_of_grid(cells, &levels, workload, metric) else {
            continue;
        };
        let blocks: Vec<MachineBlock> = runs.iter().filter_map(|run| run.1).collect();
        let runs: Vec<(Vec<bool>, f64)> = runs.into_iter().map(|run| run.0).collect();
        match factorial::fit_in_blocks(&runs, &blocks, &names) {
            Ok(mut fit) if fit.effects.iter().all(|effect| effect.ratio.is_finite()) => {
                let contrasts = contrasts(&runs, &blocks, &names);
                let contrasts = images::of_contrasts(cells, (workload, metric), contrasts);
                in_blocks(&mut fit, &contrasts);
                let is_primary = primary.contains(&metric);
                let asked = fit.effects.iter().enumerate().map(|(at, effect)| {
                    let contrast = contrasts.get(at).cloned();
                    let varies = effect.ci.low < effect.ci.high;
                    let enough = contrasts.is_empty()
                        || contrast
                            .as_ref()
                            .is_some_and(|c| c.blocks.len() >= FEWEST_BLOCKS);
                    hypotheses.ask(Hypothesis {
                        contrast,
                        p_t: finite(effect.p).filter(|_| varies && enough),
                        p_equivalence: None,
                        primary: is_primary,
                    })
                });
                let asked = asked.collect();
                let cap = caps.of_all(cells, workload, metric);
                fits.push((document_factorial(cells, workload, metric, fit), asked, cap));
            }
            Err(JudgeError::MissingCell(hole)) => {
                note_hole(&mut holes, cells, (workload, metric), &hole);
            }
            Ok(_) | Err(_) => {}
        }
    }
    FactorialFits { fits, holes }
}

/// Decides the effects.
pub(crate) fn settle(
    fits: FactorialFits,
    answers: &HypothesisResults,
    options: &Options,
) -> Vec<Factorial> {
    let decided = fits.fits.into_iter().map(|(mut fit, asked, cap)| {
        for (effect, asked) in fit.effects.iter_mut().zip(asked) {
            let answer = answers.result(asked);
            let passes = |p: Option<f64>| p.is_some_and(|p| p <= options.alpha);
            let able = answer.least.is_some_and(|least| least <= options.alpha);
            effect.p_adjusted = answer.p_adjusted.or(answer.p_t_adjusted);
            let verdict = if passes(answer.p_adjusted) {
                Verdict::Established
            } else if !able && passes(answer.p_t_adjusted) {
                Verdict::Supported
            } else {
                Verdict::Undecided
            };
            effect.verdict = capped(verdict, cap, &answer, options);
            let direction = effect.ratio.partial_cmp(&1.0);
            effect.ci = effect.ci.and_then(|[low, high]| {
                ends(clipped_at(
                    Interval { low, high },
                    effect.verdict,
                    direction,
                    1.0,
                ))
            });
        }
        fit
    });
    decided.collect()
}

/// Replaces each effect by the mean of its per-block contrasts, on which its test is based.
fn in_blocks(fit: &mut assize_judge::FactorialFit, contrasts: &[Contrast]) {
    for (effect, contrast) in fit.effects.iter_mut().zip(contrasts) {
        let values: Vec<f64> = contrast.blocks.iter().flat_map(|b| b.b.clone()).collect();
        let name = effect.name.clone();
        if let Ok(found) = assize_judge::factorial::FactorialEffect::of_contrasts(name, &values) {
            *effect = found;
            fit.residual_df = values.len() - 1;
        }
    }
}

/// The machine and the block of a run.
type MachineBlock = (Option<usize>, Option<u32>);
/// The levels and log value of a run, and its block if there are blocks.
type GridRun = ((Vec<bool>, f64), Option<MachineBlock>);

/// The contrasts of each effect, one for each block that holds the whole grid once; empty if runs
/// have no blocks or no block is complete.
fn contrasts(runs: &[(Vec<bool>, f64)], blocks: &[MachineBlock], names: &[&str]) -> Vec<Contrast> {
    let mut held: BTreeMap<MachineBlock, Vec<&Vec<bool>>> = BTreeMap::new();
    for ((levels, _), &block) in runs.iter().zip(blocks) {
        held.entry(block).or_default().push(levels);
    }
    let cells = 1_usize << names.len().min(16);
    let complete = |held: &Vec<&Vec<bool>>| {
        let distinct: BTreeSet<&Vec<bool>> = held.iter().copied().collect();
        held.len() == cells && distinct.len() == cells
    };
    let sites: Vec<u64> = held
        .iter()
        .filter(|(label, held)| label.1.is_some() && complete(held))
        .map(|(label, _)| site(label.0, label.1))
        .collect();
    let Ok(effects) = factorial::block_contrasts(runs, blocks, names) else {
        return Vec::new();
    };
    let of = |values: Vec<f64>| {
        let blocks = sites
            .iter()
            .zip(values)
            .map(|(&site, value)| ContrastBlock {
                site,
                a: vec![0.0],
                b: vec![value],
            });
        Contrast {
            blocks: blocks.collect(),
            resolution: 0.0,
            relative: true,
        }
    };
    if sites.len() < 2
        || effects
            .iter()
            .any(|(_, values)| values.len() != sites.len())
    {
        return Vec::new();
    }
    effects.into_iter().map(|(_, values)| of(values)).collect()
}

/// The levels of each configuration; `None` for those outside the grid.
fn levels(cells: &Cells<'_>) -> Vec<Option<Vec<bool>>> {
    let records = cells.records;
    let of = |name: &String| {
        let configuration = records
            .configurations
            .iter()
            .find(|c| folded(&c.name) == folded(name))?;
        let level = |factor: &String| configuration.factors.get(factor).copied();
        records.factors.iter().map(level).collect()
    };
    cells.configurations.iter().map(of).collect()
}

/// The levels, log value and block of every run of the grid; `None` if fewer than two of its
/// configurations have runs, or if a value has no logarithm. If some run has no block, machines are
/// the blocks, if there are any.
fn logs_of_grid(
    cells: &Cells<'_>,
    levels: &[Option<Vec<bool>>],
    workload: usize,
    metric: usize,
) -> Option<Vec<GridRun>> {
    let mut runs = Vec::new();
    let mut configurations = 0;
    let row = || cells.row(workload, metric).flat_map(|(_, cell)| &cell.runs);
    let blocked = row().all(|reading| reading.block.is_some());
    for (configuration, cell) in cells.row(workload, metric) {
        let Some(levels) = &levels[configuration] else {
            continue;
        };
        configurations += usize::from(!cell.runs.is_empty());
        for reading in &cell.runs {
            if reading.value <= 0.0 {
                return None;
            }
            let block = reading.block.filter(|_| blocked);
            let label = (reading.machine, block);
            let label = (label != (None, None)).then_some(label);
            runs.push(((levels.clone(), reading.value.ln()), label));
        }
    }
    (configurations > 1).then_some(runs)
}

fn note_hole(holes: &mut Vec<Lint>, cells: &Cells<'_>, row: (usize, usize), hole: &str) {
    let workload = &cells.workloads[row.0];
    let detail = format!("no run with {hole}: the factors' effects are not computed");
    let known = holes
        .iter()
        .any(|lint| lint.location == *workload && lint.detail == detail);
    if !known {
        holes.push(Lint {
            code: "missing-cell".into(),
            location: workload.clone(),
            detail,
            ..Lint::default()
        });
    }
}

fn document_factorial(
    cells: &Cells<'_>,
    workload: usize,
    metric: usize,
    fit: assize_judge::FactorialFit,
) -> Factorial {
    let effects = fit.effects.iter().map(|effect| Effect {
        name: effect.name.clone(),
        ratio: effect.ratio,
        ci: ends(effect.ci),
        p: finite(effect.p),
        p_adjusted: None,
        verdict: Verdict::Undecided,
    });
    Factorial {
        workload: cells.workloads[workload].clone(),
        metric: cells.metrics[metric].name.clone(),
        unit: cells.metrics[metric].unit.clone(),
        factors: cells.records.factors.clone(),
        n: u32::try_from(fit.runs).unwrap_or(u32::MAX),
        residual_df: fit.residual_df as f64,
        effects: effects.collect(),
    }
}
