//! What the agent is given.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Frequency, Gaps, Idle, PlacementPolicy, Queue, Stalls, Tracer, Workload};

/// The schema of [`Job`].
pub const SCHEMA: &str = "assize.job/1";

/// One run, as the agent sees it.
///
/// The agent reseeds the kernel's random numbers from `seed`, carries out
/// `setup`, attaches `policy`, opens the instruments, starts `background`, waits for a start
/// offset that it draws from `seed`, starts the instruments and runs
/// `workload` to its end, then reads the instruments, ends `background` and
/// carries out `teardown`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// [`SCHEMA`].
    pub schema: String,
    /// Whatever would vary by chance varies with this and only with this.
    pub seed: u64,
    /// Done in order before anything starts.
    pub setup: Vec<Action>,
    /// What is measured.
    pub workload: Workload,
    /// What runs beside it, from before its start until after its end.
    pub background: Vec<Workload>,
    /// How queues of simgpu are, if a workload submits to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// The idle states that CPUs have, if they are declared. The set-up has
    /// loaded what has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<Idle>,
    /// The frequencies that CPUs have, if they are declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency: Option<Frequency>,
    /// Stalls that are planted while the workload runs, if any are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalls: Option<Stalls>,
    /// What places tasks on CPUs, from the end of the set-up until the
    /// tear-down, if it is not the kernel's own scheduler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PlacementPolicy>,
    /// Done in order at the end, also after a failure.
    pub teardown: Vec<Action>,
    /// Names from [`crate::INSTRUMENTS`].
    pub instruments: Vec<String>,
    /// How `gaps` watches, if it is among the instruments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gaps: Option<Gaps>,
    /// How the tracer among the instruments looks, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracer: Option<Tracer>,
    /// Whether single samples are sent beside histograms.
    pub samples: bool,
    /// The start offset is drawn uniformly below this, in nanoseconds.
    pub offset_ns_max: u64,
    /// The workload is killed, and the run has failed, after this many
    /// milliseconds of the agent's clock; 0 for never.
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
    /// Load a kernel module and what it depends on.
    Module {
        /// Its name, or the path of a `.ko` file on this machine.
        module: String,
        /// Parameter to value.
        #[serde(default)]
        parameters: BTreeMap<String, String>,
    },
    /// Set a sysctl.
    Sysctl {
        /// With dots: `kernel.sched_autogroup_enabled`.
        name: String,
        /// As it is written.
        value: String,
    },
    /// Write a file.
    Write {
        /// An absolute path.
        path: String,
        /// What is written, without a newline being added.
        value: String,
    },
    /// Run a command and wait for it; any status but 0 fails the run.
    Command {
        /// Program and arguments; no shell.
        argv: Vec<String>,
    },
}
