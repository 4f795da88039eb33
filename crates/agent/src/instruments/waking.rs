//! Computes wake-up latencies from the scheduler's trace events.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A scheduler event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchedulerEvent {
    /// A thread or process was created.
    Fork {
        /// Id of the creating thread.
        parent: u32,
        /// Id of the new one.
        child: u32,
    },
    /// A thread exits.
    Exit {
        /// Its id.
        tid: u32,
    },
    /// A thread was woken, for the first time or again.
    Wakeup {
        /// Its id.
        tid: u32,
        /// Its name in the kernel.
        comm: [u8; 16],
    },
    /// A CPU switches from one thread to another.
    Switch {
        /// Id of the previous thread.
        prev: u32,
        /// Id of the next thread.
        next: u32,
        /// The next thread's name in the kernel.
        comm: [u8; 16],
    },
}

/// One wake-up: when the thread ran, and how long it had waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Latency {
    /// When it ran, in nanoseconds.
    pub at: u64,
    /// Nanoseconds from its wake-up until then.
    pub waited: u64,
    /// Id of the thread.
    pub tid: u32,
}

/// The wake-up latencies of a workload's threads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Waking {
    /// In the order in which they ran.
    pub latencies: Vec<Latency>,
    /// Each thread and its last name in the kernel.
    pub threads: BTreeMap<u32, String>,
    /// How often a woken thread ran without a traced switch to it.
    pub untraced: u64,
}

/// Follows the workload's threads through all events, in order of time.
///
/// A wake-up counts if its thread was not running: between a thread's decision to sleep
/// and its sleep, a wake-up makes it continue without waiting. A preempted thread waits
/// too, but was not woken. Of several wake-ups before a run, the first counts.
pub(crate) fn follow(workload: u32, events: &[(u64, SchedulerEvent)]) -> Waking {
    let mut waking = Waking::default();
    let mut members = BTreeSet::from([workload]);
    let mut running = BTreeSet::new();
    let mut woken: HashMap<u32, u64> = HashMap::new();
    for &(time, event) in events {
        match event {
            SchedulerEvent::Fork { parent, child } => {
                if members.contains(&parent) {
                    waking.count_untraced(woken.remove(&parent));
                    members.insert(child);
                }
            }
            SchedulerEvent::Exit { tid } => {
                members.remove(&tid);
                running.remove(&tid);
                waking.count_untraced(woken.remove(&tid));
            }
            SchedulerEvent::Wakeup { tid, comm } => {
                if members.contains(&tid) {
                    waking.set_name(tid, &comm);
                    if !running.contains(&tid) {
                        woken.entry(tid).or_insert(time);
                    }
                }
            }
            SchedulerEvent::Switch { prev, next, comm } => {
                running.remove(&prev);
                if members.contains(&prev) {
                    waking.count_untraced(woken.remove(&prev));
                }
                if members.contains(&next) {
                    waking.set_name(next, &comm);
                    running.insert(next);
                    if let Some(since) = woken.remove(&next) {
                        let waited = time.saturating_sub(since);
                        waking.latencies.push(Latency {
                            at: time,
                            waited,
                            tid: next,
                        });
                    }
                }
            }
        }
    }
    waking
}

impl Waking {
    /// Counts a thread that is running although its last event was a wake-up, if it was.
    fn count_untraced(&mut self, woken: Option<u64>) {
        self.untraced += u64::from(woken.is_some());
    }

    fn set_name(&mut self, tid: u32, comm: &[u8; 16]) {
        let text = comm.split(|&byte| byte == 0).next().unwrap_or_default();
        let known = self.threads.entry(tid).or_default();
        if known.as_bytes() != text {
            *known = String::from_utf8_lossy(text).into_owned();
        }
    }

    /// How often each latency occurred, ascending; of one thread or of all.
    pub(crate) fn histogram(&self, tid: Option<u32>) -> Vec<(u64, u64)> {
        let mut counts = BTreeMap::new();
        for latency in &self.latencies {
            if tid.is_none_or(|tid| tid == latency.tid) {
                *counts.entry(latency.waited).or_insert(0) += 1;
            }
        }
        counts.into_iter().collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)] // A test may fail.
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WORKLOAD: u32 = 10;

    fn comm(name: &str) -> [u8; 16] {
        let mut comm = [0; 16];
        comm[..name.len()].copy_from_slice(name.as_bytes());
        comm
    }

    fn wakeup(tid: u32) -> SchedulerEvent {
        SchedulerEvent::Wakeup {
            tid,
            comm: comm("w"),
        }
    }

    fn switch(prev: u32, next: u32) -> SchedulerEvent {
        SchedulerEvent::Switch {
            prev,
            next,
            comm: comm("w"),
        }
    }

    fn waited(events: &[(u64, SchedulerEvent)]) -> Vec<(u32, u64)> {
        let waking = follow(WORKLOAD, events);
        waking.latencies.iter().map(|l| (l.tid, l.waited)).collect()
    }

    #[test]
    fn a_wakeup_is_answered_by_the_next_run() {
        let events = [
            (100, wakeup(WORKLOAD)),
            (130, switch(0, WORKLOAD)),
            (200, switch(WORKLOAD, 0)),
            (300, wakeup(WORKLOAD)),
            (305, wakeup(WORKLOAD)),
            (350, switch(0, WORKLOAD)),
        ];
        assert_eq!(waited(&events), [(WORKLOAD, 30), (WORKLOAD, 50)]);
        let histogram = follow(WORKLOAD, &events).histogram(None);
        assert_eq!(histogram, [(30, 1), (50, 1)]);
    }

    #[test]
    fn a_thread_that_is_running_is_not_woken() {
        let events = [
            (100, switch(0, WORKLOAD)),
            (110, wakeup(WORKLOAD)),
            (120, switch(WORKLOAD, 7)), // preempted
            (190, switch(7, WORKLOAD)),
        ];
        assert_eq!(waited(&events), []);
    }

    #[test]
    fn a_run_that_was_not_traced_is_noticed() {
        let seen = [
            switch(WORKLOAD, 0),
            SchedulerEvent::Exit { tid: WORKLOAD },
            SchedulerEvent::Fork {
                parent: WORKLOAD,
                child: 11,
            },
        ];
        for event in seen {
            let waking = follow(WORKLOAD, &[(100, wakeup(WORKLOAD)), (190, event)]);
            assert_eq!((waking.untraced, waking.latencies.len()), (1, 0));
        }
    }

    #[test]
    fn children_belong_to_the_workload_and_others_do_not() {
        let events = [
            (90, switch(0, WORKLOAD)),
            (
                100,
                SchedulerEvent::Fork {
                    parent: WORKLOAD,
                    child: 11,
                },
            ),
            (101, wakeup(11)),
            (102, wakeup(7)),
            (103, switch(0, 7)),
            (110, switch(7, 11)),
            (111, SchedulerEvent::Exit { tid: 11 }),
            (112, switch(11, 0)),
            (
                120,
                SchedulerEvent::Fork {
                    parent: 7,
                    child: 11,
                },
            ),
            (121, wakeup(11)),
            (122, switch(0, 11)),
        ];
        assert_eq!(waited(&events), [(11, 9)]);
        let waking = follow(WORKLOAD, &events);
        let threads: Vec<u32> = waking.threads.keys().copied().collect();
        assert_eq!(threads, [WORKLOAD, 11]);
        assert_eq!(waking.histogram(Some(WORKLOAD)), []);
    }

    proptest! {
        #[test]
        fn the_histogram_has_every_latency_once(
            steps in prop::collection::vec((0u64..50, 0u8..3, 10u32..13), 0..60),
        ) {
            let mut time = 0;
            let mut events = vec![
                (0, SchedulerEvent::Fork { parent: 10, child: 11 }),
                (0, SchedulerEvent::Fork { parent: 11, child: 12 }),
            ];
            for (step, what, tid) in steps {
                time += step;
                events.push((time, match what {
                    0 => wakeup(tid),
                    1 => switch(tid, 0),
                    _ => switch(0, tid),
                }));
            }
            let waking = follow(10, &events);
            let all = waking.histogram(None);
            prop_assert!(all.windows(2).all(|pair| pair[0].0 < pair[1].0));
            let count: u64 = all.iter().map(|(_, count)| count).sum();
            prop_assert_eq!(count as usize, waking.latencies.len());
            let each: u64 = (10..13)
                .flat_map(|tid| waking.histogram(Some(tid)))
                .map(|(_, count)| count)
                .sum();
            prop_assert_eq!(each, count);
        }
    }
}
