//! The family: all tests of a document, corrected together.

use assize_judge::family::{self, Contrast};
use assize_judge::{holm, share_alpha};

use crate::document::Family;
use crate::words::finite;

/// The share of alpha for the primary tests, if there are others.
pub const PRIMARY_SHARE: f64 = 0.8;

/// The permutation tests' share of a class's alpha if the class also has hypotheses that only the t
/// test can decide.
const PERMUTATION_SHARE: f64 = 0.9;

/// The share of alpha for tests of how runs ended, if any of them can be significant: a crash
/// matters more than a figure.
pub const OUTCOME_SHARE: f64 = 0.8;

/// The share of alpha for tests of the share of slow runs, alongside tests of metrics. It is small
/// because every metric is searched for a tail, whether or not a user asked about tails.
const RARE_SHARE: f64 = 0.1;

/// An exact test that both sides have the same share of runs with one ending.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct OutcomeHypothesis {
    pub(crate) p: f64,
    /// The smallest possible p, given the numbers of runs and how many of them ended this way.
    pub(crate) p_attainable: f64,
    /// Whether it is about slow completed runs.
    pub(crate) rare: bool,
}

/// The index of an [`OutcomeHypothesis`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutcomeHypothesisId(usize);

/// One hypothesis to test.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Hypothesis {
    /// The runs for the permutation test; `None` if there can be none.
    pub(crate) contrast: Option<Contrast>,
    /// p of the t test.
    pub(crate) p_t: Option<f64>,
    /// p of the test for equivalence.
    pub(crate) p_equivalence: Option<f64>,
    /// Whether it was declared primary before the data were seen.
    pub(crate) primary: bool,
}

/// The result of testing a [`Hypothesis`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct HypothesisResult {
    /// Uncorrected p of the permutation test.
    pub(crate) p: Option<f64>,
    /// p of the permutation test, corrected for the family.
    pub(crate) p_adjusted: Option<f64>,
    /// p of the t test, corrected for the family.
    pub(crate) p_t_adjusted: Option<f64>,
    /// p of the test for equivalence, corrected for the family.
    pub(crate) p_equivalence: Option<f64>,
    /// The smallest `p_adjusted` that the design allows if only hypotheses of this class are
    /// rejected; `None` without a permutation test.
    pub(crate) least: Option<f64>,
    /// The alpha of a simultaneous interval: the class's alpha divided by its number of tests.
    pub(crate) alone: f64,
}

/// All hypotheses of a document. Register all of them, then call [`Hypotheses::answer`] once.
#[derive(Debug, Default)]
pub(crate) struct Hypotheses(Vec<Hypothesis>, Vec<OutcomeHypothesis>);

/// The index of a hypothesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HypothesisId(usize);

/// The results of all hypotheses.
pub(crate) struct HypothesisResults {
    answers: Vec<HypothesisResult>,
    outcomes: Vec<Option<f64>>,
    /// The level of one test of how runs ended, and of one test of slow runs.
    pub(crate) outcome_alone: [f64; 2],
    pub(crate) families: Vec<Family>,
}

impl HypothesisResults {
    pub(crate) fn result(&self, asked: HypothesisId) -> HypothesisResult {
        self.answers[asked.0]
    }

    /// The corrected p of an exact test; `None` if it cannot reach alpha.
    pub(crate) fn outcome_p(&self, asked: OutcomeHypothesisId) -> Option<f64> {
        self.outcomes[asked.0]
    }
}

impl Hypotheses {
    pub(crate) fn ask(&mut self, hypothesis: Hypothesis) -> HypothesisId {
        self.0.push(hypothesis);
        HypothesisId(self.0.len() - 1)
    }

    /// Registers a test of how runs ended. These tests form a class that is tested before the
    /// others.
    pub(crate) fn ask_outcome(&mut self, hypothesis: OutcomeHypothesis) -> OutcomeHypothesisId {
        self.1.push(hypothesis);
        OutcomeHypothesisId(self.1.len() - 1)
    }

    /// Tests all hypotheses, at `alpha` for the whole document. The primary
    /// hypotheses are one family and the others another; [`share_alpha`] explains
    /// how they share alpha.
    pub(crate) fn answer(self, alpha: f64, seed: u64) -> HypothesisResults {
        let hypotheses = self.0;
        let of = |primary: bool| -> Vec<usize> {
            let all = 0..hypotheses.len();
            all.filter(|&at| hypotheses[at].primary == primary && tests(&hypotheses[at]))
                .collect()
        };
        let classes = [of(true), of(false)];
        let halves = |both: bool| match both {
            true => [PRIMARY_SHARE, 1.0 - PRIMARY_SHARE],
            false => [1.0, 1.0],
        };
        let shares = halves(classes.iter().all(|class| !class.is_empty()));
        // If no permutation test of a class can reach alpha, the other class gets all of alpha.
        let able = |class: &Vec<usize>| class.iter().any(|&at| is_able(&hypotheses[at], alpha));
        let of_permutation = halves(classes.iter().all(able));
        let mut answers = vec![HypothesisResult::default(); hypotheses.len()];
        let mut families = Vec::new();
        for (at, class) in classes.iter().enumerate() {
            let alone = alpha * shares[at] / class.len().max(1) as f64;
            for &hypothesis in class {
                answers[hypothesis].alone = alone;
            }
            families.extend(permute(
                &hypotheses,
                class,
                at == 0,
                of_permutation[at] * permutation_share(&hypotheses, class, alpha),
                alpha,
                seed,
                &mut answers,
            ));
        }
        let by_t = by_holm(&hypotheses, &classes, |hypothesis| hypothesis.p_t);
        let by_t = share(&classes, PRIMARY_SHARE, &by_t);
        let equal = by_holm(&hypotheses, &classes, |hypothesis| hypothesis.p_equivalence);
        let equal = share(&classes, PRIMARY_SHARE, &equal);
        let differs = differences(&hypotheses, &classes, &answers, alpha);
        for (at, answer) in answers.iter_mut().enumerate() {
            let able = answer.p_adjusted.is_some();
            answer.p_adjusted = differs[at].filter(|_| able);
            answer.p_t_adjusted = if able { by_t[at] } else { differs[at] };
            answer.p_equivalence = equal[at];
        }
        beside_outcomes(&self.1, answers, families, alpha)
    }
}

/// Shares alpha between the tests of slow runs and those of metrics, and then between these and the
/// tests of how runs ended. Tests that cannot reach their share of alpha cost nothing: too few
/// failed runs do not change the other results (Tarone 1990).
fn beside_outcomes(
    hypotheses: &[OutcomeHypothesis],
    answers: Vec<HypothesisResult>,
    families: Vec<Family>,
    alpha: f64,
) -> HypothesisResults {
    let mut all = HypothesisResults {
        answers,
        outcomes: vec![None; hypotheses.len()],
        outcome_alone: [0.0; 2],
        families,
    };
    for (rare, share, least) in [(true, RARE_SHARE, RARE_SHARE), (false, OUTCOME_SHARE, 1.0)] {
        let able = (0..hypotheses.len()).filter(|&at| {
            hypotheses[at].rare == rare && hypotheses[at].p_attainable <= least * alpha
        });
        all.reserve_alpha(&able.collect::<Vec<_>>(), hypotheses, rare, share, alpha);
    }
    all
}

impl HypothesisResults {
    /// Gives a class of exact tests its share of alpha, and corrects the results so far for that.
    fn reserve_alpha(
        &mut self,
        class: &[usize],
        hypotheses: &[OutcomeHypothesis],
        rare: bool,
        share: f64,
        alpha: f64,
    ) {
        let p: Vec<f64> = class.iter().map(|&at| hypotheses[at].p).collect();
        let first = holm(&p);
        let decisive = self.answers.iter();
        let decisive = decisive.filter_map(|one| one.p_adjusted.or(one.p_t_adjusted));
        let decisive: Vec<f64> = decisive
            .chain(self.outcomes.iter().flatten().copied())
            .collect();
        let own = if decisive.is_empty() { 1.0 } else { share };
        self.outcome_alone[usize::from(rare)] = alpha * own / class.len().max(1) as f64;
        if class.is_empty() {
            return;
        }
        let left = 1.0 - share;
        self.outcome_alone[1] *= if rare { 1.0 } else { left };
        type PField = fn(&mut HypothesisResult) -> &mut Option<f64>;
        let fields: [PField; 3] = [
            |one| &mut one.p_adjusted,
            |one| &mut one.p_t_adjusted,
            |one| &mut one.p_equivalence,
        ];
        for field in fields {
            correct_for_reserved(&first, share, self.answers.iter_mut().map(field));
        }
        correct_for_reserved(&first, share, self.outcomes.iter_mut());
        for answer in &mut self.answers {
            answer.alone *= left;
            answer.least = answer.least.map(|least| (least / left).min(1.0));
        }
        self.families
            .iter_mut()
            .for_each(|family| family.alpha *= left);
        let (adjusted, _) = share_alpha(&first, &decisive, share);
        for (&at, p) in class.iter().zip(adjusted) {
            self.outcomes[at] = Some(p);
        }
    }
}

/// Corrects p values for a class that is tested before them.
fn correct_for_reserved<'p>(
    first: &[f64],
    share: f64,
    all: impl Iterator<Item = &'p mut Option<f64>>,
) {
    let there: Vec<&mut f64> = all.flatten().collect();
    let before: Vec<f64> = there.iter().map(|p| **p).collect();
    let (_, shared) = share_alpha(first, &before, share);
    there
        .into_iter()
        .zip(shared)
        .for_each(|(p, shared)| *p = shared);
}

fn tests(hypothesis: &Hypothesis) -> bool {
    hypothesis.contrast.is_some() || hypothesis.p_t.is_some() || hypothesis.p_equivalence.is_some()
}

/// The share of a class's alpha for its permutation tests.
fn permutation_share(hypotheses: &[Hypothesis], class: &[usize], alpha: f64) -> f64 {
    let of_class = || class.iter().map(|&at| &hypotheses[at]);
    let able = of_class().any(|one| is_able(one, alpha));
    let by_t = of_class().any(|one| one.p_t.is_some() && !is_able(one, alpha));
    if able && by_t { PERMUTATION_SHARE } else { 1.0 }
}

/// For each hypothesis, the p that decides whether there is a difference: from the permutation test
/// if that can reach alpha, otherwise from the t test. Within each class the two kinds of tests
/// share alpha, and the classes share alpha between them.
fn differences(
    hypotheses: &[Hypothesis],
    classes: &[Vec<usize>; 2],
    answers: &[HypothesisResult],
    alpha: f64,
) -> Vec<Option<f64>> {
    let mut within = vec![None; hypotheses.len()];
    for class in classes {
        let (able, unable): (Vec<usize>, Vec<usize>) = class
            .iter()
            .partition(|&&at| is_able(&hypotheses[at], alpha));
        let mut p = by_holm(hypotheses, std::slice::from_ref(&unable), |hypothesis| {
            hypothesis.p_t
        });
        for &at in &able {
            p[at] = answers[at].p_adjusted;
        }
        let shared = share(&[able, unable], PERMUTATION_SHARE, &p);
        for &at in class {
            within[at] = shared[at];
        }
    }
    share(classes, PRIMARY_SHARE, &within)
}

/// Whether the permutation test, uncorrected, can reach alpha.
fn is_able(hypothesis: &Hypothesis, alpha: f64) -> bool {
    let contrast = hypothesis.contrast.as_ref();
    contrast.is_some_and(|contrast| contrast.attainable() <= alpha)
}

/// Tests one class by step-down maxT. A hypothesis that cannot reach alpha even uncorrected is
/// tested separately and does not affect the others (Tarone 1990).
fn permute(
    hypotheses: &[Hypothesis],
    class: &[usize],
    primary: bool,
    share: f64,
    alpha: f64,
    seed: u64,
    answers: &mut [HypothesisResult],
) -> Option<Family> {
    let mut able: Vec<usize> = Vec::new();
    let mut contrasts: Vec<Contrast> = Vec::new();
    for &at in class {
        let Some(contrast) = &hypotheses[at].contrast else {
            continue;
        };
        let least = contrast.attainable();
        answers[at].least = finite((least / share).min(1.0));
        if is_able(&hypotheses[at], alpha) {
            able.push(at);
            contrasts.push(contrast.clone());
        } else if let Ok(found) = family::step_down(std::slice::from_ref(contrast), seed) {
            answers[at].p = found.tested.first().and_then(|tested| finite(tested.p));
        }
    }
    let found = family::step_down(&contrasts, seed).ok()?;
    for (&at, tested) in able.iter().zip(&found.tested) {
        answers[at].p = finite(tested.p);
        answers[at].p_adjusted = finite(tested.p_adjusted);
    }
    let least = found.tested.iter().map(|tested| tested.p_attainable);
    (!able.is_empty()).then(|| Family {
        primary,
        tests: u32::try_from(able.len()).unwrap_or(u32::MAX),
        alpha: alpha * share,
        relabelings: found.relabelings,
        visited: found.draws,
        exact: found.exact,
        p_attainable: least.fold(1.0, f64::min).min(1.0),
    })
}

/// Holm-adjusted p of the hypotheses, by class.
fn by_holm(
    hypotheses: &[Hypothesis],
    classes: &[Vec<usize>],
    pick: impl Fn(&Hypothesis) -> Option<f64>,
) -> Vec<Option<f64>> {
    let mut all = vec![None; hypotheses.len()];
    for class in classes {
        let p: Vec<Option<f64>> = class.iter().map(|&at| pick(&hypotheses[at])).collect();
        for (&at, p) in class.iter().zip(where_present(&p, holm)) {
            all[at] = p;
        }
    }
    all
}

/// Shares alpha between two classes, of which the first gets `first_share`. `p` and the result are
/// indexed by hypothesis.
fn share(classes: &[Vec<usize>; 2], first_share: f64, p: &[Option<f64>]) -> Vec<Option<f64>> {
    let present = |class: &[usize]| -> (Vec<usize>, Vec<f64>) {
        let there = class.iter().filter_map(|&at| Some((at, p[at]?)));
        there.unzip()
    };
    let (first, second) = (present(&classes[0]), present(&classes[1]));
    let (one, other) = share_alpha(&first.1, &second.1, first_share);
    let mut all = vec![None; p.len()];
    for (&at, p) in first.0.iter().zip(one).chain(second.0.iter().zip(other)) {
        all[at] = Some(p);
    }
    all
}

/// Applies a correction to the existing values; `None` values are not in the family.
fn where_present(p: &[Option<f64>], correct: impl Fn(&[f64]) -> Vec<f64>) -> Vec<Option<f64>> {
    let present: Vec<f64> = p.iter().flatten().copied().collect();
    let mut corrected = correct(&present).into_iter();
    p.iter().map(|p| p.and_then(|_| corrected.next())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assize_judge::family::ContrastBlock;

    /// One run of each label in each block, with b higher than a by `effect`.
    fn pairs(blocks: u64, effect: f64, noise: u64) -> Contrast {
        let of = |block: u64| ContrastBlock {
            site: block,
            a: vec![0.0],
            b: vec![effect + 0.01 * ((block * 7 + noise * 13) % 5) as f64 - 0.02],
        };
        Contrast {
            blocks: (0..blocks).map(of).collect(),
            resolution: 0.0,
            relative: true,
        }
    }

    fn ask(hypotheses: &mut Hypotheses, contrast: Contrast, primary: bool) -> HypothesisId {
        hypotheses.ask(Hypothesis {
            contrast: Some(contrast),
            primary,
            ..Hypothesis::default()
        })
    }

    #[test]
    fn forty_others_do_not_cost_a_primary_one_its_verdict() {
        let mut hypotheses = Hypotheses::default();
        let one = ask(&mut hypotheses, pairs(6, 1.0, 0), true);
        let others: Vec<HypothesisId> = (1..=40)
            .map(|noise| ask(&mut hypotheses, pairs(6, 0.0, noise), false))
            .collect();
        let answers = hypotheses.answer(0.05, 0);
        assert_eq!(answers.result(one).p_adjusted, Some(2.0 / 64.0 / 0.8));
        assert!(
            others
                .iter()
                .all(|&at| answers.result(at).p_adjusted > Some(0.05))
        );
        assert_eq!(answers.families.len(), 2);
    }

    #[test]
    fn crashes_are_tested_before_numbers_and_leave_them_alpha() {
        let ask_crashes = |hypotheses: &mut Hypotheses, p, p_attainable| {
            hypotheses.ask_outcome(OutcomeHypothesis {
                p,
                p_attainable,
                rare: false,
            })
        };
        let answer = |p: f64, p_attainable: f64| {
            let mut hypotheses = Hypotheses::default();
            let number = ask(&mut hypotheses, pairs(8, 1.0, 0), true);
            let crashes = ask_crashes(&mut hypotheses, p, p_attainable);
            let answers = hypotheses.answer(0.05, 0);
            (
                answers.result(number).p_adjusted,
                answers.outcome_p(crashes),
            )
        };
        let alone = 2.0 / 256.0;
        // One crash cannot be significant, so results are the same as without it.
        assert_eq!(answer(1.0, 1.0), (Some(alone), None));
        // Crashes on both sides: the metric gets only a fifth of alpha.
        let (number, crashes) = answer(0.5, 0.001);
        assert!((number.unwrap() - alone / 0.2).abs() < 1e-12);
        assert_eq!(crashes, Some(0.5));
        // Crashes that are rejected pass all of alpha to the metric.
        let (number, crashes) = answer(0.001, 0.001);
        assert_eq!((number, crashes), (Some(alone), Some(0.001 / 0.8)));
    }

    #[test]
    fn slow_runs_are_tested_at_a_tenth_beside_numbers_and_below_crashes() {
        let answer = |rare: f64, crashes: Option<f64>| {
            let mut hypotheses = Hypotheses::default();
            let number = ask(&mut hypotheses, pairs(8, 1.0, 0), true);
            let mut exact = |p, rare| {
                hypotheses.ask_outcome(OutcomeHypothesis {
                    p,
                    p_attainable: 0.001,
                    rare,
                })
            };
            let slow = exact(rare, true);
            crashes.map(|p| exact(p, false));
            let answers = hypotheses.answer(0.05, 0);
            (
                answers.result(number).p_adjusted.unwrap(),
                answers.outcome_p(slow).unwrap(),
            )
        };
        let alone = 2.0 / 256.0;
        let close = |(a, b): (f64, f64), (c, d): (f64, f64)| {
            assert!(
                (a - c).abs() < 1e-12 && (b - d).abs() < 1e-12,
                "{a} {b}, {c} {d}"
            );
        };
        // A metric that is rejected at nine tenths of alpha passes all of alpha to the slow runs.
        close(answer(0.03, None), (alone / 0.9, 0.03));
        close(answer(0.001, None), (alone / 0.9, alone / 0.9));
        // Crashes that are not rejected take four fifths from both.
        let both = alone / 0.9 / 0.2;
        close(answer(0.001, Some(0.5)), (both, both));
    }

    #[test]
    fn what_cannot_reach_alpha_costs_the_others_nothing() {
        let mut hypotheses = Hypotheses::default();
        let few = ask(&mut hypotheses, pairs(3, 1.0, 0), false);
        let many = ask(&mut hypotheses, pairs(8, 1.0, 0), false);
        let answers = hypotheses.answer(0.05, 0);
        assert_eq!(answers.result(few).p_adjusted, None);
        assert_eq!(answers.result(few).p, Some(0.25));
        assert_eq!(answers.result(many).p_adjusted, Some(2.0 / 256.0));
    }
}
