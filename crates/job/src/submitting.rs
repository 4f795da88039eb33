//! Parameters of the workloads that submit jobs to simgpu.

use serde::{Deserialize, Serialize};

use crate::Scheduling;

/// Parameters of `frames`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FramesWorkload {
    /// Duration, in nanoseconds.
    pub duration_ns: u64,
    /// Vertical blanks per second. Their phase is drawn from the seed.
    pub rate: u32,
    /// CPU time of the client per frame, in nanoseconds.
    pub cpu_ns: u64,
    /// Jobs per frame; each depends on the one before.
    pub jobs: u32,
    /// Time of each job on the engine, in nanoseconds.
    pub job_duration_ns: u64,
    /// Upper bound of additional time, drawn from the seed.
    pub spread_ns: u64,
    /// Time of the compositor's job on the engine, in nanoseconds.
    pub composition_ns: u64,
    /// Whether the compositor passes the client's fence to the kernel instead of waiting
    /// for it.
    pub in_fence: bool,
    /// CPU time to pass a job to the engine, in nanoseconds.
    pub run_cost_ns: u64,
    /// Scheduling of client and compositor.
    pub scheduling: Scheduling,
}

impl Default for FramesWorkload {
    fn default() -> Self {
        FramesWorkload {
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
pub struct ThreadsWorkload {
    /// Threads, each with its own context; contexts are assigned to engines in turn.
    pub threads: u32,
    /// Jobs of each thread.
    pub submissions: u32,
    /// Limit of a thread's jobs in flight; `None` for the limit of the queue.
    pub window: Option<u32>,
    /// Time of a job on the engine, in nanoseconds.
    pub job_duration_ns: u64,
    /// Upper bound of additional time, drawn from the seed.
    pub spread_ns: u64,
    /// CPU time to pass a job to the engine, in nanoseconds.
    pub run_cost_ns: u64,
    /// Scheduling of the threads.
    pub scheduling: Scheduling,
}

impl Default for ThreadsWorkload {
    fn default() -> Self {
        ThreadsWorkload {
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
    /// How many times a job is submitted and waited for.
    pub submissions: u32,
    /// Time of a job on the engine, in nanoseconds.
    pub job_duration_ns: u64,
    /// Upper bound of additional time, drawn from the seed.
    pub spread_ns: u64,
    /// CPU time to pass a job to the engine, in nanoseconds.
    pub run_cost_ns: u64,
    /// Scheduling of the thread.
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
pub struct StreamWorkload {
    /// How many times a job is submitted and waited for.
    pub submissions: u32,
    /// Time of a job on the engine, in nanoseconds.
    pub job_duration_ns: u64,
    /// Upper bound of additional time, drawn from the seed.
    pub spread_ns: u64,
    /// Upper bound of the time between two jobs, drawn from the seed.
    pub pause_ns: u64,
    /// CPU time to pass a job to the engine, in nanoseconds.
    pub run_cost_ns: u64,
    /// Scheduling of the thread.
    pub scheduling: Scheduling,
}

impl Default for StreamWorkload {
    fn default() -> Self {
        StreamWorkload {
            submissions: 1000,
            job_duration_ns: 200_000,
            spread_ns: 20_000,
            pause_ns: 0,
            run_cost_ns: 0,
            scheduling: Scheduling::default(),
        }
    }
}

/// How a compositor handles the fences of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CompositorFences {
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
pub struct CompositorWorkload {
    /// Duration, in nanoseconds.
    pub duration_ns: u64,
    /// Vertical blanks per second. Their phase is drawn from the seed.
    pub rate: u32,
    /// Clients, each with its own context.
    pub clients: u32,
    /// CPU time of a client per frame, in nanoseconds.
    pub cpu_ns: u64,
    /// Jobs per client frame; each depends on the one before.
    pub jobs: u32,
    /// Time of each job on the engine, in nanoseconds.
    pub job_duration_ns: u64,
    /// Upper bound of additional time, drawn from the seed.
    pub spread_ns: u64,
    /// How long before a vertical blank the compositor begins, in nanoseconds.
    pub lead_ns: u64,
    /// Time of the compositor's job on the engine, in nanoseconds.
    pub composition_ns: u64,
    /// How the compositor handles the fences of the clients' frames.
    pub fences: CompositorFences,
    /// Whether the compositor has its own engine.
    pub own_engine: bool,
    /// CPU time to pass a job to the engine, in nanoseconds.
    pub run_cost_ns: u64,
    /// Scheduling of the clients.
    pub scheduling: Scheduling,
    /// Scheduling of the compositor.
    pub compositor_scheduling: Scheduling,
}

impl Default for CompositorWorkload {
    fn default() -> Self {
        CompositorWorkload {
            duration_ns: 2_000_000_000,
            rate: 60,
            clients: 3,
            cpu_ns: 200_000,
            jobs: 2,
            job_duration_ns: 200_000,
            spread_ns: 100_000,
            lead_ns: 4_000_000,
            composition_ns: 1_000_000,
            fences: CompositorFences::Done,
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
    /// Duration, in nanoseconds.
    pub duration_ns: u64,
    /// Contexts, all on one engine.
    pub contexts: u32,
    /// Threads that serve them.
    pub threads: u32,
    /// Jobs of a context to keep in flight.
    pub window: u32,
    /// Time of a job on the engine, in nanoseconds.
    pub job_duration_ns: u64,
    /// Upper bound of additional time, drawn from the seed.
    pub spread_ns: u64,
    /// Factor by which the jobs of every second context are longer.
    pub uneven: u32,
    /// CPU time to pass a job to the engine, in nanoseconds.
    pub run_cost_ns: u64,
    /// Scheduling of the threads.
    pub scheduling: Scheduling,
}

impl Crowd {
    /// The factor for the job lengths of a context, relative to the first one. Contexts are
    /// numbered from 0.
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
    /// Contexts, assigned to engines in turn.
    pub contexts: u32,
    /// Total number of jobs.
    pub jobs: u32,
    /// The fraction of jobs that depend on others.
    pub dependent: f64,
    /// Upper bound of the number of dependencies of such a job; the least is one.
    pub dependencies: u32,
    /// Dependencies are chosen among this many preceding jobs.
    pub reach: u32,
    /// Time of a job on the engine, in nanoseconds.
    pub job_duration_ns: u64,
    /// Upper bound of additional time, drawn from the seed.
    pub spread_ns: u64,
    /// CPU time to pass a job to the engine, in nanoseconds.
    pub run_cost_ns: u64,
    /// Scheduling of the thread.
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
    /// Chains, all submitted one after another before any is waited for.
    pub chains: u32,
    /// Jobs per chain; each depends on the one before.
    pub depth: u32,
    /// Contexts, assigned to engines in turn; a chain goes from one to the next.
    pub contexts: u32,
    /// Time of a job on the engine, in nanoseconds.
    pub job_duration_ns: u64,
    /// Upper bound of additional time, drawn from the seed.
    pub spread_ns: u64,
    /// CPU time to pass a job to the engine, in nanoseconds.
    pub run_cost_ns: u64,
    /// Scheduling of the thread.
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
    /// The steps themselves, instead of `file`; see [`crate::replay`].
    pub steps: Option<String>,
    /// How many times to execute all steps.
    pub repeat: u32,
    /// Number of clients that execute them, each with its own contexts.
    pub clients: u32,
    /// CPU time to pass a job to the engine, in nanoseconds.
    pub run_cost_ns: u64,
    /// Scheduling of the clients.
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
