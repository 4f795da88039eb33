//! Records in a directory.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{Records, Run};

/// The schema of `bundle.json`.
pub const SCHEMA: &str = "assize.bundle/1";

/// Why a bundle could not be written or read.
#[derive(Debug)]
pub enum Error {
    /// The operating system refused.
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// The directory holds something already; nothing is ever overwritten.
    NotEmpty(PathBuf),
    /// A file is not what it should be.
    Malformed {
        /// The file.
        path: PathBuf,
        /// Line and column and what is wrong there.
        source: serde_json::Error,
    },
    /// A bundle of a schema that this version does not know.
    Schema {
        /// The file.
        path: PathBuf,
        /// The schema it names.
        found: String,
    },
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Io { path, source } => write!(f, "{}: {source}", path.display()),
            Error::NotEmpty(path) => {
                write!(
                    f,
                    "{}: the directory is not empty; name a new one",
                    path.display()
                )
            }
            Error::Malformed { path, source } => write!(f, "{}: {source}", path.display()),
            Error::Schema { path, found } => {
                write!(
                    f,
                    "{}: schema '{found}' is not known; this version reads '{SCHEMA}'",
                    path.display()
                )
            }
        }
    }
}

impl std::error::Error for Error {}

#[derive(Serialize, Deserialize)]
struct Head {
    schema: String,
    #[serde(flatten)]
    records: Records,
}

/// Writes records as a bundle into a directory that is new or empty.
///
/// Every file appears whole or not at all: it is written beside its place,
/// flushed to disk and renamed. `bundle.json` comes last, so a directory
/// without it is no bundle.
///
/// # Errors
/// [`Error::NotEmpty`], or [`Error::Io`] naming the file.
pub fn write(directory: &Path, records: &Records) -> Result<(), Error> {
    let io = |path: &Path| {
        let path = path.to_path_buf();
        move |source| Error::Io { path, source }
    };
    let runs = directory.join("runs");
    fs::create_dir_all(directory).map_err(io(directory))?;
    if fs::read_dir(directory)
        .map_err(io(directory))?
        .next()
        .is_some()
    {
        return Err(Error::NotEmpty(directory.to_path_buf()));
    }
    fs::create_dir(&runs).map_err(io(&runs))?;
    for (at, run) in records.runs.iter().enumerate() {
        put(&runs.join(format!("{:04}.json", at + 1)), run)?;
    }
    let head = Head {
        schema: SCHEMA.to_string(),
        records: Records {
            runs: Vec::new(),
            ..records.clone()
        },
    };
    put(&directory.join("bundle.json"), &head)
}

fn put<T: Serialize>(path: &Path, value: &T) -> Result<(), Error> {
    let io = |source| Error::Io {
        path: path.to_path_buf(),
        source,
    };
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(directory).map_err(io)?;
    let mut text = serde_json::to_vec_pretty(value).map_err(|source| Error::Malformed {
        path: path.to_path_buf(),
        source,
    })?;
    text.push(b'\n');
    file.write_all(&text).map_err(io)?;
    file.as_file().sync_all().map_err(io)?;
    file.persist_noclobber(path)
        .map_err(|error| io(error.error))?;
    File::open(directory)
        .and_then(|directory| directory.sync_all())
        .map_err(io)
}

/// Reads a bundle.
///
/// # Errors
/// [`Error::Io`], [`Error::Malformed`] or [`Error::Schema`], naming the file.
pub fn read(directory: &Path) -> Result<Records, Error> {
    let path = directory.join("bundle.json");
    let head: serde_json::Value = get(&path)?;
    let found = head
        .get("schema")
        .and_then(|schema| schema.as_str())
        .unwrap_or("none");
    if found != SCHEMA {
        return Err(Error::Schema {
            path,
            found: found.to_string(),
        });
    }
    let head: Head = get(&path)?;
    let mut records = head.records;
    let runs = directory.join("runs");
    let io = |source| Error::Io {
        path: runs.clone(),
        source,
    };
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(&runs).map_err(io)? {
        files.push(entry.map_err(io)?.path());
    }
    files.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    files.sort();
    for path in files {
        records.runs.push(get::<Run>(&path)?);
    }
    Ok(records)
}

fn get<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, Error> {
    let text = fs::read(path).map_err(|source| Error::Io {
        path: path.to_path_buf(),
        source,
    })?;
    serde_json::from_slice(&text).map_err(|source| Error::Malformed {
        path: path.to_path_buf(),
        source,
    })
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
