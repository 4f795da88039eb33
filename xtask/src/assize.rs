//! The assize program, for use by other steps.

use std::env;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::OnceLock;

use crate::command::{cargo, command, run as run_command};
use crate::steps::Done;
use crate::{Error, tree};

/// Set for processes that run in parallel with one that has built assize, because cargo would make
/// them wait.
pub(crate) const IS_BUILT: &str = "ASSIZE_PROGRAM_IS_BUILT";

/// Builds assize as `make build` does, and returns its path.
///
/// Selects the binary by its name rather than the package: dependencies then have the same features
/// as in the whole workspace, and nothing is compiled again for the tests.
pub fn build() -> Result<PathBuf, Error> {
    static BUILT: OnceLock<()> = OnceLock::new();
    if BUILT.get().is_none() && env::var_os(IS_BUILT).is_none() {
        let arguments = ["build", "--quiet", "--locked", "--bin", "assize"];
        run_command(command(cargo(), &arguments)?)?;
        BUILT.get_or_init(|| ());
    }
    path()
}

/// The step of `check`; it comes first, so that no two steps build assize at once.
pub(crate) fn step() -> Result<Done, Error> {
    build()?;
    Ok(Done::Ok)
}

/// The path of assize once it is built.
pub fn path() -> Result<PathBuf, Error> {
    Ok(tree::target()?.join("debug/assize"))
}

/// The output of a verb that judges. Exit status 1, for a refuted claim, is a valid
/// result.
pub fn judged(arguments: &[&str]) -> Result<Vec<u8>, Error> {
    let mut verb = command(path()?, arguments)?;
    let output = verb
        .stderr(Stdio::inherit())
        .output()
        .map_err(|why| format!("{verb:?}: {why}"))?;
    match output.status.code() {
        Some(0 | 1) => Ok(output.stdout),
        _ => Err(format!("{verb:?}: {}", output.status)),
    }
}
