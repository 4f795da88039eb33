//! One process at a time changes a store.

use std::fs::File;
use std::path::Path;

use crate::Error;
use crate::fault::io;

/// Waits until no other process has the lock of this directory, which is
/// created. The lock goes with the file that is returned. Temporary
/// directories that an earlier holder left behind are removed.
pub(crate) fn take(directory: &Path, progress: &mut dyn FnMut(&str)) -> Result<File, Error> {
    std::fs::create_dir_all(directory).map_err(|error| io("create", directory, &error))?;
    let path = directory.join(".lock");
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(|error| io("open", &path, &error))?;
    if file.try_lock().is_err() {
        progress("waiting for another assize that is storing something");
        file.lock().map_err(|error| io("lock", &path, &error))?;
    }
    for left in crate::fault::list(directory)? {
        let temporary = left
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b".tmp-"));
        if temporary && left.is_dir() {
            std::fs::remove_dir_all(&left).map_err(|error| io("remove", &left, &error))?;
        }
    }
    Ok(file)
}
