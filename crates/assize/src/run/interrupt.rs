//! Handling of interrupts: SIGINT, SIGTERM and SIGHUP.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use assize_target::processes::{self, Process};
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
            let children = processes::all().into_iter();
            signal(children.filter(|child| child.parent == own), Signal::TERM);
            return;
        };
        if since.elapsed() >= PATIENCE {
            signal(processes::descendants(own, processes::all()), Signal::KILL);
        }
    }
}

fn signal(to: impl IntoIterator<Item = Process>, signal: Signal) {
    for process in to {
        if let Some(pid) = i32::try_from(process.pid).ok().and_then(Pid::from_raw) {
            // The process may have ended by now.
            let _ = kill_process(pid, signal);
        }
    }
}
