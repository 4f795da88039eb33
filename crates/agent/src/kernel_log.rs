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
/// Maximum number of bytes kept of a stage's log; the first messages matter most.
const LOG_MAX: usize = 256 << 10;
/// Maximum number of bytes if possible complaints need more.
const LOG_WITH_COMPLAINTS_MAX: usize = 1 << 20;
/// Number of lines kept after a possible complaint: its trace.
const TRACE_LINES: usize = 60;

/// The kernel's log from the start of a run on.
pub(crate) struct KernelLog {
    log: Result<File, String>,
    /// The stages in which the kernel may have complained, and their logs.
    complaining: Vec<(RunStage, String)>,
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
            log: log.map_err(sys::failure_of(LOG)),
            complaining: Vec::new(),
        }
    }

    /// Reads the messages since the last call, which belong to this stage. Keeps them if
    /// one of them may be a complaint.
    pub(crate) fn take(&mut self, stage: RunStage) {
        let Ok(log) = &mut self.log else { return };
        self.complaining
            .extend(log_with_complaint(log).map(|text| (stage, text)));
    }

    /// The log of each stage in which the kernel may have complained, or why the log was
    /// not read.
    pub(crate) fn records(self) -> Vec<AgentMessage> {
        if let Err(why) = self.log {
            let facts = BTreeMap::from([("kernel_log".to_owned(), format!("not read: {why}"))]);
            return vec![AgentMessage::Environment { facts }];
        }
        let logs = self.complaining.into_iter();
        logs.map(|(stage, text)| AgentMessage::KernelLog { stage, text })
            .collect()
    }
}

/// Entries of the kernel itself up to the end of the log, formatted like `dmesg`; `None`
/// if none of them may be a complaint.
fn log_with_complaint(log: &mut impl Read) -> Option<String> {
    let mut kept = KeptLines::default();
    let mut entry = vec![0; ENTRY];
    loop {
        match log.read(&mut entry) {
            Ok(0) => break,
            Ok(length) => {
                let entry = String::from_utf8_lossy(&entry[..length]);
                line(&entry).into_iter().for_each(|line| kept.add(&line));
            }
            // Older entries were overwritten before they were read.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    kept.complains.then_some(kept.text)
}

/// The part of a stage's log that is kept: its beginning, and possible complaints with
/// their traces.
#[derive(Default)]
struct KeptLines {
    text: String,
    /// Whether a line may be a complaint.
    complains: bool,
    /// How many of the next lines belong to the last possible complaint.
    trace_left: usize,
}

impl KeptLines {
    fn add(&mut self, line: &str) {
        let mut length_max = LOG_MAX;
        if may_complain(line) {
            self.complains = true;
            self.trace_left = TRACE_LINES + 1;
        }
        if self.trace_left > 0 {
            self.trace_left -= 1;
            length_max = LOG_WITH_COMPLAINTS_MAX;
        }
        if self.text.len() + line.len() < length_max {
            self.text.push_str(line);
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

    /// Returns one entry per read, like /dev/kmsg.
    struct Entries(std::vec::IntoIter<String>);

    impl Read for Entries {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            let entry = self.0.next().unwrap_or_default();
            to[..entry.len()].copy_from_slice(entry.as_bytes());
            Ok(entry.len())
        }
    }

    fn log(messages: Vec<String>) -> Option<String> {
        let entries = messages
            .iter()
            .map(|message| format!("6,1,5000000,-;{message}\n"));
        log_with_complaint(&mut Entries(entries.collect::<Vec<_>>().into_iter()))
    }

    fn chatter(bytes: usize) -> Vec<String> {
        vec!["x".repeat(100); bytes / 100]
    }

    #[test]
    fn a_complaint_after_much_chatter_is_kept_with_its_trace() {
        let mut messages = chatter(300 << 10);
        messages.push("WARNING: CPU: 0 PID: 1 at late".into());
        messages.extend((1..=TRACE_LINES).map(|number| format!("frame {number}")));
        messages.push("after the trace".into());
        let kept = log(messages).unwrap();
        assert!(kept.starts_with("[    5.000000] xxx"));
        assert!(kept.contains("at late\n") && kept.ends_with(" frame 60\n"));
        assert!(kept.len() < LOG_MAX + 4096, "{}", kept.len());
    }

    #[test]
    fn the_first_complaint_is_kept_however_many_follow() {
        let mut messages = chatter(300 << 10);
        messages.extend((0..30_000).map(|number| format!("BUG: complaint {number} of many")));
        let kept = log(messages).unwrap();
        assert!(kept.contains("BUG: complaint 0 of many"));
        assert!(kept.len() <= LOG_WITH_COMPLAINTS_MAX);
    }

    #[test]
    fn a_log_without_a_complaint_is_not_kept() {
        assert_eq!(log(chatter(1000)), None);
    }

    #[test]
    fn a_log_that_cannot_be_read_is_told_and_fails_nothing() {
        let log = KernelLog {
            log: Err("/dev/kmsg: not permitted".into()),
            complaining: Vec::new(),
        };
        let facts = BTreeMap::from([(
            "kernel_log".to_owned(),
            "not read: /dev/kmsg: not permitted".to_owned(),
        )]);
        assert_eq!(log.records(), [AgentMessage::Environment { facts }]);
    }
}
