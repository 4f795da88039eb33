//! The headers that modules are built from: parts of the sources and of the build output in
//! one tree, like the kernel's own header packages.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::fault::{create, io, list};
use crate::kernels::add::copy;
use crate::sandbox::SandboxError;
use crate::sandbox::remains::OUTWARD;

/// Files and directories to copy from the sources.
const SOURCES: &[&str] = &["Makefile", "include", "scripts", "arch/x86/include"];
/// A directory of the sources, and the prefix of the files to copy from it.
const MAKEFILES: (&str, &str) = ("arch/x86", "Makefile");
/// Files and directories to copy from the build output. Older kernels do not have all of
/// them.
const OBJECTS: &[&str] = &[
    ".config",
    "Module.symvers",
    "include/config/auto.conf",
    "include/config/kernel.release",
    "include/generated",
    "arch/x86/include/generated",
    "arch/x86/module.lds",
    "scripts",
    "tools/objtool/objtool",
];

/// Copies the headers of a kernel to a new directory.
///
/// # Errors
/// A link of the sources leads out of them.
pub(super) fn keep(what: &str, tree: &Path, objects: &Path, to: &Path) -> Result<(), Error> {
    let real = |path: &Path| fs::canonicalize(path).map_err(|error| io("find", path, &error));
    let roots = [real(tree)?, real(objects)?];
    let take = |from: &Path, to: &Path| take(from, to, &|path| within(what, path, &roots));
    for part in SOURCES {
        take(&tree.join(part), &to.join(part))?;
    }
    let (directory, start) = MAKEFILES;
    for path in list(&tree.join(directory))? {
        let name = path.file_name().unwrap_or_default();
        if path.is_file() && name.as_encoded_bytes().starts_with(start.as_bytes()) {
            take(&path, &to.join(directory).join(name))?;
        }
    }
    for part in OBJECTS {
        let from = objects.join(part);
        if from.exists() {
            take(&from, &to.join(part))?;
        }
    }
    Ok(())
}

/// Copies a file, or a directory without objects and make's command files. A link to a
/// directory is left out: in `scripts` it leads to device trees.
fn take(from: &Path, to: &Path, within: &dyn Fn(&Path) -> Result<(), Error>) -> Result<(), Error> {
    if from.is_symlink() {
        if from.is_dir() {
            return Ok(());
        }
        within(from)?;
    }
    if from.is_dir() {
        create(to)?;
        for path in list(from)? {
            if let Some(name) = path
                .file_name()
                .filter(|name| !is_by_product(name.as_encoded_bytes()))
            {
                take(&path, &to.join(name), within)?;
            }
        }
        return Ok(());
    }
    if let Some(parent) = to.parent() {
        create(parent)?;
    }
    // No build reads a dangling link of the sources.
    if from.exists() {
        copy(from, to)
    } else {
        Ok(())
    }
}

/// Fails for a link that leads to none of these directories.
fn within(what: &str, link: &Path, roots: &[PathBuf]) -> Result<(), Error> {
    match fs::canonicalize(link) {
        Ok(real) if !roots.iter().any(|root| real.starts_with(root)) => {
            Err(SandboxError::Left(link.to_owned(), OUTWARD).into_error(what))
        }
        _ => Ok(()),
    }
}

fn is_by_product(name: &[u8]) -> bool {
    name.ends_with(b".o") || name.ends_with(b".cmd") || name.ends_with(b".d")
}
