//! Removes old entries from stores, so that they do not grow without limit.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, flock};

/// Bytes of the disk to leave free for others.
const FREE: u64 = 1 << 30;
/// Entries used within this time stay, however many there are: somebody may be using them
/// now.
const YOUNG: Duration = Duration::from_secs(3600);

/// Records that a file or directory was used.
pub(crate) fn touch(path: &Path) {
    // If this fails, it is merely removed earlier.
    if let Ok(file) = File::open(path) {
        let _ = file.set_modified(SystemTime::now());
    }
}

/// Removes the least recently used entries of a directory until the rest take no more than `most`
/// bytes on disk, or are all younger than [`YOUNG`].
pub(crate) fn prune(directory: &Path, most: u64) {
    prune_some(directory, most, &|_| true);
}

/// Prunes directories whose users lock them with [`in_use`]. If less than [`FREE`] is left
/// on the disk, unlocked ones are removed however young they are.
pub(crate) fn make_room(directory: &Path, most: u64) {
    prune(directory, most);
    let missing = FREE.saturating_sub(free(directory));
    if missing > 0 {
        remove_unused(directory, missing);
    }
}

/// Removes unlocked directories until `missing` bytes are freed.
fn remove_unused(directory: &Path, missing: u64) {
    let mut made = 0;
    for (_, bytes, path) in entries(directory, &|_| true) {
        if made >= missing {
            break;
        }
        let Ok(entry) = File::open(&path) else {
            continue;
        };
        let unused = flock(&entry, FlockOperation::NonBlockingLockExclusive).is_ok();
        if path.is_dir() && unused && fs::remove_dir_all(&path).is_ok() {
            made += bytes;
        }
    }
}

/// Keeps [`make_room`] from removing a directory until the result is dropped.
pub(crate) fn in_use(directory: &Path) -> Option<File> {
    let entry = File::open(directory).ok()?;
    flock(&entry, FlockOperation::LockShared).ok()?;
    Some(entry)
}

/// Bytes available on the disk of a directory; the maximum if the system does not say.
fn free(directory: &Path) -> u64 {
    rustix::fs::statvfs(directory).map_or(u64::MAX, |about| about.f_bavail * about.f_frsize)
}

/// Like [`prune`], for entries whose names pass `which`; others are not counted.
pub(crate) fn prune_some(directory: &Path, most: u64, which: &dyn Fn(&str) -> bool) {
    let all = entries(directory, which);
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

/// Last use, size and path of the entries whose names pass `which`, least recently used
/// first.
fn entries(directory: &Path, which: &dyn Fn(&str) -> bool) -> Vec<(SystemTime, u64, PathBuf)> {
    let mut all = Vec::new();
    let Ok(entries) = fs::read_dir(directory) else {
        return all;
    };
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
    all
}

/// Bytes allocated on disk: memory images are sparse.
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

    fn names_left(directory: &Path) -> Vec<String> {
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
        assert_eq!(names_left(place.path()), ["a", "c"]);
        prune(place.path(), 250_000);
        assert_eq!(names_left(place.path()), ["a", "c"]);
    }

    #[test]
    fn where_space_is_short_what_is_in_use_stays() {
        let place = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            fs::create_dir(place.path().join(name)).unwrap();
            file(&place.path().join(name), "ram", 0);
        }
        file(place.path(), "a.lock", 9);
        let used = in_use(&place.path().join("b"));
        remove_unused(place.path(), 0);
        assert_eq!(names_left(place.path()), ["a", "a.lock", "b", "c"]);
        remove_unused(place.path(), 50_000);
        assert_eq!(names_left(place.path()).len(), 3);
        remove_unused(place.path(), u64::MAX);
        assert_eq!(names_left(place.path()), ["a.lock", "b"]);
        drop(used);
        remove_unused(place.path(), u64::MAX);
        assert_eq!(names_left(place.path()), ["a.lock"]);
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
        assert_eq!(names_left(place.path()), ["a", "b", "c"]);
    }
}
