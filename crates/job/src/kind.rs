//! Properties and requirements of each kind of workload.

use crate::{Audio, Package, Scheduling, WorkloadKind};

/// The kinds that submit jobs to simgpu.
pub(crate) const SUBMITTING: &[&str] = &[
    "compositor",
    "crowd",
    "deep",
    "frames",
    "replay",
    "storm",
    "stream",
    "sync",
    "threads",
];

/// The kinds that end when their work is done, rather than after a declared time.
pub(crate) const WORKING: &[&str] = &[
    "command",
    "deep",
    "drawing",
    "hackbench",
    "memory-routine",
    "ping-pong",
    "replay",
    "storm",
    "stream",
    "sync",
    "threads",
];

impl WorkloadKind {
    /// Its name in an experiment file.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            WorkloadKind::Audio(_) => "audio",
            WorkloadKind::Browser(_) => "browser",
            WorkloadKind::Command(_) => "command",
            WorkloadKind::Compositor(_) => "compositor",
            WorkloadKind::CpuScore(_) => "cpu-score",
            WorkloadKind::Crowd(_) => "crowd",
            WorkloadKind::Cyclictest(_) => "cyclictest",
            WorkloadKind::Deep(_) => "deep",
            WorkloadKind::Drawing(_) => "drawing",
            WorkloadKind::Frames(_) => "frames",
            WorkloadKind::FramesStream(_) => "frames-stream",
            WorkloadKind::Hackbench(_) => "hackbench",
            WorkloadKind::Hogs(_) => "hogs",
            WorkloadKind::MemoryRoutine(_) => "memory-routine",
            WorkloadKind::Periodic(_) => "periodic",
            WorkloadKind::PingPong(_) => "ping-pong",
            WorkloadKind::Replay(_) => "replay",
            WorkloadKind::Storm(_) => "storm",
            WorkloadKind::Stream(_) => "stream",
            WorkloadKind::Sync(_) => "sync",
            WorkloadKind::Threads(_) => "threads",
        }
    }

    /// Whether it submits jobs to simgpu.
    #[must_use]
    pub fn submits(&self) -> bool {
        SUBMITTING.contains(&self.name())
    }

    /// Whether it ends when its work is done, rather than after a declared time.
    #[must_use]
    pub fn works(&self) -> bool {
        WORKING.contains(&self.name())
    }

    /// The program that it starts, if any.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        match self {
            WorkloadKind::Command(command) => command.argv.first().map(String::as_str),
            WorkloadKind::Audio(_) => Some(Audio::DECODER),
            WorkloadKind::Cyclictest(_) => Some("cyclictest"),
            WorkloadKind::Hackbench(_) => Some("hackbench"),
            WorkloadKind::Periodic(periodic) => periodic.rt_app.as_ref().map(|_| "rt-app"),
            _ => None,
        }
    }

    /// The Debian packages that it needs besides its program.
    #[must_use]
    pub fn packages(&self) -> Vec<Package> {
        match self {
            WorkloadKind::Audio(_) => vec![Audio::package()],
            _ => Vec::new(),
        }
    }

    /// The kernel module that it needs, unless a queue already requires it.
    #[must_use]
    pub fn module(&self) -> Option<&'static str> {
        match self {
            WorkloadKind::Audio(audio) => audio.module(),
            WorkloadKind::MemoryRoutine(routine) => routine.module(),
            _ => None,
        }
    }

    /// The scheduling of the first thread of its process, if that applies to the whole
    /// workload; `None` if single threads are scheduled separately, or by its program.
    #[must_use]
    pub fn process_scheduling(&self) -> Option<&Scheduling> {
        match self {
            WorkloadKind::Cyclictest(_) | WorkloadKind::Periodic(_) => None,
            _ => {
                let mut all = self.schedulings().into_iter();
                all.find(|(key, _)| *key == "scheduling").map(|(_, it)| it)
            }
        }
    }

    /// Variables to add to the environment of its program.
    #[must_use]
    pub fn environment(&self) -> &[(String, String)] {
        match self {
            WorkloadKind::Command(command) => &command.environment,
            _ => &[],
        }
    }

    /// The files that it reads, by path on the target.
    pub fn reads(&self) -> impl Iterator<Item = &str> {
        let file = match self {
            WorkloadKind::Periodic(periodic) => periodic.rt_app.as_deref(),
            WorkloadKind::Replay(replay) => replay.file.as_deref(),
            _ => None,
        };
        file.into_iter()
    }

    /// The schedulings of its threads, with the names of their parameters.
    #[must_use]
    pub fn schedulings(&self) -> Vec<(&'static str, &Scheduling)> {
        let all = match self {
            WorkloadKind::Compositor(kind) => {
                let compositor = ("compositor_scheduling", &kind.compositor_scheduling);
                return vec![("scheduling", &kind.scheduling), compositor];
            }
            WorkloadKind::Audio(kind) => vec![&kind.scheduling],
            WorkloadKind::Browser(kind) => vec![&kind.scheduling],
            WorkloadKind::Command(kind) => vec![&kind.scheduling],
            WorkloadKind::CpuScore(kind) => vec![&kind.scheduling],
            WorkloadKind::Crowd(kind) => vec![&kind.scheduling],
            WorkloadKind::Cyclictest(kind) => vec![&kind.scheduling],
            WorkloadKind::Deep(kind) => vec![&kind.scheduling],
            WorkloadKind::Drawing(kind) => vec![&kind.scheduling],
            WorkloadKind::Frames(kind) => vec![&kind.scheduling],
            WorkloadKind::FramesStream(kind) => vec![&kind.scheduling],
            WorkloadKind::Hackbench(kind) => vec![&kind.scheduling],
            WorkloadKind::Hogs(kind) => vec![&kind.scheduling],
            WorkloadKind::MemoryRoutine(kind) => vec![&kind.scheduling],
            WorkloadKind::Periodic(kind) => kind.loops.iter().map(|one| &one.scheduling).collect(),
            WorkloadKind::PingPong(kind) => vec![&kind.scheduling],
            WorkloadKind::Replay(kind) => vec![&kind.scheduling],
            WorkloadKind::Storm(kind) => vec![&kind.scheduling],
            WorkloadKind::Stream(kind) => vec![&kind.scheduling],
            WorkloadKind::Sync(kind) => vec![&kind.scheduling],
            WorkloadKind::Threads(kind) => vec![&kind.scheduling],
        };
        all.into_iter().map(|one| ("scheduling", one)).collect()
    }
}
