//! QEMU's control channel, as far as it is needed: one JSON text a line on
//! QEMU's standard input and output.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout};

use serde_json::{Value, json};

/// The control channel of one QEMU process.
#[derive(Debug)]
pub(crate) struct Qmp {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    events: Vec<Value>,
}

/// Why a command was not carried out.
#[derive(Debug)]
pub(crate) enum QmpError {
    /// QEMU has gone, or talks nonsense.
    Gone(String),
    /// QEMU says no.
    Refused(String),
}

impl std::fmt::Display for QmpError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            QmpError::Gone(how) => write!(f, "QEMU has gone: {how}"),
            QmpError::Refused(why) => write!(f, "QEMU refuses: {why}"),
        }
    }
}

impl From<io::Error> for QmpError {
    fn from(error: io::Error) -> Self {
        QmpError::Gone(error.to_string())
    }
}

impl Qmp {
    /// Takes the channel of a process whose standard input and output are
    /// pipes.
    pub(crate) fn of(child: &mut Child) -> Result<Qmp, QmpError> {
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(QmpError::Gone("its channel is not a pipe".into()));
        };
        let mut qmp = Qmp {
            input,
            output: BufReader::new(output),
            events: Vec::new(),
        };
        qmp.read()?;
        qmp.execute("qmp_capabilities", json!({}))?;
        Ok(qmp)
    }

    /// Carries out one command and gives its answer.
    pub(crate) fn execute(&mut self, command: &str, arguments: Value) -> Result<Value, QmpError> {
        let line = json!({"execute": command, "arguments": arguments});
        writeln!(self.input, "{line}")?;
        self.input.flush()?;
        loop {
            let answer = self.read()?;
            if let Some(value) = answer.get("return") {
                return Ok(value.clone());
            }
            if let Some(error) = answer.get("error") {
                let why = error.get("desc").and_then(Value::as_str);
                return Err(QmpError::Refused(why.unwrap_or("?").to_string()));
            }
            self.events.push(answer);
        }
    }

    /// Waits for an event for which `wanted` gives something; forgets the
    /// others.
    pub(crate) fn wait<T>(&mut self, wanted: impl Fn(&Value) -> Option<T>) -> Result<T, QmpError> {
        for event in self.events.drain(..) {
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

    /// Waits until a migration has ended.
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
