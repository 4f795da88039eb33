//! schbench.

use assize_audit::grammar::schbench::Schbench;

use super::{blocks, doubts, runs, survives, survives_long_lines};

const REQUESTS: &str = include_str!("../schbench/requests.txt");
const PACED: &str = include_str!("../schbench/paced.txt");
const PIPE: &str = include_str!("../schbench/pipe.txt");
const FIRST: &str = include_str!("../schbench/first-version.txt");
const FIRST_PIPE: &str = include_str!("../schbench/first-version-pipe.txt");
const TWO: &str = include_str!("../schbench/two-configurations.txt");

#[test]
fn of_one_invocation_the_last_report_counts() {
    let runs = runs(&Schbench, REQUESTS);
    assert_eq!(runs.len(), 1);
    let run = &runs[0];
    assert_eq!(run.get("wakeup p50"), "4 us");
    assert_eq!(run.get("wakeup p99"), "30 us");
    assert_eq!(run.get("wakeup p99.9"), "663 us");
    assert_eq!(run.get("wakeup max"), "3302 us");
    assert_eq!(run.get("request p99"), "1050 us");
    assert_eq!(run.get("rps p20"), "2260 requests/s");
    assert_eq!(run.get("rps p50"), "2348 requests/s");
    assert_eq!(run.get("average rps"), "2340.33 requests/s");
    assert_eq!(run.get("sched delay worker"), "0 us");
    assert_eq!(run.get("current rps"), "none");
    assert_eq!(doubts(&Schbench, REQUESTS), [""; 0]);
}

#[test]
fn interim_reports_are_taken_as_such() {
    let blocks = blocks(&Schbench, REQUESTS);
    assert_eq!(blocks.len(), 1);
    let taken = &blocks[0].taken;
    let interim = taken
        .iter()
        .take_while(|taken| **taken == "schbench interim report")
        .count();
    // Three reports of nineteen lines come before the last.
    assert_eq!(interim, 57);
    assert_eq!(taken.len(), 76);
    assert_eq!(taken[57], "schbench title");
}

#[test]
fn a_paced_run_is_one_run() {
    let runs = runs(&Schbench, PACED);
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].get("request max"), "4704 us");
}

#[test]
fn a_run_that_ends_with_its_rate_is_not_superseded() {
    let runs = runs(&Schbench, &format!("{REQUESTS}{PACED}\n{REQUESTS}"));
    let rates: Vec<String> = runs.iter().map(|run| run.get("average rps")).collect();
    assert_eq!(
        rates,
        ["2340.33 requests/s", "125 requests/s", "2340.33 requests/s"]
    );
}

#[test]
fn transfers_have_a_rate_and_a_bandwidth() {
    let run = &runs(&Schbench, PIPE)[0];
    assert_eq!(run.get("worker transfer"), "35469.25 ops/sec");
    assert_eq!(run.get("worker transfer bandwidth"), "138.55 MB/s");
    assert_eq!(run.get("wakeup p20"), "2 us");
    assert_eq!(runs(&Schbench, PIPE).len(), 1);
}

#[test]
fn the_first_version_prints_latencies_of_one_kind() {
    let run = &runs(&Schbench, FIRST)[0];
    assert_eq!(run.get("latency p50"), "34 us");
    assert_eq!(run.get("latency p99"), "125 us");
    assert_eq!(run.get("latency p99.5"), "551 us");
    assert_eq!(run.get("latency min"), "0 us");
    assert_eq!(run.get("latency max"), "551 us");
    assert_eq!(
        runs(&Schbench, FIRST_PIPE)[0].get("worker transfer bandwidth"),
        "153.87 MB/s"
    );
}

#[test]
fn titles_without_a_time_are_runs_of_their_own() {
    assert_eq!(
        runs(&Schbench, &format!("{FIRST}{FIRST}\n{FIRST_PIPE}")).len(),
        3
    );
}

#[test]
fn names_under_one_title_are_configurations() {
    let runs = runs(&Schbench, TWO);
    let read: Vec<_> = runs
        .iter()
        .map(|run| (run.labels.configuration.as_deref(), run.get("latency p99")))
        .collect();
    assert_eq!(
        read,
        [
            (Some("BASE"), "118 us".to_owned()),
            (Some("PATCHED"), "114 us".to_owned())
        ]
    );
    assert_eq!(runs[0].get("worker transfer"), "25192 ops/sec");
    assert_eq!(runs[1].get("worker transfer bandwidth"), "111.77 MB/s");
    assert_eq!(runs[1].get("latency max"), "83877 us");
    assert_eq!(doubts(&Schbench, TWO), [""; 0]);
    assert_eq!(blocks(&Schbench, TWO)[0].taken.len(), 16);
}

/// A final report of a version that prints nothing after the percentiles.
fn unmarked(runtime: u32, samples: u32, max: u32) -> String {
    format!(
        "Latency percentiles (usec) runtime {runtime} (s) ({samples} total samples)\n\
         \t  50.0th: 8          (43672 samples)\n\t* 99.0th: 20         (18323 samples)\n\
         \t  min=1, max={max}\n"
    )
}

#[test]
fn reports_that_say_nothing_go_on_only_if_all_of_them_grows() {
    let report = unmarked;
    let count = |text: String| runs(&Schbench, &text).len();
    assert_eq!(count(report(10, 900, 50) + &report(20, 1900, 50)), 1);
    assert_eq!(count(report(10, 900, 50) + &report(10, 900, 50)), 1);
    assert_eq!(count(report(30, 900, 50) + &report(30, 901, 50)), 2);
    assert_eq!(count(report(10, 900, 50) + &report(20, 800, 50)), 2);
    assert_eq!(count(report(10, 900, 50) + &report(20, 1900, 40)), 2);
    assert_eq!(count(report(20, 900, 50) + &report(10, 1900, 60)), 2);
}

#[test]
fn reports_before_the_warmup_ended_do_not_count() {
    let text = format!(
        "{}warmup done, zeroing stats\n{}",
        unmarked(5, 900, 50),
        unmarked(3, 500, 40)
    );
    let runs = runs(&Schbench, &text);
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].get("latency max"), "40 us");
}

#[test]
fn a_run_that_was_cut_after_an_interim_report_keeps_its_rate() {
    let end = REQUESTS.find("current rps").unwrap();
    let end = end + REQUESTS[end..].find('\n').unwrap();
    let run = &runs(&Schbench, &REQUESTS[..end])[0];
    assert_eq!(run.get("current rps"), "2346.94 requests/s");
}

#[test]
fn a_broken_title_is_put_together() {
    let text = REQUESTS.replace(" total samples)", "\ntotal samples)");
    assert_eq!(runs(&Schbench, &text).len(), 1);
    assert_eq!(runs(&Schbench, &text)[0].get("request p99"), "1050 us");
}

#[test]
fn headings_after_a_report_end_the_block() {
    let text = format!("{PIPE}\nPatched\n=======\n{PIPE}");
    let blocks = blocks(&Schbench, &text);
    assert_eq!(blocks.len(), 2);
    assert_eq!(blocks[0].taken.len(), 8);
}

#[test]
fn bad_numbers_are_doubted_and_left_out() {
    for bad in ["nan", "inf", "1,2,3", "-20"] {
        let text = unmarked(5, 900, 50).replace("th: 20 ", &format!("th: {bad} "));
        assert_eq!(doubts(&Schbench, &text), ["bad-number"], "{bad}");
        let run = &runs(&Schbench, &text)[0];
        assert_eq!(run.get("latency p99"), "none");
        assert_eq!(run.get("latency p50"), "8 us");
    }
    assert_eq!(doubts(&Schbench, "average rps: nan\n"), ["bad-number"]);
}

#[test]
fn a_title_without_percentiles_is_truncated() {
    for rest in ["", "average rps: 12.5\n"] {
        let text =
            format!("RPS percentiles (requests) runtime 9 (s) (10 total samples)\n{rest}\ntext\n");
        assert_eq!(doubts(&Schbench, &text), ["truncated-block"], "{rest}");
    }
}

#[test]
fn other_text_is_left_alone() {
    let text = "Latency percentiles are good\nLatency percentiles (usec) of it\naverage rps: a lot\n\
                avg worker transfer: better\n 99.0th: 3\nmin=1, max=2\n";
    assert!(blocks(&Schbench, text).is_empty());
}

#[test]
fn any_text_is_survived() {
    survives(&Schbench, &[REQUESTS, PACED, PIPE, FIRST, FIRST_PIPE, TWO]);
    survives_long_lines(&Schbench, TWO);
    survives_long_lines(&Schbench, REQUESTS);
}
