//! Queues: how jobs reach an engine of simgpu.

use serde::{Deserialize, Serialize};

/// The implementation of a simgpu queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// The kernel's own `drm_sched`, unmodified.
    #[default]
    DrmSched,
    /// The dependency queue `depq`.
    Depq,
    /// No queue: the submitter waits for dependencies and passes the job to the engine, and
    /// the job is freed where its fence signals.
    None,
}

/// The code that puts a finished job, that is, drops the queue's reference to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobPutter {
    /// The worker.
    #[default]
    Worker,
    /// The signalling code, in the interrupt.
    Irq,
    /// The next submitter.
    Submit,
    /// The queue decides, and also decides who runs the jobs: the submitter or a softirq if
    /// possible; jobs that are cheap to free are put when they signal.
    Auto,
}

/// The kind of worker for jobs that the submitter does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Worker {
    /// A separate workqueue.
    #[default]
    Workqueue,
    /// The kernel's system workqueue.
    System,
    /// A workqueue with WQ_HIGHPRI.
    Highpri,
    /// A kthread_worker.
    Kthread,
    /// A kthread_worker with the most urgent scheduling of the submitters that have jobs
    /// queued for it.
    Follow,
    /// As [`Worker::Follow`], but any negative nice value becomes the lowest (−20).
    FollowMin,
}

impl Worker {
    /// Whether it takes on the scheduling of its submitters.
    #[must_use]
    pub fn follows(self) -> bool {
        matches!(self, Worker::Follow | Worker::FollowMin)
    }
}

/// The contexts that share a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkerSharing {
    /// None: each context has its own.
    #[default]
    Context,
    /// The contexts of an engine.
    Engine,
    /// All contexts.
    Device,
}

/// The choice of an engine's next job among those of several contexts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobPicker {
    /// The engine's ring: first in, first out.
    #[default]
    Ring,
    /// An arbiter of the engine: the context that has used the least engine time comes
    /// first.
    Fair,
}

/// The driver whose use of `drm_sched` is imitated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DriverShape {
    /// None: `shared` and `worker` apply.
    #[default]
    None,
    /// For each context a scheduler with its own ordered workqueue.
    Xe,
    /// For each context a scheduler, and one unbound workqueue for all.
    Panthor,
    /// For each engine a scheduler with a run queue for each priority.
    Amdgpu,
}

impl DriverShape {
    /// Default limit of credits in flight.
    #[must_use]
    pub fn credits(self) -> u32 {
        match self {
            DriverShape::Amdgpu => 2,
            DriverShape::None | DriverShape::Xe | DriverShape::Panthor => 64,
        }
    }
}

/// Settings of the queues of all workloads that submit to simgpu.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Queue {
    /// The implementation.
    pub design: Design,
    /// Whether the submitter runs the job if possible. `depq` only.
    pub bypass: bool,
    /// The code that puts finished jobs. `depq` only.
    pub put: JobPutter,
    /// The kind of worker. `drm-sched` supports `workqueue` and `highpri`.
    pub worker: Worker,
    /// The contexts that share a worker. `depq` only.
    pub share: WorkerSharing,
    /// The choice of an engine's next job among those of several contexts. `depq` only.
    pub pick: JobPicker,
    /// Whether all contexts of an engine share one scheduler. `drm-sched` only.
    pub shared: bool,
    /// The driver whose use of `drm_sched` is imitated. It replaces `shared` and `worker`.
    /// `drm-sched` only.
    pub shape: DriverShape,
    /// Limit of credits in flight; a job takes one.
    pub credits: u32,
    /// Size of a context's job ring, and so its limit of jobs in flight; a power of two.
    pub ring: u32,
    /// A job that takes longer than this on the engine counts as hung, in nanoseconds;
    /// whole microseconds.
    pub timeout_ns: u64,
    /// Number of hangs after which a context is banned.
    pub hang_limit: u32,
    /// CPU time to free a job, in nanoseconds.
    pub free_cost_ns: u64,
    /// Whether freeing a job takes a sleeping lock. If that happens in a completion, a work
    /// item does it.
    pub free_sleeps: bool,
}

impl Default for Queue {
    fn default() -> Self {
        Queue {
            design: Design::DrmSched,
            bypass: false,
            put: JobPutter::Worker,
            worker: Worker::Workqueue,
            share: WorkerSharing::Context,
            pick: JobPicker::Ring,
            shared: false,
            shape: DriverShape::None,
            credits: DriverShape::None.credits(),
            ring: 1024,
            timeout_ns: 5_000_000_000,
            hang_limit: 0,
            free_cost_ns: 0,
            free_sleeps: false,
        }
    }
}

impl Queue {
    /// The first setting that the design does not support, as key and value, and the value
    /// that it must have.
    #[must_use]
    pub fn unknown_to_design(&self) -> Option<(&'static str, &'static str)> {
        let depq = self.design == Design::Depq;
        let drm_sched = self.design == Design::DrmSched;
        let none = self.design == Design::None;
        let default = Queue::default();
        let wrong = [
            (!depq && self.bypass, "bypass", "false"),
            (!depq && self.put != JobPutter::Worker, "put", "worker"),
            (
                drm_sched && !matches!(self.worker, Worker::Workqueue | Worker::Highpri),
                "worker",
                "workqueue or highpri",
            ),
            (
                none && self.worker != Worker::Workqueue,
                "worker",
                "workqueue",
            ),
            (
                !depq && self.share != WorkerSharing::Context,
                "share",
                "context",
            ),
            (!depq && self.pick != JobPicker::Ring, "pick", "ring"),
            (!drm_sched && self.shared, "shared", "false"),
            (
                !drm_sched && self.shape != DriverShape::None,
                "shape",
                "none",
            ),
            (none && self.credits != default.credits, "credits", "64"),
            (
                none && self.timeout_ns != default.timeout_ns,
                "timeout",
                "5s",
            ),
            (none && self.hang_limit != 0, "hang_limit", "0"),
        ];
        let found = wrong.into_iter().find(|(is_wrong, ..)| *is_wrong);
        found.map(|(_, key, must)| (key, must))
    }

    /// The first setting that is given although the shape determines it, as key and value,
    /// and the value that it must have.
    #[must_use]
    pub fn decided_by_shape(&self) -> Option<(&'static str, &'static str)> {
        if self.shape == DriverShape::None {
            None
        } else if self.shared {
            Some(("shared", "false"))
        } else if self.worker != Worker::Workqueue {
            Some(("worker", "workqueue"))
        } else {
            None
        }
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
                    put: JobPutter::Irq,
                    ..Queue::default()
                },
            ),
            (
                "put",
                Queue {
                    put: JobPutter::Submit,
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
                    share: WorkerSharing::Device,
                    ..Queue::default()
                },
            ),
            (
                "pick",
                Queue {
                    pick: JobPicker::Fair,
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

    #[test]
    fn only_drm_sched_has_a_shape_and_that_decides_what_shares() {
        for shape in [DriverShape::Xe, DriverShape::Panthor, DriverShape::Amdgpu] {
            let drm = Queue {
                shape,
                ..Queue::default()
            };
            assert_eq!(drm.unknown_to_design(), None);
            assert_eq!(drm.decided_by_shape(), None);
            let shared = Queue {
                shared: true,
                ..drm.clone()
            };
            assert_eq!(shared.decided_by_shape(), Some(("shared", "false")));
            let highpri = Queue {
                worker: Worker::Highpri,
                ..drm.clone()
            };
            assert_eq!(highpri.decided_by_shape(), Some(("worker", "workqueue")));
            for design in [Design::Depq, Design::None] {
                let other = Queue {
                    design,
                    ..drm.clone()
                };
                assert_eq!(other.unknown_to_design(), Some(("shape", "none")));
            }
        }
        let without = Queue {
            shared: true,
            worker: Worker::Highpri,
            ..Queue::default()
        };
        assert_eq!(without.decided_by_shape(), None);
    }

    #[test]
    fn without_a_queue_there_is_nothing_to_choose_but_the_ring_and_what_a_job_costs() {
        let none = Queue {
            design: Design::None,
            ring: 16,
            free_cost_ns: 500,
            free_sleeps: true,
            ..Queue::default()
        };
        assert_eq!(none.unknown_to_design(), None);
        let with = |change: fn(&mut Queue)| {
            let mut queue = none.clone();
            change(&mut queue);
            queue.unknown_to_design().map(|(key, _)| key)
        };
        assert_eq!(with(|queue| queue.bypass = true), Some("bypass"));
        assert_eq!(with(|queue| queue.put = JobPutter::Irq), Some("put"));
        assert_eq!(with(|queue| queue.worker = Worker::Highpri), Some("worker"));
        assert_eq!(
            with(|queue| queue.share = WorkerSharing::Engine),
            Some("share")
        );
        assert_eq!(with(|queue| queue.pick = JobPicker::Fair), Some("pick"));
        assert_eq!(with(|queue| queue.shared = true), Some("shared"));
        assert_eq!(with(|queue| queue.credits = 4), Some("credits"));
        assert_eq!(with(|queue| queue.timeout_ns = 1000), Some("timeout"));
        assert_eq!(with(|queue| queue.hang_limit = 1), Some("hang_limit"));
    }
}
