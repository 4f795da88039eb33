//! Exit status and output of a process.

use std::borrow::Cow;

use crate::sys::{self, ProcessEnd, ProcessUsage};

/// Maximum number of lines, and bytes, of output quoted to explain a failure.
const LINES_MAX: usize = 5;
const BYTES_MAX: usize = 2000;

/// Exit, CPU time and output of a process that has ended.
#[derive(Debug)]
pub(crate) struct ProcessExit {
    /// How it ended.
    pub(crate) end: ProcessEnd,
    /// CPU time and memory used by the process and the children it waited for.
    pub(crate) used: ProcessUsage,
    /// The reason that the child gave for its failure.
    pub(crate) failure: Option<String>,
    /// Its standard output.
    pub(crate) stdout: Vec<u8>,
    /// Its standard error.
    pub(crate) stderr: Vec<u8>,
    /// Its records, one per line.
    pub(crate) results: String,
}

impl ProcessExit {
    /// Its standard output; invalid UTF-8 is replaced.
    pub(crate) fn stdout_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.stdout)
    }

    /// Its standard error; invalid UTF-8 is replaced.
    pub(crate) fn stderr_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.stderr)
    }

    /// Why the process failed; `None` if its exit status is one of `statuses`.
    pub(crate) fn why_failed(&self, statuses: &[i32]) -> Option<String> {
        if let Some(why) = &self.failure {
            return Some(why.clone());
        }
        let how = match self.end {
            ProcessEnd::Exited(status) if statuses.contains(&status) => return None,
            ProcessEnd::Exited(status) => format!("exit status {status}"),
            ProcessEnd::Killed { signal, core } => {
                let core = if core { ", core dumped" } else { "" };
                format!("killed by {}{core}", sys::signal_name(signal))
            }
        };
        let output = self.last_lines();
        Some(if output.is_empty() {
            format!("{how}; it printed nothing")
        } else {
            format!("{how}: {output}")
        })
    }

    /// The last lines of standard error, or of standard output if that is empty, joined
    /// to one line.
    pub(crate) fn last_lines(&self) -> String {
        let output = [self.stderr_text(), self.stdout_text()]
            .into_iter()
            .find(|text| !text.trim().is_empty())
            .unwrap_or_default();
        let lines: Vec<&str> = output
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        let joined = lines[lines.len().saturating_sub(LINES_MAX)..].join("; ");
        let start = joined.len().saturating_sub(BYTES_MAX);
        let start = (start..=joined.len()).find(|at| joined.is_char_boundary(*at));
        joined[start.unwrap_or(0)..].to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exit(stdout: &str, stderr: &str) -> ProcessExit {
        ProcessExit {
            end: ProcessEnd::Exited(1),
            used: ProcessUsage::default(),
            failure: None,
            stdout: stdout.into(),
            stderr: stderr.into(),
            results: String::new(),
        }
    }

    #[test]
    fn the_last_lines_tell() {
        assert_eq!(exit("out\n", "").last_lines(), "out");
        assert_eq!(exit("out\n", " a\n\nb\n").last_lines(), "a; b");
        assert_eq!(exit("", "1\n2\n3\n4\n5\n6\n").last_lines(), "2; 3; 4; 5; 6");
        assert_eq!(exit("", &"ä".repeat(3000)).last_lines().len(), BYTES_MAX);
        assert_eq!(exit("", "").last_lines(), "");
    }
}
