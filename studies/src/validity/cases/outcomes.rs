//! Runs that crash.

use std::collections::BTreeMap;

use assize_bundle::{Ending, FailedRun};

use super::{Case, Goal, Section};
use crate::validity::source::Source;
use crate::validity::tally::Measure;
use crate::validity::trial::{BASELINE, Grid, Runs, Trial};

/// Which runs of the baseline and of the other configuration crash.
#[derive(Clone, Copy)]
enum Crashes {
    /// Each run with this probability.
    Chances([f64; 2]),
    /// All runs of a configuration in a block, with this probability, because seed and image affect
    /// all workloads alike.
    WholeBlocks(f64),
    /// In the other configuration, runs whose first metric exceeds its mean by more than this
    /// fraction.
    SlowOnes(f64),
}

const RUNS: usize = 40;

pub(super) fn cases() -> Vec<Case> {
    let few = Goal::NoMore(0.05);
    let mut cases = Vec::new();
    for paired in [true, false] {
        let design = if paired {
            "40 pairs of one seed and image"
        } else {
            "40 runs of each in random order"
        };
        for (share, said) in [(0.0, "no run"), (0.1, "10 % of runs"), (1.0, "every run")] {
            let what = format!("{design}, {said} of either side crash");
            cases.push(
                case(what, paired, Crashes::Chances([share, share]))
                    .shows(Measure::EndEstablished, few),
            );
        }
        let what = format!("{design}, no run of one side and 20 % of the other crash");
        cases.push(
            case(what, paired, Crashes::Chances([0.0, 0.2]))
                .shows(Measure::EndEstablished, Goal::NoLess(0.8)),
        );
    }
    let blocks = |workloads, blocks| Grid {
        workloads,
        ..Grid::rows(1, Runs::Blocks(blocks))
    };
    let what = "8 blocks of 7 workloads, in 10 % of the blocks of either side every run crashes";
    let whole = case_of(what.into(), blocks(7, 8), Crashes::WholeBlocks(0.1));
    cases.push(whole.shows(Measure::EndEstablished, few));
    let what = "8 blocks of 7 workloads, 10 % of the runs of either side crash";
    let apart = case_of(what.into(), blocks(7, 8), Crashes::Chances([0.1, 0.1]));
    cases.push(apart.shows(Measure::EndEstablished, few));
    let what = "10 blocks of 4 workloads, no run of one side and 20 % of the other crash";
    let found = case_of(what.into(), blocks(4, 10), Crashes::Chances([0.0, 0.2]));
    cases.push(found.shows(Measure::EndEstablished, Goal::NoLess(0.7)));
    let what = "40 pairs in which nothing differs, of one side the slowest sixth crash";
    cases.push(case(what.into(), true, Crashes::SlowOnes(0.03)).shows(Measure::FalseFound, few));
    cases
}

fn case(what: String, paired: bool, crashes: Crashes) -> Case {
    let runs = if paired {
        Runs::Blocks(RUNS)
    } else {
        Runs::Free(RUNS)
    };
    case_of(what, Grid::rows(2, runs), crashes)
}

fn case_of(what: String, grid: Grid, crashes: Crashes) -> Case {
    Case::new(
        Section::Crashes,
        format!("outcomes/{what}"),
        what,
        [1000, 40],
        move |source| crashing(grid.clone().trial(source), crashes, source),
    )
}

/// Turns the runs that crash into failed ones.
fn crashing(mut trial: Trial, crashes: Crashes, source: &mut Source) -> Trial {
    let records = &mut trial.records;
    let mut blocks: BTreeMap<(String, Option<u32>), bool> = BTreeMap::new();
    for run in std::mem::take(&mut records.runs) {
        let is_baseline = run.configuration == BASELINE;
        let first = run.metrics.values().next().map_or(0.0, |one| one.value);
        let crashed = match crashes {
            Crashes::Chances([before, now]) => {
                source.uniform() < if is_baseline { before } else { now }
            }
            Crashes::WholeBlocks(share) => {
                let block = (run.configuration.clone(), run.block);
                *blocks
                    .entry(block)
                    .or_insert_with(|| source.uniform() < share)
            }
            Crashes::SlowOnes(share) => !is_baseline && first > 100.0 * (1.0 + share),
        };
        let mut run = run;
        run.image = run.block;
        if !crashed {
            records.runs.push(run);
            continue;
        }
        records.failures.push(FailedRun {
            configuration: run.configuration,
            workload: run.workload,
            repetition: run.repetition,
            order: run.order,
            block: run.block,
            image: run.image,
            why: "kernel panic: Kernel panic - not syncing: Fatal exception".into(),
            ending: Some(Ending::Crashed),
            ..FailedRun::default()
        });
    }
    trial
}
