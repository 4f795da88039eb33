//! Threads of workloads that the agent runs itself.

use std::hint::black_box;
use std::thread::{Builder, JoinHandle};

use crate::sys;

/// How many threads there are on so many CPUs: so many, or so many for each.
pub(super) fn count(threads: u32, per_cpu: bool, cpus: i64) -> u64 {
    let factor = if per_cpu { cpus.max(1) } else { 1 };
    u64::from(threads) * factor.unsigned_abs()
}

/// Starts a thread.
pub(super) fn spawn<T: Send + 'static>(
    name: &str,
    run: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, String> {
    // Little is done in them, and there may be many.
    let builder = Builder::new()
        .name(name.replace('\0', " "))
        .stack_size(128 << 10);
    builder
        .spawn(run)
        .map_err(|error| format!("new thread: {}", sys::words(&error)))
}

/// Waits for threads to end.
pub(super) fn join<T>(threads: Vec<JoinHandle<T>>) -> Result<Vec<T>, String> {
    let results = threads.into_iter().map(JoinHandle::join);
    results
        .map(|result| result.map_err(|_| "a thread panicked".to_string()))
        .collect()
}

/// Turns of the loop between two looks at a clock.
pub(super) const TURNS: u64 = 256;

/// Keeps the CPU busy for [`TURNS`] turns of a loop.
pub(super) fn turn() {
    for turn in 0..TURNS {
        black_box(turn);
    }
}

/// Uses CPU time.
pub(super) fn work(ns: u64) {
    let end = sys::thread_cpu_time() + ns;
    while sys::thread_cpu_time() < end {
        turn();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_counted_for_each_cpu_if_asked_for() {
        assert_eq!((count(3, false, 2), count(3, true, 2)), (3, 6));
        assert_eq!((count(2, false, 4), count(2, true, 4)), (2, 8));
        // Where the number of CPUs is not to be had.
        assert_eq!((count(3, true, -1), count(2, true, -1)), (3, 2));
    }
}
