//! The parameters of the workload `audio`.

use super::scheduling::SCHEDULING;
use crate::values::keys::{KeySection, Text, duration, key};

pub(crate) static KEYS: KeySection = KeySection {
    name: "audio",
    keys: &[
        key(
            "duration",
            duration(24_000_000).or("5s"),
            "Length of the music, rounded up to a multiple of 24 ms.",
        ),
        key(
            "buffer",
            duration(1_000_000).or("200ms"),
            "How much sound the device buffers.",
        ),
        key(
            "device",
            Text.or("hw:Dummy"),
            "ALSA device; by default snd-dummy's, which is loaded.",
        ),
        SCHEDULING,
    ],
};
