//! The parameters of the workload `cyclictest`.

use super::scheduling::SCHEDULING;
use super::shared::{COUNT, LOOPS};
use crate::values::keys::{Flag, KeySection, duration, key};

pub(crate) static KEYS: KeySection = KeySection {
    name: "cyclictest",
    keys: &[
        key("threads", COUNT.or("1"), "Measuring threads."),
        key(
            "interval",
            duration(1000).or("1ms"),
            "Time between wake-ups of a thread.",
        ),
        key("loops", LOOPS.or("1000"), "Wake-ups of each thread."),
        key(
            "pinned",
            Flag.or("true"),
            "Bind each measuring thread to its own CPU.",
        ),
        SCHEDULING,
    ],
};
