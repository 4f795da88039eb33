//! The parameters of the workload `sync`.

use super::scheduling::SCHEDULING;
use super::shared::{RUN_COST, SUBMISSIONS, job_duration, spread};
use crate::values::keys::KeySection;

pub(crate) static KEYS: KeySection = KeySection {
    name: "sync",
    keys: &[
        SUBMISSIONS,
        job_duration("200us"),
        spread("20us"),
        RUN_COST,
        SCHEDULING,
    ],
};
