//! The program itself, as steps use it.

use std::path::PathBuf;

use crate::command::{cargo, command, run as run_command};
use crate::{Error, agent};

/// Builds it with the profile of development, and says where it is.
///
/// By the name of the program and not of its package: then the features of
/// dependencies are those of the whole workspace, and what is built here is not
/// built once more for the tests.
pub(crate) fn build() -> Result<PathBuf, Error> {
    let arguments = ["build", "--quiet", "--locked", "--bin", "assize"];
    run_command(command(cargo(), &arguments)?)?;
    path()
}

/// Where it is, once it is built.
pub(crate) fn path() -> Result<PathBuf, Error> {
    Ok(agent::target()?.join("debug/assize"))
}
