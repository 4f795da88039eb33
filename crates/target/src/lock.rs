//! Locks a store, so that one process at a time changes it.

use std::fs::File;
use std::path::Path;

use crate::Error;
use crate::fault::{create, io, remove};

/// Waits for the lock of this directory, which is created if missing. Dropping the returned
/// file releases the lock. Temporary directories that an earlier holder left are removed.
pub(crate) fn take(directory: &Path, progress: &mut dyn FnMut(&str)) -> Result<File, Error> {
    create(directory)?;
    let path = directory.join(".lock");
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(|error| io("open", &path, &error))?;
    if file.try_lock().is_err() {
        progress("waiting for another assize that is writing to the cache");
        file.lock().map_err(|error| io("lock", &path, &error))?;
    }
    for left in crate::fault::list(directory)? {
        let temporary = left
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b".tmp-"));
        if temporary && left.is_dir() {
            crate::sandbox::remains::unlock(&left);
            remove(&left)?;
        }
    }
    Ok(file)
}
