//! How runs ended: counts endings, compares them by exact tests, and finds the runs without
//! metrics.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use assize_bundle::Run;
use assize_bundle::kernel_log::{Complaint, Phase, leading};
use assize_judge::counts::{self, RunShare};

use crate::baselines::Baselines;
use crate::causes::{one_sided, signatures};
use crate::cells::Cells;
use crate::document::{OutcomeComparison, OutcomePairs, OutcomeTest, RunEnd, Tail, Verdict};
use crate::family::{Hypotheses, HypothesisResults, OutcomeHypothesis, OutcomeHypothesisId};
use crate::image_clusters::{Image, ImageClusters};
use crate::options::Options;

/// A block: machine and number.
type Block<'a> = (Option<&'a str>, Option<u32>);

/// One run and how it ended; `end` is `None` for a normal end.
pub(crate) struct RunEnding<'a> {
    pub(crate) workload: usize,
    pub(crate) configuration: usize,
    pub(crate) machine: Option<&'a str>,
    pub(crate) block: Option<u32>,
    pub(crate) image: Option<u32>,
    pub(crate) seed: Option<u64>,
    pub(crate) order: u32,
    pub(crate) end: Option<RunEnd>,
    pub(crate) complaints: Vec<Complaint>,
    pub(crate) why: Cow<'a, str>,
    /// The signature of runs that failed for the same cause.
    pub(crate) signature: String,
}

impl<'a> RunEnding<'a> {
    /// A run that completed normally.
    pub(crate) fn completed(run: &'a Run, workload: usize, configuration: usize) -> RunEnding<'a> {
        RunEnding {
            workload,
            configuration,
            machine: run.machine.as_deref(),
            block: run.block,
            image: run.image,
            seed: run.seed,
            order: run.order,
            end: None,
            complaints: Vec::new(),
            why: Cow::Borrowed(""),
            signature: String::new(),
        }
    }

    /// Whether the run ended in this way; `None` if unknown: a run that was cut off might have had
    /// a warning later.
    pub(crate) fn ended(&self, end: RunEnd) -> Option<bool> {
        let Some(phases) = end.phases() else {
            return Some(self.end == Some(end));
        };
        let warned = self.warnings(phases).next().is_some();
        let completed = self.end.is_none_or(RunEnd::is_completed);
        (warned || completed).then_some(warned)
    }

    /// The kernel's complaints in these phases, up to the first that was fatal to the run.
    fn warnings(&self, phases: &'static [Phase]) -> impl Iterator<Item = &Complaint> {
        let completed = self.end.is_none_or(RunEnd::is_completed);
        let before = self.complaints.iter();
        let before = before.take_while(move |one| completed || !one.kind.is_fatal());
        before.filter(|one| phases.contains(&one.phase))
    }

    /// The complaint that explains this ending.
    pub(crate) fn complaint(&self, end: RunEnd) -> Option<&Complaint> {
        match end.phases() {
            Some(phases) => self.warnings(phases).next(),
            None => leading(&self.complaints),
        }
    }

    /// The signature of runs that ended in this way for the same cause.
    pub(crate) fn signature(&self, end: RunEnd) -> String {
        match end.phases() {
            Some(_) => self
                .complaint(end)
                .map_or_else(String::new, Complaint::signature),
            None => self.signature.clone(),
        }
    }

    /// The group of runs whose endings may be correlated: those of one image, or of one block.
    fn cluster(&self, by_image: bool) -> Option<Image<'a>> {
        let (image, block) = (self.image?, self.block?);
        Some((self.machine, if by_image { image } else { block }))
    }
}

/// All runs whose ending reflects on what was tested.
pub(crate) struct RunEndings<'a> {
    runs: Vec<RunEnding<'a>>,
    /// Whether any run ended abnormally.
    any: bool,
}

impl<'a> RunEndings<'a> {
    pub(crate) fn new(cells: &Cells<'a>) -> Self {
        let records = cells.records;
        let complained: BTreeMap<u32, _> = records
            .complained
            .iter()
            .map(|one| (one.order, one))
            .collect();
        let completed =
            records
                .runs
                .iter()
                .zip(&cells.run_places)
                .map(|(run, &(workload, configuration))| {
                    let of = complained.get(&run.order);
                    RunEnding {
                        end: of.map(|of| RunEnd::from_complaints(&of.complaints)),
                        complaints: of.map_or(Vec::new(), |of| of.complaints.clone()),
                        ..RunEnding::completed(run, workload, configuration)
                    }
                });
        let failed = records.failures.iter().filter_map(|run| {
            Some(RunEnding {
                workload: cells.workload(&run.workload)?,
                configuration: cells.configuration(&run.configuration)?,
                machine: run.machine.as_deref(),
                block: run.block,
                image: run.image,
                seed: run.seed,
                order: run.order,
                end: Some(RunEnd::from_ending(run.ended())?),
                complaints: run.complained_of(),
                why: Cow::Borrowed(&run.why),
                signature: run.signature(),
            })
        });
        RunEndings {
            runs: completed.chain(failed).collect(),
            any: !(records.failures.is_empty() && records.complained.is_empty()),
        }
    }

    /// The share of a configuration's runs with one ending, on one workload or on all workloads
    /// that `other` ran too.
    pub(crate) fn share(
        &self,
        end: RunEnd,
        workload: Option<usize>,
        [configuration, other]: [usize; 2],
    ) -> RunShare {
        share_of(&self.runs_on(workload, [configuration, other]), end)
    }

    /// The shares of two configurations, each reduced to the equivalent number of independent runs.
    pub(crate) fn effective_shares(
        &self,
        end: RunEnd,
        workload: Option<usize>,
        [a, b]: [usize; 2],
    ) -> [RunShare; 2] {
        let sides = [[a, b], [b, a]].map(|pair| self.runs_on(workload, pair));
        let [of_a, of_b] = sides.each_ref().map(|runs| runs_per_independent(runs, end));
        let mut shares = sides.each_ref().map(|runs| share_of(runs, end));
        // If all runs of a side ended alike, uses the correlation of the other side.
        let varies = shares.map(|share| 0 < share.count && share.count < share.of);
        let effects = match varies {
            [true, false] => [of_a, of_a],
            [false, true] => [of_b, of_b],
            _ => [of_a, of_b],
        };
        for (share, effect) in shares.iter_mut().zip(effects) {
            let reduced = |n: u32| (f64::from(n) / effect).round() as u32;
            (share.count, share.of) = (reduced(share.count), reduced(share.of));
        }
        shares
    }

    /// The number of runs of a configuration on a workload that did not complete, and of all its
    /// runs there.
    pub(crate) fn lost(&self, workload: usize, configuration: usize) -> (u32, u32) {
        if !self.any {
            return (0, 0);
        }
        let of = self
            .runs
            .iter()
            .filter(|run| (run.workload, run.configuration) == (workload, configuration));
        let (mut lost, mut all) = (0, 0);
        for run in of {
            all += 1;
            lost += u32::from(run.end.is_some_and(|end| !end.is_completed()));
        }
        (lost, all)
    }

    /// The runs of a configuration on one workload, or on all that the other configuration ran too.
    fn runs_on(
        &self,
        workload: Option<usize>,
        [configuration, other]: [usize; 2],
    ) -> Vec<&RunEnding<'a>> {
        let mut runs = self.runs_on_common_workloads(configuration, other);
        runs.retain(|run| workload.is_none_or(|at| run.workload == at));
        runs
    }

    /// The runs of a configuration on workloads that the other configuration ran
    /// too.
    fn runs_on_common_workloads(&self, configuration: usize, other: usize) -> Vec<&RunEnding<'a>> {
        let theirs = self.runs.iter().filter(|run| run.configuration == other);
        let both: BTreeSet<usize> = theirs.map(|run| run.workload).collect();
        let of = self
            .runs
            .iter()
            .filter(|run| run.configuration == configuration);
        of.filter(|run| both.contains(&run.workload)).collect()
    }
}

/// How many of these runs ended in one way.
fn share_of(runs: &[&RunEnding<'_>], end: RunEnd) -> RunShare {
    let known = runs.iter().filter_map(|run| run.ended(end));
    known.fold(RunShare { count: 0, of: 0 }, |share, ended| RunShare {
        count: share.count + u32::from(ended),
        of: share.of + 1,
    })
}

/// A row before the family is tested.
pub(crate) struct PendingOutcome {
    written: OutcomeComparison,
    asked: OutcomeHypothesisId,
}

impl PendingOutcome {
    /// The hypothesis, its p and its attainable p if this row compares these configurations and
    /// this ending; `None` otherwise.
    pub(crate) fn hypothesis_about(
        &self,
        end: RunEnd,
        names: [&str; 2],
    ) -> Option<(OutcomeHypothesisId, f64, f64)> {
        let row = &self.written;
        let [one, other] = names;
        let sides = [row.baseline.as_str(), row.configuration.as_str()];
        let same = row.outcome == end && (sides == [one, other] || sides == [other, one]);
        same.then_some((self.asked, row.p, row.p_attainable))
    }
}

/// Registers, for each run ending, the hypothesis that one side has it more often. Endings on
/// neither side are skipped.
pub(crate) fn ask_all(
    cells: &Cells<'_>,
    ends: &RunEndings<'_>,
    baselines: &Baselines,
    hypotheses: &mut Hypotheses,
) -> Vec<PendingOutcome> {
    // If every run ended normally, there is nothing to count.
    if !ends.any {
        return Vec::new();
    }
    let mut there: Vec<usize> = ends.runs.iter().map(|run| run.configuration).collect();
    there.sort_unstable();
    there.dedup();
    let baseline = baseline(cells, ends, baselines, &there);
    let mut rows = Vec::new();
    for (b, a) in baselines.pairs(cells, there, baseline) {
        let (of_a, of_b) = (
            ends.runs_on_common_workloads(a, b),
            ends.runs_on_common_workloads(b, a),
        );
        for end in RunEnd::ALL {
            let counted = of_a
                .iter()
                .chain(&of_b)
                .any(|run| run.ended(end) == Some(true));
            if counted {
                rows.push(ask(cells, (end, None), (a, &of_a), (b, &of_b), hypotheses));
            }
        }
    }
    rows
}

/// The document's baseline. If no run of the first configuration completed, it is the baseline of
/// no workload, but its endings are still those to compare with.
fn baseline(
    cells: &Cells<'_>,
    ends: &RunEndings<'_>,
    baselines: &Baselines,
    there: &[usize],
) -> Option<usize> {
    let first = *there.first()?;
    let whole = |run: &RunEnding<'_>| run.end.is_none_or(RunEnd::is_completed);
    let measured = ends
        .runs
        .iter()
        .any(|run| run.configuration == first && whole(run));
    match baselines.chosen {
        Some(chosen) => Some(chosen),
        None if !measured => Some(first),
        None => baselines.main(cells),
    }
}

type ConfigurationRuns<'s, 'a> = (usize, &'s [&'s RunEnding<'a>]);

/// Registers the hypothesis about one run ending; for slow runs, `tail` gives the threshold.
pub(crate) fn ask(
    cells: &Cells<'_>,
    (end, tail): (RunEnd, Option<Tail>),
    (a, of_a): ConfigurationRuns<'_, '_>,
    (b, of_b): ConfigurationRuns<'_, '_>,
    hypotheses: &mut Hypotheses,
) -> PendingOutcome {
    let (in_a, in_b) = (share_of(of_a, end), share_of(of_b, end));
    let pairs = pairs(of_a, of_b, end);
    let (test, p, p_attainable) = match pairs {
        Some(pairs) => {
            let [only_a, only_b] = pairs.effective();
            let least = counts::mcnemar_attainable(only_a + only_b);
            (OutcomeTest::McNemar, counts::mcnemar(only_a, only_b), least)
        }
        None => {
            let least = counts::fisher_attainable(in_a.count + in_b.count, in_a.of, in_b.of);
            let p = counts::fisher(in_a, in_b).unwrap_or(1.0);
            (OutcomeTest::Fisher, p, least)
        }
    };
    let signatures = signatures(cells, end, [of_a, of_b]);
    let rare = tail.is_some();
    PendingOutcome {
        asked: hypotheses.ask_outcome(OutcomeHypothesis {
            p,
            p_attainable,
            rare,
        }),
        written: OutcomeComparison {
            outcome: end,
            tail,
            baseline: cells.configurations[a].clone(),
            configuration: cells.configurations[b].clone(),
            count_baseline: in_a.count,
            n_baseline: in_a.of,
            count: in_b.count,
            n: in_b.of,
            pairs,
            test,
            p,
            p_attainable,
            p_adjusted: None,
            fewest: None,
            verdict: Verdict::Undecided,
            note: one_sided(&signatures, &cells.configurations[a]),
            signatures,
        },
    }
}

/// How many runs of one configuration are worth one independent run, since all runs from a memory
/// image (or in a block) share its effect; 1 if a run has neither.
fn runs_per_independent(runs: &[&RunEnding<'_>], end: RunEnd) -> f64 {
    let by_image = vary_in_image(runs);
    let mut clusters = ImageClusters::default();
    for run in runs {
        let Some(ended) = run.ended(end) else {
            continue;
        };
        let ended = f64::from(u8::from(ended));
        let Some(cluster) = run.cluster(by_image) else {
            return 1.0;
        };
        clusters.add(cluster, 1.0, ended);
    }
    clusters.design_effect()
}

/// Whether runs start from several memory images. With only one, a verdict is about runs from that
/// image, so blocks take the place of images.
fn vary_in_image(runs: &[&RunEnding<'_>]) -> bool {
    let images: BTreeSet<_> = runs.iter().map(|run| (run.machine, run.image)).collect();
    images.len() > 1
}

/// Pairs runs on one workload that have one seed and memory image; `None` unless every run belongs
/// to a block and starts from an image.
fn pairs(of_a: &[&RunEnding<'_>], of_b: &[&RunEnding<'_>], end: RunEnd) -> Option<OutcomePairs> {
    let mut cells: BTreeMap<(Block<'_>, usize), (Image<'_>, [RunShare; 2])> = BTreeMap::new();
    let by_image = vary_in_image(of_a) || vary_in_image(of_b);
    for (side, of) in [of_a, of_b].into_iter().enumerate() {
        for run in of {
            let image = run.cluster(by_image)?;
            let place = ((run.machine, Some(run.block?)), run.workload);
            let none = (image, [RunShare { count: 0, of: 0 }; 2]);
            let share = &mut cells.entry(place).or_insert(none).1[side];
            if let Some(ended) = run.ended(end) {
                share.count += u32::from(ended);
                share.of += 1;
            }
        }
    }
    let (mut pairs, mut only) = (0, [0; 2]);
    let mut clusters = ImageClusters::default();
    for (image, [a, b]) in cells.into_values() {
        // A run without a partner cannot be paired.
        if a.of == b.of {
            pairs += a.of;
            only[0] += a.count.saturating_sub(b.count);
            only[1] += b.count.saturating_sub(a.count);
            let more = f64::from(b.count) - f64::from(a.count);
            clusters.add(image, f64::from(a.of), more);
        }
    }
    let [only_baseline, only_configuration] = only;
    (pairs > 0).then(|| OutcomePairs {
        pairs,
        only_baseline,
        only_configuration,
        design_effect: clusters.design_effect(),
    })
}

/// Decides all rows.
pub(crate) fn settle(
    rows: Vec<PendingOutcome>,
    answers: &HypothesisResults,
    options: &Options,
) -> Vec<OutcomeComparison> {
    let written = rows.into_iter().map(|row| {
        let mut written = row.written;
        written.p_adjusted = answers.outcome_p(row.asked);
        if written.p_adjusted.is_some_and(|p| p <= options.alpha) {
            written.verdict = Verdict::Established;
        }
        let alone = answers.outcome_alone[usize::from(written.tail.is_some())];
        written.fewest = match written.pairs {
            Some(pairs) => counts::fewest_by_mcnemar(pairs.pairs, alone)
                .map(|fewest| pairs.least_for(fewest))
                .filter(|fewest| *fewest <= pairs.pairs),
            None => counts::fewest_by_fisher(written.n_baseline, written.n, alone),
        };
        written
    });
    written.collect()
}

#[cfg(test)]
#[path = "outcomes_tests.rs"]
mod tests;
