//! Parameters of the workloads that submit jobs to simgpu.

use serde::{Deserialize, Serialize};

use crate::Scheduling;

/// Parameters of `frames`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Frames {
    /// How long, in nanoseconds.
    pub duration_ns: u64,
    /// Vertical blanks a second. Their phase is drawn from the seed.
    pub rate: u32,
    /// CPU time the client uses for a frame, in nanoseconds.
    pub cpu_ns: u64,
    /// Jobs of a frame, each after the one before.
    pub jobs: u32,
    /// Time of each on the engine, in nanoseconds.
    pub job_duration_ns: u64,
    /// More time, drawn from the seed below this.
    pub spread_ns: u64,
    /// Time of the compositor's job on the engine, in nanoseconds.
    pub composition_ns: u64,
    /// The compositor passes the client's fence to the kernel rather than
    /// wait for it itself.
    pub in_fence: bool,
    /// CPU time it takes to hand a job to the engine, in nanoseconds.
    pub run_cost_ns: u64,
    /// How client and compositor are scheduled.
    pub scheduling: Scheduling,
}

impl Default for Frames {
    fn default() -> Self {
        Frames {
            duration_ns: 5_000_000_000,
            rate: 60,
            cpu_ns: 100_000,
            jobs: 2,
            job_duration_ns: 2_000_000,
            spread_ns: 1_000_000,
            composition_ns: 1_000_000,
            in_fence: false,
            run_cost_ns: 0,
            scheduling: Scheduling::default(),
        }
    }
}

/// Parameters of `threads`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Threads {
    /// Threads, each with a context of its own, one engine after the other.
    pub threads: u32,
    /// Jobs of each.
    pub submissions: u32,
    /// Jobs of a thread that are in flight at most; `None` for as many as
    /// the queue takes.
    pub window: Option<u32>,
    /// Time of a job on the engine, in nanoseconds.
    pub job_duration_ns: u64,
    /// More time, drawn from the seed below this.
    pub spread_ns: u64,
    /// CPU time it takes to hand a job to the engine, in nanoseconds.
    pub run_cost_ns: u64,
    /// How the threads are scheduled.
    pub scheduling: Scheduling,
}

impl Default for Threads {
    fn default() -> Self {
        Threads {
            threads: 7,
            submissions: 1000,
            window: None,
            job_duration_ns: 5000,
            spread_ns: 1000,
            run_cost_ns: 0,
            scheduling: Scheduling::default(),
        }
    }
}

/// Parameters of `sync`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sync {
    /// How often a job is submitted and waited for.
    pub submissions: u32,
    /// Time of a job on the engine, in nanoseconds.
    pub job_duration_ns: u64,
    /// More time, drawn from the seed below this.
    pub spread_ns: u64,
    /// CPU time it takes to hand a job to the engine, in nanoseconds.
    pub run_cost_ns: u64,
    /// How the thread is scheduled.
    pub scheduling: Scheduling,
}

impl Default for Sync {
    fn default() -> Self {
        Sync {
            submissions: 1000,
            job_duration_ns: 200_000,
            spread_ns: 20_000,
            run_cost_ns: 0,
            scheduling: Scheduling::default(),
        }
    }
}

/// Parameters of `stream`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Stream {
    /// How often a job is submitted and waited for.
    pub submissions: u32,
    /// Time of a job on the engine, in nanoseconds.
    pub job_duration_ns: u64,
    /// More time, drawn from the seed below this.
    pub spread_ns: u64,
    /// Time between one job and the next, drawn from the seed below this.
    pub pause_ns: u64,
    /// CPU time it takes to hand a job to the engine, in nanoseconds.
    pub run_cost_ns: u64,
    /// How the thread is scheduled.
    pub scheduling: Scheduling,
}

impl Default for Stream {
    fn default() -> Self {
        Stream {
            submissions: 1000,
            job_duration_ns: 200_000,
            spread_ns: 20_000,
            pause_ns: 0,
            run_cost_ns: 0,
            scheduling: Scheduling::default(),
        }
    }
}

/// What a compositor does about the fences of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fences {
    /// Takes only frames whose fence has signalled.
    #[default]
    Done,
    /// Takes the newest frames and waits for their fences.
    Wait,
    /// Takes the newest frames and passes their fences to the kernel.
    Pass,
}

/// Parameters of `compositor`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Compositor {
    /// How long, in nanoseconds.
    pub duration_ns: u64,
    /// Vertical blanks a second. Their phase is drawn from the seed.
    pub rate: u32,
    /// Clients, each with a context of its own.
    pub clients: u32,
    /// CPU time a client uses for a frame, in nanoseconds.
    pub cpu_ns: u64,
    /// Jobs of a client's frame, each after the one before.
    pub jobs: u32,
    /// Time of each on the engine, in nanoseconds.
    pub job_duration_ns: u64,
    /// More time, drawn from the seed below this.
    pub spread_ns: u64,
    /// How long before a vertical blank the compositor begins.
    pub lead_ns: u64,
    /// Time of the compositor's job on the engine, in nanoseconds.
    pub composition_ns: u64,
    /// What the compositor does about the fences of the clients' frames.
    pub fences: Fences,
    /// The compositor has an engine of its own.
    pub own_engine: bool,
    /// CPU time it takes to hand a job to the engine, in nanoseconds.
    pub run_cost_ns: u64,
    /// How the clients are scheduled.
    pub scheduling: Scheduling,
    /// How the compositor is scheduled.
    pub compositor_scheduling: Scheduling,
}

impl Default for Compositor {
    fn default() -> Self {
        Compositor {
            duration_ns: 2_000_000_000,
            rate: 60,
            clients: 3,
            cpu_ns: 200_000,
            jobs: 2,
            job_duration_ns: 200_000,
            spread_ns: 100_000,
            lead_ns: 4_000_000,
            composition_ns: 1_000_000,
            fences: Fences::Done,
            own_engine: false,
            run_cost_ns: 0,
            scheduling: Scheduling::default(),
            compositor_scheduling: Scheduling::default(),
        }
    }
}

/// Parameters of `crowd`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Crowd {
    /// How long, in nanoseconds.
    pub duration_ns: u64,
    /// Contexts, all on one engine.
    pub contexts: u32,
    /// Threads that serve them.
    pub threads: u32,
    /// Jobs of a context that are in flight.
    pub window: u32,
    /// Time of a job on the engine, in nanoseconds.
    pub job_duration_ns: u64,
    /// More time, drawn from the seed below this.
    pub spread_ns: u64,
    /// Jobs of every second context are so many times as long.
    pub uneven: u32,
    /// CPU time it takes to hand a job to the engine, in nanoseconds.
    pub run_cost_ns: u64,
    /// How the threads are scheduled.
    pub scheduling: Scheduling,
}

impl Crowd {
    /// How many times as long as those of the first one the jobs of a context are, which
    /// count from 0.
    #[must_use]
    pub fn length(&self, context: usize) -> u64 {
        match context % 2 {
            0 => 1,
            _ => u64::from(self.uneven),
        }
    }
}

impl Default for Crowd {
    fn default() -> Self {
        Crowd {
            duration_ns: 500_000_000,
            contexts: 256,
            threads: 4,
            window: 4,
            job_duration_ns: 2_000,
            spread_ns: 0,
            uneven: 1,
            run_cost_ns: 0,
            scheduling: Scheduling::default(),
        }
    }
}

/// Parameters of `storm`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Storm {
    /// Contexts, one engine after the other.
    pub contexts: u32,
    /// Jobs in all.
    pub jobs: u32,
    /// The share of jobs that depend on others.
    pub dependent: f64,
    /// Such a job depends on one to so many others.
    pub dependencies: u32,
    /// These are among so many jobs before it.
    pub reach: u32,
    /// Time of a job on the engine, in nanoseconds.
    pub job_duration_ns: u64,
    /// More time, drawn from the seed below this.
    pub spread_ns: u64,
    /// CPU time it takes to hand a job to the engine, in nanoseconds.
    pub run_cost_ns: u64,
    /// How the thread is scheduled.
    pub scheduling: Scheduling,
}

impl Default for Storm {
    fn default() -> Self {
        Storm {
            contexts: 7,
            jobs: 3000,
            dependent: 0.5,
            dependencies: 3,
            reach: 32,
            job_duration_ns: 20_000,
            spread_ns: 80_000,
            run_cost_ns: 0,
            scheduling: Scheduling::default(),
        }
    }
}

/// Parameters of `deep`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Deep {
    /// Chains that are submitted, one behind the other, before any is waited
    /// for.
    pub chains: u32,
    /// Jobs of a chain, each after the one before.
    pub depth: u32,
    /// Contexts, one engine after the other; a chain goes from one to the
    /// next.
    pub contexts: u32,
    /// Time of a job on the engine, in nanoseconds.
    pub job_duration_ns: u64,
    /// More time, drawn from the seed below this.
    pub spread_ns: u64,
    /// CPU time it takes to hand a job to the engine, in nanoseconds.
    pub run_cost_ns: u64,
    /// How the thread is scheduled.
    pub scheduling: Scheduling,
}

impl Default for Deep {
    fn default() -> Self {
        Deep {
            chains: 8,
            depth: 250,
            contexts: 4,
            job_duration_ns: 20_000,
            spread_ns: 20_000,
            run_cost_ns: 0,
            scheduling: Scheduling::default(),
        }
    }
}

/// Parameters of `replay`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Replay {
    /// The path of a file of steps.
    pub file: Option<String>,
    /// Instead of `file`: the steps themselves; see [`crate::replay`].
    pub steps: Option<String>,
    /// How often all steps are carried out.
    pub repeat: u32,
    /// How many clients carry them out, each with contexts of its own.
    pub clients: u32,
    /// CPU time it takes to hand a job to the engine, in nanoseconds.
    pub run_cost_ns: u64,
    /// How the clients are scheduled.
    pub scheduling: Scheduling,
}

impl Default for Replay {
    fn default() -> Self {
        Replay {
            file: None,
            steps: None,
            repeat: 100,
            clients: 1,
            run_cost_ns: 0,
            scheduling: Scheduling::default(),
        }
    }
}
