//! Counts the failures of a hunt.

use std::collections::BTreeMap;

use assize_job::Interleaving;
use assize_judge::{RunShare, anytime, counts};
use assize_plan::PlannedRun;
use assize_report::{FailureRate, HuntAnswer, HuntComparison, HuntedSide, OtherFailure, excluded};
use serde::{Deserialize, Serialize};

use super::oracle::{Noticed, RunVerdict};

/// The level of the intervals of rates.
const LEVEL: f64 = 0.95;
/// The chance that any of the comparisons decides by accident.
const ALPHA: f64 = 0.05;

/// The failures of one kind on one configuration.
#[derive(Debug, Clone)]
pub(super) struct FailureKind {
    pub(super) noticed: Noticed,
    pub(super) count: u32,
    /// By strategy.
    pub(super) strategies: BTreeMap<String, u32>,
    /// The first schedule with it.
    pub(super) first: u32,
    /// The schedule with it that has the fewest delays.
    pub(super) best: Sighting,
}

/// One run that failed.
#[derive(Debug, Clone)]
pub(super) struct Sighting {
    pub(super) cell: PlannedRun,
    pub(super) number: u32,
    pub(super) turns: Interleaving,
}

/// One run of a hunt, as its journal keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JournalRun {
    pub(super) number: u32,
    pub(super) strategy: String,
    /// The index of its cell.
    pub(super) cell: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) failure: Option<JournalFailure>,
    /// Why it failed in a way that does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) other: Option<String>,
}

/// A failure in the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JournalFailure {
    pub(super) noticed: Noticed,
    pub(super) turns: Interleaving,
}

impl JournalRun {
    pub(super) fn new(
        number: u32,
        strategy: String,
        cell: u32,
        verdict: &RunVerdict,
        turns: &Interleaving,
    ) -> JournalRun {
        let failure = match verdict {
            RunVerdict::Failed(noticed) => Some(JournalFailure {
                noticed: noticed.clone(),
                turns: turns.clone(),
            }),
            RunVerdict::Passed | RunVerdict::Other(_) => None,
        };
        let other = match verdict {
            RunVerdict::Other(why) => Some(why.clone()),
            RunVerdict::Passed | RunVerdict::Failed(_) => None,
        };
        JournalRun {
            number,
            strategy,
            cell,
            failure,
            other,
        }
    }
}

/// All counts of a hunt.
#[derive(Debug, Default)]
pub(super) struct HuntTally {
    /// The schedules that every cell has had.
    pub(super) schedules: u32,
    /// By strategy.
    pub(super) strategies: BTreeMap<String, u32>,
    sides: BTreeMap<usize, SideTally>,
}

/// What was executed, on each side: the number of the schedule, and the workload.
type Trial = (u32, usize);

/// The runs of one configuration. Those that failed in a way that does not count say nothing of
/// the failure that is looked for: they are only among `others`.
#[derive(Debug, Default)]
struct SideTally {
    /// Each run, and whether it failed.
    runs: BTreeMap<Trial, bool>,
    failed: u32,
    /// Runs by strategy.
    strategies: BTreeMap<String, u32>,
    kinds: BTreeMap<String, FailureKind>,
    others: BTreeMap<Trial, String>,
}

/// What the same schedules did on two sides.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SidePair {
    /// The pairs of runs.
    pub(crate) pairs: u32,
    /// Those in which each side failed.
    pub(crate) failed: [u32; 2],
    /// Those in which only this side failed.
    pub(crate) only: [u32; 2],
    /// The evidence that one fails more often.
    pub(crate) evidence: f64,
}

/// The pairs of runs of two sides with the same schedule.
#[derive(Debug, Default, Clone, Copy)]
struct PairTally {
    /// Those of which both runs count.
    pairs: u32,
    /// Those in which each side failed.
    failed: [u32; 2],
    /// Those in which only one side failed.
    only: [u32; 2],
}

impl HuntTally {
    /// Adds the runs of one schedule, one for each of `cells`.
    pub(super) fn add(&mut self, cells: &[PlannedRun], runs: &[JournalRun]) {
        self.schedules += 1;
        if let Some(first) = runs.first() {
            *self.strategies.entry(first.strategy.clone()).or_default() += 1;
        }
        for run in runs {
            if let Some(cell) = cells.iter().find(|cell| cell.index == run.cell) {
                self.sides
                    .entry(cell.configuration)
                    .or_default()
                    .add(cell, run);
            }
        }
    }

    /// Whether a run failed.
    pub(super) fn has_failed(&self) -> bool {
        self.sides.values().any(|side| side.failed > 0)
    }

    /// Whether it is decided for each configuration how its rate compares with the first one's.
    pub(super) fn is_decided(&self) -> bool {
        let all = self.pairs();
        !all.is_empty()
            && all
                .iter()
                .all(|(_, _, pairs)| pairs.evidence() >= self.needed())
    }

    /// The evidence that decides a comparison: 20 for one, so many times as much for several.
    fn needed(&self) -> f64 {
        self.sides.len().saturating_sub(1).max(1) as f64 / ALPHA
    }

    /// The first configuration against that of another hunt, with the schedules up to this one.
    pub(super) fn against(&self, other: &HuntTally, to: u32) -> SidePair {
        let sides = [self, other].map(|tally| tally.sides.values().next());
        let pairs = match sides {
            [Some(old), Some(new)] => PairTally::compare(old, new, to),
            _ => PairTally::default(),
        };
        SidePair {
            pairs: pairs.pairs,
            failed: pairs.failed,
            only: pairs.only,
            evidence: pairs.evidence(),
        }
    }

    /// Each configuration but the first, and its pairs with the first one.
    fn pairs(&self) -> Vec<(usize, &SideTally, PairTally)> {
        let mut sides = self.sides.iter();
        let Some((_, first)) = sides.next() else {
            return Vec::new();
        };
        sides
            .map(|(at, side)| (*at, side, PairTally::compare(first, side, u32::MAX)))
            .collect()
    }

    /// The kinds of failure, with their configurations, most frequent first.
    pub(super) fn kinds(&self) -> Vec<(usize, &FailureKind)> {
        let sides = self.sides.iter();
        let mut all: Vec<(usize, &FailureKind)> = sides
            .flat_map(|(at, side)| side.kinds.values().map(move |kind| (*at, kind)))
            .collect();
        all.sort_by_key(|(at, kind)| (std::cmp::Reverse(kind.count), *at, kind.first));
        all
    }

    /// The rate of a kind of failure.
    pub(super) fn rate(&self, configuration: usize, count: u32) -> FailureRate {
        let side = self.sides.get(&configuration);
        rate(count, side.map_or(0, SideTally::count))
    }

    /// A kind's failures and all runs, by strategy.
    pub(super) fn by_strategy(
        &self,
        configuration: usize,
        kind: &FailureKind,
    ) -> BTreeMap<String, [u32; 2]> {
        let side = self.sides.get(&configuration);
        let all = side.into_iter().flat_map(|side| &side.strategies);
        all.map(|(name, runs)| {
            let count = kind.strategies.get(name).copied().unwrap_or_default();
            (name.clone(), [count, *runs])
        })
        .collect()
    }

    /// Each configuration's rate; `name` gives its name.
    pub(super) fn sides(&self, name: impl Fn(usize) -> String) -> Vec<HuntedSide> {
        let side = |(at, side): (&usize, &SideTally)| HuntedSide {
            configuration: name(*at),
            rate: rate(side.failed, side.count()),
        };
        self.sides.iter().map(side).collect()
    }

    /// Runs that failed in ways that do not count.
    pub(super) fn others(&self, name: impl Fn(usize) -> String) -> Vec<OtherFailure> {
        let other = |(at, side): (&usize, &SideTally)| {
            let (_, why) = side.others.first_key_value()?;
            Some(OtherFailure {
                configuration: name(*at),
                count: side.others.len() as u32,
                why: why.clone(),
            })
        };
        self.sides.iter().filter_map(other).collect()
    }

    /// Each configuration against the first one.
    pub(super) fn comparisons(&self, name: impl Fn(usize) -> String) -> Vec<HuntComparison> {
        let Some((baseline, first)) = self.sides.iter().next() else {
            return Vec::new();
        };
        let compare = |(at, side, pairs): (usize, &SideTally, PairTally)| {
            let signatures = side.kinds.keys();
            let new = signatures.filter(|one| !first.kinds.contains_key(*one));
            HuntComparison {
                configuration: name(at),
                baseline: name(*baseline),
                rates: pairs.failed.map(|failed| rate(failed, pairs.pairs)),
                left_out: self.schedules_tried() - pairs.pairs,
                only: pairs.only,
                evidence: pairs.evidence(),
                needed: self.needed(),
                answer: pairs.answer(self.needed()),
                excluded: (side.failed == 0 && pairs.pairs > 0).then(|| excluded(pairs.pairs)),
                new: new.cloned().collect(),
            }
        };
        self.pairs().into_iter().map(compare).collect()
    }

    /// The runs of each side, whether or not they count.
    fn schedules_tried(&self) -> u32 {
        let first = self.sides.values().next();
        first.map_or(0, |side| side.count() + side.others.len() as u32)
    }
}

impl PairTally {
    /// Compares the runs with schedules up to this one.
    fn compare(first: &SideTally, second: &SideTally, to: u32) -> PairTally {
        let mut tally = PairTally::default();
        for (trial, a) in first.runs.iter().filter(|((number, _), _)| *number <= to) {
            let Some(b) = second.runs.get(trial) else {
                continue;
            };
            tally.pairs += 1;
            for (at, failed) in [*a, *b].into_iter().enumerate() {
                tally.failed[at] += u32::from(failed);
                tally.only[at] += u32::from(failed && a != b);
            }
        }
        tally
    }

    fn evidence(self) -> f64 {
        let [a, b] = self.only;
        anytime::paired_evidence(a, b)
    }

    fn answer(self, needed: f64) -> HuntAnswer {
        let decided = self.evidence() >= needed;
        match self.only {
            _ if self.pairs == 0 => HuntAnswer::NoPair,
            _ if self.failed == [0, 0] => HuntAnswer::NoFailure,
            [before, after] if decided && before > after => HuntAnswer::Fewer,
            _ if decided => HuntAnswer::More,
            _ => HuntAnswer::Undecided,
        }
    }
}

impl SideTally {
    /// The runs that count.
    fn count(&self) -> u32 {
        self.runs.len() as u32
    }

    fn add(&mut self, cell: &PlannedRun, run: &JournalRun) {
        let trial = (run.number, cell.workload);
        if let Some(why) = &run.other {
            self.others.insert(trial, why.clone());
            return;
        }
        self.runs.insert(trial, run.failure.is_some());
        *self.strategies.entry(run.strategy.clone()).or_default() += 1;
        let Some(failure) = &run.failure else {
            return;
        };
        self.failed += 1;
        let sighting = Sighting {
            cell: *cell,
            number: run.number,
            turns: failure.turns.clone(),
        };
        let kind = self.kinds.entry(failure.noticed.signature.clone());
        let kind = kind.or_insert_with(|| FailureKind {
            noticed: failure.noticed.clone(),
            count: 0,
            strategies: BTreeMap::new(),
            first: run.number,
            best: sighting.clone(),
        });
        kind.count += 1;
        *kind.strategies.entry(run.strategy.clone()).or_default() += 1;
        let cost = |one: &Sighting| one.turns.delays.len();
        if cost(&sighting) < cost(&kind.best) {
            kind.best = sighting;
        }
    }
}

fn rate(count: u32, runs: u32) -> FailureRate {
    let interval = counts::interval(RunShare { count, of: runs }, LEVEL);
    FailureRate {
        count,
        runs,
        // The count is never above the number of runs.
        interval: interval.map_or([0.0, 1.0], |it| [it.low, it.high]),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use assize_job::Delay;

    use super::*;

    /// The signature of runs that failed in a way that does not count.
    const OTHER: &str = "other";

    fn cell(index: u32) -> PlannedRun {
        PlannedRun {
            index,
            block: 0,
            configuration: index as usize,
            workload: 0,
            repetition: 1,
            seed: 1,
            image: None,
        }
    }

    fn cells() -> Vec<PlannedRun> {
        vec![cell(0), cell(1)]
    }

    fn run(number: u32, cell: u32, signature: Option<&str>, delays: usize) -> JournalRun {
        let delay = Delay {
            cpu: 0,
            at_ns: 1,
            length_ns: 1,
        };
        let turns = Interleaving {
            quantum_ns: None,
            delays: vec![delay; delays],
        };
        let failed = |signature: &str| {
            RunVerdict::Failed(Noticed {
                oracle: "oops".into(),
                place: None,
                line: "BUG".into(),
                signature: signature.into(),
            })
        };
        let verdict = match signature {
            None => RunVerdict::Passed,
            Some(OTHER) => RunVerdict::Other("hung".into()),
            Some(signature) => failed(signature),
        };
        JournalRun::new(number, "turns".into(), cell, &verdict, &turns)
    }

    /// Schedules with which the first or the second side fails.
    fn tally(all: &[(Option<&str>, Option<&str>)]) -> HuntTally {
        let mut tally = HuntTally::default();
        for (number, (before, after)) in (1..).zip(all) {
            let runs = [run(number, 0, *before, 3), run(number, 1, *after, 3)];
            tally.add(&cells(), &runs);
        }
        tally
    }

    fn comparison(all: &[(Option<&str>, Option<&str>)]) -> HuntComparison {
        let compared = tally(all).comparisons(|at| ["before", "after"][at].into());
        compared.into_iter().next().unwrap()
    }

    #[test]
    fn a_patch_that_removes_the_failure_is_told_and_the_same_module_is_not() {
        let (x, no) = (Some("x"), None);
        let mut all = vec![(no, no); 40];
        all.extend([(x, no); 7]);
        let removed = comparison(&all);
        assert_eq!(removed.answer, HuntAnswer::Fewer);
        assert_eq!((removed.only, removed.rates[1].count), ([7, 0], 0));
        assert!((removed.excluded.unwrap() - 0.0617).abs() < 1e-4);
        assert!(tally(&all).is_decided());
        let same = comparison(&vec![(x, x); 47]);
        assert_eq!(same.answer, HuntAnswer::Undecided);
        assert_eq!(comparison(&[(no, no); 9]).answer, HuntAnswer::NoFailure);
        let worse: Vec<_> = all.iter().map(|(a, b)| (*b, *a)).collect();
        assert_eq!(comparison(&worse).answer, HuntAnswer::More);
    }

    /// The same with runs that failed in a way that does not count: `other`.
    #[test]
    fn a_side_that_fails_otherwise_is_not_said_to_be_mended() {
        let (x, other) = (Some("x"), Some(OTHER));
        let hides = comparison(&[(x, other); 40]);
        assert_eq!(hides.answer, HuntAnswer::NoPair);
        assert_eq!((hides.left_out, hides.excluded), (40, None));
        let mut some = vec![(x, other); 40];
        some.extend([(x, None); 6]);
        let few = comparison(&some);
        assert_eq!(few.answer, HuntAnswer::Undecided);
        assert_eq!((few.rates[1].runs, few.left_out), (6, 40));
        some.push((x, None));
        let enough = comparison(&some);
        assert_eq!((enough.answer, enough.only), (HuntAnswer::Fewer, [7, 0]));
        assert!((enough.excluded.unwrap() - excluded(7)).abs() < 1e-12);
        assert_eq!(comparison(&[(other, x); 9]).answer, HuntAnswer::NoPair);
        let rates = tally(&some).sides(|at| at.to_string());
        assert_eq!((rates[1].rate.count, rates[1].rate.runs), (0, 7));
    }

    /// Seven schedules are enough for one comparison, not for each of four.
    #[test]
    fn several_comparisons_need_more_evidence_each() {
        let sides = |count: u32, differing: u32| {
            let mut tally = HuntTally::default();
            let cells: Vec<_> = (0..count).map(cell).collect();
            for number in 1..=differing {
                let of = |at: u32| run(number, at, (at == 0).then_some("x"), 0);
                tally.add(&cells, &(0..count).map(of).collect::<Vec<_>>());
            }
            let all = tally.comparisons(|at| at.to_string());
            assert_eq!(all.len() as u32, count - 1);
            all.iter().all(|one| one.answer == HuntAnswer::Fewer)
        };
        assert!(sides(2, 7) && !sides(2, 6));
        assert!(sides(5, 9) && !sides(5, 8));
    }

    #[test]
    fn a_failure_that_only_moves_is_named() {
        let moved = comparison(&[(Some("x"), Some("y")); 9]);
        assert_eq!(moved.answer, HuntAnswer::Undecided);
        assert_eq!(moved.new, ["y"]);
        assert_eq!(moved.only, [0, 0]);
    }

    #[test]
    fn the_sighting_with_the_fewest_delays_is_kept_with_the_first_number() {
        let mut tally = HuntTally::default();
        let cells = &cells()[..1];
        for (number, delays) in [(3, 9), (4, 2), (5, 4)] {
            tally.add(cells, &[run(number, 0, Some("x"), delays)]);
        }
        tally.add(cells, &[run(6, 0, None, 0)]);
        let kinds = tally.kinds();
        let [(_, kind)] = kinds[..] else {
            panic!("{kinds:?}")
        };
        assert_eq!((kind.first, kind.count, kind.best.number), (3, 3, 4));
        let rate = tally.rate(0, kind.count);
        assert_eq!((rate.count, rate.runs), (3, 4));
        assert!((rate.interval[0] - 0.194).abs() < 1e-3);
    }
}
