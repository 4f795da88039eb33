//! The keys of the `gaps` instrument, which watches CPUs.

use crate::values::keys::KeyDefault::Is;
use crate::values::keys::KeyType::{Duration, List, Whole, Word};
use crate::values::keys::{KeySection, key, named};

/// The settings of `gaps`.
pub(crate) static GAPS: KeySection = KeySection {
    name: "gaps",
    keys: &[
        key(
            "cpus",
            List(&Whole(0, 4095)),
            Is("[]"),
            "The CPUs to watch; empty for all but CPU 0, or CPU 0 where there is no other.",
        ),
        named(
            "threshold",
            "threshold_ns",
            Duration(1),
            Is("\"10us\""),
            "The shortest gap.",
        ),
        named(
            "window",
            "window_ns",
            Duration(1000),
            Is("\"1s\""),
            "Each CPU is watched once in this time.",
        ),
        named(
            "width",
            "width_ns",
            Duration(1000),
            Is("\"1s\""),
            "For so long; all the time if that is the window.",
        ),
        key(
            "policy",
            Word(&["other", "batch", "idle", "fifo", "rr"]),
            Is("\"other\""),
            "The scheduling policy of the threads that watch.",
        ),
        key(
            "priority",
            Whole(0, 99),
            Is("0"),
            "1 to 99 for fifo and rr, else 0.",
        ),
        named(
            "baseline",
            "baseline_ns",
            Duration(0),
            Is("\"100ms\""),
            "For how long the machine is watched at rest before each run; at most 1min.",
        ),
        named(
            "trust",
            "trust_ns",
            Duration(1_000_000),
            Is("\"10s\""),
            "A machine that has more than one unexplained gap in this time at rest gives no verdict on unexplained gaps.",
        ),
    ],
};
