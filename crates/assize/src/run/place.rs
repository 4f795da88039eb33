//! Chooses the directory of a new bundle.

use std::fs;
use std::path::{Path, PathBuf};

use assize_bundle::{Error, Writer};

use crate::failure::Failure;
use crate::shell;

/// The first file of a new bundle.
const HEAD: &str = "bundle.json";

/// `NAME.bundle` in the current directory for an experiment file `NAME.toml`, or the
/// first of `NAME-2.bundle`, `NAME-3.bundle`, … that does not exist yet.
pub(crate) fn free(experiment: &Path) -> PathBuf {
    free_with(experiment, "bundle")
}

/// Like [`free`], with another extension.
pub(crate) fn free_with(experiment: &Path, extension: &str) -> PathBuf {
    first_free(experiment, extension, |path| {
        fs::symlink_metadata(path).is_ok()
    })
}

fn first_free(experiment: &Path, extension: &str, is_there: impl Fn(&Path) -> bool) -> PathBuf {
    let stem = experiment.file_stem().unwrap_or_default();
    let named = |end: &str| {
        let mut name = stem.to_os_string();
        name.push(end);
        PathBuf::from(name)
    };
    let mut path = named(&format!(".{extension}"));
    let mut number = 2u32;
    while is_there(&path) {
        path = named(&format!("-{number}.{extension}"));
        number += 1;
    }
    path
}

/// Refuses a directory that is not empty. The remains of a bundle whose creation was killed do not
/// count.
pub(crate) fn must_be_free(directory: &Path) -> Result<(), Failure> {
    let refused = match Writer::may_create(directory) {
        Err(Error::NotEmpty(_)) => "the directory is not empty; name a new one",
        other => return Ok(other?),
    };
    let directory_name = directory.display();
    Err(Failure::Argument(match directory.join(HEAD).exists() {
        true => format!(
            "{directory_name}: {refused}, or continue it: assize run --resume {}",
            shell::quote(directory.as_os_str())
        ),
        false => format!("{directory_name}: {refused}"),
    }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_there_is_taken() {
        let free = |there: &[&str]| {
            first_free(Path::new("questions/latency.toml"), "bundle", |path| {
                there.contains(&path.to_str().unwrap())
            })
        };
        assert_eq!(free(&[]), Path::new("latency.bundle"));
        assert_eq!(free(&["latency.bundle"]), Path::new("latency-2.bundle"));
        let both = ["latency.bundle", "latency-2.bundle"];
        assert_eq!(free(&both), Path::new("latency-3.bundle"));
    }

    #[test]
    fn a_directory_with_something_in_it_is_refused() {
        let place = tempfile::tempdir().unwrap();
        assert!(must_be_free(place.path()).is_ok());
        assert!(must_be_free(&place.path().join("new")).is_ok());
        fs::write(place.path().join("x"), "").unwrap();
        let refused = |wanted: bool| {
            let why = must_be_free(place.path()).unwrap_err().to_string();
            assert_eq!(why.contains("--resume"), wanted, "{why}");
        };
        refused(false);
        fs::write(place.path().join(HEAD), "").unwrap();
        refused(true);
    }

    #[test]
    fn what_a_beginning_that_was_killed_left_is_free() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("lock"), "").unwrap();
        assert!(must_be_free(place.path()).is_ok());
    }
}
