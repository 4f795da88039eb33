//! The workloads and their parameters.

use serde::{Deserialize, Serialize};

use crate::drawing::Drawing;
use crate::frames_stream::FramesStream;
use crate::memory_routine::MemoryRoutine;
use crate::phone::{Audio, Browser, CpuScore};
use crate::scheduling::Scheduling;
use crate::submitting::{
    CompositorWorkload, Crowd, Deep, FramesWorkload, Replay, Storm, StreamWorkload, Sync,
    ThreadsWorkload,
};

/// A named workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Its name in the experiment file.
    pub name: String,
    /// Its kind and parameters.
    #[serde(flatten)]
    pub kind: WorkloadKind,
}

impl Default for Workload {
    fn default() -> Self {
        Workload {
            name: "true".into(),
            kind: WorkloadKind::Command(CommandWorkload {
                argv: vec!["true".into()],
                ..CommandWorkload::default()
            }),
        }
    }
}

/// A kind of workload, with its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum WorkloadKind {
    /// The real mpg123 and aplay, playing music.
    Audio(Audio),
    /// Loads pages, with a compositor.
    Browser(Browser),
    /// Any program.
    Command(CommandWorkload),
    /// Clients and a compositor with a deadline.
    Compositor(CompositorWorkload),
    /// Threads that compute as fast as they can.
    CpuScore(CpuScore),
    /// Many contexts that feed one engine.
    Crowd(Crowd),
    /// The real cyclictest of rt-tests.
    Cyclictest(CyclictestWorkload),
    /// Long chains of dependent jobs.
    Deep(Deep),
    /// A client that draws by sending requests to a server.
    Drawing(Drawing),
    /// A client and its compositor.
    Frames(FramesWorkload),
    /// Copies frames to slow memory.
    FramesStream(FramesStream),
    /// The real hackbench of rt-tests.
    Hackbench(Hackbench),
    /// Threads that are always busy.
    Hogs(Hogs),
    /// A routine that copies, zeroes or sums bytes.
    MemoryRoutine(MemoryRoutine),
    /// Threads that work for some time in each period.
    Periodic(Periodic),
    /// Two threads that wake each other in turn.
    PingPong(PingPong),
    /// Jobs as a replay script describes them.
    Replay(Replay),
    /// Jobs with random dependencies.
    Storm(Storm),
    /// Jobs submitted one after another, each waited for; reports the time of each.
    Stream(StreamWorkload),
    /// Jobs submitted one after another, each waited for.
    Sync(Sync),
    /// Threads that submit independent jobs.
    Threads(ThreadsWorkload),
}

impl WorkloadKind {
    /// The part of its output that is kept.
    #[must_use]
    pub fn kept_output(&self) -> KeptOutput {
        match self {
            WorkloadKind::Command(kind) => kind.output,
            _ => KeptOutput::Head,
        }
    }

    /// Its declared duration in nanoseconds; `None` if it ends when its work is done.
    #[must_use]
    pub fn duration_ns(&self) -> Option<u64> {
        match self {
            WorkloadKind::Audio(kind) => Some(kind.duration_ns),
            WorkloadKind::Compositor(kind) => Some(kind.duration_ns),
            WorkloadKind::CpuScore(kind) => Some(kind.duration_ns),
            WorkloadKind::Crowd(kind) => Some(kind.duration_ns),
            WorkloadKind::Cyclictest(kind) => Some(kind.interval_ns.saturating_mul(kind.loops)),
            WorkloadKind::Frames(kind) => Some(kind.duration_ns),
            WorkloadKind::FramesStream(kind) => kind.duration_ns.or_else(|| {
                let period = kind.period_ns?;
                Some(period.saturating_mul(kind.frames))
            }),
            WorkloadKind::Hogs(kind) => Some(kind.duration_ns),
            WorkloadKind::Periodic(kind) => Some(kind.duration_ns),
            WorkloadKind::Browser(_)
            | WorkloadKind::Command(_)
            | WorkloadKind::Deep(_)
            | WorkloadKind::Drawing(_)
            | WorkloadKind::Hackbench(_)
            | WorkloadKind::MemoryRoutine(_)
            | WorkloadKind::PingPong(_)
            | WorkloadKind::Replay(_)
            | WorkloadKind::Storm(_)
            | WorkloadKind::Stream(_)
            | WorkloadKind::Sync(_)
            | WorkloadKind::Threads(_) => None,
        }
    }
}

/// The kinds with descriptions, for lists.
pub const WORKLOADS: &[(&str, &str)] = &[
    (
        "audio",
        "Debian's mpg123 and aplay: play music through ALSA",
    ),
    (
        "browser",
        "loading pages: a main thread and workers, with a compositor beside them",
    ),
    ("command", "any program"),
    (
        "compositor",
        "simgpu: clients that render, and a compositor that has a deadline",
    ),
    (
        "cpu-score",
        "threads that compute as much as they can in a given time",
    ),
    (
        "crowd",
        "simgpu: many contexts that feed one engine, with equal or uneven demand",
    ),
    (
        "cyclictest",
        "the cyclictest of rt-tests: how late a timer wakes a thread",
    ),
    (
        "deep",
        "simgpu: long chains of jobs, each depending on the one before",
    ),
    (
        "drawing",
        "a client that sends drawing requests to a server, as in a window system",
    ),
    (
        "frames",
        "simgpu: a client that renders at a fixed rate, and its compositor",
    ),
    (
        "frames-stream",
        "a thread that copies frames, to device memory or elsewhere",
    ),
    (
        "hackbench",
        "the hackbench of rt-tests: groups of tasks that send messages",
    ),
    ("hogs", "threads that are always busy"),
    (
        "memory-routine",
        "a routine that copies, zeroes or checksums bytes, called repeatedly",
    ),
    (
        "periodic",
        "threads that work for a while in each period, or rt-app",
    ),
    ("ping-pong", "two threads that wake each other in turn"),
    ("replay", "simgpu: the jobs of a script"),
    (
        "storm",
        "simgpu: many jobs with random dependencies across contexts",
    ),
    (
        "stream",
        "simgpu: like sync, with the time of each round trip",
    ),
    ("sync", "simgpu: submit a job, wait for it, repeat"),
    ("threads", "simgpu: threads that submit independent jobs"),
];

/// Parameters of `command`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CommandWorkload {
    /// Program and arguments. `{seed}` in an argument becomes the seed.
    pub argv: Vec<String>,
    /// Variables added to its environment.
    pub environment: Vec<(String, String)>,
    /// Exit statuses that do not count as failures.
    pub statuses: Vec<i32>,
    /// Names of metrics in its output: for each, a line `NAME: VALUE UNIT`.
    pub metrics: Vec<String>,
    /// The part of its output that is kept.
    pub output: KeptOutput,
    /// Its scheduling.
    pub scheduling: Scheduling,
}

/// The part of a program's output that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeptOutput {
    /// The first MiB.
    #[default]
    Head,
    /// The last 4 KiB; if the output is longer, also its length and digest.
    Tail,
}

impl Default for CommandWorkload {
    fn default() -> Self {
        CommandWorkload {
            argv: Vec::new(),
            environment: Vec::new(),
            statuses: vec![0],
            metrics: Vec::new(),
            output: KeptOutput::Head,
            scheduling: Scheduling::default(),
        }
    }
}

/// Parameters of `cyclictest`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CyclictestWorkload {
    /// Number of measuring threads.
    pub threads: u32,
    /// Time between two wake-ups of a thread, in nanoseconds.
    pub interval_ns: u64,
    /// Wake-ups of each thread.
    pub loops: u64,
    /// Whether to pin each measuring thread to a separate CPU.
    pub pinned: bool,
    /// Scheduling of the measuring threads.
    pub scheduling: Scheduling,
}

impl Default for CyclictestWorkload {
    fn default() -> Self {
        CyclictestWorkload {
            threads: 1,
            interval_ns: 1_000_000,
            loops: 1000,
            pinned: true,
            scheduling: Scheduling::default(),
        }
    }
}

/// The mechanism that carries messages or wake-ups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WakeupMechanism {
    /// Pipes.
    #[default]
    Pipe,
    /// Futexes (`ping-pong` only).
    Futex,
    /// Sockets (`hackbench` only).
    Socket,
}

/// Parameters of `hackbench`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hackbench {
    /// Groups of senders and receivers.
    pub groups: u32,
    /// Number of senders, and of receivers, in each group.
    pub fds: u32,
    /// Messages each sender sends to each receiver.
    pub loops: u32,
    /// Size of a message in bytes.
    pub datasize: u32,
    /// Whether to use threads rather than processes.
    pub threads: bool,
    /// `pipe` or `socket`.
    pub via: WakeupMechanism,
    /// Its scheduling.
    pub scheduling: Scheduling,
}

impl Default for Hackbench {
    fn default() -> Self {
        Hackbench {
            groups: 2,
            fds: 4,
            loops: 100,
            datasize: 100,
            threads: false,
            via: WakeupMechanism::Pipe,
            scheduling: Scheduling::default(),
        }
    }
}

/// Parameters of `hogs`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hogs {
    /// Number of threads.
    pub threads: u32,
    /// Whether `threads` is per CPU.
    pub per_cpu: bool,
    /// Duration as the measured workload, in nanoseconds. In the background they run
    /// until the measured workload ends.
    pub duration_ns: u64,
    /// Scheduling of the threads.
    pub scheduling: Scheduling,
}

impl Default for Hogs {
    fn default() -> Self {
        Hogs {
            threads: 1,
            per_cpu: false,
            duration_ns: 1_000_000_000,
            scheduling: Scheduling::default(),
        }
    }
}

/// A thread of `periodic`, or several alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Loop {
    /// Its name in metrics.
    pub name: String,
    /// Number of such threads.
    pub threads: u32,
    /// Length of a period in nanoseconds. The phase is drawn from the seed.
    pub period_ns: u64,
    /// CPU time to use in each period, in nanoseconds.
    pub run_ns: u64,
    /// Its scheduling.
    pub scheduling: Scheduling,
}

impl Default for Loop {
    fn default() -> Self {
        Loop {
            name: "loop".into(),
            threads: 1,
            period_ns: 10_000_000,
            run_ns: 1_000_000,
            scheduling: Scheduling::default(),
        }
    }
}

/// Parameters of `periodic`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Periodic {
    /// Duration, in nanoseconds.
    pub duration_ns: u64,
    /// The threads. assize runs them; each reports how late it woke, how long its work took
    /// to complete, and how many periods it overran.
    pub loops: Vec<Loop>,
    /// Instead of `loops`: the path of a workload file that rt-app executes.
    pub rt_app: Option<String>,
    /// Nanoseconds per iteration of rt-app's loop, if its file does not give them.
    pub calibration_ns: Option<u64>,
}

impl Periodic {
    /// Nanoseconds per iteration of rt-app's loop on an exact machine, as calibrated
    /// there by rt-app 1.0.
    pub const EXACT_CALIBRATION_NS: u64 = 188;
}

impl Default for Periodic {
    fn default() -> Self {
        Periodic {
            duration_ns: 1_000_000_000,
            loops: Vec::new(),
            rt_app: None,
            calibration_ns: None,
        }
    }
}

/// Parameters of `ping-pong`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PingPong {
    /// Round trips.
    pub loops: u64,
    /// `pipe` or `futex`.
    pub via: WakeupMechanism,
    /// Scheduling of both threads.
    pub scheduling: Scheduling,
}

impl Default for PingPong {
    fn default() -> Self {
        PingPong {
            loops: 1000,
            via: WakeupMechanism::Pipe,
            scheduling: Scheduling::default(),
        }
    }
}
