//! Checks that the reference values in tests still agree with the independent implementation.

use std::path::Path;

use crate::Error;
use crate::command::{command, run, works};
use crate::steps::Done;
use crate::tree;

const SCRIPT: &str = "oracle/reference.py";
/// The system's Python, as virtual environments lack Debian's packages.
const PYTHON: &str = "/usr/bin/python3";

/// The step of `check`.
pub(crate) fn step() -> Result<Done, Error> {
    if !tree::root()?.join(SCRIPT).exists() {
        return Ok(Done::Skipped(format!("{SCRIPT} is not there")));
    }
    if !Path::new(PYTHON).exists() {
        return Ok(Done::Skipped(format!("{PYTHON} is not there")));
    }
    if !works(PYTHON, &["-c", "import scipy, statsmodels"]) {
        return Ok(Done::Skipped(format!(
            "{PYTHON} lacks scipy or statsmodels; ./setup.sh test"
        )));
    }
    run(command(PYTHON, &[SCRIPT, "--check"])?)?;
    Ok(Done::Ok)
}
