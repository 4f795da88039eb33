//! Commits.

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its ID: 40 or 64 hexadecimal digits.
    pub id: String,
    /// The first line of its message.
    pub subject: String,
    /// Its author and date; `None` for a bare diff.
    pub written: Option<CommitAuthor>,
    /// The files that it touches, as paths from the top of the tree.
    pub paths: Vec<String>,
}

impl Commit {
    /// The abbreviated ID: its first twelve digits.
    #[must_use]
    pub fn short(&self) -> &str {
        self.id.get(..12).unwrap_or(&self.id)
    }
}

/// The author of a commit, and the date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitAuthor {
    /// `Name <address>`.
    pub author: String,
    /// The date in the author's time zone: `2026-11-23`.
    pub date: String,
}
