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
/// Evidence that decides which of two configurations fails more often: 1 / 0.05.
const DECIDED: f64 = 20.0;

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
    pub(super) oracle: String,
    pub(super) place: Option<String>,
    pub(super) line: String,
    pub(super) signature: String,
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
                oracle: noticed.oracle.clone(),
                place: noticed.place.clone(),
                line: noticed.line.clone(),
                signature: noticed.signature.clone(),
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

#[derive(Debug, Default)]
struct SideTally {
    runs: u32,
    failed: u32,
    /// Runs by strategy.
    strategies: BTreeMap<String, u32>,
    kinds: BTreeMap<String, FailureKind>,
    others: (u32, String),
    /// The schedules, by number and workload, with which it failed.
    failures: std::collections::BTreeSet<(u32, usize)>,
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
        !all.is_empty() && all.iter().all(|(_, only)| evidence(*only) >= DECIDED)
    }

    /// For each configuration but the first: schedules with which only the first failed, and only
    /// the configuration.
    fn pairs(&self) -> Vec<(usize, [u32; 2])> {
        let mut sides = self.sides.iter();
        let Some((_, first)) = sides.next() else {
            return Vec::new();
        };
        let only = |a: &SideTally, b: &SideTally| a.failures.difference(&b.failures).count() as u32;
        sides
            .map(|(at, side)| (*at, [only(first, side), only(side, first)]))
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
        let runs = self.sides.get(&configuration).map_or(0, |side| side.runs);
        rate(count, runs)
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
            rate: rate(side.failed, side.runs),
        };
        self.sides.iter().map(side).collect()
    }

    /// Runs that failed in ways that do not count.
    pub(super) fn others(&self, name: impl Fn(usize) -> String) -> Vec<OtherFailure> {
        let sides = self.sides.iter().filter(|(_, side)| side.others.0 > 0);
        sides
            .map(|(at, side)| OtherFailure {
                configuration: name(*at),
                count: side.others.0,
                why: side.others.1.clone(),
            })
            .collect()
    }

    /// Each configuration against the first one.
    pub(super) fn comparisons(&self, name: impl Fn(usize) -> String) -> Vec<HuntComparison> {
        let Some((baseline, first)) = self.sides.iter().next() else {
            return Vec::new();
        };
        let compare = |(at, only): (usize, [u32; 2])| {
            let side = self.sides.get(&at)?;
            let signatures = side.kinds.keys();
            let new = signatures.filter(|one| !first.kinds.contains_key(*one));
            let decided = evidence(only) >= DECIDED;
            Some(HuntComparison {
                configuration: name(at),
                baseline: name(*baseline),
                rates: [first, side].map(|one| rate(one.failed, one.runs)),
                only,
                evidence: evidence(only),
                answer: match only {
                    _ if first.failed + side.failed == 0 => HuntAnswer::NoFailure,
                    [before, after] if decided && before > after => HuntAnswer::Fewer,
                    _ if decided => HuntAnswer::More,
                    _ => HuntAnswer::Undecided,
                },
                excluded: (side.failed == 0).then(|| excluded(side.runs)),
                new: new.cloned().collect(),
            })
        };
        self.pairs().into_iter().filter_map(compare).collect()
    }
}

impl SideTally {
    fn add(&mut self, cell: &PlannedRun, run: &JournalRun) {
        if let Some(why) = &run.other {
            if self.others.0 == 0 {
                self.others.1.clone_from(why);
            }
            self.others.0 += 1;
        }
        self.runs += 1;
        *self.strategies.entry(run.strategy.clone()).or_default() += 1;
        let Some(failure) = &run.failure else {
            return;
        };
        self.failed += 1;
        self.failures.insert((run.number, cell.workload));
        let sighting = Sighting {
            cell: *cell,
            number: run.number,
            turns: failure.turns.clone(),
        };
        let kind = self.kinds.entry(failure.signature.clone());
        let kind = kind.or_insert_with(|| FailureKind {
            noticed: Noticed {
                oracle: failure.oracle.clone(),
                place: failure.place.clone(),
                line: failure.line.clone(),
                signature: failure.signature.clone(),
            },
            count: 0,
            strategies: BTreeMap::new(),
            first: run.number,
            best: sighting.clone(),
        });
        kind.count += 1;
        *kind.strategies.entry(run.strategy.clone()).or_default() += 1;
        let cost = |one: &Sighting| (one.turns.delays.len(), one.turns.quantum_ns);
        if cost(&sighting) < cost(&kind.best) {
            kind.best = sighting;
        }
    }
}

fn evidence([only_a, only_b]: [u32; 2]) -> f64 {
    anytime::paired_evidence(only_a, only_b)
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

    fn cells() -> Vec<PlannedRun> {
        let cell = |index: u32| PlannedRun {
            index,
            block: 0,
            configuration: index as usize,
            workload: 0,
            repetition: 1,
            seed: 1,
            image: None,
        };
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
        let verdict = signature.map_or(RunVerdict::Passed, |signature| {
            RunVerdict::Failed(Noticed {
                oracle: "oops".into(),
                place: None,
                line: "BUG".into(),
                signature: signature.into(),
            })
        });
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
