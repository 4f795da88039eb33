//! The parameters of the workload `threads`.

use super::scheduling::SCHEDULING;
use super::shared::{CONTEXTS, COUNT, RUN_COST, job_duration, spread};
use crate::values::keys::{KeySection, Whole, key};

pub(crate) static KEYS: KeySection = KeySection {
    name: "threads",
    keys: &[
        key(
            "threads",
            CONTEXTS.or("7"),
            "Threads, each with its own context; the contexts are assigned to the engines in turn.",
        ),
        key("submissions", COUNT.or("1000"), "Jobs of each thread."),
        key(
            "window",
            Whole(1, 65536).optional(),
            "Limit of a thread's jobs in flight; by default as many as the queue takes.",
        ),
        job_duration("5us"),
        spread("1us"),
        RUN_COST,
        SCHEDULING,
    ],
};
