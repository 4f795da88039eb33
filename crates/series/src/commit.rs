//! What is known of a commit.

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its name: 40 or 64 hexadecimal digits.
    pub id: String,
    /// The first line of its message.
    pub subject: String,
    /// Who wrote it and when; none of a bare diff.
    pub written: Option<Identity>,
    /// Files that it touches: paths from the top of the tree.
    pub paths: Vec<String>,
}

impl Commit {
    /// The first twelve digits of its name.
    #[must_use]
    pub fn short(&self) -> &str {
        self.id.get(..12).unwrap_or(&self.id)
    }
}

/// Who wrote a commit, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// `Name <address>`.
    pub author: String,
    /// The day in the author's time zone: `2026-11-23`.
    pub date: String,
}
