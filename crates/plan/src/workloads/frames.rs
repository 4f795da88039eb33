//! The parameters of the workload `frames`.

use super::scheduling::SCHEDULING;
use super::shared::{RATE, RUN_COST, length, spread};
use crate::values::keys::{Flag, KeySection, Whole, duration, key};

pub(crate) static KEYS: KeySection = KeySection {
    name: "frames",
    keys: &[
        length("5s"),
        RATE,
        key(
            "cpu",
            duration(0).or("100us"),
            "CPU time the client uses for a frame.",
        ),
        key(
            "jobs",
            Whole(1, 256).or("2"),
            "Jobs of a frame, each after the one before.",
        ),
        key(
            "job_duration",
            duration(0).or("2ms"),
            "Time of each job on the engine.",
        ),
        spread("1ms"),
        key(
            "composition",
            duration(0).or("1ms"),
            "Time of the compositor's job on the engine.",
        ),
        key(
            "in_fence",
            Flag.or("false"),
            "The compositor passes the client's fence to the kernel, rather than wait for it itself.",
        ),
        RUN_COST,
        SCHEDULING,
    ],
};
