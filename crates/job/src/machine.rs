//! What a target is told.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::Job;

/// The machine a run wants. Targets that are a real machine check it and
/// cannot change it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Which kernel: `debian:6.12`, `running`, or a name given to
    /// `assize kernel add`.
    pub kernel: String,
    /// Words added to the kernel's command line.
    pub command_line: Vec<String>,
    /// Number of CPUs.
    pub cpus: u32,
    /// Memory in MiB.
    pub memory_mib: u32,
}

impl Default for Machine {
    fn default() -> Self {
        Machine {
            kernel: "debian:6.12".into(),
            command_line: Vec::new(),
            cpus: 1,
            memory_mib: 256,
        }
    }
}

/// What must be on the target beside the agent. All runs of one experiment
/// and machine carry the same payload, so that they start from the same
/// memory image.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Payload {
    /// Programs by name (found in PATH) or path, with everything they link.
    pub programs: Vec<String>,
    /// File or directory here, and the absolute path it has there.
    pub files: Vec<(PathBuf, String)>,
    /// Kernel modules by name, or by path of a `.ko` file, with everything
    /// they depend on.
    pub modules: Vec<String>,
}

/// One run, as a target sees it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The machine to have.
    pub machine: Machine,
    /// What to carry there.
    pub payload: Payload,
    /// What to do there.
    pub job: Job,
}
