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
            "Clients, each a thread with a context of its own.",
        ),
        key(
            "cpu",
            duration(0).or("200us"),
            "CPU time a client uses for a frame.",
        ),
        key(
            "jobs",
            Whole(1, 256).or("2"),
            "Jobs of a client's frame, each after the one before.",
        ),
        key(
            "job_duration",
            duration(0).or("200us"),
            "Time of each job on the engine.",
        ),
        spread("100us"),
        key(
            "lead",
            duration(1).or("4ms"),
            "How long before a vertical blank the compositor begins.",
        ),
        key(
            "composition",
            duration(0).or("1ms"),
            "Time of the compositor's job on the engine.",
        ),
        key(
            "fences",
            Word(&["done", "wait", "pass"]).or("done"),
            "The compositor takes only frames that are done; or the newest, and waits for their fences itself or passes them to the kernel.",
        ),
        key(
            "own_engine",
            Flag.or("false"),
            "The compositor has an engine of its own.",
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
