//! Child processes that wait to be released, so that instruments can attach first.

mod exit;
mod program;
mod scheduling;

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;

use assize_job::{AgentMessage, Scheduling};

use crate::group::ControlGroup;
use crate::ports::Ports;
use crate::sys::{self, ProcessEnd, check};

pub(crate) use exit::ProcessExit;
pub(crate) use program::{ExecProgram, SEED_VARIABLE, program, program_with};
pub(crate) use scheduling::schedule;

/// The work of a child process after its release.
pub(crate) enum Body {
    /// Execs a program.
    Exec(ExecProgram),
    /// Runs a closure in the child, and writes the records that it returns.
    Inside(Box<dyn FnOnce() -> Result<Vec<AgentMessage>, String>>),
    /// Runs in stages, of which only one is measured.
    Staged(Box<dyn Staged>),
}

/// A body whose set-up and final report are not measured.
pub(crate) trait Staged {
    /// Sets up, before anything is measured.
    fn set_up(&mut self) -> Result<(), String>;
    /// Does the measured work.
    fn run(&mut self) -> Result<(), String>;
    /// Returns the records, after the instruments have stopped.
    fn records(&mut self) -> Result<Vec<AgentMessage>, String>;
}

/// Limits on the wait for a process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaitLimits<'a> {
    /// Timeout in milliseconds; 0 means none.
    pub(crate) timeout_ms: u64,
    /// Readable once the agent has been asked to end.
    pub(crate) interrupts: Option<&'a OwnedFd>,
}

/// No limits.
pub(crate) const NO_LIMITS: WaitLimits<'static> = WaitLimits {
    timeout_ms: 0,
    interrupts: None,
};

impl WaitLimits<'_> {
    /// Deadline of a wait that starts now, in nanoseconds of CLOCK_MONOTONIC.
    pub(crate) fn deadline(&self) -> Option<u64> {
        let ns = self.timeout_ms.saturating_mul(1_000_000);
        (ns > 0).then(|| sys::now().saturating_add(ns))
    }
}

/// A child process of the agent.
#[derive(Debug)]
pub(crate) struct Child {
    pid: i32,
    /// Readable when the process has ended (a pidfd).
    ended: OwnedFd,
    /// Read end of the child's status pipe: [`READY`], and the reason if it fails.
    status: OwnedFd,
    /// Writing a byte here releases the child.
    gate: OwnedFd,
    /// The child's end of the gate, kept open so that writing to the gate raises no
    /// SIGPIPE.
    _gate_in_child: OwnedFd,
    /// Readable when the measured work is done; `None` if that ends the process.
    done: Option<OwnedFd>,
    stdout: File,
    stderr: File,
    results: File,
    /// Control group of the process, removed with its last member.
    _group: Option<ControlGroup>,
}

/// The byte that reports readiness (ASCII ACK). No text begins with it.
const READY: u8 = 6;
/// Exit status of a child that has written the reason to its status pipe.
const FAILED: i32 = 127;

impl Child {
    /// Starts a process, which applies the scheduling, reports that it is ready
    /// and waits to be released. `guest`: whether the agent is process 1, whose
    /// access to I/O ports the child must give up.
    pub(crate) fn start(mut body: Body, scheduling: &Scheduling, guest: bool) -> io::Result<Child> {
        let (status, status_in_child) = sys::pipe()?;
        let (gate_in_child, gate) = sys::pipe()?;
        let (done, done_in_child) = sys::pipe()?;
        let is_staged = matches!(body, Body::Staged(_));
        let stdout = sys::memory_file(c"stdout", true)?;
        let stderr = sys::memory_file(c"stderr", true)?;
        let mut results = sys::memory_file(c"results", true)?;
        let group = scheduling.group.as_deref();
        let group = group
            .map(|name| ControlGroup::create(name, guest))
            .transpose();
        let group = group.map_err(|why| io::Error::other(format!("scheduling.group: {why}")))?;
        // SAFETY: this process has one thread, so the child is not limited to
        // async-signal-safe calls.
        let pid = check(unsafe { libc::fork() })?;
        if pid == 0 {
            drop((status, gate, done));
            let mut status = File::from(status_in_child);
            let mut gate = File::from(gate_in_child);
            let all = group
                .as_ref()
                .map_or(Ok(()), ControlGroup::join)
                .and_then(|()| prepare(scheduling, guest, &stdout, &stderr))
                .and_then(|()| match &mut body {
                    Body::Staged(staged) => staged.set_up(),
                    _ => Ok(()),
                })
                .and_then(|()| {
                    let _ = status.write_all(&[READY]);
                    wait_for(&mut gate)
                })
                .and_then(|()| carry_out(body, &mut results, gate, done_in_child));
            let code = all.map_or_else(
                |why| {
                    let _ = status.write_all(why.as_bytes());
                    FAILED
                },
                |()| 0,
            );
            // SAFETY: ends this process at once; nothing is left to write.
            unsafe { libc::_exit(code) }
        }
        // SAFETY: no memory is passed. Parent and child both make this call,
        // whichever comes first. It fails if the child has already called exec.
        unsafe { libc::setpgid(pid, pid) };
        let ended = sys::pidfd(pid).inspect_err(|_| sys::kill_group(pid, libc::SIGKILL))?;
        Ok(Child {
            pid,
            ended,
            status,
            gate,
            _gate_in_child: gate_in_child,
            done: is_staged.then_some(done),
            stdout,
            stderr,
            results,
            _group: group,
        })
    }

    /// PID of the process, also the id of its process group.
    pub(crate) fn pid(&self) -> i32 {
        self.pid
    }

    /// Waits until the process is ready to be released.
    pub(crate) fn wait_ready(&mut self, limits: &WaitLimits<'_>) -> Result<(), String> {
        if !sys::wait_readable(&[&self.status], limits.deadline())[0] {
            return Err("it did not get ready in time".into());
        }
        let mut byte = [0];
        match read(&self.status, &mut byte) {
            Ok(1) if byte[0] == READY => Ok(()),
            Ok(1) => Err(format!("{}{}", char::from(byte[0]), self.read_status())),
            _ => Err("it ended before it was ready".into()),
        }
    }

    /// Releases the process.
    pub(crate) fn release(&mut self) {
        let byte = [READY];
        // SAFETY: one byte is read from `byte`. If the child is gone, the write
        // fails; the exit status then shows why.
        unsafe { libc::write(self.gate.as_raw_fd(), byte.as_ptr().cast(), 1) };
    }

    /// Waits until the measured work is done, which may be the end of the process. If
    /// time runs out or `interrupts` becomes readable, kills the process and returns why;
    /// it may take a while to die.
    pub(crate) fn wait_done(&self, limits: &WaitLimits<'_>) -> Option<String> {
        self.wait_for(self.done.as_ref().unwrap_or(&self.ended), limits)
    }

    /// Lets a staged process continue to its records, then waits for its end (not for
    /// that of its group) like [`Child::wait_done`].
    pub(crate) fn wait_end(&mut self, limits: &WaitLimits<'_>) -> Option<String> {
        if self.done.is_some() {
            self.release();
        }
        self.wait_for(&self.ended, limits)
    }

    /// Whether the process continues after the measured work.
    pub(crate) fn goes_on(&self) -> bool {
        self.done.is_some()
    }

    fn wait_for(&self, event: &OwnedFd, limits: &WaitLimits<'_>) -> Option<String> {
        let deadline = limits.deadline();
        let mut fds = vec![event];
        fds.extend(limits.interrupts);
        let ready = sys::wait_readable(&fds, deadline);
        if ready[0] {
            return None;
        }
        self.kill();
        Some(if ready.contains(&true) {
            "interrupted by a signal to the agent; it was killed".into()
        } else {
            format!("not done after {} ms; it was killed", limits.timeout_ms)
        })
    }

    /// Waits at most `at_most_ns` for a killed process to end; `None` waits
    /// without limit.
    pub(crate) fn wait_dead(&self, at_most_ns: Option<u64>) {
        sys::wait_readable(&[&self.ended], at_most_ns.map(|ns| sys::now() + ns));
    }

    /// Whether the process has ended.
    pub(crate) fn has_ended(&self) -> bool {
        sys::wait_readable(&[&self.ended], Some(0))[0]
    }

    /// Whether the process ends before `at`, in nanoseconds of CLOCK_MONOTONIC.
    ///
    /// # Errors
    /// The agent was asked to end first.
    pub(crate) fn ends_until(&self, at: u64, limits: &WaitLimits<'_>) -> Result<bool, String> {
        let mut fds = vec![&self.ended];
        fds.extend(limits.interrupts);
        let ready = sys::wait_readable(&fds, Some(at));
        match ready[..] {
            [false, true] => Err("interrupted by a signal to the agent".into()),
            _ => Ok(ready[0]),
        }
    }

    /// The first 4 KiB of the standard output so far.
    pub(crate) fn stdout_so_far(&self) -> String {
        let mut bytes = vec![0; 4096];
        // The process shares the file's position, so it must not move.
        let count = self.stdout.read_at(&mut bytes, 0).unwrap_or(0);
        String::from_utf8_lossy(&bytes[..count]).into_owned()
    }

    /// Kills the whole process group.
    pub(crate) fn kill(&self) {
        sys::kill_group(self.pid, libc::SIGKILL);
    }

    /// Waits for the process to end, reaps it and collects its output.
    pub(crate) fn reap(mut self) -> io::Result<ProcessExit> {
        sys::wait(self.pid, false)?;
        // Kill what is left of its group now: the id of the group cannot be reused before
        // its leader is reaped.
        self.kill();
        let (end, used) = sys::reap(self.pid)?;
        let status = self.read_status();
        Ok(ProcessExit {
            end,
            used,
            failure: (end == ProcessEnd::Exited(FAILED) && !status.is_empty()).then_some(status),
            stdout: read_from_start(&mut self.stdout)?,
            stderr: read_from_start(&mut self.stderr)?,
            results: String::from_utf8_lossy(&read_from_start(&mut self.results)?).into_owned(),
        })
    }

    /// The rest of the status pipe of a process that has ended or is about to.
    fn read_status(&self) -> String {
        let mut text = Vec::new();
        let mut buffer = [0; 512];
        while let Ok(count @ 1..) = read(&self.status, &mut buffer) {
            text.extend_from_slice(&buffer[..count]);
        }
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// Starts and reaps `count` processes, one at a time. Each touches 0 to 15 pages.
pub(crate) fn start_and_reap(count: u32) -> io::Result<()> {
    const PAGE: usize = 4096;
    const PAGES: u32 = 16;
    for number in 0..count {
        // SAFETY: this process has one thread, so the child is not limited to
        // async-signal-safe calls.
        let pid = check(unsafe { libc::fork() })?;
        if pid == 0 {
            let pages = usize::try_from(number % PAGES).unwrap_or(0);
            std::hint::black_box(vec![1_u8; pages * PAGE]);
            // SAFETY: ends this process at once; nothing is left to write.
            unsafe { libc::_exit(0) }
        }
        sys::wait(pid, true)?;
    }
    Ok(())
}

/// Reads once from a pipe.
fn read(from: &OwnedFd, to: &mut [u8]) -> io::Result<usize> {
    // SAFETY: pointer and length are those of `to`.
    let count = unsafe { libc::read(from.as_raw_fd(), to.as_mut_ptr().cast(), to.len()) };
    usize::try_from(count).map_err(|_| io::Error::last_os_error())
}

/// Reads a whole file.
pub(crate) fn read_from_start(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// In the child: sets up process group, signals, standard files and scheduling.
fn prepare(
    scheduling: &Scheduling,
    guest: bool,
    stdout: &File,
    stderr: &File,
) -> Result<(), String> {
    // SAFETY: no memory is passed.
    unsafe {
        libc::setpgid(0, 0);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
    sys::release_signals();
    if guest {
        Ports::close();
    }
    let standard = || {
        let null = File::open("/dev/null")?;
        // SAFETY: no memory is passed; the three descriptors are replaced.
        unsafe {
            check(libc::dup2(null.as_raw_fd(), 0))?;
            check(libc::dup2(stdout.as_raw_fd(), 1))?;
            check(libc::dup2(stderr.as_raw_fd(), 2))?;
        }
        Ok(())
    };
    standard().map_err(sys::failure_of("standard files"))?;
    schedule(scheduling)
}

/// In the child: waits until it is released.
fn wait_for(gate: &mut File) -> Result<(), String> {
    let mut byte = [0];
    gate.read_exact(&mut byte)
        .map_err(|_| "the agent ended before it released this process".to_string())
}

/// In the child: runs the body.
fn carry_out(body: Body, results: &mut File, mut gate: File, done: OwnedFd) -> Result<(), String> {
    let records = match body {
        Body::Exec(exec) => return Err(program::become_program(&exec)),
        Body::Inside(run) => run()?,
        Body::Staged(mut staged) => {
            staged.run()?;
            let _ = File::from(done).write_all(&[READY]);
            wait_for(&mut gate)?;
            staged.records()?
        }
    };
    let mut lines = String::new();
    for record in records {
        let line = serde_json::to_string(&record).map_err(|error| error.to_string())?;
        lines.push_str(&line);
        lines.push('\n');
    }
    results
        .write_all(lines.as_bytes())
        .map_err(sys::failure_of("its records"))
}
