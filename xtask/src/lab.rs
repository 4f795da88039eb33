//! What tests in virtual machines need: kernels, and a QEMU that is new
//! enough for several CPUs.

use crate::Error;
use crate::command::{cargo, command, run as run_command};
use crate::steps::Done;

/// Kernels that experiments in the tree and tests ask for.
const KERNELS: &[&str] = &["debian:6.12", "debian:6.12-rt", "debian:6.1"];
/// Those of them for which the testbed's modules are built.
const HEADERS: &[&str] = &["debian:6.12", "debian:6.12-rt"];

/// `cargo xtask lab`: fetches what is missing, into the cache of assize.
pub(crate) fn run(_: &[String]) -> Result<(), Error> {
    let assize = |arguments: &[&str]| {
        let mut all = vec![
            "run",
            "--quiet",
            "--locked",
            "--package",
            "assize",
            "--",
            "kernel",
            "fetch",
        ];
        all.extend(arguments);
        run_command(command(cargo(), &all)?)
    };
    assize(&["--qemu"])?;
    KERNELS
        .iter()
        .try_for_each(|name| match HEADERS.contains(name) {
            true => assize(&["--headers", name]),
            false => assize(&[name]),
        })
}

/// The step of `check`. Without it the tests that boot skip, and say so.
pub(crate) fn step() -> Result<Done, Error> {
    match run(&[]) {
        Ok(()) => Ok(Done::Ok),
        Err(why) => Ok(Done::Skipped(format!("no kernels: {why}"))),
    }
}
