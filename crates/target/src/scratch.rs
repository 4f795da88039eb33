//! Temporary directories.
//!
//! A killed process leaves its directories behind; a later one removes them. Each has a file
//! that its process locks: a lock holds on every host of a shared file system and in every
//! container, where the number of a process means nothing.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use crate::Error;
use crate::fault::{create, io as fault};

const PREFIX: &str = "of-";
/// The locked file.
const OWNED: &str = "owned";
/// A directory younger than this may not be locked yet.
const YOUNG: Duration = Duration::from_secs(60);

/// A temporary directory, removed when it is dropped.
#[derive(Debug)]
pub(crate) struct ScratchDirectory {
    directory: TempDir,
    /// Released when the file is closed.
    _lock: File,
}

impl ScratchDirectory {
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Keeps the directory, which is then the caller's.
    pub(crate) fn keep(self) -> PathBuf {
        // If this fails, an empty file is left over.
        let _ = fs::remove_file(self.path().join(OWNED));
        self.directory.keep()
    }
}

/// Creates a directory below `root`, on the same file system as everything else there.
pub(crate) fn directory(root: &Path) -> io::Result<ScratchDirectory> {
    let parent = root.join("scratch");
    fs::create_dir_all(&parent)?;
    let directory = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
    let lock = File::create(directory.path().join(OWNED))?;
    lock.lock()?;
    Ok(ScratchDirectory {
        directory,
        _lock: lock,
    })
}

/// Removes the directories of processes that no longer exist.
pub(crate) fn sweep(root: &Path) {
    let Ok(entries) = fs::read_dir(root.join("scratch")) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|name| name.starts_with(PREFIX));
        if ours && is_abandoned(&entry.path()) {
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

fn is_abandoned(directory: &Path) -> bool {
    let age = fs::metadata(directory)
        .and_then(|about| about.modified())
        .ok()
        .and_then(|modified| modified.elapsed().ok());
    if age.is_none_or(|age| age < YOUNG) {
        return false;
    }
    // An exclusive lock on a network file system needs a file that is open for writing.
    match File::options().write(true).open(directory.join(OWNED)) {
        Ok(file) => file.try_lock().is_ok(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail.
    use super::*;
    use std::time::SystemTime;

    fn age(directory: &Path) {
        let long_ago = SystemTime::now() - 2 * YOUNG;
        let file = File::open(directory).unwrap();
        file.set_modified(long_ago).unwrap();
    }

    #[test]
    fn what_a_dead_process_left_is_removed_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let [ours, young, dead, foreign] = std::array::from_fn(|_| directory(root.path()).unwrap());
        let [young, dead] = [young, dead].map(|left| {
            // As by a kill: nothing is removed, and the lock is released.
            let path = left.path().to_owned();
            std::mem::forget(left.directory);
            path
        });
        let other = root.path().join("scratch/something");
        fs::rename(foreign.keep(), &other).unwrap();
        for old in [ours.path(), &dead, &other] {
            age(old);
        }
        sweep(root.path());
        assert!(ours.path().exists() && young.exists() && other.exists());
        assert!(!dead.exists());
        assert_eq!(fs::read_dir(other).unwrap().count(), 0);
    }
}
