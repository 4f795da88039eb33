//! The parameters of the workload `frames`.

use super::scheduling::SCHEDULING;
use super::shared::{RUN_COST, spread};
use crate::values::keys::{Flag, KeySection, Whole, duration, key};

pub(crate) static KEYS: KeySection = KeySection {
    name: "frames",
    keys: &[
        key(
            "duration",
            duration(1).or("5s"),
            "How long; in the background, until the workload ends.",
        ),
        key(
            "rate",
            Whole(1, 1000).or("60"),
            "Vertical blanks a second; their phase is drawn from the seed.",
        ),
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
