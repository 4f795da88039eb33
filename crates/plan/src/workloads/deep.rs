//! The parameters of the workload `deep`.

use super::scheduling::SCHEDULING;
use super::shared::{CONTEXTS, COUNT, RUN_COST, job_duration, spread};
use crate::values::keys::{KeySection, key};

pub(crate) static KEYS: KeySection = KeySection {
    name: "deep",
    keys: &[
        key("chains", COUNT.or("8"), "Chains of jobs."),
        key("depth", COUNT.or("250"), "Jobs of a chain."),
        key(
            "contexts",
            CONTEXTS.or("4"),
            "Contexts, assigned to the engines in turn; each job of a chain is submitted to the next context.",
        ),
        job_duration("20us"),
        spread("20us"),
        RUN_COST,
        SCHEDULING,
    ],
};
