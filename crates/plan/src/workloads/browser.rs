//! The parameters of the workload `browser`.

use super::scheduling::SCHEDULING;
use super::shared::COUNT;
use crate::values::keys::{KeySection, Whole, duration, key};

pub(crate) static KEYS: KeySection = KeySection {
    name: "browser",
    keys: &[
        key(
            "pages",
            COUNT.or("20"),
            "Pages that are loaded; in the background, until the workload ends.",
        ),
        key("steps", Whole(1, 1000).or("4"), "Steps of a page."),
        key(
            "main",
            duration(1).or("2ms"),
            "CPU time of the main thread in each step, and once more after the last.",
        ),
        key(
            "workers",
            Whole(0, 256).or("3"),
            "Threads that work beside the main thread.",
        ),
        key(
            "work",
            duration(1).or("3ms"),
            "CPU time of each worker in each step.",
        ),
        key(
            "spread",
            duration(0).or("0ns"),
            "More CPU time of each worker in each step, drawn from the seed below this.",
        ),
        key(
            "think",
            duration(1).or("80ms"),
            "Time from the end of a page to the next.",
        ),
        key(
            "think_spread",
            duration(0).or("80ms"),
            "More time, drawn from the seed below this.",
        ),
        key(
            "rate",
            Whole(0, 1000).or("60"),
            "Frames a second that the compositor draws; 0 for no compositor. Their phase is drawn from the seed.",
        ),
        key("frame", duration(1).or("500us"), "CPU time of a frame."),
        SCHEDULING,
    ],
};
