//! Tests of the public functions.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)] // A test may fail.

mod designs;
mod family;
mod oracle;
mod pooled;
mod properties;
