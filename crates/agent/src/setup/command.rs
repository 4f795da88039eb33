//! Runs the commands of set-up and tear-down.

use assize_job::Scheduling;

use crate::process::{Body, Child, WaitLimits, program};
use crate::sys;

/// Settings for the commands of the set-up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommandContext<'a> {
    /// Replaces `{seed}` in its arguments.
    pub(crate) seed: u64,
    /// How long it may take.
    pub(crate) limits: WaitLimits<'a>,
    /// Whether this is process 1 of a virtual machine.
    pub(crate) guest: bool,
}

/// Runs a command to its end.
pub(crate) fn run(argv: &[String], context: &CommandContext<'_>) -> Result<(), String> {
    let body = Body::Exec(program(argv, context.seed)?);
    let mut child = Child::start(body, &Scheduling::default(), context.guest)
        .map_err(sys::failure_of("new process"))?;
    let ready = child.wait_ready(&context.limits);
    if ready.is_err() {
        child.kill();
    }
    child.release();
    let cut_short = child.wait_end(&context.limits);
    let left = child.reap().map_err(|error| sys::error_text(&error))?;
    ready?;
    cut_short
        .or_else(|| left.why_failed(&[0]))
        .map_or(Ok(()), Err)
}
