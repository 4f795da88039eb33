//! Tests of the public functions for bundles.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)] // A test may fail.
#![allow(clippy::print_stdout)]

mod common;
mod crash;
mod evidence;
mod merge;
mod python;
mod writer;
