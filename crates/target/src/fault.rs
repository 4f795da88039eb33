//! Shorthands for constructing an [`Error`], and file operations that return it.

use std::path::Path;

use crate::Error;

/// An error because the work failed.
pub(crate) fn failed(what: impl Into<String>, why: impl std::fmt::Display) -> Error {
    Error {
        what: what.into(),
        why: why.to_string(),
        mend: None,
        wrong_use: false,
    }
}

/// An error because the request was wrong.
pub(crate) fn wrong(what: impl Into<String>, why: impl std::fmt::Display) -> Error {
    Error {
        wrong_use: true,
        ..failed(what, why)
    }
}

/// Adds the command or change that fixes the error.
pub(crate) fn mend(error: Error, mend: impl Into<String>) -> Error {
    Error {
        mend: Some(mend.into()),
        ..error
    }
}

/// The error for a failed file operation; a full disk gets its advice.
pub(crate) fn io(verb: &str, path: &Path, error: &std::io::Error) -> Error {
    let base = failed(format!("{verb} {}", path.display()), error);
    match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            mend(base, "free some space, or set ASSIZE_CACHE to another disk")
        }
        std::io::ErrorKind::PermissionDenied => mend(base, "check its owner and mode"),
        _ => base,
    }
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|error| io("read", path, &error))
}

pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), Error> {
    std::fs::write(path, bytes).map_err(|error| io("write", path, &error))
}

pub(crate) fn create(path: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(path).map_err(|error| io("create", path, &error))
}

pub(crate) fn remove(path: &Path) -> Result<(), Error> {
    std::fs::remove_dir_all(path).map_err(|error| io("remove", path, &error))
}

pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    std::fs::rename(from, to).map_err(|error| io("move", from, &error))
}

/// Lists a directory, sorted by name.
pub(crate) fn list(path: &Path) -> Result<Vec<std::path::PathBuf>, Error> {
    let entries = std::fs::read_dir(path).map_err(|error| io("list", path, &error))?;
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(|error| io("list", path, &error))?.path());
    }
    paths.sort();
    Ok(paths)
}

/// All regular files below a directory. Links are not followed, as they may lead back.
pub(crate) fn files_below(directory: &Path) -> Result<Vec<std::path::PathBuf>, Error> {
    let mut files = Vec::new();
    for path in list(directory)? {
        let kind = path.symlink_metadata();
        let kind = kind.map_err(|error| io("read", &path, &error))?;
        if kind.is_dir() {
            files.extend(files_below(&path)?);
        } else if kind.is_file() {
            files.push(path);
        }
    }
    Ok(files)
}
