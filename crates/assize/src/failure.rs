//! Failures, and the exit status of each.

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
    /// The reader of our output has closed the pipe; nothing is printed.
    ClosedPipe,
    /// The input holds nothing to judge.
    NothingFound { source: String, because: String },
    /// An argument does not fit the data.
    Argument(String),
    /// A bundle is missing or damaged.
    Bundle(assize_bundle::Error),
    /// A run could not be recorded.
    Record(assize_bundle::Error),
    /// An experiment file is wrong.
    Plan(assize_plan::Error),
    /// A target cannot do what was requested.
    Target(assize_target::Error),
    /// Interrupted; the runs recorded so far are kept.
    Interrupted {
        /// The command that continues.
        again: String,
        recorded: u32,
        planned: usize,
    },
    /// Interrupted before anything was recorded.
    InterruptedEarly,
    /// Interrupted; the command `again` continues the work.
    Stopped { again: String },
    /// No run completed.
    NoRun {
        directory: PathBuf,
        why: Option<String>,
    },
    /// No run of these configurations completed on a workload; everything else is judged.
    FailedRuns {
        directory: PathBuf,
        /// Failed cells and why, one line each.
        cells: Vec<String>,
        /// The index in the schedule of the first failed run.
        first: u32,
    },
    /// The exact machine is not exact.
    Inexact(String),
    /// A command that is run only once failed.
    Command {
        /// The option that asked for it.
        option: String,
        command: String,
        why: String,
    },
    /// A bug in assize: a document that cannot be serialised.
    Show(String),
}

impl Failure {
    /// Returns 2 for wrong use, 3 if the work itself failed, 130 for an interrupt.
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

/// Only errors of the operating system count as failures of the work.
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
                again,
                recorded,
                planned,
            } => write!(
                f,
                "interrupted: {recorded} of {planned} runs are recorded; continue with: {again}"
            ),
            Failure::InterruptedEarly => write!(f, "interrupted: nothing was recorded"),
            Failure::Stopped { again } => write!(f, "interrupted; to continue: {again}"),
            Failure::NoRun { directory, why } => {
                let why = why.as_deref().unwrap_or("none was executed");
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

/// The command that resumes a bundle.
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
