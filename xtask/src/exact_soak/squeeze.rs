//! A control group with little memory for the runs, from which the kernel
//! takes pages all the time: those of memory images have to be read again.

use std::fs;
use std::path::{Path, PathBuf};

use super::draw::Draws;
use super::over::Over;

/// What all processes of the group have together. Four machines and what takes
/// memory beside them need about half of it.
pub(super) const MEMORY: u64 = 1536 << 20;
/// Where control groups are: version 2, and version 1 with its controllers.
const MOUNTS: [&str; 3] = [
    "/sys/fs/cgroup",
    "/sys/fs/cgroup/unified",
    "/sys/fs/cgroup/memory",
];

/// The group; it is removed when this is dropped, after what is in it.
#[derive(Debug)]
pub(super) struct Squeeze {
    directory: PathBuf,
    /// The file and the word that take pages away.
    reclaim: (&'static str, String),
}

impl Squeeze {
    /// Makes the group, or says why there is none.
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
            // What is above the first is taken back, the second ends it.
            let bytes = MEMORY + (MEMORY / 4) * at as u64;
            fs::write(directory.join(limit), bytes.to_string()).map_err(fault)?;
        }
        Ok(squeeze)
    }

    /// What it is, in words.
    pub(super) fn words(&self) -> String {
        let (file, _) = &self.reclaim;
        format!("{} MiB for runs, {file}", MEMORY >> 20)
    }

    /// Takes a process in.
    pub(super) fn take(&self, pid: u32) -> Result<(), String> {
        let file = self.directory.join("cgroup.procs");
        fs::write(&file, pid.to_string()).map_err(|why| format!("{}: {why}", file.display()))
    }

    /// Takes pages away now and then, and counts how often.
    pub(super) fn press(&self, mut draws: Draws, over: &Over) -> u64 {
        let (file, word) = &self.reclaim;
        let mut times = 0;
        while over.sleep(draws.time(100, 1500)) {
            // It says that less could be taken than was asked for.
            let _ = fs::write(self.directory.join(file), word);
            times += 1;
        }
        times
    }
}

impl Drop for Squeeze {
    fn drop(&mut self) {
        // What was in it is killed and may take a moment to go.
        for _ in 0..200 {
            if fs::remove_dir(&self.directory).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}
