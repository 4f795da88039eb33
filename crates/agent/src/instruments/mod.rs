//! What measures.

use assize_job::Record;

/// Something that measures a run.
pub(crate) trait Instrument {
    /// Its name in an experiment file.
    fn name(&self) -> &'static str;
    /// Opens what it needs, before the workload exists. Err: wholly
    /// unavailable, with reason and mend.
    fn open(&mut self) -> Result<(), String>;
    /// Begins counting. The workload's process exists, waits, and has done
    /// nothing yet.
    fn start(&mut self, workload: i32);
    /// The workload has ended. Called when its process has exited but before
    /// it is reaped.
    fn stop(&mut self);
    /// What was measured, after everything has stopped.
    fn records(&mut self) -> Vec<Record>;
}

/// The instruments of these names, and what there is to say about the others.
pub(crate) fn make(names: &[String]) -> (Vec<Box<dyn Instrument>>, Vec<Record>) {
    let unavailable = |name: &String| Record::Unavailable {
        instrument: name.clone(),
        metric: None,
        reason: "this agent does not have it".into(),
    };
    (Vec::new(), names.iter().map(unavailable).collect())
}
