//! A process of the soak; it and its descendants form a process group.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, kill_process_group};

/// A process group that does not outlive this process: dropping it kills the group, and the kernel
/// kills its first process when the thread that started it ends.
#[derive(Debug)]
pub(super) struct Group {
    child: Child,
}

impl Group {
    pub(super) fn start(command: &mut Command) -> io::Result<Group> {
        let child = command.process_group(0).spawn()?;
        Ok(Group { child })
    }

    pub(super) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }
}

/// Kills all processes of a group.
pub(super) fn kill_group(id: u32) {
    if let Some(group) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        // The group may have ended already.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        kill_group(self.child.id());
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::test_kill_process_group;

    #[test]
    fn a_group_ends_with_what_holds_it() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 1000 & sleep 1000"]);
        let group = Group::start(&mut command).unwrap();
        let pid = Pid::from_raw(i32::try_from(group.id()).unwrap()).unwrap();
        assert!(test_kill_process_group(pid).is_ok());
        drop(group);
        // Orphans are reaped by the init process or subreaper, which may take a moment.
        let gone = (0..1000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            test_kill_process_group(pid).is_err()
        });
        assert!(gone);
    }
}
