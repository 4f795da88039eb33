//! What the kernel events of one run tell.
//!
//! From the events that the instrument `kernel-events` has recorded, [`Run::new`]
//! follows the threads and the jobs that were submitted to simgpu. [`split`]
//! says where the latency of each job went, [`perfetto`] writes a trace that
//! Perfetto's user interface opens, [`timeline`] makes of it a picture's worth.
//!
//! ```
//! use assize_job::events::Events;
//! let text = "assize.kernel-events/1\nstart 0\nstop 9\nlost 0\nend 0\n";
//! let run = assize_trace::Run::new(Events::parse(text).unwrap());
//! assert!(run.jobs.is_empty());
//! ```
//!
//! Nothing is opened, read or printed here. What is said of single events is
//! what the kernel traced; nothing is guessed where an event is missing.

mod jobs;
mod labels;
pub mod perfetto;
pub mod split;
mod threads;
mod timeline;

use assize_job::events::Events;

pub use jobs::{Design, Job, Wait};
pub use threads::{Stretch, Thread, Threads};
pub use timeline::{Kind, Lane, Span, Timeline, timeline};

/// The events of one run and what follows from them.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The events.
    pub events: Events,
    /// The threads.
    pub threads: Threads,
    /// The jobs in the order of their submission.
    pub jobs: Vec<Job>,
}

impl Run {
    /// Follows threads and jobs through the events.
    #[must_use]
    pub fn new(events: Events) -> Run {
        let threads = threads::follow(&events);
        let jobs = jobs::follow(&events, &threads);
        Run {
            events,
            threads,
            jobs,
        }
    }
}

#[cfg(test)]
mod made;
