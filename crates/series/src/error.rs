//! Errors about patches.

use std::fmt;

/// Why patches cannot be used: `what: why; remedy`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The posted text is not a series that can be applied.
    Posted {
        /// The file.
        name: String,
        /// What is wrong with it.
        why: String,
        /// What to do about it.
        mend: String,
    },
    /// The range contains nothing that can be tried.
    Range {
        /// The range as given.
        range: String,
        /// What is wrong with it.
        why: String,
        /// What to do about it.
        mend: String,
    },
    /// A patch does not apply.
    Apply {
        /// Its number, starting at 1.
        number: usize,
        /// Its subject.
        subject: String,
        /// The message of git.
        said: String,
    },
    /// git failed or is not installed.
    Git {
        /// The git command.
        what: String,
        /// The message of git.
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
