//! Runs that fail in every possible way. Each is recorded with its console and retried if
//! requested, and none stops the others.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::common::{Outcome, command, errors, recorded};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

crate::common::tests! {
    needs ["agent", "QEMU", "kernel debian:6.12"];
    each_failure_is_recorded_and_stops_nothing = each_failure,
    a_qemu_that_is_killed_is_a_failed_run = killed,
}

const FAILURES: &str = r#"title = "Test"
target = "exact"
runs = 1
retries = 1
timeout = "500ms"
memory = "160M"

[factors.what.fine]
[factors.what.panic]
setup = [{ write = "/proc/sysrq-trigger", value = "c" }]
[factors.what.hang]
setup = [{ write = "/sys/power/state", value = "freeze" }]
[factors.what.timeout]
workload.it.argv = ["sleep", "1000"]
[factors.what.memory]
workload.it.argv = ["tail", "/dev/zero"]
[factors.what.status]
workload.it.argv = ["false"]

[workloads.it]
kind = "command"
argv = ["true"]
"#;

/// Configuration, the failure in `log.jsonl`, the message about it, and text on its
/// console.
const EXPECTED: [(&str, &str, &str, &str); 5] = [
    (
        "panic",
        "panic",
        "sysrq triggered crash",
        "sysrq_handle_crash",
    ),
    ("hang", "stalled", "s of the guest's time have passed", ""),
    ("timeout", "agent", "not done after 500 ms", ""),
    (
        "memory",
        "agent",
        "lack of memory",
        "Out of memory: Killed process",
    ),
    ("status", "agent", "exit status 1", ""),
];

/// The record of each configuration's run.
fn runs(bundle: &Path) -> BTreeMap<String, Value> {
    fs::read_dir(bundle.join("runs"))
        .unwrap()
        .map(|entry| fs::read(entry.unwrap().path()).unwrap())
        .map(|bytes| serde_json::from_slice::<Value>(&bytes).unwrap())
        .map(|run| (run["configuration"].as_str().unwrap().to_string(), run))
        .collect()
}

fn log(bundle: &Path) -> Vec<Value> {
    let text = fs::read_to_string(bundle.join("log.jsonl")).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn each_failure() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    fs::write(here.join("test.toml"), FAILURES).unwrap();
    let done = command(here, &["run", "test.toml", "--fresh", "--json"])
        .output()
        .unwrap();
    let said = errors(&done);
    assert_eq!(done.status.code(), Some(3), "{said}");
    assert!(said.contains("6 of 6 runs recorded; 5 failed"), "{said}");
    assert!(said.contains("every run failed: "), "{said}");
    let bundle = here.join("test.bundle");
    let (runs, log) = (runs(&bundle), log(&bundle));
    assert_eq!(runs["fine"]["exit"], "completed");
    let verdict: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(verdict["runs"].as_array().unwrap().len(), 1);
    for (configuration, kind, why, console) in EXPECTED {
        let run = &runs[configuration];
        let text = |field: &str| run["exit"]["failed"][field].as_str().unwrap();
        assert!(text("why").contains(why), "{configuration}: {run}");
        assert!(text("console").contains(console), "{configuration}: {run}");
        let attempts: Vec<_> = log
            .iter()
            .filter(|line| line["index"] == run["index"])
            .map(|line| (line["attempt"].as_u64(), line["failed"]["failure"].as_str()))
            .collect();
        // A kernel crash is a result, so it is not retried.
        let tried = if configuration == "panic" { 1 } else { 2 };
        let expected: Vec<_> = (1..=tried).map(|n| (Some(n), Some(kind))).collect();
        assert_eq!(attempts, expected, "{configuration}");
        let ended = verdict["outcomes"].as_array().unwrap();
        let of_it = |row: &&Value| row["configuration"] == configuration;
        let ended: Vec<_> = ended.iter().filter(of_it).collect();
        assert_eq!(ended.len(), 1, "{configuration}: {ended:?}");
        assert_eq!(ended[0]["outcome"], how_it_ended(configuration));
        assert_eq!((&ended[0]["count"], &ended[0]["n"]), (&1.into(), &1.into()));
        let lints = verdict["lints"].as_array().unwrap();
        let of_it = |lint: &&Value| {
            let place = lint["where"].as_str().unwrap();
            lint["code"] == "failed-run" && place.starts_with(configuration)
        };
        let lint = lints.iter().find(of_it).unwrap();
        assert!(lint["detail"].as_str().unwrap().contains(why), "{lint}");
    }
    Ok(())
}

/// The word for the configuration's outcome in the verdict.
fn how_it_ended(configuration: &str) -> &str {
    match configuration {
        "panic" => "crashed",
        "hang" => "hung",
        "timeout" => "timed-out",
        "memory" => "out-of-memory",
        "status" => "exit-status",
        other => panic!("{other}"),
    }
}

/// A QEMU process started by this process.
fn qemu_of(parent: u32) -> Option<Pid> {
    let tasks = fs::read_dir(format!("/proc/{parent}/task")).ok()?;
    let children =
        tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok());
    let children: Vec<i32> = children
        .flat_map(|text| {
            text.split_whitespace()
                .map(String::from)
                .collect::<Vec<_>>()
        })
        .filter_map(|pid| pid.parse().ok())
        .collect();
    let is_qemu = |pid: &i32| {
        let name = fs::read_to_string(format!("/proc/{pid}/comm"));
        name.is_ok_and(|name| name.starts_with("qemu-system"))
    };
    Pid::from_raw(children.into_iter().find(is_qemu)?)
}

fn killed() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    // Busy long enough for the test to find the process.
    let text = r#"title = "Test"
target = "exact"
runs = 1

[factors.change.off]
[factors.change.on]
workload.it.duration = "300ms"

[workloads.it]
kind = "hogs"
duration = "301ms"
"#;
    fs::write(here.join("test.toml"), text).unwrap();
    let arguments = ["run", "test.toml", "--fresh", "--jobs", "1", "--json"];
    let mut running = command(here, &arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let bundle = here.join("test.bundle");
    let mut victim = None;
    while victim.is_none() && running.try_wait().unwrap().is_none() {
        // Before the bundle exists, a running QEMU is booting.
        if bundle.join("bundle.json").exists() {
            victim = qemu_of(running.id());
        }
        thread::sleep(Duration::from_millis(1));
    }
    kill_process(victim.unwrap(), Signal::KILL).unwrap();
    let done = running.wait_with_output().unwrap();
    let said = errors(&done);
    // That was the only run of its configuration.
    assert_eq!(done.status.code(), Some(3), "{said}");
    assert!(said.contains("2 of 2 runs recorded; 1 failed"), "{said}");
    assert_eq!(recorded(&bundle), 2);
    let failed: Vec<Value> = runs(&bundle)
        .into_values()
        .filter(|run| run["exit"] != "completed")
        .collect();
    let why = failed[0]["exit"]["failed"]["why"].as_str().unwrap();
    assert!(why.contains("QEMU: killed by signal 9"), "{why}");
    let verdict: Value = serde_json::from_slice(&done.stdout).unwrap();
    let lints = verdict["lints"].as_array().unwrap();
    assert!(
        lints.iter().any(|lint| lint["code"] == "failed-run"),
        "{lints:?}"
    );
    Ok(())
}
