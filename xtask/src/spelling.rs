//! Checks the spelling of documentation and code with codespell.

use crate::Error;
use crate::command::{command, run, works};
use crate::steps::Done;
use crate::tree;

/// The step of `check`.
pub(crate) fn step() -> Result<Done, Error> {
    if !works("codespell", &["--version"]) {
        return Ok(Done::Skipped(
            "codespell is not installed; ./setup.sh test".into(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steps_of_check_call_is_installed_for_tests() {
        let text = tree::read("setup.sh").unwrap().unwrap();
        for program in ["codespell", "perl", "sparse"] {
            let has = format!("| has {program} ");
            let mut lines = text.lines().filter(|line| line.contains(&has));
            assert!(lines.any(|line| line.starts_with("test ")), "{program}");
        }
    }
}
