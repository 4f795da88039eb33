//! Any bytes as arguments are a command, help or an error, and nothing panics.
#![no_main]

// The command line of `assize`, which is no library.
#[allow(dead_code, unreachable_pub, unused_imports)]
#[path = "../../crates/assize/src/cli.rs"]
mod cli;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use clap::{CommandFactory, Parser};
use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: { cli::group_verbs(cli::Cli::command()).debug_assert(); },
    |data: &[u8]| {
        // No argument of a process holds a zero, so zeros part them.
        let arguments = data.split(|byte| *byte == 0).map(|bytes| OsString::from_vec(bytes.to_vec()));
        let command = std::iter::once(OsString::from("assize")).chain(arguments);
        match cli::Cli::try_parse_from(command) {
            Ok(parsed) => assert!(!format!("{parsed:?}").is_empty()),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
);
