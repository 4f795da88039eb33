//! The parameters of the workload `browser`.

use super::scheduling::SCHEDULING;
use super::shared::COUNT;
use crate::values::keys::{KeySection, Whole, duration, key};

pub(crate) static KEYS: KeySection = KeySection {
    name: "browser",
    keys: &[
        key("pages", COUNT.or("20"), "Pages to load."),
        key("steps", Whole(1, 1000).or("4"), "Steps of a page."),
        key(
            "main",
            duration(1).or("2ms"),
            "CPU time of the main thread in each step, and once more at the end.",
        ),
        key("workers", Whole(0, 256).or("3"), "Worker threads."),
        key(
            "work",
            duration(1).or("3ms"),
            "CPU time of each worker in each step.",
        ),
        key(
            "spread",
            duration(0).or("0ns"),
            "Upper limit of each worker's random extra work in each step.",
        ),
        key("think", duration(1).or("80ms"), "Pause between pages."),
        key(
            "think_spread",
            duration(0).or("80ms"),
            "Upper limit of the random extra pause.",
        ),
        key(
            "rate",
            Whole(0, 1000).or("60"),
            "Frames per second of the compositor, at a random phase; 0 for no compositor.",
        ),
        key(
            "frame",
            duration(1).or("500us"),
            "CPU time of the compositor per frame.",
        ),
        SCHEDULING,
    ],
};
