//! A minimal QMP client: one JSON text per line on QEMU's standard input and output.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::Timespec;
use rustix::io::Errno;
use serde_json::{Value, json};

use crate::qemu::YEAR;

/// The QMP channel of one QEMU process.
#[derive(Debug)]
pub(crate) struct Qmp {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    events: VecDeque<Value>,
    /// Number of commands sent.
    commands: u64,
}

/// Maximum wait for a reply, in multiples of [`TURN`].
const TURNS: u32 = 60;
/// Maximum duration of a single wait.
pub(crate) const TURN: Duration = Duration::from_secs(1);

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum QmpError {
    /// QEMU has exited, or its output is not QMP.
    #[error("QEMU has ended: {0}")]
    Gone(String),
    /// QEMU refused the command.
    #[error("QEMU refuses: {0}")]
    Refused(String),
    /// The expected event will not come.
    #[error("{0}")]
    Stalled(String),
}

impl From<io::Error> for QmpError {
    fn from(error: io::Error) -> Self {
        QmpError::Gone(error.to_string())
    }
}

impl Qmp {
    /// Opens the channel of a process whose standard input and output are pipes.
    pub(crate) fn connect(child: &mut Child) -> Result<Qmp, QmpError> {
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(QmpError::Gone("its channel is not a pipe".into()));
        };
        let mut qmp = Qmp {
            input,
            output: BufReader::new(output),
            events: VecDeque::new(),
            commands: 0,
        };
        qmp.read()?;
        qmp.execute("qmp_capabilities", json!({}))?;
        Ok(qmp)
    }

    /// Executes one command and returns its reply.
    pub(crate) fn execute(&mut self, command: &str, arguments: Value) -> Result<Value, QmpError> {
        let id = self.send(command, arguments)?;
        loop {
            let line = self.read()?;
            if let Some(answer) = self.take(line, id) {
                return answer;
            }
        }
    }

    fn send(&mut self, command: &str, arguments: Value) -> Result<u64, QmpError> {
        self.commands += 1;
        let id = self.commands;
        let line = json!({"execute": command, "arguments": arguments, "id": id});
        writeln!(self.input, "{line}")?;
        self.input.flush()?;
        Ok(id)
    }

    /// Returns the reply to a command, if this line is one. Queues events; drops replies to
    /// commands that nobody waits for any more.
    fn take(&mut self, line: Value, id: u64) -> Option<Result<Value, QmpError>> {
        let Some(of) = line.get("id") else {
            self.events.push_back(line);
            return None;
        };
        if of.as_u64() != Some(id) {
            return None;
        }
        let why = |error: &Value| error.get("desc").and_then(Value::as_str).map(str::to_owned);
        Some(match (line.get("return"), line.get("error")) {
            (Some(value), _) => Ok(value.clone()),
            (None, error) => {
                let why = error.and_then(why).unwrap_or_else(|| "?".into());
                Err(QmpError::Refused(why))
            }
        })
    }

    /// Returns the next event, if one arrives within [`TURN`].
    pub(crate) fn event(&mut self) -> Result<Option<Value>, QmpError> {
        if let Some(event) = self.events.pop_front() {
            return Ok(Some(event));
        }
        if !self.readable()? {
            return Ok(None);
        }
        // A late reply has no `event` key, so callers ignore it.
        self.read().map(Some)
    }

    /// How much guest time has passed since power-on, if QEMU answers.
    pub(crate) fn guest_time(&mut self) -> Option<Duration> {
        let clock = json!({"path": "/machine", "property": "rtc-time"});
        let id = self.send("qom-get", clock).ok()?;
        for _ in 0..TURNS {
            if self.readable().ok()? {
                let line = self.read().ok()?;
                if let Some(answer) = self.take(line, id) {
                    return since_switched_on(&answer.ok()?);
                }
            }
        }
        None
    }

    /// Waits up to [`TURN`] for something to read.
    fn readable(&mut self) -> Result<bool, QmpError> {
        if !self.output.buffer().is_empty() {
            return Ok(true);
        }
        let turn = Timespec {
            tv_sec: TURN.as_secs().cast_signed(),
            tv_nsec: 0,
        };
        let mut output = [PollFd::new(self.output.get_ref(), PollFlags::IN)];
        match poll(&mut output, Some(&turn)) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(io::Error::from(error).into()),
        }
    }

    /// Waits for an event that `wanted` accepts, and discards the others.
    pub(crate) fn wait<T>(&mut self, wanted: impl Fn(&Value) -> Option<T>) -> Result<T, QmpError> {
        while let Some(event) = self.events.pop_front() {
            if let Some(found) = wanted(&event) {
                return Ok(found);
            }
        }
        loop {
            let event = self.read()?;
            if let Some(found) = wanted(&event) {
                return Ok(found);
            }
        }
    }

    /// Waits for a migration to end.
    pub(crate) fn migrated(&mut self) -> Result<(), QmpError> {
        let status = self.wait(|event| {
            let status = event.get("data")?.get("status")?.as_str()?;
            let ended = event.get("event")? == "MIGRATION"
                && ["completed", "failed", "cancelled"].contains(&status);
            ended.then(|| status.to_string())
        })?;
        if status == "completed" {
            return Ok(());
        }
        let why = self.execute("query-migrate", json!({}))?;
        let why = why.get("error-desc").and_then(Value::as_str);
        let why = why.map_or(String::new(), |why| format!(": {why}"));
        Err(QmpError::Refused(format!("the memory image {status}{why}")))
    }

    fn read(&mut self) -> Result<Value, QmpError> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err(QmpError::Gone("it closed its control channel".into()));
        }
        serde_json::from_str(&line).map_err(|error| QmpError::Gone(error.to_string()))
    }
}

/// Guest time since power-on, from the date that the guest's clock shows. The machine is
/// powered on at the start of [`YEAR`].
fn since_switched_on(date: &Value) -> Option<Duration> {
    let field = |name: &str| date.get(name)?.as_i64();
    let year = field("tm_year")? + 1900;
    let days = days(year, field("tm_mon")? + 1, field("tm_mday")?) - days(YEAR, 1, 1);
    let hours = days * 24 + field("tm_hour")?;
    let seconds = (hours * 60 + field("tm_min")?) * 60 + field("tm_sec")?;
    u64::try_from(seconds).ok().map(Duration::from_secs)
}

/// The number of a day in the Gregorian calendar, counted from a fixed day.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the leap day is the last one.
    let (year, month) = match month {
        1 | 2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let leap = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap + (153 * month + 2) / 5 + day
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(year: i64, month: i64, day: i64, second: i64) -> Value {
        json!({
            "tm_year": year - 1900, "tm_mon": month - 1, "tm_mday": day,
            "tm_hour": 0, "tm_min": 0, "tm_sec": second,
        })
    }

    #[test]
    fn the_guests_clock_tells_how_long_it_is_on() {
        let after = |date: &Value| since_switched_on(date).map(|time| time.as_secs());
        assert_eq!(after(&date(2026, 1, 1, 0)), Some(0));
        assert_eq!(after(&date(2026, 1, 1, 59)), Some(59));
        assert_eq!(after(&date(2026, 3, 1, 0)), Some(59 * 86_400));
        assert_eq!(after(&date(2027, 1, 1, 1)), Some(365 * 86_400 + 1));
        assert_eq!(after(&date(2028, 3, 1, 0)), Some((730 + 60) * 86_400));
        // A guest may set its clock.
        assert_eq!(after(&date(2025, 12, 31, 0)), None);
        assert_eq!(after(&json!({})), None);
    }
}
