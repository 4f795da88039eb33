//! Control groups that workloads are in.

use std::fs;
use std::path::{Path, PathBuf};

use crate::sys;

const ROOT: &str = "/sys/fs/cgroup";
const CONTROL: &str = "/sys/fs/cgroup/cgroup.subtree_control";

/// A control group with the cpu controller, directly below the root. It is
/// removed as soon as it is dropped and no other process is in it.
#[derive(Debug)]
pub(crate) struct Group {
    path: PathBuf,
}

impl Group {
    /// The group of that name, of this agent. `guest`: the machine is ours, so
    /// that the controller may be enabled.
    pub(crate) fn create(name: &str, guest: bool) -> Result<Group, String> {
        enable(guest)?;
        let path = Path::new(ROOT).join(format!("assize-{}-{name}", std::process::id()));
        match fs::create_dir(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                let path = path.display();
                Err(format!("{path}: {}; this needs root", sys::words(&error)))
            }
            _ => Ok(Group { path }),
        }
    }

    /// Moves the calling process there.
    pub(crate) fn join(&self) -> Result<(), String> {
        let procs = self.path.join("cgroup.procs");
        fs::write(&procs, "0")
            .map_err(|error| format!("{}: {}", procs.display(), sys::words(&error)))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // If somebody is in it, that is who removes it.
        let _ = fs::remove_dir(&self.path);
    }
}

/// Lets groups below the root weigh against each other.
fn enable(guest: bool) -> Result<(), String> {
    let has_cpu = |text: String| text.split_whitespace().any(|word| word == "cpu");
    let enabled = fs::read_to_string(CONTROL).map_err(|error| {
        let why = sys::words(&error);
        format!("{CONTROL}: {why}; control groups need cgroup v2 mounted at {ROOT}")
    })?;
    if has_cpu(enabled) {
        return Ok(());
    }
    if !guest {
        let mend = format!("echo +cpu > {CONTROL}");
        return Err(format!(
            "{CONTROL}: the cpu controller is not enabled; as root: {mend}"
        ));
    }
    fs::write(CONTROL, "+cpu").map_err(|error| format!("{CONTROL}: +cpu: {}", sys::words(&error)))
}
