//! Errors of bundles.

use std::io;
use std::path::{Path, PathBuf};

use crate::difference::FirstDifference;
use crate::layout::{FOLDERS, HEAD};

/// Why a bundle could not be written, read or merged.
#[derive(Debug)]
pub enum Error {
    /// The operating system returned an error.
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// The directory is not empty; nothing is ever overwritten.
    NotEmpty(PathBuf),
    /// A file is malformed.
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, the column and what is wrong there.
        source: serde_json::Error,
    },
    /// A file of samples is malformed.
    Samples {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A file has a schema that this version does not know.
    Schema {
        /// The file.
        path: PathBuf,
        /// The schema it names.
        found: String,
        /// The schema that this version reads.
        known: String,
    },
    /// The bundle has no schedule, so it cannot be resumed.
    NoSchedule(PathBuf),
    /// Another process is writing the bundle.
    Busy(PathBuf),
    /// The run is already recorded. It is never written twice.
    AlreadyRecorded {
        /// Its file.
        path: PathBuf,
        /// Its index in the schedule.
        index: u32,
    },
    /// The run is not in the schedule.
    NotPlanned {
        /// The bundle.
        path: PathBuf,
        /// The index given.
        index: u32,
        /// The number of runs in the schedule.
        planned: u32,
    },
    /// The bundle was created for something else.
    Differs {
        /// The file.
        path: PathBuf,
        /// The difference: first what the bundle holds, then what was given.
        difference: Box<FirstDifference>,
    },
    /// Two bundles hold different results of one run.
    Conflict {
        /// The file of the second.
        path: PathBuf,
        /// The file of the first.
        other: PathBuf,
        /// Its index in the schedule.
        index: u32,
        /// Where they differ first.
        difference: Box<FirstDifference>,
        /// Whether the target is exact, which should make this impossible.
        exact: bool,
    },
    /// Two bundles cannot be judged together.
    Incomparable {
        /// The second bundle.
        path: PathBuf,
        /// The first bundle.
        other: PathBuf,
        /// Where they differ first.
        difference: Box<FirstDifference>,
    },
    /// Two bundles have a metric in different units.
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
    Twice {
        /// The second bundle.
        path: PathBuf,
        /// The first bundle.
        other: PathBuf,
        /// The machine.
        machine: String,
    },
    /// There is nothing to merge.
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
fn system_error(
    path: &Path,
    source: &io::Error,
    f: &mut std::fmt::Formatter<'_>,
) -> std::fmt::Result {
    let head = path.parent().filter(|_| path.ends_with(HEAD));
    match (source.kind(), head) {
        (io::ErrorKind::NotADirectory, Some(file)) => return no_bundle(file, f),
        (io::ErrorKind::NotFound, Some(directory)) => {
            return write!(
                f,
                "{}: not a bundle: {HEAD} is missing; `assize run` and \
                 `assize compare` make bundles",
                directory.display()
            );
        }
        _ => write!(f, "{}: {source}", path.display())?,
    }
    let full = matches!(
        source.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    );
    match (full, head) {
        (false, _) => Ok(()),
        // Without its head, there is no bundle to resume.
        (true, Some(_)) => write!(f, "; free some space there and try again"),
        (true, None) => write!(
            f,
            "; free some space there and continue with `assize run --resume {}`",
            bundle_of(path).display()
        ),
    }
}

/// A file where a bundle was expected.
fn no_bundle(file: &Path, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
    let name = file.display();
    if file
        .extension()
        .is_some_and(|extension| extension == "toml")
    {
        return write!(
            f,
            "{name}: an experiment file, not a bundle; to record its runs: assize run {name}"
        );
    }
    write!(
        f,
        "{name}: a file, not a bundle; `assize audit {name}` reads results that were posted"
    )
}

/// The bundle of a file that it consists of.
fn bundle_of(path: &Path) -> &Path {
    let directory = path.parent().unwrap_or(path);
    let folder = FOLDERS.iter().any(|folder| directory.ends_with(folder));
    let above = directory.parent().filter(|_| folder);
    above.unwrap_or(directory)
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Io { path, source } => system_error(path, source, f),
            Error::NotEmpty(path) => {
                let path = path.display();
                write!(f, "{path}: the directory is not empty; name a new one")
            }
            Error::Malformed { path, source } => write!(f, "{}: {source}", path.display()),
            Error::Samples { path, why } => write!(f, "{}: {why}", path.display()),
            Error::Schema { path, found, known } => write!(
                f,
                "{}: schema '{found}' is not known; this version reads '{known}'",
                path.display()
            ),
            Error::NoSchedule(path) => write!(
                f,
                "{}: holds results that were read, not a schedule of runs; \
                 `assize compare` takes it as it is",
                path.display()
            ),
            Error::Busy(path) => write!(
                f,
                "{}: another process is writing this bundle; wait for it to end",
                path.display()
            ),
            Error::AlreadyRecorded { path, index } => write!(
                f,
                "{}: run {index} is recorded already and is not overwritten",
                path.display()
            ),
            Error::NotPlanned {
                path,
                index,
                planned,
            } => write!(
                f,
                "{}: run {index}: the schedule has {planned} runs, counted from 0",
                path.display()
            ),
            Error::Nothing => write!(f, "no bundle to merge; name one or more"),
            Error::Differs { .. } | Error::Conflict { .. } | Error::Incomparable { .. } => {
                self.difference(f)
            }
            Error::Unit { .. } | Error::Twice { .. } => self.write_mixture(f),
        }
    }
}

impl Error {
    fn difference(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Differs { path, difference } => write!(
                f,
                "{}: {}: {} in the bundle, {} now; continue with the original, or name a new \
                 directory",
                path.display(),
                difference.field,
                difference.first,
                difference.second
            ),
            Error::Conflict {
                path,
                other,
                index,
                difference,
                exact,
            } => {
                write!(
                    f,
                    "{}: run {index}: {}: {} here, {} in {}; ",
                    path.display(),
                    difference.field,
                    difference.second,
                    difference.first,
                    other.display()
                )?;
                f.write_str(if *exact {
                    "on the exact target one run has one result, so one of the two \
                     machines is not exact: run `assize doctor` on both"
                } else {
                    "one machine has run it twice, and neither result may be \
                     dropped silently: leave one bundle out"
                })
            }
            Error::Incomparable {
                path,
                other,
                difference,
            } => write!(
                f,
                "{}: {}: {} here, {} in {}; they cannot be judged together: merge bundles \
                 of one experiment",
                path.display(),
                difference.field,
                difference.second,
                difference.first,
                other.display()
            ),
            _ => Ok(()),
        }
    }
}

impl Error {
    /// Writes why bundles cannot be judged together.
    fn write_mixture(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Unit {
                path,
                other,
                metric,
                units: [here, there],
            } => write!(
                f,
                "{}: another unit: metric '{metric}' is in '{here}' here, in '{there}' in {}; \
                 measure both with the same version of the instrument",
                path.display(),
                other.display()
            ),
            Error::Twice {
                path,
                other,
                machine,
            } => write!(
                f,
                "{}: holds runs of the machine '{machine}' as {} does; each machine counts \
                 once: leave one out",
                path.display(),
                other.display()
            ),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Error {}
