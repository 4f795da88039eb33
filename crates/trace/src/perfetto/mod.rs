//! Writes a trace for Perfetto.
//!
//! | track | holds |
//! | --- | --- |
//! | CPUs and thread states | the kernel's scheduler events |
//! | each thread | submissions, waits, run_job calls, depq events |
//! | each engine | jobs, from run_job to completion |
//! | each context | jobs with the stages of their latency |
//! | counters | jobs queued, jobs on the engine, priorities of workers |
//!
//! A flow connects each submission with run_job, the engine, and the thread that waited.

mod proto;
mod sched;
mod tracks;
mod write;

use crate::TracedRun;

/// Returns the trace of a run. Timestamps are those of the events (CLOCK_MONOTONIC). The
/// same run gives the same bytes.
#[must_use]
pub fn trace(run: &TracedRun) -> Vec<u8> {
    let mut file = write::PerfettoFile::default();
    sched::write(run, &mut file);
    tracks::write(run, &mut file);
    file.bytes()
}

#[cfg(test)]
mod tests;
