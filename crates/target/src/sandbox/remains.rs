//! Checks the files that a build has left before any of them is used.
//!
//! Everything in the sandbox has ended by then, so nothing changes meanwhile.

use std::fs::{self, Metadata, Permissions};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::SandboxError;

/// The name in messages of a link that leads to none of the folders of a build.
pub(crate) const OUTWARD: &str = "a link out of its folder";
/// Bits of a mode that give a program the rights of its owner.
const SET_ID: u32 = 0o6000;
/// Bits that let the owner remove what is in a directory.
const OWN_DIRECTORY: u32 = 0o700;

/// Makes everything below a directory removable, whatever permissions a build has set.
pub(crate) fn unlock(directory: &Path) {
    // The result does not matter here.
    let _ = check(directory, &[]);
}

/// Takes the set-id bits from all files below a folder, and makes its directories removable.
///
/// # Errors
/// There is a link that leads to neither the folder nor one of `others`, a special file, or a
/// directory that cannot be read.
pub(crate) fn check(folder: &Path, others: &[PathBuf]) -> Result<(), SandboxError> {
    let mut allowed = vec![folder.to_path_buf()];
    allowed.extend(others.iter().cloned());
    allowed.retain_mut(|path| match fs::canonicalize(&*path) {
        Ok(real) => {
            *path = real;
            true
        }
        Err(_) => false,
    });
    if let Ok(data) = folder.symlink_metadata() {
        tame(folder, &data);
    }
    let mut found = Ok(());
    let mut open = vec![folder.to_path_buf()];
    while let Some(directory) = open.pop() {
        let Ok(entries) = fs::read_dir(&directory) else {
            found = Err(SandboxError::Left(
                directory,
                "a directory that cannot be read",
            ));
            continue;
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            let Ok(data) = path.symlink_metadata() else {
                continue;
            };
            tame(&path, &data);
            if data.is_dir() {
                open.push(path);
            } else if let Some(kind) = refused(&path, &data, &allowed) {
                found = Err(SandboxError::Left(path, kind));
            }
        }
    }
    found
}

/// Removes set-id bits from a file, and lets the owner remove what is in a directory.
fn tame(path: &Path, data: &Metadata) {
    let mode = data.permissions().mode();
    let wanted = match data.is_dir() {
        true => (mode & !SET_ID) | OWN_DIRECTORY,
        false => mode & !SET_ID,
    };
    if !data.is_symlink() && wanted != mode {
        // This fails only for files of other users, which cannot have come from the build.
        let _ = fs::set_permissions(path, Permissions::from_mode(wanted));
    }
}

fn refused(path: &Path, data: &Metadata, allowed: &[PathBuf]) -> Option<&'static str> {
    let kind = data.file_type();
    if kind.is_symlink() {
        // A dangling link is harmless.
        let real = fs::canonicalize(path).ok()?;
        let inside = allowed.iter().any(|folder| real.starts_with(folder));
        return (!inside).then_some(OUTWARD);
    }
    let special = kind.is_fifo() || kind.is_socket() || kind.is_block_device();
    (special || kind.is_char_device()).then_some("something that is not a file")
}
