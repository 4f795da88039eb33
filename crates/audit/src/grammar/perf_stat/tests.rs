//! What lines of `perf stat` are.

use super::line::{is_event, parse, place};
use super::*;

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
}

#[test]
fn fields_of_another_table_are_none_of_perf() {
    for text in ["1234,cycles", "12,a,b,c", "1,2,3,4,5", "5,build,ok,12,300"] {
        let lines = [Line::plain(1, text)];
        assert!(PerfStatCsv.read(&lines).is_none(), "{text}");
    }
}
