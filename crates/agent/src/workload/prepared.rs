//! The context that a workload is given, and the result: a workload ready to be started.

use assize_job::{AgentMessage, Job, Scheduling};

use crate::process::{Body, ProcessExit, Staged};
use crate::seed::Stream;

/// Inputs of a workload besides its own parameters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkloadContext<'a> {
    /// Its name in the experiment.
    pub(super) name: &'a str,
    pub(super) job: &'a Job,
    /// Prefix of the labels of its random streams.
    pub(super) label: &'a str,
    /// Whether it runs until it is killed, and measures nothing.
    pub(super) background: bool,
}

impl WorkloadContext<'_> {
    /// The stream of random numbers for one use.
    pub(super) fn stream(&self, purpose: &str) -> Stream {
        Stream::new(self.job.seed, &format!("{}.{purpose}", self.label))
    }
}

/// A workload, ready to be started.
pub(crate) struct Prepared {
    /// The code or program that its process runs.
    pub(crate) body: Body,
    /// Scheduling of its process.
    pub(crate) scheduling: Scheduling,
    /// Exit statuses that count as success.
    pub(crate) statuses: Vec<i32>,
    /// Makes the records, unless the process failed.
    pub(crate) read: ResultReader,
}

/// Makes records from the exit of a process and its elapsed time in nanoseconds. Owns resources
/// that must last as long as the process.
pub(crate) type ResultReader = Box<dyn FnOnce(&ProcessExit, u64) -> Vec<AgentMessage>>;

/// A workload inside the agent, of which only one stage is measured.
pub(super) fn prepare_staged(scheduling: Scheduling, run: impl Staged + 'static) -> Prepared {
    Prepared {
        body: Body::Staged(Box::new(run)),
        scheduling,
        statuses: vec![0],
        // The process sends its records itself.
        read: Box::new(|_, _| Vec::new()),
    }
}

/// A workload inside the agent.
pub(super) fn prepare_inside(
    scheduling: Scheduling,
    run: impl FnOnce() -> Result<Vec<AgentMessage>, String> + 'static,
) -> Prepared {
    Prepared {
        body: Body::Inside(Box::new(run)),
        scheduling,
        statuses: vec![0],
        // The process sends its records itself.
        read: Box::new(|_, _| Vec::new()),
    }
}
