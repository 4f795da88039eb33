//! How jobs get to an engine of simgpu.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a queue of simgpu is built on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// The kernel's own `drm_sched`, unmodified.
    #[default]
    DrmSched,
    /// The dependency queue `depq`.
    Depq,
}

/// Who puts finished jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Put {
    /// The worker.
    #[default]
    Worker,
    /// Whoever signals, in the interrupt.
    Irq,
    /// The next submitter.
    Submit,
}

/// What runs the jobs that their submitter does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Worker {
    /// A workqueue of its own.
    #[default]
    Workqueue,
    /// The kernel's system workqueue.
    System,
    /// A workqueue with WQ_HIGHPRI.
    Highpri,
    /// A kthread_worker.
    Kthread,
    /// A kthread_worker that is scheduled as the most urgent of those who
    /// have jobs queued for it.
    Follow,
    /// The same, but any negative niceness becomes the lowest.
    FollowMin,
}

impl Worker {
    /// Whether it is scheduled as those who submit.
    #[must_use]
    pub fn follows(self) -> bool {
        matches!(self, Worker::Follow | Worker::FollowMin)
    }
}

/// Who shares a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Share {
    /// Nobody: each context has one.
    #[default]
    Context,
    /// The contexts of an engine.
    Engine,
    /// All contexts.
    Device,
}

/// How the queues of all workloads that submit to simgpu are.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Queue {
    /// What they are built on.
    pub design: Design,
    /// The submitter runs the job where it can. `depq` only.
    pub bypass: bool,
    /// Who puts finished jobs. `depq` only.
    pub put: Put,
    /// What runs the jobs. `drm-sched` knows `workqueue` and `highpri`.
    pub worker: Worker,
    /// Who shares a worker. `depq` only.
    pub share: Share,
    /// One scheduler for all contexts of an engine. `drm-sched` only.
    pub shared: bool,
    /// Credits in flight at most; a job takes one.
    pub credits: u32,
    /// Jobs that a context remembers, and so has in flight at most; a power
    /// of two.
    pub ring: u32,
    /// A job that takes longer on the engine hangs, in nanoseconds; whole
    /// microseconds.
    pub timeout_ns: u64,
    /// Hangs after which a context is banned.
    pub hang_limit: u32,
}

impl Default for Queue {
    fn default() -> Self {
        Queue {
            design: Design::DrmSched,
            bypass: false,
            put: Put::Worker,
            worker: Worker::Workqueue,
            share: Share::Context,
            shared: false,
            credits: 64,
            ring: 1024,
            timeout_ns: 5_000_000_000,
            hang_limit: 0,
        }
    }
}

impl Queue {
    /// The first setting that the design does not know, as key and value,
    /// and what it would have to be.
    #[must_use]
    pub fn unknown_to_design(&self) -> Option<(&'static str, &'static str)> {
        let drm_sched = self.design == Design::DrmSched;
        let wrong = [
            (drm_sched && self.bypass, "bypass", "false"),
            (drm_sched && self.put != Put::Worker, "put", "worker"),
            (
                drm_sched && !matches!(self.worker, Worker::Workqueue | Worker::Highpri),
                "worker",
                "workqueue or highpri",
            ),
            (
                drm_sched && self.share != Share::Context,
                "share",
                "context",
            ),
            (!drm_sched && self.shared, "shared", "false"),
        ];
        let found = wrong.into_iter().find(|(is_wrong, ..)| *is_wrong);
        found.map(|(_, key, must)| (key, must))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drm_sched_has_neither_bypass_nor_other_ways_to_put() {
        assert_eq!(Queue::default().unknown_to_design(), None);
        let highpri = Queue {
            worker: Worker::Highpri,
            shared: true,
            ..Queue::default()
        };
        assert_eq!(highpri.unknown_to_design(), None);
        for (key, queue) in [
            (
                "bypass",
                Queue {
                    bypass: true,
                    put: Put::Irq,
                    ..Queue::default()
                },
            ),
            (
                "put",
                Queue {
                    put: Put::Submit,
                    ..Queue::default()
                },
            ),
            (
                "worker",
                Queue {
                    worker: Worker::Kthread,
                    ..Queue::default()
                },
            ),
            (
                "worker",
                Queue {
                    worker: Worker::Follow,
                    ..Queue::default()
                },
            ),
            (
                "share",
                Queue {
                    share: Share::Device,
                    ..Queue::default()
                },
            ),
        ] {
            assert_eq!(queue.unknown_to_design().map(|(key, _)| key), Some(key));
            let depq = Queue {
                design: Design::Depq,
                ..queue
            };
            assert_eq!(depq.unknown_to_design(), None);
        }
    }

    #[test]
    fn depq_has_no_shared_scheduler() {
        let depq = Queue {
            design: Design::Depq,
            shared: true,
            ..Queue::default()
        };
        assert_eq!(depq.unknown_to_design(), Some(("shared", "false")));
    }
}
