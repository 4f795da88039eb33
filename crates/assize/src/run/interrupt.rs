//! Handling of interrupts: SIGINT, SIGTERM and SIGHUP.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::failure::{Failure, INTERRUPTED};

/// The time between SIGTERM and SIGKILL.
const PATIENCE: Duration = Duration::from_secs(2);

/// Watches for interrupts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt {
    has_come: Arc<AtomicBool>,
}

impl Interrupt {
    /// Installs the handlers: the first signal sets a flag, a second one ends the process at once.
    /// Later watchers share the flag.
    pub(crate) fn watch() -> Result<Self, Failure> {
        static ONLY: Mutex<Option<Interrupt>> = Mutex::new(None);
        let mut only = ONLY.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(there) = &*only {
            return Ok(there.clone());
        }
        let new = Interrupt::installed()?;
        *only = Some(new.clone());
        Ok(new)
    }

    fn installed() -> Result<Self, Failure> {
        let failed = |source: io::Error| Failure::Write {
            what: "a signal handler".into(),
            source,
        };
        let interrupt = Interrupt::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let came = &interrupt.has_come;
            // Registered in this order, so that the first signal does not find the flag set.
            flag::register_conditional_shutdown(signal, INTERRUPTED.into(), Arc::clone(came))
                .map_err(failed)?;
            flag::register(signal, Arc::clone(came)).map_err(failed)?;
        }
        Ok(interrupt)
    }

    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.has_come
    }

    pub(crate) fn came(&self) -> bool {
        self.has_come.load(Ordering::SeqCst)
    }
}

/// Ends the child processes and their descendants: first sends SIGTERM to the children, so that
/// they can clean up, later kills whatever is left.
#[derive(Debug, Default)]
pub(crate) struct ProcessKiller {
    since: Option<Instant>,
}

impl ProcessKiller {
    /// Makes progress; must be called repeatedly until no run is in flight.
    pub(crate) fn go_on(&mut self) {
        let own = std::process::id();
        let Some(since) = self.since else {
            self.since = Some(Instant::now());
            signal(&children(own, &parents()), Signal::TERM);
            return;
        };
        if since.elapsed() >= PATIENCE {
            signal(&descendants(own, &parents()), Signal::KILL);
        }
    }
}

fn signal(pids: &[u32], signal: Signal) {
    for &pid in pids {
        if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
            // The process may have ended by now.
            let _ = kill_process(pid, signal);
        }
    }
}

/// Maps each process to its parent, from `/proc`.
fn parents() -> BTreeMap<u32, u32> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return BTreeMap::new();
    };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        Some((pid, parent(&stat)?))
    })
    .collect()
}

/// The parent PID in a line of `/proc/PID/stat`. The name before it may contain blanks and
/// parentheses.
fn parent(stat: &str) -> Option<u32> {
    let behind = stat.rsplit_once(')')?.1;
    behind.split_whitespace().nth(1)?.parse().ok()
}

fn children(of: u32, parents: &BTreeMap<u32, u32>) -> Vec<u32> {
    let theirs = parents.iter().filter(|&(_, &parent)| parent == of);
    theirs.map(|(&pid, _)| pid).collect()
}

fn descendants(of: u32, parents: &BTreeMap<u32, u32>) -> Vec<u32> {
    let mut found = children(of, parents);
    let mut at = 0;
    while let Some(&pid) = found.get(at) {
        let more = children(pid, parents);
        found.extend(more.into_iter().filter(|&pid| pid != of));
        at += 1;
        // A table read while processes come and go could contain a cycle.
        if at > parents.len() {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_read_behind_the_name() {
        assert_eq!(parent("12 (a) b (c)) S 7 12 12 0"), Some(7));
        assert_eq!(parent("12 (sh) R 1"), Some(1));
        assert_eq!(parent("nonsense"), None);
    }

    #[test]
    fn descendants_are_children_and_theirs_and_nobody_else() {
        let parents = BTreeMap::from([(2, 1), (3, 2), (4, 3), (5, 1), (6, 5), (7, 2)]);
        assert_eq!(children(2, &parents), [3, 7]);
        assert_eq!(descendants(2, &parents), [3, 7, 4]);
        assert!(descendants(9, &parents).is_empty());
        let circle = BTreeMap::from([(1, 2), (2, 1)]);
        assert_eq!(descendants(1, &circle), [2]);
    }

    #[test]
    fn a_child_of_this_process_is_found() {
        let child = std::process::Command::new("sleep").arg("60").spawn();
        let Ok(mut child) = child else { return };
        let found = children(std::process::id(), &parents()).contains(&child.id());
        let _ = child.kill();
        let _ = child.wait();
        assert!(found);
    }
}
