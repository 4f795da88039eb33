//! Errors about patches.

/// Why patches cannot be used: `what: why; remedy`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The posted text is not a series that can be applied.
    #[error("{name}: {why}; {mend}")]
    Posted {
        /// The file.
        name: String,
        /// What is wrong with it.
        why: String,
        /// What to do about it.
        mend: String,
    },
    /// The range contains nothing that can be tried.
    #[error("{range}: {why}; {mend}")]
    Range {
        /// The range as given.
        range: String,
        /// What is wrong with it.
        why: String,
        /// What to do about it.
        mend: String,
    },
    /// A patch does not apply.
    #[error(
        "patch {number} ({subject}) does not apply: {said}; rebase the series on the base, or name \
         another base"
    )]
    Apply {
        /// Its number, starting at 1.
        number: usize,
        /// Its subject.
        subject: String,
        /// The message of git.
        said: String,
    },
    /// git failed or is not installed.
    #[error("git {what}: {said}")]
    Git {
        /// The git command.
        what: String,
        /// The message of git.
        said: String,
    },
}
