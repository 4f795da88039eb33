//! Temporary directories.
//!
//! A killed process leaves its directories behind; the next process removes them.

use std::fs;
use std::io;
use std::path::Path;

use tempfile::TempDir;

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
