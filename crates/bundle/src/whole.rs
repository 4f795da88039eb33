//! Writes files that appear complete or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use crate::Error;

/// The prefix of the names of files that are being written.
pub(crate) const UNFINISHED: &str = ".part-";

/// What to do if the file already exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IfExists {
    /// Replace it: it is a leftover from an interrupted write.
    Replace,
    /// Return an error.
    Refuse,
}

/// Writes to a temporary file in the same directory, flushes to disk and
/// renames.
pub(crate) fn put(path: &Path, bytes: &[u8], there: IfExists) -> Result<(), Error> {
    write_and_persist(path, bytes, there).map_err(Error::io(path))
}

/// Writes a value as a JSON file, as [`put`] does.
pub(crate) fn put_json<T: Serialize>(path: &Path, value: &T, there: IfExists) -> Result<(), Error> {
    put(path, &text(path, value)?, there)
}

fn write_and_persist(path: &Path, bytes: &[u8], there: IfExists) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .permissions(readable())
        .tempfile_in(directory)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    match there {
        IfExists::Replace => file.persist(path).map_err(|error| error.error)?,
        IfExists::Refuse => file.persist_noclobber(path).map_err(|error| error.error)?,
    };
    File::open(directory)?.sync_all()
}

/// Read permission for everyone, as far as the umask allows it, because bundles
/// are shared.
fn readable() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    fs::Permissions::from_mode(0o666)
}

/// Formats a value as the text of a JSON file.
pub(crate) fn text<T: Serialize>(path: &Path, value: &T) -> Result<Vec<u8>, Error> {
    let mut text = serde_json::to_vec_pretty(value).map_err(Error::malformed(path))?;
    text.push(b'\n');
    Ok(text)
}

/// The names in a directory, sorted; empty if it does not exist.
pub(crate) fn names(directory: &Path) -> Result<Vec<String>, Error> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io(directory)(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(Error::io(directory))?.file_name();
        names.push(name.to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Creates a directory and those above it; they may exist.
pub(crate) fn create_folder(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(Error::io(path))
}

/// Removes a file; it need not exist.
pub(crate) fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(path)(error)),
        _ => Ok(()),
    }
}
