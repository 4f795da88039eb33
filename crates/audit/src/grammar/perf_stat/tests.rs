//! What lines of `perf stat` are.

use super::line::{is_event, parse, place};
use super::*;
use crate::grammar::testing;

/// How many lines are read, and what of them.
fn shown(lines: &[&str]) -> String {
    let Some(block) = testing::read(&PerfStat, &lines.join("\n")) else {
        return "none".to_owned();
    };
    let findings = block
        .findings
        .iter()
        .map(|(_, finding)| testing::shown(finding));
    let lines = format!("{} lines", block.taken.len());
    std::iter::once(lines)
        .chain(findings)
        .collect::<Vec<_>>()
        .join("; ")
}

#[test]
fn names_that_perf_prints_are_events() {
    for name in [
        "cycles",
        "cycles:u",
        "LLC-load-misses",
        "L1-dcache-loads:u",
        "cpu_core/cycles/",
        "power/energy-pkg/",
        "cpu/event=0x3c,umask=0x0/",
        "cpu_atom/instructions/u",
        "r01c2",
        "sched:sched_switch",
        "inst_retired.any",
        "duration_time",
        "context-switches",
    ] {
        assert!(is_event(name), "{name}");
    }
    for name in [
        "patches",
        "bytes",
        "seconds",
        "foo_bar.c",
        "note:this",
        "frames",
        "http://x/y/z",
    ] {
        assert!(!is_event(name), "{name}");
    }
    assert_eq!(place("S0-D0-C12 1 2 cycles"), Some("S0-D0-C12"));
    assert!(place("CPUs").is_none() && place("Sum").is_none());
}

#[test]
fn a_sentence_is_no_counter() {
    for text in [
        "300 frames in 5.0 seconds",
        "we saw 12 cycles",
        "3 of 4",
        "12:30 noon",
    ] {
        assert_eq!(parse(text), None, "{text}");
    }
    assert_eq!(shown(&["12 cycles of work"]), "none");
    assert_eq!(shown(&["12 cycles", "13 faults"]), "none");
}

#[test]
fn counters_without_a_header_are_read_if_perf_knows_two() {
    assert_eq!(
        shown(&[
            "8,449 context-switches",
            "1,847,846,588 cpu_atom/cycles/",
            "",
            "1.5 seconds time elapsed"
        ]),
        "4 lines; : context-switches=8449, cpu_atom/cycles/=1847846588, elapsed=1.5 s"
    );
    assert_eq!(shown(&["8,449 context-switches", "3 apples"]), "none");
}

#[test]
fn the_fractions_tell_the_decimal_mark() {
    let head = "Performance counter stats for 'a':";
    assert_eq!(
        shown(&[
            head,
            "1.466 cpu-migrations",
            "320.440,96 msec task-clock",
            "",
            "20,03 seconds time elapsed"
        ]),
        "5 lines; a: cpu-migrations=1466, task-clock=320440.96 msec, elapsed=20.03 s"
    );
    assert_eq!(
        shown(&[head, "1.466 cs"]),
        "2 lines; a: cs=1.466; locale-ambiguous"
    );
    assert_eq!(shown(&[head, "1,466 cs"]), "2 lines; a: cs=1466");
}

#[test]
fn several_runs_are_means_and_zero_is_half_a_digit() {
    let head = "Performance counter stats for './rt' (10 runs):";
    assert_eq!(
        shown(&[
            head,
            "100 cycles ( +- 0.00% )",
            "",
            "3.5 +- 0.1 seconds time elapsed ( +- 2% )"
        ]),
        "4 lines; ./rt: cycles=100, Some(StandardError(0.005)), Some(10); \
         ./rt: elapsed=3.5 s, Some(StandardError(0.1)), Some(10)"
    );
}

#[test]
fn what_cannot_be_used_is_doubted() {
    let head = "Performance counter stats for 'a':";
    assert_eq!(
        shown(&[
            head,
            "1,2,3 cs",
            "-12.3 Joules power/x/",
            "<not counted> cycles",
            "5 faults (50.00%)"
        ]),
        "5 lines; a: faults=5; bad-number; bad-number; cycles not counted; multiplexed-counter"
    );
    assert_eq!(shown(&[head]), "1 lines; truncated-block");
}

#[test]
fn lines_that_a_mailer_wrapped_are_joined() {
    assert_eq!(
        shown(&[
            "Performance counter stats for 'a very long",
            "command' (5 runs):",
            "",
            "0.84 msec task-clock       #    0.016 CPUs utilized",
            "( +-  5.00% )",
            "9,140,249,815",
            "cpu_atom/cycles/  ( +-  2.00% )",
        ]),
        "7 lines; a very long command: task-clock=0.84 msec, Some(StandardError(0.042)), Some(5); \
         a very long command: cpu_atom/cycles/=9140249815, Some(StandardError(182804996.3)), Some(5)"
    );
}

#[test]
fn prose_below_ends_a_block() {
    let head = "Performance counter stats for 'a':";
    assert_eq!(
        shown(&[head, "", "12 cycles", "", "3 patches"]),
        "3 lines; a: cycles=12"
    );
    assert_eq!(
        shown(&[head, "12 cycles", "", "# 8 threads"]),
        "2 lines; a: cycles=12"
    );
    let two = [
        head,
        "12 cycles",
        "",
        "1.5 seconds time elapsed",
        "",
        "13 cycles",
    ];
    assert_eq!(shown(&two), "4 lines; a: cycles=12, elapsed=1.5 s");
}

#[test]
fn fields_of_another_table_are_none_of_perf() {
    for text in ["1234,cycles", "12,a,b,c", "1,2,3,4,5", "5,build,ok,12,300"] {
        let lines = [Line::plain(1, text)];
        assert!(PerfStatCsv.read(&lines).is_none(), "{text}");
    }
}
