//! Keeps what is stored from growing for ever.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What was used within this time stays, however much there is: somebody may
/// be using it now.
const YOUNG: Duration = Duration::from_secs(3600);

/// Notes that a file or directory was used.
pub(crate) fn touch(path: &Path) {
    // One that cannot be noted is removed earlier than need be, no more.
    if let Ok(file) = File::open(path) {
        let _ = file.set_modified(SystemTime::now());
    }
}

/// Removes entries of a directory, those first that were not used for
/// longest, until the others take no more than `most` bytes on disk.
pub(crate) fn prune(directory: &Path, most: u64) {
    prune_some(directory, most, &|_| true);
}

/// The same of entries with such names; others are not counted either.
pub(crate) fn prune_some(directory: &Path, most: u64, which: &dyn Fn(&str) -> bool) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    let mut all: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        if !entry.file_name().to_str().is_some_and(which) {
            continue;
        }
        if let Ok(used) = entry.metadata().and_then(|about| about.modified()) {
            all.push((used, bytes(&path), path));
        }
    }
    all.sort();
    let mut total: u64 = all.iter().map(|(_, bytes, _)| bytes).sum();
    for (used, bytes, path) in all {
        let young = used.elapsed().is_ok_and(|age| age < YOUNG);
        if total <= most || young {
            break;
        }
        let removed = if path.is_dir() {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
        if removed.is_ok() {
            total -= bytes;
        }
    }
}

/// Bytes on disk: a memory image has holes.
fn bytes(path: &Path) -> u64 {
    let Ok(about) = fs::symlink_metadata(path) else {
        return 0;
    };
    let inside = fs::read_dir(path).map_or(0, |entries| {
        entries.flatten().map(|entry| bytes(&entry.path())).sum()
    });
    about.blocks() * 512 + if about.is_dir() { inside } else { 0 }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail.
    use super::*;

    fn file(directory: &Path, name: &str, hours: u64) {
        fs::write(directory.join(name), vec![1; 100_000]).unwrap();
        let file = File::open(directory.join(name)).unwrap();
        let used = SystemTime::now() - Duration::from_secs(3600 * hours);
        file.set_modified(used).unwrap();
    }

    fn left(directory: &Path) -> Vec<String> {
        let names = fs::read_dir(directory).unwrap();
        let mut names: Vec<String> = names
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        let place = tempfile::tempdir().unwrap();
        for (name, hours) in [("a", 5), ("b", 9), ("c", 7)] {
            file(place.path(), name, hours);
        }
        prune(place.path(), 250_000);
        assert_eq!(left(place.path()), ["a", "c"]);
        prune(place.path(), 250_000);
        assert_eq!(left(place.path()), ["a", "c"]);
    }

    #[test]
    fn what_was_just_used_stays() {
        let place = tempfile::tempdir().unwrap();
        for (name, hours) in [("a", 0), ("b", 9)] {
            file(place.path(), name, hours);
        }
        fs::create_dir(place.path().join("c")).unwrap();
        touch(&place.path().join("b"));
        prune(place.path(), 0);
        assert_eq!(left(place.path()), ["a", "b", "c"]);
    }
}
