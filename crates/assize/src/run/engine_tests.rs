#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use std::collections::BTreeMap;
use std::sync::Mutex;

use assize_job::{AgentMessage, Order, RunIdentityPart};
use assize_target::{Error, ReportStep, RunFailure as Broken};

use super::*;

/// A target implemented by a function.
struct FunctionTarget<F: Fn(u64, usize) -> Result<RunOutcome, Error> + Sync> {
    does: F,
    busy: Mutex<Vec<bool>>,
}

impl<F: Fn(u64, usize) -> Result<RunOutcome, Error> + Sync> FunctionTarget<F> {
    fn new(slots: usize, does: F) -> Self {
        let busy = Mutex::new(vec![false; slots]);
        FunctionTarget { does, busy }
    }
}

impl<F: Fn(u64, usize) -> Result<RunOutcome, Error> + Sync> Target for FunctionTarget<F> {
    fn slots(&self) -> usize {
        self.busy.lock().unwrap().len()
    }

    fn prepare_telling(&self, _: &[Order], _: &ReportStep<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn expected(&self, _: &Order) -> Result<Vec<RunIdentityPart>, Error> {
        Ok(Vec::new())
    }

    fn run(&self, order: &Order, slot: usize) -> Result<OrderResult, Error> {
        let was = std::mem::replace(&mut self.busy.lock().unwrap()[slot], true);
        assert!(!was, "slot {slot} is taken twice");
        let outcome = (self.does)(order.job.seed, slot);
        self.busy.lock().unwrap()[slot] = false;
        Ok(OrderResult {
            outcome: outcome?,
            machine: BTreeMap::new(),
            cached: false,
            elapsed: Duration::ZERO,
        })
    }
}

fn completed() -> RunOutcome {
    RunOutcome::Completed(vec![AgentMessage::End { records: 0 }])
}

fn failed() -> RunOutcome {
    RunOutcome::Failed {
        failure: Broken::Ended {
            how: "signal 9".into(),
        },
        records: Vec::new(),
        console: String::new(),
    }
}

/// A plan of this many runs; each has its index as its seed.
fn plan(runs: u32, retries: u32) -> Plan {
    let text = serde_json::json!({
        "schema": assize_plan::SCHEMA, "source": "", "experiment": "", "title": "", "question": "",
        "target": "host", "seed": 1, "factors": {}, "workloads": [], "instruments": [],
        "configurations": [{
            "name": "base", "label": "base", "levels": {}, "aa": false,
            "machine": assize_job::Machine::default(),
            "setup": [], "teardown": [], "background": [],
            "workloads": [assize_job::Workload::default()],
        }],
        "runs": (0..runs).map(|index| serde_json::json!({
            "index": index, "block": index, "configuration": 0, "workload": 0,
            "repetition": index + 1, "seed": index,
        })).collect::<Vec<_>>(),
        "primary": [], "higher_is_better": [], "until": null, "margin": 0.01,
        "retries": retries, "timeout_ms": 0, "samples": false, "offset_ns_max": 0,
        "payload": assize_job::Payload::default(),
    });
    serde_json::from_value(text).unwrap()
}

type EngineReport = Vec<(u32, u32, bool)>;

/// The reports about the runs: index, attempt, and whether it will be retried.
fn carry_out(
    plan: &Plan,
    target: &dyn Target,
    interrupted: &AtomicBool,
) -> (EngineReport, Result<(), Failure>) {
    let engine = Engine {
        plan,
        target,
        jobs: target.slots(),
        twice: &ReproducibilityCheck::default(),
        interrupted,
    };
    let mut told = Vec::new();
    let ended = engine.carry_out(
        &plan.runs,
        || {},
        |event| {
            if let RunEvent::Ended(ended) = event {
                told.push((ended.run.index, ended.attempt, ended.again));
            }
            Ok(())
        },
    );
    (told, ended)
}

#[test]
fn one_job_carries_out_runs_in_the_order_of_the_schedule() {
    let target = FunctionTarget::new(1, |_, _| Ok(completed()));
    let (told, ended) = carry_out(&plan(5, 0), &target, &AtomicBool::new(false));
    assert!(ended.is_ok());
    let want: EngineReport = (0..5).map(|index| (index, 1, false)).collect();
    assert_eq!(told, want);
}

#[test]
fn several_jobs_carry_out_every_run_once() {
    let target = FunctionTarget::new(4, |seed, _| {
        thread::sleep(Duration::from_millis(seed % 3));
        Ok(completed())
    });
    let (mut told, ended) = carry_out(&plan(50, 0), &target, &AtomicBool::new(false));
    told.sort_unstable();
    assert!(ended.is_ok());
    let want: EngineReport = (0..50).map(|index| (index, 1, false)).collect();
    assert_eq!(told, want);
}

#[test]
fn a_failed_run_is_tried_again_and_never_stops_the_rest() {
    let target = FunctionTarget::new(1, |seed, _| {
        Ok(if seed == 1 { failed() } else { completed() })
    });
    let (told, ended) = carry_out(&plan(3, 2), &target, &AtomicBool::new(false));
    assert!(ended.is_ok());
    let want = [
        (0, 1, false),
        (1, 1, true),
        (1, 2, true),
        (1, 3, false),
        (2, 1, false),
    ];
    assert_eq!(told, want);
}

#[test]
fn a_target_that_cannot_go_on_stops_everything() {
    let target = FunctionTarget::new(1, |seed, _| {
        if seed < 2 {
            return Ok(completed());
        }
        Err(Error {
            what: "boot".into(),
            why: "no space left".into(),
            mend: None,
            wrong_use: false,
        })
    });
    let (told, ended) = carry_out(&plan(9, 3), &target, &AtomicBool::new(false));
    assert_eq!(told.len(), 2);
    assert!(matches!(ended, Err(Failure::Target(_))));
}

#[test]
fn an_interrupt_begins_nothing_new_and_tells_nothing_of_what_it_killed() {
    let interrupted = AtomicBool::new(false);
    let target = FunctionTarget::new(1, |seed, _| {
        if seed < 3 {
            return Ok(completed());
        }
        interrupted.store(true, Ordering::SeqCst);
        Ok(failed())
    });
    let (told, ended) = carry_out(&plan(9, 3), &target, &interrupted);
    assert!(ended.is_ok());
    assert_eq!(told, [(0, 1, false), (1, 1, false), (2, 1, false)]);
}

#[test]
fn a_record_that_cannot_be_kept_stops_the_work() {
    let target = FunctionTarget::new(2, |_, _| Ok(completed()));
    let plan = plan(40, 0);
    let engine = Engine {
        plan: &plan,
        target: &target,
        jobs: 2,
        twice: &ReproducibilityCheck::default(),
        interrupted: &AtomicBool::new(false),
    };
    let mut kept = 0;
    let ended = engine.carry_out(
        &plan.runs,
        || {},
        |event| {
            kept += u32::from(matches!(event, RunEvent::Ended(_)));
            if kept < 3 {
                return Ok(());
            }
            Err(Failure::Argument("disk full".into()))
        },
    );
    assert!(matches!(ended, Err(Failure::Argument(_))));
    assert_eq!(kept, 3, "nothing is told after the first failure");
}

#[test]
fn what_is_under_way_is_told_until_it_has_ended() {
    let target = FunctionTarget::new(1, |seed, _| {
        if seed == 1 {
            thread::sleep(3 * PULSE);
        }
        Ok(completed())
    });
    let plan = plan(3, 0);
    let engine = Engine {
        plan: &plan,
        target: &target,
        jobs: 1,
        twice: &ReproducibilityCheck::default(),
        interrupted: &AtomicBool::new(false),
    };
    let mut seen = Vec::new();
    let ended = engine.carry_out(
        &plan.runs,
        || {},
        |event| {
            seen.push(match event {
                RunEvent::Ended(ended) => (ended.run.index, "ended"),
                RunEvent::UnderWay(runs) => match runs.get(&0) {
                    Some((run, _)) => (run.index, "under way"),
                    None => return Ok(()),
                },
            });
            Ok(())
        },
    );
    assert!(ended.is_ok());
    let slow = seen.iter().filter(|(index, _)| *index == 1).count();
    assert!(slow > 2, "it is told again: {seen:?}");
    seen.dedup();
    let wanted = [0, 1, 2].map(|index| [(index, "under way"), (index, "ended")]);
    assert_eq!(seen, wanted.concat());
}
