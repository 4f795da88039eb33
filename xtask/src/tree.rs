//! The source tree: where it is and which files it has.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{Error, command, files};

/// The root of the workspace, from cargo's environment rather than the path at compile time, as
/// checkouts may share a target directory.
pub fn root() -> Result<PathBuf, Error> {
    let package = env::var_os("CARGO_MANIFEST_DIR")
        .ok_or("CARGO_MANIFEST_DIR: not set; start me as `cargo xtask`")?;
    Path::new(&package)
        .parent()
        .map(Path::to_path_buf)
        .ok_or_else(|| "CARGO_MANIFEST_DIR: has no parent".into())
}

/// Cargo's target directory.
pub fn target() -> Result<PathBuf, Error> {
    let root = root()?;
    Ok(match env::var_os("CARGO_TARGET_DIR") {
        Some(target) => root.join(target),
        None => root.join("target"),
    })
}

/// All files that git tracks or would track, as sorted paths relative to the root.
pub fn files() -> Result<Vec<String>, Error> {
    let listing = command::output(
        "git",
        &[
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ],
    )?;
    let root = root()?;
    let mut files: Vec<String> = listing
        .split('\0')
        .filter(|name| !name.is_empty() && root.join(name).is_file())
        .map(str::to_owned)
        .collect();
    files.sort();
    files.dedup();
    Ok(files)
}

/// A file of the tree as text; `None` if it is not UTF-8.
pub fn read(name: &str) -> Result<Option<String>, Error> {
    let bytes = fs::read(root()?.join(name)).map_err(|why| format!("{name}: {why}"))?;
    Ok(String::from_utf8(bytes).ok())
}

/// Reads any file as JSON.
pub fn json(path: &Path) -> Result<Value, Error> {
    let text = files::read(path)?;
    serde_json::from_str(&text).map_err(|why| format!("{}: {why}", path.display()))
}

/// The runs of a bundle, in the order of its plan.
pub fn runs(bundle: &Path) -> Result<Vec<Value>, Error> {
    let paths = files::entries(&bundle.join("runs"))?;
    paths.iter().map(|path| json(path)).collect()
}

/// Whether the file is data whose bytes must not change: posted texts, expected output,
/// full texts of licences, patches.
pub(crate) fn is_data(name: &str) -> bool {
    let in_tests = name.contains("/tests/") && !name.ends_with(".rs");
    in_tests
        || name.starts_with("LICENSES/")
        || (name.starts_with("qemu/") && name.ends_with(".patch"))
        || name == "Cargo.lock"
        || (name.starts_with("demo/") && !name.ends_with(".md"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn posted_texts_are_data_and_the_code_beside_them_is_not() {
        assert!(is_data("crates/audit/tests/data/mail.txt"));
        assert!(is_data("demo/dep-queue.txt"));
        assert!(is_data("qemu/patches/0001-build.patch"));
        assert!(!is_data("qemu/README.md"));
        assert!(!is_data("crates/audit/tests/mail.rs"));
        assert!(!is_data("README.md"));
    }

    #[test]
    fn the_tree_has_this_file() {
        let files = files().unwrap();
        assert!(files.iter().any(|name| name == "xtask/src/tree.rs"));
    }
}
