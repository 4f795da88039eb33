//! The parameters of the workload `stream`.

use super::scheduling::SCHEDULING;
use super::shared::{COUNT, RUN_COST, job_duration, spread};
use crate::values::keys::{KeySection, duration, key};

pub(crate) static KEYS: KeySection = KeySection {
    name: "stream",
    keys: &[
        key(
            "submissions",
            COUNT.or("1000"),
            "How often a job is submitted and waited for.",
        ),
        job_duration("200us"),
        spread("20us"),
        key(
            "pause",
            duration(0).or("0ns"),
            "Time between one job and the next, drawn from the seed below this.",
        ),
        RUN_COST,
        SCHEDULING,
    ],
};
