//! Builds events for tests.

use assize_job::events::{EventKind, KernelEvent, KernelEventLog};

const KINDS: &[(&str, &[&str])] = &[
    (
        "sched/sched_switch",
        &[
            "prev_pid",
            "prev_prio",
            "prev_state",
            "next_pid",
            "next_prio",
        ],
    ),
    ("sched/sched_waking", &["pid", "prio", "target_cpu"]),
    ("task/task_newtask", &["pid", "clone_flags"]),
    (
        "simgpu/simgpu_submit",
        &["engine", "context", "serial", "seqno", "cookie", "enter"],
    ),
    ("simgpu/simgpu_run", &["serial", "seqno", "arg"]),
    ("simgpu/simgpu_hw_done", &["serial", "seqno", "arg"]),
    ("simgpu/simgpu_wait_begin", &["serial", "seqno", "result"]),
    ("simgpu/simgpu_wait_end", &["serial", "seqno", "result"]),
    ("depq/depq_job_queue", &["context", "seqno", "bypass"]),
    ("gpu_scheduler/drm_sched_job", &["entity", "fence", "id"]),
    ("depq/depq_timeout", &["context", "seqno", "verdict"]),
];

/// Builds events in order of time.
pub(crate) struct EventBuilder(KernelEventLog);

impl Default for EventBuilder {
    fn default() -> Self {
        let kind = |(name, fields): &(&str, &[&str])| EventKind {
            name: (*name).into(),
            fields: fields.iter().map(|field| (*field).into()).collect(),
        };
        EventBuilder(KernelEventLog {
            stop_ns: 1_000_000,
            kinds: KINDS.iter().map(kind).collect(),
            ..KernelEventLog::default()
        })
    }
}

impl EventBuilder {
    pub(crate) fn events(&self) -> KernelEventLog {
        self.0.clone()
    }

    pub(crate) fn call(&mut self, tid: u32, name: &str) -> &mut Self {
        self.0.names.push(assize_job::events::ThreadNaming {
            row: self.0.rows.len(),
            tid,
            name: name.into(),
        });
        self
    }

    /// Adds an event on a CPU, with the thread that runs there.
    pub(crate) fn event(
        &mut self,
        at_ns: u64,
        (cpu, tid): (u32, u32),
        name: &str,
        values: &[i64],
    ) -> &mut Self {
        let kind = KINDS.iter().position(|(known, _)| known.ends_with(name));
        let row = KernelEvent {
            kind: kind
                .and_then(|kind| kind.try_into().ok())
                .unwrap_or(u16::MAX),
            cpu,
            at_ns,
            tid,
            first: 0,
        };
        self.0.push(row, values);
        self
    }

    /// Adds a switch from a thread, with its state, to another.
    pub(crate) fn switch(&mut self, at: u64, cpu: u32, prev: (u32, i64), next: u32) -> &mut Self {
        let values = [prev.0.into(), 120, prev.1, next.into(), 120];
        self.event(at, (cpu, prev.0), "sched_switch", &values)
    }

    pub(crate) fn waking(&mut self, at: u64, cpu: u32, waker: u32, tid: u32) -> &mut Self {
        let values = [tid.into(), 120, 0];
        self.event(at, (cpu, waker), "sched_waking", &values)
    }

    pub(crate) fn new_task(&mut self, at: u64, by: u32, tid: u32, flags: i64) -> &mut Self {
        self.event(at, (0, by), "task_newtask", &[tid.into(), flags])
    }

    /// Thread 57 on CPU 0 submits a job of context 1 at `enter`. It is passed on at
    /// `enter` + 20 and queued at `enter` + 30.
    pub(crate) fn submitted(&mut self, enter: u64, seqno: i64, queue: &str) -> &mut Self {
        let submit = [0, 1, 1, seqno, 9, enter.cast_signed()];
        self.event(enter + 20, (0, 57), "simgpu_submit", &submit);
        let values: &[i64] = match queue {
            "drm_sched_job" => &[1, seqno + 100, seqno],
            "bypass" => &[7, seqno, 1],
            _ => &[7, seqno, 0],
        };
        let name = if queue == "bypass" {
            "depq_job_queue"
        } else {
            queue
        };
        self.event(enter + 30, (0, 57), name, values)
    }

    /// Worker 3 runs a job on CPU 1. After `enter`: woken at 40, running at 100, run_job
    /// at 120, completion at 1120, waiter running at 1150.
    pub(crate) fn by_worker(&mut self, enter: u64, seqno: i64, queue: &str) -> &mut Self {
        self.submitted(enter, seqno, queue);
        self.waking(enter + 40, 0, 57, 3);
        self.event(enter + 60, (0, 57), "wait_begin", &[1, seqno, 0]);
        self.switch(enter + 70, 0, (57, 1), 0);
        self.switch(enter + 100, 1, (0, 0), 3);
        self.event(enter + 120, (1, 3), "simgpu_run", &[1, seqno, 0]);
        self.switch(enter + 140, 1, (3, 1), 0);
        self.event(enter + 1120, (0, 0), "hw_done", &[1, seqno, 0]);
        self.waking(enter + 1130, 0, 0, 57);
        self.switch(enter + 1150, 0, (0, 0), 57);
        self.event(enter + 1160, (0, 57), "wait_end", &[1, seqno, 0])
    }

    /// The submitter runs a job itself at `enter` + 45; it completes at `enter` + 1045.
    pub(crate) fn by_submitter(&mut self, enter: u64, seqno: i64) -> &mut Self {
        self.submitted(enter, seqno, "bypass");
        self.event(enter + 45, (0, 57), "simgpu_run", &[1, seqno, 1]);
        self.event(enter + 1045, (0, 57), "hw_done", &[1, seqno, 0])
    }
}
