//! Timelines of recorded runs.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use assize_job::events::KernelEventLog;
use assize_trace::{BusySpan, SpanKind, TracedRun, timeline};

fn recorded(name: &str) -> TracedRun {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assize/tests/data");
    let text = fs::read_to_string(data.join(name)).unwrap();
    TracedRun::new(KernelEventLog::parse(&text).unwrap())
}

const RUNS: [&str; 2] = ["kernel-events-bypass.txt", "kernel-events-drm-sched.txt"];

fn length(span: &BusySpan) -> f64 {
    span.end_ns - span.start_ns
}

/// The busy time of each CPU, computed from context switches alone.
fn busy(events: &KernelEventLog) -> BTreeMap<u32, f64> {
    let mut last: BTreeMap<u32, (u64, bool)> = BTreeMap::new();
    let mut sums: BTreeMap<u32, f64> = BTreeMap::new();
    for row in &events.rows {
        let value = |field| events.value(row, field);
        let (Some(prev), Some(next)) = (value("prev_pid"), value("next_pid")) else {
            continue;
        };
        let (since, _) = *last.get(&row.cpu).unwrap_or(&(events.start_ns, true));
        let sum = sums.entry(row.cpu).or_default();
        if prev != 0 {
            *sum += (row.at_ns - since) as f64;
        }
        last.insert(row.cpu, (row.at_ns, next != 0));
    }
    for (cpu, (since, runs)) in last {
        if runs {
            *sums.entry(cpu).or_default() += (events.stop_ns - since) as f64;
        }
    }
    sums
}

#[test]
fn cpus_are_as_busy_as_their_switches_say() {
    for name in RUNS {
        let run = recorded(name);
        let timeline = timeline(0, &run, usize::MAX);
        let busy = busy(&run.events);
        assert!(!busy.is_empty());
        for (cpu, ns) in busy {
            let mut lanes = timeline.lanes.iter();
            let lane = lanes.find(|lane| lane.name == format!("CPU {cpu}"));
            let shown: f64 = lane.unwrap().spans.iter().map(length).sum();
            assert_eq!(shown, ns, "{name}: CPU {cpu}");
        }
    }
}

#[test]
fn every_job_that_was_run_is_on_its_engine() {
    for name in RUNS {
        let run = recorded(name);
        let timeline = timeline(0, &run, usize::MAX);
        let engines = timeline.lanes.iter().filter(|lane| lane.kind == "engine");
        let shown: usize = engines.map(|lane| lane.spans.len()).sum();
        let jobs = run.jobs.iter().filter(|job| job.run.is_some()).count();
        assert!(jobs > 0 && shown == jobs, "{name}: {shown} of {jobs}");
        for span in timeline.lanes.iter().flat_map(|lane| &lane.spans) {
            assert!(0.0 <= span.start_ns && span.start_ns <= span.end_ns);
            assert!(span.end_ns <= timeline.end_ns);
        }
    }
}

#[test]
fn a_small_picture_covers_what_a_whole_one_shows() {
    for name in RUNS {
        let run = recorded(name);
        let (whole, small) = (timeline(0, &run, usize::MAX), timeline(0, &run, 12));
        let mut spans = small.lanes.iter().flat_map(|lane| &lane.spans);
        assert!(spans.any(|span| span.kind == SpanKind::Merged));
        assert!(!small.thinned.is_empty());
        for (whole, small) in whole.lanes.iter().zip(&small.lanes) {
            assert!(small.spans.len() <= 12);
            for one in &whole.spans {
                let mut over = small.spans.iter();
                assert!(over.any(|s| s.start_ns <= one.start_ns && one.end_ns <= s.end_ns));
            }
        }
    }
}

#[test]
fn the_same_run_gives_the_same_picture() {
    let text = |name| serde_json::to_string(&timeline(3, &recorded(name), 40)).unwrap();
    assert_eq!(text(RUNS[0]), text(RUNS[0]));
    assert!(text(RUNS[1]).contains("\"kind\":\"worker\""));
}
