//! Tests of slow runs, from records to rows.

use assize_bundle::{Measurement, Records, Run};

use super::*;
use crate::document::{Document, OutcomeComparison, OutcomeTest, Verdict};
use crate::options::Options;
use crate::trial::try_records;

/// Random numbers by splitmix64 (Steele, Lea and Flood 2014).
struct SplitMix64(u64);

impl SplitMix64 {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / 9_007_199_254_740_992.0
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// Runs of two sides; `value` gives a run's largest latency by block and side.
fn records(runs: u32, paired: bool, mut value: impl FnMut(u32, usize) -> f64) -> Records {
    let mut records = Records::default();
    for block in 0..runs {
        for (side, name) in ["never", "rarely"].into_iter().enumerate() {
            let mut run = Run::new(name, "read", block + 1);
            run.order = 2 * block + side as u32;
            (run.block, run.image) = (paired.then_some(block), paired.then_some(block));
            let value = Measurement::new(value(block, side), "ns");
            run.metrics.insert("latency_ns_max".into(), value);
            records.runs.push(run);
        }
    }
    records
}

fn judged(records: &Records) -> Document {
    try_records(records, &Options::default()).unwrap()
}

/// Latencies of about 0.4 ms, plus 5 ms in runs with a stall.
fn stalls(stalled: impl Fn(u32, usize) -> bool, paired: bool) -> Vec<OutcomeComparison> {
    let mut source = SplitMix64(1);
    let all = records(40, paired, |block, side| {
        let stall = if stalled(block, side) { 5e6 } else { 0.0 };
        4e5 * (0.05 * source.normal()).exp() + stall
    });
    judged(&all).outcomes
}

#[test]
fn a_threshold_that_is_asked_for_is_the_one_that_counts() {
    let all = records(6, false, |block, side| match (block, side) {
        (0..4, 1) => 1_500_000.0,
        _ => 400_000.0 + f64::from(block),
    });
    let rows = |slow: &[&str]| {
        let slow = slow.iter().map(|text| (*text).to_owned()).collect();
        let options = Options {
            slow,
            ..Options::default()
        };
        try_records(&all, &options).map(|document| document.outcomes)
    };
    let counted = |slow: &str| {
        let rows = rows(&[slow]).unwrap();
        let [row] = &rows[..] else { panic!("{rows:?}") };
        let heading = row.heading();
        (heading, row.count_baseline, row.count, row.n)
    };
    let heading = |of: &str| format!("latency_ns_max above {of} on read");
    assert_eq!(counted("latency_ns_max > 1 ms"), (heading("1 ms"), 0, 4, 6));
    assert_eq!(
        counted("latency_ns_max>300us"),
        (heading("300 us"), 6, 6, 6)
    );
    // A count of zero is reported too.
    assert_eq!(counted("latency > 2ms"), (heading("2 ms"), 0, 0, 6));
    // Six runs per side are too few to choose a threshold.
    assert_eq!(rows(&[]).unwrap(), []);
    for wrong in [
        "latency_ns_max",
        "latency_ns_max > 1",
        "latency_ns_max > 1 MB",
        "latency_ns_max > 0 ms",
        "> 1 ms",
    ] {
        let error = rows(&[wrong]).unwrap_err();
        assert!(
            matches!(error, Error::Option { option: "slow", .. }),
            "{wrong}: {error}"
        );
    }
    let error = rows(&["latensy > 1 ms"]).unwrap_err();
    assert!(
        matches!(error, Error::Metric { option: "slow", .. }),
        "{error}"
    );
}

#[test]
fn a_stall_in_two_runs_of_forty_is_told_with_the_runs() {
    for paired in [false, true] {
        let rows = stalls(|block, side| side == 1 && [1, 30].contains(&block), paired);
        let [row] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!(row.outcome, RunEnd::Slow);
        assert_eq!((row.count_baseline, row.n_baseline), (0, 40));
        assert_eq!((row.count, row.n), (2, 40));
        let tail = row.tail.as_ref().unwrap();
        assert_eq!((tail.above, tail.unit.as_str()), (810.0, "us"));
        let runs: Vec<u32> = row.signatures[0].runs.iter().map(|run| run.index).collect();
        assert_eq!(runs, [3, 61]);
        assert_eq!(row.verdict, Verdict::Undecided);
        let test = [OutcomeTest::Fisher, OutcomeTest::McNemar][usize::from(paired)];
        assert_eq!(row.test, test);
        assert_eq!(row.heading(), "latency_ns_max above 810 us on read");
    }
}

#[test]
fn a_stall_in_a_quarter_of_the_runs_is_established_and_its_mirror_too() {
    for side in [0, 1] {
        let rows = stalls(|block, at| at == side && block % 4 == 0, true);
        let [row] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!(
            (row.verdict, row.is_worse()),
            (Verdict::Established, side == 1)
        );
    }
}

#[test]
fn nothing_is_told_of_runs_without_a_tail_and_of_what_is_no_tail() {
    assert_eq!(stalls(|_, _| false, true), []);
    // Stalls in every second run of both sides are normal, not rare.
    assert_eq!(stalls(|block, _| block % 2 == 0, true), []);
    // One side is slower in every run.
    assert_eq!(stalls(|_, side| side == 1, true), []);
    // There are too few runs to define a tail.
    let few = records(
        7,
        false,
        |block, side| if (block, side) == (1, 1) { 9e6 } else { 4e5 },
    );
    assert_eq!(judged(&few).outcomes, []);
}

/// The rows of slow runs when these tests have all of alpha.
fn slow_rows(records: &Records) -> Vec<OutcomeComparison> {
    let (cells, options) = (Cells::new(records), Options::default());
    let baselines = Baselines::new(&cells, &options).unwrap();
    let (none, mut hypotheses) = (BTreeSet::new(), Hypotheses::default());
    let given = BTreeMap::new();
    let rows = ask_all(&cells, &baselines, &none, &none, &given, &mut hypotheses);
    crate::outcomes::settle(rows, &hypotheses.answer(options.alpha, 0), &options)
}

/// False positives with a realistic number of runs: stalls are equally frequent on both sides, or
/// values have heavy tails.
#[test]
fn equal_tails_are_seldom_called_different() {
    const DOCUMENTS: u64 = 1000;
    for (paired, heavy) in [(true, false), (false, false), (true, true)] {
        let (mut told, mut wrong) = (0, 0);
        for seed in 0..DOCUMENTS {
            let mut source = SplitMix64(seed);
            let all = records(40, paired, |_, _| match heavy {
                true => 4e5 / (1.0 - source.uniform()).powf(0.7),
                false if source.uniform() < 0.1 => 5e6,
                false => 4e5 * (0.05 * source.normal()).exp(),
            });
            for row in slow_rows(&all) {
                told += 1;
                wrong += u64::from(row.verdict == Verdict::Established);
            }
        }
        println!("paired {paired}, heavy {heavy}: {wrong} of {told}");
        assert!(told >= DOCUMENTS / 4, "{told}");
        assert!(
            wrong * 20 <= DOCUMENTS,
            "{wrong} of {DOCUMENTS} (seeds 0 to {DOCUMENTS})"
        );
    }
}
