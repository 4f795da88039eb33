//! Set-up and tear-down actions.

use std::fs::OpenOptions;
use std::io::Write;

use assize_job::{Action, AgentMessage, RunStage, Scheduling};

use crate::modules::RunModules;
use crate::process::{Body, Child, WaitLimits, program};
use crate::sys;

/// The context in which actions are carried out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ActionContext<'a> {
    /// The job's seed.
    pub(crate) seed: u64,
    /// How long a command may take.
    pub(crate) limits: WaitLimits<'a>,
    /// Whether this is process 1 of a virtual machine.
    pub(crate) guest: bool,
}

/// Carries out actions in order. Returns the failures; a set-up stops at its
/// first one.
pub(crate) fn carry_out(
    actions: &[Action],
    stage: RunStage,
    with: &ActionContext<'_>,
    modules: &mut RunModules,
) -> Vec<AgentMessage> {
    let mut failures = Vec::new();
    for action in actions {
        let (what, done) = match action {
            Action::Module { module, parameters } => (
                format!("module {module}"),
                modules.load(module, parameters, with),
            ),
            Action::Sysctl { name, value } => {
                (format!("sysctl {name}"), write(&of_sysctl(name), value))
            }
            Action::Write { path, value } => (format!("write {path}"), write(path, value)),
            Action::Command { argv } => {
                (format!("command {}", argv.join(" ")), command(argv, with))
            }
        };
        if let Err(why) = done {
            failures.push(AgentMessage::Failed { stage, what, why });
            // A set-up is useless unless complete. A tear-down undoes what it
            // can.
            if stage != RunStage::Teardown {
                break;
            }
        }
    }
    failures
}

/// The path of a sysctl.
pub(crate) fn of_sysctl(name: &str) -> String {
    format!("/proc/sys/{}", name.replace('.', "/"))
}

/// Writes a value in one call, because files of the kernel take each write for
/// a whole value.
fn write(path: &str, value: &str) -> Result<(), String> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(path)
        .and_then(|mut file| file.write_all(value.as_bytes()))
        .map_err(|error| format!("{path}: {}", sys::error_text(&error)))
}

/// Runs a command to its end.
pub(crate) fn command(argv: &[String], with: &ActionContext<'_>) -> Result<(), String> {
    let body = Body::Exec(program(argv, with.seed)?);
    let mut child = Child::start(body, &Scheduling::default(), with.guest)
        .map_err(|error| format!("new process: {}", sys::error_text(&error)))?;
    let ready = child.wait_ready(&with.limits);
    if ready.is_err() {
        child.kill();
    }
    child.release();
    let cut_short = child.wait_end(&with.limits);
    let left = child.reap().map_err(|error| sys::error_text(&error))?;
    ready?;
    cut_short
        .or_else(|| left.why_failed(&[0]))
        .map_or(Ok(()), Err)
}
