//! Running other programs from the root of the workspace.

use std::env;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, IsTerminal};
use std::process::{Command, ExitStatus, Stdio};

use crate::Error;
use crate::tree;

/// The cargo that started this program, so that every step uses the same toolchain.
pub fn cargo() -> OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// A command in the root of the workspace, with no standard input.
pub fn command(program: impl Into<OsString>, arguments: &[&str]) -> Result<Command, Error> {
    let mut command = Command::new(program.into());
    command
        .args(arguments)
        .current_dir(tree::root()?)
        .stdin(Stdio::null());
    Ok(command)
}

/// Runs a command with inherited output.
pub fn run(mut command: Command) -> Result<(), Error> {
    let shown = show(&command);
    let status = command.status().map_err(|why| format!("{shown}: {why}"))?;
    succeeded(&shown, status)
}

fn succeeded(shown: &str, status: ExitStatus) -> Result<(), Error> {
    match status.success() {
        true => Ok(()),
        false => Err(format!("`{shown}`: {status}")),
    }
}

/// Runs a command quietly and returns its standard output.
pub fn output(program: &str, arguments: &[&str]) -> Result<String, Error> {
    let mut command = command(program, arguments)?;
    let shown = show(&command);
    let output = command.output().map_err(|why| format!("{shown}: {why}"))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`{shown}`: {}: {}", output.status, why.trim()));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("`{shown}`: output is not UTF-8"))
}

/// Runs a command, prints each line of its standard output as it arrives, and passes it
/// to `look`.
pub fn watch(mut command: Command, mut look: impl FnMut(&str)) -> Result<(), Error> {
    let shown = show(&command);
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|why| format!("{shown}: {why}"))?;
    if let Some(stdout) = child.stdout.take() {
        let mut reader = BufReader::new(stdout);
        let mut line = Vec::new();
        while reader
            .read_until(b'\n', &mut line)
            .map_err(|why| format!("{shown}: {why}"))?
            > 0
        {
            let text = String::from_utf8_lossy(&line);
            print!("{text}");
            look(text.trim_end());
            line.clear();
        }
    }
    let status = child.wait().map_err(|why| format!("{shown}: {why}"))?;
    succeeded(&shown, status)
}

/// Whether the program can be started with these arguments and succeeds.
pub fn works(program: impl Into<OsString>, arguments: &[&str]) -> bool {
    command(program, arguments).is_ok_and(|mut command| {
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    })
}

/// `always` if standard output is a terminal, for programs whose output goes through a pipe.
pub(crate) fn color() -> &'static str {
    if io::stdout().is_terminal() {
        "always"
    } else {
        "never"
    }
}

/// Maximum number of arguments in a message: codespell gets a thousand.
const SHOWN: usize = 20;

fn show(command: &Command) -> String {
    let program = command.get_program().to_string_lossy();
    let name = program.rsplit('/').next().unwrap_or_default();
    let mut text = name.to_owned();
    for argument in command.get_args().take(SHOWN) {
        text.push(' ');
        text.push_str(&argument.to_string_lossy());
    }
    match command.get_args().len().saturating_sub(SHOWN) {
        0 => text,
        more => format!("{text} and {more} more arguments"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_a_command_and_not_a_thousand_files() {
        let few: Vec<&str> = vec!["a"; SHOWN];
        let shown = show(&command("/usr/bin/codespell", &few).unwrap());
        assert_eq!(shown, format!("codespell {}", few.join(" ")));
        let many: Vec<&str> = vec!["a"; SHOWN + 980];
        let shown = show(&command("codespell", &many).unwrap());
        assert!(shown.ends_with(" a and 980 more arguments"), "{shown}");
    }
}
