//! Which directory a new bundle gets.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::shell;

/// `NAME.bundle` in this directory for an experiment file `NAME.toml`, or
/// the first of `NAME.bundle-2`, `NAME.bundle-3`, … that is not there yet.
pub(crate) fn free(experiment: &Path) -> PathBuf {
    first_free(experiment, |path| fs::symlink_metadata(path).is_ok())
}

fn first_free(experiment: &Path, is_there: impl Fn(&Path) -> bool) -> PathBuf {
    let stem = experiment.file_stem().unwrap_or_default();
    let mut name = stem.to_os_string();
    name.push(".bundle");
    let mut path = PathBuf::from(&name);
    let mut number = 2u32;
    while is_there(&path) {
        let mut numbered = name.clone();
        numbered.push(format!("-{number}"));
        path = PathBuf::from(numbered);
        number += 1;
    }
    path
}

/// Refuses a directory that holds something, before any work is done.
pub(crate) fn must_be_free(directory: &Path) -> Result<(), Failure> {
    match fs::read_dir(directory).map(|mut entries| entries.next().is_some()) {
        Ok(true) => Err(Failure::Argument(format!(
            "{}: the directory is not empty; name a new one, or continue it: assize run --resume {}",
            directory.display(),
            shell::quote(directory.as_os_str())
        ))),
        Ok(false) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(Failure::Read {
            path: directory.to_path_buf(),
            source,
        }),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_there_is_taken() {
        let free = |there: &[&str]| {
            first_free(Path::new("questions/latency.toml"), |path| {
                there.contains(&path.to_str().unwrap())
            })
        };
        assert_eq!(free(&[]), Path::new("latency.bundle"));
        assert_eq!(free(&["latency.bundle"]), Path::new("latency.bundle-2"));
        let both = ["latency.bundle", "latency.bundle-2"];
        assert_eq!(free(&both), Path::new("latency.bundle-3"));
    }

    #[test]
    fn a_directory_with_something_in_it_is_refused() {
        let place = tempfile::tempdir().unwrap();
        assert!(must_be_free(place.path()).is_ok());
        assert!(must_be_free(&place.path().join("new")).is_ok());
        fs::write(place.path().join("x"), "").unwrap();
        assert!(must_be_free(place.path()).is_err());
    }
}
