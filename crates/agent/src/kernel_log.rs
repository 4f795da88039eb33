//! The kernel's log messages during a run.
//!
//! The console shows only severe messages, not warnings, so the log itself is read, from
//! its end at the start of the run. It is not read while the workload is measured.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

use assize_job::{AgentMessage, RunStage, may_complain};

use crate::sys;

const LOG: &str = "/dev/kmsg";
/// Maximum length of a log entry.
const ENTRY: usize = 8 << 10;
/// At most this many bytes are kept per stage; the first messages matter most.
const MOST: usize = 256 << 10;

/// The kernel's log from the start of a run on.
pub(crate) struct KernelLog {
    log: Result<File, String>,
    said: Vec<(RunStage, String)>,
}

impl KernelLog {
    /// Opens the log and skips earlier messages.
    pub(crate) fn open() -> KernelLog {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(libc::O_NONBLOCK);
        let log = options.open(LOG).and_then(|mut log| {
            log.seek(SeekFrom::End(0))?;
            Ok(log)
        });
        KernelLog {
            log: log.map_err(|error| format!("{LOG}: {}", sys::error_text(&error))),
            said: Vec::new(),
        }
    }

    /// Reads the messages since the last call. They are kept, under this stage, if one
    /// of them may be a complaint.
    pub(crate) fn take(&mut self, stage: RunStage) {
        let Ok(log) = &mut self.log else { return };
        let text = lines(log);
        if text.lines().any(may_complain) {
            self.said.push((stage, text));
        }
    }

    /// The log of each stage in which the kernel may have complained, or why it was not
    /// read.
    pub(crate) fn records(self) -> Vec<AgentMessage> {
        if let Err(why) = self.log {
            let facts = BTreeMap::from([("kernel_log".to_owned(), format!("not read: {why}"))]);
            return vec![AgentMessage::Environment { facts }];
        }
        let said = self.said.into_iter();
        said.map(|(stage, text)| AgentMessage::KernelLog { stage, text })
            .collect()
    }
}

/// Entries of the kernel itself up to the end of the log, formatted like `dmesg`.
fn lines(log: &mut impl Read) -> String {
    let mut text = String::new();
    let mut entry = vec![0; ENTRY];
    loop {
        match log.read(&mut entry) {
            Ok(0) => return text,
            Ok(length) => {
                let entry = String::from_utf8_lossy(&entry[..length]);
                let line = line(&entry).filter(|line| text.len() + line.len() < MOST);
                text.extend(line);
            }
            // Older entries were overwritten before they were read.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return text,
        }
    }
}

/// Formats an entry, `PRIORITY,NUMBER,MICROSECONDS,FLAGS;MESSAGE`, as a line. `None` if
/// it is malformed or a program wrote it.
fn line(entry: &str) -> Option<String> {
    let (head, message) = entry.split_once(';')?;
    let mut fields = head.split(',');
    let priority: u32 = fields.next()?.parse().ok()?;
    let microseconds: u64 = fields.nth(1)?.parse().ok()?;
    // The bits above the level are the facility; the kernel's is 0.
    (priority >> 3 == 0).then(|| {
        let message = message.lines().next().unwrap_or_default();
        let (s, us) = (microseconds / 1_000_000, microseconds % 1_000_000);
        format!("[{s:5}.{us:06}] {message}\n")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_becomes_a_line_as_dmesg_shows_it() {
        assert_eq!(
            line("4,339,5140900,-;WARNING: CPU: 0 at x\n SUBSYSTEM=a\n DEVICE=b\n").as_deref(),
            Some("[    5.140900] WARNING: CPU: 0 at x\n")
        );
        // A program wrote it.
        assert_eq!(line("12,340,5140901,-;WARNING: CPU: 0 at x\n"), None);
        assert_eq!(line("no entry"), None);
        assert_eq!(line("x,1,2,-;a"), None);
    }

    #[test]
    fn a_log_that_cannot_be_read_is_told_and_fails_nothing() {
        let log = KernelLog {
            log: Err("/dev/kmsg: not permitted".into()),
            said: Vec::new(),
        };
        let facts = BTreeMap::from([(
            "kernel_log".to_owned(),
            "not read: /dev/kmsg: not permitted".to_owned(),
        )]);
        assert_eq!(log.records(), [AgentMessage::Environment { facts }]);
    }
}
