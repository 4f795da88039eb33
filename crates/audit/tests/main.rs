//! The reader of posts, on whole posts.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)] // A test may fail.

mod admission;
mod common;
mod formats;
mod grouping;
mod mail;
mod threads;
