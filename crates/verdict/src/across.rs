//! Compares two cells on several machines: on each machine, and pooled over all
//! of them.

use assize_bundle::Across;
use assize_judge::Estimate;
use assize_judge::family::{Contrast, ContrastBlock};
use assize_judge::pooled::{self, Heterogeneity, RandomEffects, Study};

use crate::cells::{Cell, Cells};
use crate::compare::{CellComparison, by_machine_runs, counted, even_blocks};
use crate::document::{Agreement, Scale, TTest, Verdict};
use crate::family::HypothesisResult;
use crate::words::{and_list, finite, with_interval};

/// Level of Welch's test for differences between machines. It is above 0.05 because with few
/// machines the test has little power.
const DIFFER: f64 = 0.1;
/// Relative spread below which values are equal up to rounding.
const ROUNDING: f64 = 1e-12;
/// Noise-free effects that are closer than this are equal.
const SAME: f64 = 1e-12;

/// The comparison of two cells on several machines.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AcrossMachines {
    pub(crate) kind: Across,
    /// In the order of their first appearance; two or more.
    pub(crate) machines: Vec<MachineResult>,
    /// The pooled result; `None` unless every machine has an effect with a
    /// standard error.
    pub(crate) together: Option<(Heterogeneity, RandomEffects)>,
}

/// The comparison on one machine.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MachineResult {
    pub(crate) machine: String,
    pub(crate) comparison: CellComparison,
    /// Its weight in the pooled effect.
    pub(crate) weight: Option<f64>,
    /// The p values on this machine, set once the family has been tested.
    pub(crate) answer: HypothesisResult,
    /// The verdict on this machine alone, set once the family has been tested.
    pub(crate) verdict: Verdict,
}

/// To which machines a difference generalises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Generalisation {
    /// To machines like these: the random-effects interval excludes "no
    /// difference".
    LikeThese,
    /// To all of these machines: each of them shows the difference in its own runs.
    AllOfThese,
    /// To fewer than all of these machines.
    None,
}

impl MachineResult {
    /// Whether the runs vary; without variation there is no t test.
    fn varies(&self) -> bool {
        self.comparison.p_t.is_some()
    }

    /// The p of the effect on this machine alone: from the permutation test, or from the t test if
    /// there are too few runs for the permutation test to reach `alpha`.
    fn p_alone(&self, alpha: f64) -> Option<f64> {
        match self.comparison.p_attainable {
            Some(least) if least <= alpha => self.answer.p,
            _ => self.comparison.p_t,
        }
    }

    /// Name and effect with interval: `name (0.93 [0.91, 0.95])`.
    fn figures(&self) -> String {
        let effect = self.comparison.ratio.or(self.comparison.difference);
        effect.map_or_else(
            || self.machine.clone(),
            |effect| {
                let figures = with_interval(effect, self.comparison.ci_ends());
                format!("{} ({figures})", self.machine)
            },
        )
    }
}

impl AcrossMachines {
    /// Whether the effects on the machines agree in direction and size.
    pub(crate) fn agreement(&self) -> Agreement {
        let [up, down] = self.sides();
        if !up.is_empty() && !down.is_empty() {
            return Agreement::Opposite;
        }
        let differ = match &self.together {
            Some((heterogeneity, _)) => heterogeneity.p_welch <= DIFFER,
            None => self.unequal(),
        };
        if differ {
            Agreement::Differ
        } else {
            Agreement::Agree
        }
    }

    /// The machines to which a difference generalises. The permutation test over all runs only
    /// shows that some machine has an effect. All of them have one if the largest of their p values
    /// is small enough (Benjamini and Heller 2008, all of k). Machines like these share a direction
    /// if the interval of Hartung, Knapp, Sidik and Jonkman excludes "no difference".
    pub(crate) fn generalisation(&self, alpha: f64) -> Generalisation {
        if self.agreement() == Agreement::Opposite {
            return Generalisation::None;
        }
        if let Some((_, random)) = &self.together
            && !random.ci.contains(0.0)
        {
            return Generalisation::LikeThese;
        }
        let shown = |way: Option<std::cmp::Ordering>| {
            self.machines.iter().all(|on| {
                on.comparison.direction() == way && on.p_alone(alpha).is_some_and(|p| p <= alpha)
            })
        };
        let first = self
            .machines
            .first()
            .and_then(|on| on.comparison.direction());
        if first != Some(std::cmp::Ordering::Equal) && first.is_some() && shown(first) {
            Generalisation::AllOfThese
        } else {
            Generalisation::None
        }
    }

    /// The machines whose own runs establish or support the effect: first those where it is
    /// positive, then those where it is negative.
    fn sides(&self) -> [Vec<&MachineResult>; 2] {
        let shows = |way: std::cmp::Ordering| {
            let shown = self.machines.iter().filter(|on| {
                matches!(on.verdict, Verdict::Established | Verdict::Supported)
                    && on.comparison.direction() == Some(way)
            });
            shown.collect()
        };
        [
            shows(std::cmp::Ordering::Greater),
            shows(std::cmp::Ordering::Less),
        ]
    }

    /// Whether effects without noise differ between machines.
    fn unequal(&self) -> bool {
        let effects: Vec<f64> = self.machines.iter().filter_map(effect).collect();
        let of = |pick: fn(f64, f64) -> f64| effects.iter().copied().reduce(pick);
        let noise_free = self
            .machines
            .iter()
            .all(|on| on.comparison.estimate.is_some() && !on.varies());
        match (of(f64::min), of(f64::max)) {
            (Some(least), Some(most)) => noise_free && most - least > SAME,
            _ => false,
        }
    }

    /// `machines disagree: higher on a (…), lower on b (…)`; `None` if no machines contradict each
    /// other.
    pub(crate) fn disagreement(&self) -> Option<String> {
        let [up, down] = self.sides();
        if up.is_empty() || down.is_empty() {
            return None;
        }
        let named = |side: &[&MachineResult]| {
            let names: Vec<String> = side.iter().map(|on| on.figures()).collect();
            and_list(&names)
        };
        Some(format!(
            "{} disagree: higher on {}, lower on {}",
            self.kind.plural(),
            named(&up),
            named(&down)
        ))
    }

    /// The number of machines on which the effect is established or supported by
    /// their own runs, in the direction of the pooled effect.
    pub(crate) fn machines_showing(&self, pooled: &CellComparison) -> u32 {
        let [up, down] = self.sides();
        let count = match pooled.direction() {
            Some(std::cmp::Ordering::Greater) => up.len(),
            Some(std::cmp::Ordering::Less) => down.len(),
            _ => 0,
        };
        u32::try_from(count).unwrap_or(u32::MAX)
    }
}

/// The effect on the scale on which effects are averaged: ln ratio, or difference.
fn effect(on: &MachineResult) -> Option<f64> {
    match on.comparison.scale {
        Scale::Raw => on.comparison.difference,
        Scale::Log | Scale::Summary => on.comparison.ratio.map(f64::ln),
    }
}

/// Compares `b` with `a`, with the machine as block; `None` if fewer than two
/// machines have runs of both.
pub(crate) fn compare_across_machines(
    cells: &Cells<'_>,
    a: &Cell<'_>,
    b: &Cell<'_>,
) -> Option<CellComparison> {
    let (in_a, in_b) = (a.machines(), b.machines());
    let both: Vec<usize> = in_a.intersection(&in_b).copied().collect();
    if both.len() < 2 {
        return None;
    }
    let of_all = |of: &dyn Fn(&Cell<'_>) -> bool| {
        both.iter()
            .all(|&m| of(&a.on_machine(Some(m))) && of(&b.on_machine(Some(m))))
    };
    let positive = of_all(&|cell| cell.runs.iter().all(|run| run.value > 0.0));
    let parts: Vec<(Cell<'_>, Cell<'_>)> = both
        .iter()
        .map(|&machine| (a.on_machine(Some(machine)), b.on_machine(Some(machine))))
        .collect();
    let mut machines: Vec<MachineResult> = both
        .iter()
        .zip(&parts)
        .map(|(&machine, (a, b))| MachineResult {
            machine: cells.machines[machine].clone(),
            comparison: by_machine_runs(a, b, positive),
            weight: None,
            answer: HypothesisResult::default(),
            verdict: Verdict::Undecided,
        })
        .collect();
    let kind = cells.records.across;
    let mut all = pooled_comparison(&parts, &mut machines, positive, kind);
    let alone: Vec<&str> = in_a
        .symmetric_difference(&in_b)
        .map(|&machine| cells.machines[machine].as_str())
        .collect();
    if !alone.is_empty() {
        all.because.push(format!(
            "{} left out: no runs of both configurations there",
            and_list(&alone)
        ));
    }
    if let Some(across) = &mut all.across {
        across.machines = machines;
    }
    Some(all)
}

/// The comparison pooled over all machines.
fn pooled_comparison(
    parts: &[(Cell<'_>, Cell<'_>)],
    machines: &mut [MachineResult],
    positive: bool,
    kind: Across,
) -> CellComparison {
    let mut of_a = Cell::default();
    let mut of_b = Cell::default();
    for (a, b) in parts {
        of_a.runs.extend(&a.runs);
        of_b.runs.extend(&b.runs);
    }
    let mut all = counted(&of_a, &of_b, positive);
    let sum = |pick: fn(&CellComparison) -> Option<u32>| {
        let counts = machines.iter().map(|on| pick(&on.comparison));
        counts.sum::<Option<u32>>()
    };
    (all.n_a, all.n_b) = (sum(|w| w.n_a), sum(|w| w.n_b));
    if machines.iter().any(|on| on.comparison.images.is_some()) {
        all.images = sum(CellComparison::replicates);
    }
    if !positive {
        all.because
            .push("contains zero or negative values: compared as differences".into());
    }
    let mut both = None;
    match pooled_effects(machines, kind) {
        Ok((fixed, shares, heterogeneity, random)) => {
            for (on, share) in machines.iter_mut().zip(shares) {
                on.weight = Some(share);
            }
            store_pooled_effect(&mut all, fixed, positive);
            both = Some((heterogeneity, random));
        }
        Err(why) => {
            store_unweighted_mean(&mut all, machines, positive);
            all.because.push(format!("no pooled interval: {why}"));
        }
    }
    all.contrast = contrast(machines);
    let blocks = all.contrast.as_ref().map_or(&[][..], |all| &all.blocks);
    all.per_block = even_blocks(blocks).filter(|_| blocks.len() > parts.len());
    all.p_attainable = all
        .contrast
        .as_ref()
        .and_then(|all| finite(all.attainable()));
    all.across = Some(Box::new(AcrossMachines {
        kind,
        machines: Vec::new(),
        together: both,
    }));
    all
}

type PooledEffects = (Estimate, Vec<f64>, Heterogeneity, RandomEffects);

/// The effects pooled over all machines, or why there are none.
fn pooled_effects(machines: &[MachineResult], kind: Across) -> Result<PooledEffects, String> {
    let one = format!("one of the {}", kind.plural());
    let studies: Option<Vec<Study>> = machines.iter().map(study).collect();
    match &studies {
        Some(_) if !machines.iter().all(MachineResult::varies) => {
            Err(format!("no run varies on {one}"))
        }
        Some(studies) => pool(studies),
        None => Err(format!("on {one} a configuration has fewer than two runs")),
    }
}

fn pool(studies: &[Study]) -> Result<PooledEffects, String> {
    let all = || -> assize_judge::Result<PooledEffects> {
        Ok((
            pooled::fixed(studies)?,
            pooled::shares(studies)?,
            pooled::heterogeneity(studies)?,
            pooled::random(studies)?,
        ))
    };
    all().map_err(|why| why.to_string())
}

fn study(on: &MachineResult) -> Option<Study> {
    let estimate = on.comparison.estimate?;
    Some(Study {
        effect: effect(on)?,
        standard_error: estimate.standard_error,
        df: estimate.df,
    })
}

/// Stores the pooled effect, as a ratio or a difference.
fn store_pooled_effect(all: &mut CellComparison, fixed: Estimate, positive: bool) {
    let estimate = if positive {
        fixed.exponentiated()
    } else {
        fixed
    };
    if positive {
        all.ratio = finite(estimate.effect);
        all.ci90 = Some(estimate.ci90);
    } else {
        all.difference = finite(estimate.effect);
    }
    all.ci = Some(estimate.ci);
    all.p_t = finite(estimate.p_t);
    all.t_test = Some(TTest::Pooled);
    all.estimate = Some(estimate);
}

/// Stores the unweighted mean of the machines' effects, if weights cannot be computed.
fn store_unweighted_mean(all: &mut CellComparison, machines: &[MachineResult], positive: bool) {
    let effects: Vec<f64> = machines.iter().filter_map(effect).collect();
    if effects.is_empty() {
        return;
    }
    let mean = effects.iter().sum::<f64>() / effects.len() as f64;
    if positive {
        all.ratio = finite(mean.exp());
    } else {
        all.difference = finite(mean);
    }
}

/// The runs of all machines for the permutation test. Values are centred on the mean of their block
/// (Hodges and Lehmann 1962) and divided by the machine's variance around these means. Neither
/// depends on the labels, so the test is exact, and a noisy machine does not hide a quiet one.
/// Machines without variation are left out; `None` if no machine varies.
fn contrast(machines: &[MachineResult]) -> Option<Contrast> {
    let mut all = Contrast {
        blocks: Vec::new(),
        resolution: 0.0,
        relative: false,
    };
    for on in machines {
        let Some(contrast) = &on.comparison.contrast else {
            continue;
        };
        let (centred, most) = centred(contrast);
        let values = || {
            centred
                .iter()
                .flat_map(|block| block.a.iter().chain(&block.b))
        };
        let n = values().count().max(1) as f64;
        let variance = values().map(|v| v * v).sum::<f64>() / n;
        // The rounding error of equal values is not variation.
        if variance.sqrt() <= ROUNDING * most {
            continue;
        }
        let scaled = |values: Vec<f64>| values.into_iter().map(|v| v / variance).collect();
        all.blocks
            .extend(centred.into_iter().map(|block| ContrastBlock {
                site: block.site,
                a: scaled(block.a),
                b: scaled(block.b),
            }));
    }
    (!all.blocks.is_empty()).then_some(all)
}

/// The blocks that hold both labels, centred on their means, and the largest
/// absolute value.
fn centred(contrast: &Contrast) -> (Vec<ContrastBlock>, f64) {
    let mut most = 0.0_f64;
    let both = |block: &&ContrastBlock| !block.a.is_empty() && !block.b.is_empty();
    let blocks = contrast.blocks.iter().filter(both).map(|block| {
        let values = || block.a.iter().chain(&block.b);
        let mean = values().sum::<f64>() / values().count() as f64;
        most = values().fold(most, |most, v| most.max(v.abs()));
        let around = |values: &[f64]| values.iter().map(|v| v - mean).collect();
        ContrastBlock {
            site: block.site,
            a: around(&block.a),
            b: around(&block.b),
        }
    });
    let blocks = blocks.collect();
    (blocks, most)
}
