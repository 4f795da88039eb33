//! Runs make with its output in a log.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::Error;
use crate::fault::{failed, io, mend, read};
use crate::process::{ChildProcess, in_words};

/// No limit: a build takes minutes, but unpredictably longer under load.
const LIMIT: Duration = Duration::MAX;

/// Runs a command, which sends make's output to its standard error, in a directory until it
/// ends. If the build fails, the error begins with `what` and quotes the first line of the
/// log that says why, with `hidden` replaced by `shown`.
pub(crate) fn run(
    command: Command,
    directory: &Path,
    log: &Path,
    what: &str,
    (hidden, shown): (&str, &str),
) -> Result<(), Error> {
    let could_not = |error: std::io::Error| failed(what, format!("make: {error}"));
    let errors = File::create(log).map_err(|error| io("write", log, &error))?;
    let mut process =
        ChildProcess::start(command, directory, errors, None, LIMIT).map_err(could_not)?;
    drop(process.child().stdin.take());
    if let Some(mut output) = process.child().stdout.take() {
        // Nothing is written here.
        output.read_to_end(&mut Vec::new()).map_err(could_not)?;
    }
    let why = match process.wait().map_err(could_not)? {
        Some(status) if status.success() => return Ok(()),
        Some(status) => format!("make: {}", in_words(status)),
        None => "make did not end".into(),
    };
    let text = read(log)?;
    let line = first_error(&String::from_utf8_lossy(&text)).unwrap_or(why);
    Err(mend(
        failed(what, line.replace(hidden, shown)),
        format!("the whole log is {}", log.display()),
    ))
}

/// The first line that reports an error.
pub(crate) fn first_error(log: &str) -> Option<String> {
    let marks = [
        ": error: ",
        ": fatal error: ",
        "ERROR: ",
        "*** ",
        ": undefined reference to ",
        ": multiple definition of ",
        ": not found",
    ];
    let mut lines = log.lines().map(str::trim);
    let line = lines.find(|line| marks.iter().any(|mark| line.contains(mark)))?;
    Some(line.to_string())
}

/// Why make cannot work with this path, which it would split; `None` if it can.
pub(crate) fn refused(path: &Path) -> Option<String> {
    let text = path.to_string_lossy();
    let parted = [' ', '\t', '\n', ':', '#', '$', '\'', '"', '%', '='];
    text.contains(parted)
        .then(|| format!("make cannot work in {text}, because of the signs in its path"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_is_found_among_the_rest() {
        let log = "make: Entering directory '/h'\n  CC [M]  /b/a.o\n\
            /b/a.c:3:5: warning: unused\n/b/a.c:4:1: error: unknown type name 'x'\n\
            make[2]: *** [a.o] Error 1\n";
        assert_eq!(
            first_error(log).as_deref(),
            Some("/b/a.c:4:1: error: unknown type name 'x'")
        );
        let modpost = "ERROR: modpost: \"f\" [/b/a.ko] undefined!\nmake[1]: *** [x] Error 1\n";
        assert!(first_error(modpost).is_some_and(|line| line.contains("\"f\"")));
        assert_eq!(first_error("  CC [M]  a.o\n"), None);
    }
}
