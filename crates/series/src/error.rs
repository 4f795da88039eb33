//! Why patches cannot be had.

use std::fmt;

/// Why patches cannot be had: `what: why; mend`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// What was posted is not a series that could be applied.
    Posted {
        /// The file.
        name: String,
        /// What is wrong with it.
        why: String,
        /// What to do about it.
        mend: String,
    },
    /// A range names nothing that could be tried.
    Range {
        /// As it was given.
        range: String,
        /// What is wrong with it.
        why: String,
        /// What to do about it.
        mend: String,
    },
    /// A patch does not apply.
    Apply {
        /// Which one, from 1.
        number: usize,
        /// Its subject.
        subject: String,
        /// What git says.
        said: String,
    },
    /// git failed, or is not there.
    Git {
        /// What it was asked.
        what: String,
        /// What it says.
        said: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Posted { name, why, mend } => write!(f, "{name}: {why}; {mend}"),
            Error::Range { range, why, mend } => write!(f, "{range}: {why}; {mend}"),
            Error::Apply {
                number,
                subject,
                said,
            } => write!(
                f,
                "patch {number} ({subject}) does not apply: {said}; rebase the series on the \
                 base, or name another base"
            ),
            Error::Git { what, said } => write!(f, "git {what}: {said}"),
        }
    }
}

impl std::error::Error for Error {}
