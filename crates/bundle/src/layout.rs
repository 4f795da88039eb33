//! The files of a bundle: their names, and how they are read.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::error::Error;
use crate::whole;

/// The schema of `bundle.json`.
pub const SCHEMA: &str = "assize.bundle/1";

/// The directories of the files of runs.
pub(crate) const FOLDERS: [&str; 3] = ["runs", "samples", "raw"];

/// The head, without which a directory is no bundle.
pub(crate) const HEAD: &str = "bundle.json";

/// The path of the head.
pub(crate) fn head_path(directory: &Path) -> PathBuf {
    directory.join(HEAD)
}

/// The path of a run's file.
pub(crate) fn run_path(directory: &Path, index: u32) -> PathBuf {
    directory.join("runs").join(format!("{index:04}.json"))
}

/// The path of a run's samples.
pub(crate) fn samples_path(directory: &Path, index: u32) -> PathBuf {
    directory
        .join("samples")
        .join(format!("{index:04}.parquet"))
}

/// The path of a raw output: always in `raw/`, whatever path a record claims.
pub(crate) fn raw_path(directory: &Path, name: &str) -> PathBuf {
    let name = Path::new(name).file_name().unwrap_or_default();
    directory.join("raw").join(name)
}

/// The indices of the runs that a bundle holds.
pub(crate) fn recorded(directory: &Path) -> Result<BTreeSet<u32>, Error> {
    let names = whole::names(&directory.join("runs"))?;
    Ok(names
        .iter()
        .filter_map(|name| name.strip_suffix(".json")?.parse().ok())
        .collect())
}

/// Whether a bundle is one of runs, rather than of results read from a text.
pub(crate) fn has_schedule(directory: &Path) -> Result<bool, Error> {
    let path = head_path(directory);
    let head: Value = get(&path)?;
    check_schema(&path, &head, SCHEMA)?;
    Ok(head.get("head").is_some())
}

/// Rejects a file of another schema.
pub(crate) fn check_schema(path: &Path, value: &Value, known: &str) -> Result<(), Error> {
    let found = value.get("schema").and_then(Value::as_str);
    if found == Some(known) {
        return Ok(());
    }
    Err(Error::Schema {
        path: path.to_path_buf(),
        found: found.unwrap_or("none").to_owned(),
        known: known.to_owned(),
    })
}

/// Reads a JSON file.
pub(crate) fn get<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, Error> {
    let text = fs::read(path).map_err(Error::io(path))?;
    serde_json::from_slice(&text).map_err(Error::malformed(path))
}
