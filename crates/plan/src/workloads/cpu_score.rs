//! The parameters of the workload `cpu-score`.

use super::scheduling::SCHEDULING;
use super::shared::COUNT;
use crate::values::keys::{Flag, KeySection, duration, key};

pub(crate) static KEYS: KeySection = KeySection {
    name: "cpu-score",
    keys: &[
        key("threads", COUNT.or("1"), "Number of threads."),
        key(
            "per_cpu",
            Flag.or("false"),
            "Start this number of threads per CPU.",
        ),
        key(
            "duration",
            duration(1_000_000).or("1s"),
            "How long the workload runs.",
        ),
        SCHEDULING,
    ],
};
