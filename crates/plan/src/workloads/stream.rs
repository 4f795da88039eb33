//! The parameters of the workload `stream`.

use super::scheduling::SCHEDULING;
use super::shared::{RUN_COST, SUBMISSIONS, job_duration, spread};
use crate::values::keys::{KeySection, duration, key};

pub(crate) static KEYS: KeySection = KeySection {
    name: "stream",
    keys: &[
        SUBMISSIONS,
        job_duration("200us"),
        spread("20us"),
        key(
            "pause",
            duration(0).or("0ns"),
            "Upper limit of the random pause between jobs.",
        ),
        RUN_COST,
        SCHEDULING,
    ],
};
