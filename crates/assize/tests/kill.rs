//! `assize run` is killed at many moments; going on gives the same bundle as
//! never having been killed.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.
#![allow(clippy::unnecessary_wraps)] // libtest-mimic wants results.
#![allow(unreachable_pub)] // The module `common` is shared.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::thread;
use std::time::Duration;

use common::{Outcome, Test, command, files, printed, recorded, there};

const KILLS: u32 = 50;

fn main() -> ExitCode {
    let tests: Vec<Test> = vec![("a_killed_run_goes_on_and_loses_nothing", killed)];
    common::run(tests, &["agent"])
}

/// Whether exact runs can be carried out here, which are equal byte for
/// byte; of others only what is recorded can be compared.
fn target() -> &'static str {
    match there(&["QEMU", "kernel debian:6.12"]) {
        Ok(()) => "exact",
        Err(why) => {
            eprintln!("on the target host: {why}");
            "host"
        }
    }
}

fn killed() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    let target = target();
    let text = format!(
        r#"title = "Test"
question = "Does it go on?"
target = "{target}"
runs = 20

[factors.change.off]
[factors.change.on]
workload.it.argv = ["sleep", "0.002"]

[workloads.it]
kind = "command"
argv = ["sleep", "0.001"]
"#
    );
    fs::write(here.join("test.toml"), text).unwrap();
    let whole = here.join("whole");
    printed(here, &["run", "test.toml", "--quiet", "--out", "whole"]);
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    let mut bundles: Vec<PathBuf> = Vec::new();
    for kill in 0..KILLS {
        if bundles.last().is_none_or(|last| recorded(last) == 40) {
            bundles.push(here.join(format!("bundle-{kill}")));
        }
        let bundle = bundles.last().unwrap();
        let before = files_if_there(bundle);
        kill_one(here, bundle, Duration::from_millis(chance.next() % 800));
        let after = files_if_there(bundle);
        for (name, bytes) in &before {
            assert_eq!(after.get(name), Some(bytes), "{} changed", name.display());
        }
    }
    eprintln!("{KILLS} kills in {} bundles", bundles.len());
    for bundle in &bundles {
        go_on(here, bundle);
        let (whole, bundle) = (files(&whole), files(bundle));
        if target == "exact" {
            for (name, bytes) in &whole {
                assert_eq!(bundle.get(name), Some(bytes), "{} differs", name.display());
            }
        }
        let names = |files: &std::collections::BTreeMap<PathBuf, Vec<u8>>| {
            files.keys().cloned().collect::<Vec<_>>()
        };
        assert_eq!(names(&bundle), names(&whole), "nothing is left over");
    }
    Ok(())
}

/// Files that are complete; those being written are nobody's business.
fn files_if_there(bundle: &Path) -> std::collections::BTreeMap<PathBuf, Vec<u8>> {
    let mut found = if bundle.exists() {
        files(bundle)
    } else {
        Default::default()
    };
    found.retain(|name, _| {
        name.starts_with("runs") && name.extension().is_some_and(|e| e == "json")
    });
    found
}

fn arguments(bundle: &Path) -> Vec<String> {
    let directory = bundle.display().to_string();
    let how = if bundle.join("bundle.json").exists() {
        vec!["--resume".into(), directory]
    } else {
        vec!["test.toml".into(), "--out".into(), directory]
    };
    ["run", "--quiet", "--fresh"]
        .map(String::from)
        .into_iter()
        .chain(how)
        .collect()
}

fn kill_one(here: &Path, bundle: &Path, after: Duration) {
    let arguments = arguments(bundle);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut running = command(here, &arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    thread::sleep(after);
    running.kill().unwrap();
    running.wait().unwrap();
}

fn go_on(here: &Path, bundle: &Path) {
    let arguments = arguments(bundle);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    printed(here, &arguments);
    assert_eq!(recorded(bundle), 40);
}

/// Moments that look random and are the same each time.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
