//! Failures, and the exit status of each.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use assize_report::printable;

use crate::shell;

/// Exit status after SIGINT, SIGTERM or SIGHUP.
pub(crate) const INTERRUPTED: u8 = 130;

/// A failure as the user sees it: `assize: what: where: why`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// An input could not be read.
    #[error("cannot read: {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// An output could not be written.
    #[error("cannot write: {what}: {source}")]
    Write { what: String, source: io::Error },
    /// The reader of our output has closed the pipe; nothing is printed.
    #[error("the reader of the output has gone")]
    ClosedPipe,
    /// The input holds nothing to judge.
    #[error("nothing to judge: {place}: {}", printable(because))]
    NothingFound { place: String, because: String },
    /// An argument does not fit the data.
    #[error("{0}")]
    Argument(String),
    /// A bundle is missing or damaged.
    #[error("bundle: {0}")]
    Bundle(#[from] assize_bundle::Error),
    /// A run could not be recorded.
    #[error("bundle: {0}")]
    Record(assize_bundle::Error),
    /// An experiment file is wrong.
    #[error("{0}")]
    Plan(#[from] assize_plan::Error),
    /// A target cannot do what was requested.
    #[error("{0}")]
    Target(#[from] assize_target::Error),
    /// Interrupted; the runs recorded so far are kept.
    #[error("interrupted: {recorded} of {planned} runs are recorded; continue with: {again}")]
    Interrupted {
        /// The command that resumes the runs.
        again: String,
        recorded: u32,
        planned: usize,
    },
    /// Interrupted before any run was recorded.
    #[error("interrupted: nothing was recorded")]
    InterruptedEarly,
    /// Interrupted; the command `again` resumes the work.
    #[error("interrupted; to continue: {again}")]
    Stopped { again: String },
    /// No run completed.
    #[error(
        "no run was completed: {}: {}",
        directory.display(),
        printable(why.as_deref().unwrap_or("none was executed"))
    )]
    NoRun {
        directory: PathBuf,
        why: Option<String>,
    },
    /// No run of these configurations completed on a workload; everything else is judged.
    #[error(
        "every run failed: {}\n  the last lines of the first one's console are in {}",
        printable(&cells.join("\n  ")),
        directory.join(format!("runs/{first:04}.json")).display()
    )]
    FailedRuns {
        directory: PathBuf,
        /// Failed cells and why, one line each.
        cells: Vec<String>,
        /// The index in the schedule of the first failed run.
        first: u32,
    },
    /// The machine of the target `exact` turned out not to be exact.
    #[error(
        "the exact machine is not exact here: {}; `assize doctor` shows what it uses",
        printable(.0)
    )]
    Inexact(String),
    /// A set-up, warm-up or clean-up command failed.
    #[error("{option}: {}: {why}", printable(command))]
    Command {
        /// The option that gives the command.
        option: String,
        command: String,
        why: String,
    },
    /// A bug in assize: a document that cannot be serialised.
    #[error("cannot show the verdict: {0}")]
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

/// The command that resumes a bundle.
pub(crate) fn resuming(directory: &Path) -> String {
    let words: [&OsStr; 3] = ["run".as_ref(), "--resume".as_ref(), directory.as_ref()];
    shell::command_line(words.into_iter())
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
