//! Runs of which two executions were compared.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;

use crate::recorded::{Exit, StoredRun};
use crate::{Doubt, Error, Place};

/// The fact of a run that says how many executions gave its answer, where it
/// is known that several did.
pub const EXECUTIONS: &str = "executions";

/// What is known of the executions of the runs of a bundle.
#[derive(Debug, Default)]
pub(crate) struct Executions {
    completed: u32,
    several: u32,
    /// Run to its place in words.
    places: BTreeMap<u64, String>,
}

impl Executions {
    /// Counts a run.
    pub(crate) fn take<H>(&mut self, run: &StoredRun<H>) {
        let place = format!("{} on {}", run.configuration, run.workload);
        self.places.insert(u64::from(run.index), place);
        if run.exit == Exit::Completed {
            self.completed += 1;
            self.several += u32::from(run.environment.contains_key(EXECUTIONS));
        }
    }

    /// That executions were compared, if any were.
    pub(crate) fn sentence(&self) -> Option<String> {
        let Executions {
            completed, several, ..
        } = self;
        (*several > 0).then(|| {
            format!(
                "Of {several} of the {completed} runs two executions were compared: all that \
                 count were equal, byte for byte."
            )
        })
    }

    /// The runs of which the log says that executions differed.
    pub(crate) fn doubts(&self, directory: &Path) -> Result<Vec<Doubt>, Error> {
        let path = directory.join("log.jsonl");
        let text = match fs::read(&path) {
            Ok(text) => text,
            // What was merged has no log.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io(&path)(error)),
        };
        let text = String::from_utf8_lossy(&text);
        Ok(text.lines().filter_map(|line| self.doubt(line)).collect())
    }

    /// A line that is none, cut off by the end of its process, says nothing.
    fn doubt(&self, line: &str) -> Option<Doubt> {
        let line: Value = serde_json::from_str(line).ok()?;
        let differed = line.get("differed")?.as_str()?;
        let index = line.get("index")?.as_u64()?;
        let place = self.places.get(&index).map_or("", String::as_str);
        let became = match line.get("failed").is_some_and(|failed| !failed.is_null()) {
            true => "it has failed",
            false => "later ones were equal",
        };
        Some(Doubt {
            code: "inexact".into(),
            detail: format!(
                "run {} ({place}): two executions differed, so the machine was not exact: \
                 {differed}; {became}",
                index + 1
            ),
            place: Place::default(),
        })
    }
}
