//! What lines of `perf stat` are.

use super::line::{is_event, place};

#[test]
fn names_that_perf_prints_are_events() {
    #[rustfmt::skip]
    let cases = [
        "cycles", "cycles:u", "LLC-load-misses", "L1-dcache-loads:u", "cpu_core/cycles/",
        "power/energy-pkg/", "cpu/event=0x3c,umask=0x0/", "cpu_atom/instructions/u", "r01c2",
        "sched:sched_switch", "inst_retired.any", "duration_time", "context-switches",
    ];
    for name in cases {
        assert!(is_event(name), "{name}");
    }
    #[rustfmt::skip]
    let cases = [
        "patches", "bytes", "seconds", "foo_bar.c", "note:this", "frames", "http://x/y/z",
    ];
    for name in cases {
        assert!(!is_event(name), "{name}");
    }
    assert_eq!(place("S0-D0-C12 1 2 cycles"), Some("S0-D0-C12"));
    assert!(place("CPUs").is_none() && place("Sum").is_none());
}
