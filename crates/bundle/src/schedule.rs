//! Reads a bundle of runs into records for the judge.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::boots::{Boots, borne_out};
use crate::events::add_events;
use crate::executions::Executions;
use crate::head::StoredHead;
use crate::identified::{CompletedRun, identities};
use crate::layout::{get, raw_path, recorded, run_path, samples_path};
use crate::recorded::{RunExit, RunRecord, Skipped, StoredRun};
use crate::{
    ComplainedRun, Doubt, Error, Events, FailedRun, Records, RunCount, Samples, Unavailable,
    nothing_differs, samples,
};

/// A cell: configuration and workload.
type PlannedCell = (String, String);

/// Reads the recorded runs.
pub(crate) fn read(directory: &Path, stored: StoredHead) -> Result<Records, Error> {
    let there = recorded(directory)?;
    let parts = stored.parts;
    let several = !parts.is_empty();
    let on_host = stored.head.target_kind() == "host";
    let head = stored.head;
    let mut records = Records {
        source: head.source,
        configurations: head.configurations,
        level_settings: head.level_settings,
        same: head.same,
        factors: head.factors,
        workloads: head.workloads,
        higher_is_better: head.higher_is_better,
        primary: head.primary,
        claims: head.claims,
        tables: head.tables,
        tradeoffs: head.tradeoffs,
        limits: borne_out(head.limits),
        ..Records::default()
    };
    let mut collected = CollectedReports::default();
    let mut all_made = Vec::new();
    let mut executions = Executions::default();
    let mut repetitions: BTreeMap<PlannedCell, u32> = BTreeMap::new();
    for &index in &there {
        let mut run: StoredRun<Skipped> = get(&run_path(directory, index))?;
        if several {
            // Each machine has numbered its repetitions from 1.
            let cell = (run.configuration.clone(), run.workload.clone());
            let count = repetitions.entry(cell).or_default();
            *count += 1;
            run.repetition = *count;
        }
        collected.take(&run);
        executions.take(&run);
        if on_host {
            records.boots.take(&run.environment);
        }
        let machine = parts.iter().find(|part| part.holds(index));
        let machine = machine.map(|part| part.machine.clone());
        all_made.extend(completed_run(&mut run, &machine));
        add_run(&mut records, run, machine);
    }
    records.identities = identities(all_made, &head.plan);
    let unread_logs = collected.unread_logs(there.len());
    records.doubts = collected.doubts();
    records.events = collected.events;
    records.unavailable = collected.unavailable.into_iter().collect();
    records.limits.extend(executions.sentence());
    records.limits.extend(unread_logs);
    records.doubts.extend(executions.doubts(directory)?);
    let is_answered = nothing_differs(&records.configurations, &records.same);
    if !is_answered && !stopped_as_planned(&there, &head.plan) {
        records.doubts.extend(incomplete(&there, head.planned_runs));
    }
    Ok(records)
}

/// The fact that a run could not read the kernel's log, as the agent names it: `not read: …`.
const KERNEL_LOG: &str = "kernel_log";

/// Adds a run to the completed or to the failed ones.
fn add_run(records: &mut Records, mut run: StoredRun<Skipped>, machine: Option<String>) {
    match run.exit.clone() {
        RunExit::Completed => {
            records.complained.extend(complained(&mut run));
            let mut run = run.into_run();
            run.machine = machine;
            records.runs.push(run);
        }
        RunExit::Failed { why, console } => {
            let mut failed = failed(run, why, console);
            failed.machine = machine;
            records.failures.push(failed);
        }
    }
}

/// The identity of a run; `None` if it failed or recorded none.
fn completed_run(run: &mut StoredRun<Skipped>, machine: &Option<String>) -> Option<CompletedRun> {
    if run.exit != RunExit::Completed || run.identity.is_empty() {
        return None;
    }
    Some(CompletedRun {
        configuration: run.configuration.clone(),
        workload: run.workload.clone(),
        machine: machine.clone(),
        image: run.image,
        order: run.order,
        parts: std::mem::take(&mut run.identity),
    })
}

fn failed(run: StoredRun<Skipped>, why: String, console: String) -> FailedRun {
    FailedRun {
        configuration: run.configuration,
        workload: run.workload,
        repetition: run.repetition,
        order: run.order,
        block: run.block,
        image: run.image,
        machine: None,
        seed: Some(run.seed),
        why,
        console,
        ending: run.ending,
        complaints: run.complaints,
    }
}

/// The kernel's complaints in a completed run.
fn complained(run: &mut StoredRun<Skipped>) -> Option<ComplainedRun> {
    (!run.complaints.is_empty()).then(|| ComplainedRun {
        configuration: run.configuration.clone(),
        workload: run.workload.clone(),
        order: run.order,
        complaints: std::mem::take(&mut run.complaints),
    })
}

/// Whether the recorded runs are exactly those up to a planned look. The experiment may stop there,
/// so no run counts as missing.
fn stopped_as_planned(there: &BTreeSet<u32>, plan: &serde_json::Value) -> bool {
    let number = |of: &serde_json::Value, key: &str| of.get(key)?.as_u64();
    let looks = plan.get("until").and_then(|until| {
        let (first, every) = (number(until, "first_look")?, number(until, "every")?);
        Some((first.max(1), every.max(1)))
    });
    let (Some((first, every)), Some(runs)) = (looks, plan.get("runs").and_then(|of| of.as_array()))
    else {
        return false;
    };
    let mut blocks: BTreeMap<u64, (usize, usize)> = BTreeMap::new();
    for run in runs {
        let (Some(index), Some(block)) = (number(run, "index"), number(run, "block")) else {
            return false;
        };
        let of_block = blocks.entry(block).or_default();
        of_block.0 += 1;
        let done = u32::try_from(index).is_ok_and(|index| there.contains(&index));
        of_block.1 += usize::from(done);
    }
    let whole = blocks
        .values()
        .take_while(|(all, done)| all == done)
        .count();
    let begun = blocks.values().filter(|(_, done)| *done > 0).count();
    let at = whole as u64;
    whole == begun && whole < blocks.len() && at >= first && (at - first).is_multiple_of(every)
}

fn incomplete(there: &BTreeSet<u32>, planned: u32) -> Option<Doubt> {
    let done = there.range(..planned).count();
    (done < planned as usize).then(|| {
        let detail = format!(
            "{done} of {planned} runs are recorded; the others may change every verdict; `assize \
             run --resume` executes them"
        );
        Doubt::new("incomplete", detail)
    })
}

/// The reports of runs in addition to metrics, without duplicates.
#[derive(Default)]
struct CollectedReports {
    events: Vec<Events>,
    unavailable: BTreeSet<Unavailable>,
    /// Doubts in order of first appearance, with the number of runs.
    doubts: Vec<(Doubt, PlannedCell, u32)>,
    /// Why the kernel's log was not read, with the number of runs.
    unread: BTreeMap<String, u32>,
}

impl CollectedReports {
    /// Limits that say why, and in how many of `all` runs, kernel warnings are not counted.
    fn unread_logs(&self, all: usize) -> Vec<String> {
        let limit = |(why, runs): (&String, &u32)| {
            format!(
                "The kernel's log was {why}, in {runs} of {all} runs: their kernel warnings and \
                 oopses are not counted."
            )
        };
        self.unread.iter().map(limit).collect()
    }

    fn take(&mut self, run: &StoredRun<Skipped>) {
        if let Some(why) = run.environment.get(KERNEL_LOG) {
            *self.unread.entry(why.clone()).or_default() += 1;
        }
        self.unavailable.extend(run.unavailable.iter().cloned());
        for doubt in &run.doubts {
            let known = self
                .doubts
                .iter_mut()
                .find(|(known, (configuration, workload), _)| {
                    known == doubt
                        && *configuration == run.configuration
                        && *workload == run.workload
                });
            match known {
                Some((.., runs)) => *runs += 1,
                None => {
                    let cell = (run.configuration.clone(), run.workload.clone());
                    self.doubts.push((doubt.clone(), cell, 1));
                }
            }
        }
        if run.exit == RunExit::Completed {
            for events in &run.events {
                let of_run = RunCount {
                    order: run.order,
                    count: events.count,
                    exposure_s: events.exposure_s,
                };
                let events = Events {
                    by_run: vec![of_run],
                    ..events.clone()
                };
                add_events(&mut self.events, &events);
            }
        }
    }

    fn doubts(&self) -> Vec<Doubt> {
        self.doubts
            .iter()
            .map(|(doubt, (configuration, workload), runs)| {
                let s = if *runs == 1 { "" } else { "s" };
                Doubt {
                    detail: format!(
                        "{} ({configuration} on {workload}, {runs} run{s})",
                        doubt.detail
                    ),
                    ..doubt.clone()
                }
            })
            .collect()
    }
}

/// The boots that the runs of a bundle come from.
pub fn boots(directory: &Path) -> Result<Boots, Error> {
    let mut boots = Boots::default();
    for index in recorded(directory)? {
        let run: StoredRun<Skipped> = get(&run_path(directory, index))?;
        boots.take(&run.environment);
    }
    Ok(boots)
}

/// Reads one run of a bundle, with its samples and the raw output of its tools.
///
/// # Errors
/// [`Error::Io`] if it does not exist; [`Error::Malformed`] or
/// [`Error::Samples`], naming the file.
pub fn read_run(directory: &Path, index: u32) -> Result<RunRecord, Error> {
    let stored: StoredRun = get(&run_path(directory, index))?;
    let mut raw = Vec::new();
    for name in &stored.raw {
        let path = raw_path(directory, name);
        let text = fs::read(&path).map_err(Error::io(&path))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        raw.push((
            name.into_owned(),
            String::from_utf8_lossy(&text).into_owned(),
        ));
    }
    let samples: Vec<Samples> = match stored.samples.is_empty() {
        true => Vec::new(),
        false => samples::decoded(&samples_path(directory, index), &stored.samples)?,
    };
    Ok(RunRecord {
        index,
        exit: stored.exit.clone(),
        ending: stored.ending,
        complaints: stored.complaints.clone(),
        unavailable: stored.unavailable.clone(),
        environment: stored.environment.clone(),
        identity: stored.identity.clone(),
        events: stored.events.clone(),
        doubts: stored.doubts.clone(),
        samples,
        histograms: stored.histograms.clone(),
        raw,
        run: stored.into_run(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_experiment_that_ended_at_a_look_lacks_nothing() {
        let runs: Vec<_> = (0..20)
            .map(|index| json!({ "index": index, "block": index / 2 }))
            .collect();
        let plan = json!({
            "until": { "first_look": 4, "every": 2 },
            "runs": runs,
        });
        let stopped = |done: u32| stopped_as_planned(&(0..done).collect(), &plan);
        // Stops after four, six or eight blocks; not after three, five, or half
        // a block.
        let at: Vec<u32> = (0..20).filter(|done| stopped(*done)).collect();
        assert_eq!(at, [8, 12, 16]);
        // A run in the middle is missing.
        assert!(!stopped_as_planned(&(1..9).collect(), &plan));
        assert!(!stopped_as_planned(
            &(0..8).collect(),
            &json!({ "runs": [] })
        ));
    }
}
