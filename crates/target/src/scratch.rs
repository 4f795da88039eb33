//! Temporary directories.
//!
//! A killed process leaves its directories behind; the next process removes them.

use std::fs;
use std::io;
use std::path::Path;

use tempfile::TempDir;

use crate::Error;
use crate::fault::{create, io as fault};

const PREFIX: &str = "of-";

/// Creates a directory below `root`, on the same file system as everything else there.
pub(crate) fn directory(root: &Path) -> io::Result<TempDir> {
    let parent = root.join("scratch");
    fs::create_dir_all(&parent)?;
    tempfile::Builder::new()
        .prefix(&format!("{PREFIX}{}-", std::process::id()))
        .tempdir_in(parent)
}

/// Removes the directories of processes that no longer exist.
pub(crate) fn sweep(root: &Path) {
    let Ok(entries) = fs::read_dir(root.join("scratch")) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let owner = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX)?.split('-').next())
            .and_then(|pid| pid.parse::<u32>().ok());
        if owner.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            // Another process may be sweeping as well.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Moves a temporary directory to `place`. An existing one is moved aside first and removed
/// afterwards.
pub(crate) fn into_place(temporary: TempDir, place: &Path) -> Result<(), Error> {
    let parent = place.parent().unwrap_or(place);
    create(parent)?;
    let mut aside = None;
    if place.exists() {
        let old = temporary_in(temporary.path().parent().unwrap_or(parent))?;
        fs::rename(place, old.path().join("old"))
            .map_err(|error| fault("replace", place, &error))?;
        aside = Some(old);
    }
    let from = temporary.keep();
    fs::rename(&from, place).map_err(|error| fault("create", place, &error))?;
    drop(aside);
    Ok(())
}

/// Creates a directory `.tmp-…` in `directory`, removed when dropped.
pub(crate) fn temporary_in(directory: &Path) -> Result<TempDir, Error> {
    use std::os::unix::fs::PermissionsExt as _;
    create(directory)?;
    tempfile::Builder::new()
        .prefix(".tmp-")
        .permissions(fs::Permissions::from_mode(0o755))
        .tempdir_in(directory)
        .map_err(|error| fault("create a directory in", directory, &error))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail.
    use super::*;

    #[test]
    fn what_a_dead_process_left_is_removed_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let ours = directory(root.path()).unwrap();
        let scratch = root.path().join("scratch");
        // No process id is this large.
        fs::create_dir(scratch.join("of-4294967294-abc")).unwrap();
        fs::create_dir(scratch.join("something")).unwrap();
        sweep(root.path());
        assert!(ours.path().exists());
        assert!(scratch.join("something").exists());
        assert!(!scratch.join("of-4294967294-abc").exists());
    }
}
