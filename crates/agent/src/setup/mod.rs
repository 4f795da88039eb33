//! Prepares the machine for a run: actions of the set-up and the tear-down, modules,
//! governors and placement policies.

mod command;
mod module_order;
pub(crate) mod modules;
pub(crate) mod policy;
pub(crate) mod power;

use std::fs::OpenOptions;
use std::io::Write;

use assize_job::{Action, AgentMessage, RunStage};

use self::modules::RunModules;
use crate::records::failed;
use crate::sys;

pub(crate) use command::CommandContext;

/// Carries out actions in order. Returns the failures; a set-up stops at the first.
pub(crate) fn carry_out(
    actions: &[Action],
    stage: RunStage,
    with: &CommandContext<'_>,
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
                (format!("sysctl {name}"), write(&sysctl_path(name), value))
            }
            Action::Write { path, value } => (format!("write {path}"), write(path, value)),
            Action::Command { argv } => (
                format!("command {}", argv.join(" ")),
                command::run(argv, with),
            ),
        };
        if let Err(why) = done {
            failures.push(failed(stage, what, why));
            // A set-up is useless unless complete. A tear-down undoes what it
            // can.
            if stage != RunStage::Teardown {
                break;
            }
        }
    }
    failures
}

/// The file of a sysctl.
pub(crate) fn sysctl_path(name: &str) -> String {
    format!("/proc/sys/{}", name.replace('.', "/"))
}

/// Writes a value with one system call: the kernel treats each write as a whole value.
fn write(path: &str, value: &str) -> Result<(), String> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(path)
        .and_then(|mut file| file.write_all(value.as_bytes()))
        .map_err(sys::failure_of(&path))
}
