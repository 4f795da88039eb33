//! The kernel test robot's tables.

use super::*;

const TWO_JOBS: &str = include_str!("../lkp/two-jobs.txt");

const BASE: &str = "1f2e3d4c5b (\"queue: Count what waits\")";
const NEW: &str = "a0b1c2d3e4 (\"queue: Wait without a lock\")";
const FIRST: &str = "pipe-bench cpufreq_governor=performance mode=thread nr_task=50% \
                     tbox_group=box-a01 test=small";

#[test]
fn a_column_is_a_commit_and_a_row_a_metric() {
    let read = read(TWO_JOBS);
    let told = read.summaries();
    // Four rows of two columns, then two rows of three.
    assert_eq!(told.len(), 4 * 2 + 2 * 3);
    let (configuration, workload, figure, _, n) = &told[0];
    assert_eq!((configuration.as_str(), workload.as_str()), (BASE, FIRST));
    assert_eq!(*figure, Figure::new("pipe-bench.ops", 41250.0, ""));
    assert_eq!(*n, Some(5), "four failures of five are five runs");
    let (configuration, _, figure, ..) = &told[7];
    assert_eq!(configuration, NEW);
    assert_eq!(*figure, Figure::new("perf-stat.i.miss-rate%", 7.75, ""));
    assert_eq!(read.doubts(), [""; 0]);
}

#[test]
fn the_deviation_is_the_largest_that_is_printed_so() {
    let told = read(TWO_JOBS).summaries();
    let unbiased = (5.0_f64 / 4.0).sqrt();
    let close = |at: usize, wanted: f64| {
        let sd = told[at].3.unwrap();
        assert!((sd / wanted - 1.0).abs() < 1e-12, "{at}: {sd} {wanted}");
    };
    close(0, 41250.0 * 0.02 * unbiased);
    close(2, 310.5 * 0.05 * unbiased);
    close(3, 402.25 * 0.13 * unbiased);
}

#[test]
fn without_failures_the_number_of_runs_is_not_known() {
    let told = read(TWO_JOBS).summaries();
    for (configuration, workload, _, _, n) in &told[8..] {
        assert!(workload.starts_with("disk-bench fs=ext4"), "{workload}");
        assert!(!configuration.is_empty());
        assert_eq!(*n, None);
    }
    // The third column's commit is listed without a subject.
    assert_eq!(told[10].0, "77aa88bb99  <--- what was proposed above");
    assert_eq!(told[8].3, None, "a single run has no deviation either");
}

#[test]
fn marks_of_every_age_and_damage_are_understood() {
    for mark in ["\u{fffd}", "~", "+-"] {
        let text = TWO_JOBS.replace('±', mark);
        assert_eq!(
            read(&text).summaries(),
            read(TWO_JOBS).summaries(),
            "{mark}"
        );
    }
}

#[test]
fn a_row_without_its_figures_is_a_doubt_and_the_others_are_read() {
    let row = "     310.50 ±  4%     +29.5%     402.25 ± 12%  pipe-bench.wait_us\n";
    assert!(TWO_JOBS.contains(row));
    let text = TWO_JOBS.replace(row, "     310.50 ±  4%     +29.5%\n");
    let read = read(&text);
    assert_eq!(read.doubts(), ["ragged-row"]);
    assert_eq!(read.summaries().len(), 6 + 6);
}

#[test]
fn nothing_is_made_of_a_table_whose_columns_have_no_names() {
    let from = TWO_JOBS.find("         %stddev").unwrap();
    let to = TWO_JOBS.find("\nThe other").unwrap();
    let read = read(&TWO_JOBS[from..to]);
    assert!(read.summaries().is_empty());
    let only_failures = TWO_JOBS.split("         %stddev").next().unwrap();
    assert!(self::read(only_failures).summaries().is_empty());
}
