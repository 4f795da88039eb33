//! The parameters of the workload `command`.

use super::scheduling::SCHEDULING;
use crate::values::keys::{Free, KeySection, List, Pairs, Text, Whole, Word, key};

pub(crate) static KEYS: KeySection = KeySection {
    name: "command",
    keys: &[
        key(
            "argv",
            List(&Free).required(),
            "Program and arguments, without a shell; {seed} becomes the run's seed.",
        ),
        key(
            "environment",
            Pairs.or("{}"),
            "Variables added to the program's environment.",
        ),
        key(
            "statuses",
            List(&Whole(0, 255)).or("[0]"),
            "Exit statuses that count as success.",
        ),
        key(
            "metrics",
            List(&Text).or("[]"),
            "Metrics that the program prints, each on a line 'NAME: VALUE UNIT'.",
        ),
        key(
            "output",
            Word(&["head", "tail"]).or("head"),
            "What to keep of the program's standard output and standard error. head: the first MiB. tail: the last 4 KiB and, if there is more, the length and digest of the whole output.",
        ),
        SCHEDULING,
    ],
};
