//! Whether the soak is over: everything is done, or a signal arrived.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::Error;

/// Interval between checks.
const TURN: Duration = Duration::from_millis(20);

/// A flag that is set once, from anywhere.
#[derive(Debug, Clone, Default)]
pub(super) struct Over(Arc<AtomicBool>);

impl Over {
    /// Watches for signals: the first ends the soak, a second one this process.
    pub(super) fn with_signals() -> Result<Over, Error> {
        let over = Over::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let why = |why: std::io::Error| format!("a signal handler: {why}");
            flag::register_conditional_shutdown(signal, 130, Arc::clone(&over.0)).map_err(why)?;
            flag::register(signal, Arc::clone(&over.0)).map_err(why)?;
        }
        Ok(over)
    }

    /// Ends the soak.
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether the soak is over.
    pub(super) fn is(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Sleeps this long, or until the soak is over; returns whether it goes on.
    pub(super) fn sleep(&self, time: Duration) -> bool {
        let mut left = time;
        while !left.is_zero() && !self.is() {
            let some = left.min(TURN);
            thread::sleep(some);
            left -= some;
        }
        !self.is()
    }
}
