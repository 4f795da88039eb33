//! Spelling of documentation and code, by codespell.

use crate::Error;
use crate::command::{command, run, works};
use crate::steps::Done;
use crate::tree;

/// The step of `check`.
pub(crate) fn step() -> Result<Done, Error> {
    if !works("codespell", &["--version"]) {
        return Ok(Done::Skipped(
            "codespell is not installed; ./setup.sh dev".into(),
        ));
    }
    let files = tree::files()?;
    let arguments: Vec<&str> = files
        .iter()
        .map(String::as_str)
        .filter(|name| !tree::is_data(name))
        .collect();
    run(command("codespell", &arguments)?)?;
    Ok(Done::Ok)
}
