//! Labels of jobs.

use std::collections::BTreeSet;

use crate::Job;

/// Labels of jobs: context and sequence number. The context's serial is added for the
/// numbers in this set, which several device files use.
pub(crate) struct Labels(BTreeSet<u32>);

impl Labels {
    pub(crate) fn new(jobs: &[Job]) -> Labels {
        let contexts: BTreeSet<(u32, u64)> = jobs.iter().map(|j| (j.context, j.serial)).collect();
        let mut seen = BTreeSet::new();
        let twice = contexts
            .iter()
            .filter(|(context, _)| !seen.insert(*context));
        Labels(twice.map(|(context, _)| *context).collect())
    }

    pub(crate) fn context(&self, job: &Job) -> String {
        if self.0.contains(&job.context) {
            format!("{} (#{})", job.context, job.serial)
        } else {
            job.context.to_string()
        }
    }

    pub(crate) fn job(&self, job: &Job) -> String {
        format!("{}:{}", self.context(job), job.seqno)
    }
}
