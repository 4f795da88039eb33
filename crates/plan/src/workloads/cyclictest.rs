//! The workload `cyclictest`.

use super::scheduling::SCHEDULING;
use super::shared::{COUNT, LOOPS};
use crate::values::keys::{Flag, Is, KeySection, duration, key};

/// Its parameters.
pub(crate) static KEYS: KeySection = KeySection {
    name: "cyclictest",
    keys: &[
        key("threads", COUNT, Is("1"), "Number of measuring threads."),
        key(
            "interval",
            duration(1000),
            Is("\"1ms\""),
            "Time between two wake-ups of a thread.",
        ),
        key("loops", LOOPS, Is("1000"), "Wake-ups of each thread."),
        key(
            "pinned",
            Flag,
            Is("true"),
            "Whether each measuring thread is bound to a CPU of its own.",
        ),
        SCHEDULING,
    ],
};
