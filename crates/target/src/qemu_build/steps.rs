//! Runs the programs of a build, with a log.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::Error;
use crate::fault::{failed, io, mend};
use crate::process::{ChildProcess, in_words};

/// Environment variables that would change the build.
const UNSET: &[&str] = &[
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "MAKEFLAGS",
    "PYTHONPATH",
    "PYTHONHOME",
    "VIRTUAL_ENV",
];

/// How many lines at the end of the log to search for an error.
const LAST: usize = 200;

/// The log of one build, with all output of its programs.
#[derive(Debug)]
pub(super) struct BuildLog {
    path: PathBuf,
    file: File,
}

impl BuildLog {
    /// Creates a log at `path`.
    pub(super) fn begin(path: PathBuf) -> Result<BuildLog, Error> {
        // Child processes append to it, too.
        let file = File::create(&path).and_then(|_| File::options().append(true).open(&path));
        let file = file.map_err(|error| io("write", &path, &error))?;
        Ok(BuildLog { path, file })
    }

    /// Runs a program to its end, and passes each line of its standard output to `watch`.
    /// If it fails, the error begins with `what`.
    pub(super) fn run(
        &mut self,
        what: &str,
        mut command: Command,
        directory: &Path,
        watch: &mut dyn FnMut(&str),
    ) -> Result<(), Error> {
        for name in UNSET {
            command.env_remove(name);
        }
        command.env("LC_ALL", "C");
        let program = command.get_program().to_string_lossy().into_owned();
        let start = |error| failed(what, format!("start {program}: {error}"));
        let errors = File::options().append(true).open(&self.path);
        let errors = errors.map_err(|error| io("write", &self.path, &error))?;
        let mut process =
            ChildProcess::start(command, directory, errors, None, Duration::MAX).map_err(start)?;
        drop(process.child().stdin.take());
        if let Some(output) = process.child().stdout.take() {
            for line in BufReader::new(output).split(b'\n') {
                let line = line.map_err(start)?;
                let line = String::from_utf8_lossy(&line);
                // If this fails, the line is only missing in the log.
                let _ = writeln!(self.file, "{line}");
                watch(&line);
            }
        }
        match process.wait().map_err(start)? {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(self.complaint(what, &program, &in_words(status))),
            None => Err(failed(what, format!("{program} did not end"))),
        }
    }

    /// The error for a failed program, with the line of the log that says why.
    fn complaint(&self, what: &str, program: &str, how: &str) -> Error {
        let text = std::fs::read(&self.path).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let why = match telling(&text) {
            Some(line) => format!("{program}: {line}"),
            None => format!("{program}: {how}"),
        };
        if text.contains("No space left on device") {
            let free = "free some space, or set ASSIZE_CACHE to another disk";
            return mend(failed(what, why), free);
        }
        mend(failed(what, why), format!("read {}", self.path.display()))
    }
}

/// The first of the last lines that mentions an error, else the last one.
fn telling(log: &str) -> Option<&str> {
    let lines: Vec<&str> = log
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let last = &lines[lines.len().saturating_sub(LAST)..];
    let marks = ["error:", "ERROR:", "FAILED", "No space left on device"];
    let mut told = last.iter();
    told.find(|line| marks.iter().any(|mark| line.contains(mark)))
        .or(last.last())
        .copied()
}

/// Reports the progress of a build in tenths, from the `[12/345]` at the start of ninja's
/// lines.
#[derive(Debug, Default)]
pub(super) struct BuildProgress {
    told: u64,
}

impl BuildProgress {
    /// Returns the progress in percent, if another tenth is done.
    pub(super) fn see(&mut self, line: &str) -> Option<u64> {
        let (count, _) = line.strip_prefix('[')?.split_once(']')?;
        let (done, all) = count.split_once('/')?;
        let (done, all): (u64, u64) = (done.parse().ok()?, all.parse().ok()?);
        let tenths = (done * 10).checked_div(all)?;
        (tenths > self.told).then(|| {
            self.told = tenths;
            tenths * 10
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_told_by_tenths() {
        let mut tenths = BuildProgress::default();
        let told: Vec<u64> = (1..=40)
            .filter_map(|done| tenths.see(&format!("[{done}/40] Compiling C object")))
            .collect();
        assert_eq!(told, [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
        for line in ["", "[x/9] a", "[1/0] a", "ninja: done", "[3]"] {
            assert_eq!(BuildProgress::default().see(line), None);
        }
    }

    #[test]
    fn what_a_program_prints_is_logged_and_its_error_told() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("log");
        let mut log = BuildLog::begin(path.clone()).unwrap();
        let mut seen = Vec::new();
        let sh = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            command
        };
        let mut see = |line: &str| seen.push(line.to_string());
        log.run("try", sh("echo one; echo two >&2"), place.path(), &mut see)
            .unwrap();
        assert_eq!(seen, ["one"]);
        let bad = sh("echo 'x.c:1: error: no such thing' >&2; echo stopped; exit 1");
        let error = log.run("try", bad, place.path(), &mut |_| ()).unwrap_err();
        assert!(error.why.contains("x.c:1: error"), "{error}");
        assert!(error.mend.unwrap().contains("log"));
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("one") && text.contains("two") && text.contains("stopped"));
        let none = Command::new("/there/is/no/such");
        assert!(log.run("try", none, place.path(), &mut |_| ()).is_err());
    }
}
