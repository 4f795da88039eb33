//! The tracks of threads, engines, contexts and counters.

use std::collections::{BTreeMap, BTreeSet};

use super::write::{EventDetail, EventFields, PerfettoFile, Track};
use crate::labels::JobLabels;
use crate::split::MARKS;
use crate::{TracedJob, TracedRun};

/// Events of depq that are shown as instants.
const SHOWN: [&str; 4] = [
    "depq/depq_dep_wait",
    "depq/depq_timeout",
    "depq/depq_queue_state",
    "depq/depq_worker_prio",
];
/// The name of the priority counter; lower values run first.
const PRIORITY: &str = "priority (0 first, 120 is nice 0)";

/// Writes all tracks.
pub(super) fn write(run: &TracedRun, file: &mut PerfettoFile) {
    let labels = JobLabels::new(&run.jobs);
    let threads = threads(run, file);
    on_threads(run, file, &threads, &labels);
    thread_tracks(run, file, &threads);
    engines(run, file, &labels);
    contexts(run, file, &labels);
    priorities(run, file, &threads);
}

/// Adds a track for each thread that has something to show.
fn threads(run: &TracedRun, file: &mut PerfettoFile) -> BTreeMap<u32, Track> {
    let mut tids: BTreeSet<u32> = BTreeSet::new();
    for job in &run.jobs {
        tids.insert(job.submitter);
        tids.extend(job.runner.map(|(tid, _)| tid));
        tids.extend(job.wait.map(|wait| wait.tid));
    }
    let track = |tid: u32| {
        let process = run
            .threads
            .by_tid
            .get(&tid)
            .map_or(tid, |thread| thread.process);
        (tid, file.thread(process, tid, &run.threads.name(tid)))
    };
    tids.into_iter().map(track).collect()
}

/// Something that a thread does for a job.
struct JobActivity<'a> {
    from: u64,
    to: u64,
    what: &'static str,
    job: &'a TracedJob,
    flow: u64,
}

/// Writes submissions and waits as slices, and run_job calls and ends of waits as
/// instants.
fn on_threads(
    run: &TracedRun,
    file: &mut PerfettoFile,
    threads: &BTreeMap<u32, Track>,
    labels: &JobLabels,
) {
    let mut acts: BTreeMap<u32, Vec<JobActivity<'_>>> = BTreeMap::new();
    for (job, flow) in run.jobs.iter().zip(1..) {
        let mut act = |tid, from, to, what| {
            acts.entry(tid).or_default().push(JobActivity {
                from,
                to,
                what,
                job,
                flow,
            });
        };
        let queued = job.queued.unwrap_or(job.submit);
        act(job.submitter, job.submit, queued, "submit");
        if let (Some(at), Some((tid, _))) = (job.run, job.runner) {
            act(tid, at, at, "run_job");
        }
        if let Some(wait) = job.wait {
            act(wait.tid, wait.begin, wait.end, "wait");
        }
    }
    for (tid, mut acts) in acts {
        let Some(&track) = threads.get(&tid) else {
            continue;
        };
        acts.sort_by_key(|act| act.from);
        let mut last = 0;
        for act in acts {
            let name = format!("{} {}", act.what, labels.job(act.job));
            let with = EventFields {
                flow: Some(act.flow),
                ..EventFields::default()
            };
            match act.what {
                "run_job" => file.instant(track, act.from, &name, with),
                // Jobs submitted together are shown one after the other.
                "submit" => {
                    let from = act.from.max(last);
                    file.slice(track, (from, act.to.max(from)), &name, with);
                }
                _ => {
                    let from = act.from.max(last);
                    file.begin(track, from, &name, EventFields::default());
                    let done = format!("done {}", labels.job(act.job));
                    file.instant(track, act.to, &done, EventFields { last: true, ..with });
                    file.end(track, act.to);
                }
            }
            last = last.max(act.to);
        }
    }
}

/// Writes the other events of depq.
fn thread_tracks(run: &TracedRun, file: &mut PerfettoFile, threads: &BTreeMap<u32, Track>) {
    for row in &run.events.rows {
        let Some(kind) = run.events.kind(row) else {
            continue;
        };
        if !SHOWN.contains(&kind.name.as_str()) {
            continue;
        }
        // A priority change is shown on the thread it affects, any other event on the
        // current thread.
        let pid = run
            .events
            .value(row, "pid")
            .and_then(|pid| u32::try_from(pid).ok());
        let Some(&track) = threads.get(&pid.unwrap_or(row.tid)) else {
            continue;
        };
        let values = kind.fields.iter().zip(run.events.values(row));
        let text: Vec<String> = values
            .map(|(field, value)| format!("{field}={value}"))
            .collect();
        let name = kind.name.rsplit('/').next().unwrap_or_default();
        let with = EventFields {
            details: vec![("fields", EventDetail::Text(text.join(" ")))],
            ..EventFields::default()
        };
        file.instant(track, row.at_ns, name, with);
    }
}

/// Writes a counter from its increments.
fn count(file: &mut PerfettoFile, track: Track, changes: &mut Vec<(u64, i64)>) {
    changes.sort_by_key(|(at, _)| *at);
    let mut value = 0;
    for (at, by) in changes {
        value += *by;
        file.value(track, *at, value);
    }
}

/// Parallel tracks, so that each shows only one job at a time.
#[derive(Default)]
struct ParallelTracks(Vec<(Track, u64)>);

impl ParallelTracks {
    fn free(&mut self, file: &mut PerfettoFile, parent: Track, (from, to): (u64, u64)) -> Track {
        if let Some((track, until)) = self.0.iter_mut().find(|(_, until)| *until <= from) {
            *until = to;
            return *track;
        }
        let track = file.track(Some(parent), "jobs");
        self.0.push((track, to));
        track
    }
}

/// Writes each engine with its jobs, from run_job to completion.
fn engines(run: &TracedRun, file: &mut PerfettoFile, labels: &JobLabels) {
    let mut engines: BTreeMap<u32, Vec<(u64, u64, &TracedJob, u64)>> = BTreeMap::new();
    for (job, flow) in run.jobs.iter().zip(1..) {
        if let Some(from) = job.run {
            let to = job.done.unwrap_or(run.events.stop_ns).max(from);
            engines
                .entry(job.engine)
                .or_default()
                .push((from, to, job, flow));
        }
    }
    for (engine, mut jobs) in engines {
        jobs.sort_by_key(|(from, ..)| *from);
        let parent = file.track(None, &format!("engine {engine}"));
        let counter = file.counter(Some(parent), "jobs on the engine", "jobs");
        let mut lanes = ParallelTracks::default();
        let mut changes = Vec::new();
        for (from, to, job, flow) in jobs {
            let track = lanes.free(file, parent, (from, to));
            let with = EventFields {
                flow: Some(flow),
                ..EventFields::default()
            };
            file.slice(track, (from, to), &labels.job(job), with);
            changes.extend([(from, 1), (to, -1)]);
        }
        count(file, counter, &mut changes);
    }
}

/// Writes each context with its jobs, from submission to completion or until the waiter
/// ran, and the stages of each.
fn contexts(run: &TracedRun, file: &mut PerfettoFile, labels: &JobLabels) {
    let mut contexts: BTreeMap<u64, Vec<&TracedJob>> = BTreeMap::new();
    for job in &run.jobs {
        contexts.entry(job.serial).or_default().push(job);
    }
    for jobs in contexts.values() {
        let Some(first) = jobs.first() else {
            continue;
        };
        let parent = file.track(None, &format!("context {}", labels.context(first)));
        let counter = file.counter(Some(parent), "jobs queued", "jobs");
        let mut lanes = ParallelTracks::default();
        let mut changes = Vec::new();
        for job in jobs {
            stages(run, file, &mut lanes, parent, job, labels);
            let queued = job.queued.filter(|_| !job.inline);
            changes.extend(queued.map(|at| (at, 1)));
            changes.extend(queued.and(job.run).map(|at| (at, -1)));
        }
        count(file, counter, &mut changes);
    }
}

fn stages(
    run: &TracedRun,
    file: &mut PerfettoFile,
    lanes: &mut ParallelTracks,
    parent: Track,
    job: &TracedJob,
    labels: &JobLabels,
) {
    let marks: Vec<(usize, u64)> = (0..MARKS.len())
        .filter_map(|mark| Some((mark, job.marks()[mark]?)))
        .collect();
    let end = marks.iter().map(|(_, at)| *at).max().unwrap_or(job.submit);
    let track = lanes.free(file, parent, (job.submit, end));
    let mut details = vec![
        ("cookie", EventDetail::Number(job.cookie.cast_signed())),
        (
            "submitted by",
            EventDetail::Text(run.threads.name(job.submitter)),
        ),
    ];
    if let Some((tid, _)) = job.runner {
        details.push(("run by", EventDetail::Text(run.threads.name(tid))));
    }
    if job.error != 0 {
        details.push(("error", EventDetail::Number(job.error)));
    }
    let with = EventFields {
        details,
        ..EventFields::default()
    };
    file.begin(track, job.submit, &labels.job(job), with);
    let mut last = job.submit;
    for (mark, at) in marks.into_iter().skip(1) {
        let name = format!("until {}", MARKS[mark]);
        file.slice(track, (last, at.max(last)), &name, EventFields::default());
        last = last.max(at);
    }
    file.end(track, end);
}

/// Writes the priorities of threads that run jobs of others.
fn priorities(run: &TracedRun, file: &mut PerfettoFile, threads: &BTreeMap<u32, Track>) {
    let of_others = run.jobs.iter().filter(|job| !job.inline);
    let workers: BTreeSet<u32> = of_others.filter_map(|job| Some(job.runner?.0)).collect();
    for tid in workers {
        let Some(thread) = run.threads.by_tid.get(&tid) else {
            continue;
        };
        let name = format!("{PRIORITY} of {} {tid}", thread.name);
        let track = file.counter(threads.get(&tid).copied(), &name, "");
        for (at, prio) in &thread.prios {
            file.value(track, *at, *prio);
        }
    }
}
