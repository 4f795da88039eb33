//! Signals, which mean something else while gdb runs: Ctrl-C is then gdb's.

use std::io;
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use super::relay::Interruption;
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

    /// Lets signals end the serving of debuggers. Ctrl-C is gdb's, if it is not served `alone`.
    pub(super) fn end(&self, serving: &Interruption, alone: bool) -> Result<(), Failure> {
        let ctrl_c = alone.then_some(SIGINT);
        for signal in [SIGTERM, SIGHUP].into_iter().chain(ctrl_c) {
            // The second is looked at when the first is seen.
            for flag in [&serving.ends, &serving.any] {
                flag::register(signal, Arc::clone(flag)).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Ends gdb if a signal has asked for that. Those that were gdb's are forgotten.
    pub(super) fn leave(&self, gdb: &mut Child) -> Result<(), Failure> {
        let ends = self.ends.load(Ordering::SeqCst);
        self.any.store(ends, Ordering::SeqCst);
        if ends {
            // It may have ended just now.
            let _ = gdb.kill();
            let _ = gdb.wait();
            return Err(Failure::InterruptedEarly);
        }
        Ok(())
    }
}

fn failed(source: io::Error) -> Failure {
    Failure::Write {
        what: "a signal handler".into(),
        source,
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
