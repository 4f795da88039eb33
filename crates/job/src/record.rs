//! What the agent answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::IdentityPart;

/// The schema of the stream, named in [`Record::Hello`].
pub const AGENT_SCHEMA: &str = "assize.agent/1";

/// At which point of a run something failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Before anything was done: the job could not be read, say.
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

/// One line of the agent's answer. The first is [`Record::Hello`], the last
/// [`Record::End`]; a stream without its end is a failed run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum Record {
    /// Who answers.
    Hello {
        /// [`AGENT_SCHEMA`].
        schema: String,
        /// The agent's version.
        version: String,
        /// Nanoseconds of the machine's clock between the last instruction
        /// before the memory image was taken and the first after it was
        /// restored, where there is such an image. More than a few dozen
        /// mean that time leaked.
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
    /// What the run was made of, once. A part whose value changed between the
    /// end of the set-up and the end of the workload is a [`Record::Doubt`]
    /// with the code `setting-changed`.
    Identity {
        /// Sorted; no two have the same kind and name.
        parts: Vec<IdentityPart>,
    },
    /// Something asked for that this target cannot give.
    Unavailable {
        /// The instrument.
        instrument: String,
        /// The metric, if it is not the whole instrument.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metric: Option<String>,
        /// Why, and what would make it available.
        reason: String,
    },
    /// One number for the whole run.
    Metric {
        /// Unique within the run.
        metric: String,
        /// Its value.
        value: f64,
        /// As the field writes it (`ns`, `s`, `J`); empty for a count.
        unit: String,
    },
    /// How often each value occurred. The receiver derives quantiles.
    Histogram {
        /// Unique within the run: `wakeup_latency`.
        metric: String,
        /// The unit of the values.
        unit: String,
        /// Value and count, values ascending. A value stands for itself if
        /// `exact`, else for the bucket that ends there.
        buckets: Vec<(u64, u64)>,
        /// Whether each value is what was measured.
        exact: bool,
    },
    /// Single measurements in the order in which they were taken.
    Samples {
        /// Unique within the run.
        metric: String,
        /// The unit of the values.
        unit: String,
        /// When: nanoseconds since the workload's start for the first, since
        /// the sample before for the others.
        t_ns: Vec<u64>,
        /// What was measured.
        values: Vec<f64>,
    },
    /// Events that were counted, with the time in which they could happen.
    Events {
        /// What was counted.
        event: String,
        /// How many.
        count: u64,
        /// Nanoseconds in which they could have happened.
        exposure_ns: u64,
        /// When, in nanoseconds since the workload's start, ascending; may
        /// be empty.
        t_ns: Vec<u64>,
        /// On the clock of `t_ns`, for how long there could be events, where
        /// that is not `exposure_ns`: several CPUs were watched at once, or
        /// only a part of the time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        span_ns: Option<u64>,
        /// Of events that the machine has at rest, and whose name ends with
        /// `_at_rest`: one in so many nanoseconds is tolerated. With more, the
        /// events under load give no verdict.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tolerated_ns: Option<u64>,
    },
    /// What a tool printed.
    Raw {
        /// A file name for it: `cyclictest.json`.
        name: String,
        /// What it printed; bytes that are no UTF-8 are replaced.
        text: String,
    },
    /// What the kernel said in its log during a part of the run, as `dmesg` shows it.
    /// Sent only where it may hold a complaint; see [`may_complain`].
    KernelLog {
        /// [`Stage::Setup`], [`Stage::Workload`] or [`Stage::Teardown`].
        stage: Stage,
        /// Lines with their time stamps.
        text: String,
    },
    /// Something that makes a number doubtful: lost trace events, say.
    Doubt {
        /// A short code, as the lints have.
        code: String,
        /// In one sentence.
        detail: String,
    },
    /// The run has failed. The stream goes on to its end.
    Failed {
        /// At which point.
        stage: Stage,
        /// What failed: an action, a program.
        what: String,
        /// Why.
        why: String,
    },
    /// Nothing follows.
    End {
        /// How many lines came before this one.
        records: u64,
    },
}

/// What [`Record::Hello::resumed_ns`] is on a machine whose clock stood still
/// while it was stopped: the instructions from one reading of the clock to
/// the next.
pub const RESUMED_NS: u64 = 6;

/// What lines of a kernel's log hold that may be complaints.
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

/// Whether a line of a kernel's log may be a complaint: a warning, an oops, a report of
/// a sanitizer, a stall. Cheap and never wrong where it says no; which complaint it is,
/// if it is one, is for whoever reads the whole log.
#[must_use]
pub fn may_complain(line: &str) -> bool {
    COMPLAINTS.iter().any(|sign| line.contains(sign))
}
