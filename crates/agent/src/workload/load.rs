//! The trait of workloads that submit jobs to simgpu, and their common code.

use assize_job::{AgentMessage, Scheduling};

use super::client::{Client, ClientTerms, ContextLane, Finished};
use super::jobs;
use super::prepared::{Prepared, prepare_staged};
use crate::process::Staged;
use crate::sys;

/// A workload that submits jobs to simgpu.
pub(super) trait Load {
    /// Creates the contexts, before anything is measured.
    fn contexts(&mut self, client: &Client) -> Result<Vec<ContextLane>, String>;
    /// Submits jobs until all are done, or forever in the background. `start`: the
    /// current time.
    fn run(
        &mut self,
        terms: &ClientTerms,
        start: u64,
        lanes: Vec<ContextLane>,
    ) -> Result<Vec<ContextLane>, String>;
    /// Makes records in addition to those of all jobs.
    fn records(&mut self, _: &FinishedRun<'_>) -> Result<Vec<AgentMessage>, String> {
        Ok(Vec::new())
    }
}

/// A run that has ended, for the workload's own records.
pub(super) struct FinishedRun<'a> {
    pub client: &'a Client,
    pub terms: &'a ClientTerms,
    /// When it started.
    pub start: u64,
    /// The measurements of each context.
    pub contexts: &'a [Finished],
}

/// Prepares the workload.
pub(super) fn prepare(
    load: Box<dyn Load>,
    scheduling: &Scheduling,
    terms: ClientTerms,
) -> Prepared {
    let submitter = Submitter {
        load,
        terms,
        client: None,
        lanes: Vec::new(),
        start: 0,
    };
    prepare_staged(scheduling.clone(), submitter)
}

struct Submitter {
    load: Box<dyn Load>,
    terms: ClientTerms,
    client: Option<Client>,
    lanes: Vec<ContextLane>,
    start: u64,
}

impl Staged for Submitter {
    fn set_up(&mut self) -> Result<(), String> {
        let client = Client::open(&self.terms)?;
        self.lanes = self.load.contexts(&client)?;
        self.client = Some(client);
        Ok(())
    }

    fn run(&mut self) -> Result<(), String> {
        self.start = sys::now();
        let lanes = std::mem::take(&mut self.lanes);
        self.lanes = self.load.run(&self.terms, self.start, lanes)?;
        Ok(())
    }

    fn records(&mut self) -> Result<Vec<AgentMessage>, String> {
        let client = self.client.as_ref().ok_or("it was not set up")?;
        let lanes = std::mem::take(&mut self.lanes).into_iter();
        let finished = lanes
            .map(ContextLane::finish)
            .collect::<Result<Vec<_>, _>>()?;
        let (terms, start) = (&self.terms, self.start);
        let mut records = self.load.records(&FinishedRun {
            client,
            terms,
            start,
            contexts: &finished,
        })?;
        records.extend(jobs::report(finished, terms, &client.info, start));
        Ok(records)
    }
}
