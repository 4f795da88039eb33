//! Files that last as long as a workload.

use std::fs;
use std::path::{Path, PathBuf};

/// A directory that vanishes with this.
#[derive(Debug)]
pub(super) struct Directory(PathBuf);

impl Directory {
    /// A new one.
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

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // Left behind, it does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}
