//! One run as a picture: which thread had each CPU and which job each engine.

mod merge;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::labels::JobLabels;
use crate::{TracedJob, TracedRun, TracedThread};

/// The lowest priority that is not real-time, in the kernel's scale.
const REAL_TIME: i64 = 100;
/// The priority of nice 0.
const NICE_0: i64 = 120;

/// What CPUs and engines did during a run. Times are in nanoseconds since the start of
/// the recording.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Timeline {
    /// The index of the run, as in `runs/NNNN.json`.
    pub run: u32,
    /// The start of the recording: 0.
    pub start_ns: f64,
    /// The end of the recording.
    pub end_ns: f64,
    /// The CPUs, followed by the engines.
    pub lanes: Vec<TimelineLane>,
    /// Sentences about what was merged and what the picture omits.
    pub thinned: Vec<String>,
}

/// A CPU or an engine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimelineLane {
    /// `CPU 0`, `engine 0`.
    pub name: String,
    /// `cpu` or `engine`.
    pub kind: String,
    /// The busy times in order, without overlap. The CPU or engine is idle in between.
    pub spans: Vec<BusySpan>,
}

/// An interval in which a CPU or an engine was busy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BusySpan {
    /// The start.
    pub start_ns: f64,
    /// The end.
    pub end_ns: f64,
    /// The name of the thread, with its priority if that is not nice 0; or the job as
    /// CONTEXT:NUMBER.
    pub label: String,
    /// The kind of the span.
    pub kind: SpanKind,
}

/// The kind of a [`BusySpan`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpanKind {
    /// A thread that submits jobs ran.
    Submitter,
    /// A thread that runs jobs of others ran.
    Worker,
    /// Another thread ran.
    Thread,
    /// A job was on the engine.
    Job,
    /// A job that failed was on the engine.
    FailedJob,
    /// Several short spans, possibly with idle times in between.
    Merged,
}

/// Builds the timeline of the run with this index, with at most `spans` spans per lane.
/// If there are more, adjacent short ones are merged.
#[must_use]
pub fn timeline(index: u32, run: &TracedRun, spans: usize) -> Timeline {
    let events = &run.events;
    let mut timeline = Timeline {
        run: index,
        end_ns: events.stop_ns.saturating_sub(events.start_ns) as f64,
        ..Timeline::default()
    };
    if events.lost > 0 {
        timeline.thinned.push(format!(
            "{} kernel events of run {index} were lost; later events are missing",
            events.lost
        ));
    }
    for (name, all) in cpus(run) {
        timeline.add(name, "cpu", &all, spans);
    }
    for (name, all) in engines(run, &mut timeline.thinned) {
        timeline.add(name, "engine", &all, spans);
    }
    timeline
}

impl Timeline {
    fn add(&mut self, name: String, kind: &str, all: &[BusyTime], spans: usize) {
        let merged = merge::merge(all, spans.max(1));
        if merged.were > 0 {
            self.thinned.push(format!(
                "{name}: {} stretches shorter than {} are drawn as {} blocks; each says how many \
                 and whose they are, and how much of it was busy",
                merged.were,
                duration(merged.shorter_than),
                merged.blocks
            ));
        }
        self.lanes.push(TimelineLane {
            name,
            kind: kind.to_owned(),
            spans: merged.spans,
        });
    }
}

/// A busy interval of a lane, before merging.
#[derive(Debug, Clone, PartialEq)]
struct BusyTime {
    from: u64,
    to: u64,
    label: String,
    kind: SpanKind,
}

/// What each CPU did, including CPUs that have events but were idle.
fn cpus(run: &TracedRun) -> Vec<(String, Vec<BusyTime>)> {
    let submitters = run
        .jobs
        .iter()
        .map(|job| (job.submitter, SpanKind::Submitter));
    let of_others = run.jobs.iter().filter(|job| !job.inline);
    let workers = of_others.filter_map(|job| Some((job.runner?.0, SpanKind::Worker)));
    // A thread that does both counts as a submitter.
    let kinds: BTreeMap<u32, SpanKind> = workers.chain(submitters).collect();
    let rows = run.events.rows.iter().map(|row| row.cpu);
    let last = rows.chain(run.threads.by_cpu.keys().copied()).max();
    let Some(last) = last else {
        return Vec::new();
    };
    (0..=last)
        .map(|cpu| {
            let stretches = run.threads.by_cpu.get(&cpu).into_iter().flatten();
            // If events were lost, two threads may seem to have the CPU at once.
            let mut last = 0;
            let busy = stretches.map(|(tid, stretch)| {
                let from = since(run, stretch.from).max(last);
                last = since(run, stretch.to).max(from);
                BusyTime {
                    from,
                    to: last,
                    label: label(run, *tid, stretch.from),
                    kind: kinds.get(tid).copied().unwrap_or(SpanKind::Thread),
                }
            });
            (format!("CPU {cpu}"), busy.collect())
        })
        .collect()
}

fn since(run: &TracedRun, at: u64) -> u64 {
    at.saturating_sub(run.events.start_ns)
}

/// The name of a thread, with its priority at a time unless that is nice 0.
fn label(run: &TracedRun, tid: u32, at: u64) -> String {
    let name = run.threads.name(tid);
    match run.threads.by_tid.get(&tid).and_then(|t| prio_at(t, at)) {
        None | Some(NICE_0) => name,
        Some(prio) if prio < 0 => format!("{name} (deadline)"),
        Some(prio) if prio < REAL_TIME => format!("{name} (real-time {})", REAL_TIME - 1 - prio),
        Some(prio) => format!("{name} (nice {})", prio - NICE_0),
    }
}

/// The priority of a thread at a time, or its first known one if that is later.
fn prio_at(thread: &TracedThread, at: u64) -> Option<i64> {
    let later = thread.prios.partition_point(|(from, _)| *from <= at);
    let (_, prio) = thread.prios.get(later.saturating_sub(1))?;
    Some(*prio)
}

/// The jobs that each engine executed.
fn engines(run: &TracedRun, notes: &mut Vec<String>) -> Vec<(String, Vec<BusyTime>)> {
    let labels = JobLabels::new(&run.jobs);
    let mut engines: BTreeMap<u32, Vec<(u64, u64, &TracedJob)>> = BTreeMap::new();
    for job in &run.jobs {
        if let Some(from) = job.run {
            let to = job.done.unwrap_or(run.events.stop_ns).max(from);
            engines.entry(job.engine).or_default().push((from, to, job));
        }
    }
    let mut lanes = Vec::new();
    for (engine, mut jobs) in engines {
        jobs.sort_by_key(|(from, to, _)| (*to, *from));
        let name = format!("engine {engine}");
        let mut last = 0;
        let mut waited = 0;
        let mut busy = Vec::new();
        for &(from, to, job) in &jobs {
            waited += usize::from(from < last);
            busy.push(BusyTime {
                from: since(run, from.max(last)),
                to: since(run, to),
                label: labels.job(job),
                kind: if job.error == 0 {
                    SpanKind::Job
                } else {
                    SpanKind::FailedJob
                },
            });
            last = to;
        }
        if waited > 0 {
            notes.push(format!(
                "{name}: {waited} of {} jobs were handed to it before the job before them was \
                 done; they are drawn from when that job was done",
                jobs.len()
            ));
        }
        lanes.push((name, busy));
    }
    lanes
}

/// Formats nanoseconds in a suitable unit.
fn duration(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.1} us", ns as f64 / 1e3),
        _ => format!("{:.1} ms", ns as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests;
