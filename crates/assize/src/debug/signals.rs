//! Signals, which mean something else while gdb runs: Ctrl-C is then gdb's.

use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::failure::Failure;

/// How often to check whether a debugger or a run has ended.
const LOOK: Duration = Duration::from_millis(20);

/// Signals that ask this process to end.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// Set by SIGINT, SIGTERM and SIGHUP.
    any: Arc<AtomicBool>,
    /// Set by SIGTERM and SIGHUP.
    ends: Arc<AtomicBool>,
}

impl Signals {
    /// Keeps these signals from ending the process from now on.
    pub(super) fn watch() -> Result<Signals, Failure> {
        let signals = Signals::default();
        let failed = |source| Failure::Write {
            what: "a signal handler".into(),
            source,
        };
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            flag::register(signal, Arc::clone(&signals.any)).map_err(failed)?;
        }
        for signal in [SIGTERM, SIGHUP] {
            flag::register(signal, Arc::clone(&signals.ends)).map_err(failed)?;
        }
        Ok(signals)
    }

    /// Set when one has come.
    pub(super) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.any)
    }

    /// Waits until this is so, or a signal comes.
    pub(super) fn wait_for(&self, is_so: impl FnMut() -> bool) -> Result<(), Failure> {
        wait_for(&self.any, is_so)
    }

    /// Waits until gdb has ended.
    pub(super) fn leave_to(&self, gdb: &mut Child) -> Result<(), Failure> {
        let waited = wait_for(&self.ends, || !matches!(gdb.try_wait(), Ok(None)));
        if waited.is_err() {
            // It may have ended just now.
            let _ = gdb.kill();
            let _ = gdb.wait();
        }
        let ends = self.ends.load(Ordering::SeqCst);
        self.any.store(ends, Ordering::SeqCst);
        waited
    }
}

fn wait_for(flag: &AtomicBool, mut is_so: impl FnMut() -> bool) -> Result<(), Failure> {
    while !is_so() {
        if flag.load(Ordering::SeqCst) {
            return Err(Failure::InterruptedEarly);
        }
        thread::sleep(LOOK);
    }
    Ok(())
}
