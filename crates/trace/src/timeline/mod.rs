//! One run as a picture shows it: who had each CPU, and which job each engine
//! had.

mod merge;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::labels::Labels;
use crate::{Job, Run, Thread};

/// Priorities below are of real-time threads, as the kernel counts them.
const REAL_TIME: i64 = 100;
/// The priority of nice 0.
const NICE_0: i64 = 120;

/// What CPUs and engines did during a run. Times are nanoseconds since the
/// recording began.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Timeline {
    /// The run's index, that of `runs/NNNN.json`.
    pub run: u32,
    /// When the recording began: 0.
    pub start_ns: f64,
    /// When it ended.
    pub end_ns: f64,
    /// The CPUs, then the engines.
    pub lanes: Vec<Lane>,
    /// What was merged, and what else the picture does not say, in sentences.
    pub thinned: Vec<String>,
}

/// A CPU or an engine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lane {
    /// `CPU 0`, `engine 0`.
    pub name: String,
    /// `cpu` or `engine`.
    pub kind: String,
    /// In the order of time; none overlaps the next. Where there is none, the
    /// CPU or the engine was idle.
    pub spans: Vec<Span>,
}

/// A time in which a CPU or an engine was busy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Span {
    /// From when.
    pub start_ns: f64,
    /// Until when.
    pub end_ns: f64,
    /// The thread's name, with its priority if that is not nice 0, or the job
    /// as CONTEXT:NUMBER.
    pub label: String,
    /// What it is.
    pub kind: Kind,
}

/// What a [`Span`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A thread that submits jobs had the CPU.
    Submitter,
    /// A thread that runs jobs of others had it.
    Worker,
    /// Another thread had it.
    Thread,
    /// A job was on the engine.
    Job,
    /// A job that failed was on the engine.
    FailedJob,
    /// Several short ones; in between it may have been idle.
    Merged,
}

/// Makes the timeline of the run with this index, with at most `spans` spans
/// in each lane. If there are more, short ones beside each other are merged.
#[must_use]
pub fn timeline(index: u32, run: &Run, spans: usize) -> Timeline {
    let events = &run.events;
    let mut timeline = Timeline {
        run: index,
        end_ns: events.stop_ns.saturating_sub(events.start_ns) as f64,
        ..Timeline::default()
    };
    if events.lost > 0 {
        timeline.thinned.push(format!(
            "{} kernel events of run {index} were lost; what came after them is missing",
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
    fn add(&mut self, name: String, kind: &str, all: &[Busy], spans: usize) {
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
        self.lanes.push(Lane {
            name,
            kind: kind.to_owned(),
            spans: merged.spans,
        });
    }
}

/// A time in which a lane was busy, before anything is merged.
#[derive(Debug, Clone, PartialEq)]
struct Busy {
    from: u64,
    to: u64,
    label: String,
    kind: Kind,
}

/// What each CPU did, and those of which there are events though they did
/// nothing.
fn cpus(run: &Run) -> Vec<(String, Vec<Busy>)> {
    let submitters = run.jobs.iter().map(|job| (job.submitter, Kind::Submitter));
    let of_others = run.jobs.iter().filter(|job| !job.inline);
    let workers = of_others.filter_map(|job| Some((job.runner?.0, Kind::Worker)));
    // Who does both is a submitter.
    let kinds: BTreeMap<u32, Kind> = workers.chain(submitters).collect();
    let rows = run.events.rows.iter().map(|row| row.cpu);
    let last = rows.chain(run.threads.by_cpu.keys().copied()).max();
    let Some(last) = last else {
        return Vec::new();
    };
    (0..=last)
        .map(|cpu| {
            let stretches = run.threads.by_cpu.get(&cpu).into_iter().flatten();
            // Where events were lost, two may seem to have it at once.
            let mut last = 0;
            let busy = stretches.map(|(tid, stretch)| {
                let from = since(run, stretch.from).max(last);
                last = since(run, stretch.to).max(from);
                Busy {
                    from,
                    to: last,
                    label: label(run, *tid, stretch.from),
                    kind: kinds.get(tid).copied().unwrap_or(Kind::Thread),
                }
            });
            (format!("CPU {cpu}"), busy.collect())
        })
        .collect()
}

fn since(run: &Run, at: u64) -> u64 {
    at.saturating_sub(run.events.start_ns)
}

/// A thread and its priority at a time, if that is not the usual one.
fn label(run: &Run, tid: u32, at: u64) -> String {
    let name = run.threads.name(tid);
    match run.threads.by_tid.get(&tid).and_then(|t| prio_at(t, at)) {
        None | Some(NICE_0) => name,
        Some(prio) if prio < 0 => format!("{name} (deadline)"),
        Some(prio) if prio < REAL_TIME => format!("{name} (real-time {})", REAL_TIME - 1 - prio),
        Some(prio) => format!("{name} (nice {})", prio - NICE_0),
    }
}

/// A thread's priority at a time; the first that was seen before that.
fn prio_at(thread: &Thread, at: u64) -> Option<i64> {
    let later = thread.prios.partition_point(|(from, _)| *from <= at);
    let (_, prio) = thread.prios.get(later.saturating_sub(1))?;
    Some(*prio)
}

/// Which job each engine had.
fn engines(run: &Run, said: &mut Vec<String>) -> Vec<(String, Vec<Busy>)> {
    let labels = Labels::new(&run.jobs);
    let mut engines: BTreeMap<u32, Vec<(u64, u64, &Job)>> = BTreeMap::new();
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
            busy.push(Busy {
                from: since(run, from.max(last)),
                to: since(run, to),
                label: labels.job(job),
                kind: if job.error == 0 {
                    Kind::Job
                } else {
                    Kind::FailedJob
                },
            });
            last = to;
        }
        if waited > 0 {
            said.push(format!(
                "{name}: {waited} of {} jobs were handed to it before the job before them was \
                 done; they are drawn from then on",
                jobs.len()
            ));
        }
        lanes.push((name, busy));
    }
    lanes
}

/// Nanoseconds in a unit that suits.
fn duration(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.1} us", ns as f64 / 1e3),
        _ => format!("{:.1} ms", ns as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests;
