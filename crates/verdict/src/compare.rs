//! Compares two cells: computes every figure that needs no correction for multiple tests.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use assize_judge::family::{self, Contrast, ContrastBlock};
use assize_judge::welch::{self, Estimate};
use assize_judge::{Interval, Result, paired};

use crate::across::{AcrossMachines, compare_across_machines};
use crate::cells::{Cell, Cells};
use crate::document::{Agreement, Scale, TTest};
use crate::hidden::{beyond_spread, coarser, hidden_step, rounding_variance};
use crate::images;
use crate::means::{arithmetic, geometric, logs, site};
use crate::options::{LEVEL, Options};
use crate::pairs::paired_runs;
use crate::summaries::{agreeing_summary, by_summary};
use crate::words::{count_of, finite, plain};

/// The comparison of two cells; `a` is the baseline.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CellComparison {
    pub(crate) n_a: Option<u32>,
    pub(crate) n_b: Option<u32>,
    /// The number of memory images, if they are the replicates.
    pub(crate) images: Option<u32>,
    pub(crate) mean_a: Option<f64>,
    pub(crate) mean_b: Option<f64>,
    pub(crate) scale: Scale,
    /// b over a; `None` on the raw scale.
    pub(crate) ratio: Option<f64>,
    /// b minus a; raw scale only.
    pub(crate) difference: Option<f64>,
    pub(crate) ci: Option<Interval>,
    pub(crate) estimate: Option<Estimate>,
    /// The 90 % interval; for ratios only.
    pub(crate) ci90: Option<Interval>,
    pub(crate) p_t: Option<f64>,
    /// Which t test gave `p_t`, if there is one.
    pub(crate) t_test: Option<TTest>,
    /// The runs arranged for the permutation test; `None` if there is none.
    pub(crate) contrast: Option<Contrast>,
    /// The smallest uncorrected p that the permutation test can reach with this
    /// many runs.
    pub(crate) p_attainable: Option<f64>,
    /// Runs of each side in each block, if all blocks are alike.
    pub(crate) per_block: Option<u32>,
    /// The coarser step size of the two sides, if known.
    pub(crate) step: Option<f64>,
    /// The comparison on each of several machines, if the figures are pooled.
    pub(crate) across: Option<Box<AcrossMachines>>,
    /// Explanations, such as why figures are missing.
    pub(crate) because: Vec<String>,
}

impl CellComparison {
    pub(crate) fn new(scale: Scale) -> Self {
        CellComparison {
            n_a: None,
            n_b: None,
            images: None,
            mean_a: None,
            mean_b: None,
            scale,
            ratio: None,
            difference: None,
            ci: None,
            estimate: None,
            ci90: None,
            p_t: None,
            t_test: None,
            contrast: None,
            p_attainable: None,
            per_block: None,
            step: None,
            across: None,
            because: Vec::new(),
        }
    }

    /// The number of replicates of the smaller side.
    pub(crate) fn replicates(&self) -> Option<u32> {
        Some(self.images.unwrap_or(self.n_a?.min(self.n_b?)))
    }

    /// The word for a replicate.
    pub(crate) fn replicate(&self) -> &'static str {
        match self.images {
            Some(_) => "memory image",
            None => "run",
        }
    }

    /// `n` replicates per side, in words: `8 runs a side`, `8 memory images`.
    pub(crate) fn so_many(&self, n: u32) -> String {
        let each = if self.images.is_some() { "" } else { " a side" };
        format!("{}{each}", count_of(n as usize, self.replicate()))
    }

    /// The ends of `ci`, if both are finite.
    pub(crate) fn ci_ends(&self) -> Option<[f64; 2]> {
        self.ci.and_then(ends)
    }

    /// Uncorrected p of the permutation test.
    pub(crate) fn p_alone(&self, seed: u64) -> Option<f64> {
        let contrast = std::slice::from_ref(self.contrast.as_ref()?);
        let found = family::step_down(contrast, seed).ok()?;
        finite(found.tested.first()?.p)
    }

    /// Whether several machines agree; `None` with one machine.
    pub(crate) fn agreement(&self) -> Option<Agreement> {
        Some(self.across.as_ref()?.agreement())
    }

    /// A description of how the machines contradict each other, if they do.
    pub(crate) fn disagreement(&self) -> Option<String> {
        self.across.as_ref()?.disagreement()
    }

    /// The step size as a share of the baseline's mean, if it exceeds the margin: the values are
    /// then too coarse to show a difference as small as the margin.
    pub(crate) fn too_coarse(&self, options: &Options) -> Option<f64> {
        let share = self.step? / self.mean_a?.abs();
        (share > options.margin * (1.0 + 1e-9)).then_some(share)
    }

    /// Why the step size rules out equivalence, if it does.
    pub(crate) fn coarseness(&self, options: &Options) -> Option<String> {
        let share = self.too_coarse(options)?;
        Some(format!(
            "the values come in steps of {}, {} % of the baseline: too coarse for \u{b1}{} %",
            plain(self.step?),
            plain(100.0 * share),
            plain(100.0 * options.margin)
        ))
    }

    /// Whether b is higher (`Greater`) or lower than a.
    pub(crate) fn direction(&self) -> Option<Ordering> {
        match (self.ratio, self.difference) {
            (Some(ratio), _) => ratio.partial_cmp(&1.0),
            (None, Some(difference)) => difference.partial_cmp(&0.0),
            (None, None) => None,
        }
    }
}

/// The ends of an interval, if both are finite.
pub(crate) fn ends(interval: Interval) -> Option<[f64; 2]> {
    Some([finite(interval.low)?, finite(interval.high)?])
}

/// Compares `b` with `a`; both have runs or a summary. If both have runs on
/// several machines, the machine is a block.
pub(crate) fn compare_cells(cells: &Cells<'_>, a: &Cell<'_>, b: &Cell<'_>) -> CellComparison {
    if let Some(mut comparison) = compare_across_machines(cells, a, b) {
        comparison.step = coarser(a, b);
        return comparison;
    }
    let positive = a.runs.iter().chain(&b.runs).all(|run| run.value > 0.0);
    let mut comparison = if a.runs.is_empty() || b.runs.is_empty() {
        by_summary(a, b)
    } else if a.runs.len() < 2 || b.runs.len() < 2 {
        single(a, b)
    } else {
        by_runs(a, b, positive)
    };
    comparison.step = coarser(a, b);
    if agreeing_summary(a) || agreeing_summary(b) {
        comparison
            .because
            .push("the summary given beside the runs agrees with them and is not used".into());
    }
    comparison
}

/// Compares the runs on one machine, on the scale used for all machines.
pub(crate) fn by_machine_runs(a: &Cell<'_>, b: &Cell<'_>, positive: bool) -> CellComparison {
    let mut comparison = if a.runs.len() < 2 || b.runs.len() < 2 {
        single(a, b)
    } else {
        by_runs(a, b, positive)
    };
    comparison.step = coarser(a, b);
    comparison
}

/// Compares in pairs if blocks are complete, otherwise as two independent samples; if memory images
/// are shared, compares the means of each image.
fn by_runs(a: &Cell<'_>, b: &Cell<'_>, positive: bool) -> CellComparison {
    let pairs = paired_runs(a, b);
    let (in_a, in_b) = pairs.as_ref().map_or((a, b), |(a, b)| (a, b));
    let t_test = [TTest::Welch, TTest::Paired][usize::from(pairs.is_some())];
    let mut comparison = match images::means((in_a, in_b), positive) {
        Some(means) => by_images((in_a, in_b), means, positive),
        None => by_values(in_a, in_b, t_test, positive),
    };
    let alone = a.runs.len() + b.runs.len() - in_a.runs.len() - in_b.runs.len();
    if alone > 0 {
        comparison.because.push(format!(
            "{} left out, without a partner in the same block",
            count_of(alone, "run")
        ));
    }
    comparison
}

/// Compares the means of each memory image, in pairs.
fn by_images<'a>(
    (a, b): (&Cell<'a>, &Cell<'a>),
    (mut of_a, mut of_b): (Cell<'a>, Cell<'a>),
    positive: bool,
) -> CellComparison {
    let images = of_a.runs.len();
    let taken = |mut comparison: CellComparison| {
        comparison.n_a = u32::try_from(a.runs.len()).ok();
        comparison.n_b = u32::try_from(b.runs.len()).ok();
        comparison.images = u32::try_from(images).ok();
        comparison
    };
    if images < 2 {
        let mut comparison = effect_only(&of_a, &of_b, positive);
        let why = "fewer than two memory images with runs of both: no interval and no test";
        comparison.because.push(why.into());
        return taken(comparison);
    }
    // Rounding hides 1/n of the variance in a mean of n values.
    let runs_each = a.runs.len() as f64 / images as f64;
    for (runs, means) in [(a, &mut of_a), (b, &mut of_b)] {
        means.step = hidden_step(a, b, runs).map(|step| step / runs_each.sqrt());
    }
    taken(by_values(&of_a, &of_b, TTest::Paired, positive))
}

fn by_values(a: &Cell<'_>, b: &Cell<'_>, t_test: TTest, positive: bool) -> CellComparison {
    let (values_a, values_b) = (a.values(), b.values());
    let mut comparison = counted(a, b, positive);
    let steps = [
        rounding_variance(a, b, positive, a),
        rounding_variance(a, b, positive, b),
    ];
    let (estimate, x_a, x_b) = if positive {
        let (x_a, x_b) = (logs(&values_a), logs(&values_b));
        let estimate = match t_test {
            TTest::Paired => paired::ratio(&values_a, &values_b),
            _ => welch::ratio(&values_a, &values_b),
        };
        (estimate, x_a, x_b)
    } else {
        comparison
            .because
            .push("contains zero or negative values: compared as differences".into());
        let estimate = match t_test {
            TTest::Paired => paired::difference(&values_a, &values_b),
            _ => welch::difference(&values_a, &values_b),
        };
        (estimate, values_a, values_b)
    };
    let hidden = beyond_spread(steps, &x_a, &x_b, t_test);
    let added = hidden[0] / x_a.len() as f64 + hidden[1] / x_b.len() as f64;
    take_estimate(&mut comparison, estimate, t_test, added);
    let blocks = in_blocks(a, &x_a, b, &x_b);
    comparison.per_block = blocks.as_deref().and_then(even_blocks);
    let contrast = Contrast {
        blocks: blocks.unwrap_or_else(|| vec![single_block(a, x_a, x_b)]),
        resolution: 0.5 * (hidden[0] + hidden[1]),
        relative: positive,
    };
    comparison.p_attainable = finite(contrast.attainable());
    comparison.contrast = Some(contrast);
    comparison.ci = comparison.interval(LEVEL);
    comparison
}

/// Puts all runs into one block.
fn single_block(a: &Cell<'_>, x_a: Vec<f64>, x_b: Vec<f64>) -> ContrastBlock {
    let machine = a.runs.first().and_then(|run| run.machine);
    ContrastBlock {
        site: site(machine, None),
        a: x_a,
        b: x_b,
    }
}

/// The effect without a test, because one side has too few replicates.
fn effect_only(a: &Cell<'_>, b: &Cell<'_>, positive: bool) -> CellComparison {
    let mut comparison = counted(a, b, positive);
    match (comparison.mean_a, comparison.mean_b) {
        (Some(mean_a), Some(mean_b)) if positive => comparison.ratio = finite(mean_b / mean_a),
        (Some(mean_a), Some(mean_b)) => comparison.difference = finite(mean_b - mean_a),
        _ => {}
    }
    comparison.p_attainable = Some(assize_judge::permutation::attainable(
        a.runs.len(),
        b.runs.len(),
    ));
    comparison
}

fn single(a: &Cell<'_>, b: &Cell<'_>) -> CellComparison {
    let positive = a.runs.iter().chain(&b.runs).all(|r| r.value > 0.0);
    let mut comparison = effect_only(a, b, positive);
    let whose = match (a.runs.len(), b.runs.len()) {
        (1, 1) => "a single run per side",
        (1, _) => "a single run of the baseline",
        _ => "a single run",
    };
    comparison
        .because
        .push(format!("{whose}: no interval and no test"));
    comparison
}

/// Counts and means of two cells that hold runs.
pub(crate) fn counted(a: &Cell<'_>, b: &Cell<'_>, positive: bool) -> CellComparison {
    let mean = |values: &[f64]| match positive {
        true => geometric(values),
        false => arithmetic(values),
    };
    CellComparison {
        n_a: u32::try_from(a.runs.len()).ok(),
        n_b: u32::try_from(b.runs.len()).ok(),
        mean_a: mean(&a.values()).and_then(finite),
        mean_b: mean(&b.values()).and_then(finite),
        ..CellComparison::new(if positive { Scale::Log } else { Scale::Raw })
    }
}

/// A standard error below this share of the effect is rounding.
const ROUNDING: f64 = 1e-12;

/// Stores an estimate, after adding the variance that the step size hides. If nothing varies there
/// is no t test, as a few equal runs do not show that all runs would be equal.
pub(crate) fn take_estimate(
    comparison: &mut CellComparison,
    estimate: Result<Estimate>,
    t_test: TTest,
    variance: f64,
) {
    let raw = comparison.scale == Scale::Raw;
    let varies = estimate.as_ref().is_ok_and(|e| {
        let effect = if raw { e.effect } else { e.effect.ln() };
        e.standard_error > ROUNDING * effect.abs().max(e.effect.abs())
    });
    let estimate = estimate.map(|estimate| match (varies && variance > 0.0, raw) {
        (false, _) => estimate,
        (true, true) => estimate.difference_widened(variance),
        (true, false) => estimate.ratio_widened(variance),
    });
    comparison.estimate = estimate.as_ref().ok().copied();
    comparison.t_test = estimate.is_ok().then_some(t_test);
    match estimate {
        Ok(estimate) => {
            if raw {
                comparison.difference = finite(estimate.effect);
            } else {
                comparison.ratio = finite(estimate.effect);
                comparison.ci90 = Some(estimate.ci90);
            }
            comparison.ci = Some(estimate.ci);
            comparison.p_t = finite(estimate.p_t).filter(|_| varies);
        }
        Err(why) => comparison.because.push(format!("no interval: {why}")),
    }
}

/// The values by block, if every run of both cells is in a block.
pub(crate) fn in_blocks(
    a: &Cell<'_>,
    x_a: &[f64],
    b: &Cell<'_>,
    x_b: &[f64],
) -> Option<Vec<ContrastBlock>> {
    let mut blocks: BTreeMap<u64, ContrastBlock> = BTreeMap::new();
    for (cell, x, is_a) in [(a, x_a, true), (b, x_b, false)] {
        for (reading, &x) in cell.runs.iter().zip(x) {
            let site = site(reading.machine, Some(reading.block?));
            let block = blocks.entry(site).or_insert(ContrastBlock {
                site,
                a: Vec::new(),
                b: Vec::new(),
            });
            if is_a { &mut block.a } else { &mut block.b }.push(x);
        }
    }
    Some(blocks.into_values().collect())
}

/// The number of runs of each side per block, if it is the same in all blocks.
pub(crate) fn even_blocks(blocks: &[ContrastBlock]) -> Option<u32> {
    let size = blocks.first()?.a.len();
    let even = |block: &ContrastBlock| block.a.len() == size && block.b.len() == size;
    blocks
        .iter()
        .all(even)
        .then(|| u32::try_from(size).ok())
        .flatten()
}
