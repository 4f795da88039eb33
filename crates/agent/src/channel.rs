//! The stream of records that the agent sends.

use std::io::{self, Write};

use assize_job::AgentMessage;

use crate::ports::Ports;

/// Where records are sent.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RecordSink {
    /// Standard output.
    Stdout,
    /// The debug console of a virtual machine.
    DebugConsole(Ports),
}

impl RecordSink {
    /// Writes bytes and waits until they are delivered.
    pub(crate) fn write(self, bytes: &[u8]) -> io::Result<()> {
        match self {
            RecordSink::Stdout => {
                let mut out = io::stdout().lock();
                out.write_all(bytes)?;
                out.flush()
            }
            RecordSink::DebugConsole(ports) => {
                ports.write_console(bytes);
                Ok(())
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct Channel {
    way: RecordSink,
    sent: u64,
    broken: Option<io::Error>,
}

impl Channel {
    /// Creates a stream.
    pub(crate) fn new(way: RecordSink) -> Channel {
        Channel {
            way,
            sent: 0,
            broken: None,
        }
    }

    /// Sends a record. After a failure, nothing more is sent.
    pub(crate) fn send(&mut self, record: &AgentMessage) {
        match serde_json::to_string(record) {
            Ok(line) => self.line(&line),
            Err(error) => self.broken = Some(error.into()),
        }
    }

    /// Sends several records.
    pub(crate) fn send_all(&mut self, records: &[AgentMessage]) {
        for record in records {
            self.send(record);
        }
    }

    /// Sends records that are already JSON, one per line.
    pub(crate) fn forward(&mut self, lines: &str) {
        for line in lines.lines().filter(|line| !line.is_empty()) {
            self.line(line);
        }
    }

    /// Sends the last record. Fails if any record could not be sent.
    pub(crate) fn end(mut self) -> io::Result<()> {
        let records = self.sent;
        self.send(&AgentMessage::End { records });
        self.broken.map_or(Ok(()), Err)
    }

    fn line(&mut self, line: &str) {
        if self.broken.is_some() {
            return;
        }
        match self.way.write(format!("{line}\n").as_bytes()) {
            Ok(()) => self.sent += 1,
            Err(error) => self.broken = Some(error),
        }
    }
}
