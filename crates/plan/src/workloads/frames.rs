//! The parameters of the workload `frames`.

use super::scheduling::SCHEDULING;
use super::shared::{RATE, RUN_COST, length, spread};
use crate::values::keys::{Flag, KeySection, Whole, duration, key};

pub(crate) static KEYS: KeySection = KeySection {
    name: "frames",
    keys: &[
        length("5s"),
        RATE,
        key("cpu", duration(0).or("100us"), "CPU time per frame."),
        key(
            "jobs",
            Whole(1, 256).or("2"),
            "Jobs per frame, each depending on the one before.",
        ),
        key(
            "job_duration",
            duration(0).or("2ms"),
            "Engine time of a job.",
        ),
        spread("1ms"),
        key(
            "composition",
            duration(0).or("1ms"),
            "Engine time of the compositor's job.",
        ),
        key(
            "in_fence",
            Flag.or("false"),
            "The compositor passes the client's fence to the kernel instead of waiting for it.",
        ),
        RUN_COST,
        SCHEDULING,
    ],
};
