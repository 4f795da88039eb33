//! Requirements and properties of each kind of workload.

use crate::{Audio, Kind, Package, Scheduling};

impl Kind {
    /// Its name in an experiment file.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Audio(_) => "audio",
            Kind::Browser(_) => "browser",
            Kind::Command(_) => "command",
            Kind::Compositor(_) => "compositor",
            Kind::CpuScore(_) => "cpu-score",
            Kind::Crowd(_) => "crowd",
            Kind::Cyclictest(_) => "cyclictest",
            Kind::Deep(_) => "deep",
            Kind::Drawing(_) => "drawing",
            Kind::Frames(_) => "frames",
            Kind::FramesStream(_) => "frames-stream",
            Kind::Hackbench(_) => "hackbench",
            Kind::Hogs(_) => "hogs",
            Kind::MemoryRoutine(_) => "memory-routine",
            Kind::Periodic(_) => "periodic",
            Kind::PingPong(_) => "ping-pong",
            Kind::Replay(_) => "replay",
            Kind::Storm(_) => "storm",
            Kind::Stream(_) => "stream",
            Kind::Sync(_) => "sync",
            Kind::Threads(_) => "threads",
        }
    }

    /// Whether it submits jobs to simgpu.
    #[must_use]
    pub fn submits(&self) -> bool {
        match self {
            Kind::Compositor(_)
            | Kind::Crowd(_)
            | Kind::Deep(_)
            | Kind::Frames(_)
            | Kind::Replay(_)
            | Kind::Storm(_)
            | Kind::Stream(_)
            | Kind::Sync(_)
            | Kind::Threads(_) => true,
            Kind::Audio(_)
            | Kind::Browser(_)
            | Kind::Command(_)
            | Kind::CpuScore(_)
            | Kind::Cyclictest(_)
            | Kind::Drawing(_)
            | Kind::FramesStream(_)
            | Kind::Hackbench(_)
            | Kind::Hogs(_)
            | Kind::MemoryRoutine(_)
            | Kind::Periodic(_)
            | Kind::PingPong(_) => false,
        }
    }

    /// Whether it ends when its work is done, rather than after a declared time.
    #[must_use]
    pub fn works(&self) -> bool {
        match self {
            Kind::Command(_)
            | Kind::Deep(_)
            | Kind::Drawing(_)
            | Kind::Hackbench(_)
            | Kind::MemoryRoutine(_)
            | Kind::PingPong(_)
            | Kind::Replay(_)
            | Kind::Storm(_)
            | Kind::Stream(_)
            | Kind::Sync(_)
            | Kind::Threads(_) => true,
            Kind::Audio(_)
            | Kind::Browser(_)
            | Kind::Compositor(_)
            | Kind::CpuScore(_)
            | Kind::Crowd(_)
            | Kind::Cyclictest(_)
            | Kind::Frames(_)
            | Kind::FramesStream(_)
            | Kind::Hogs(_)
            | Kind::Periodic(_) => false,
        }
    }

    /// The program that it starts, if any.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        match self {
            Kind::Command(command) => command.argv.first().map(String::as_str),
            Kind::Audio(_) => Some(Audio::DECODER),
            Kind::Cyclictest(_) => Some("cyclictest"),
            Kind::Hackbench(_) => Some("hackbench"),
            Kind::Periodic(periodic) => periodic.rt_app.as_ref().map(|_| "rt-app"),
            Kind::Browser(_)
            | Kind::Compositor(_)
            | Kind::CpuScore(_)
            | Kind::Crowd(_)
            | Kind::Deep(_)
            | Kind::Drawing(_)
            | Kind::Frames(_)
            | Kind::FramesStream(_)
            | Kind::Hogs(_)
            | Kind::MemoryRoutine(_)
            | Kind::PingPong(_)
            | Kind::Replay(_)
            | Kind::Storm(_)
            | Kind::Stream(_)
            | Kind::Sync(_)
            | Kind::Threads(_) => None,
        }
    }

    /// The Debian packages that it needs besides its program.
    #[must_use]
    pub fn packages(&self) -> Vec<Package> {
        match self {
            Kind::Audio(_) => vec![Audio::package()],
            _ => Vec::new(),
        }
    }

    /// The kernel module that it needs, unless a queue already requires it.
    #[must_use]
    pub fn module(&self) -> Option<&'static str> {
        match self {
            Kind::Audio(audio) => audio.module(),
            Kind::MemoryRoutine(routine) => routine.module(),
            _ => None,
        }
    }

    /// The scheduling of the first thread of its process, if that applies to the whole
    /// workload; `None` if single threads are scheduled separately, or by its program.
    #[must_use]
    pub fn process_scheduling(&self) -> Option<&Scheduling> {
        match self {
            Kind::Cyclictest(_) | Kind::Periodic(_) => None,
            Kind::Audio(_)
            | Kind::Browser(_)
            | Kind::Command(_)
            | Kind::Compositor(_)
            | Kind::CpuScore(_)
            | Kind::Crowd(_)
            | Kind::Deep(_)
            | Kind::Drawing(_)
            | Kind::Frames(_)
            | Kind::FramesStream(_)
            | Kind::Hackbench(_)
            | Kind::Hogs(_)
            | Kind::MemoryRoutine(_)
            | Kind::PingPong(_)
            | Kind::Replay(_)
            | Kind::Storm(_)
            | Kind::Stream(_)
            | Kind::Sync(_)
            | Kind::Threads(_) => {
                let mut all = self.schedulings().into_iter();
                all.find(|(key, _)| *key == "scheduling").map(|(_, it)| it)
            }
        }
    }

    /// Variables to add to the environment of its program.
    #[must_use]
    pub fn environment(&self) -> &[(String, String)] {
        match self {
            Kind::Command(command) => &command.environment,
            _ => &[],
        }
    }

    /// The files that it reads, by path on the target.
    pub fn reads(&self) -> impl Iterator<Item = &str> {
        let file = match self {
            Kind::Periodic(periodic) => periodic.rt_app.as_deref(),
            Kind::Replay(replay) => replay.file.as_deref(),
            Kind::Audio(_)
            | Kind::Browser(_)
            | Kind::Command(_)
            | Kind::Compositor(_)
            | Kind::CpuScore(_)
            | Kind::Crowd(_)
            | Kind::Cyclictest(_)
            | Kind::Deep(_)
            | Kind::Drawing(_)
            | Kind::Frames(_)
            | Kind::FramesStream(_)
            | Kind::Hackbench(_)
            | Kind::Hogs(_)
            | Kind::MemoryRoutine(_)
            | Kind::PingPong(_)
            | Kind::Storm(_)
            | Kind::Stream(_)
            | Kind::Sync(_)
            | Kind::Threads(_) => None,
        };
        file.into_iter()
    }

    /// The schedulings of its threads, with the names of their parameters.
    #[must_use]
    pub fn schedulings(&self) -> Vec<(&'static str, &Scheduling)> {
        let all = match self {
            Kind::Compositor(kind) => {
                let compositor = ("compositor_scheduling", &kind.compositor_scheduling);
                return vec![("scheduling", &kind.scheduling), compositor];
            }
            Kind::Audio(kind) => vec![&kind.scheduling],
            Kind::Browser(kind) => vec![&kind.scheduling],
            Kind::Command(kind) => vec![&kind.scheduling],
            Kind::CpuScore(kind) => vec![&kind.scheduling],
            Kind::Crowd(kind) => vec![&kind.scheduling],
            Kind::Cyclictest(kind) => vec![&kind.scheduling],
            Kind::Deep(kind) => vec![&kind.scheduling],
            Kind::Drawing(kind) => vec![&kind.scheduling],
            Kind::Frames(kind) => vec![&kind.scheduling],
            Kind::FramesStream(kind) => vec![&kind.scheduling],
            Kind::Hackbench(kind) => vec![&kind.scheduling],
            Kind::Hogs(kind) => vec![&kind.scheduling],
            Kind::MemoryRoutine(kind) => vec![&kind.scheduling],
            Kind::Periodic(kind) => kind.loops.iter().map(|one| &one.scheduling).collect(),
            Kind::PingPong(kind) => vec![&kind.scheduling],
            Kind::Replay(kind) => vec![&kind.scheduling],
            Kind::Storm(kind) => vec![&kind.scheduling],
            Kind::Stream(kind) => vec![&kind.scheduling],
            Kind::Sync(kind) => vec![&kind.scheduling],
            Kind::Threads(kind) => vec![&kind.scheduling],
        };
        all.into_iter().map(|one| ("scheduling", one)).collect()
    }
}
