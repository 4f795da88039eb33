//! The parameters of the workload `hogs`.

use super::scheduling::SCHEDULING;
use super::shared::COUNT;
use crate::values::keys::{Flag, KeySection, duration, key};

pub(crate) static KEYS: KeySection = KeySection {
    name: "hogs",
    keys: &[
        key("threads", COUNT.or("1"), "How many threads."),
        key("per_cpu", Flag.or("false"), "So many for each CPU."),
        key(
            "duration",
            duration(1).or("1s"),
            "How long they run; in the background, until the workload ends.",
        ),
        SCHEDULING,
    ],
};
