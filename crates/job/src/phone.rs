//! Parameters of the workloads that stand for what people do with a phone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Scheduling;

/// Parameters of `cpu-score`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CpuScore {
    /// How many threads.
    pub threads: u32,
    /// So many for each CPU.
    pub per_cpu: bool,
    /// How long they compute, in nanoseconds.
    pub duration_ns: u64,
    /// How they are scheduled.
    pub scheduling: Scheduling,
}

impl Default for CpuScore {
    fn default() -> Self {
        CpuScore {
            threads: 1,
            per_cpu: false,
            duration_ns: 1_000_000_000,
            scheduling: Scheduling::default(),
        }
    }
}
