//! Temporary files that last as long as a workload.

use std::fs;
use std::path::{Path, PathBuf};

/// A directory that is removed on drop.
#[derive(Debug)]
pub(super) struct Directory(PathBuf);

impl Directory {
    /// Creates a directory.
    pub(super) fn new() -> std::io::Result<Directory> {
        let base = std::env::temp_dir();
        let id = std::process::id();
        for number in 0.. {
            let path = base.join(format!("assize-{id}-{number}"));
            match fs::create_dir(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                done => return done.map(|()| Directory(path)),
            }
        }
        Err(std::io::ErrorKind::AlreadyExists.into())
    }

    /// Its path.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // If this fails, the directory does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}
