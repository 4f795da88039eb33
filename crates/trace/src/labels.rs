//! Labels of jobs.

use std::collections::BTreeSet;

use crate::TracedJob;

/// Labels of jobs: context and sequence number. The context's serial is added for the
/// numbers in this set, which several device files use.
pub(crate) struct JobLabels(BTreeSet<u32>);

impl JobLabels {
    pub(crate) fn new(jobs: &[TracedJob]) -> JobLabels {
        let contexts: BTreeSet<(u32, u64)> = jobs.iter().map(|j| (j.context, j.serial)).collect();
        let mut seen = BTreeSet::new();
        let twice = contexts
            .iter()
            .filter(|(context, _)| !seen.insert(*context));
        JobLabels(twice.map(|(context, _)| *context).collect())
    }

    pub(crate) fn context(&self, job: &TracedJob) -> String {
        if self.0.contains(&job.context) {
            format!("{} (#{})", job.context, job.serial)
        } else {
            job.context.to_string()
        }
    }

    pub(crate) fn job(&self, job: &TracedJob) -> String {
        format!("{}:{}", self.context(job), job.seqno)
    }
}
