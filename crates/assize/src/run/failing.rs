//! Ends an experiment early if all runs of a configuration fail.

use std::collections::BTreeMap;
use std::path::Path;

use assize_bundle::{RunExit, RunRecord};

use crate::failure::Failure;

/// Number of failed runs, with none completed, after which the next is expected to fail.
const ENOUGH: usize = 3;

/// The failures by configuration and workload.
#[derive(Debug, Default)]
pub(super) struct FailureStreaks(BTreeMap<(String, String), FailureStreak>);

#[derive(Debug, Default)]
struct FailureStreak {
    /// Whether a run has completed.
    ended: bool,
    /// The index of the first failed run.
    first: u32,
    failed: usize,
}

impl FailureStreaks {
    /// Adds a run.
    ///
    /// # Errors
    /// The first [`ENOUGH`] runs of its configuration on its workload have all failed.
    pub(super) fn add(&mut self, record: &RunRecord, directory: &Path) -> Result<(), Failure> {
        let run = &record.run;
        let place = (run.configuration.clone(), run.workload.clone());
        let streak = self.0.entry(place).or_default();
        let RunExit::Failed { why, .. } = &record.exit else {
            streak.ended = true;
            return Ok(());
        };
        if streak.failed == 0 {
            streak.first = record.index;
        }
        streak.failed += 1;
        if streak.ended || streak.failed < ENOUGH {
            return Ok(());
        }
        let (configuration, workload) = (&run.configuration, &run.workload);
        Err(Failure::FailedRuns {
            directory: directory.to_path_buf(),
            cells: vec![format!(
                "{configuration} on {workload}: {0} of {0}: {why}",
                streak.failed
            )],
            first: streak.first,
        })
    }
}

#[cfg(test)]
mod tests {
    use assize_bundle::Run;

    use super::*;

    fn record(index: u32, configuration: &str, failed: bool) -> RunRecord {
        let exit = match failed {
            true => RunExit::Failed {
                why: "exit status 3".into(),
                console: String::new(),
            },
            false => RunExit::Completed,
        };
        RunRecord::new(index, 0, Run::new(configuration, "w", 1), exit)
    }

    /// The number of runs after which it gives up; `None` if it does not.
    fn gives_up_after(runs: &[(&str, bool)]) -> Option<usize> {
        let mut streaks = FailureStreaks::default();
        let mut runs = (0..).zip(runs);
        runs.position(|(index, (configuration, failed))| {
            let record = record(index, configuration, *failed);
            streaks.add(&record, Path::new("x")).is_err()
        })
    }

    #[test]
    fn it_gives_up_only_where_the_first_runs_all_fail() {
        let (bad, good) = (("a", true), ("a", false));
        assert_eq!(gives_up_after(&[bad, bad, bad, bad]), Some(2));
        assert_eq!(gives_up_after(&[bad, bad, good, bad, bad, bad]), None);
        let other = ("b", false);
        assert_eq!(gives_up_after(&[bad, other, bad, other, bad]), Some(4));
    }
}
