//! Runs git; returns its output, or the reason why it failed.

use std::process::{Command, Output};

use crate::error::Error;

/// Runs a git command and returns its output.
pub(crate) fn output_of(what: &str, mut command: Command) -> Result<Vec<u8>, Error> {
    let failed = |said: String| Error::Git {
        what: what.to_owned(),
        said,
    };
    let output = command.output().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => failed("not found in PATH; apt install git".into()),
        _ => failed(error.to_string()),
    })?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(failed(reason(&output))),
    }
}

/// The line of the output that gives the reason.
fn reason(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned()
        + &String::from_utf8_lossy(&output.stdout);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let marked = lines.clone().find_map(|line| {
        let starts = ["error: ", "fatal: "];
        starts.iter().find_map(|start| line.strip_prefix(start))
    });
    let line = marked.or_else(|| lines.next());
    line.map_or_else(|| format!("it ended with {}", output.status), String::from)
}
