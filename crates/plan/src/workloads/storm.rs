//! The parameters of the workload `storm`.

use super::scheduling::SCHEDULING;
use super::shared::{CONTEXTS, COUNT, RUN_COST, job_duration, spread};
use crate::values::keys::{KeySection, Share, Whole, key};

pub(crate) static KEYS: KeySection = KeySection {
    name: "storm",
    keys: &[
        key(
            "contexts",
            CONTEXTS.or("7"),
            "Contexts, assigned to the engines in turn.",
        ),
        key("jobs", COUNT.or("3000"), "Jobs in total."),
        key(
            "dependent",
            Share.or("50%"),
            "Share of jobs that depend on others.",
        ),
        key(
            "dependencies",
            Whole(1, 64).or("3"),
            "Upper limit of the number of jobs that a dependent job depends on.",
        ),
        key(
            "reach",
            Whole(1, 65536).or("32"),
            "How far back a dependency may be, in jobs.",
        ),
        job_duration("20us"),
        spread("80us"),
        RUN_COST,
        SCHEDULING,
    ],
};
