//! Executes runs, several at a time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use assize_plan::{Plan, PlannedRun};
use assize_target::{OrderResult, RunFailure as HowFailed, RunOutcome, Target};

use super::reproducibility::{self, ReproducibilityCheck};
use crate::failure::Failure;

/// How often to check for an interrupt while nothing else happens.
const PULSE: Duration = Duration::from_millis(50);

/// One finished execution of a run.
#[derive(Debug)]
pub(crate) struct FinishedExecution {
    pub(crate) run: PlannedRun,
    /// The number of the attempt, from 1.
    pub(crate) attempt: u32,
    /// Whether it failed and will be retried.
    pub(crate) again: bool,
    pub(crate) done: OrderResult,
}

impl FinishedExecution {
    /// The line for the log, with everything that differs between executions of a run.
    pub(crate) fn log_line(&self) -> serde_json::Value {
        let failed = match &self.done.outcome {
            RunOutcome::Completed(_) => None,
            RunOutcome::Failed { failure, .. } => Some(failure),
        };
        let at = SystemTime::now().duration_since(UNIX_EPOCH);
        serde_json::json!({
            "index": self.run.index,
            "attempt": self.attempt,
            "ended_unix_s": at.map_or(0.0, |at| at.as_secs_f64()),
            "wall_s": self.done.elapsed.as_secs_f64(),
            "cached": self.done.cached,
            "memory_image": self.done.machine.get("memory_image"),
            "differed": reproducibility::differed(&self.done),
            "failed": failed,
        })
    }
}

/// The runs to execute, and how.
pub(crate) struct Engine<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) target: &'a dyn Target,
    pub(crate) jobs: usize,
    /// Selects the runs that are executed twice and must agree.
    pub(crate) twice: &'a ReproducibilityCheck,
    /// Set from outside to stop the engine.
    pub(crate) interrupted: &'a AtomicBool,
}

/// A progress report.
#[derive(Debug)]
pub(crate) enum RunEvent<'a> {
    /// A run has ended.
    Ended(Box<FinishedExecution>),
    /// Runs in progress, each with its start time; reported from time to time.
    UnderWay(&'a BTreeMap<usize, (PlannedRun, Instant)>),
}

enum SlotMessage {
    Begun(usize, PlannedRun),
    Ended(usize, Box<FinishedExecution>),
    Broken(assize_target::Error),
}

impl Engine<'_> {
    /// Executes `runs`, starting them in this order, and reports finished and current runs on the
    /// calling thread. A failed run is retried as often as the plan allows; it never stops the
    /// others.
    ///
    /// After an interrupt, no run starts and results of current runs are not reported; `kill` is
    /// called repeatedly until they have ended.
    pub(crate) fn carry_out(
        &self,
        runs: &[PlannedRun],
        mut kill: impl FnMut(),
        mut tell: impl FnMut(RunEvent<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let next = AtomicUsize::new(0);
        let halt = AtomicBool::new(false);
        let (sender, receiver) = channel();
        thread::scope(|scope| {
            for slot in 0..self.jobs.min(runs.len()).max(1) {
                let (sender, next, halt) = (sender.clone(), &next, &halt);
                scope.spawn(move || self.work(runs, slot, next, halt, &sender));
            }
            drop(sender);
            let mut first: Result<(), Failure> = Ok(());
            // Current runs by slot.
            let mut under_way = BTreeMap::new();
            loop {
                let told = receiver.recv_timeout(PULSE);
                if self.is_interrupted() {
                    kill();
                }
                let event = match told {
                    Ok(SlotMessage::Begun(slot, run)) => {
                        under_way.insert(slot, (run, Instant::now()));
                        Ok(RunEvent::UnderWay(&under_way))
                    }
                    Ok(SlotMessage::Ended(slot, ended)) => {
                        under_way.remove(&slot);
                        Ok(RunEvent::Ended(ended))
                    }
                    Ok(SlotMessage::Broken(error)) => Err(Failure::Target(error)),
                    Err(RecvTimeoutError::Timeout) => Ok(RunEvent::UnderWay(&under_way)),
                    Err(RecvTimeoutError::Disconnected) => return first,
                };
                let failed = match event {
                    Ok(event) if first.is_ok() => tell(event).err(),
                    Ok(_) => None,
                    Err(failure) => Some(failure),
                };
                if let Some(failure) = failed {
                    halt.store(true, Ordering::SeqCst);
                    first = first.and(Err(failure));
                }
            }
        })
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }

    fn work(
        &self,
        runs: &[PlannedRun],
        slot: usize,
        next: &AtomicUsize,
        halt: &AtomicBool,
        sender: &Sender<SlotMessage>,
    ) {
        loop {
            if halt.load(Ordering::SeqCst) || self.is_interrupted() {
                return;
            }
            let Some(run) = runs.get(next.fetch_add(1, Ordering::SeqCst)) else {
                return;
            };
            if !self.attempts(run, slot, sender) {
                return;
            }
        }
    }

    /// Executes a run with its retries; returns whether the slot may take another run.
    fn attempts(&self, run: &PlannedRun, slot: usize, sender: &Sender<SlotMessage>) -> bool {
        let Some(order) = self.plan.order(run.index) else {
            let error = assize_target::Error {
                what: format!("run {}", run.index),
                why: "the plan names a configuration or a workload that it does not hold".into(),
                mend: None,
                wrong_use: true,
            };
            let _ = sender.send(SlotMessage::Broken(error));
            return false;
        };
        for attempt in 1.. {
            if sender.send(SlotMessage::Begun(slot, *run)).is_err() {
                return false;
            }
            let place = (run.index, slot);
            let done = match self.twice.run(self.target, &order, place) {
                Ok(done) => done,
                Err(error) => {
                    // The interrupt killed the run, so the error is not the target's.
                    if !self.was_interrupted() {
                        let _ = sender.send(SlotMessage::Broken(error));
                    }
                    return false;
                }
            };
            let failed = matches!(done.outcome, RunOutcome::Failed { .. });
            if failed && self.was_interrupted() {
                return false;
            }
            // A kernel crash is the result of the run, so it is not retried.
            let again = failed && !crashed(&done.outcome) && attempt <= self.plan.retries;
            let ended = FinishedExecution {
                run: *run,
                attempt,
                again,
                done,
            };
            if sender
                .send(SlotMessage::Ended(slot, Box::new(ended)))
                .is_err()
            {
                return false;
            }
            if !again {
                return true;
            }
        }
        true
    }

    /// Whether an interrupt came. Waits briefly for it: a terminal signals the processes of a run
    /// and this one at the same time.
    fn was_interrupted(&self) -> bool {
        if !self.is_interrupted() {
            thread::sleep(PULSE);
        }
        self.is_interrupted()
    }
}

/// Whether the kernel panicked or oopsed.
fn crashed(outcome: &RunOutcome) -> bool {
    let RunOutcome::Failed { failure, .. } = outcome else {
        return false;
    };
    matches!(failure, HowFailed::Panic { .. } | HowFailed::Rebooted)
}

#[cfg(test)]
#[path = "engine_tests.rs"]
mod tests;
