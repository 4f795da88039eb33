//! A trace that Perfetto opens.
//!
//! | track | holds |
//! | --- | --- |
//! | CPUs and thread states | the kernel's own events of the scheduler |
//! | of each thread | submissions, waits, calls of run_job, what depq says |
//! | of each engine | jobs, from run_job until the engine was done |
//! | of each context | jobs with the stages of their latency |
//! | counters | jobs queued, jobs on the engine, priorities of workers |
//!
//! A flow leads from each submission to run_job, to the engine, and to the
//! thread that had waited.

mod proto;
mod sched;
mod tracks;
mod write;

use crate::Run;

/// The trace of a run. Times are those of the events, CLOCK_MONOTONIC; the
/// same run gives the same bytes.
#[must_use]
pub fn trace(run: &Run) -> Vec<u8> {
    let mut file = write::File::default();
    sched::write(run, &mut file);
    tracks::write(run, &mut file);
    file.bytes()
}

#[cfg(test)]
mod tests;
