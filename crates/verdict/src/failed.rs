//! Runs that failed, by configuration and workload.

use assize_bundle::{FailedRun, Records};

use crate::names::folded;

/// Maximum length of a reason in a sentence, in characters.
const LONGEST_REASON: usize = 240;

/// The failed runs of one configuration on one workload; at least one.
#[derive(Debug, Clone, PartialEq)]
pub struct FailedCell<'r> {
    /// The configuration.
    pub configuration: &'r str,
    /// The workload.
    pub workload: &'r str,
    /// Its failed runs, in order.
    pub failures: Vec<&'r FailedRun>,
    /// The number of runs that completed.
    pub left: usize,
}

impl FailedCell<'_> {
    /// The number of attempted runs.
    pub fn runs(&self) -> usize {
        self.failures.len() + self.left
    }

    /// Whether no run completed.
    pub fn is_whole(&self) -> bool {
        self.left == 0
    }

    /// Whether every failure is an outcome of the code under test, such as a crash.
    pub fn tells_of_what_was_tried(&self) -> bool {
        let mut failures = self.failures.iter();
        failures.all(|run| run.ended().is_compared())
    }

    /// Each distinct reason with its count, the most frequent first.
    pub(crate) fn reasons(&self) -> Vec<(&str, usize)> {
        let mut reasons: Vec<(&str, usize)> = Vec::new();
        for failure in &self.failures {
            match reasons.iter_mut().find(|(why, _)| *why == failure.why) {
                Some((_, times)) => *times += 1,
                None => reasons.push((&failure.why, 1)),
            }
        }
        reasons.sort_by_key(|&(_, times)| std::cmp::Reverse(times));
        reasons
    }

    /// The first lines of the most frequent reason.
    pub fn why(&self) -> String {
        let why = self.reasons().first().map_or("", |&(why, _)| why);
        let lines = why.lines().map(str::trim).filter(|line| !line.is_empty());
        let text = lines.take(2).collect::<Vec<_>>().join("; ");
        if text.chars().count() <= LONGEST_REASON {
            return text;
        }
        let kept: String = text.chars().take(LONGEST_REASON).collect();
        format!("{}…", kept.trim_end())
    }
}

/// The failed runs of records by configuration and workload, in order of first
/// appearance. Names match without regard to case.
pub fn failed_cells(records: &Records) -> Vec<FailedCell<'_>> {
    let mut cells: Vec<FailedCell<'_>> = Vec::new();
    for failure in &records.failures {
        let of = |cell: &&mut FailedCell<'_>| {
            folded(cell.configuration) == folded(&failure.configuration)
                && folded(cell.workload) == folded(&failure.workload)
        };
        match cells.iter_mut().find(of) {
            Some(cell) => cell.failures.push(failure),
            None => cells.push(FailedCell {
                configuration: &failure.configuration,
                workload: &failure.workload,
                failures: vec![failure],
                left: 0,
            }),
        }
    }
    for cell in &mut cells {
        let (configuration, workload) = (folded(cell.configuration), folded(cell.workload));
        let of_cell = records.runs.iter().filter(|run| {
            folded(&run.configuration) == configuration && folded(&run.workload) == workload
        });
        cell.left = of_cell.count();
    }
    cells
}
