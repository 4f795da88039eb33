#![allow(clippy::unwrap_used)] // A test may fail.

use std::collections::BTreeMap;
use std::time::Duration;

use assize_target::RunFailure;

use super::*;

fn plan() -> Plan {
    serde_json::from_value(serde_json::json!({
        "schema": assize_plan::SCHEMA, "source": "", "experiment": "", "title": "", "question": "",
        "target": "exact", "seed": 1, "factors": {}, "instruments": [],
        "workloads": [assize_job::Workload::default()],
        "configurations": [{
            "name": "base", "label": "base", "levels": {}, "aa": false,
            "machine": assize_job::Machine::default(),
            "setup": [], "teardown": [], "background": [],
            "workloads": [assize_job::Workload::default()],
        }],
        "runs": [{"index": 4, "block": 2, "configuration": 0, "workload": 0, "repetition": 3, "seed": 9, "image": 3}],
        "primary": [], "higher_is_better": [], "until": null, "margin": 0.01,
        "retries": 0, "timeout_ms": 0, "samples": true, "offset_ns_max": 0,
        "payload": assize_job::Payload::default(),
    }))
    .unwrap()
}

fn recorded_run(outcome: RunOutcome) -> RunRecord {
    let said = AgentMessage::Identity { parts: Vec::new() };
    let outcome = match outcome {
        RunOutcome::Completed(mut records) => {
            records.push(said);
            RunOutcome::Completed(records)
        }
        failed => failed,
    };
    with(outcome, &[])
}

fn with(outcome: RunOutcome, expected: &[RunIdentityPart]) -> RunRecord {
    let machine = [("qemu", "10.0"), ("memory_image", "abc")];
    let plan = plan();
    let done = OrderResult {
        outcome,
        machine: machine.map(|(k, v)| (k.into(), v.into())).into(),
        cached: false,
        elapsed: Duration::from_secs(1),
    };
    recorded(&plan, &plan.runs[0], &done, expected)
}

fn metrics(records: Vec<AgentMessage>) -> Vec<(String, f64, String)> {
    let recorded = recorded_run(RunOutcome::Completed(records));
    let metrics = recorded.run.metrics.into_iter();
    metrics.map(|(name, m)| (name, m.value, m.unit)).collect()
}

fn histogram(metric: &str, unit: &str, buckets: &[(u64, u64)]) -> AgentMessage {
    AgentMessage::Histogram {
        metric: metric.into(),
        unit: unit.into(),
        buckets: buckets.to_vec(),
        exact: true,
    }
}

fn samples(metric: &str, values: &[f64]) -> AgentMessage {
    AgentMessage::Samples {
        metric: metric.into(),
        unit: "ns".into(),
        start_ns: Some(7000),
        t_ns: vec![5; values.len()],
        values: values.to_vec(),
    }
}

#[test]
fn a_run_keeps_its_place_and_its_seed() {
    let recorded = recorded_run(RunOutcome::Completed(Vec::new()));
    assert_eq!((recorded.index, recorded.seed()), (4, 9));
    let run = &recorded.run;
    assert_eq!((run.order, run.block, run.repetition), (4, Some(2), 3));
    assert_eq!(run.image, Some(3));
    assert_eq!((&*run.configuration, &*run.workload), ("base", "true"));
}

#[test]
fn facts_of_one_execution_only_are_not_recorded() {
    let facts = BTreeMap::from([("kernel".into(), "6.12".into())]);
    let recorded = recorded_run(RunOutcome::Completed(vec![AgentMessage::Environment {
        facts,
    }]));
    let names: Vec<&String> = recorded.environment.keys().collect();
    assert_eq!(names, ["kernel", "qemu"]);
}

#[test]
fn histograms_give_the_quantiles_that_their_samples_support() {
    let row = |name: &str, value: f64| (name.to_string(), value, "ns".to_string());
    assert_eq!(
        metrics(vec![histogram("latency", "ns", &[(1000, 99), (3000, 1)])]),
        [
            row("latency_ns_p50", 1000.0),
            row("latency_ns_p90", 1000.0),
            row("latency_ns_max", 3000.0),
            row("latency_ns_mad", 0.0)
        ]
    );
    let many = metrics(vec![histogram("latency", "ns", &[(1, 5000), (2, 5000)])]);
    let names: Vec<&str> = many.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "latency_ns_p50",
            "latency_ns_p90",
            "latency_ns_p99",
            "latency_ns_p99.9",
            "latency_ns_max",
            "latency_ns_p99_minus_p50",
            "latency_ns_mad"
        ]
    );
    assert_eq!(many[5], row("latency_ns_p99_minus_p50", 0.5));
    assert_eq!(many[6], row("latency_ns_mad", 0.5));
    assert!(metrics(vec![histogram("latency", "ns", &[])]).is_empty());
}

#[test]
fn samples_are_reduced_unless_a_histogram_of_their_name_is() {
    let values: Vec<f64> = (0..100).rev().map(f64::from).collect();
    let alone = metrics(vec![samples("latency", &values)]);
    assert_eq!(alone[0], ("latency_ns_p50".into(), 49.5, "ns".into()));
    let both = metrics(vec![
        samples("latency", &values),
        histogram("latency", "ns", &[(7, 1)]),
    ]);
    assert_eq!(both, [("latency_ns_max".into(), 7.0, "ns".into())]);
}

#[test]
fn times_of_samples_count_from_the_start() {
    let recorded = recorded_run(RunOutcome::Completed(vec![samples("x", &[1.0, 2.0, 3.0])]));
    assert_eq!(recorded.samples[0].t_ns, [5, 10, 15]);
}

#[test]
fn what_is_no_distribution_is_a_doubt_and_no_quantile() {
    let recorded = recorded_run(RunOutcome::Completed(vec![histogram(
        "latency",
        "ns",
        &[(2, 1), (1, 1)],
    )]));
    assert!(recorded.run.metrics.is_empty());
    assert_eq!(recorded.doubts[0].code, "unreadable-distribution");
}

#[test]
fn events_are_counted_in_seconds() {
    let recorded = recorded_run(RunOutcome::Completed(vec![AgentMessage::Events {
        event: "hwlat".into(),
        count: 2,
        exposure_ns: 3_000_000_000,
        span_ns: None,
        tolerated_ns: None,
        t_ns: vec![500_000_000, 1_000_000_000],
    }]));
    let events = &recorded.events[0];
    assert_eq!((events.count, events.exposure_s), (2, Some(3.0)));
    assert_eq!(events.times_s, [0.5, 1.0]);
    assert_eq!(events.configuration, "base");
}

#[test]
fn a_failed_run_says_why_and_keeps_what_it_had() {
    let recorded = recorded_run(RunOutcome::Failed {
        failure: RunFailure::Timeout { after_s: 7 },
        records: vec![AgentMessage::Metric {
            metric: "n".into(),
            value: 1.0,
            unit: String::new(),
        }],
        console: "last words".into(),
    });
    let want = RunExit::Failed {
        why: "not done after 7 s".into(),
        console: "last words".into(),
    };
    assert_eq!(recorded.exit, want);
    assert_eq!(recorded.run.metrics["n"].value, 1.0);
}

#[test]
fn what_a_console_says_after_the_agent_is_no_crash() {
    let console = "Out of memory: Killed process 7 (tail)\n\
                   Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000100\n";
    let failed = |answered: bool| {
        let word = AgentMessage::Failed {
            stage: RunStage::Workload,
            what: "it".into(),
            why: "the kernel killed 1 of its processes for lack of memory".into(),
        };
        let failure = match answered {
            true => RunFailure::Agent {
                stage: RunStage::Workload,
                what: "it".into(),
                why: "the kernel killed 1 of its processes for lack of memory".into(),
            },
            false => RunFailure::Panic {
                line: "Kernel panic - not syncing".into(),
            },
        };
        recorded_run(RunOutcome::Failed {
            failure,
            records: answered.then_some(word).into_iter().collect(),
            console: console.into(),
        })
    };
    let answered = failed(true);
    assert_eq!(answered.ending, Some(Ending::OutOfMemory));
    assert_eq!(answered.complaints, []);
    let crashed = failed(false);
    assert_eq!(crashed.ending, Some(Ending::Crashed));
    assert_eq!(crashed.complaints.len(), 1);
}

#[test]
fn a_stream_has_a_jitter_and_other_distributions_have_none() {
    let buckets = [(100, 500), (300, 500)];
    let jitter = |all: Vec<AgentMessage>| {
        let mut found = metrics(all).into_iter();
        let found = found.find(|(metric, ..)| metric == "jitter");
        found.map(|(_, value, unit)| (value, unit))
    };
    assert_eq!(jitter(vec![histogram("latency", "ns", &buckets)]), None);
    let (sd, unit) = jitter(vec![histogram("round_trip", "ns", &buckets)]).unwrap();
    // All deviations from the mean are 100; the divisor is n - 1.
    assert!(
        (sd - 100.0 * (1000.0_f64 / 999.0).sqrt()).abs() < 1e-9,
        "{sd}"
    );
    assert_eq!(unit, "ns");
    // A single value has no spread.
    let one = vec![histogram("round_trip", "ns", &[(1, 1)])];
    assert_eq!(
        recorded_run(RunOutcome::Completed(one)).doubts[0].code,
        "unreadable-distribution"
    );
}

#[test]
fn counters_are_given_per_job_where_jobs_are_counted() {
    let metric = |metric: &str, value: f64| AgentMessage::Metric {
        metric: metric.into(),
        value,
        unit: String::new(),
    };
    let of = |jobs: Option<f64>| {
        let mut records = vec![metric("context_switches", 30.0), metric("migrations", 2.0)];
        records.extend(jobs.map(|jobs| metric("jobs", jobs)));
        let metrics = metrics(records).into_iter();
        let per_job = metrics.filter(|(name, ..)| name.ends_with("_per_job"));
        per_job
            .map(|(name, value, _)| (name, value))
            .collect::<Vec<_>>()
    };
    assert_eq!(of(None), []);
    assert_eq!(of(Some(0.0)), []);
    assert_eq!(
        of(Some(12.0)),
        [("context_switches_per_job".to_owned(), 2.5)]
    );
}

fn module(digest: &str) -> RunIdentityPart {
    RunIdentityPart::new(IdentityKind::Module, "gpu_sched", digest)
}

#[test]
fn a_run_with_another_module_has_failed_and_says_which() {
    let (wanted, found) = ("4f1c0000000011", "9a02000000002222");
    let said = AgentMessage::Identity {
        parts: vec![module(found)],
    };
    let recorded = with(RunOutcome::Completed(vec![said.clone()]), &[module(wanted)]);
    let RunExit::Failed { why, .. } = &recorded.exit else {
        unreachable!("{:?}", recorded.exit)
    };
    let words = "module gpu_sched was 9a0200000000, not 4f1c00000000";
    assert!(why.contains(words), "{why}");
    assert_eq!(recorded.identity[0].value.as_deref(), Some(found));
    let right = with(RunOutcome::Completed(vec![said]), &[module(found)]);
    assert_eq!(right.exit, RunExit::Completed);
}

#[test]
fn a_run_that_does_not_say_what_it_was_has_failed() {
    let recorded = with(RunOutcome::Completed(Vec::new()), &[]);
    assert!(matches!(recorded.exit, RunExit::Failed { .. }));
}
