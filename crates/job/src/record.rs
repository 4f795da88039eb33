//! The messages in which the agent reports a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::RunIdentityPart;

/// The schema of the stream, named in [`AgentMessage::Hello`].
pub const AGENT_SCHEMA: &str = "assize.agent/1";

/// The stage of a run at which something failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunStage {
    /// Before anything was done, for example because the job could not be read.
    Start,
    /// An action of the set-up.
    Setup,
    /// A background workload.
    Background,
    /// The workload.
    Workload,
    /// An action of the tear-down.
    Teardown,
}

/// One line of the agent's output. The first is [`AgentMessage::Hello`], the last
/// [`AgentMessage::End`]; a stream without its end is a failed run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum AgentMessage {
    /// The agent that executes the job.
    Hello {
        /// [`AGENT_SCHEMA`].
        schema: String,
        /// The agent's version.
        version: String,
        /// Guest time in nanoseconds between the last instruction before the memory image
        /// was taken and the first after it was restored, if there is an image. More than a
        /// few dozen mean that host time leaked in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resumed_ns: Option<u64>,
    },
    /// Facts about where the run happened: `kernel`, `command_line`,
    /// `cpu_model`, `cpus`, `mitigations`, `governor`, `clocksource`,
    /// `preempt`, ….
    Environment {
        /// Name to value.
        facts: BTreeMap<String, String>,
    },
    /// The identity of the run, sent once. If a value changed between the end of the set-up
    /// and the end of the workload, there is a [`AgentMessage::Doubt`] with the code
    /// `setting-changed`.
    Identity {
        /// Sorted; no two have the same kind and name.
        parts: Vec<RunIdentityPart>,
    },
    /// Something requested that this target cannot provide.
    Unavailable {
        /// The instrument.
        instrument: String,
        /// The metric, if not the whole instrument.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metric: Option<String>,
        /// Why, and how to make it available.
        reason: String,
    },
    /// One number for the whole run.
    Metric {
        /// Its name, unique within the run.
        metric: String,
        /// Its value.
        value: f64,
        /// The unit's usual symbol (`ns`, `s`, `J`); empty for a count.
        unit: String,
    },
    /// Number of occurrences of each value. The receiver derives quantiles.
    Histogram {
        /// Its name, unique within the run: `wakeup_latency`.
        metric: String,
        /// The unit of the values.
        unit: String,
        /// Value and count, values ascending. A value is exact if `exact`, else the upper
        /// end of its bucket.
        buckets: Vec<(u64, u64)>,
        /// Whether values are exact measurements.
        exact: bool,
    },
    /// Single measurements in the order in which they were taken.
    Samples {
        /// Its name, unique within the run.
        metric: String,
        /// The unit of the values.
        unit: String,
        /// The workload's start on CLOCK_MONOTONIC, in nanoseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        start_ns: Option<u64>,
        /// Times in nanoseconds: the first since the workload's start, each other since the
        /// sample before.
        t_ns: Vec<u64>,
        /// The measured values.
        values: Vec<f64>,
    },
    /// A count of events, with the time in which they could happen.
    Events {
        /// The name of the event.
        event: String,
        /// The number of events.
        count: u64,
        /// The time in which they could have happened, in nanoseconds.
        exposure_ns: u64,
        /// The times of the events in nanoseconds since the workload's start, ascending;
        /// may be empty.
        t_ns: Vec<u64>,
        /// The length of time on the clock of `t_ns` during which events could happen, if it is
        /// not `exposure_ns`: because several CPUs were watched at once, or only for part of the
        /// time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        span_ns: Option<u64>,
        /// For events of the idle machine, whose names end with `_at_rest`: one in this
        /// many nanoseconds is tolerated. With more, the events under load give no verdict.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tolerated_ns: Option<u64>,
    },
    /// The output of a tool.
    Raw {
        /// A file name for it: `cyclictest.json`.
        name: String,
        /// The output; bytes that are not UTF-8 are replaced.
        text: String,
    },
    /// The kernel log of a stage of the run, as `dmesg` shows it. Sent only if it may
    /// contain a complaint; see [`may_complain`].
    KernelLog {
        /// [`RunStage::Setup`], [`RunStage::Workload`] or [`RunStage::Teardown`].
        stage: RunStage,
        /// Lines with their time stamps.
        text: String,
    },
    /// A reason to doubt a number, such as lost trace events.
    Doubt {
        /// A short code, like those of the lints.
        code: String,
        /// The reason in one sentence.
        detail: String,
    },
    /// The run has failed. The stream still continues to its end.
    Failed {
        /// The stage at which it failed.
        stage: RunStage,
        /// The action or program that failed.
        what: String,
        /// Why.
        why: String,
    },
    /// The end of the stream.
    End {
        /// The number of lines before this one.
        records: u64,
    },
}

/// The value of [`AgentMessage::Hello::resumed_ns`] on a machine whose clock did not advance
/// while it was stopped: the instructions from one reading of the clock to the next.
pub const RESUMED_NS: u64 = 6;

/// Strings in lines of a kernel log that may be complaints.
const COMPLAINTS: [&str; 11] = [
    "BUG: ",
    "kernel BUG at ",
    "WARNING: ",
    "Oops: ",
    "Internal error: ",
    "Unable to handle kernel ",
    "general protection fault",
    "UBSAN: ",
    "INFO: ",
    "hard LOCKUP",
    "Kernel panic - not syncing",
];

/// Whether a line of a kernel log may be a complaint: a warning, an oops, a sanitizer report, a
/// stall. The check is cheap and has no false negatives; the receiver, which has the whole log,
/// finds the actual complaints.
#[must_use]
pub fn may_complain(line: &str) -> bool {
    COMPLAINTS.iter().any(|sign| line.contains(sign))
}
