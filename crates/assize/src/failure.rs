//! What can go wrong, and with which exit status.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::shell;

/// Exit status after SIGINT, SIGTERM or SIGHUP.
pub(crate) const INTERRUPTED: u8 = 130;

/// A failure as the user sees it: `assize: what: where: why`.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An input could not be read.
    Read { path: PathBuf, source: io::Error },
    /// An output could not be written.
    Write { what: String, source: io::Error },
    /// Whoever read our output has stopped; not worth a word.
    ClosedPipe,
    /// The input holds nothing that could be judged.
    NothingFound { source: String, because: String },
    /// An argument does not fit the data.
    Argument(String),
    /// A bundle is missing or damaged.
    Bundle(assize_bundle::Error),
    /// A run could not be recorded.
    Record(assize_bundle::Error),
    /// An experiment file is wrong.
    Plan(assize_plan::Error),
    /// A target cannot do what is asked.
    Target(assize_target::Error),
    /// Somebody interrupted the work; what is done is recorded.
    Interrupted {
        directory: PathBuf,
        recorded: u32,
        planned: usize,
    },
    /// Somebody interrupted the work before anything was recorded.
    InterruptedEarly,
    /// Somebody interrupted the work; this command goes on with it.
    Stopped { again: String },
    /// Not one run was completed.
    NoRun {
        directory: PathBuf,
        why: Option<String>,
    },
    /// Not one run of these configurations was completed on a workload; what
    /// else was asked for is judged.
    FailedRuns {
        directory: PathBuf,
        /// What failed and why, one line each.
        cells: Vec<String>,
        /// The place in the schedule of the first that failed.
        first: u32,
    },
    /// The exact machine is not exact.
    Inexact(String),
    /// A command that was to be run once has failed.
    Command {
        /// The option that asked for it.
        option: String,
        command: String,
        why: String,
    },
    /// Our own bug: a document that cannot be shown.
    Show(String),
}

impl Failure {
    /// 2 is wrong use, 3 a failure of the work itself, 130 an interrupt.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Failure::Read { .. }
            | Failure::NothingFound { .. }
            | Failure::Argument(_)
            | Failure::Bundle(_)
            | Failure::Plan(_) => 2,
            Failure::Target(error) => {
                if error.wrong_use {
                    2
                } else {
                    3
                }
            }
            Failure::Record(error) => recording(error),
            Failure::Write { .. }
            | Failure::NoRun { .. }
            | Failure::FailedRuns { .. }
            | Failure::Inexact(_)
            | Failure::Command { .. }
            | Failure::Show(_) => 3,
            Failure::Interrupted { .. } | Failure::InterruptedEarly | Failure::Stopped { .. } => {
                INTERRUPTED
            }
            Failure::ClosedPipe => 0,
        }
    }
}

/// Only what the operating system refuses is a failure of the work.
fn recording(error: &assize_bundle::Error) -> u8 {
    match error {
        assize_bundle::Error::Io { .. } | assize_bundle::Error::Samples { .. } => 3,
        _ => 2,
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Read { path, source } => {
                write!(f, "cannot read: {}: {source}", path.display())
            }
            Failure::Write { what, source } => write!(f, "cannot write: {what}: {source}"),
            Failure::ClosedPipe => write!(f, "the reader of the output has gone"),
            Failure::NothingFound { source, because } => write!(
                f,
                "nothing to judge: {source}: {}",
                assize_report::printable(because)
            ),
            Failure::Argument(text) => write!(f, "{text}"),
            Failure::Bundle(error) | Failure::Record(error) => write!(f, "bundle: {error}"),
            Failure::Plan(error) => write!(f, "{error}"),
            Failure::Target(error) => write!(f, "{error}"),
            Failure::Interrupted {
                directory,
                recorded,
                planned,
            } => write!(
                f,
                "interrupted: {recorded} of {planned} runs are recorded; continue with: {}",
                resuming(directory)
            ),
            Failure::InterruptedEarly => write!(f, "interrupted: nothing was recorded"),
            Failure::Stopped { again } => write!(f, "interrupted; to continue: {again}"),
            Failure::NoRun { directory, why } => {
                let why = why.as_deref().unwrap_or("none was carried out");
                let (place, why) = (directory.display(), assize_report::printable(why));
                write!(f, "no run was completed: {place}: {why}")
            }
            Failure::FailedRuns {
                directory,
                cells,
                first,
            } => {
                let cells = cells.join("\n  ");
                let console = directory.join(format!("runs/{first:04}.json"));
                write!(
                    f,
                    "every run failed: {}\n  the last lines of the first one's console are in {}",
                    assize_report::printable(&cells),
                    console.display()
                )
            }
            Failure::Inexact(text) => write!(
                f,
                "the exact machine is not exact here: {}; `assize doctor` shows what it uses",
                assize_report::printable(text)
            ),
            Failure::Command {
                option,
                command,
                why,
            } => write!(f, "{option}: {}: {why}", assize_report::printable(command)),
            Failure::Show(text) => write!(f, "cannot show the verdict: {text}"),
        }
    }
}

/// The command that goes on with a bundle.
pub(crate) fn resuming(directory: &Path) -> String {
    let words: [&OsStr; 3] = ["run".as_ref(), "--resume".as_ref(), directory.as_ref()];
    shell::command_line(words.into_iter())
}

impl From<assize_plan::Error> for Failure {
    fn from(error: assize_plan::Error) -> Self {
        Failure::Plan(error)
    }
}

impl From<assize_target::Error> for Failure {
    fn from(error: assize_target::Error) -> Self {
        Failure::Target(error)
    }
}

impl From<assize_series::Error> for Failure {
    fn from(error: assize_series::Error) -> Self {
        Failure::Argument(error.to_string())
    }
}

impl From<assize_audit::declared::Error> for Failure {
    fn from(error: assize_audit::declared::Error) -> Self {
        Failure::Argument(error.to_string())
    }
}

impl From<assize_verdict::Error> for Failure {
    fn from(error: assize_verdict::Error) -> Self {
        Failure::Argument(error.to_string())
    }
}

impl From<assize_bundle::Error> for Failure {
    fn from(error: assize_bundle::Error) -> Self {
        Failure::Bundle(error)
    }
}
