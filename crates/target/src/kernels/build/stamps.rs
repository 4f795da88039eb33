//! Checks whether make can trust the modification times of a tree's files.
//!
//! make compares the modification times of a source and its object. A file that was moved
//! or copied here with its old time is older than the object of the previous file, and
//! would not be compiled. The change time says when the file arrived, and nobody can set
//! it.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::fault::{io, list};

/// Seconds and nanoseconds.
type Time = (i64, i64);

fn written(file: &Metadata) -> Time {
    (file.mtime(), file.mtime_nsec())
}

fn changed_at(file: &Metadata) -> Time {
    (file.ctime(), file.ctime_nsec())
}

/// Finds a file that arrived after the last build had begun but has an older modification
/// time; `None` if there was no build. `begun` is a file written when a build begins.
pub(super) fn misdated(tree: &Path, begun: &Path) -> Result<Option<PathBuf>, Error> {
    let Ok(last) = begun.metadata() else {
        return Ok(None);
    };
    let last = changed_at(&last);
    find(tree, &|file| {
        changed_at(file) > last && written(file) <= last
    })
}

/// Finds a file that was changed since the build began.
pub(super) fn changed(tree: &Path, begun: &Path) -> Result<Option<PathBuf>, Error> {
    let began = begun
        .metadata()
        .map_err(|error| io("read", begun, &error))?;
    let began = changed_at(&began);
    find(tree, &|file| changed_at(file) > began)
}

/// The first file below a directory for which this is true. Hidden files belong to git or
/// an editor and are skipped.
fn find(directory: &Path, which: &dyn Fn(&Metadata) -> bool) -> Result<Option<PathBuf>, Error> {
    for path in list(directory)? {
        let name = path.file_name().unwrap_or_default();
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let file = path.symlink_metadata();
        let file = file.map_err(|error| io("read", &path, &error))?;
        let found = match file.is_dir() {
            true => find(&path, which)?,
            false => which(&file).then_some(path),
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail.

    use std::fs::{self, File};
    use std::thread::sleep;
    use std::time::{Duration, SystemTime};

    use super::*;

    /// Timestamps of a file system advance in kernel ticks.
    const TICKS: Duration = Duration::from_millis(30);

    #[test]
    fn a_file_with_an_old_time_is_found_and_one_that_was_written_is_not() {
        let place = tempfile::tempdir().unwrap();
        let (tree, begun) = (place.path().join("tree"), place.path().join("begun"));
        fs::create_dir_all(tree.join("kernel/sched")).unwrap();
        let file = tree.join("kernel/sched/fair.c");
        fs::write(&file, "one").unwrap();
        assert_eq!(misdated(&tree, &begun).unwrap(), None, "there was no build");
        sleep(TICKS);
        fs::write(&begun, "").unwrap();
        assert_eq!(misdated(&tree, &begun).unwrap(), None);
        assert_eq!(changed(&tree, &begun).unwrap(), None);

        sleep(TICKS);
        fs::write(&file, "two").unwrap();
        assert_eq!(misdated(&tree, &begun).unwrap(), None, "make sees it");
        assert_eq!(changed(&tree, &begun).unwrap(), Some(file.clone()));

        let before = SystemTime::now() - Duration::from_secs(3600);
        let handle = File::options().write(true).open(&file).unwrap();
        handle.set_modified(before).unwrap();
        assert_eq!(misdated(&tree, &begun).unwrap(), Some(file));
        fs::write(tree.join(".git"), "").unwrap();
        fs::remove_file(tree.join("kernel/sched/fair.c")).unwrap();
        assert_eq!(
            changed(&tree, &begun).unwrap(),
            None,
            "hidden files do not count"
        );
    }
}
