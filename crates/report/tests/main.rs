//! Tests of reports through the public API.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)] // A test may fail.

mod absolutes;
mod html;
mod together;
