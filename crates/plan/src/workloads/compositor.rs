//! The parameters of the workload `compositor`.

use super::scheduling;
use super::shared::{RATE, RUN_COST, length, spread};
use crate::values::keys::{Flag, KeySection, Table, Whole, Word, duration, key};

pub(crate) static KEYS: KeySection = KeySection {
    name: "compositor",
    keys: &[
        length("2s"),
        RATE,
        key(
            "clients",
            Whole(1, 64).or("3"),
            "Clients, each a thread with its own context.",
        ),
        key(
            "cpu",
            duration(0).or("200us"),
            "CPU time per frame of a client.",
        ),
        key(
            "jobs",
            Whole(1, 256).or("2"),
            "Jobs per frame, each depending on the one before.",
        ),
        key(
            "job_duration",
            duration(0).or("200us"),
            "Engine time of a job.",
        ),
        spread("100us"),
        key(
            "lead",
            duration(1).or("4ms"),
            "How long before a vertical blank the compositor starts.",
        ),
        key(
            "composition",
            duration(0).or("1ms"),
            "Engine time of the compositor's job.",
        ),
        key(
            "fences",
            Word(&["done", "wait", "pass"]).or("done"),
            "done: the compositor takes the newest finished frames, so that no client delays it; \
             wait: it takes the newest frames and waits for their fences; pass: it takes the \
             newest frames and leaves the waiting to the queue.",
        ),
        key(
            "own_engine",
            Flag.or("false"),
            "Give the compositor its own engine.",
        ),
        RUN_COST,
        key(
            "scheduling",
            Table(&scheduling::KEYS).optional(),
            "How the clients are scheduled.",
        ),
        key(
            "compositor_scheduling",
            Table(&scheduling::KEYS).optional(),
            "How the compositor is scheduled.",
        ),
    ],
};
