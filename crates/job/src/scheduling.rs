//! How the threads of a workload are scheduled.

use serde::{Deserialize, Serialize};

/// A scheduling policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// SCHED_OTHER.
    #[default]
    Other,
    /// SCHED_BATCH.
    Batch,
    /// SCHED_IDLE.
    Idle,
    /// SCHED_FIFO.
    Fifo,
    /// SCHED_RR.
    Rr,
}

/// Scheduling of threads.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scheduling {
    /// The policy.
    pub policy: Policy,
    /// The real-time priority: 1 to 99 for `fifo` and `rr`, else 0.
    pub priority: u8,
    /// The nice value for the other policies: −20 to 19.
    pub nice: i8,
    /// CPUs the threads may run on; empty for all.
    pub cpus: Vec<u32>,
    /// The control group of the whole workload, shared with others that name the same one;
    /// together they weigh as much as one thread of nice 0 outside any group. Not for
    /// single threads.
    pub group: Option<String>,
}

impl Scheduling {
    /// Whether this is more urgent than the default.
    #[must_use]
    pub fn is_urgent(&self) -> bool {
        matches!(self.policy, Policy::Fifo | Policy::Rr) || self.nice < 0
    }
}
