//! The trait that every instrument implements.

use assize_job::{AgentMessage, Job};

/// Something that measures one run.
pub(crate) trait RunInstrument {
    /// Its name in an experiment file.
    fn name(&self) -> &'static str;
    /// Takes what it needs from the job. Called before [`RunInstrument::open`].
    /// `guest`: the agent is process 1.
    fn configure(&mut self, _job: &Job, _guest: bool) {}
    /// Opens what it needs, before the workload exists. An error means that all
    /// of it is unavailable, and gives the reason and a remedy.
    fn open(&mut self) -> Result<(), String>;
    /// Starts measuring. The workload's process exists, waits to be released,
    /// and has done nothing yet.
    fn start(&mut self, workload: i32 /* pid */);
    /// Stops measuring. The workload is done: its main process has exited but
    /// is not yet reaped (/proc/PID still there), or it waits.
    fn stop(&mut self);
    /// Returns what was measured, after everything has stopped.
    fn records(&mut self) -> Vec<AgentMessage>;
}
