//! One comparison of two configurations: its hypothesis and its verdict.

use assize_judge::family::Contrast;
use assize_judge::{Estimate, VerdictInput, decide, equivalence, lints};

use crate::across::Generalisation;
use crate::caps::{Cap, Caps};
use crate::cells::{Cell, CellKey, Cells};
use crate::compare::{CellComparison, compare_cells};
use crate::document::{Agreement, Scale, Verdict};
use crate::family::{Hypotheses, Hypothesis, HypothesisId, HypothesisResult, HypothesisResults};
use crate::lost::LostRuns;
use crate::options::Options;
use crate::words::{finite, plain};

/// With fewer replicates per side, nothing is supported.
pub(crate) const FEWEST_SUPPORTED: u32 = 3;
/// With fewer replicates per side, nothing is equivalent.
pub(crate) const FEWEST_EQUIVALENT: u32 = 5;
/// If some runs are outliers, equivalence requires enough runs to have seen a tail of this share.
pub(crate) const TAIL: f64 = 0.05;

/// The two configurations that are compared, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConfigurationPair {
    /// The configuration under test.
    pub(crate) key: CellKey,
    pub(crate) baseline: usize,
    pub(crate) primary: bool,
    /// The ratio to test against; 1 tests whether the two differ.
    pub(crate) bound: f64,
}

/// A comparison in progress.
pub(crate) struct ComparisonRow {
    pub(crate) key: CellKey,
    pub(crate) baseline: usize,
    pub(crate) comparison: CellComparison,
    pub(crate) primary: bool,
    asked: HypothesisId,
    on_machines: Vec<HypothesisId>,
    pub(crate) cap: Option<Cap>,
    pub(crate) lost: LostRuns,
    /// Why the two cannot be equivalent, apart from their interval.
    pub(crate) tails: Option<String>,
    pub(crate) answer: HypothesisResult,
    pub(crate) verdict: Verdict,
    pub(crate) runs_needed: Option<u32>,
}

impl ComparisonRow {
    /// Registers the hypothesis about two cells; `None` if one of them is empty.
    pub(crate) fn ask(
        cells: &Cells<'_>,
        pair: ConfigurationPair,
        caps: &Caps<'_>,
        options: &Options,
        hypotheses: &mut Hypotheses,
    ) -> Option<Self> {
        let of_baseline = CellKey {
            configuration: pair.baseline,
            ..pair.key
        };
        let (a, b) = (cells.get(of_baseline)?, cells.get(pair.key)?);
        let comparison = compare_cells(cells, a, b).at_level(options.level);
        let lost = caps.lost(pair.key.workload, [pair.baseline, pair.key.configuration]);
        let tails = why_outliers(a, b, options).or_else(|| why_uneven_losses(lost));
        let p_equivalence = equivalence_p(&comparison, options).filter(|_| tails.is_none());
        let mut hypothesis = hypothesis(&comparison, p_equivalence, pair.primary);
        if pair.bound != 1.0 {
            test_against_bound(&mut hypothesis, &comparison, pair.bound);
        }
        let machines = comparison.across.iter().flat_map(|across| &across.machines);
        Some(ComparisonRow {
            key: pair.key,
            baseline: pair.baseline,
            primary: pair.primary,
            asked: hypotheses.ask(hypothesis),
            on_machines: machines
                .map(|on| hypotheses.ask(self::hypothesis(&on.comparison, None, pair.primary)))
                .collect(),
            cap: caps
                .cap_for(cells, pair.key, (a, b))
                .or_else(|| lost.cap(a, b)),
            lost,
            comparison,
            tails,
            answer: HypothesisResult::default(),
            verdict: Verdict::Undecided,
            runs_needed: None,
        })
    }

    /// Sets the verdict.
    pub(crate) fn settle(&mut self, answers: &HypothesisResults, options: &Options) {
        self.answer = answers.result(self.asked);
        if let Some(across) = &mut self.comparison.across {
            for (on, &asked) in across.machines.iter_mut().zip(&self.on_machines) {
                on.answer = answers.result(asked);
                on.verdict = verdict_of(&on.comparison, &on.answer, options);
                on.comparison.decided(on.verdict, options.level);
            }
        }
        self.verdict = capped(self.uncapped(options), self.cap, &self.answer, options);
        self.comparison.decided(self.verdict, options.level);
    }

    /// The verdict from the figures alone, without the cap.
    pub(crate) fn uncapped(&self, options: &Options) -> Verdict {
        verdict(&self.comparison, &self.answer, options)
    }
}

/// Replaces the hypothesis by one on which side of `bound` the ratio is. Equivalence is not tested
/// then.
fn test_against_bound(hypothesis: &mut Hypothesis, comparison: &CellComparison, bound: f64) {
    let estimate = comparison
        .estimate
        .map(|estimate| divided_by_bound(estimate, bound));
    hypothesis.p_equivalence = None;
    hypothesis.p_t = comparison
        .p_t
        .and(estimate)
        .and_then(|estimate| finite(estimate.p_t));
    hypothesis.contrast = hypothesis
        .contrast
        .take()
        .filter(|contrast| contrast.relative)
        .map(|contrast| shifted(contrast, bound.ln()));
}

/// Converts an estimate of the ratio to one of the ratio divided by `bound`.
fn divided_by_bound(estimate: Estimate, bound: f64) -> Estimate {
    let over = Estimate {
        effect: estimate.effect / bound,
        ..estimate
    };
    over.ratio_widened(0.0)
}

/// The contrast with `b` lowered by `by`.
fn shifted(mut contrast: Contrast, by: f64) -> Contrast {
    for block in &mut contrast.blocks {
        block.b.iter_mut().for_each(|v| *v -= by);
    }
    contrast
}

/// The hypothesis about two cells.
pub(crate) fn hypothesis(
    comparison: &CellComparison,
    p_equivalence: Option<f64>,
    primary: bool,
) -> Hypothesis {
    Hypothesis {
        contrast: comparison.contrast.clone(),
        p_t: comparison.p_t,
        p_equivalence,
        primary,
    }
}

/// p of the two one-sided tests; `None` if equivalence is impossible.
pub(crate) fn equivalence_p(comparison: &CellComparison, options: &Options) -> Option<f64> {
    let fewest = comparison.replicates()?;
    if comparison.scale == Scale::Raw
        || fewest < FEWEST_EQUIVALENT
        || comparison.too_coarse(options).is_some()
        || comparison
            .agreement()
            .is_some_and(|found| found == Agreement::Differ)
    {
        return None;
    }
    let tests = equivalence::of_ratio(comparison.estimate.as_ref()?, options.margin);
    Some(tests.ok()?.p)
}

/// Why outlying runs rule out the equivalence of two cells.
pub(crate) fn why_outliers(a: &Cell<'_>, b: &Cell<'_>, options: &Options) -> Option<String> {
    let apart = |cell: &Cell<'_>| {
        cell.by_machine().iter().any(|cell| {
            let values = cell.values();
            let middle = median(&values);
            lints::outlier(&values)
                .into_iter()
                .any(|at| (values[at] / middle - 1.0).abs() > options.margin)
        })
    };
    let fewest = u32::try_from(a.runs.len().min(b.runs.len())).ok()?;
    let missed = equivalence::share_missed(fewest, options.alpha).ok()?;
    (missed > TAIL && (apart(a) || apart(b))).then(|| {
        format!(
            "some runs are outliers, and {fewest} runs do not show their share: up to {} % of all \
             may be outliers",
            plain(100.0 * missed)
        )
    })
}

/// Why two sides that lost runs unequally cannot be equivalent.
fn why_uneven_losses(lost: LostRuns) -> Option<String> {
    lost.is_uneven()
        .then(|| "one side lost more runs than the other, and the lost values are not known".into())
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Limits a verdict to the cap of a lint. A capped difference must also pass the t test.
pub(crate) fn capped(
    verdict: Verdict,
    cap: Option<Cap>,
    answer: &HypothesisResult,
    options: &Options,
) -> Verdict {
    let Some(cap) = cap else {
        return verdict;
    };
    let by_t = answer.p_t_adjusted.is_some_and(|p| p <= options.alpha);
    match (verdict, cap.verdict) {
        (Verdict::Established, Verdict::Supported) if by_t => Verdict::Supported,
        (Verdict::Established, Verdict::Established) if by_t => Verdict::Established,
        (Verdict::Supported, Verdict::Established) => Verdict::Supported,
        (Verdict::Supported, Verdict::Supported) => Verdict::Supported,
        (Verdict::Equivalent, _) => Verdict::Equivalent,
        _ => Verdict::Undecided,
    }
}

/// The verdict of a row. If machines have no common direction, no difference is claimed, and the
/// mean of unequal effects does not show equivalence.
fn verdict(comparison: &CellComparison, answer: &HypothesisResult, options: &Options) -> Verdict {
    let word = verdict_of(comparison, answer, options);
    let differs = matches!(word, Verdict::Established | Verdict::Supported);
    if differs && let Some(across) = &comparison.across {
        return match across.generalisation(options.alpha) {
            Generalisation::LikeThese => word,
            // The kernels themselves are of interest; machines are a sample.
            Generalisation::AllOfThese if !across.kind.is_machines() => word,
            Generalisation::AllOfThese => Verdict::Supported,
            Generalisation::None => Verdict::Undecided,
        };
    }
    let alike = comparison
        .agreement()
        .is_none_or(|found| found == Agreement::Agree);
    if word == Verdict::Equivalent && !alike {
        return Verdict::Undecided;
    }
    word
}

/// The verdict on two cells, from their corrected p values.
pub(crate) fn verdict_of(
    comparison: &CellComparison,
    answer: &HypothesisResult,
    options: &Options,
) -> Verdict {
    let word = decide(VerdictInput {
        p_adjusted: answer.p_adjusted,
        p_t_adjusted: answer.p_t_adjusted.filter(|_| enough_for_t(comparison)),
        p_attainable: answer.least,
        p_equivalence: answer.p_equivalence,
        alpha: options.alpha,
    });
    match word {
        assize_judge::Decision::Established => Verdict::Established,
        assize_judge::Decision::Supported => Verdict::Supported,
        assize_judge::Decision::Equivalent => Verdict::Equivalent,
        assize_judge::Decision::Undecided => Verdict::Undecided,
    }
}

fn enough_for_t(comparison: &CellComparison) -> bool {
    let made = comparison.replicates();
    made.is_some_and(|n| n >= FEWEST_SUPPORTED)
}
