//! A child process with a time limit that does not outlive this process.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::Timespec;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, getpid, getppid, set_parent_process_death_signal};
use rustix::thread::CpuSet;

/// Makes the kernel kill the child when the thread of `parent` that started it ends. Called
/// in the child between fork and exec; allocates nothing.
///
/// # Errors
/// `parent` has ended already, so that no signal would come.
pub(crate) fn die_with(parent: Pid) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid() == Some(parent) {
        Ok(())
    } else {
        Err(Errno::PIPE.into())
    }
}

/// A child process with a time limit. It is killed when this is dropped, and by the kernel
/// when the thread that started it ends.
#[derive(Debug)]
pub(crate) struct ChildProcess {
    child: Child,
    ended: OwnedFd,
    watchdog: Option<JoinHandle<()>>,
    timed_out: Arc<AtomicBool>,
}

impl ChildProcess {
    /// Starts a program in `directory` with pipes for its standard input and output, pinned
    /// to a CPU of the host if `cpu` is given.
    pub(crate) fn start(
        mut command: Command,
        directory: &Path,
        errors: File,
        cpu: Option<usize>,
        limit: Duration,
    ) -> io::Result<ChildProcess> {
        command
            .current_dir(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .process_group(0);
        let parent = getpid();
        // SAFETY: between fork and exec the closure only makes system calls and reads its
        // own copies of numbers.
        unsafe {
            command.pre_exec(move || {
                die_with(parent)?;
                if let Some(cpu) = cpu {
                    let mut set = CpuSet::new();
                    set.set(cpu);
                    rustix::thread::sched_setaffinity(None, &set)?;
                }
                Ok(())
            });
        }
        let child = command.spawn()?;
        let timed_out = Arc::new(AtomicBool::new(false));
        let (ended, watchdog) = watch(&child, limit, &timed_out)?;
        Ok(ChildProcess {
            child,
            ended,
            watchdog: Some(watchdog),
            timed_out,
        })
    }

    /// The child itself, for its pipes.
    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// A descriptor of the process, which outlives it.
    pub(crate) fn pidfd(&self) -> io::Result<OwnedFd> {
        self.ended.try_clone()
    }

    /// Waits up to `time` for the process to end. Returns whether it has.
    pub(crate) fn ends_within(&self, time: Duration) -> bool {
        !matches!(
            poll(&mut [readable(&self.ended)], Some(&timespec(time))),
            Ok(0) | Err(_)
        )
    }

    /// Waits for the process to end; `None` if the time limit ended it.
    pub(crate) fn wait(&mut self) -> io::Result<Option<ExitStatus>> {
        let status = self.child.wait()?;
        if let Some(watchdog) = self.watchdog.take() {
            // The watchdog panics only through a bug in this file, and has no result.
            let _ = watchdog.join();
        }
        Ok((!self.timed_out.load(Ordering::SeqCst)).then_some(status))
    }

    pub(crate) fn kill(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.kill();
        let _ = self.wait();
    }
}

fn watch(
    child: &Child,
    limit: Duration,
    timed_out: &Arc<AtomicBool>,
) -> io::Result<(OwnedFd, JoinHandle<()>)> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::other("the child has no process id"))?;
    let watched = rustix::process::pidfd_open(pid, PidfdFlags::empty())?;
    let ended = watched.try_clone()?;
    let timed_out = Arc::clone(timed_out);
    let limit = timespec(limit);
    let watchdog = std::thread::spawn(move || {
        if matches!(poll(&mut [readable(&watched)], Some(&limit)), Ok(0)) {
            timed_out.store(true, Ordering::SeqCst);
            // It may have just ended.
            let _ = rustix::process::pidfd_send_signal(&watched, Signal::KILL);
        }
    });
    Ok((ended, watchdog))
}

fn readable(fd: &OwnedFd) -> PollFd<'_> {
    PollFd::new(fd, PollFlags::IN)
}

fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(time.subsec_nanos()),
    }
}

/// An exit status in words.
pub(crate) fn in_words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => "it ended in an unknown way".into(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail.
    use super::*;

    fn start(program: &str, argument: &str, limit_ms: u64) -> ChildProcess {
        let mut command = Command::new(program);
        command.arg(argument);
        ChildProcess::start(
            command,
            Path::new("/"),
            tempfile::tempfile().unwrap(),
            None,
            Duration::from_millis(limit_ms),
        )
        .unwrap()
    }

    #[test]
    fn a_child_starts_only_with_the_parent_it_knows() {
        let one = |parent: Pid| {
            let mut command = Command::new("true");
            // SAFETY: the closure makes two system calls.
            unsafe { command.pre_exec(move || die_with(parent)) };
            command.status()
        };
        assert!(one(getpid()).unwrap().success());
        let kind = one(Pid::from_raw(1).unwrap()).unwrap_err().kind();
        assert_eq!(kind, io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn a_child_that_ends_in_time_has_a_status() {
        let status = start("false", "", 60_000).wait().unwrap();
        assert_eq!(in_words(status.unwrap()), "exit status 1");
    }

    #[test]
    fn a_child_that_takes_too_long_is_killed() {
        assert_eq!(start("sleep", "1000", 50).wait().unwrap(), None);
    }

    #[test]
    fn a_child_ends_with_what_holds_it() {
        let mut process = start("sleep", "1000", 60_000);
        let pid = Pid::from_raw(i32::try_from(process.child().id()).unwrap()).unwrap();
        drop(process);
        assert!(rustix::process::test_kill_process(pid).is_err());
    }
}
