//! A control group with little memory for the runs. The kernel keeps reclaiming its
//! pages, so those of memory images have to be read again.

use std::fs;
use std::path::{Path, PathBuf};

use super::over::Over;
use crate::draw::Draws;
use crate::files;

/// The memory limit of the group. Four machines and their overhead need about half of it.
pub(super) const MEMORY: u64 = 1536 << 20;
/// Mount points of control groups: version 2, and version 1 with its controllers.
const MOUNTS: [&str; 3] = [
    "/sys/fs/cgroup",
    "/sys/fs/cgroup/unified",
    "/sys/fs/cgroup/memory",
];

/// The group; on drop it is removed, after its processes have ended.
#[derive(Debug)]
pub(super) struct Squeeze {
    directory: PathBuf,
    /// The file to write for reclaiming pages, and the value.
    reclaim: (&'static str, String),
}

impl Squeeze {
    /// Creates the group, or returns the reason why it cannot.
    pub(super) fn new() -> Result<Squeeze, String> {
        let name = format!("assize-soak-{}", std::process::id());
        let mut why = "no memory controller".to_string();
        for mount in MOUNTS {
            let mount = Path::new(mount);
            let controllers = fs::read_to_string(mount.join("cgroup.controllers"));
            let second = controllers.is_ok_and(|all| all.split_whitespace().any(|c| c == "memory"));
            let first = mount.join("memory.limit_in_bytes").exists();
            if !second && !first {
                continue;
            }
            match Squeeze::at(mount.join(&name), second) {
                Ok(squeeze) => return Ok(squeeze),
                Err(error) => why = error,
            }
        }
        Err(why)
    }

    fn at(directory: PathBuf, second: bool) -> Result<Squeeze, String> {
        let fault = |why: std::io::Error| format!("{}: {why}", directory.display());
        fs::create_dir(&directory).map_err(fault)?;
        let (limits, reclaim): (&[&str], _) = match second {
            true => (
                &["memory.high", "memory.max"],
                ("memory.reclaim", (MEMORY / 4).to_string()),
            ),
            false => (
                &["memory.limit_in_bytes"],
                ("memory.force_empty", "0".to_string()),
            ),
        };
        let squeeze = Squeeze {
            directory: directory.clone(),
            reclaim,
        };
        for (at, limit) in limits.iter().enumerate() {
            // Memory above the first limit is reclaimed; the second limit kills.
            let bytes = MEMORY + (MEMORY / 4) * at as u64;
            fs::write(directory.join(limit), bytes.to_string()).map_err(fault)?;
        }
        Ok(squeeze)
    }

    /// A description of the group.
    pub(super) fn words(&self) -> String {
        let (file, _) = &self.reclaim;
        format!("{} MiB for runs, {file}", MEMORY >> 20)
    }

    /// Adds a process to the group.
    pub(super) fn take(&self, pid: u32) -> Result<(), String> {
        let file = self.directory.join("cgroup.procs");
        files::write(&file, pid.to_string())
    }

    /// Reclaims pages from time to time; returns how many times.
    pub(super) fn press(&self, mut draws: Draws, over: &Over) -> u64 {
        let (file, word) = &self.reclaim;
        let mut times = 0;
        while over.sleep(draws.time(100, 1500)) {
            // The write fails if fewer pages could be reclaimed than requested.
            let _ = fs::write(self.directory.join(file), word);
            times += 1;
        }
        times
    }
}

impl Drop for Squeeze {
    fn drop(&mut self) {
        // The killed processes may take a moment to exit.
        for _ in 0..200 {
            if fs::remove_dir(&self.directory).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}
