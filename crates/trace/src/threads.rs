//! When each thread was woken and ran, and its priorities.

use std::collections::BTreeMap;

use assize_job::events::{KernelEvent, KernelEventLog};

/// The clone flag of a thread in the process of its creator.
const CLONE_THREAD: i64 = 0x1_0000;
/// The bits of a task state that mean sleeping; higher bits mean that the task was
/// preempted.
const SLEEPS: i64 = 0xff;

/// The threads of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TracedThreads {
    /// Threads by TID, without idle threads.
    pub by_tid: BTreeMap<u32, TracedThread>,
    /// For each CPU, which thread ran when, without idle times.
    pub by_cpu: BTreeMap<u32, Vec<(u32, CpuStretch)>>,
}

/// A thread.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TracedThread {
    /// Its last known name.
    pub name: String,
    /// The TGID of its process; its own TID if the events do not show it.
    pub process: u32,
    /// When it ran.
    pub ran: Vec<CpuStretch>,
    /// Its priority in the kernel's scale (0 first, 120 for nice 0), with the time from
    /// which it applies.
    pub prios: Vec<(u64, i64)>,
}

/// An interval in which a thread had a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuStretch {
    /// The start.
    pub from: u64,
    /// The end, or the end of the recording if that is earlier.
    pub to: u64,
    /// The CPU.
    pub cpu: u32,
    /// The wakeup that led to it, if the thread had been asleep.
    pub woken: Option<u64>,
}

impl TracedThreads {
    /// The name of a thread, or its TID if the name is unknown.
    #[must_use]
    pub fn name(&self, tid: u32) -> String {
        let thread = self.by_tid.get(&tid);
        match thread.filter(|thread| !thread.name.is_empty()) {
            Some(thread) => thread.name.clone(),
            None => tid.to_string(),
        }
    }

    /// The threads that ran on a CPU between two times, with their run times; longest first.
    #[must_use]
    pub fn meanwhile(&self, cpu: u32, from: u64, to: u64) -> Vec<(u32, u64)> {
        let stretches = self.by_cpu.get(&cpu).map_or(&[][..], Vec::as_slice);
        let begin = stretches.partition_point(|(_, stretch)| stretch.to <= from);
        let mut sums: BTreeMap<u32, u64> = BTreeMap::new();
        for (tid, stretch) in stretches.get(begin..).unwrap_or_default() {
            if stretch.from >= to {
                break;
            }
            *sums.entry(*tid).or_default() += stretch.to.min(to) - stretch.from.max(from);
        }
        let mut sums: Vec<(u32, u64)> = sums.into_iter().collect();
        sums.sort_by_key(|&(tid, ns)| (std::cmp::Reverse(ns), tid));
        sums
    }
}

impl TracedThread {
    /// The index of the last stretch that started at or before a time.
    fn at_or_before(&self, at: u64) -> Option<usize> {
        self.ran
            .partition_point(|stretch| stretch.from <= at)
            .checked_sub(1)
    }

    /// The wakeup that led to what the thread does at time `at`, and the first stretch
    /// after it; `None` if no wakeup was seen.
    #[must_use]
    pub fn woken_for(&self, at: u64) -> Option<(u64, CpuStretch)> {
        let until = self.ran.get(..=self.at_or_before(at)?)?;
        let woken = until.iter().rev().find(|stretch| stretch.woken.is_some())?;
        Some((woken.woken?, *woken))
    }

    /// The stretch that covers a time, or the first one after it.
    #[must_use]
    pub fn ran_from(&self, at: u64) -> Option<CpuStretch> {
        let before = self.at_or_before(at);
        let covers = before.and_then(|index| self.ran.get(index));
        if let Some(stretch) = covers.filter(|stretch| stretch.to > at) {
            return Some(*stretch);
        }
        self.ran.get(before.map_or(0, |index| index + 1)).copied()
    }

    fn prio(&mut self, at_ns: u64, prio: i64) {
        if self.prios.last().is_none_or(|(_, last)| *last != prio) {
            self.prios.push((at_ns, prio));
        }
    }
}

/// The state of a thread between two events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum ThreadState {
    /// Not seen yet.
    #[default]
    Unknown,
    Asleep,
    Woken {
        at_ns: u64,
    },
    /// Runnable after a preemption, without a wakeup.
    Preempted,
    Runs {
        from: u64,
        cpu: u32,
        woken: Option<u64>,
    },
}

#[derive(Default)]
struct ThreadFollower {
    threads: TracedThreads,
    states: BTreeMap<u32, ThreadState>,
}

/// Follows all threads through the events.
pub(crate) fn follow(events: &KernelEventLog) -> TracedThreads {
    let mut following = ThreadFollower::default();
    for name in &events.names {
        let thread = following.thread(name.tid);
        thread.name.clone_from(&name.name);
    }
    for row in &events.rows {
        let Some(kind) = events.kind(row) else {
            continue;
        };
        match kind.name.as_str() {
            "sched/sched_switch" => following.switch(events, row),
            "sched/sched_waking" | "sched/sched_wakeup_new" => following.waking(events, row),
            "task/task_newtask" => following.new_task(events, row),
            "depq/depq_worker_prio" => following.worker_prio(events, row),
            _ => {}
        }
    }
    following.end(events.stop_ns)
}

impl ThreadFollower {
    fn thread(&mut self, tid: u32) -> &mut TracedThread {
        self.threads
            .by_tid
            .entry(tid)
            .or_insert_with(|| TracedThread {
                process: tid,
                ..TracedThread::default()
            })
    }

    fn switch(&mut self, events: &KernelEventLog, row: &KernelEvent) {
        let tid = |field| thread_id(events, row, field);
        let (Some(prev), Some(next)) = (tid("prev_pid"), tid("next_pid")) else {
            return;
        };
        if prev != 0 {
            // A thread seen for the first time has run since the start.
            self.states.entry(prev).or_insert(ThreadState::Runs {
                from: events.start_ns,
                cpu: row.cpu,
                woken: None,
            });
            self.leaves(prev, row.at_ns);
            let sleeps = events
                .value(row, "prev_state")
                .is_some_and(|state| state & SLEEPS != 0);
            let state = if sleeps {
                ThreadState::Asleep
            } else {
                ThreadState::Preempted
            };
            self.states.insert(prev, state);
            if let Some(prio) = events.value(row, "prev_prio") {
                self.thread(prev).prio(row.at_ns, prio);
            }
        }
        if next != 0 {
            let woken = match self.states.get(&next) {
                Some(ThreadState::Woken { at_ns }) => Some(*at_ns),
                _ => None,
            };
            let runs = ThreadState::Runs {
                from: row.at_ns,
                cpu: row.cpu,
                woken,
            };
            self.states.insert(next, runs);
            if let Some(prio) = events.value(row, "next_prio") {
                self.thread(next).prio(row.at_ns, prio);
            }
        }
    }

    /// Ends the current stretch of a thread.
    fn leaves(&mut self, tid: u32, at_ns: u64) {
        let Some(ThreadState::Runs { from, cpu, woken }) = self.states.get(&tid).copied() else {
            return;
        };
        let stretch = CpuStretch {
            from,
            to: at_ns,
            cpu,
            woken,
        };
        self.thread(tid).ran.push(stretch);
        self.threads
            .by_cpu
            .entry(cpu)
            .or_default()
            .push((tid, stretch));
    }

    /// Handles a wakeup, which is ignored if the thread is running or runnable already.
    fn waking(&mut self, events: &KernelEventLog, row: &KernelEvent) {
        let Some(tid) = thread_id(events, row, "pid") else {
            return;
        };
        if let Some(prio) = events.value(row, "prio") {
            self.thread(tid).prio(row.at_ns, prio);
        }
        let state = self.states.entry(tid).or_default();
        if matches!(state, ThreadState::Unknown | ThreadState::Asleep) {
            *state = ThreadState::Woken { at_ns: row.at_ns };
        }
    }

    fn new_task(&mut self, events: &KernelEventLog, row: &KernelEvent) {
        let Some(tid) = thread_id(events, row, "pid") else {
            return;
        };
        let flags = events.value(row, "clone_flags").unwrap_or(0);
        let process = if flags & CLONE_THREAD == 0 {
            tid
        } else {
            self.thread(row.tid).process
        };
        self.thread(tid).process = process;
        self.states.insert(tid, ThreadState::Asleep);
    }

    /// Handles the priority that a worker is about to get.
    fn worker_prio(&mut self, events: &KernelEventLog, row: &KernelEvent) {
        let value = |field| events.value(row, field);
        let (Some(pid), Some(policy)) = (value("pid"), value("policy")) else {
            return;
        };
        let prio = match policy {
            // SCHED_FIFO and SCHED_RR
            1 | 2 => value("priority").map(|priority| 99 - priority),
            _ => value("nice").map(|nice| 120 + nice),
        };
        if let (Ok(tid), Some(prio)) = (u32::try_from(pid), prio) {
            self.thread(tid).prio(row.at_ns, prio);
        }
    }

    fn end(mut self, stop_ns: u64) -> TracedThreads {
        let tids: Vec<u32> = self.states.keys().copied().collect();
        for tid in tids {
            self.leaves(tid, stop_ns);
        }
        for stretches in self.threads.by_cpu.values_mut() {
            stretches.sort_by_key(|(_, stretch)| stretch.from);
        }
        self.threads
    }
}

/// The thread in a field of an event.
fn thread_id(events: &KernelEventLog, row: &KernelEvent, field: &str) -> Option<u32> {
    u32::try_from(events.value(row, field)?).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use crate::event_builder::EventBuilder;

    #[test]
    fn a_thread_is_followed_from_its_wake_up_to_its_sleep() {
        let mut builder = EventBuilder::default();
        builder.waking(100, 0, 3, 57).waking(110, 0, 3, 57);
        builder.switch(120, 1, (3, 0), 57).waking(130, 0, 3, 57);
        builder
            .switch(150, 1, (57, 0x100), 3)
            .switch(160, 1, (3, 1), 57);
        builder.switch(170, 1, (57, 1), 0);
        let threads = super::follow(&builder.events());
        let thread = &threads.by_tid[&57];
        let ran: Vec<_> = thread.ran.iter().map(|s| (s.from, s.to, s.woken)).collect();
        assert_eq!(ran, [(120, 150, Some(100)), (160, 170, None)]);
        let (woken, first) = thread.woken_for(165).unwrap();
        assert_eq!((woken, first.from), (100, 120));
        assert_eq!(thread.woken_for(119), None);
        assert_eq!(thread.ran_from(130).unwrap().from, 120);
        assert_eq!(thread.ran_from(150).unwrap().from, 160);
        assert_eq!(thread.ran_from(170), None);
        assert_eq!(threads.meanwhile(1, 110, 165), [(57, 35), (3, 20)]);
    }

    #[test]
    fn a_thread_belongs_to_the_process_that_made_it() {
        let mut builder = EventBuilder::default();
        builder
            .new_task(10, 57, 58, 0x1_0000)
            .new_task(20, 58, 59, 0x1_0000);
        builder.new_task(30, 59, 60, 0);
        let threads = super::follow(&builder.events());
        let processes: Vec<u32> = threads.by_tid.values().map(|t| t.process).collect();
        assert_eq!(processes, [57, 57, 57, 60]);
    }
}
