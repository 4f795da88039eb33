//! Communicates with a child process that may hang, flood its output or leave processes
//! behind.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::Timespec;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process, setsid, waitid};

use crate::own_time::OwnTime;
use crate::process::die_with;

/// Bytes kept of standard error.
const TAIL: usize = 64 << 10;
/// How long pipes must stay empty after the child has ended before reading stops: another process
/// may keep a pipe open forever.
const DRAIN: Duration = Duration::from_secs(2);
/// How often the pipes are checked.
const LOOK: Duration = Duration::from_millis(100);
/// Maximum size of an answer in bytes.
pub(crate) const ANSWER: usize = 1 << 30;

#[derive(Debug, Clone, Copy)]
pub(crate) struct ChildLimits {
    /// Limit on its own time ([`OwnTime`]).
    pub(crate) time: Option<Duration>,
    /// Limit on its output in bytes.
    pub(crate) bytes: usize,
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChildEnd {
    /// The child exited or was killed by a signal.
    Exit(ExitStatus),
    /// Killed at its time limit.
    Time,
    /// Killed because it printed too much.
    Bytes,
}

/// A child's output and how it ended.
#[derive(Debug)]
pub(crate) struct ChildOutput {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    pub(crate) end: ChildEnd,
}

impl ChildOutput {
    /// Whether the child exited with status 0.
    pub(crate) fn success(&self) -> bool {
        matches!(self.end, ChildEnd::Exit(status) if status.success())
    }
}

enum ChildEvent {
    Exited,
    Closed,
    Full,
}

type SharedBuffer = Arc<Mutex<Vec<u8>>>;

/// Starts `command` as the leader of a new session, passes it `input`, and waits for it to
/// end. No process of that session survives, and the child does not outlive this process.
///
/// # Errors
/// It cannot be started.
pub(crate) fn talk(
    mut command: Command,
    input: Vec<u8>,
    limits: ChildLimits,
) -> io::Result<ChildOutput> {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let parent = getpid();
    // SAFETY: between fork and exec the closure only makes system calls; it allocates
    // nothing and takes no lock.
    unsafe {
        command.pre_exec(move || {
            setsid()?;
            // This thread waits for the child below, so it outlives it.
            die_with(parent)
        });
    }
    let mut child = command.spawn()?;
    let (sender, events) = mpsc::channel();
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pipes = pipes(&child)?;
    let (stdout, stderr) = start(&mut child, input, limits.bytes, &sender);
    watch(pid, sender);
    let own = limits.time.map(|time| OwnTime::new(child.id(), time));
    let mut open = 2;
    let cut = attend(&events, own, &mut open);
    // The child has not been reaped yet, so its session id cannot have been reused.
    if let Some(pid) = pid {
        kill_session(pid);
    }
    let status = child.wait()?;
    drain(&events, open, &pipes);
    Ok(ChildOutput {
        stdout: take(&stdout),
        stderr: String::from_utf8_lossy(&take(&stderr)).into_owned(),
        end: cut.unwrap_or(ChildEnd::Exit(status)),
    })
}

/// Kills every process of a session, including any forked meanwhile.
fn kill_session(session: Pid) {
    let _ = kill_process(session, Signal::KILL);
    // The leader remains until it is reaped, and would make a second pass of every kill.
    let mut killed = HashSet::from([session]);
    loop {
        let before = killed.len();
        for pid in processes() {
            if session_of(pid) == Some(session) && killed.insert(pid) {
                // It may just have ended.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        if killed.len() == before {
            return;
        }
    }
}

/// The session of a process. (rustix's `getsid` panics for session 0, which kernel threads
/// have.)
fn session_of(pid: Pid) -> Option<Pid> {
    let mut file = File::open(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // The session comes early, and a second read would find no more than the end of the file.
    let mut text = [0; 256];
    let count = file.read(&mut text).ok()?;
    session_in(&String::from_utf8_lossy(&text[..count]))
}

/// The session in the text of `/proc/PID/stat`. The kernel writes -1 if the process was
/// reaped between opening and reading the file.
fn session_in(stat: &str) -> Option<Pid> {
    // After the name: state, parent, process group, session.
    let (_, rest) = stat.rsplit_once(") ")?;
    let session: i32 = rest.split(' ').nth(3)?.parse().ok()?;
    (session > 0).then(|| Pid::from_raw(session))?
}

fn processes() -> impl Iterator<Item = Pid> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| Pid::from_raw(entry.ok()?.file_name().to_str()?.parse().ok()?))
}

/// Duplicates of our ends of the child's output pipes.
fn pipes(child: &Child) -> io::Result<Vec<OwnedFd>> {
    let out = child.stdout.as_ref().map(AsFd::as_fd);
    let err = child.stderr.as_ref().map(AsFd::as_fd);
    let all = [out, err].into_iter().flatten();
    all.map(|pipe| pipe.try_clone_to_owned()).collect()
}

/// Starts threads that write the child's input and collect its output.
fn start(
    child: &mut Child,
    input: Vec<u8>,
    bytes: usize,
    events: &Sender<ChildEvent>,
) -> (SharedBuffer, SharedBuffer) {
    if let Some(mut stdin) = child.stdin.take() {
        // If the child does not read all of it, its answer says more than this error.
        thread::spawn(move || stdin.write_all(&input));
    }
    let stdout = SharedBuffer::default();
    let stderr = SharedBuffer::default();
    if let Some(mut pipe) = child.stdout.take() {
        let (buffer, events) = (Arc::clone(&stdout), events.clone());
        thread::spawn(move || {
            let event = collect(&mut pipe, &buffer, |buffer| buffer.len() <= bytes);
            // The pipe is open until here, so the child cannot die of SIGPIPE before the
            // event is sent.
            let _ = events.send(event);
        });
    }
    if let Some(mut pipe) = child.stderr.take() {
        let (buffer, events) = (Arc::clone(&stderr), events.clone());
        thread::spawn(move || {
            let event = collect(&mut pipe, &buffer, |buffer| {
                if buffer.len() > 2 * TAIL {
                    buffer.drain(..buffer.len() - TAIL);
                }
                true
            });
            let _ = events.send(event);
        });
    }
    (stdout, stderr)
}

fn collect(
    pipe: &mut impl Read,
    buffer: &SharedBuffer,
    keep: impl Fn(&mut Vec<u8>) -> bool,
) -> ChildEvent {
    let mut chunk = vec![0; 64 << 10];
    loop {
        match pipe.read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => return ChildEvent::Closed,
            Ok(count) => {
                let mut buffer = buffer.lock().unwrap_or_else(PoisonError::into_inner);
                buffer.extend_from_slice(&chunk[..count]);
                if !keep(&mut buffer) {
                    return ChildEvent::Full;
                }
            }
        }
    }
}

/// Sends an event when the child has ended, without reaping it.
fn watch(pid: Option<Pid>, events: Sender<ChildEvent>) {
    thread::spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        if let Some(pid) = pid {
            while matches!(waitid(WaitId::Pid(pid), options), Err(Errno::INTR)) {}
        }
        let _ = events.send(ChildEvent::Exited);
    });
}

/// Waits until the child ends or reaches a limit.
fn attend(
    events: &Receiver<ChildEvent>,
    mut own: Option<OwnTime>,
    open: &mut u32,
) -> Option<ChildEnd> {
    loop {
        let event = match &own {
            None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(own) => events.recv_timeout(own.pause()),
        };
        match event {
            Ok(ChildEvent::Closed) => *open = open.saturating_sub(1),
            Ok(ChildEvent::Full) => return Some(ChildEnd::Bytes),
            Ok(ChildEvent::Exited) | Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {
                let up = own.as_mut().is_some_and(|own| own.is_up(own.pause()));
                if up {
                    return Some(ChildEnd::Time);
                }
            }
        }
    }
}

/// Collects the rest of the output without waiting forever: processes that the child left behind
/// may hold the pipes open. All that the child wrote is in the pipes when it has ended, so reading
/// stops once they have been empty for [`DRAIN`], however late a busy host lets us read.
fn drain(events: &Receiver<ChildEvent>, mut open: u32, pipes: &[OwnedFd]) {
    let mut empty = Duration::ZERO;
    while open > 0 && empty < DRAIN {
        match events.recv_timeout(LOOK) {
            Ok(ChildEvent::Closed | ChildEvent::Full) => open -= 1,
            Ok(ChildEvent::Exited) => {}
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) if pipes.iter().any(holds_bytes) => {
                empty = Duration::ZERO;
            }
            Err(RecvTimeoutError::Timeout) => empty += LOOK,
        }
    }
}

/// Whether a pipe has bytes to read.
fn holds_bytes(pipe: &OwnedFd) -> bool {
    let mut asked = [PollFd::new(pipe, PollFlags::IN)];
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    poll(&mut asked, Some(&now)).is_ok() && asked[0].revents().contains(PollFlags::IN)
}

fn take(buffer: &SharedBuffer) -> Vec<u8> {
    std::mem::take(&mut buffer.lock().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: ChildLimits = ChildLimits {
        time: None,
        bytes: ANSWER,
    };

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_session_is_read_where_there_is_one() {
        let session = |stat| session_in(stat).map(Pid::as_raw_pid);
        assert_eq!(session("12 (a) b) S 1 12 7 0 -1 4194560 0"), Some(7));
        assert_eq!(session("2 (kthreadd) S 0 0 0 0 -1 2129984 0"), None);
        assert_eq!(session("12 (sh) X 0 -1 -1 0 -1 4228364 0"), None);
        assert_eq!(session("12 (sh"), None);
    }

    #[test]
    fn what_is_left_behind_with_the_pipes_is_not_waited_for() {
        // In another session, so that it is not killed with the child.
        let script = "setsid sleep 1000 & echo $!; echo done >&2";
        let talk = talk(sh(script), Vec::new(), FREE).unwrap();
        let pid: i32 = String::from_utf8_lossy(&talk.stdout)
            .trim()
            .parse()
            .unwrap();
        let left = Pid::from_raw(pid).unwrap();
        assert!(kill_process(left, Signal::KILL).is_ok());
        assert!(talk.success() && talk.stderr == "done\n");
    }

    #[test]
    fn a_child_that_is_stopped_for_longer_than_its_limit_is_waited_for() {
        let limits = ChildLimits {
            time: Some(Duration::from_millis(300)),
            bytes: ANSWER,
        };
        let stops = "(sleep 2; kill -CONT $$) & kill -STOP $$; echo done";
        let talk = talk(sh(stops), Vec::new(), limits).unwrap();
        assert!(talk.success());
        assert_eq!(talk.stdout, b"done\n");
    }

    #[test]
    fn a_child_that_only_works_or_only_sleeps_ends_with_its_limit() {
        let limits = ChildLimits {
            time: Some(Duration::from_millis(300)),
            bytes: ANSWER,
        };
        // Also with a dead child that it does not reap.
        for script in ["while :; do :; done", "true & exec sleep 1000"] {
            let talk = talk(sh(script), Vec::new(), limits).unwrap();
            assert_eq!(talk.end, ChildEnd::Time, "{script}");
        }
    }

    #[test]
    fn input_and_output_pass() {
        let input = vec![b'x'; 1 << 20];
        let talk = talk(sh("cat; echo oh >&2; exit 3"), input.clone(), FREE).unwrap();
        assert!(talk.stdout == input);
        assert_eq!(talk.stderr, "oh\n");
        assert!(matches!(talk.end, ChildEnd::Exit(status) if status.code() == Some(3)));
    }

    #[test]
    fn a_child_that_does_not_read_is_no_error() {
        let talk = talk(sh("exec <&-; echo done"), vec![b'x'; 1 << 20], FREE).unwrap();
        assert_eq!(
            (talk.stdout.as_slice(), talk.success()),
            (&b"done\n"[..], true)
        );
    }

    #[test]
    fn a_hanging_child_is_killed_with_its_children() {
        let limits = ChildLimits {
            time: Some(Duration::from_millis(300)),
            ..FREE
        };
        // With job control the child has its own process group.
        let script = "set -m; sleep 1000 & echo $!; wait";
        let talk = talk(sh(script), Vec::new(), limits).unwrap();
        assert_eq!(talk.end, ChildEnd::Time);
        gone(&talk.stdout);
    }

    #[test]
    fn what_a_child_leaves_behind_is_killed() {
        let talk = talk(sh("sleep 1000 & echo $!"), Vec::new(), FREE).unwrap();
        assert!(talk.success());
        gone(&talk.stdout);
    }

    /// Waits until this process is dead or a zombie.
    fn gone(pid: &[u8]) {
        let pid = String::from_utf8_lossy(pid);
        let stat = format!("/proc/{}/stat", pid.trim());
        for _ in 0..1000 {
            match fs::read_to_string(&stat) {
                Ok(stat) if !stat.contains(") Z ") => thread::sleep(Duration::from_millis(10)),
                _ => return,
            }
        }
        panic!("{stat} lives");
    }

    #[test]
    fn a_flood_is_stopped() {
        let limits = ChildLimits {
            time: None,
            bytes: 1 << 20,
        };
        let talk = talk(sh("exec yes"), Vec::new(), limits).unwrap();
        assert_eq!(talk.end, ChildEnd::Bytes);
        let flood = talk.stdout.len();
        assert!(flood > 1 << 20 && flood < 2 << 20);
    }

    #[test]
    fn only_the_tail_of_standard_error_is_kept() {
        let script = "head -c 1000000 /dev/zero >&2; echo last >&2";
        let talk = talk(sh(script), Vec::new(), FREE).unwrap();
        assert!(talk.stderr.ends_with("last\n") && talk.stderr.len() <= 3 * TAIL);
    }

    #[test]
    fn what_is_not_there_cannot_be_started() {
        let error = talk(Command::new("/nowhere/agent"), Vec::new(), FREE).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
