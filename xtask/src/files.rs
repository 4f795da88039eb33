//! Files and directories, with errors that name them.

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{Error, tree};

/// Names the path in an error.
pub fn fault<E: Display>(path: &Path) -> impl Fn(E) -> Error + '_ {
    move |why| format!("{}: {why}", path.display())
}

/// The text of a file.
pub fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(fault(path))
}

/// Writes a file, creating its directory if necessary.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), Error> {
    path.parent().map_or(Ok(()), create)?;
    fs::write(path, bytes).map_err(fault(path))
}

/// Copies a file, creating the directory of the copy if necessary.
pub fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    to.parent().map_or(Ok(()), create)?;
    let copied = fs::copy(from, to);
    copied.map_err(|why| format!("{} to {}: {why}", from.display(), to.display()))?;
    Ok(())
}

/// Creates a directory unless it exists.
pub fn create(directory: &Path) -> Result<(), Error> {
    fs::create_dir_all(directory).map_err(fault(directory))
}

/// Removes a directory if it exists.
pub fn remove(directory: &Path) -> Result<(), Error> {
    match directory.exists() {
        true => fs::remove_dir_all(directory).map_err(fault(directory)),
        false => Ok(()),
    }
}

/// An empty directory of that name below cargo's target directory.
pub fn scratch(name: &str) -> Result<PathBuf, Error> {
    let place = tree::target()?.join(name);
    remove(&place)?;
    create(&place)?;
    Ok(place)
}

/// The entries of a directory, sorted.
pub fn entries(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let fault = fault(directory);
    let entries = fs::read_dir(directory).map_err(&fault)?;
    let paths = entries.map(|entry| Ok(entry.map_err(&fault)?.path()));
    let mut paths = paths.collect::<Result<Vec<PathBuf>, Error>>()?;
    paths.sort();
    Ok(paths)
}

/// All files below a directory.
pub fn below(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for path in entries(directory)? {
        match path.is_dir() {
            true => files.extend(below(&path)?),
            false => files.push(path),
        }
    }
    Ok(files)
}
