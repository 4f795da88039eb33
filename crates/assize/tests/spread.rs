//! Experiments spread over processes and machines with the commands in `docs/run.md`,
//! which are extracted from there and executed.

#[path = "../../target/tests/support/sshd.rs"]
pub(crate) mod sshd;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::{Cache, Outcome, document, errors, files, printed, skip};
use sshd::Sshd;

/// The number of runs in the experiment.
const RUNS: usize = 6;

crate::common::tests! {
    needs ["agent", "QEMU", "kernel debian:6.12"];
    processes_share_a_bundle = processes,
    machines_have_bundles_that_are_merged = machines,
}

/// A directory with an experiment, its plan, the bundle `whole` from a single process, and programs
/// that precede the system's in `PATH`.
struct Place {
    directory: tempfile::TempDir,
    cache: Cache,
}

impl Place {
    fn new() -> Place {
        let place = Place {
            directory: tempfile::tempdir().unwrap(),
            cache: Cache::new(),
        };
        let here = place.here();
        fs::write(here.join("test.toml"), EXPERIMENT).unwrap();
        fs::create_dir(here.join("bin")).unwrap();
        let assize = env!("CARGO_BIN_EXE_assize");
        std::os::unix::fs::symlink(assize, here.join("bin/assize")).unwrap();
        let run = ["run", "test.toml", "--quiet", "--out", "whole"];
        place.succeeds(Command::new(assize).args(run));
        // Recorded runs must not be cached.
        place.cache.empty();
        let said = printed(here, &["plan", "test.toml", "-o", "plan.json"]);
        assert_eq!(said, format!("{RUNS} runs, from index 0\n"));
        place
    }

    fn here(&self) -> &Path {
        self.directory.path()
    }

    /// The environment of every process, here and on the machines.
    fn environment(&self) -> Vec<(&'static str, String)> {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut all = vec![
            ("PATH", format!("{}/bin:{path}", self.here().display())),
            ("ASSIZE_CACHE", self.cache.path().display().to_string()),
        ];
        let agent = std::env::var("ASSIZE_AGENT").ok();
        all.extend(agent.map(|agent| ("ASSIZE_AGENT", agent)));
        all
    }

    fn program(&self, name: &str, script: &str) {
        let path = self.here().join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn succeeds(&self, command: &mut Command) -> Output {
        let command = command
            .current_dir(self.here())
            .envs(self.environment())
            .env("PARALLEL_HOME", self.here().join("parallel"));
        let done = command.output().unwrap();
        let said = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success(), "{said}\n{}", errors(&done));
        done
    }

    /// Executes a block of commands from the documentation for this experiment.
    fn does(&self, block: &str) -> String {
        let script = block
            .replace("seq 0 31", &format!("seq 0 {}", RUNS - 1))
            .replace("experiments/tour/cyclictest.toml", "test.toml");
        let done =
            self.succeeds(Command::new("bash").args(["-e", "-o", "pipefail", "-c", &script]));
        String::from_utf8(done.stdout).unwrap()
    }

    /// Checks that this bundle has the same contents as `whole`.
    fn is_whole(&self, name: &str) {
        let bundle = self.here().join(name);
        let (expected, found) = (files(&self.here().join("whole")), files(&bundle));
        let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&found), names(&expected));
        assert_eq!(count(&expected, "runs"), RUNS);
        assert_eq!(count(&expected, "samples"), RUNS);
        for (name, bytes) in &expected {
            if found.get(name) != Some(bytes) {
                let lines = difference(bytes, &found[name]);
                panic!("{} differs: {lines}", name.display());
            }
        }
        let verdict = document(self.here(), &["compare", name, "--json"]);
        assert_eq!(verdict["runs"].as_array().unwrap().len(), RUNS);
    }
}

/// The lines that occur in only one of two files.
fn difference(expected: &[u8], found: &[u8]) -> String {
    let text = [expected, found].map(String::from_utf8_lossy);
    let only = |sign: &str, one: &str, other: &str| {
        let there: Vec<_> = other.lines().collect();
        let lines = one.lines().filter(|line| !there.contains(line));
        lines.fold(String::new(), |all, line| format!("{all}\n{sign} {line}"))
    };
    only("-", &text[0], &text[1]) + &only("+", &text[1], &text[0])
}

const EXPERIMENT: &str = r#"
title = "Test"
question = "Is it the same when it is spread?"
runs = 3
samples = true

[factors.threads.few]
[factors.threads.many]
background = ["hogs"]

[workloads.ping-pong]
kind = "ping-pong"
loops = 200

[background.hogs]
kind = "hogs"
threads = 2
"#;

fn count(files: &BTreeMap<PathBuf, Vec<u8>>, directory: &str) -> usize {
    files
        .keys()
        .filter(|name| name.starts_with(directory))
        .count()
}

/// The block of commands in the documentation that contains these words.
fn documented(words: &str) -> String {
    let text = fs::read_to_string(docs().join("run.md")).unwrap();
    let blocks = text.split("```").skip(1).step_by(2);
    let ours = "sh run-by=crates/assize/tests/spread.rs\n";
    let blocks = blocks.filter_map(|block| block.strip_prefix(ours));
    let found: Vec<&str> = blocks.filter(|block| block.contains(words)).collect();
    assert_eq!(found.len(), 1, "one block of docs/run.md has: {words}");
    found[0].to_string()
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// Whether GNU parallel is installed, rather than the one from moreutils.
fn parallel() -> bool {
    let version = Command::new("parallel").arg("--version").output();
    let there = version.is_ok_and(|done| done.stdout.starts_with(b"GNU parallel"));
    if !there {
        skip("GNU parallel is missing; run `./setup.sh full`");
    }
    there
}

fn processes() -> Outcome {
    if !parallel() {
        return Ok(());
    }
    let place = Place::new();
    place.does(&documented("-o plan.json"));
    let spread = documented("| parallel -j 4");
    place.does(&spread);
    place.is_whole("cyclictest.bundle");
    let before = files(&place.here().join("cyclictest.bundle"));
    let said = place.does(&spread);
    let already = said
        .matches("recorded already in cyclictest.bundle")
        .count();
    assert_eq!(already, RUNS, "{said}");
    assert_eq!(files(&place.here().join("cyclictest.bundle")), before);
    Ok(())
}

fn machines() -> Outcome {
    let sftp = Path::new("/usr/lib/openssh/sftp-server");
    if !parallel() {
        return Ok(());
    }
    if !sftp.exists() {
        skip(&format!("{} is missing", sftp.display()));
        return Ok(());
    }
    let place = Place::new();
    let here = place.here().display().to_string();
    let mut config = String::new();
    let mut machines = Vec::new();
    for name in ["one", "two"] {
        let home = place.here().join("machines").join(name);
        fs::create_dir_all(&home).unwrap();
        let more = format!(
            "Subsystem sftp {}\nForceCommand cd {} && eval \"$SSH_ORIGINAL_COMMAND\"\n",
            sftp.display(),
            home.display()
        );
        let Some(sshd) = Sshd::start_with(&place.environment(), &more) else {
            return Ok(());
        };
        config.push_str(&format!("Host {name}\n{}", sshd.client()));
        machines.push(sshd);
    }
    fs::write(place.here().join("ssh_config"), config).unwrap();
    for name in ["ssh", "scp"] {
        place.program(
            name,
            &format!("exec /usr/bin/{name} -F {here}/ssh_config \"$@\""),
        );
    }
    place.does(&documented("--sshlogin one,two"));
    place.is_whole("cyclictest.bundle");
    for name in ["one", "two"] {
        let part = files(&place.here().join(format!("{name}.bundle")));
        let ran = count(&part, "runs");
        assert!((1..RUNS).contains(&ran), "{name} has recorded {ran} runs");
    }
    Ok(())
}
