//! Converts the agent's messages to the record of a run.

use assize_bundle::kernel_log::{Phase, complaints};
use assize_bundle::{
    Doubt, Ending, Events, Histogram, Measurement, Place, Run, RunExit, RunRecord, Samples,
    Unavailable,
};
use assize_job::{
    AgentMessage, IdentityKind, JITTER, JITTER_OF, JOBS, Mark, PER_JOB, RunIdentityPart, RunStage,
};
use assize_judge::{RunQuantiles, jitter, quantile, weighted};
use assize_plan::{Plan, PlannedRun};
use assize_target::{OrderResult, RunFailure, RunOutcome};

use crate::identity;

const NS_PER_S: f64 = 1e9;
/// How the agent describes a workload that was killed at its time limit.
const TOO_LONG: &str = "not done after ";
/// Facts that depend on the execution, not on the run. They go to the log instead.
const NOT_RECORDED: [&str; 2] = ["memory_image", assize_target::DIFFERED];

/// The record of one run; the same messages always give the same record. A run whose parts are not
/// the `expected` ones has failed.
pub(crate) fn recorded(
    plan: &Plan,
    run: &PlannedRun,
    done: &OrderResult,
    expected: &[RunIdentityPart],
) -> RunRecord {
    let (records, exit, ending) = match &done.outcome {
        RunOutcome::Completed(records) => (records, RunExit::Completed, None),
        RunOutcome::Failed {
            failure,
            records,
            console,
        } => {
            let (why, console) = (failure.to_string(), console.clone());
            (
                records,
                RunExit::Failed { why, console },
                Some(ending(failure)),
            )
        }
    };
    let mut recorded = empty(plan, run, exit);
    recorded.ending = ending;
    recorded.environment = done
        .machine
        .iter()
        .filter(|(name, _)| !NOT_RECORDED.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    for record in records {
        take(record, &mut recorded);
    }
    complained(records, &mut recorded);
    identify(records, expected, &mut recorded);
    quantiles(&mut recorded);
    jitter(&mut recorded);
    per_job(&mut recorded);
    recorded
}

/// The ending of a run, given its failure.
fn ending(failure: &RunFailure) -> Ending {
    match failure {
        RunFailure::Panic { .. } | RunFailure::Rebooted => Ending::Crashed,
        RunFailure::Timeout { .. } => Ending::TimedOut,
        RunFailure::Stalled { .. } => Ending::Hung,
        RunFailure::OutOfMemory { .. } => Ending::OutOfMemory,
        RunFailure::Ended { .. } => Ending::of_reason(&failure.to_string()),
        RunFailure::Agent { stage, why, .. } => match stage {
            RunStage::Start => Ending::NotMeasured,
            RunStage::Workload if why.contains(TOO_LONG) => Ending::TimedOut,
            RunStage::Workload if why.contains("for lack of memory") => Ending::OutOfMemory,
            RunStage::Workload => Ending::ExitStatus,
            RunStage::Setup | RunStage::Background | RunStage::Teardown => Ending::SetUp,
        },
        RunFailure::Inexact { .. } => Ending::NotMeasured,
    }
}

/// The kernel's complaints, from its log, or from the console if the machine ended before the log
/// was read. A log with a complaint is kept whole.
fn complained(records: &[AgentMessage], recorded: &mut RunRecord) {
    for record in records {
        let AgentMessage::KernelLog { stage, text } = record else {
            continue;
        };
        let (phase, name) = match stage {
            RunStage::Start | RunStage::Setup => (Phase::SetUp, "kernel-log-setup.txt"),
            RunStage::Background | RunStage::Workload => (Phase::Window, "kernel-log.txt"),
            RunStage::Teardown => (Phase::TearDown, "kernel-log-teardown.txt"),
        };
        let mut found = complaints(text);
        found.iter_mut().for_each(|one| one.phase = phase);
        if !found.is_empty() {
            recorded.raw.push((name.into(), text.clone()));
            recorded.complaints.append(&mut found);
        }
    }
    let compared = recorded.ending.is_some_and(Ending::is_compared);
    let agent_answered = records
        .iter()
        .any(|record| matches!(record, AgentMessage::Failed { .. }));
    if let RunExit::Failed { console, .. } = &recorded.exit
        && compared
        && recorded.complaints.is_empty()
        && !agent_answered
    {
        recorded.complaints = complaints(console);
    }
    // A task that oopses ends the workload, whatever the workload's exit status.
    let fatal = recorded.complaints.iter().any(|one| one.kind.is_fatal());
    if compared && fatal {
        recorded.ending = Some(Ending::Crashed);
    }
}

fn empty(plan: &Plan, run: &PlannedRun, exit: RunExit) -> RunRecord {
    let name = plan.configurations.get(run.configuration);
    let workload = plan.workloads.get(run.workload);
    let mut judged = Run::new(
        name.map_or("", |configuration| &configuration.name),
        workload.map_or("", |workload| &workload.name),
        run.repetition,
    );
    judged.order = run.index;
    judged.block = Some(run.block);
    judged.image = run.image;
    RunRecord::new(run.index, run.seed, judged, exit)
}

fn take(record: &AgentMessage, recorded: &mut RunRecord) {
    let (configuration, workload) = (&recorded.run.configuration, &recorded.run.workload);
    match record {
        AgentMessage::Environment { facts } => recorded.environment.extend(facts.clone()),
        AgentMessage::Unavailable {
            instrument,
            metric,
            reason,
        } => recorded.unavailable.push(Unavailable {
            configuration: configuration.clone(),
            workload: workload.clone(),
            instrument: instrument.clone(),
            metric: metric.clone(),
            reason: reason.clone(),
        }),
        AgentMessage::Metric {
            metric,
            value,
            unit,
        } => {
            let value = Measurement::new(*value, unit.clone());
            recorded.run.metrics.insert(metric.clone(), value);
        }
        AgentMessage::Histogram {
            metric,
            unit,
            buckets,
            exact,
        } => recorded.histograms.push(Histogram {
            metric: metric.clone(),
            unit: unit.clone(),
            buckets: buckets.clone(),
            exact: *exact,
        }),
        AgentMessage::Samples {
            metric,
            unit,
            start_ns,
            t_ns,
            values,
        } => recorded.samples.push(Samples {
            metric: metric.clone(),
            unit: unit.clone(),
            start_ns: *start_ns,
            t_ns: since_start(t_ns),
            values: values.clone(),
        }),
        AgentMessage::Events { .. } => recorded.events.extend(events(record, &recorded.run)),
        AgentMessage::Raw { name, text } => recorded.raw.push((name.clone(), text.clone())),
        AgentMessage::Doubt { code, detail } => {
            recorded.doubts.push(Doubt::new(code, detail.clone()))
        }
        AgentMessage::Hello { .. }
        | AgentMessage::KernelLog { .. }
        | AgentMessage::Identity { .. }
        | AgentMessage::Failed { .. }
        | AgentMessage::End { .. } => {}
    }
}

/// Records the parts of the run and compares them with the requested ones.
fn identify(records: &[AgentMessage], expected: &[RunIdentityPart], recorded: &mut RunRecord) {
    let said = records.iter().find_map(|record| match record {
        AgentMessage::Identity { parts } => Some(parts),
        _ => None,
    });
    let mut observed = said.cloned().unwrap_or_default();
    let image = |part: &&RunIdentityPart| part.kind == IdentityKind::Kernel && part.name == "image";
    observed.extend(expected.iter().find(image).cloned());
    observed.sort();
    recorded.identity = observed.iter().map(part).collect();
    if recorded.exit != RunExit::Completed {
        return;
    }
    let unknown = |record: &AgentMessage| match record {
        AgentMessage::Unavailable { instrument, .. } => instrument == "identity",
        AgentMessage::Doubt { code, .. } => code == "identity-incomplete",
        _ => false,
    };
    let mapped = !records.iter().any(unknown);
    let compared = match said {
        Some(_) => identity::compare(expected, &observed, mapped),
        None => {
            recorded.exit = RunExit::Failed {
                why: "the agent did not report the identity of the run".into(),
                console: String::new(),
            };
            recorded.ending = Some(Ending::NotMeasured);
            return;
        }
    };
    for unclear in compared.unclear {
        let detail = format!(
            "the value read back does not show whether the setting is in effect: {unclear}"
        );
        recorded
            .doubts
            .push(Doubt::new("setting-not-read-back", detail));
    }
    if !compared.differences.is_empty() {
        let all: Vec<String> = compared
            .differences
            .iter()
            .map(ToString::to_string)
            .collect();
        recorded.exit = RunExit::Failed {
            why: format!("it was not the run that was asked for: {}", all.join("; ")),
            console: String::new(),
        };
        recorded.ending = Some(Ending::NotAsAsked);
    }
}

fn part(part: &RunIdentityPart) -> assize_bundle::IdentityPart {
    assize_bundle::IdentityPart {
        kind: part.kind.noun().replace(' ', "-"),
        name: part.name.clone(),
        value: part.value.clone(),
    }
}

fn events(record: &AgentMessage, run: &Run) -> Option<Events> {
    let AgentMessage::Events {
        event,
        count,
        exposure_ns,
        t_ns,
        span_ns,
        tolerated_ns,
    } = record
    else {
        return None;
    };
    Some(Events {
        configuration: run.configuration.clone(),
        workload: run.workload.clone(),
        event: event.clone(),
        count: *count,
        exposure_s: Some(*exposure_ns as f64 / NS_PER_S),
        times_s: t_ns.iter().map(|&t| t as f64 / NS_PER_S).collect(),
        span_s: span_ns.map(|ns| ns as f64 / NS_PER_S),
        tolerated_s: tolerated_ns.map(|ns| ns as f64 / NS_PER_S),
        by_run: Vec::new(),
        place: Place::default(),
    })
}

/// Converts the times between samples, which the agent sends, to times since the start.
fn since_start(steps: &[u64]) -> Vec<u64> {
    let mut t = 0u64;
    let add = |step: &u64| {
        t = t.saturating_add(*step);
        t
    };
    steps.iter().map(add).collect()
}

/// Adds quantiles and spread of every distribution as metrics. If a histogram and samples
/// have the same name, they are the same measurements, and the histogram is used.
fn quantiles(recorded: &mut RunRecord) {
    let mut found = Vec::new();
    for histogram in &recorded.histograms {
        let pairs: Vec<(f64, u64)> = histogram
            .buckets
            .iter()
            .map(|&(value, count)| (value as f64, count))
            .collect();
        let of = weighted::per_run(&pairs);
        found.push((&histogram.metric, &histogram.unit, of));
    }
    for samples in &recorded.samples {
        if recorded
            .histograms
            .iter()
            .any(|h| h.metric == samples.metric)
        {
            continue;
        }
        let mut values = samples.values.clone();
        values.sort_by(f64::total_cmp);
        found.push((&samples.metric, &samples.unit, quantile::per_run(&values)));
    }
    let mut doubts = Vec::new();
    for (metric, unit, of) in found {
        match of {
            Ok(of) => {
                for (mark, value) in marks(of) {
                    let name = mark.metric_name(metric, unit);
                    let value = Measurement::new(value, unit.clone());
                    recorded.run.metrics.insert(name, value);
                }
            }
            Err(why) => doubts.push(Doubt::new(
                "unreadable-distribution",
                format!("{metric}: no quantiles: {why}"),
            )),
        }
    }
    recorded.doubts.extend(doubts);
}

/// Adds how much the time per operation of a stream varies.
fn jitter(recorded: &mut RunRecord) {
    let mut histograms = recorded.histograms.iter();
    let Some(stream) = histograms.find(|one| one.metric == JITTER_OF) else {
        return;
    };
    let values: Vec<f64> = stream
        .buckets
        .iter()
        .flat_map(|&(value, count)| (0..count).map(move |_| value as f64))
        .collect();
    let unit = &stream.unit;
    match jitter::jitter(&values) {
        Ok(of) => {
            let value = Measurement::new(of.sd, unit.clone());
            recorded.run.metrics.insert(JITTER.to_owned(), value);
        }
        Err(why) => recorded.doubts.push(Doubt::new(
            "unreadable-distribution",
            format!("{JITTER_OF}: no jitter: {why}"),
        )),
    }
}

/// Adds counters divided by the number of jobs, if the workload counts its jobs.
fn per_job(recorded: &mut RunRecord) {
    let metrics = &mut recorded.run.metrics;
    let Some(jobs) = metrics.get(JOBS).map(|jobs| jobs.value) else {
        return;
    };
    if jobs <= 0.0 {
        return;
    }
    for name in PER_JOB {
        if let Some(counter) = metrics.get(name) {
            let value = Measurement::new(counter.value / jobs, counter.unit.clone());
            metrics.insert(assize_job::per_job(name), value);
        }
    }
}

/// The quantiles that the run's samples support, and their spread.
fn marks(of: RunQuantiles) -> impl Iterator<Item = (Mark, f64)> {
    let value = move |mark| match mark {
        Mark::P50 => of.p50,
        Mark::P90 => of.p90,
        Mark::P99 => of.p99,
        Mark::P999 => of.p999,
        Mark::Max => of.max,
        Mark::P99MinusP50 => of.p99_minus_p50,
        Mark::Mad => of.mad,
    };
    Mark::ALL
        .into_iter()
        .filter_map(move |mark| Some((mark, value(mark)?)))
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
