//! The messages without a view.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use assize_job::{Machine, Payload, Workload};
use assize_target::{OrderResult, RunFailure, RunOutcome};

use super::*;

/// A plan of two configurations with this many runs of each.
fn plan(runs: u32) -> Plan {
    let configuration = |name: &str| {
        serde_json::json!({
            "name": name, "label": name, "levels": {}, "aa": false,
            "machine": Machine::default(), "setup": [], "teardown": [], "background": [],
            "workloads": [Workload::default()],
        })
    };
    let workload = serde_json::to_value(Workload::default()).unwrap();
    let text = serde_json::json!({
        "schema": assize_plan::SCHEMA, "source": "", "experiment": "", "title": "", "question": "",
        "target": "host", "seed": 1, "factors": {}, "workloads": [workload], "instruments": [],
        "configurations": [configuration("base"), configuration("queue")],
        "runs": (0..2 * runs).map(|index| serde_json::json!({
            "index": index, "block": index / 2, "configuration": index % 2, "workload": 0,
            "repetition": index / 2 + 1, "seed": index,
        })).collect::<Vec<_>>(),
        "primary": [{"metric": "time", "better": "lower"}], "higher_is_better": [],
        "until": null, "margin": 0.01, "retries": 0, "timeout_ms": 0, "samples": false,
        "offset_ns_max": 0, "payload": Payload::default(),
    });
    serde_json::from_value(text).unwrap()
}

/// All lines printed for a plan whose run with this index fails.
fn printed_lines(plan: &Plan, fails: Option<u32>) -> Vec<String> {
    let mut progress = Progress::new(plan, |_| false, true);
    let mut lines = Vec::new();
    for run in &plan.runs {
        let failed = fails == Some(run.index);
        let outcome = if failed {
            RunOutcome::Failed {
                failure: RunFailure::Ended {
                    how: "signal 9".into(),
                },
                records: Vec::new(),
                console: String::new(),
            }
        } else {
            RunOutcome::Completed(vec![assize_job::AgentMessage::Identity {
                parts: Vec::new(),
            }])
        };
        let ended = FinishedExecution {
            run: *run,
            attempt: 1,
            again: false,
            done: OrderResult {
                outcome,
                machine: BTreeMap::new(),
                cached: run.index == 1,
                elapsed: Duration::ZERO,
            },
        };
        let mut recorded = crate::record::recorded(plan, run, &ended.done, &[]);
        let by = if run.configuration == 0 { 1.0 } else { 0.5 };
        let time = by * (1.0 + 0.01 * f64::from(run.index / 2));
        let value = Measurement::new(time, "s");
        recorded.run.metrics.insert("time".into(), value);
        progress.count(&ended, &recorded);
        lines.extend(progress.lines(&ended, &recorded));
    }
    lines
}

#[test]
fn every_run_has_a_line_and_now_and_then_one_says_how_it_stands() {
    let lines = printed_lines(&plan(15), None);
    let interim: Vec<&String> = lines.iter().filter(|l| l.starts_with("so far: ")).collect();
    assert_eq!(interim.len(), 2, "{lines:?}");
    assert!(
        interim[0].starts_with("so far: 10/30 runs, 0/2 cells, 1 cached"),
        "{interim:?}"
    );
    assert_eq!(lines.len(), 30 + 2, "{lines:?}");
}

#[test]
fn few_runs_have_their_lines_only() {
    assert_eq!(printed_lines(&plan(5), None).len(), 10);
}

#[test]
fn a_failed_run_is_counted() {
    let lines = printed_lines(&plan(15), Some(3));
    assert!(lines[3].contains("failed: "), "{}", lines[3]);
    assert!(lines[10].contains("1 failed"), "{}", lines[10]);
}

#[test]
fn a_run_that_goes_on_is_told_once() {
    let plan = plan(2);
    let mut progress = Progress::new(&plan, |_| false, true);
    let at = |index: usize, time: Duration| (&plan.runs[index], time);
    let soon = [at(0, Duration::ZERO), at(1, LONG / 2)];
    assert_eq!(progress.long(soon.into_iter()), [""; 0]);
    let workload = &plan.workloads[0].name;
    let now = [at(0, LONG), at(1, 2 * LONG)];
    assert_eq!(
        progress.long(now.into_iter()),
        [
            format!("run 0: base on {workload}: running for 20 s"),
            format!("run 1: queue on {workload}: running for 20 s"),
        ]
    );
    assert_eq!(progress.long(now.into_iter()), [""; 0]);
    assert_eq!(
        progress.now([&plan.runs[0], &plan.runs[1]].into_iter()),
        format!(", now base on {workload} and queue on {workload}")
    );
    assert_eq!(progress.now([].into_iter()), "");
}
