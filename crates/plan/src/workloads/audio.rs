//! The parameters of the workload `audio`.

use super::scheduling::SCHEDULING;
use crate::values::keys::{KeySection, Text, duration, key};

pub(crate) static KEYS: KeySection = KeySection {
    name: "audio",
    keys: &[
        key(
            "duration",
            duration(24_000_000).or("5s"),
            "How long the music lasts, rounded up to 24 ms; in the background, until the workload ends.",
        ),
        key(
            "buffer",
            duration(1_000_000).or("200ms"),
            "How much sound the device buffers.",
        ),
        key(
            "device",
            Text.or("hw:Dummy"),
            "The device, as ALSA names it; without it the card of the kernel's module snd-dummy, which is loaded.",
        ),
        SCHEDULING,
    ],
};
