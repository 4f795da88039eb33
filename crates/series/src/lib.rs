//! Patches as they are posted or committed: a range of git, a mail, a thread.
//!
//! [`read`] takes what was posted (a mail, a mailbox, a thread as b4 writes it, a
//! bare diff) and gives its patches in the order of the series, whatever the order
//! in the file; it is pure. [`Repository`] asks git: for the commits of a range,
//! for files of a commit, and to apply patches, as `git am` does. This crate knows
//! nothing of what is built from a commit, or of what is measured.
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

pub use commit::{Commit, Identity};
pub use diff::paths as paths_of_diff;
pub use error::Error;
pub use git::Repository;
pub use hunks::{Touched, touched};
pub use mail::Patch;
pub use order::Posted;

/// The patches of a file: one mail, a mailbox, a thread, or bare diffs. `name` is
/// what messages call it.
///
/// # Errors
/// What is no patch, or not a whole series.
pub fn read(bytes: &[u8], name: &str) -> Result<Posted, Error> {
    let mails = mbox::split(bytes);
    let letters = mails.iter().map(|mail| mail::read(mail));
    order::ordered(letters.collect(), name)
}
