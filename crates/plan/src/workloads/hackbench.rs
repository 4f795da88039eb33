//! The workload `hackbench`.

use super::scheduling::SCHEDULING;
use super::shared::{COUNT, LOOPS};
use crate::values::keys::{Flag, Is, KeySection, Word, key};

/// Its parameters.
pub(crate) static KEYS: KeySection = KeySection {
    name: "hackbench",
    keys: &[
        key("groups", COUNT, Is("2"), "Groups of senders and receivers."),
        key(
            "fds",
            COUNT,
            Is("4"),
            "Senders, and receivers, in each group.",
        ),
        key(
            "loops",
            LOOPS,
            Is("100"),
            "Messages each sender sends to each receiver.",
        ),
        key("datasize", COUNT, Is("100"), "Size of a message in bytes."),
        key(
            "threads",
            Flag,
            Is("false"),
            "Threads rather than processes.",
        ),
        key(
            "via",
            Word(&["pipe", "socket"]),
            Is("\"pipe\""),
            "What carries the messages.",
        ),
        SCHEDULING,
    ],
};
