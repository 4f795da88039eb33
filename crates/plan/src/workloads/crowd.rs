//! The parameters of the workload `crowd`.

use super::scheduling::SCHEDULING;
use super::shared::{CONTEXTS, RUN_COST, job_duration, length, spread};
use crate::values::keys::{KeySection, Whole, key};

pub(crate) static KEYS: KeySection = KeySection {
    name: "crowd",
    keys: &[
        length("500ms"),
        key(
            "contexts",
            Whole(1, 4096).or("256"),
            "Contexts, all on one engine.",
        ),
        key("threads", CONTEXTS.or("4"), "Threads that submit the jobs."),
        key(
            "window",
            Whole(1, 64).or("4"),
            "Jobs that each context keeps in flight.",
        ),
        job_duration("2us"),
        spread("0ns"),
        key(
            "uneven",
            Whole(1, 1000).or("1"),
            "Jobs of every second context take this many times as long.",
        ),
        RUN_COST,
        SCHEDULING,
    ],
};
