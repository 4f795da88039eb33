//! Errors of bundles.

use std::io;
use std::path::{Path, PathBuf};

use crate::difference::FirstDifference;
use crate::layout::{FOLDERS, HEAD};

/// Why a bundle could not be written, read or merged.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system returned an error.
    #[error("{}", system_error(path, source))]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// The directory is not empty; nothing is ever overwritten.
    #[error("{}: the directory is not empty; name a new one", .0.display())]
    NotEmpty(PathBuf),
    /// A file is malformed.
    #[error("{}: {source}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, the column and what is wrong there.
        source: serde_json::Error,
    },
    /// A file of samples is malformed.
    #[error("{}: {why}", path.display())]
    Samples {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A file has a schema that this version does not know.
    #[error(
        "{}: schema '{found}' is not known; this version reads '{known}'",
        path.display()
    )]
    Schema {
        /// The file.
        path: PathBuf,
        /// The schema it names.
        found: String,
        /// The schema that this version reads.
        known: String,
    },
    /// The bundle has no schedule, so it cannot be resumed.
    #[error(
        "{}: holds results that were read, not a schedule of runs; `assize compare` judges it",
        .0.display()
    )]
    NoSchedule(PathBuf),
    /// Another process is writing the bundle.
    #[error("{}: another process is writing this bundle; wait for it to end", .0.display())]
    Busy(PathBuf),
    /// The run is already recorded. It is never written twice.
    #[error("{}: run {index} is recorded already and is not overwritten", path.display())]
    AlreadyRecorded {
        /// Its file.
        path: PathBuf,
        /// Its index in the schedule.
        index: u32,
    },
    /// The run is not in the schedule.
    #[error(
        "{}: run {index}: the schedule has {planned} runs, counted from 0",
        path.display()
    )]
    NotPlanned {
        /// The bundle.
        path: PathBuf,
        /// The index given.
        index: u32,
        /// The number of runs in the schedule.
        planned: u32,
    },
    /// The bundle was created for something else.
    #[error(
        "{}: {}: {} in the bundle, {} now; continue with the original, or name a new directory",
        path.display(),
        difference.field,
        difference.first,
        difference.second
    )]
    Differs {
        /// The file.
        path: PathBuf,
        /// The difference: first what the bundle holds, then what was given.
        difference: Box<FirstDifference>,
    },
    /// Two bundles hold different results of one run.
    #[error(
        "{}: run {index}: {}: {} here, {} in {}; {}",
        path.display(),
        difference.field,
        difference.second,
        difference.first,
        other.display(),
        why_conflict(*exact)
    )]
    Conflict {
        /// The file of the second.
        path: PathBuf,
        /// The file of the first.
        other: PathBuf,
        /// Its index in the schedule.
        index: u32,
        /// The first difference.
        difference: Box<FirstDifference>,
        /// Whether the target is exact, which should make this impossible.
        exact: bool,
    },
    /// Two bundles cannot be judged together.
    #[error(
        "{}: {}: {} here, {} in {}; they cannot be judged together: merge bundles of one \
         experiment",
        path.display(),
        difference.field,
        difference.second,
        difference.first,
        other.display()
    )]
    Incomparable {
        /// The second bundle.
        path: PathBuf,
        /// The first bundle.
        other: PathBuf,
        /// The first difference.
        difference: Box<FirstDifference>,
    },
    /// Two bundles have a metric in different units.
    #[error(
        "{}: units differ: metric '{metric}' is in '{}' here, in '{}' in {}; measure both with the \
         same version of the instrument",
        path.display(),
        units[0],
        units[1],
        other.display()
    )]
    Unit {
        /// The second bundle.
        path: PathBuf,
        /// The first bundle.
        other: PathBuf,
        /// The metric.
        metric: String,
        /// Its unit in the second bundle, and in the first.
        units: [String; 2],
    },
    /// Two bundles hold runs of the same machine.
    #[error(
        "{}: holds runs of the machine '{machine}', and so does {}; each machine counts once: \
         leave one out",
        path.display(),
        other.display()
    )]
    Twice {
        /// The second bundle.
        path: PathBuf,
        /// The first bundle.
        other: PathBuf,
        /// The machine.
        machine: String,
    },
    /// There is nothing to merge.
    #[error("no bundle to merge; name one or more")]
    Nothing,
}

impl Error {
    /// Wraps an operating system error with its path.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Error + use<> {
        let path = path.to_path_buf();
        move |source| Error::Io { path, source }
    }

    /// Wraps an error in JSON with the path of its file.
    pub(crate) fn malformed(path: &Path) -> impl FnOnce(serde_json::Error) -> Error + use<> {
        let path = path.to_path_buf();
        move |source| Error::Malformed { path, source }
    }
}

/// An error of the operating system, with what to do about it.
fn system_error(path: &Path, source: &io::Error) -> String {
    let head = path.parent().filter(|_| path.ends_with(HEAD));
    match (source.kind(), head) {
        (io::ErrorKind::NotADirectory, Some(file)) => return no_bundle(file),
        (io::ErrorKind::NotFound, Some(directory)) => {
            return format!(
                "{}: not a bundle: {HEAD} is missing; `assize run` and `assize compare` make \
                 bundles",
                directory.display()
            );
        }
        _ => {}
    }
    let full = matches!(
        source.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    );
    let mend = match (full, head) {
        (false, _) => String::new(),
        // Without its head, there is no bundle to resume.
        (true, Some(_)) => "; free some space there and try again".into(),
        (true, None) => format!(
            "; free some space there and continue with `assize run --resume {}`",
            bundle_of(path).display()
        ),
    };
    format!("{}: {source}{mend}", path.display())
}

/// A file where a bundle was expected.
fn no_bundle(file: &Path) -> String {
    let name = file.display();
    match file.extension().is_some_and(|it| it == "toml") {
        true => format!(
            "{name}: an experiment file, not a bundle; to record its runs: assize run {name}"
        ),
        false => format!(
            "{name}: a file, not a bundle; `assize audit {name}` reads results that were posted"
        ),
    }
}

/// Why one run has two results, and what to do.
fn why_conflict(exact: bool) -> &'static str {
    match exact {
        true => {
            "on the exact target one run has one result, so one of the two machines is not exact: \
             run `assize doctor` on both"
        }
        false => {
            "one machine has executed this run twice, and neither result may be dropped silently: \
             leave one bundle out"
        }
    }
}

/// The bundle of a file that it consists of.
fn bundle_of(path: &Path) -> &Path {
    let directory = path.parent().unwrap_or(path);
    let folder = FOLDERS.iter().any(|folder| directory.ends_with(folder));
    let above = directory.parent().filter(|_| folder);
    above.unwrap_or(directory)
}
