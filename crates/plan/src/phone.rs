//! The parameters of workloads that stand for what people do with a phone.

use crate::keys::Absent::Is;
use crate::keys::Type::{Duration, Flag};
use crate::keys::{Section, key, named};
use crate::parameters::{COUNT, SCHEDULING};

/// Those of `cpu-score`.
pub(crate) const CPU_SCORE: Section = Section {
    name: "cpu-score",
    keys: &[
        key("threads", COUNT, Is("1"), "How many threads."),
        key("per_cpu", Flag, Is("false"), "So many for each CPU."),
        named(
            "duration",
            "duration_ns",
            Duration(1_000_000),
            Is("\"1s\""),
            "How long they compute; in the background, until the workload ends.",
        ),
        SCHEDULING,
    ],
};
