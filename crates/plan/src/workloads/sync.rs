//! The parameters of the workload `sync`.

use super::scheduling::SCHEDULING;
use super::shared::{COUNT, RUN_COST, job_duration, spread};
use crate::values::keys::{KeySection, key};

pub(crate) static KEYS: KeySection = KeySection {
    name: "sync",
    keys: &[
        key(
            "submissions",
            COUNT.or("1000"),
            "How often a job is submitted and waited for.",
        ),
        job_duration("200us"),
        spread("20us"),
        RUN_COST,
        SCHEDULING,
    ],
};
