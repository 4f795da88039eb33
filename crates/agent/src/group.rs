//! Control groups for workloads.

use std::fs;
use std::path::{Path, PathBuf};

use crate::sys;

const ROOT: &str = "/sys/fs/cgroup";
const CONTROL: &str = "/sys/fs/cgroup/cgroup.subtree_control";

/// A control group with the cpu controller, directly below the root. Dropping
/// it removes the group, unless it still has a process.
#[derive(Debug)]
pub(crate) struct ControlGroup {
    path: PathBuf,
}

impl ControlGroup {
    /// Creates the group `name` of this agent. `guest`: the machine is assize's own, so
    /// that the controller may be enabled.
    pub(crate) fn create(name: &str, guest: bool) -> Result<ControlGroup, String> {
        enable(guest)?;
        let path = Path::new(ROOT).join(format!("assize-{}-{name}", std::process::id()));
        match fs::create_dir(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                let path = path.display();
                Err(format!(
                    "{path}: {}; this needs root",
                    sys::error_text(&error)
                ))
            }
            _ => Ok(ControlGroup { path }),
        }
    }

    /// Moves the calling process into the group.
    pub(crate) fn join(&self) -> Result<(), String> {
        let procs = self.path.join("cgroup.procs");
        fs::write(&procs, "0").map_err(sys::failure_of(procs.display()))
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        // Fails if the group still has a process.
        let _ = fs::remove_dir(&self.path);
    }
}

/// Enables the cpu controller for groups below the root. Outside a guest, only
/// checks that it is enabled.
fn enable(guest: bool) -> Result<(), String> {
    let has_cpu = |text: String| text.split_whitespace().any(|word| word == "cpu");
    let enabled = fs::read_to_string(CONTROL).map_err(|error| {
        let why = sys::error_text(&error);
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
    fs::write(CONTROL, "+cpu").map_err(sys::failure_of(format!("{CONTROL}: +cpu")))
}
