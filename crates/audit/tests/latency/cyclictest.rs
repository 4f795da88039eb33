//! cyclictest.

use assize_audit::grammar::cyclictest::Cyclictest;

use super::{blocks, doubts, runs, survives, survives_long_lines};

const QUIET: &str = include_str!("../cyclictest/quiet.txt");
const NANOSECONDS: &str = include_str!("../cyclictest/nanoseconds.txt");
const REDRAWN: &str = include_str!("../cyclictest/redrawn.txt");
const HISTOGRAM: &str = include_str!("../cyclictest/histogram.txt");
const COLUMN: &str = include_str!("../cyclictest/summary-column.txt");
const JSON: &str = include_str!("../cyclictest/json.txt");

const ORIGINAL: &str = "\
  policy: fifo: loadavg: 0.02 0.03 0.05

  T: 0 ( 1449) P:80 I:200 C: 800368 Min:   0 Act:   32 Avg:   22 Max:  128
  T: 1 ( 1450) P:80 I:200 C: 800301 Min:   0 Act:   12 Avg:   23 Max:   70
";
const CHANGED: &str = "\
  policy: fifo: loadavg: 0.36 0.19 0.07

  T: 0 ( 1711) P:80 I:200 C: 759599 Min:   0 Act:    6 Avg:   22 Max:  108
  T: 1 ( 1712) P:80 I:200 C: 759539 Min:   0 Act:   19 Avg:   23 Max:   79
";

#[test]
fn threads_are_one_run() {
    let runs = runs(&Cyclictest, ORIGINAL);
    assert_eq!(runs.len(), 1);
    let run = &runs[0];
    assert_eq!(run.get("latency min"), "0 us");
    assert_eq!(run.get("latency max"), "128 us");
    assert!(run.get("latency avg").starts_with("22.49997"));
    assert_eq!(run.get("latency max T0"), "128 us");
    assert_eq!(run.get("latency max T1"), "70 us");
    assert_eq!(run.get("latency avg T1"), "23 us");
    assert_eq!(run.get("latency min T1"), "0 us");
    assert_eq!(run.figures.len(), 9);
}

#[test]
fn an_invocation_after_another_is_another_run() {
    for between in ["", "\n", "The results after the change:\n\n"] {
        let text = format!("{ORIGINAL}{between}{CHANGED}");
        let maxima: Vec<String> = runs(&Cyclictest, &text)
            .iter()
            .map(|run| run.get("latency max"))
            .collect();
        assert_eq!(maxima, ["128 us", "108 us"], "{between:?}");
    }
}

#[test]
fn an_invocation_without_any_head_is_another_run() {
    let text = format!("{ORIGINAL}{CHANGED}");
    let threads: String = text
        .lines()
        .filter(|line| line.contains("T:"))
        .map(|l| format!("{l}\n"))
        .collect();
    assert_eq!(runs(&Cyclictest, &threads).len(), 2);
}

#[test]
fn a_recorded_summary_is_read() {
    let runs = runs(&Cyclictest, QUIET);
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].get("latency min"), "35 us");
    assert_eq!(runs[0].get("latency max"), "678 us");
    assert_eq!(doubts(&Cyclictest, QUIET), [""; 0]);
    assert_eq!(blocks(&Cyclictest, QUIET)[0].taken.len(), 3);
}

#[test]
fn the_unit_is_microseconds_where_the_output_does_not_say() {
    assert_eq!(
        runs(&Cyclictest, NANOSECONDS)[0].get("latency max T0"),
        "75321 us"
    );
}

#[test]
fn a_redrawn_screen_is_the_same_run() {
    let blocks = blocks(&Cyclictest, REDRAWN);
    assert_eq!(blocks.len(), 1);
    let runs = runs(&Cyclictest, REDRAWN);
    assert_eq!(runs.len(), 1);
    let refreshed = blocks[0]
        .taken
        .iter()
        .filter(|taken| **taken == "cyclictest refresh");
    let threads = REDRAWN
        .lines()
        .filter(|line| line.starts_with("T:"))
        .count();
    assert_eq!(refreshed.count(), threads - 2);
    let last = REDRAWN
        .lines()
        .rfind(|line| line.starts_with("T: 0"))
        .unwrap();
    let max = last.split_ascii_whitespace().last().unwrap();
    assert_eq!(runs[0].get("latency max T0"), format!("{max} us"));
}

#[test]
fn a_redrawn_screen_without_heads_is_the_same_run() {
    let text = "\
T: 0 ( 7) P:80 I:200 C:    10 Min:   3 Act:   4 Avg:   4 Max:  9
T: 1 ( 8) P:80 I:200 C:    10 Min:   3 Act:   4 Avg:   4 Max:  7
T: 0 ( 7) P:80 I:200 C:    20 Min:   2 Act:   4 Avg:   4 Max:  9
T: 1 ( 8) P:80 I:200 C:    20 Min:   3 Act:   4 Avg:   4 Max:  8
";
    let redrawn = runs(&Cyclictest, text);
    assert_eq!(redrawn.len(), 1);
    assert_eq!(redrawn[0].get("latency max T1"), "8 us");
    let shrunk = text.replace("C:    20", "C:     5");
    assert_eq!(runs(&Cyclictest, &shrunk).len(), 2);
}

#[test]
fn a_histogram_gives_the_quantiles_with_ten_samples_beyond() {
    let runs = runs(&Cyclictest, HISTOGRAM);
    assert_eq!(runs.len(), 1);
    let run = &runs[0];
    assert_eq!(run.get("latency min"), "14 us");
    assert_eq!(run.get("latency max T1"), "4380 us");
    // 6000 samples: 6 lie beyond p99.9.
    assert_ne!(run.get("latency p99"), "none");
    assert_eq!(run.get("latency p99.9"), "none");
    assert_eq!(doubts(&Cyclictest, HISTOGRAM), [""; 0]);
    let lines = HISTOGRAM.trim_end().lines().count();
    assert_eq!(blocks(&Cyclictest, HISTOGRAM)[0].taken.len(), lines);
}

#[test]
fn a_column_over_all_threads_is_not_a_thread() {
    let run = &runs(&Cyclictest, COLUMN)[0];
    assert_ne!(run.get("latency max T1"), "none");
    assert_eq!(run.get("latency max T2"), "none");
    let two = "# Histogram\n000003 000100\t000100\t000200\n000004 000100\t000100\t000200\n\
               # Total: 000000200 000000200 000000400\n# Min Latencies: 00003 00003\n\
               # Avg Latencies: 00003 00003\n# Max Latencies: 00004 00004 00004\n\
               # Histogram Overflows: 00000 00000 00000\n";
    let run = &runs(&Cyclictest, two)[0];
    assert_eq!(run.get("latency p50"), "3 us");
    assert_eq!(run.get("latency p99"), "none");
}

#[test]
fn quantiles_above_the_histogram_are_doubted() {
    let text = "# Histogram\n000003 000100\n# Total: 000000100\n# Min Latencies: 00003\n\
                # Avg Latencies: 00030\n# Max Latencies: 00400\n# Histogram Overflows: 00900\n";
    assert_eq!(doubts(&Cyclictest, text), ["histogram-overflow"]);
    let run = &runs(&Cyclictest, text)[0];
    assert_eq!(run.get("latency p50"), "none");
    assert_eq!(run.get("latency max"), "400 us");
}

#[test]
fn summary_rows_alone_are_read_but_means_without_weights_are_not_pooled() {
    let text = "# Min Latencies: 00008 00007\n# Avg Latencies: 00062 00060\n# Max Latencies: 00099 00141\n";
    let run = &runs(&Cyclictest, text)[0];
    assert_eq!(run.get("latency max"), "141 us");
    assert_eq!(run.get("latency avg T0"), "62 us");
    assert_eq!(run.get("latency avg"), "none");
    let run = &runs(&Cyclictest, "# Max Latencies: 00090 00096 00141\n")[0];
    assert_eq!(run.get("latency max T2"), "141 us");
}

#[test]
fn a_broken_histogram_row_is_doubted() {
    let text = HISTOGRAM.replacen("000060 ", "000060\n", 1);
    assert_eq!(doubts(&Cyclictest, &text), ["ragged-histogram"]);
    assert_eq!(runs(&Cyclictest, &text)[0].get("latency p50"), "none");
}

#[test]
fn a_histogram_that_ends_early_is_truncated() {
    assert_eq!(
        doubts(&Cyclictest, "# Histogram\n000003 000100\n\ntext"),
        ["truncated-block"]
    );
    assert_eq!(
        doubts(&Cyclictest, "# Histogram\n\ntext"),
        ["truncated-block"]
    );
}

#[test]
fn a_thread_line_may_be_broken_by_a_mailer() {
    let text = "T: 0 ( 1449) P:80 I:200 C: 800368 Min:   0 Act:   32 Avg:\n22 Max:  128\n\
                T: 1 ( 1450) P:80 I:200 C: 800301 Min:   0 Act:   12 Avg:   23\nMax:   70\n";
    let run = &runs(&Cyclictest, text)[0];
    assert_eq!(run.get("latency max"), "128 us");
    assert_eq!(run.get("latency avg T0"), "22 us");
    assert_eq!(run.get("latency max T1"), "70 us");
    assert_eq!(blocks(&Cyclictest, text)[0].taken.len(), 4);
}

#[test]
fn bad_numbers_take_the_figures_they_may_change_with_them() {
    for bad in ["nan", "inf", "1,2,3", "-128"] {
        let text = ORIGINAL.replace("128", bad);
        assert_eq!(doubts(&Cyclictest, &text), ["bad-number"], "{bad}");
        let run = &runs(&Cyclictest, &text)[0];
        assert_eq!(run.get("latency max"), "none");
        assert_eq!(run.get("latency max T0"), "none");
        assert_eq!(run.get("latency max T1"), "70 us");
        assert_eq!(run.get("latency min"), "0 us");
    }
}

#[test]
fn a_thread_line_that_ends_early_is_doubted() {
    let text = "T: 0 ( 1449) P:80 I:200 C: 800368 Min:   3 Act:   32 Avg:   22\n\ntext\n";
    assert_eq!(doubts(&Cyclictest, text), ["truncated-block"]);
    let run = &runs(&Cyclictest, text)[0];
    assert_eq!(run.get("latency min"), "3 us");
    assert_eq!(run.get("latency max"), "none");
}

#[test]
fn a_head_without_threads_is_truncated() {
    let head =
        "# /dev/cpu_dma_latency set to 0us\npolicy: fifo: loadavg: 0.02 0.03 0.05 1/95 7\n\ntext\n";
    assert_eq!(doubts(&Cyclictest, head), ["truncated-block"]);
    assert_eq!(blocks(&Cyclictest, head)[0].taken.len(), 2);
}

#[test]
fn a_thread_that_never_ran_is_doubted() {
    let text = "T: 0 (    0) P: 0 I:10000 C:      0 Min:1000000 Act:    0 Avg:    0 Max:       0\n\
                T: 1 (    9) P: 0 I:10000 C:     10 Min:      5 Act:    7 Avg:    6 Max:       8\n";
    assert_eq!(doubts(&Cyclictest, text), ["no-samples"]);
    let run = &runs(&Cyclictest, text)[0];
    assert_eq!(run.get("latency min"), "5 us");
    assert_eq!(run.get("latency max T0"), "none");
}

#[test]
fn json_is_read_with_its_command() {
    let runs = runs(&Cyclictest, JSON);
    assert_eq!(runs.len(), 1);
    let run = &runs[0];
    assert_eq!(run.get("latency max"), "1638 us");
    assert_eq!(run.get("latency avg T0"), "63.85 us");
    assert!(
        run.labels
            .workload
            .as_deref()
            .unwrap()
            .starts_with("cyclictest -q")
    );
    // 997 of 1000 samples lie above the histogram.
    assert_eq!(doubts(&Cyclictest, JSON), ["histogram-overflow"]);
    let lines = JSON.trim_end().lines().count();
    assert_eq!(blocks(&Cyclictest, JSON)[0].taken.len(), lines);
}

#[test]
fn json_says_when_the_unit_is_nanoseconds() {
    let text = JSON.replace("\"resolution_in_ns\": 0", "\"resolution_in_ns\": 1");
    assert_eq!(runs(&Cyclictest, &text)[0].get("latency max"), "1638 ns");
}

#[test]
fn json_may_be_cut_down_to_its_threads() {
    let start = JSON.find("  \"thread\"").unwrap();
    let end = JSON.trim_end().rfind('}').unwrap();
    assert_eq!(
        runs(&Cyclictest, &JSON[start..end])[0].get("latency max T1"),
        "1638 us"
    );
}

#[test]
fn json_that_ends_early_or_holds_no_numbers_is_doubted() {
    let cut: String = JSON
        .lines()
        .take(30)
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(doubts(&Cyclictest, &cut), ["truncated-block"]);
    let bad = JSON.replace("\"max\": 1638", "\"max\": \"nan\"");
    assert!(doubts(&Cyclictest, &bad).contains(&"bad-number"));
    assert_eq!(runs(&Cyclictest, &bad)[0].get("latency max"), "none");
}

#[test]
fn other_text_is_left_alone() {
    let text = "T: foo\nT: 0 of 3\npolicy: we have none\n{\n\"a\": 1\n}\n# Total: 5 tests\n\"thread\": 1\n";
    assert!(blocks(&Cyclictest, text).is_empty());
}

#[test]
fn any_text_is_survived() {
    let original = format!("{ORIGINAL}{CHANGED}");
    let short: String = HISTOGRAM
        .lines()
        .skip(190)
        .map(|l| format!("{l}\n"))
        .collect();
    let short = format!("# Histogram\n{short}");
    let fixtures = [QUIET, REDRAWN, JSON, &short, &original];
    survives(&Cyclictest, &fixtures);
    survives_long_lines(&Cyclictest, &short);
    survives_long_lines(&Cyclictest, &original);
}
