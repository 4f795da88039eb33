//! Set-up and tear-down.

use std::fs::OpenOptions;
use std::io::Write;

use assize_job::{Action, Record, Scheduling, Stage};

use crate::process::{Body, Child};
use crate::workload::{self, program};
use crate::{modules, sys};

/// Carries out actions in order. The failure of the first that fails; the
/// others are not begun, unless `all` is asked for.
pub(crate) fn carry_out(
    actions: &[Action],
    stage: Stage,
    seed: u64,
    timeout_ms: u64,
    guest: bool,
) -> Vec<Record> {
    let mut failures = Vec::new();
    for action in actions {
        let (what, done) = match action {
            Action::Module { module, parameters } => (
                format!("module {module}"),
                modules::load(module, parameters, guest),
            ),
            Action::Sysctl { name, value } => {
                let path = format!("/proc/sys/{}", name.replace('.', "/"));
                (format!("sysctl {name}"), write(&path, value))
            }
            Action::Write { path, value } => (format!("write {path}"), write(path, value)),
            Action::Command { argv } => (
                format!("command {}", argv.join(" ")),
                command(argv, seed, timeout_ms, guest),
            ),
        };
        if let Err(why) = done {
            failures.push(Record::Failed { stage, what, why });
            // A set-up that is not whole is no set-up. A tear-down undoes
            // what it can.
            if stage != Stage::Teardown {
                break;
            }
        }
    }
    failures
}

/// Writes a file as a whole, in one call: files of the kernel take each call
/// for a whole value.
fn write(path: &str, value: &str) -> Result<(), String> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(path)
        .and_then(|mut file| file.write_all(value.as_bytes()))
        .map_err(|error| format!("{path}: {}", sys::words(&error)))
}

/// Runs a command to its end.
pub(crate) fn command(
    argv: &[String],
    seed: u64,
    timeout_ms: u64,
    guest: bool,
) -> Result<(), String> {
    let body = Body::Exec(program(argv, seed)?);
    let deadline = workload::deadline(timeout_ms);
    let mut child = Child::start(body, &Scheduling::default(), guest)
        .map_err(|error| format!("new process: {}", sys::words(&error)))?;
    let ready = child.wait_ready(deadline);
    child.release();
    let in_time = ready.is_ok() && child.wait_end(deadline);
    if !in_time {
        child.kill();
    }
    let left = child.reap().map_err(|error| sys::words(&error))?;
    ready?;
    if !in_time {
        return Err(format!("not done after {timeout_ms} ms; it was killed"));
    }
    workload::failure(&left, &[0]).map_or(Ok(()), Err)
}
