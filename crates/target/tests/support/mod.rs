//! Helpers for the tests of several targets.

#![allow(dead_code)] // Each test file uses a part of it.
#![allow(clippy::panic)] // A test may fail.

pub(crate) mod sshd;

use std::io::Write;
use std::path::PathBuf;
use std::process::Command as Process;

use assize_job::{AgentMessage, CommandWorkload, Order, Workload, WorkloadKind};
use assize_target::exact::{Exact, Options};
use assize_target::kernels::Kernels;
use assize_target::{RunOutcome, Target};

/// A shell command that prints the first line of an answer.
pub(crate) const HELLO: &str =
    r#"echo '{"record":"hello","schema":"assize.agent/1","version":"test"}'"#;

/// A shell command that prints a complete answer.
pub(crate) const WHOLE: &str = r#"printf '%s\n' \
    '{"record":"hello","schema":"assize.agent/1","version":"test"}' \
    '{"record":"metric","metric":"m","value":1.5,"unit":"ns"}' \
    '{"record":"end","records":2}'"#;

/// A directory for agents that are shell scripts.
pub(crate) struct Scripts(tempfile::TempDir);

impl Scripts {
    pub(crate) fn new() -> Scripts {
        Scripts(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// An agent that runs this script.
    pub(crate) fn agent(&self, script: &str) -> PathBuf {
        let path = self.path("agent");
        // Another process writes it: a file that is open for writing here, or in a fork of
        // this process, cannot be executed.
        let done = Process::new("sh")
            .args([
                "-c",
                r#"printf '#!/bin/sh\n%s\n' "$1" > "$2" && chmod 755 "$2""#,
            ])
            .args(["sh", script])
            .arg(&path)
            .status()
            .unwrap();
        assert!(done.success());
        path
    }
}

/// The static agent; `None`, with a counted skip, if there is none.
pub(crate) fn real_agent() -> Option<PathBuf> {
    match assize_target::agent::find() {
        Ok(agent) => Some(agent),
        Err(error) => {
            skip(&error.to_string());
            None
        }
    }
}

/// The records of a run on the exact machine, which must not fail.
pub(crate) fn records(exact: &Exact, order: &Order) -> Vec<AgentMessage> {
    exact.prepare(std::slice::from_ref(order)).unwrap();
    match exact.run(order, 0).unwrap().outcome {
        RunOutcome::Completed(records) => records,
        RunOutcome::Failed {
            failure, console, ..
        } => panic!("{failure}\n{console}"),
    }
}

/// The exact machine with this kernel and number of CPUs, for which the testbed's modules
/// can be built; `None`, with a message, if it is not available.
pub(crate) fn exact(kernel: &str, cpus: u32) -> Option<Exact> {
    let root = Kernels::default_root().unwrap();
    let options = Options {
        fresh: true,
        cold: false,
        unpinned: false,
    };
    let there = Kernels::new(root.clone())
        .resolve(kernel)
        .and_then(|kernel| assize_target::testbed::compiler(&kernel))
        .and_then(|_| Exact::new(root, options))
        .and_then(|exact| exact.qemu().fits(cpus).map(|()| exact));
    there.map_err(|error| skip(&error.to_string())).ok()
}

/// Reports a skipped test in the form that is counted.
pub(crate) fn skip(why: &str) {
    // Not `eprintln!`: the test harness would capture it.
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

/// A workload that runs this command.
pub(crate) fn command(argv: &[&str]) -> Workload {
    Workload {
        name: "w".into(),
        kind: WorkloadKind::Command(CommandWorkload {
            argv: argv.iter().map(ToString::to_string).collect(),
            statuses: vec![0],
            ..CommandWorkload::default()
        }),
    }
}

/// The output of tools.
pub(crate) fn raw(records: &[AgentMessage]) -> impl Iterator<Item = &str> {
    records.iter().filter_map(|record| match record {
        AgentMessage::Raw { text, .. } => Some(text.as_str()),
        _ => None,
    })
}
