//! Parameters of the workloads that stand for what people do with a phone.

use serde::{Deserialize, Serialize};

use crate::{Package, Scheduling};

/// Parameters of `audio`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Audio {
    /// How long the sound lasts, in nanoseconds; rounded up to whole frames
    /// of the file, of 24 ms each.
    pub duration_ns: u64,
    /// How much sound the device is to buffer, in nanoseconds.
    pub buffer_ns: u64,
    /// The device, as ALSA names it.
    pub device: String,
    /// How both programs are scheduled.
    pub scheduling: Scheduling,
}

impl Audio {
    /// The card of the kernel's module `snd-dummy`, as ALSA names it.
    pub const DUMMY: &'static str = "hw:Dummy";
    /// The program that decodes the music.
    pub const DECODER: &'static str = "mpg123";
    /// The program that plays what it has decoded.
    pub const PLAYER: &'static str = "aplay";

    /// What plays, with all that ALSA wants.
    #[must_use]
    pub fn package() -> Package {
        Package {
            name: "alsa-utils".into(),
            only: vec!["*/aplay".into()],
        }
    }

    /// The module that makes the card, if it is that of a module.
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
    /// Pages that are loaded.
    pub pages: u32,
    /// Steps of a page. In each the main thread works, then the workers do,
    /// and it waits for the last of them.
    pub steps: u32,
    /// CPU time of the main thread in each step, and once more when all are
    /// done, in nanoseconds.
    pub main_ns: u64,
    /// Threads that work beside the main thread.
    pub workers: u32,
    /// CPU time of each worker in each step, in nanoseconds.
    pub work_ns: u64,
    /// More CPU time of each worker in each step, drawn from the seed below
    /// this, in nanoseconds.
    pub spread_ns: u64,
    /// From the end of one page to the beginning of the next, in nanoseconds.
    pub think_ns: u64,
    /// More time, drawn from the seed below this, in nanoseconds.
    pub think_spread_ns: u64,
    /// Frames a second that the compositor draws; 0 for no compositor. Their
    /// phase is drawn from the seed.
    pub rate: u32,
    /// CPU time of a frame, in nanoseconds.
    pub frame_ns: u64,
    /// How all its threads are scheduled.
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
    /// How many threads.
    pub threads: u32,
    /// So many for each CPU.
    pub per_cpu: bool,
    /// How long they compute, in nanoseconds.
    pub duration_ns: u64,
    /// How they are scheduled.
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
