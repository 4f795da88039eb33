//! Follows each job submitted to simgpu.

use std::collections::HashMap;

use assize_job::events::{KernelEvent, KernelEventLog};

use crate::threads::{CpuStretch, TracedThreads};

/// The scheduler that implements a job's queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchedulerDesign {
    /// The kernel's own `drm_sched`.
    DrmSched,
    /// The dependency queue `depq`.
    Depq,
}

/// A job. Times are event timestamps in nanoseconds; `None` if the event was not seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracedJob {
    /// The number of its context within the open device file that owns it.
    pub context: u32,
    /// The serial number of its context, unique in the run.
    pub serial: u64,
    /// Its sequence number in the context, starting at 1.
    pub seqno: u64,
    /// The engine that executed it.
    pub engine: u32,
    /// The cookie that its submitter gave it.
    pub cookie: u64,
    /// The scheduler of its queue.
    pub design: Option<SchedulerDesign>,
    /// The thread that submitted it.
    pub submitter: u32,
    /// The thread that called run_job, and the CPU.
    pub runner: Option<(u32, u32)>,
    /// Whether the submission itself called run_job.
    pub inline: bool,
    /// When the submission entered the kernel.
    pub submit: u64,
    /// When it was queued.
    pub queued: Option<u64>,
    /// When its worker was woken; the time of queueing if it was already awake.
    pub woken: Option<u64>,
    /// When its worker got a CPU.
    pub running: Option<u64>,
    /// When run_job was called.
    pub run: Option<u64>,
    /// When the engine completed it.
    pub done: Option<u64>,
    /// Its error as a non-negative number, or 0.
    pub error: i64,
    /// The first thread to return from a successful wait for it that started before its
    /// completion.
    pub wait: Option<JobWait>,
}

/// A thread that waited for a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobWait {
    /// The thread.
    pub tid: u32,
    /// When the wait started.
    pub begin: u64,
    /// When it got a CPU after the completion; the time of the completion if it was running
    /// already.
    pub running: u64,
    /// When the wait ended.
    pub end: u64,
}

impl TracedJob {
    /// The timestamps of the job's stages in order: submit, queued, worker woken, worker
    /// running, run_job, completion, waiter running.
    #[must_use]
    pub fn marks(&self) -> [Option<u64>; 7] {
        let waiter = self.wait.map(|wait| wait.running);
        [
            Some(self.submit),
            self.queued,
            self.woken,
            self.running,
            self.run,
            self.done,
            waiter,
        ]
    }

    /// The latency without the time on the engine: submission to run_job, plus completion
    /// to the waiter running, in nanoseconds.
    #[must_use]
    pub fn latency(&self) -> Option<u64> {
        let before = self.run?.saturating_sub(self.submit);
        let after = match (self.wait, self.done) {
            (Some(wait), Some(done)) => wait.running.saturating_sub(done),
            _ => 0,
        };
        Some(before + after)
    }
}

#[derive(Default)]
struct JobFollower {
    jobs: Vec<TracedJob>,
    /// The index of each job by context serial and sequence number.
    places: HashMap<(u64, u64), usize>,
    /// For each thread, the job that it has passed on and that is not queued yet.
    handed: HashMap<u32, usize>,
    /// Pending waits: context serial, sequence number and thread, with the start time.
    waits: HashMap<(u64, u64, u32), u64>,
}

/// Follows all jobs through the events.
pub(crate) fn follow(events: &KernelEventLog, threads: &TracedThreads) -> Vec<TracedJob> {
    let mut following = JobFollower::default();
    for row in &events.rows {
        let Some(kind) = events.kind(row) else {
            continue;
        };
        match kind.name.as_str() {
            "simgpu/simgpu_submit" => {
                following.submit(events, row);
            }
            "depq/depq_job_queue" => following.queue(row, SchedulerDesign::Depq),
            "gpu_scheduler/drm_sched_job" | "gpu_scheduler/drm_sched_job_queue" => {
                following.queue(row, SchedulerDesign::DrmSched);
            }
            "simgpu/simgpu_run" => following.run(events, row),
            "simgpu/simgpu_hw_done" => following.done(events, row),
            "simgpu/simgpu_wait_begin" => {
                following.wait_begin(events, row);
            }
            "simgpu/simgpu_wait_end" => following.wait_end(events, row, threads),
            _ => {}
        }
    }
    for job in &mut following.jobs {
        worker(job, threads);
    }
    following.jobs
}

fn u64_field(events: &KernelEventLog, row: &KernelEvent, field: &str) -> Option<u64> {
    events.value(row, field).map(i64::cast_unsigned)
}

fn u32_field(events: &KernelEventLog, row: &KernelEvent, field: &str) -> Option<u32> {
    events.value(row, field)?.try_into().ok()
}

/// The job that a simgpu event is about: context serial and sequence number.
fn key(events: &KernelEventLog, row: &KernelEvent) -> Option<(u64, u64)> {
    Some((
        u64_field(events, row, "serial")?,
        u64_field(events, row, "seqno")?,
    ))
}

impl JobFollower {
    fn submit(&mut self, events: &KernelEventLog, row: &KernelEvent) -> Option<()> {
        let (serial, seqno) = key(events, row)?;
        let place = self.jobs.len();
        self.jobs.push(TracedJob {
            context: u32_field(events, row, "context")?,
            serial,
            seqno,
            engine: u32_field(events, row, "engine")?,
            cookie: u64_field(events, row, "cookie").unwrap_or(0),
            design: None,
            submitter: row.tid,
            runner: None,
            inline: false,
            submit: u64_field(events, row, "enter")?.min(row.at_ns),
            queued: None,
            woken: None,
            running: None,
            run: None,
            done: None,
            error: 0,
            wait: None,
        });
        self.places.insert((serial, seqno), place);
        self.handed.insert(row.tid, place);
        Some(())
    }

    /// Handles an event of the queue layer about the job that the current thread has just
    /// passed on.
    fn queue(&mut self, row: &KernelEvent, design: SchedulerDesign) {
        let place = self.handed.remove(&row.tid);
        if let Some(job) = place.and_then(|place| self.jobs.get_mut(place)) {
            job.queued = Some(row.at_ns);
            job.design = Some(design);
        }
    }

    fn job(&mut self, events: &KernelEventLog, row: &KernelEvent) -> Option<&mut TracedJob> {
        let place = *self.places.get(&key(events, row)?)?;
        self.jobs.get_mut(place)
    }

    fn run(&mut self, events: &KernelEventLog, row: &KernelEvent) {
        let inline = events.value(row, "arg") == Some(1);
        if let Some(job) = self.job(events, row).filter(|job| job.run.is_none()) {
            job.run = Some(row.at_ns);
            job.runner = Some((row.tid, row.cpu));
            job.inline = inline;
        }
    }

    fn done(&mut self, events: &KernelEventLog, row: &KernelEvent) {
        let error = events.value(row, "arg").unwrap_or(0);
        if let Some(job) = self.job(events, row).filter(|job| job.done.is_none()) {
            job.done = Some(row.at_ns);
            job.error = error;
        }
    }

    fn wait_begin(&mut self, events: &KernelEventLog, row: &KernelEvent) -> Option<()> {
        let (serial, seqno) = key(events, row)?;
        self.waits.insert((serial, seqno, row.tid), row.at_ns);
        Some(())
    }

    fn wait_end(&mut self, events: &KernelEventLog, row: &KernelEvent, threads: &TracedThreads) {
        let Some((serial, seqno)) = key(events, row) else {
            return;
        };
        let begin = self.waits.remove(&(serial, seqno, row.tid));
        let waited = events.value(row, "result") == Some(0);
        let (Some(begin), true) = (begin, waited) else {
            return;
        };
        let thread = threads.by_tid.get(&row.tid);
        let Some(job) = self.job(events, row).filter(|job| job.wait.is_none()) else {
            return;
        };
        // A wait that starts after the completion does not count.
        let Some(done) = job.done.filter(|done| begin < *done) else {
            return;
        };
        let ran = thread.and_then(|thread| thread.ran_from(done));
        job.wait = Some(JobWait {
            tid: row.tid,
            begin,
            running: ran.map_or(row.at_ns, |ran| ran.from.clamp(done, row.at_ns)),
            end: row.at_ns,
        });
    }
}

/// Sets when the worker of a job was woken and got a CPU, neither before the job was
/// queued.
fn worker(job: &mut TracedJob, threads: &TracedThreads) {
    let (Some(queued), Some(run), Some((tid, _))) = (job.queued, job.run, job.runner) else {
        return;
    };
    if job.inline {
        return;
    }
    let Some(thread) = threads.by_tid.get(&tid) else {
        return;
    };
    // Otherwise the context switch to the worker was lost.
    if thread
        .ran_from(run)
        .is_none_or(|stretch| stretch.from > run)
    {
        return;
    }
    let from = |stretch: CpuStretch| stretch.from.clamp(queued, run);
    match thread.woken_for(run) {
        Some((woken, stretch)) if woken >= queued => {
            job.woken = Some(woken);
            job.running = Some(stretch.from.min(run));
        }
        // It was already awake when the job was queued, or its wakeup was not seen.
        _ => {
            job.woken = Some(queued);
            job.running = thread.ran_from(queued).map(from);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;
    use crate::TracedRun;
    use crate::event_builder::EventBuilder;

    #[test]
    fn a_job_of_a_worker_has_all_marks() {
        for (queue, design) in [
            ("drm_sched_job", SchedulerDesign::DrmSched),
            ("depq_job_queue", SchedulerDesign::Depq),
        ] {
            let mut builder = EventBuilder::default();
            builder.by_worker(1000, 1, queue).by_worker(5000, 2, queue);
            let run = TracedRun::new(builder.events());
            for (job, enter) in run.jobs.iter().zip([1000, 5000]) {
                let marks = [0, 30, 40, 100, 120, 1120, 1150].map(|at| Some(enter + at));
                assert_eq!(job.marks(), marks, "{queue} {}", job.seqno);
                assert_eq!(job.runner, Some((3, 1)));
                assert_eq!(job.design, Some(design));
                assert_eq!(job.latency(), Some(150));
            }
            assert_eq!(run.jobs.len(), 2);
        }
    }

    #[test]
    fn a_job_that_its_submitter_runs_has_no_worker() {
        let mut builder = EventBuilder::default();
        builder.by_submitter(1000, 1);
        let run = TracedRun::new(builder.events());
        let at = |at: u64| Some(1000 + at);
        let marks = [at(0), at(30), None, None, at(45), at(1045), None];
        assert_eq!(run.jobs[0].marks(), marks);
        assert!(run.jobs[0].inline);
    }

    #[test]
    fn a_worker_that_is_awake_is_not_woken() {
        let mut builder = EventBuilder::default();
        builder.switch(10, 1, (0, 0), 3);
        builder
            .submitted(1000, 1, "depq_job_queue")
            .submitted(1100, 2, "depq_job_queue");
        builder.event(1200, (1, 3), "simgpu_run", &[1, 1, 0]);
        builder.switch(1210, 1, (3, 0x100), 8);
        builder.submitted(1300, 3, "depq_job_queue");
        builder.switch(1400, 1, (8, 0x100), 3);
        builder.event(1500, (1, 3), "simgpu_run", &[1, 2, 0]);
        builder.event(1600, (1, 3), "simgpu_run", &[1, 3, 0]);
        let run = TracedRun::new(builder.events());
        let woken: Vec<_> = run
            .jobs
            .iter()
            .map(|job| (job.woken, job.running))
            .collect();
        let at = |woken, running| (Some(woken), Some(running));
        assert_eq!(woken, [at(1030, 1030), at(1130, 1130), at(1330, 1400)]);
    }

    #[test]
    fn who_comes_late_does_not_wait() {
        let mut builder = EventBuilder::default();
        builder.by_submitter(1000, 1);
        builder.event(3000, (0, 57), "wait_begin", &[1, 1, 0]);
        builder.event(3010, (0, 57), "wait_end", &[1, 1, 0]);
        let run = TracedRun::new(builder.events());
        assert_eq!(run.jobs[0].wait, None);
    }

    #[test]
    fn what_is_missing_is_not_made_up() {
        let mut builder = EventBuilder::default();
        builder.event(900, (1, 3), "simgpu_run", &[1, 1, 0]);
        builder.submitted(1000, 2, "depq_job_queue");
        let run = TracedRun::new(builder.events());
        assert_eq!(run.jobs.len(), 1);
        assert_eq!(run.jobs[0].latency(), None);
        assert_eq!(run.jobs[0].marks()[2..], [None; 5]);
    }
}
