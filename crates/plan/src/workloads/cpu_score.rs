//! The workload `cpu-score`.

use super::scheduling::SCHEDULING;
use super::shared::COUNT;
use crate::values::keys::{Flag, Is, KeySection, duration, key};

/// Its parameters.
pub(crate) static KEYS: KeySection = KeySection {
    name: "cpu-score",
    keys: &[
        key("threads", COUNT, Is("1"), "How many threads."),
        key("per_cpu", Flag, Is("false"), "So many for each CPU."),
        key(
            "duration",
            duration(1_000_000),
            Is("\"1s\""),
            "How long they compute; in the background, until the workload ends.",
        ),
        SCHEDULING,
    ],
};
