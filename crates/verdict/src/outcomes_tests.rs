//! Tests of how runs ended, from records to rows.

use assize_bundle::kernel_log::{Phase, complaints};
use assize_bundle::{ComplainedRun, Ending, FailedRun, Measurement, Records, Run};

use super::*;
use crate::document::Document;
use crate::trial::try_records;

const WARNING: &str = "WARNING: CPU: 1 PID: 9 at ring.c:9 ring_check+0xa1/0xc0 [ring]\n";

/// The runs of each side that crash.
struct CrashPattern<'a> {
    runs: u32,
    /// Whether the runs of a block share seed and memory image.
    paired: bool,
    old: &'a dyn Fn(u32) -> bool,
    new: &'a dyn Fn(u32) -> bool,
}

fn records(planted: &CrashPattern<'_>) -> Records {
    let mut records = Records::default();
    for block in 0..planted.runs {
        let sides: [(&str, &dyn Fn(u32) -> bool); 2] = [("old", planted.old), ("new", planted.new)];
        for (at, (name, crashes)) in sides.into_iter().enumerate() {
            let order = 2 * block + at as u32;
            let block_of = Some(block).filter(|_| planted.paired);
            if crashes(block) {
                records.failures.push(FailedRun {
                    configuration: name.into(),
                    workload: "use".into(),
                    repetition: block + 1,
                    order,
                    block: block_of,
                    image: block_of,
                    seed: Some(u64::from(block)),
                    why: "kernel panic: Kernel panic - not syncing: Fatal exception".into(),
                    console: "BUG: kernel NULL pointer dereference, address: 0\n\
                              RIP: 0010:ring_take+0x5e/0x90 [ring]\n"
                        .into(),
                    ending: Some(Ending::Crashed),
                    ..FailedRun::default()
                });
            } else {
                let mut run = Run::new(name, "use", block + 1);
                (run.order, run.block, run.image) = (order, block_of, block_of);
                let value = 10.0 + f64::from((7 * block + 3 * at as u32) % 5) * 0.001;
                run.metrics
                    .insert("time".into(), Measurement::new(value, "s"));
                records.runs.push(run);
            }
        }
    }
    for name in ["old", "new"] {
        records.configurations.push(crate::Configuration {
            name: name.into(),
            label: name.into(),
            ..crate::Configuration::default()
        });
    }
    records.workloads.push("use".into());
    records
}

fn judged(records: &Records) -> Document {
    try_records(records, &Options::default()).unwrap()
}

fn only(document: &Document) -> &OutcomeComparison {
    assert_eq!(document.outcomes.len(), 1, "{:#?}", document.outcomes);
    &document.outcomes[0]
}

#[test]
fn six_crashes_of_forty_against_none_are_established() {
    for paired in [false, true] {
        let document = judged(&records(&CrashPattern {
            runs: 40,
            paired,
            old: &|_| false,
            new: &|block| block % 7 == 1,
        }));
        let row = only(&document);
        assert_eq!((row.count_baseline, row.n_baseline), (0, 40));
        assert_eq!((row.count, row.n), (6, 40));
        assert!(row.is_worse(), "{row:?}");
        let (test, p) = match paired {
            true => (OutcomeTest::McNemar, 0.031_25),
            false => (OutcomeTest::Fisher, 0.025_546_605),
        };
        assert_eq!(row.test, test);
        assert!((row.p - p).abs() < 1e-8, "{row:?}");
        assert_eq!(row.signatures[0].signature, "oops in ring_take+0x5e [ring]");
        assert_eq!(row.signatures[0].runs[0].index, 3);
        assert_eq!(row.signatures[0].runs[0].seed, Some(1));
    }
}

#[test]
fn one_crash_of_forty_is_mentioned_without_a_verdict() {
    let document = judged(&records(&CrashPattern {
        runs: 40,
        paired: true,
        old: &|_| false,
        new: &|block| block == 4,
    }));
    let row = only(&document);
    assert_eq!((row.count, row.verdict), (1, Verdict::Undecided));
    assert_eq!((row.p_adjusted, row.fewest), (None, Some(6)));
}

#[test]
fn crashes_that_meet_both_sides_alike_are_no_difference() {
    let document = judged(&records(&CrashPattern {
        runs: 40,
        paired: true,
        old: &|block| block % 4 == 0,
        new: &|block| block % 4 == 0,
    }));
    let row = only(&document);
    assert_eq!((row.count_baseline, row.count, row.p), (10, 10, 1.0));
    assert_eq!(row.verdict, Verdict::Undecided);
}

#[test]
fn without_a_crash_there_is_no_row_and_nothing_changes() {
    let mut all = records(&CrashPattern {
        runs: 12,
        paired: true,
        old: &|_| false,
        new: &|_| false,
    });
    let before = judged(&all);
    assert!(before.outcomes.is_empty());
    assert_eq!(before.comparisons[0].attempted, None);
    // A run that failed for a reason outside of the code under test does not count.
    all.failures.push(FailedRun {
        configuration: "new".into(),
        workload: "use".into(),
        order: 99,
        why: "ended too early: QEMU: signal 9".into(),
        ..FailedRun::default()
    });
    assert!(judged(&all).outcomes.is_empty());
}

#[test]
fn a_side_that_lost_runs_is_not_equivalent() {
    let equal = |crashes: u32| {
        let document = judged(&records(&CrashPattern {
            runs: 40,
            paired: true,
            old: &|_| false,
            new: &|block| block < crashes,
        }));
        (
            document.comparisons[0].verdict,
            document.comparisons[0].attempted,
        )
    };
    assert_eq!(equal(0), (Verdict::Equivalent, None));
    assert_eq!(equal(7), (Verdict::Undecided, Some([40, 40])));
}

#[test]
fn complaints_of_completed_runs_are_counted_apart_from_crashes() {
    let mut all = records(&CrashPattern {
        runs: 40,
        paired: true,
        old: &|_| false,
        new: &|_| false,
    });
    for run in all
        .runs
        .iter()
        .filter(|run| run.configuration == "new")
        .take(12)
    {
        all.complained.push(ComplainedRun {
            configuration: run.configuration.clone(),
            workload: run.workload.clone(),
            order: run.order,
            complaints: complaints(WARNING),
        });
    }
    let document = judged(&all);
    let row = only(&document);
    assert_eq!(
        (row.outcome, row.count, row.n),
        (RunEnd::Complained, 12, 40)
    );
    assert!(row.is_worse());
    // A complaint does not make a run fail.
    assert_eq!(document.comparisons[0].attempted, None);
}

#[test]
fn warnings_outside_the_measurement_have_a_row_of_their_own() {
    let mut all = records(&CrashPattern {
        runs: 40,
        paired: true,
        old: &|_| false,
        new: &|_| false,
    });
    let of_new = all.runs.iter().filter(|run| run.configuration == "new");
    for (at, run) in of_new.take(12).enumerate() {
        let mut all_complaints = complaints(WARNING);
        // Every third run also has another complaint, in its window.
        if at % 3 == 0 {
            let other = complaints(&WARNING.replace("ring_check", "ring_use"));
            all_complaints.extend(other);
        }
        all_complaints[0].phase = Phase::SetUp;
        all.complained.push(ComplainedRun {
            configuration: run.configuration.clone(),
            workload: run.workload.clone(),
            order: run.order,
            complaints: all_complaints,
        });
    }
    let document = judged(&all);
    let cause = &document.outcomes[0].signatures[0].signature;
    assert_eq!(cause, "WARNING in ring_use+0xa1 [ring]");
    let counted: Vec<_> = document
        .outcomes
        .iter()
        .map(|row| (row.outcome, row.count))
        .collect();
    // A run with complaints in both phases counts in both.
    let expected = [(RunEnd::Complained, 4), (RunEnd::ComplainedOutside, 12)];
    assert_eq!(counted, expected);
}

#[test]
fn other_crashes_equally_often_are_said() {
    let mut all = records(&CrashPattern {
        runs: 20,
        paired: true,
        old: &|block| block < 4,
        new: &|block| block >= 16,
    });
    for failure in all
        .failures
        .iter_mut()
        .filter(|one| one.configuration == "new")
    {
        failure.console = failure.console.replace("ring_take", "ring_put");
    }
    let document = judged(&all);
    let note = only(&document).note.clone().unwrap_or_default();
    assert_eq!(
        note,
        "causes differ: oops in ring_take+0x5e [ring] (4 runs) only before, \
         oops in ring_put+0x5e [ring] (4 runs) only now"
    );
}

#[test]
fn a_cause_that_is_new_is_said_though_another_is_shared() {
    let mut all = records(&CrashPattern {
        runs: 40,
        paired: true,
        old: &|block| block < 8,
        new: &|block| (7..15).contains(&block),
    });
    let new = all
        .failures
        .iter_mut()
        .filter(|one| one.configuration == "new");
    for failure in new.skip(1) {
        failure.console = failure.console.replace("ring_take", "ring_put");
    }
    let note = only(&judged(&all)).note.clone().unwrap_or_default();
    assert_eq!(
        note,
        "causes differ: oops in ring_put+0x5e [ring] (7 runs) only now"
    );
}

#[test]
fn crashes_that_move_to_another_workload_are_said() {
    let mut all = records(&CrashPattern {
        runs: 20,
        paired: true,
        old: &|block| block < 4,
        new: &|block| block < 4,
    });
    let mut other = records(&CrashPattern {
        runs: 20,
        paired: true,
        old: &|_| false,
        new: &|_| false,
    });
    all.workloads.push("other".into());
    for run in &mut other.runs {
        run.workload = "other".into();
        run.order += 40;
    }
    for failure in &mut all.failures {
        if failure.configuration == "new" {
            failure.workload = "other".into();
        }
    }
    all.runs.extend(other.runs);
    let note = only(&judged(&all)).note.clone().unwrap_or_default();
    assert_eq!(note, "workloads differ: use before, other now");
}

#[test]
fn a_crash_does_not_hide_the_warning_before_it() {
    // The same 16 seeds warn on both sides; with `new` they crash afterwards.
    let mut all = records(&CrashPattern {
        runs: 40,
        paired: true,
        old: &|_| false,
        new: &|block| block < 16,
    });
    let warned = all.runs.iter().filter(|run| run.configuration == "old");
    all.complained = warned
        .take(16)
        .map(|run| ComplainedRun {
            configuration: run.configuration.clone(),
            workload: run.workload.clone(),
            order: run.order,
            complaints: complaints(WARNING),
        })
        .collect();
    for failure in &mut all.failures {
        failure.complaints = complaints(&format!("{WARNING}{}", failure.console));
    }
    let document = judged(&all);
    let warnings = |document: &Document| {
        let mut rows = document.outcomes.iter();
        let row = rows.find(|row| row.outcome == RunEnd::Complained).cloned();
        row.map(|row| {
            (
                [row.count_baseline, row.n_baseline, row.count, row.n],
                row.verdict,
            )
        })
    };
    assert_eq!(
        warnings(&document),
        Some(([16, 40, 16, 40], Verdict::Undecided))
    );
    // It is unknown whether a run that crashed without a warning would have had one later.
    for failure in &mut all.failures {
        failure.complaints.remove(0);
    }
    let (counts, verdict) = warnings(&judged(&all)).unwrap();
    assert_eq!((counts, verdict), ([16, 40, 0, 24], Verdict::Undecided));
}

#[test]
fn the_fewest_runs_that_would_tell_do_tell() {
    for crashes in 1..12 {
        let document = judged(&records(&CrashPattern {
            runs: 40,
            paired: true,
            old: &|_| false,
            new: &|block| block % 3 == 1 && block < 3 * crashes,
        }));
        let row = only(&document);
        let fewest = row.fewest.unwrap();
        assert_eq!(row.is_worse(), row.count >= fewest, "{row:?}");
    }
}

#[test]
fn runs_of_something_else_than_asked_are_counted() {
    let mut all = records(&CrashPattern {
        runs: 40,
        paired: true,
        old: &|_| false,
        new: &|block| block < 9,
    });
    for failure in &mut all.failures {
        failure.ending = Some(Ending::NotAsAsked);
        failure.console.clear();
    }
    let document = judged(&all);
    let row = only(&document);
    assert_eq!((row.outcome, row.count, row.n), (RunEnd::NotAsAsked, 9, 40));
    assert_eq!(document.comparisons[0].attempted, Some([40, 40]));
}

/// A deterministic source of numbers between 0 and 1 (Steele, Lea and Flood
/// 2014).
struct UniformDraws(u64);

impl UniformDraws {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / 9_007_199_254_740_992.0
    }
}

/// The number of `documents` in which a difference in crashes is established, with these
/// probabilities of a crash per side.
fn count_established(documents: u32, runs: u32, paired: bool, chances: [f64; 2]) -> u32 {
    let mut chance = UniformDraws(1);
    let mut found = 0;
    for _ in 0..documents {
        let mut draw = |share: f64| (0..runs).map(|_| chance.next() < share).collect::<Vec<_>>();
        let [old, new] = chances.map(&mut draw);
        let mut all = records(&CrashPattern {
            runs,
            paired,
            old: &|block| old[block as usize],
            new: &|block| new[block as usize],
        });
        // Only endings are judged here.
        all.runs.iter_mut().for_each(|run| run.metrics.clear());
        let rows = judged(&all).outcomes;
        found += u32::from(rows.iter().any(|row| row.verdict == Verdict::Established));
    }
    found
}

#[test]
fn equal_chances_of_a_crash_are_called_different_in_less_than_one_document_of_twenty() {
    for paired in [false, true] {
        assert_eq!(count_established(20, 40, paired, [0.0, 0.0]), 0);
        assert_eq!(count_established(20, 40, paired, [1.0, 1.0]), 0);
        for share in [0.05, 0.3, 0.5] {
            let wrong = count_established(300, 40, paired, [share, share]);
            assert!(wrong <= 15, "{paired} {share}: {wrong} of 300");
        }
    }
}

#[test]
fn one_crash_in_five_against_none_is_found_in_four_documents_of_five() {
    for paired in [false, true] {
        let right = count_established(400, 40, paired, [0.0, 0.2]);
        assert!(right >= 320, "{paired}: {right} of 400");
    }
}

/// The slow runs of one side crash, so its remaining runs look fast.
#[test]
fn a_kernel_whose_slow_runs_crash_is_not_called_better() {
    let mut chance = UniformDraws(2);
    let mut better = 0;
    for _ in 0..20 {
        let mut all = records(&CrashPattern {
            runs: 30,
            paired: true,
            old: &|_| false,
            new: &|_| false,
        });
        for run in &mut all.runs {
            let value = 10.0 * (1.0 + 0.1 * (chance.next() + chance.next() - 1.0));
            run.metrics
                .insert("time".into(), Measurement::new(value, "s"));
        }
        let slow = |run: &Run| run.configuration == "new" && run.metrics["time"].value > 10.3;
        for run in all.runs.iter().filter(|run| slow(run)) {
            all.failures.push(FailedRun {
                configuration: "new".into(),
                workload: "use".into(),
                order: run.order,
                block: run.block,
                image: run.image,
                ending: Some(Ending::Crashed),
                ..FailedRun::default()
            });
        }
        all.runs.retain(|run| !slow(run));
        better += u32::from(judged(&all).comparisons[0].verdict != Verdict::Undecided);
    }
    assert!(better <= 1, "{better} of 20");
}

/// A run of each side per block and workload, with the crashes of each.
fn on_workloads(
    [workloads, runs]: [u32; 2],
    old: &dyn Fn(u32, u32) -> bool,
    new: &dyn Fn(u32, u32) -> bool,
) -> Records {
    let mut all = Records::default();
    for workload in 0..workloads {
        let mut one = records(&CrashPattern {
            runs,
            paired: true,
            old: &|block| old(workload, block),
            new: &|block| new(workload, block),
        });
        let name = format!("w{workload}");
        for run in &mut one.runs {
            run.workload.clone_from(&name);
        }
        for run in &mut one.failures {
            run.workload.clone_from(&name);
        }
        all.runs.extend(one.runs);
        all.failures.extend(one.failures);
        all.configurations = one.configurations;
        all.workloads.push(name);
    }
    all
}

/// All workloads of a block start from one image with one seed. A crash may affect all of them, so
/// the block is one observation.
#[test]
fn crashes_of_one_block_count_once_however_many_workloads_it_has() {
    let all = on_workloads([7, 8], &|_, _| false, &|_, block| block == 3);
    let options = Options {
        claims: vec!["new > old + 5% on crashes".into()],
        ..Options::default()
    };
    let document = try_records(&all, &options).unwrap();
    let row = only(&document);
    assert_eq!((row.count, row.n), (7, 56));
    let pairs = row.pairs.unwrap();
    assert_eq!((pairs.pairs, pairs.only_configuration), (56, 7));
    assert_eq!(pairs.design_effect, 7.0);
    assert_eq!((row.p, row.verdict), (1.0, Verdict::Undecided));
    assert_eq!(
        document.claims[0].outcome,
        crate::document::Outcome::Undecided
    );
}

#[test]
fn runs_that_fail_alike_are_of_one_cause_whatever_they_print() {
    let mut all = records(&CrashPattern {
        runs: 8,
        paired: true,
        old: &|_| false,
        new: &|block| block < 6,
    });
    for (at, run) in all.failures.iter_mut().enumerate() {
        run.why = format!("use: exit status 3: failed at {at} of 9");
        run.console = String::new();
        run.ending = Some(Ending::ExitStatus);
    }
    let document = judged(&all);
    let [cause] = &only(&document).signatures[..] else {
        panic!("{:#?}", document.outcomes);
    };
    assert_eq!(cause.signature, "use: exit status 3");
    assert_eq!(cause.line, cause.signature, "no line is of all six");
    assert_eq!(cause.runs.len(), 6);
}

/// Crashes that are no more alike within blocks than between them count separately.
#[test]
fn seven_crashes_of_eight_blocks_of_four_workloads_are_established() {
    let crashes = [(0, 0), (1, 0), (2, 2), (0, 3), (3, 3), (1, 5), (2, 6)];
    let all = on_workloads([4, 8], &|_, _| false, &|workload, block| {
        crashes.contains(&(workload, block))
    });
    let options = Options {
        claims: vec!["new > old on crashes".into()],
        ..Options::default()
    };
    let document = try_records(&all, &options).unwrap();
    let row = only(&document);
    assert_eq!((row.count, row.n), (7, 32));
    assert_eq!(row.verdict, Verdict::Established, "{row:?}");
    let claim = &document.claims[0];
    assert_eq!(claim.outcome, crate::document::Outcome::Upheld, "{claim:?}");
}

/// Ten crashes of runs that start from two of eight images are two observations.
#[test]
fn crashes_of_one_image_count_once_however_many_blocks_start_from_it() {
    let mut all = records(&CrashPattern {
        runs: 40,
        paired: true,
        old: &|_| false,
        new: &|block| block % 8 < 2,
    });
    let completed = all.runs.iter_mut().map(|run| &mut run.image);
    let failed = all.failures.iter_mut().map(|run| &mut run.image);
    for image in completed.chain(failed) {
        *image = image.map(|image| image % 8);
    }
    let document = judged(&all);
    let row = only(&document);
    assert_eq!(
        (row.count, row.verdict),
        (10, Verdict::Undecided),
        "{row:?}"
    );
}

/// With one image, a verdict is about runs from that image, so each block counts.
#[test]
fn crashes_of_runs_that_all_start_from_one_image_count_by_block() {
    let mut all = records(&CrashPattern {
        runs: 8,
        paired: true,
        old: &|_| false,
        new: &|block| block > 0,
    });
    let completed = all.runs.iter_mut().map(|run| &mut run.image);
    let failed = all.failures.iter_mut().map(|run| &mut run.image);
    completed.chain(failed).for_each(|image| *image = Some(1));
    let options = Options {
        claims: vec!["new > old + 30% on crashes".into()],
        ..Options::default()
    };
    let document = try_records(&all, &options).unwrap();
    let row = only(&document);
    assert_eq!(
        (row.count, row.verdict),
        (7, Verdict::Established),
        "{row:?}"
    );
    let claim = &document.claims[0];
    assert!(!claim.because.contains("attainable p: 1"), "{claim:?}");
}

/// An image may make all runs of one side crash, independently of the change.
#[test]
fn sides_whose_images_crash_are_called_different_in_less_than_one_document_of_twenty() {
    for [workloads, blocks] in [[4, 8], [7, 8], [2, 20]] {
        let mut chance = UniformDraws(1);
        let mut wrong = 0;
        for _ in 0..100 {
            let mut draw = || -> Vec<bool> { (0..blocks).map(|_| chance.next() < 0.2).collect() };
            let (old, new) = (draw(), draw());
            let mut all = on_workloads(
                [workloads, blocks],
                &|_, block| old[block as usize],
                &|_, block| new[block as usize],
            );
            // Only endings are judged here.
            all.runs.iter_mut().for_each(|run| run.metrics.clear());
            let rows = judged(&all).outcomes;
            wrong += u32::from(rows.iter().any(|row| row.verdict == Verdict::Established));
        }
        assert!(wrong <= 5, "{wrong} of 100 with {workloads} workloads");
    }
}

#[test]
fn the_fewest_pairs_are_rounded_as_those_that_are_counted() {
    for tenths in 10..40 {
        let counted = |only_configuration| {
            let pairs = OutcomePairs {
                pairs: 200,
                only_baseline: 0,
                only_configuration,
                design_effect: f64::from(tenths) / 10.0,
            };
            (pairs.effective()[1], pairs)
        };
        for effective in 1..20 {
            let least = counted(0).1.least_for(effective);
            assert!(
                counted(least).0 >= effective,
                "{tenths} {effective} {least}"
            );
            assert!(
                counted(least - 1).0 < effective,
                "{tenths} {effective} {least}"
            );
        }
    }
}
