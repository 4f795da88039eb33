//! What can go wrong, and with which exit status.

use std::fmt;
use std::io;
use std::path::PathBuf;

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
    /// Our own bug: a document that cannot be shown.
    Show(String),
}

impl Failure {
    /// 2 is wrong use, 3 a failure of the work itself.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Failure::Read { .. }
            | Failure::NothingFound { .. }
            | Failure::Argument(_)
            | Failure::Bundle(_) => 2,
            Failure::Write { .. } | Failure::Show(_) => 3,
            Failure::ClosedPipe => 0,
        }
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
            Failure::NothingFound { source, because } => {
                let because = assize_report::printable(because);
                write!(f, "nothing to judge: {source}: {because}")
            }
            Failure::Argument(text) => write!(f, "{text}"),
            Failure::Bundle(error) => write!(f, "bundle: {error}"),
            Failure::Show(text) => write!(f, "cannot show the verdict: {text}"),
        }
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
