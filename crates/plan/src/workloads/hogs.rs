//! The parameters of the workload `hogs`.

use super::scheduling::SCHEDULING;
use super::shared::COUNT;
use crate::values::keys::{Flag, KeySection, duration, key};

pub(crate) static KEYS: KeySection = KeySection {
    name: "hogs",
    keys: &[
        key("threads", COUNT.or("1"), "Number of threads."),
        key(
            "per_cpu",
            Flag.or("false"),
            "Start this number of threads per CPU.",
        ),
        key(
            "duration",
            duration(1).or("1s"),
            "How long the workload runs.",
        ),
        SCHEDULING,
    ],
};
