//! The parameters of the workload `hackbench`.

use super::scheduling::SCHEDULING;
use super::shared::{COUNT, LOOPS};
use crate::values::keys::{Flag, KeySection, Word, key};

pub(crate) static KEYS: KeySection = KeySection {
    name: "hackbench",
    keys: &[
        key("groups", COUNT.or("2"), "Groups of senders and receivers."),
        key(
            "fds",
            COUNT.or("4"),
            "Senders per group, and as many receivers.",
        ),
        key(
            "loops",
            LOOPS.or("100"),
            "Messages from each sender to each receiver.",
        ),
        key("datasize", COUNT.or("100"), "Bytes per message."),
        key(
            "threads",
            Flag.or("false"),
            "Use threads instead of processes.",
        ),
        key(
            "via",
            Word(&["pipe", "socket"]).or("pipe"),
            "What carries the messages.",
        ),
        SCHEDULING,
    ],
};
