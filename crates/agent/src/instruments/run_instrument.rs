//! The trait that every instrument implements.

use assize_job::{AgentMessage, Job};

/// An instrument of one run.
pub(crate) trait RunInstrument {
    /// Its name in an experiment file.
    fn name(&self) -> &'static str;
    /// Takes its settings from the job; called before [`RunInstrument::open`]. `guest`:
    /// the agent is process 1 of a virtual machine.
    fn configure(&mut self, _job: &Job, _guest: bool) {}
    /// Opens what it needs, before the workload exists. On an error, which gives the
    /// reason and a remedy, the whole instrument is unavailable.
    fn open(&mut self) -> Result<(), String>;
    /// Starts measuring. The workload's process is waiting to be released.
    fn start(&mut self, workload: i32 /* pid */);
    /// Stops measuring. The workload is done: its main process is a zombie (/proc/PID
    /// still exists), or it waits.
    fn stop(&mut self);
    /// Returns what was measured, after all instruments have stopped.
    fn records(&mut self) -> Vec<AgentMessage>;
}
