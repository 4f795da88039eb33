//! Limits on the resources that a build in the sandbox uses.
//!
//! The kernel enforces the limit on the size of a file and, for ordinary users, that on the number
//! of processes. An ordinary user can set no limits in the kernel for a whole build: a thread
//! checks processes and memory every tenth of a second, and the folder every few seconds, and kills
//! the whole sandbox if a limit is exceeded. Memory is resident memory, since linkers reserve far
//! more address space.

use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Timespec, statvfs};
use rustix::process::{Signal, pidfd_send_signal};

/// Time between two checks of processes and memory.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};
/// Minimum time between two checks of the folder, absolute and as a multiple of a check's duration.
const LOOK_AT_FOLDER: (Duration, u32) = (Duration::from_secs(2), 20);
/// Bytes of the disk that stay free for others.
const FREE: u64 = 256 << 20;

/// Limits on the resources of one run of make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Time: two hours. The small kernel takes minutes on an idle machine.
    pub(crate) time: Duration,
    /// Processes and threads at once: 2048, sixteen for each job of `make -j128`.
    pub(crate) processes: usize,
    /// Resident memory in bytes of all processes together: three quarters of the machine's.
    pub(crate) memory: u64,
    /// Size in bytes of one file: 2 GiB.
    pub(crate) file: u64,
    /// Bytes on disk of the folder and `/tmp` together: 10 GiB.
    pub(crate) output: u64,
}

impl Default for Limits {
    fn default() -> Self {
        let machine = rustix::system::sysinfo();
        let memory = (machine.totalram as u64).saturating_mul(u64::from(machine.mem_unit.max(1)));
        Limits {
            time: Duration::from_secs(2 * 60 * 60),
            processes: 2048,
            memory: memory / 4 * 3,
            file: 2 << 30,
            output: 10 << 30,
        }
    }
}

impl Limits {
    /// The command that sets the limits that the kernel enforces. It runs in the sandbox, since
    /// outside of the user namespace the user's other processes would count too.
    pub(super) fn prefix(&self) -> Vec<String> {
        vec![
            "prlimit".into(),
            // With 0 a crash would still start the program that keeps core dumps.
            "--core=1:1".into(),
            format!("--nproc={0}:{0}", self.processes),
            format!("--fsize={0}:{0}", self.file),
            "--".into(),
        ]
    }
}

/// A limit that a build exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Excess {
    Processes(usize),
    Memory(u64),
    Output(u64),
    Disk,
}

impl std::fmt::Display for Excess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mib = |bytes: u64| bytes >> 20;
        match self {
            Excess::Processes(limit) => write!(f, "it had more than {limit} processes"),
            Excess::Memory(limit) => write!(f, "it took more than {} MiB of memory", mib(*limit)),
            Excess::Output(limit) => write!(f, "it wrote more than {} MiB", mib(*limit)),
            Excess::Disk => write!(f, "it filled the disk"),
        }
    }
}

/// Watches a running build.
pub(crate) struct Watch {
    /// The process that ends everything in the sandbox when it ends.
    pub(crate) process: OwnedFd,
    pub(crate) id: u32,
    /// The folders that the build writes to.
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) limits: Limits,
}

impl Watch {
    /// Starts a thread that ends with the process, and returns the limit for which it killed it, if
    /// any.
    pub(crate) fn start(self) -> JoinHandle<Option<Excess>> {
        std::thread::spawn(move || self.look())
    }

    fn look(&self) -> Option<Excess> {
        let before = self.free();
        let mut next = Instant::now() + LOOK_AT_FOLDER.0;
        loop {
            let mut ends = [PollFd::new(&self.process, PollFlags::IN)];
            if !matches!(poll(&mut ends, Some(&LOOK)), Ok(0)) {
                return None;
            }
            let mut excess = self.processes();
            if excess.is_none() && Instant::now() >= next {
                let begun = Instant::now();
                excess = self.output(before);
                next = begun + LOOK_AT_FOLDER.0.max(begun.elapsed() * LOOK_AT_FOLDER.1);
            }
            if excess.is_some() {
                // It may have just ended.
                let _ = pidfd_send_signal(&self.process, Signal::KILL);
                return excess;
            }
        }
    }

    /// Counts all descendants and their memory, up to the limits.
    fn processes(&self) -> Option<Excess> {
        let (mut count, mut memory) = (0, 0);
        let mut open = vec![self.id.to_string()];
        while let Some(id) = open.pop() {
            memory += resident(&id);
            // A process that has ended has no threads.
            let Ok(threads) = std::fs::read_dir(format!("/proc/{id}/task")) else {
                continue;
            };
            for thread in threads.flatten() {
                count += 1;
                let children = std::fs::read_to_string(thread.path().join("children"));
                let children = children.unwrap_or_default();
                open.extend(children.split_whitespace().map(str::to_owned));
            }
            if count > self.limits.processes {
                return Some(Excess::Processes(self.limits.processes));
            }
        }
        (memory > self.limits.memory).then_some(Excess::Memory(self.limits.memory))
    }

    /// Measures what was written. `before` is what was free at the start.
    fn output(&self, before: u64) -> Option<Excess> {
        let written = self.folders.iter().map(|folder| size(folder)).sum::<u64>();
        if written > self.limits.output {
            return Some(Excess::Output(self.limits.output));
        }
        // Deleted files that a process holds open are in no folder.
        let free = self.free();
        (free < FREE && before.saturating_sub(free) > FREE).then_some(Excess::Disk)
    }

    fn free(&self) -> u64 {
        let first = self.folders.first();
        let state = first.and_then(|folder| statvfs(folder).ok());
        state.map_or(u64::MAX, |state| {
            state.f_bavail.saturating_mul(state.f_frsize)
        })
    }
}

/// Bytes of memory that a process has; none if it has ended.
fn resident(id: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{id}/statm")).unwrap_or_default();
    let pages = text
        .split(' ')
        .nth(1)
        .and_then(|word| word.parse::<u64>().ok());
    pages.unwrap_or(0) * rustix::param::page_size() as u64
}

/// Bytes on disk of everything below a directory, without following links. Files that vanish
/// meanwhile are not counted.
fn size(directory: &Path) -> u64 {
    let mut bytes = 0;
    let mut open = vec![directory.to_path_buf()];
    while let Some(inside) = open.pop() {
        for entry in std::fs::read_dir(&inside).into_iter().flatten().flatten() {
            let Ok(data) = entry.metadata() else { continue };
            bytes += data.blocks() * 512;
            if data.is_dir() {
                open.push(entry.path());
            }
        }
    }
    bytes
}
