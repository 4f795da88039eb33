//! Detects that a host has rebooted during a run, as it does after a panic.

use std::thread;
use std::time::{Duration, Instant};

use super::Error;
use super::connection::Connection;
use crate::talk::ChildLimits;

/// Prints the kernel's boot ID.
const SCRIPT: &str = "cat /proc/sys/kernel/random/boot_id";
/// How long one attempt to reach the host may take.
const ATTEMPT: Duration = Duration::from_secs(30);
/// The pause between attempts.
const PAUSE: Duration = Duration::from_secs(1);

/// Waits until a host that was lost answers again, and returns its boot ID.
///
/// # Errors
/// The host does not answer within `limit`.
pub(super) fn wait_for_boot_id(connection: &Connection, limit: Duration) -> Result<String, Error> {
    let started = Instant::now();
    let limits = ChildLimits {
        time: Some(ATTEMPT),
        bytes: 4 << 10,
    };
    loop {
        let talk = connection.run(SCRIPT, Vec::new(), limits)?;
        // A login shell may print other lines before it.
        let answer = String::from_utf8_lossy(&talk.stdout).into_owned();
        if let Some(id) = answer.lines().last().filter(|_| talk.success()) {
            return Ok(id.trim().to_owned());
        }
        if started.elapsed() >= limit {
            let why = format!(
                "the connection was lost during a run, and the host has not answered for {} s",
                limit.as_secs()
            );
            let mend = "start the host again, then continue with `assize run --resume`";
            let what = format!("reach {}", connection.host());
            return Err(connection.error(&what, why, Some(mend.into())));
        }
        thread::sleep(PAUSE);
    }
}
