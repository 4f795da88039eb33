//! The parameters of the workload `ping-pong`.

use super::scheduling::SCHEDULING;
use super::shared::LOOPS;
use crate::values::keys::{KeySection, Word, key};

pub(crate) static KEYS: KeySection = KeySection {
    name: "ping-pong",
    keys: &[
        key("loops", LOOPS.or("1000"), "Round trips."),
        key(
            "via",
            Word(&["pipe", "futex"]).or("pipe"),
            "What carries the wake-ups.",
        ),
        SCHEDULING,
    ],
};
