//! Patches as posted or committed: a git range, a mail, a thread.
//!
//! [`read`] parses posted patches (a mail, a mailbox, a thread as b4 writes it, or a bare diff) and
//! returns them in series order, whatever their order in the file; it is pure. [`GitRepository`]
//! runs git to list the commits of a range, to read files of a commit, and to apply patches as `git
//! am` does. This crate neither builds nor measures commits.
//!
//! ```
//! let diff = "--- a/lib/x.c\n+++ b/lib/x.c\n@@ -1 +1 @@\n-a\n+b\n";
//! let mail = |n, text| format!(
//!     "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n\
//!      From: A <a@example.org>\nSubject: [PATCH {n}/2] {text}\n\n---\n{diff}\n"
//! );
//! let text = mail(2, "Second") + &mail(1, "First");
//! let posted = assize_series::read(text.as_bytes(), "series.mbox")?;
//! assert_eq!(posted.patches[0].subject, "First");
//! assert_eq!(posted.patches[0].paths, ["lib/x.c"]);
//! # Ok::<(), assize_series::Error>(())
//! ```

mod commit;
mod diff;
mod error;
mod git;
mod hunks;
mod mail;
mod mbox;
mod order;
mod program;
mod subject;

pub use commit::{Commit, CommitAuthor};
pub use diff::paths as paths_of_diff;
pub use error::Error;
pub use git::GitRepository;
pub use hunks::{TouchedHunk, touched};
pub use mail::PostedPatch;
pub use order::PostedSeries;

/// Parses the patches of a file: one mail, a mailbox, a thread, or bare diffs. `name`
/// names the file in messages.
///
/// # Errors
/// If the file holds no patch, or not a complete series.
pub fn read(bytes: &[u8], name: &str) -> Result<PostedSeries, Error> {
    let mails = mbox::split(bytes);
    let letters = mails.iter().map(|mail| mail::read(mail));
    order::ordered(letters.collect(), name)
}
