//! Raw output of tools.

use std::path::Path;

use crate::Error;
use crate::layout::{get, run_path};
use crate::recorded::{RunExit, Skipped, StoredRun};
use crate::whole;

/// The first completed run for which a tool left a file with this name, as the
/// agent called it: `kernel-events.txt`.
///
/// # Errors
/// [`Error::Io`] or [`Error::Malformed`], naming the file.
pub fn first_run_with(directory: &Path, name: &str) -> Result<Option<u32>, Error> {
    let ending = format!("-{name}");
    let mut runs: Vec<u32> = whole::names(&directory.join("raw"))?
        .iter()
        .filter(|file| file.ends_with(&ending))
        .filter_map(|file| file.split('-').next()?.parse().ok())
        .collect();
    // Names of more than four digits do not sort by number.
    runs.sort_unstable();
    for index in runs {
        let path = run_path(directory, index);
        // Ignore files of a run that was never completely recorded.
        if !path.exists() {
            continue;
        }
        let run: StoredRun<Skipped> = get(&path)?;
        let has = run.raw.iter().any(|file| file.ends_with(&ending));
        if has && run.exit == RunExit::Completed {
            return Ok(Some(index));
        }
    }
    Ok(None)
}
