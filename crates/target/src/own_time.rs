//! Measures how long a process could run, independent of the load of the host.
//!
//! A wall-clock limit penalises processes that share their host. This one counts only time
//! in which a process could make progress: all of it while all its threads sleep
//! voluntarily; the CPU time each gets while some want to run; none while it is stopped or
//! waits for a disk. On a quiet host this equals the elapsed time, on a busy one it is
//! less, and it is never more.

use std::time::Duration;

use crate::exact::stall::{CpuUse, of_all};

/// How often a process is checked.
const LOOK: Duration = Duration::from_secs(1);

/// The own time of a process and its descendants.
#[derive(Debug)]
pub(crate) struct OwnTime {
    pid: u32,
    limit: Duration,
    cpu: Duration,
    spent: Duration,
}

impl OwnTime {
    /// Starts counting for a process that has just been started, with a limit.
    pub(crate) fn new(pid: u32, limit: Duration) -> OwnTime {
        OwnTime {
            pid,
            limit,
            cpu: Duration::ZERO,
            spent: Duration::ZERO,
        }
    }

    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }

    /// How long to wait before the next check.
    pub(crate) fn pause(&self) -> Duration {
        LOOK.min(self.limit / 4).max(Duration::from_millis(10))
    }

    /// Checks the process `waited` after the last check. Returns whether its time is up.
    pub(crate) fn is_up(&mut self, waited: Duration) -> bool {
        self.judge(of_all(self.pid), waited)
    }

    fn judge(&mut self, used: CpuUse, waited: Duration) -> bool {
        let got = used.cpu.saturating_sub(self.cpu);
        self.cpu = used.cpu;
        self.spent += match used.runnable {
            0 if !used.is_held => waited,
            runnable => waited.min(got / runnable.max(1)),
        };
        self.spent >= self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// How many checks, one second apart, it takes to reach a limit of 10 s, if each finds that
    /// `cpu_ms` more were used.
    fn looks(cpu_ms: u64, runnable: u32, is_held: bool) -> Option<u64> {
        let mut own = OwnTime::new(0, 10 * SECOND);
        (1..=10_000).find(|look| {
            let used = CpuUse {
                cpu: Duration::from_millis(look * cpu_ms),
                is_asleep: runnable == 0 && !is_held,
                runnable,
                is_held,
            };
            own.judge(used, SECOND)
        })
    }

    #[test]
    fn on_a_quiet_host_the_limit_is_that_of_the_clock() {
        assert_eq!(looks(1000, 1, false), Some(10));
        assert_eq!(looks(0, 0, false), Some(10));
        // Many threads do not make time pass faster.
        assert_eq!(looks(8000, 4, false), Some(10));
    }

    #[test]
    fn what_is_not_let_run_has_all_the_time_of_the_world() {
        assert_eq!(looks(0, 1, false), None);
        assert_eq!(looks(0, 0, true), None);
        assert_eq!(looks(100, 1, false), Some(100));
        assert_eq!(looks(400, 4, false), Some(100));
    }
}
