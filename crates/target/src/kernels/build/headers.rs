//! What modules are built from: a part of the sources and a part of what was built,
//! laid out as one tree, as Linux' own packages of headers are.

use std::fs;
use std::path::Path;

use crate::Error;
use crate::fault::{io, list};
use crate::kernels::add::copy;

/// Of the sources: files and directories.
const SOURCES: &[&str] = &["Makefile", "include", "scripts", "arch/x86/include"];
/// Directory of the sources of which only files of these beginnings are taken.
const MAKEFILES: (&str, &str) = ("arch/x86", "Makefile");
/// Of what was built. Older kernels do not have all of it.
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
pub(super) fn keep(tree: &Path, objects: &Path, to: &Path) -> Result<(), Error> {
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

/// Copies a file, or a directory without objects and what make notes of them. A link
/// to a directory is left out: among the scripts it leads to device trees.
fn take(from: &Path, to: &Path) -> Result<(), Error> {
    if from.is_symlink() && from.is_dir() {
        return Ok(());
    }
    if from.is_dir() {
        fs::create_dir_all(to).map_err(|error| io("create", to, &error))?;
        for path in list(from)? {
            if let Some(name) = path
                .file_name()
                .filter(|name| !is_by_product(name.as_encoded_bytes()))
            {
                take(&path, &to.join(name))?;
            }
        }
        return Ok(());
    }
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(|error| io("create", parent, &error))?;
    }
    // A link of the sources to nothing is none that a build reads.
    if from.exists() {
        copy(from, to)
    } else {
        Ok(())
    }
}

fn is_by_product(name: &[u8]) -> bool {
    name.ends_with(b".o") || name.ends_with(b".cmd") || name.ends_with(b".d")
}
