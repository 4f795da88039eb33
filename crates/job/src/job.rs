//! The job that the agent receives.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    Frequency, GapsSettings, Idle, PlacementPolicy, Queue, Stalls, TracerSettings, Workload,
};

/// The schema of [`Job`].
pub const SCHEMA: &str = "assize.job/1";

/// One run, as the agent sees it.
///
/// The agent reseeds the kernel's random numbers from `seed`, performs `setup`, attaches
/// `policy`, opens the instruments, starts `background`, waits for a start offset drawn
/// from `seed`, starts the instruments and runs `workload` to its end, then reads the
/// instruments, ends `background` and performs `teardown`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// [`SCHEMA`].
    pub schema: String,
    /// The seed of all random choices.
    pub seed: u64,
    /// Steps performed in order before anything starts.
    pub setup: Vec<Action>,
    /// The measured workload.
    pub workload: Workload,
    /// Workloads that run at the same time, from before its start until after its end.
    pub background: Vec<Workload>,
    /// Settings of simgpu's queues, if a workload submits to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// The CPUs' idle states, if they are declared. The set-up loads the module that
    /// provides them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<Idle>,
    /// The CPUs' frequencies, if they are declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency: Option<Frequency>,
    /// Stalls to plant while the workload runs, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalls: Option<Stalls>,
    /// The policy that places tasks on CPUs from the end of the set-up until the tear-down;
    /// `None` for the kernel's own scheduler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PlacementPolicy>,
    /// Steps performed in order at the end, also after a failure.
    pub teardown: Vec<Action>,
    /// Names from [`crate::INSTRUMENTS`].
    pub instruments: Vec<String>,
    /// Settings of `gaps`, if it is among the instruments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gaps: Option<GapsSettings>,
    /// Settings of the tracer among the instruments, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracer: Option<TracerSettings>,
    /// Whether to send single samples in addition to histograms.
    pub samples: bool,
    /// Upper bound of the random start offset, in nanoseconds.
    pub offset_ns_max: u64,
    /// The workload is killed, and the run fails, after this many milliseconds on the
    /// agent's clock; 0 for never.
    pub timeout_ms: u64,
}

impl Default for Job {
    fn default() -> Self {
        Job {
            schema: SCHEMA.to_string(),
            seed: 0,
            setup: Vec::new(),
            workload: Workload::default(),
            background: Vec::new(),
            queue: None,
            idle: None,
            frequency: None,
            stalls: None,
            policy: None,
            teardown: Vec::new(),
            instruments: Vec::new(),
            gaps: None,
            tracer: None,
            samples: false,
            offset_ns_max: 0,
            timeout_ms: 0,
        }
    }
}

/// One step of set-up or tear-down.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Action {
    /// Load a kernel module and its dependencies.
    Module {
        /// Its name, or the path of a `.ko` file on this machine.
        module: String,
        /// Parameter to value.
        #[serde(default)]
        parameters: BTreeMap<String, String>,
    },
    /// Set a sysctl.
    Sysctl {
        /// Its name with dots: `kernel.sched_autogroup_enabled`.
        name: String,
        /// The value, as written.
        value: String,
    },
    /// Write a file.
    Write {
        /// An absolute path.
        path: String,
        /// The text to write; no newline is added.
        value: String,
    },
    /// Run a command and wait for it; any status but 0 fails the run.
    Command {
        /// Program and arguments; no shell.
        argv: Vec<String>,
    },
}
