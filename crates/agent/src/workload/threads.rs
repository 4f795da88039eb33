//! Threads of workloads that the agent runs itself.

use std::hint::black_box;
use std::thread::{Builder, JoinHandle};

use crate::sys;

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
