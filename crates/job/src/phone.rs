//! Parameters of the workloads that represent typical use of a phone.

use serde::{Deserialize, Serialize};

use crate::{Package, Scheduling};

/// Parameters of `audio`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Audio {
    /// Duration of the sound in nanoseconds, rounded up to whole MP3 frames of 24 ms.
    pub duration_ns: u64,
    /// Sound to buffer in the device, in nanoseconds.
    pub buffer_ns: u64,
    /// The device's ALSA name.
    pub device: String,
    /// Scheduling of both programs.
    pub scheduling: Scheduling,
}

impl Audio {
    /// The ALSA name of the card of the kernel's module `snd-dummy`.
    pub const DUMMY: &'static str = "hw:Dummy";
    /// The program that decodes the music.
    pub const DECODER: &'static str = "mpg123";
    /// The program that plays the decoded music.
    pub const PLAYER: &'static str = "aplay";

    /// The package of the player, with everything ALSA needs.
    #[must_use]
    pub fn package() -> Package {
        Package {
            name: "alsa-utils".into(),
            only: vec!["*/aplay".into()],
        }
    }

    /// The module that provides the card, if there is one.
    #[must_use]
    pub fn module(&self) -> Option<&'static str> {
        (self.device == Audio::DUMMY).then_some("snd-dummy")
    }
}

impl Default for Audio {
    fn default() -> Self {
        Audio {
            duration_ns: 5_000_000_000,
            buffer_ns: 200_000_000,
            device: Audio::DUMMY.into(),
            scheduling: Scheduling::default(),
        }
    }
}

/// Parameters of `browser`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Browser {
    /// Pages to load.
    pub pages: u32,
    /// Steps per page. In each the main thread works, then the workers do, and the main
    /// thread waits for the last of them.
    pub steps: u32,
    /// CPU time of the main thread in each step, and again after the last one, in
    /// nanoseconds.
    pub main_ns: u64,
    /// Worker threads in addition to the main thread.
    pub workers: u32,
    /// CPU time of each worker in each step, in nanoseconds.
    pub work_ns: u64,
    /// Upper bound of additional CPU time of each worker in each step, drawn from the seed,
    /// in nanoseconds.
    pub spread_ns: u64,
    /// Time from the end of one page to the beginning of the next, in nanoseconds.
    pub think_ns: u64,
    /// Upper bound of additional time, drawn from the seed, in nanoseconds.
    pub think_spread_ns: u64,
    /// Frames per second that the compositor draws; 0 for no compositor. Their phase is
    /// drawn from the seed.
    pub rate: u32,
    /// CPU time per frame, in nanoseconds.
    pub frame_ns: u64,
    /// Scheduling of all its threads.
    pub scheduling: Scheduling,
}

impl Default for Browser {
    fn default() -> Self {
        Browser {
            pages: 20,
            steps: 4,
            main_ns: 2_000_000,
            workers: 3,
            work_ns: 3_000_000,
            spread_ns: 0,
            think_ns: 80_000_000,
            think_spread_ns: 80_000_000,
            rate: 60,
            frame_ns: 500_000,
            scheduling: Scheduling::default(),
        }
    }
}

/// Parameters of `cpu-score`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CpuScore {
    /// Number of threads.
    pub threads: u32,
    /// Whether `threads` is per CPU.
    pub per_cpu: bool,
    /// Duration in nanoseconds.
    pub duration_ns: u64,
    /// Scheduling of the threads.
    pub scheduling: Scheduling,
}

impl Default for CpuScore {
    fn default() -> Self {
        CpuScore {
            threads: 1,
            per_cpu: false,
            duration_ns: 1_000_000_000,
            scheduling: Scheduling::default(),
        }
    }
}
