#![allow(clippy::unwrap_used)] // A test may fail.

use std::collections::BTreeSet;

use super::*;
use crate::{CommandWorkload, INSTRUMENTS, Loop, Periodic, WORKLOADS, Workload, WorkloadKind};

fn workload(kind: &str) -> Workload {
    let text = format!("{{\"name\": \"w\", \"kind\": {kind:?}}}");
    serde_json::from_str(&text).unwrap()
}

fn gives(workloads: &[&Workload], instruments: &[&str], metric: &str) -> bool {
    let instruments: Vec<String> = instruments.iter().map(ToString::to_string).collect();
    let names = measured(workloads, &instruments);
    names.iter().any(|name| name.matches(metric))
}

#[test]
fn givers_are_those_that_there_are() {
    for metric in METRICS {
        match metric.source {
            MetricSource::Instrument(name) => {
                assert!(INSTRUMENTS.iter().any(|one| one.name == name), "{name}");
            }
            MetricSource::Workloads(kinds) => {
                for kind in kinds {
                    assert!(WORKLOADS.iter().any(|(name, _)| name == kind), "{kind}");
                }
            }
        }
    }
    for (kind, _) in WORKLOADS {
        assert_eq!(workload(kind).kind.name(), *kind);
    }
    for counter in PER_JOB {
        let given = METRICS.iter().filter(|metric| metric.name == counter);
        let from: Vec<MetricSource> = given.map(|metric| metric.source).collect();
        assert!(
            matches!(from[..], [MetricSource::Instrument(_)]),
            "{counter}"
        );
    }
    // Everything that has round trips has their jitter.
    let giver = |name| METRICS.iter().find(|metric| metric.name == name);
    assert_eq!(
        giver(JITTER).unwrap().source,
        giver(JITTER_OF).unwrap().source
    );
}

#[test]
fn a_giver_gives_a_name_once() {
    for (kind, _) in WORKLOADS {
        let names = measured(&[&workload(kind)], &[]);
        let once: BTreeSet<String> = names.iter().map(ToString::to_string).collect();
        assert_eq!(once.len(), names.len(), "{kind}");
    }
    let all: Vec<&str> = INSTRUMENTS.iter().map(|one| one.name).collect();
    let metrics_of = |name| of_instrument(name).map(|metric| metric.name);
    let names: Vec<&str> = all.iter().flat_map(|name| metrics_of(name)).collect();
    let once: BTreeSet<&&str> = names.iter().collect();
    assert_eq!(once.len(), names.len());
}

#[test]
fn a_distribution_is_in_a_run_by_its_marks_only() {
    let timer = workload("cyclictest");
    for metric in ["latency_ns_p99.9", "latency_ns_mad", "thread12_latency_max"] {
        assert!(gives(&[&timer], &[], metric), "{metric}");
    }
    for metric in [
        "latency",
        "latency_ns",
        "latency_us_p99",
        "latency_ns_p98",
        "thread_latency_max",
        "threadN_latency_max",
        "wakeup_latency_ns_p99",
    ] {
        assert!(!gives(&[&timer], &[], metric), "{metric}");
    }
    assert!(gives(&[&timer], &["wakeup"], "wakeup_latency_ns_p99:irq/8"));
    assert!(!gives(&[&timer], &["wakeup"], "wakeup_latency_ns_p99:"));
    assert!(gives(&[&timer], &["cpu-idle"], "cpu11_non_idle"));
}

#[test]
fn what_is_per_job_wants_jobs() {
    let (sync, pong) = (workload("sync"), workload("ping-pong"));
    let per_job = "busy_time_per_job";
    assert!(gives(&[&pong, &sync], &["timer-list"], per_job));
    assert!(!gives(&[&pong], &["timer-list"], per_job));
    assert!(!gives(&[&sync], &[], per_job));
    assert!(!gives(&[&sync], &["schedstat"], "run_delay_per_job"));
    assert!(gives(&[&pong], &[], JITTER));
    assert!(!gives(&[&sync], &[], JITTER));
}

#[test]
fn loops_and_what_a_program_prints_are_called_as_they_are() {
    let one = |name: &str| Loop {
        name: name.into(),
        ..Loop::default()
    };
    let periodic = Workload {
        name: "w".into(),
        kind: WorkloadKind::Periodic(Periodic {
            loops: vec![one("AUDION"), one("b")],
            ..Periodic::default()
        }),
    };
    for metric in [
        "AUDION_response_ns_p50",
        "b_wakeup_latency_ns_max",
        "b_overruns",
    ] {
        assert!(gives(&[&periodic], &[], metric), "{metric}");
    }
    assert!(!gives(&[&periodic], &[], "LOOP_overruns"));
    assert!(!gives(&[&periodic], &[], "AUDIO7_overruns"));
    let command = Workload {
        name: "w".into(),
        kind: WorkloadKind::Command(CommandWorkload {
            metrics: vec!["N files".into()],
            ..CommandWorkload::default()
        }),
    };
    assert!(gives(&[&command], &[], "N files"));
    assert!(!gives(&[&command], &[], "7 files"));
}

#[test]
fn who_would_give_a_metric_is_known() {
    let giver: Vec<MetricSource> = metric_sources("busy_time_per_job").collect();
    assert_eq!(giver, [MetricSource::Instrument("timer-list")]);
    assert!(matches!(
        metric_sources("jitter").next(),
        Some(MetricSource::Workloads(_))
    ));
    assert_eq!(metric_sources("jittery").next(), None);
    assert!(is_event("frames_missed") && !is_event("frames"));
}

#[test]
fn events_are_no_metric() {
    assert!(!gives(&[&workload("frames")], &[], "frames_missed"));
}

#[test]
fn marks_are_named_by_stem_unit_and_what_it_is_of() {
    assert_eq!(Mark::P99.metric_name("latency", "ns"), "latency_ns_p99");
    assert_eq!(Mark::Max.metric_name("depth", ""), "depth_max");
    assert_eq!(
        Mark::P999.metric_name("wakeup:a:b", "ns"),
        "wakeup_ns_p99.9:a:b"
    );
}

#[test]
fn a_name_goes_towards_what_was_meant() {
    let names = measured(&[&workload("command")], &["wakeup".into()]);
    let towards: Vec<String> = names
        .iter()
        .map(|name| name.closest_name("wakeup_latency_ns_p98:hog"))
        .collect();
    assert!(towards.contains(&"wakeup_latency_ns_p99:hog".to_owned()));
}
