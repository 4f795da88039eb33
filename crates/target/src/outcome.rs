//! The outcome of an order.

use std::collections::BTreeMap;
use std::time::Duration;

use assize_job::{AgentMessage, RunStage};
use serde::{Deserialize, Serialize};

/// Key in [`OrderResult::machine`]: how many executions gave this answer, if more than
/// one did.
pub const EXECUTIONS: &str = "executions";
/// Key in [`OrderResult::machine`]: how executions differed before two agreed.
pub const DIFFERED: &str = "differed";

/// The outcome of one order, and how it was obtained.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderResult {
    /// The outcome. On the exact target it is a function of the order, the kernel, the
    /// agent and QEMU alone.
    pub outcome: RunOutcome,
    /// Facts about the machine that the agent cannot know: `qemu`, `kernel_digest`,
    /// `memory_image`, `machine_arguments`, …. The same for all runs on one machine.
    pub machine: BTreeMap<String, String>,
    /// Whether it came from the cache.
    pub cached: bool,
    /// How long it took, on the host's clock.
    pub elapsed: Duration,
}

/// The outcome of one order.
#[derive(Debug, Clone, PartialEq)]
pub enum RunOutcome {
    /// The agent's answer, complete and without [`AgentMessage::Failed`].
    Completed(Vec<AgentMessage>),
    /// The run has failed.
    Failed {
        /// The kind of failure.
        failure: RunFailure,
        /// The records that the agent had sent by then.
        records: Vec<AgentMessage>,
        /// The last lines of the console, or of the agent's standard error.
        console: String,
    },
}

/// How a run failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "failure", rename_all = "kebab-case")]
pub enum RunFailure {
    /// The kernel panicked or oopsed.
    Panic {
        /// The kernel's message.
        line: String,
    },
    /// The host rebooted before the run had ended.
    Rebooted,
    /// It took longer than allowed.
    Timeout {
        /// The limit in seconds: of the time in which the process could run, or of the host's clock
        /// if the user has set the limit.
        after_s: u64,
    },
    /// The machine will make no more progress, however long one waits.
    Stalled {
        /// How this was detected.
        how: String,
    },
    /// The kernel killed a process for lack of memory.
    OutOfMemory {
        /// The kernel's message.
        line: String,
    },
    /// QEMU, ssh or the agent ended before the answer was complete.
    Ended {
        /// Exit status or signal, in words.
        how: String,
    },
    /// The agent reported a failure.
    Agent {
        /// The stage at which it happened.
        stage: RunStage,
        /// What failed.
        what: String,
        /// Why.
        why: String,
    },
    /// The machine's clock was not exact: it was affected from outside.
    Inexact {
        /// How this was detected.
        how: String,
    },
}

impl std::fmt::Display for RunFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RunFailure::Panic { line } => write!(f, "kernel panic: {line}"),
            RunFailure::Rebooted => f.write_str("the host rebooted during the run"),
            RunFailure::Timeout { after_s } => write!(f, "not done after {after_s} s"),
            RunFailure::Stalled { how } => write!(f, "the machine has stalled: {how}"),
            RunFailure::OutOfMemory { line } => write!(f, "out of memory: {line}"),
            RunFailure::Ended { how } => write!(f, "ended too early: {how}"),
            RunFailure::Agent { what, why, .. } => write!(f, "{what}: {why}"),
            RunFailure::Inexact { how } => write!(f, "inexact: {how}"),
        }
    }
}
