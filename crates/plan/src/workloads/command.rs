//! The workload `command`.

use super::scheduling::SCHEDULING;
use crate::values::keys::{Free, Is, KeySection, List, Pairs, Required, Text, Whole, key};

/// Its parameters.
pub(crate) static KEYS: KeySection = KeySection {
    name: "command",
    keys: &[
        key(
            "argv",
            List(&Free),
            Required,
            "Program and arguments; no shell. {seed} becomes the seed of the run.",
        ),
        key(
            "environment",
            Pairs,
            Is("{}"),
            "Variables added to its environment.",
        ),
        key(
            "statuses",
            List(&Whole(0, 255)),
            Is("[0]"),
            "Exit statuses that are no failure.",
        ),
        key(
            "metrics",
            List(&Text),
            Is("[]"),
            "Names of metrics it prints, each on a line 'NAME: VALUE UNIT'.",
        ),
        SCHEDULING,
    ],
};
