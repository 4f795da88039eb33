//! Signal handling of `assize debug`: while gdb runs, Ctrl-C belongs to gdb.

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

/// Interval between checks for the end of gdb or of the run.
const LOOK: Duration = Duration::from_millis(20);

/// Flags for the signals that ask this process to end.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// Set by SIGINT, SIGTERM and SIGHUP.
    any: Arc<AtomicBool>,
    /// Set by SIGTERM and SIGHUP.
    ends: Arc<AtomicBool>,
}

impl Signals {
    /// Installs the handlers: from now on these signals only set flags.
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

    /// The flag that any of the signals sets.
    pub(super) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.any)
    }

    /// Polls until `is_so`, or fails if a signal arrives.
    pub(super) fn wait_for(&self, is_so: impl FnMut() -> bool) -> Result<(), Failure> {
        wait_for(&self.any, is_so)
    }

    /// Makes signals stop the serving of debuggers; SIGINT only if no gdb was started here
    /// (`alone`).
    pub(super) fn end(&self, serving: &Interruption, alone: bool) -> Result<(), Failure> {
        let ctrl_c = alone.then_some(SIGINT);
        for signal in [SIGTERM, SIGHUP].into_iter().chain(ctrl_c) {
            // `any` is registered last, because readers check `ends` after seeing `any`.
            for flag in [&serving.ends, &serving.any] {
                flag::register(signal, Arc::clone(flag)).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Kills gdb and fails if SIGTERM or SIGHUP arrived. Forgets SIGINT, which was meant for gdb.
    pub(super) fn leave(&self, gdb: &mut Child) -> Result<(), Failure> {
        let ends = self.ends.load(Ordering::SeqCst);
        self.any.store(ends, Ordering::SeqCst);
        if ends {
            // gdb may have ended already.
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
