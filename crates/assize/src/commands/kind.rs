//! Tells commands from recorded results.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::cli::CompareArguments;
use crate::failure::Failure;

use super::words::{argv, wants_shell};

/// Moves commands that were given without `--` to where those after it are.
///
/// # Errors
/// Results and commands are mixed; an option is for the other kind; an argument is
/// neither.
pub(crate) fn sort_out(mut arguments: CompareArguments) -> Result<CompareArguments, Failure> {
    let refuse = |why: String| Err(Failure::Argument(why));
    let (inputs, commands) = (&arguments.inputs, &arguments.running.commands);
    let results = inputs.iter().find(|input| holds_results(input));
    let other = inputs.iter().find(|input| !holds_results(input));
    match (results, other.filter(|_| commands.is_empty())) {
        (None, None) => {}
        (Some(results), None) if commands.is_empty() => {
            return match arguments.running.first_given() {
                None => Ok(arguments),
                Some(option) => refuse(format!(
                    "{option} is for commands to run; {} holds results",
                    results.display()
                )),
            };
        }
        (Some(results), _) => {
            let command = other.map(|other| other.display().to_string());
            let command = command.or(commands.first().cloned()).unwrap_or_default();
            return refuse(format!(
                "{} holds results, and '{command}' is a command; compare results with results",
                results.display()
            ));
        }
        (None, Some(_)) => {}
    }
    if arguments.bundles.is_some() {
        return refuse("--bundles is for results, not for commands to run".into());
    }
    let mut given = Vec::new();
    for input in arguments.inputs.drain(..) {
        let command = input.to_string_lossy().into_owned();
        if !starts_something(&command) {
            return refuse(format!(
                "'{command}' is no bundle, no file of results, and no command that is found"
            ));
        }
        given.push(command);
    }
    given.append(&mut arguments.running.commands);
    arguments.running.commands = given;
    Ok(arguments)
}

/// Whether this is a bundle, or a file that cannot be executed.
fn holds_results(input: &Path) -> bool {
    fs::metadata(input).is_ok_and(|it| it.is_dir() || !is_executable(&it))
}

fn is_executable(metadata: &fs::Metadata) -> bool {
    metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
}

/// Whether the first word is a program, or a shell has to find out.
fn starts_something(command: &str) -> bool {
    if wants_shell(command) {
        return true;
    }
    let Some(program) = argv(command, false)
        .ok()
        .and_then(|words| words.into_iter().next())
    else {
        // The error is reported with the command.
        return true;
    };
    let is_program = |path: &Path| fs::metadata(path).is_ok_and(|it| is_executable(&it));
    if program.contains('/') {
        return is_program(Path::new(&program));
    }
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|directory| is_program(&directory.join(&program)))
}
