//! Distinguishes commands from recorded results among the arguments of `compare`.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use assize_job::LinkedProgram;

use crate::cli::{CommandOutput, CommandTarget, CompareArguments};
use crate::failure::Failure;

use super::words::{argv, wants_shell};

/// Moves commands that were given without `--` to the list of those given after it.
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
                    "{option} applies to commands to run; {} holds results",
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
                "'{command}' is neither a bundle, nor a file of results, nor a command that can be \
                 found"
            ));
        }
        given.push(command);
    }
    given.append(&mut arguments.running.commands);
    arguments.running.commands = given;
    let running = &arguments.running;
    if running.target == CommandTarget::Host && (!running.with.is_empty() || running.no_trace) {
        let option = if running.no_trace {
            "--no-trace"
        } else {
            "--with"
        };
        return refuse(format!(
            "{option} is for --target exact; on this machine commands find their files"
        ));
    }
    take_output(&mut arguments)?;
    Ok(arguments)
}

/// Treats `--output=null`, `pipe` and `inherit` like hyperfine: as where commands print.
fn take_output(arguments: &mut CompareArguments) -> Result<(), Failure> {
    let running = &mut arguments.running;
    let word = arguments.showing.output.as_ref().and_then(|it| it.to_str());
    match word {
        Some("null") => running.output = CommandOutput::Null,
        Some("pipe") => running.output = CommandOutput::Pipe,
        Some("inherit") => running.show_output = true,
        _ => return Ok(()),
    }
    arguments.showing.output = None;
    if running.show_output && (running.quiet || running.output != CommandOutput::Kept) {
        let other = if running.quiet { "--quiet" } else { "--output" };
        return Err(Failure::Argument(format!(
            "--show-output: {other} leaves no output to show; omit one of them"
        )));
    }
    Ok(())
}

/// Whether this is a bundle or a file that is not executable.
fn holds_results(input: &Path) -> bool {
    fs::metadata(input).is_ok_and(|it| it.is_dir() || !is_program_file(input, &it))
}

/// Whether the kernel can execute this file. The permissions are not enough: on some file systems
/// all files are marked executable.
pub(super) fn is_program_file(path: &Path, metadata: &fs::Metadata) -> bool {
    let may_be = metadata.is_file() && metadata.permissions().mode() & 0o111 != 0;
    let mut begin = Vec::new();
    may_be
        && fs::File::open(path).is_ok_and(|file| file.take(4).read_to_end(&mut begin).is_ok())
        && (begin.starts_with(b"#!") || begin.starts_with(b"\x7fELF"))
}

/// Whether the first word is a program, or only a shell can tell.
fn starts_something(command: &str) -> bool {
    if wants_shell(command) {
        return true;
    }
    let words = argv(command, false).unwrap_or_default();
    // A missing program is reported later, with the command.
    let program = words.first();
    program.is_none_or(|name| assize_target::is_program(&LinkedProgram::new(name, &[])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_results_is_one_whatever_its_permissions() {
        let place = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str, mode: u32| {
            let path = place.path().join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            holds_results(&path)
        };
        assert!(file("a.json", "{\"results\": []}", 0o644));
        assert!(file("b.json", "{\"results\": []}", 0o777));
        assert!(file("c", "", 0o755));
        assert!(!file("d", "#!/bin/sh\n", 0o755));
        assert!(file("e", "#!/bin/sh\n", 0o644));
        assert!(holds_results(place.path()));
        assert!(!holds_results(&place.path().join("none")));
        assert!(!holds_results(Path::new("/proc/self/exe")));
    }
}
