//! Runs make with its output in a log.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use crate::Error;
use crate::fault::{failed, io, mend, write};
use crate::process::{ChildProcess, in_words};
use crate::sandbox::{Folders, Limits, Sandbox, Watch, remains};

/// No limit: a build takes minutes, but unpredictably longer under load.
const NO_LIMIT: Duration = Duration::MAX;
/// How many bytes of a log are searched for an error.
const LOG: u64 = 64 << 20;
/// Why a build was stopped at its limit.
const TIME: &str = "it exceeded its time limit";

/// A run of make.
#[derive(Debug)]
pub(crate) struct MakeRun<'a> {
    /// The attempted action, for error messages.
    pub(crate) what: &'a str,
    /// The directory in which it runs.
    pub(crate) directory: &'a Path,
    /// The file for its output.
    pub(crate) log: &'a Path,
    /// A text in its messages, and what to show for it.
    pub(crate) shown: (&'a str, &'a str),
    /// The sandbox in which make runs.
    pub(crate) sandbox: &'a Sandbox,
    /// The directories that the sandbox shows.
    pub(crate) folders: Folders,
    /// The limits on the resources that make uses in the sandbox.
    pub(crate) limits: Limits,
    /// A file that exists while make runs in the sandbox, and remains if make is killed or its
    /// output is refused.
    pub(crate) unfinished: Option<&'a Path>,
}

impl MakeRun<'_> {
    /// Runs a command, which sends make's output to its standard error, until it ends. If the
    /// build fails, the error quotes the first line of the log that says why.
    pub(crate) fn run(&self, command: Command) -> Result<(), Error> {
        let log = File::options()
            .create(true)
            .truncate(true)
            .read(true)
            .write(true)
            .open(self.log);
        let mut log = log.map_err(|error| io("write", self.log, &error))?;
        let why = match self.end_of(command, &log)? {
            End::Status(status) if status.success() => return Ok(()),
            End::Status(status) => format!("make: {}", in_words(status)),
            End::Stopped(why) => {
                return Err(mend(
                    failed(self.what, format!("make was stopped: {why}")),
                    "if you trust the sources, --no-sandbox builds them without limits",
                ));
            }
        };
        let mut text = Vec::new();
        log.rewind()
            .and_then(|()| log.take(LOG).read_to_end(&mut text))
            .map_err(|error| io("read", self.log, &error))?;
        let line = first_error(&String::from_utf8_lossy(&text)).unwrap_or(why);
        let (hidden, shown) = self.shown;
        Err(mend(
            failed(self.what, line.replace(hidden, shown)),
            format!("the full log is {}", self.log.display()),
        ))
    }

    /// Runs the command, in the sandbox if there is one, and checks the files that it leaves there.
    fn end_of(&self, command: Command, log: &File) -> Result<End, Error> {
        let could_not = |error: std::io::Error| failed(self.what, format!("make: {error}"));
        let errors = log.try_clone().map_err(could_not)?;
        let enclosed =
            self.sandbox
                .enclose(command, self.directory, &self.folders, &self.limits)?;
        let Some(scratch) = enclosed.scratch else {
            let process =
                ChildProcess::start(enclosed.command, self.directory, errors, None, NO_LIMIT);
            let status = ended(&mut process.map_err(could_not)?).map_err(could_not)?;
            return Ok(status.map_or_else(|| End::Stopped(TIME.into()), End::Status));
        };
        if let Some(path) = self.unfinished {
            write(path, "")?;
        }
        let limit = self.limits.time;
        let process = ChildProcess::start(enclosed.command, self.directory, errors, None, limit);
        let mut process = process.map_err(could_not)?;
        let watch = Watch {
            process: process.pidfd().map_err(could_not)?,
            id: process.id(),
            folders: vec![self.folders.writable.clone(), scratch.path().to_path_buf()],
            limits: self.limits,
        };
        let watch = watch.start();
        let status = ended(&mut process).map_err(could_not)?;
        // The watching thread panics only through a bug.
        let excess = watch.join().unwrap_or_default();
        remains::check(&self.folders.writable, &self.folders.readable)
            .map_err(|error| error.into_error(self.what))?;
        if let Some(excess) = excess {
            return Ok(End::Stopped(excess.to_string()));
        }
        let Some(status) = status else {
            return Ok(End::Stopped(TIME.into()));
        };
        if let Some(path) = self.unfinished {
            std::fs::remove_file(path).map_err(|error| io("remove", path, &error))?;
        }
        Ok(End::Status(status))
    }
}

enum End {
    Status(ExitStatus),
    /// make was killed, for this reason.
    Stopped(String),
}

/// Waits for the end of a process and of all that write to its output; `None` if it was killed at
/// its time limit.
fn ended(process: &mut ChildProcess) -> std::io::Result<Option<ExitStatus>> {
    drop(process.child().stdin.take());
    if let Some(mut output) = process.child().stdout.take() {
        // Nothing is written here.
        std::io::copy(&mut output, &mut std::io::sink())?;
    }
    process.wait()
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
    first_line_with(log, &marks)
}

/// The first line that has one of these marks.
pub(crate) fn first_line_with(log: &str, marks: &[&str]) -> Option<String> {
    let mut lines = log.lines().map(str::trim);
    let line = lines.find(|line| marks.iter().any(|mark| line.contains(mark)))?;
    Some(line.to_string())
}

/// Why make cannot work with this path, which it would split; `None` if it can.
pub(crate) fn refused(path: &Path) -> Option<String> {
    let text = path.to_string_lossy();
    let parted = [' ', '\t', '\n', ':', '#', '$', '\'', '"', '%', '='];
    text.contains(parted)
        .then(|| format!("make cannot work in {text}, because the path has special characters"))
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
