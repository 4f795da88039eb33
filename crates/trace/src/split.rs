//! Breaks down the latency of jobs.

use std::fmt::Write;

use assize_judge::quantile;
use serde::Serialize;

use crate::{SchedulerDesign, TracedJob, TracedRun};

/// The schema of [`LatencySplit`].
pub const SCHEMA: &str = "assize.split/1";
/// The names of the times in [`TracedJob::marks`].
pub const MARKS: [&str; 7] = [
    "submit",
    "queued",
    "worker woken",
    "worker running",
    "run_job",
    "completion",
    "waiter running",
];
/// The stages, as pairs of indexes into [`MARKS`]. A job that its submitter runs has no
/// worker.
const STAGES: [(usize, usize); 9] = [
    (0, 1),
    (1, 2),
    (2, 3),
    (3, 4),
    (1, 4),
    (4, 5),
    (5, 6),
    (0, 4),
    (0, 6),
];
/// Index of the stage from queued to run_job, which only jobs without a worker have.
const INLINE: usize = 4;
/// Maximum number of intervening threads to name.
const MEANWHILE: usize = 3;
/// Minimum share of the latency, as 1/`SHARE`, for which a thread must have run to be named.
const SHARE: u64 = 20;

/// The jobs to break down.
#[derive(Debug, Clone, Default)]
pub struct SplitQuestion {
    /// Only jobs submitted by threads with this name.
    pub thread: Option<String>,
    /// Number of the worst jobs to list.
    pub worst: usize,
}

/// The latency breakdown of the jobs of one run. Times are in nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LatencySplit {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// The number of submitted jobs.
    pub jobs: usize,
    /// The number of jobs run by their submitter.
    pub inline: usize,
    /// The number of jobs without a completion: not done at the end of the recording, or
    /// the event was lost.
    pub incomplete: usize,
    /// The number of lost kernel events.
    pub events_lost: u64,
    /// All stages.
    pub stages: Vec<SplitStage>,
    /// The jobs with the highest latency.
    pub worst: Vec<WorstJob>,
}

/// One stage, over all jobs that have it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SplitStage {
    /// The mark at which it begins.
    pub from: &'static str,
    /// The mark at which it ends.
    pub to: &'static str,
    /// The number of jobs.
    pub jobs: usize,
    /// The median, if there are enough jobs for one.
    pub ns_p50: Option<f64>,
    /// The 0.99 quantile, if there are enough jobs for one.
    pub ns_p99: Option<f64>,
    /// The maximum.
    pub ns_max: Option<u64>,
}

/// One of the jobs with the highest latency.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorstJob {
    /// The number of its context within its open device file.
    pub context: u32,
    /// The serial number of its context, unique in the run.
    pub serial: u64,
    /// Its sequence number in the context.
    pub seqno: u64,
    /// The engine.
    pub engine: u32,
    /// The scheduler of its queue.
    pub design: Option<&'static str>,
    /// When it was submitted, relative to the start of the recording.
    pub at_ns: u64,
    /// The latency without the time on the engine.
    pub latency_ns: u64,
    /// The times of the stages that were seen, in nanoseconds since the submission.
    pub marks: Vec<(&'static str, u64)>,
    /// The thread that submitted it.
    pub submitter: String,
    /// The thread that ran it.
    pub runner: Option<String>,
    /// The threads that ran on the CPU while the worker waited for it, or while the waiter did;
    /// longest first.
    pub meanwhile: Vec<InterveningThread>,
}

/// A thread that ran while another waited for the CPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InterveningThread {
    /// The mark at which the wait ended.
    pub until: &'static str,
    /// The name of the thread, or of several with the same name.
    pub thread: String,
    /// How long it ran.
    pub ns: u64,
}

/// Breaks down the latency of the jobs of a run.
#[must_use]
pub fn split(run: &TracedRun, question: &SplitQuestion) -> LatencySplit {
    let asked = |job: &&TracedJob| {
        let thread = question.thread.as_ref();
        thread.is_none_or(|name| run.threads.name(job.submitter) == *name)
    };
    let jobs: Vec<&TracedJob> = run.jobs.iter().filter(asked).collect();
    let mut by_latency: Vec<(&TracedJob, u64)> = jobs
        .iter()
        .filter_map(|job| Some((*job, job.latency()?)))
        .collect();
    by_latency.sort_by_key(|(_, latency)| std::cmp::Reverse(*latency));
    by_latency.truncate(question.worst);
    LatencySplit {
        schema: SCHEMA,
        jobs: jobs.len(),
        inline: jobs.iter().filter(|job| job.inline).count(),
        incomplete: jobs.iter().filter(|job| job.done.is_none()).count(),
        events_lost: run.events.lost,
        stages: (0..STAGES.len()).map(|at| stage(&jobs, at)).collect(),
        worst: by_latency
            .iter()
            .map(|worst| self::worst_job(run, *worst))
            .collect(),
    }
}

fn stage(jobs: &[&TracedJob], at: usize) -> SplitStage {
    let (from, to) = STAGES[at];
    let took = |job: &&TracedJob| {
        if at == INLINE && !job.inline {
            return None;
        }
        let marks = job.marks();
        Some(marks[to]?.saturating_sub(marks[from]?))
    };
    let mut times: Vec<u64> = jobs.iter().filter_map(took).collect();
    times.sort_unstable();
    #[allow(clippy::cast_precision_loss)] // No job takes 2^53 ns.
    let values: Vec<f64> = times.iter().map(|&ns| ns as f64).collect();
    let quantiles = quantile::per_run(&values).ok();
    SplitStage {
        from: MARKS[from],
        to: MARKS[to],
        jobs: times.len(),
        ns_p50: quantiles.and_then(|quantiles| quantiles.p50),
        ns_p99: quantiles.and_then(|quantiles| quantiles.p99),
        ns_max: times.last().copied(),
    }
}

fn worst_job(run: &TracedRun, (job, latency_ns): (&TracedJob, u64)) -> WorstJob {
    let marks = MARKS.into_iter().zip(job.marks());
    let since = |at: u64| at.saturating_sub(job.submit);
    WorstJob {
        context: job.context,
        serial: job.serial,
        seqno: job.seqno,
        engine: job.engine,
        design: job.design.map(|design| match design {
            SchedulerDesign::DrmSched => "drm-sched",
            SchedulerDesign::Depq => "depq",
        }),
        at_ns: job.submit.saturating_sub(run.events.start_ns),
        latency_ns,
        marks: marks
            .filter_map(|(name, at)| Some((name, since(at?))))
            .collect(),
        submitter: run.threads.name(job.submitter),
        runner: job.runner.map(|(tid, _)| run.threads.name(tid)),
        meanwhile: intervening_threads(run, job, latency_ns),
    }
}

fn intervening_threads(
    run: &TracedRun,
    job: &TracedJob,
    latency_ns: u64,
) -> Vec<InterveningThread> {
    let worker = job.woken.zip(job.running).zip(job.runner);
    let waiter = job.wait.zip(job.done);
    let waits = [
        worker.map(|((from, to), (tid, _))| (3, tid, from, to)),
        waiter.map(|(wait, done)| (6, wait.tid, done, wait.running)),
    ];
    let mut found = Vec::new();
    for (mark, tid, from, to) in waits.into_iter().flatten() {
        let thread = run.threads.by_tid.get(&tid);
        let Some(stretch) = thread.and_then(|thread| thread.ran_from(to)) else {
            continue;
        };
        let mut names: Vec<(String, u64)> = Vec::new();
        for (tid, ns) in run.threads.meanwhile(stretch.cpu, from, to) {
            let name = run.threads.name(tid);
            match names.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += ns,
                None => names.push((name, ns)),
            }
        }
        names.retain(|(_, ns)| ns.saturating_mul(SHARE) >= latency_ns);
        names.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
        found.extend(
            names
                .into_iter()
                .take(MEANWHILE)
                .map(|(thread, ns)| InterveningThread {
                    until: MARKS[mark],
                    thread,
                    ns,
                }),
        );
    }
    found
}

/// Formats a breakdown as text of 72 columns.
#[must_use]
pub fn text(split: &LatencySplit) -> String {
    let mut text = String::new();
    let LatencySplit { jobs, inline, .. } = split;
    let by_worker = jobs - inline;
    let _ = writeln!(
        text,
        "{jobs} jobs, {by_worker} for a worker, {inline} run by their submitter"
    );
    if split.incomplete > 0 {
        let _ = writeln!(text, "the trace lacks the end of {} jobs", split.incomplete);
    }
    if split.events_lost > 0 {
        let _ = writeln!(
            text,
            "{} kernel events were lost; later events are missing",
            split.events_lost
        );
    }
    let _ = writeln!(
        text,
        "\n{:<34}{:>6}{:>10}{:>11}{:>11}",
        "us", "jobs", "p50", "p99", "max"
    );
    for (at, stage) in split.stages.iter().enumerate() {
        if stage.jobs == 0 {
            continue;
        }
        if STAGES[at] == (0, 4) {
            text.push('\n');
        }
        let name = format!("{} -> {}", stage.from, stage.to);
        let quantile = |ns: Option<f64>| ns.map_or("-".to_owned(), |ns| format!("{:.3}", ns / 1e3));
        let max = stage.ns_max.map_or("-".to_owned(), microseconds);
        let _ = writeln!(
            text,
            "{name:<34}{:>6}{:>10}{:>11}{max:>11}",
            stage.jobs,
            quantile(stage.ns_p50),
            quantile(stage.ns_p99),
        );
    }
    if !split.worst.is_empty() {
        worst_text(&mut text, split);
    }
    text
}

fn worst_text(text: &mut String, split: &LatencySplit) {
    let _ = writeln!(
        text,
        "\nworst by latency without run_job -> completion (us since submission)\n\
         {:<10}{:>10}{:>9}{:>9}{:>9}{:>9}{:>10}",
        "job", "at ms", "queued", "woken", "running", "run_job", "waited"
    );
    for worst in &split.worst {
        let mark = |at: usize| {
            let name = MARKS[at];
            let found = worst.marks.iter().find(|(known, _)| *known == name);
            found.map(|(_, ns)| *ns)
        };
        let cell = |ns: Option<u64>| ns.map_or("-".to_owned(), microsecond_tenths);
        let waited = mark(6).zip(mark(5)).map(|(end, done)| end - done);
        let _ = writeln!(
            text,
            "{:<10}{:>10}{:>9}{:>9}{:>9}{:>9}{:>10}",
            format!("{}:{}", worst.context, worst.seqno),
            format!(
                "{}.{:03}",
                worst.at_ns / 1_000_000,
                worst.at_ns / 1000 % 1000
            ),
            cell(mark(1)),
            cell(mark(2)),
            cell(mark(3)),
            cell(mark(4)),
            cell(waited),
        );
        for meanwhile in &worst.meanwhile {
            let who = meanwhile.until.split(' ').next().unwrap_or_default();
            let _ = writeln!(
                text,
                "  its {who} waited {} for {}",
                microsecond_tenths(meanwhile.ns),
                meanwhile.thread
            );
        }
    }
}

fn microseconds(ns: u64) -> String {
    format!("{}.{:03}", ns / 1000, ns % 1000)
}

/// Formats microseconds with one decimal, truncated.
fn microsecond_tenths(ns: u64) -> String {
    format!("{}.{}", ns / 1000, ns % 1000 / 100)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;
    use crate::event_builder::EventBuilder;

    fn run(jobs: u64) -> TracedRun {
        let mut builder = EventBuilder::default();
        builder.call(57, "sync").call(3, "kworker/1:0");
        for at in 0..jobs {
            builder.by_worker(
                2000 * (at + 1),
                i64::try_from(at).unwrap() + 1,
                "drm_sched_job",
            );
        }
        TracedRun::new(builder.events())
    }

    #[test]
    fn stages_add_up() {
        let split = split(&run(20), &SplitQuestion::default());
        let wait = |from: &str, to: &str| {
            let stage = split
                .stages
                .iter()
                .find(|stage| (stage.from, stage.to) == (from, to));
            let stage = stage.unwrap();
            (stage.jobs, stage.ns_p50, stage.ns_max)
        };
        let same = |ns: u32| (20, Some(f64::from(ns)), Some(u64::from(ns)));
        assert_eq!(wait("submit", "queued"), same(30));
        assert_eq!(wait("queued", "worker woken"), same(10));
        assert_eq!(wait("worker woken", "worker running"), same(60));
        assert_eq!(wait("worker running", "run_job"), same(20));
        assert_eq!(wait("run_job", "completion"), same(1000));
        assert_eq!(wait("completion", "waiter running"), same(30));
        assert_eq!(wait("submit", "run_job"), same(120));
        assert_eq!(wait("submit", "waiter running"), same(1150));
        assert_eq!(wait("queued", "run_job"), (0, None, None));
    }

    #[test]
    fn a_quantile_that_too_few_jobs_support_is_left_out() {
        let split = split(&run(19), &SplitQuestion::default());
        assert!(split.stages.iter().all(|stage| stage.ns_p50.is_none()));
        assert_eq!(split.stages[0].ns_max, Some(30));
    }

    #[test]
    fn the_worst_come_first_with_who_had_the_cpu() {
        let mut builder = EventBuilder::default();
        builder
            .call(57, "sync")
            .call(3, "kworker/1:0")
            .call(8, "hog");
        builder.by_worker(2000, 1, "depq_job_queue");
        builder
            .submitted(4000, 2, "depq_job_queue")
            .waking(4040, 0, 57, 3);
        builder
            .switch(4050, 1, (0, 0), 8)
            .switch(4900, 1, (8, 0x100), 3);
        builder.event(4950, (1, 3), "simgpu_run", &[1, 2, 0]);
        let run = TracedRun::new(builder.events());
        let question = SplitQuestion {
            worst: 5,
            ..SplitQuestion::default()
        };
        let split = split(&run, &question);
        let worst: Vec<_> = split
            .worst
            .iter()
            .map(|w| (w.seqno, w.latency_ns))
            .collect();
        assert_eq!(worst, [(2, 950), (1, 150)]);
        let hog = InterveningThread {
            until: "worker running",
            thread: "hog".into(),
            ns: 850,
        };
        assert_eq!(split.worst[0].meanwhile, [hog]);
        assert_eq!(split.incomplete, 1);
        let text = text(&split);
        assert!(text.contains("its worker waited 0.8 for hog"), "{text}");
        assert!(text.lines().all(|line| line.len() <= 72), "{text}");
    }

    #[test]
    fn threads_can_be_chosen() {
        let count = |thread: &str| {
            let thread = Some(thread.to_owned());
            split(&run(3), &SplitQuestion { thread, worst: 1 }).jobs
        };
        assert_eq!((count("sync"), count("other")), (3, 0));
    }

    #[test]
    fn jobs_of_submitters_have_a_stage_of_their_own() {
        let mut builder = EventBuilder::default();
        builder.by_submitter(1000, 1);
        let split = split(&TracedRun::new(builder.events()), &SplitQuestion::default());
        assert_eq!(split.inline, 1);
        let seen: Vec<_> = split
            .stages
            .iter()
            .filter(|s| s.jobs > 0)
            .map(|s| (s.from, s.to))
            .collect();
        let wanted = [
            ("submit", "queued"),
            ("queued", "run_job"),
            ("run_job", "completion"),
            ("submit", "run_job"),
        ];
        assert_eq!(seen, wanted);
    }
}
