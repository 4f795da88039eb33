//! What came of an order.

use std::collections::BTreeMap;
use std::time::Duration;

use assize_job::{Record, Stage};
use serde::{Deserialize, Serialize};

/// A fact in [`Done::machine`]: how many executions gave this answer, where
/// it is known that several did.
pub const EXECUTIONS: &str = "executions";
/// Another: how executions differed before two agreed.
pub const DIFFERED: &str = "differed";

/// What came of one order, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    /// What came of it. On the exact target a function of the order, the
    /// kernel, the agent and QEMU alone.
    pub outcome: Outcome,
    /// Facts about the machine that the agent cannot know: `qemu`,
    /// `kernel_digest`, `memory_image`, `machine_arguments`, …. The same for
    /// all runs on one machine.
    pub machine: BTreeMap<String, String>,
    /// Whether it was found in the cache.
    pub cached: bool,
    /// How long it took here.
    pub wall: Duration,
}

/// What came of one order.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The agent's answer, whole and without [`Record::Failed`].
    Completed(Vec<Record>),
    /// The run has failed.
    Failed {
        /// How.
        failure: Failure,
        /// What the agent had answered until then.
        records: Vec<Record>,
        /// The last lines of the console, or of the agent's standard error.
        console: String,
    },
}

/// How a run failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "failure", rename_all = "kebab-case")]
pub enum Failure {
    /// The kernel panicked or oopsed.
    Panic {
        /// The line that says so.
        line: String,
    },
    /// It took longer than allowed.
    Timeout {
        /// The limit in seconds: of the time in which it was let run, or of
        /// this host's clock where the user has set one.
        after_s: u64,
    },
    /// The machine will not get on, however long one waits.
    Stalled {
        /// How that was seen.
        how: String,
    },
    /// The kernel killed something for lack of memory.
    OutOfMemory {
        /// The line that says so.
        line: String,
    },
    /// QEMU, ssh or the agent ended before the answer was whole.
    Ended {
        /// Exit status or signal, in words.
        how: String,
    },
    /// The agent says so.
    Agent {
        /// At which point.
        stage: Stage,
        /// What failed.
        what: String,
        /// Why.
        why: String,
    },
    /// The machine's clock was not exact: time leaked in from outside.
    Inexact {
        /// How it was noticed.
        how: String,
    },
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Panic { line } => write!(f, "kernel panic: {line}"),
            Failure::Timeout { after_s } => write!(f, "not done after {after_s} s"),
            Failure::Stalled { how } => write!(f, "the machine has stalled: {how}"),
            Failure::OutOfMemory { line } => write!(f, "out of memory: {line}"),
            Failure::Ended { how } => write!(f, "ended too early: {how}"),
            Failure::Agent { what, why, .. } => write!(f, "{what}: {why}"),
            Failure::Inexact { how } => write!(f, "inexact: {how}"),
        }
    }
}
