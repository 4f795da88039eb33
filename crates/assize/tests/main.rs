//! Tests of the command as a user runs it.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)] // A test may fail.
#![allow(clippy::unnecessary_wraps, clippy::print_stdout)]
#![allow(unreachable_pub, missing_docs)] // Modules are shared; nothing is published.

mod common;

mod bad_input;
mod commands;
#[path = "farm/main.rs"]
mod farm;
mod files;
mod formats;
mod full;
mod golden;
mod kernels;
mod known_truth;
mod lints;
mod mailbox;
mod outcomes;
mod paths;
mod printed;
mod progress;
mod readings;
mod refused;
mod run;
#[path = "several/main.rs"]
mod several;
mod trace;
mod verbs;

/// One boot of each kind, for `make test`; [`full`] has the others.
mod boots {
    use crate::full::kill;

    crate::common::tests! {
        needs ["agent", "QEMU", "kernel debian:6.12"];
        a_killed_run_goes_on_and_loses_nothing = || kill::killed(10),
    }
}
