//! The program itself, as steps use it.

use std::env;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::OnceLock;

use crate::command::{cargo, command, run as run_command};
use crate::steps::Done;
use crate::{Error, agent};

/// Set for those who work beside one that has built it: cargo would have them wait.
pub(crate) const IS_BUILT: &str = "ASSIZE_PROGRAM_IS_BUILT";

/// Builds it as `make build` does, and says where it is.
///
/// By the name of the program and not of its package: then the features of
/// dependencies are those of the whole workspace, and what is built here is not
/// built once more for the tests.
pub(crate) fn build() -> Result<PathBuf, Error> {
    static BUILT: OnceLock<()> = OnceLock::new();
    if BUILT.get().is_none() && env::var_os(IS_BUILT).is_none() {
        let arguments = ["build", "--quiet", "--locked", "--bin", "assize"];
        run_command(command(cargo(), &arguments)?)?;
        BUILT.get_or_init(|| ());
    }
    path()
}

/// The step of `check`: what other steps use is not built by several of them at once.
pub(crate) fn step() -> Result<Done, Error> {
    build()?;
    Ok(Done::Ok)
}

/// Where it is, once it is built.
pub(crate) fn path() -> Result<PathBuf, Error> {
    Ok(agent::target()?.join("debug/assize"))
}

/// What a verb that judges prints. That a claim is refuted, which it ends with
/// status 1 for, is a finding as any other.
pub(crate) fn judged(arguments: &[&str]) -> Result<Vec<u8>, Error> {
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
