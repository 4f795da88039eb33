//! The files of a bundle: their names, and how they are read.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::Error;
use crate::whole;

/// The schema of `bundle.json`.
pub const SCHEMA: &str = "assize.bundle/1";

/// The path of the head, without which a directory is no bundle.
pub(crate) fn head_path(directory: &Path) -> PathBuf {
    directory.join("bundle.json")
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

/// The indices of the runs that a bundle holds.
pub(crate) fn recorded(directory: &Path) -> Result<BTreeSet<u32>, Error> {
    let names = whole::names(&directory.join("runs"))?;
    Ok(names
        .iter()
        .filter_map(|name| name.strip_suffix(".json")?.parse().ok())
        .collect())
}

/// Rejects a schema that this version does not know.
pub(crate) fn known_schema(path: &Path, head: &serde_json::Value) -> Result<(), Error> {
    let found = head.get("schema").and_then(|schema| schema.as_str());
    if found == Some(SCHEMA) {
        return Ok(());
    }
    Err(Error::Schema {
        path: path.to_path_buf(),
        found: found.unwrap_or("none").to_string(),
        known: SCHEMA.to_string(),
    })
}

/// Reads a JSON file.
pub(crate) fn get<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, Error> {
    let text = fs::read(path).map_err(Error::io(path))?;
    serde_json::from_slice(&text).map_err(|source| Error::Malformed {
        path: path.to_path_buf(),
        source,
    })
}
