//! The keys of the kernel's tracers.

use crate::values::keys::KeyDefault::{Is, Open};
use crate::values::keys::KeyType::{Duration, List, Whole, Word};
use crate::values::keys::{KeySection, key, named};

/// The settings of one tracer.
pub(crate) static TRACER: KeySection = KeySection {
    name: "tracer",
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
            "The shortest latency; whole microseconds, of hwlat 2us at least.",
        ),
        named(
            "window",
            "window_ns",
            Duration(1),
            Open,
            "hwlat, osnoise: each CPU is watched once in this time; whole microseconds. Else 1s (hwlat), 100ms (osnoise).",
        ),
        named(
            "width",
            "width_ns",
            Duration(1),
            Open,
            "hwlat, osnoise: for so long; whole microseconds. Else half of the window (hwlat), all of it (osnoise).",
        ),
        key(
            "mode",
            Word(&["none", "round-robin", "per-cpu"]),
            Open,
            "hwlat: one thread that stays, one that goes to the next CPU after each window, or one on each CPU; else round-robin.",
        ),
        named(
            "period",
            "period_ns",
            Duration(1),
            Open,
            "timerlat: from one timer to the next, 100us to 1s in whole microseconds; else 1ms.",
        ),
    ],
};
