//! Analyses the kernel events recorded in one run.
//!
//! [`TracedRun::new`] follows threads and jobs submitted to simgpu through the events that
//! the instrument `kernel-events` recorded. [`split`] breaks down the latency of each job,
//! [`perfetto`] writes a trace for the Perfetto UI, and [`timeline`] reduces the run to a
//! picture.
//!
//! ```
//! use assize_job::events::KernelEventLog;
//! let text = "assize.kernel-events/1\nstart 0\nstop 9\nlost 0\nend 0\n";
//! let run = assize_trace::TracedRun::new(KernelEventLog::parse(text).unwrap());
//! assert!(run.jobs.is_empty());
//! ```
//!
//! Nothing is opened, read or printed here. Events are reported as the kernel traced them; missing
//! events are never guessed.

mod jobs;
mod labels;
pub mod perfetto;
pub mod split;
mod threads;
mod timeline;

use assize_job::events::KernelEventLog;

pub use jobs::{JobWait, SchedulerDesign, TracedJob};
pub use threads::{CpuStretch, TracedThread, TracedThreads};
pub use timeline::{BusySpan, SpanKind, Timeline, TimelineLane, timeline};

/// The events of one run, and the threads and jobs derived from them.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedRun {
    /// The events.
    pub events: KernelEventLog,
    /// The threads.
    pub threads: TracedThreads,
    /// The jobs, in order of submission.
    pub jobs: Vec<TracedJob>,
}

impl TracedRun {
    /// Derives threads and jobs from the events.
    #[must_use]
    pub fn new(events: KernelEventLog) -> TracedRun {
        let threads = threads::follow(&events);
        let jobs = jobs::follow(&events, &threads);
        TracedRun {
            events,
            threads,
            jobs,
        }
    }
}

#[cfg(test)]
mod event_builder;
