//! Counts runs that were executed twice, and reports differences between the executions.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;

use crate::recorded::{RunExit, StoredRun};
use crate::{Doubt, Error};

/// The fact with the number of executions that gave a run's result, if there were several.
pub const EXECUTIONS: &str = "executions";

/// Counts of executions of the runs of a bundle.
#[derive(Debug, Default)]
pub(crate) struct Executions {
    completed: u32,
    several: u32,
    /// Run index to its configuration and workload, in words.
    places: BTreeMap<u64, String>,
}

impl Executions {
    /// Counts a run.
    pub(crate) fn take<H>(&mut self, run: &StoredRun<H>) {
        let place = format!("{} on {}", run.configuration, run.workload);
        self.places.insert(u64::from(run.index), place);
        if run.exit == RunExit::Completed {
            self.completed += 1;
            self.several += u32::from(run.environment.contains_key(EXECUTIONS));
        }
    }

    /// A sentence saying that executions were compared; `None` if none were.
    pub(crate) fn sentence(&self) -> Option<String> {
        let Executions {
            completed, several, ..
        } = self;
        (*several > 0).then(|| {
            format!(
                "Executed twice: {several} of the {completed} runs; all executions that count were \
                 equal, byte for byte."
            )
        })
    }

    /// Doubts about the runs whose executions differ according to the log.
    pub(crate) fn doubts(&self, directory: &Path) -> Result<Vec<Doubt>, Error> {
        let path = directory.join("log.jsonl");
        let text = match fs::read(&path) {
            Ok(text) => text,
            // Merged bundles have no log.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io(&path)(error)),
        };
        let text = String::from_utf8_lossy(&text);
        Ok(text.lines().filter_map(|line| self.doubt(line)).collect())
    }

    /// The doubt in a log line. An incomplete line, cut off when its process was
    /// killed, is ignored.
    fn doubt(&self, line: &str) -> Option<Doubt> {
        let line: Value = serde_json::from_str(line).ok()?;
        let differed = line.get("differed")?.as_str()?;
        let index = line.get("index")?.as_u64()?;
        let place = self.places.get(&index).map_or("", String::as_str);
        let became = match line.get("failed").is_some_and(|failed| !failed.is_null()) {
            true => "the run has failed",
            false => "later executions were equal",
        };
        let detail = format!(
            "run {} ({place}): two executions differed, so the machine was not exact: \
             {differed}; {became}",
            index + 1
        );
        Some(Doubt::new("inexact", detail))
    }
}
