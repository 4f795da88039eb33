//! Reads posted benchmark results exactly as they were pasted.
//!
//! Text comes in as a plain file, a mail or a mailbox and passes three rooms:
//! [`mail`] (bytes to unquoted [`Line`]s), [`grammar`] (lines to blocks of
//! figures, one file per format) and `group` (blocks to runs of a
//! configuration and a workload). No statistics happen here.

pub mod grammar;
mod line;
pub mod mail;

pub use line::Line;
