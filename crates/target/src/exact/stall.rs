//! Detects whether a machine makes progress, without using the host's clock.
//!
//! A busy host slows a machine down and a frozen one stops it; neither is the machine's
//! fault. So the limit is on guest time. Asking for the guest time wakes QEMU's main
//! thread, which is not safe with a stock QEMU, so the CPU time of QEMU decides when to
//! ask. A machine that will never do anything again uses no CPU time: it is recognised by
//! all its threads sleeping, with none waiting for a CPU of the host.

use std::fs;
use std::time::Duration;

/// Number of consecutive checks, about one per second, that must find a machine asleep.
const ASLEEP: u32 = 30;

/// Limits on the time of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GuestLimits {
    /// Limit in guest time since power-on; `None` for no limit.
    pub(crate) guest: Option<Duration>,
    /// CPU time of QEMU between two checks of the guest time.
    pub(crate) look: Duration,
}

/// The observed state of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MachineProgress {
    /// The machine makes progress.
    GetsOn,
    /// The guest time must be checked now.
    Works,
    /// The machine will never make progress again.
    Asleep,
}

/// Watches a QEMU process and its children.
#[derive(Debug)]
pub(crate) struct StallDetector {
    pid: u32,
    look: Duration,
    /// CPU time at which the guest time must be checked next.
    due: Duration,
    cpu: Duration,
    asleep: u32,
}

impl StallDetector {
    pub(crate) fn new(pid: u32, patience: GuestLimits) -> StallDetector {
        StallDetector {
            pid,
            look: patience.look,
            due: patience.look,
            cpu: Duration::ZERO,
            asleep: 0,
        }
    }

    /// Checks the process. Call this about once a second.
    pub(crate) fn see(&mut self) -> MachineProgress {
        self.judge(of_all(self.pid))
    }

    fn judge(&mut self, used: CpuUse) -> MachineProgress {
        let still = used.is_asleep && used.cpu == self.cpu;
        self.asleep = if still { self.asleep + 1 } else { 0 };
        self.cpu = used.cpu;
        if self.asleep >= ASLEEP {
            self.asleep = 0;
            return MachineProgress::Asleep;
        }
        if used.cpu >= self.due {
            self.due = used.cpu + self.look;
            return MachineProgress::Works;
        }
        MachineProgress::GetsOn
    }
}

/// CPU use and state of some processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CpuUse {
    /// CPU time used.
    pub(crate) cpu: Duration,
    /// Whether every thread sleeps: none runs, is stopped, or waits for a CPU or a disk.
    pub(crate) is_asleep: bool,
    /// How many threads run or wait for a CPU.
    pub(crate) runnable: u32,
    /// Whether a thread is stopped or waits for a disk.
    pub(crate) is_held: bool,
}

/// Reads a process and its descendants, such as QEMU started by a script.
pub(crate) fn of_all(pid: u32) -> CpuUse {
    let mut all = CpuUse {
        cpu: Duration::ZERO,
        is_asleep: true,
        runnable: 0,
        is_held: false,
    };
    let mut left = vec![pid];
    let mut seen = 0;
    while let Some(pid) = left.pop() {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        all.cpu += time_and_state(&stat).unwrap_or_default().0;
        let tasks = fs::read_dir(format!("/proc/{pid}/task"));
        for task in tasks.into_iter().flatten().flatten() {
            let read = |name| fs::read_to_string(task.path().join(name)).unwrap_or_default();
            let state = time_and_state(&read("stat")).map(|(_, state)| state);
            // A thread that has exited meanwhile counts as working.
            all.is_asleep &= state == Some('S');
            all.runnable += u32::from(state == Some('R'));
            all.is_held |= matches!(state, Some('D' | 'T' | 't'));
            seen += 1;
            let children = read("children");
            left.extend(
                children
                    .split_whitespace()
                    .filter_map(|pid| pid.parse::<u32>().ok()),
            );
        }
    }
    all.is_asleep &= seen > 0;
    all
}

/// Parses `/proc/PID/stat`: CPU time and the letter of the state.
fn time_and_state(stat: &str) -> Option<(Duration, char)> {
    // The name may contain anything. After it come the state, ten numbers, then user and
    // system time in ticks.
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut words = rest.split(' ');
    let state = words.next()?.chars().next()?;
    let mut times = words.skip(10);
    let user: u64 = times.next()?.parse().ok()?;
    let system: u64 = times.next()?.parse().ok()?;
    let tick_ms = 1000 / rustix::param::clock_ticks_per_second().max(1);
    let cpu = Duration::from_millis((user + system).saturating_mul(tick_ms));
    Some((cpu, state))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: GuestLimits = GuestLimits {
        guest: None,
        look: Duration::from_secs(10),
    };

    fn used(cpu_s: u64, is_asleep: bool) -> CpuUse {
        CpuUse {
            cpu: Duration::from_secs(cpu_s),
            is_asleep,
            runnable: 0,
            is_held: false,
        }
    }

    #[test]
    fn a_machine_that_is_not_let_run_gets_on() {
        let mut gauge = StallDetector::new(0, PATIENCE);
        // Stopped, frozen, or waiting for a CPU or a disk of the host.
        for _ in 0..10 * ASLEEP {
            assert_eq!(gauge.judge(used(3, false)), MachineProgress::GetsOn);
        }
    }

    #[test]
    fn a_machine_that_sleeps_for_long_is_asleep() {
        let mut gauge = StallDetector::new(0, PATIENCE);
        assert_eq!(gauge.judge(used(3, true)), MachineProgress::GetsOn);
        for _ in 1..ASLEEP {
            assert_eq!(gauge.judge(used(3, true)), MachineProgress::GetsOn);
        }
        assert_eq!(gauge.judge(used(3, true)), MachineProgress::Asleep);
        // It has used some CPU time in between.
        for turn in 0..10 * u64::from(ASLEEP) {
            assert_ne!(
                gauge.judge(used(3 + turn / 20, true)),
                MachineProgress::Asleep
            );
        }
    }

    #[test]
    fn a_machine_that_works_is_asked_now_and_then() {
        let mut gauge = StallDetector::new(0, PATIENCE);
        let seen: Vec<u64> = (0..45)
            .filter(|&cpu| gauge.judge(used(cpu, false)) == MachineProgress::Works)
            .collect();
        assert_eq!(seen, [10, 20, 30, 40]);
    }

    #[test]
    fn a_thread_is_read_whatever_its_name_is() {
        let stat = |state| format!("7 (a) S (b) {state} 1 7 7 0 -1 4194560 9 0 0 0 250 50 7 8 20");
        let (cpu, state) = time_and_state(&stat("S")).unwrap_or_default();
        assert_eq!(state, 'S');
        let tick_ms = u128::from(1000 / rustix::param::clock_ticks_per_second());
        assert_eq!(cpu.as_millis(), 300 * tick_ms);
        for state in ["R", "D", "T", "Z"] {
            let read = time_and_state(&stat(state)).map(|(_, state)| state.to_string());
            assert_eq!(read.as_deref(), Some(state));
        }
        assert_eq!(time_and_state("7 (a"), None);
        assert_eq!(time_and_state("7 (a) S 1 7"), None);
    }

    #[test]
    fn what_a_process_started_counts_too() {
        let mut child = std::process::Command::new("sh")
            .args(["-c", "while :; do :; done & wait"])
            .spawn()
            .unwrap();
        let works = || !of_all(child.id()).is_asleep;
        let found = (0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            works() && of_all(child.id()).cpu > Duration::ZERO
        });
        let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", child.id()));
        for pid in children.unwrap_or_default().split_whitespace() {
            let pid = rustix::process::Pid::from_raw(pid.parse().unwrap()).unwrap();
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        child.wait().unwrap();
        assert!(found);
        assert!(!of_all(u32::MAX).is_asleep, "what is not there");
    }
}
