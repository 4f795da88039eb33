//! Kills and interrupts `assize run` at many moments; resuming gives the same bundle as
//! an uninterrupted run, and no process is left behind.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Cache, Outcome, command, errors, files, recorded, there};
use rustix::process::{Pid, Signal, kill_process};

const RUNS: usize = 12;
/// The latest moment at which a bundle is killed, as a complete run takes much longer on a busy
/// host.
const LONGEST: Duration = Duration::from_millis(1000);

crate::common::tests! {
    needs ["agent"];
    a_killed_run_goes_on_and_loses_nothing = || killed(50),
    an_interrupted_run_says_how_to_go_on = interrupted,
}

/// An experiment, and its bundle `whole` from an uninterrupted run.
struct Place {
    directory: tempfile::TempDir,
    cache: Cache,
    target: &'static str,
    /// How long the uninterrupted run took, but at most [`LONGEST`].
    took: Duration,
}

impl Place {
    fn new() -> Place {
        let mut place = Place {
            directory: tempfile::tempdir().unwrap(),
            cache: Cache::new(),
            target: target(),
            took: Duration::ZERO,
        };
        let text = format!("target = \"{}\"\n{EXPERIMENT}", place.target);
        fs::write(place.here().join("test.toml"), text).unwrap();
        // After this, everything that is built only once exists.
        place.done(place.run("first"));
        let begun = Instant::now();
        place.done(place.run("whole"));
        place.took = begun.elapsed().min(LONGEST);
        place
    }

    fn here(&self) -> &Path {
        self.directory.path()
    }

    /// Starts or resumes a bundle. No run comes from the cache.
    fn run(&self, bundle: &str) -> Command {
        let how = match self.here().join(bundle).join("bundle.json").exists() {
            true => vec!["--resume", bundle],
            false => vec!["test.toml", "--out", bundle],
        };
        let mut command = command(self.here(), &[&["run", "--fresh"], &how[..]].concat());
        command.env("ASSIZE_CACHE", self.cache.path());
        command
    }

    fn has_machine(&self) -> bool {
        let running = self.cache.processes();
        running.iter().any(|(name, _)| name.starts_with("qemu"))
    }

    fn start(&self, bundle: &str) -> Child {
        let mut command = self.run(bundle);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    fn done(&self, mut command: Command) -> Output {
        let done = command.output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
        done
    }

    fn files(&self, bundle: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        files(&self.here().join(bundle))
    }

    /// Resumes the bundle to its end and compares it with `whole`.
    fn ends_whole(&self, bundle: &str) {
        self.done(self.run(bundle));
        let (whole, bundle) = (self.files("whole"), self.files(bundle));
        let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&bundle), names(&whole), "nothing is left over");
        // Only exact runs are identical.
        for (name, bytes) in whole.iter().filter(|_| self.target == "exact") {
            assert_eq!(bundle.get(name), Some(bytes), "{} differs", name.display());
        }
    }
}

const EXPERIMENT: &str = r#"
title = "Test"
question = "Does it go on?"
runs = 6

[factors.change.off]
[factors.change.on]
workload.it.argv = ["sleep", "0.02"]

[workloads.it]
kind = "command"
argv = ["sleep", "0.01"]
"#;

/// The exact target if it works here, as its runs are byte-identical; on others, only the list of
/// recorded files can be compared.
fn target() -> &'static str {
    match there(&["QEMU", "kernel debian:6.12"]) {
        Ok(()) => "exact",
        Err(why) => {
            eprintln!("on the target host: {why}");
            "host"
        }
    }
}

pub(crate) fn killed(kills: u32) -> Outcome {
    let place = Place::new();
    // As if killed between creating the directory and starting the bundle.
    let taken = place.here().join("taken");
    fs::create_dir(&taken).unwrap();
    fs::write(taken.join("lock"), "").unwrap();
    place.ends_whole("taken");
    let mut bundles: Vec<String> = Vec::new();
    let mut moments = Chance(0x9e37_79b9_7f4a_7c15);
    let (mut stopped, mut machines) = (0, 0);
    for kill in 0..kills {
        let is_new = |last: &String| recorded(&place.here().join(last)) == RUNS;
        if bundles.last().is_none_or(is_new) {
            bundles.push(format!("bundle-{kill}"));
        }
        let bundle = bundles.last().unwrap();
        let before = complete(&place.here().join(bundle));
        let mut running = place.start(bundle);
        match kill % 10 {
            // Even on a slow host, some kills must hit a running machine.
            9 if place.target == "exact" => {
                while !place.has_machine() && running.try_wait().unwrap().is_none() {
                    thread::sleep(Duration::from_millis(1));
                }
            }
            _ => thread::sleep(moments.below(place.took)),
        }
        machines += usize::from(place.has_machine());
        running.kill().unwrap();
        let done = running.wait_with_output().unwrap();
        stopped += usize::from(done.status.code().is_none());
        place.cache.is_idle();
        let after = complete(&place.here().join(bundle));
        for (name, bytes) in &before {
            assert_eq!(after.get(name), Some(bytes), "{} changed", name.display());
        }
    }
    eprintln!(
        "{kills} kills in {} bundles, {stopped} before the end, {machines} with a machine running",
        bundles.len()
    );
    assert!(stopped > 0 && (machines > 0 || place.target != "exact"));
    for bundle in &bundles {
        place.ends_whole(bundle);
    }
    Ok(())
}

/// The complete runs of a bundle; files still being written are ignored.
fn complete(bundle: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = match bundle.exists() {
        true => files(bundle),
        false => BTreeMap::new(),
    };
    found.retain(|name, _| {
        name.starts_with("runs") && name.extension().is_some_and(|e| e == "json")
    });
    found
}

fn interrupted() -> Outcome {
    let place = Place::new();
    for (bundle, signal) in [("a", Signal::INT), ("b", Signal::TERM), ("c", Signal::HUP)] {
        let mut running = place.start(bundle);
        while recorded(&place.here().join(bundle)) < 3 && running.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(5));
        }
        let pid = Pid::from_raw(i32::try_from(running.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
        let done = running.wait_with_output().unwrap();
        let said = errors(&done);
        assert_eq!(done.status.code(), Some(130), "{said}");
        place.cache.is_idle();
        let count = recorded(&place.here().join(bundle));
        let last = format!(
            "assize: interrupted: {count} of {RUNS} runs are recorded; \
             continue with: assize run --resume {bundle}"
        );
        assert_eq!(said.lines().last(), Some(&last[..]), "{said}");
        assert!((3..RUNS).contains(&count), "{said}");
        place.ends_whole(bundle);
    }
    Ok(())
}

/// Pseudorandom moments, the same in every execution.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: Duration) -> Duration {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let limit = u64::try_from(limit.as_micros()).unwrap().max(1);
        Duration::from_micros(self.0 % limit)
    }
}
