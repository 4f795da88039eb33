//! Stores records in a directory.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::head::StoredHead;
use crate::layout::{SCHEMA, get, has_schedule, head_path};
use crate::whole::{self, IfExists};
use crate::{Error, Records, Run, schedule};

#[derive(Serialize, Deserialize)]
struct StoredRecords {
    schema: String,
    #[serde(flatten)]
    records: Records,
}

/// Writes records as a bundle into a directory that is new or empty.
///
/// Every file appears complete or not at all: it is written to a temporary file
/// in the same directory, flushed to disk and renamed. `bundle.json` is written
/// last, so a directory without it is not a bundle.
///
/// # Errors
/// [`Error::NotEmpty`], or [`Error::Io`] naming the file.
pub fn write(directory: &Path, records: &Records) -> Result<(), Error> {
    let runs = directory.join("runs");
    whole::create_folder(directory)?;
    if !whole::names(directory)?.is_empty() {
        return Err(Error::NotEmpty(directory.to_path_buf()));
    }
    whole::create_folder(&runs)?;
    for (at, run) in records.runs.iter().enumerate() {
        let path = runs.join(format!("{:04}.json", at + 1));
        whole::put_json(&path, run, IfExists::Refuse)?;
    }
    let head = StoredRecords {
        schema: SCHEMA.to_string(),
        records: Records {
            runs: Vec::new(),
            ..records.clone()
        },
    };
    whole::put_json(&head_path(directory), &head, IfExists::Refuse)
}

/// Reads a bundle of runs, or of results read from a text.
///
/// A bundle of runs need not be complete: missing runs give a doubt with the
/// code `incomplete`. Failed runs are in [`Records::failures`].
///
/// # Errors
/// [`Error::Io`], [`Error::Malformed`] or [`Error::Schema`], naming the file.
pub fn read(directory: &Path) -> Result<Records, Error> {
    let path = head_path(directory);
    if has_schedule(directory)? {
        return schedule::read(directory, get::<StoredHead>(&path)?);
    }
    let mut records = get::<StoredRecords>(&path)?.records;
    let runs = directory.join("runs");
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(&runs).map_err(Error::io(&runs))? {
        files.push(entry.map_err(Error::io(&runs))?.path());
    }
    files.retain(|path| path.extension().is_some_and(|end| end == "json"));
    files.sort();
    for path in files {
        records.runs.push(get::<Run>(&path)?);
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Measurement;

    fn records() -> Records {
        let mut run = Run::new("base", "pipe", 1);
        run.metrics
            .insert("time".into(), Measurement::new(1.25, "s"));
        run.metrics
            .insert("cycles".into(), Measurement::new(9_140_249_815.0, ""));
        Records {
            source: "test".into(),
            runs: vec![run; 3],
            ..Records::default()
        }
    }

    #[test]
    fn a_bundle_reads_back_as_it_was_written() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("out");
        write(&directory, &records()).unwrap();
        assert_eq!(read(&directory).unwrap(), records());
        assert!(directory.join("runs/0003.json").exists());
    }

    #[test]
    fn nothing_is_overwritten() {
        let place = tempfile::tempdir().unwrap();
        write(place.path(), &records()).unwrap();
        assert!(matches!(
            write(place.path(), &records()),
            Err(Error::NotEmpty(_))
        ));
    }

    #[test]
    fn damage_is_named_with_file_and_line() {
        let place = tempfile::tempdir().unwrap();
        write(place.path(), &records()).unwrap();
        fs::write(
            place.path().join("runs/0002.json"),
            "{\n  \"configuration\": 3\n}",
        )
        .unwrap();
        let text = read(place.path()).unwrap_err().to_string();
        assert!(
            text.contains("0002.json") && text.contains("line 2"),
            "{text}"
        );
        fs::write(
            place.path().join("bundle.json"),
            "{\"schema\": \"assize.bundle/9\"}",
        )
        .unwrap();
        assert!(matches!(read(place.path()), Err(Error::Schema { .. })));
    }
}
