//! Threads of the workloads that run inside the agent.

use std::thread::{Builder, JoinHandle};

use super::instructions::{TURN_INSTRUCTIONS, spend};
use crate::sys;

/// Number of threads: `threads`, per CPU if `per_cpu`.
pub(super) fn count(threads: u32, per_cpu: bool, cpus: i64) -> u64 {
    let factor = if per_cpu { cpus.max(1) } else { 1 };
    u64::from(threads) * factor.unsigned_abs()
}

/// Starts a thread.
pub(super) fn spawn<T: Send + 'static>(
    name: &str,
    run: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, String> {
    // The threads do little, and there may be many.
    let builder = Builder::new()
        .name(name.replace('\0', " "))
        .stack_size(128 << 10);
    builder.spawn(run).map_err(sys::failure_of("new thread"))
}

/// Waits for threads to end.
pub(super) fn join<T>(threads: Vec<JoinHandle<T>>) -> Result<Vec<T>, String> {
    let results = threads.into_iter().map(JoinHandle::join);
    results
        .map(|result| result.map_err(|_| "a thread panicked".to_string()))
        .collect()
}

/// Number of iterations between two readings of a clock: 1,024 instructions.
pub(super) const TURNS: u64 = 1024 / TURN_INSTRUCTIONS;

/// Keeps the CPU busy for [`TURNS`] iterations of a loop.
pub(super) fn spin() {
    spend(TURNS);
}

/// Uses CPU time: at least `ns`, and at most a reading of the clock and [`TURNS`]
/// iterations more.
///
/// Between two readings of the clock it iterates for half of the remaining time, at the
/// rate seen so far. So it needs few readings, each of which is a system call and, on a
/// virtual machine, costs more than the loop between them. Even if the CPU becomes half
/// as fast meanwhile, it does not end late.
pub(super) fn work(ns: u64) {
    let begin = sys::thread_cpu_time();
    let mut done = 0;
    loop {
        let used = sys::thread_cpu_time() - begin;
        if used >= ns {
            return;
        }
        let turns = next_iterations(ns, used, done);
        spend(turns);
        done += turns;
    }
}

/// Number of iterations until the next reading of the clock, if `done` iterations have
/// used `used` of `ns`.
fn next_iterations(ns: u64, used: u64, done: u64) -> u64 {
    let half = u128::from(ns.saturating_sub(used) / 2);
    let fit = half * u128::from(done) / u128::from(used.max(1));
    u64::try_from(fit).unwrap_or(u64::MAX).max(TURNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_counted_for_each_cpu_if_asked_for() {
        assert_eq!((count(3, false, 2), count(3, true, 2)), (3, 6));
        assert_eq!((count(2, false, 4), count(2, true, 4)), (2, 8));
        // If the number of CPUs is not known.
        assert_eq!((count(3, true, -1), count(2, true, -1)), (3, 2));
    }

    #[test]
    fn work_halves_what_is_left_and_ends_within_a_few_turns() {
        // On a CPU where an iteration takes 64 ns and a reading of the clock
        // 300.
        let (ns, mut used, mut done, mut readings) = (3_000_000, 0, 0, 0);
        while used < ns {
            let turns = next_iterations(ns, used, done);
            used += 64 * turns + 300;
            done += turns;
            readings += 1;
        }
        assert!(used < ns + 64 * TURNS + 300, "{used}");
        assert!(readings < 30, "{readings}");
    }

    #[test]
    fn nothing_is_known_before_the_first_turns() {
        assert_eq!(next_iterations(1_000_000_000, 0, 0), TURNS);
        assert_eq!(next_iterations(1_000_000_000, 500, 0), TURNS);
        assert_eq!(next_iterations(10, 20, 5), TURNS);
        assert_eq!(next_iterations(u64::MAX, 1, u64::MAX), u64::MAX);
    }

    #[test]
    fn work_uses_at_least_the_time_that_was_asked_for() {
        for ns in [0, 1, 10_000, 3_000_000] {
            let begin = sys::thread_cpu_time();
            work(ns);
            assert!(sys::thread_cpu_time() - begin >= ns);
        }
    }
}
