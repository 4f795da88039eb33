//! Placement policies on the exact machine: tasks run where the policy says, and a run
//! whose policy fails counts as failed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::{Cache, Outcome, command, errors, is_exact};
use serde_json::Value;

crate::common::tests! {
    needs ["agent", "QEMU, 2 CPUs", "kernel debian:7", "placement policies"];
    policies_place_tasks_as_they_say = places,
    policies_place_the_threads_of_pages_as_they_say = pages,
    runs_under_a_policy_are_exact = exact,
    a_policy_that_fails_is_a_failed_run_with_its_reason = failures,
    a_program_attaches_a_policy_of_its_own = program,
    a_kernel_without_sched_ext_is_refused_before_a_run = without,
    levels_with_the_same_policy_are_refused = same,
}

/// Options to record into this directory.
const OUT: &[&str] = &["--out", "x.bundle"];

const PLACES: &str = r#"title = "Where tasks run"
kernel = "debian:7"
cpus = 4
runs = 1
images = 1
instruments = ["cpu-idle"]
timeout = "10s"
[factors.policy.none]
[factors.policy.spread]
policy = "spread"
[factors.policy.rlb]
policy = "rlb"
[factors.policy.power]
policy = "power"
[factors.policy.pack-small]
policy = "pack-small"
[factors.policy.pack-full]
policy = "pack-full"
[factors.policy.pack-burst]
policy = "pack-burst"
[factors.policy.pack-learn]
policy = "pack-learn"
[workloads.small]
kind = "periodic"
duration = "200ms"
loops = [
  { name = "a", period = "10ms", run = "500us" },
  { name = "b", period = "20ms", run = "500us" },
  { name = "c", period = "25ms", run = "500us" },
]
[workloads.hogs]
kind = "hogs"
threads = 8
duration = "400ms"
[workloads.timers]
kind = "cyclictest"
threads = 4
pinned = false
interval = "2ms"
loops = 50
"#;

/// The seed decides which CPU is free for a page's threads, so one run shows little.
const PAGES: &str = r#"title = "Where pages run"
kernel = "debian:7"
cpus = 4
runs = 4
images = 2
instruments = ["cpu-idle"]
timeout = "10s"
[factors.policy.pack-burst]
policy = "pack-burst"
[factors.policy.pack-learn]
policy = "pack-learn"
[workloads.pages]
kind = "browser"
pages = 3
"#;

struct Here {
    directory: tempfile::TempDir,
    cache: Cache,
}

impl Here {
    fn new() -> Here {
        Here {
            directory: tempfile::tempdir().unwrap(),
            cache: Cache::new(),
        }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Runs an experiment; returns the exit status and the messages.
    fn run(&self, text: &str, more: &[&str]) -> (Option<i32>, String) {
        fs::write(self.path().join("x.toml"), text).unwrap();
        let arguments = [&["run", "x.toml"], more].concat();
        let done = command(self.path(), &arguments)
            .env("ASSIZE_CACHE", self.cache.path())
            .output()
            .unwrap();
        (done.status.code(), errors(&done))
    }

    /// The records of all runs in the bundle.
    fn all_runs(&self) -> Vec<Value> {
        let entries = fs::read_dir(self.path().join("x.bundle/runs")).unwrap();
        let read = |entry: std::io::Result<fs::DirEntry>| fs::read(entry.unwrap().path());
        entries
            .map(|entry| serde_json::from_slice(&read(entry).unwrap()).unwrap())
            .collect()
    }

    /// The records by configuration and workload, if there is one of each.
    fn runs(&self) -> BTreeMap<(String, String), Value> {
        let mut runs = BTreeMap::new();
        for run in self.all_runs() {
            let text = |key: &str| run[key].as_str().unwrap().to_owned();
            runs.insert((text("configuration"), text("workload")), run.clone());
        }
        runs
    }
}

fn metric(run: &Value, name: &str) -> f64 {
    let value = &run["metrics"][name];
    value["value"]
        .as_f64()
        .or(value.as_f64())
        .unwrap_or_else(|| panic!("no {name}: {run:#}"))
}

/// How long each CPU was not idle, in nanoseconds.
fn non_idle(run: &Value) -> Vec<f64> {
    let of = |cpu| metric(run, &format!("cpu{cpu}_non_idle"));
    (0..4).map(of).collect()
}

/// The fraction of 200 ms that each CPU was not idle.
fn busy(run: &Value) -> Vec<f64> {
    non_idle(run).iter().map(|ns| ns / 200e6).collect()
}

fn places() -> Outcome {
    let here = Here::new();
    let (status, said) = here.run(PLACES, OUT);
    assert_eq!(status, Some(0), "{said}");
    let runs = here.runs();
    let of = |policy: &str, workload: &str| {
        let key = (policy.to_owned(), workload.to_owned());
        runs.get(&key)
            .unwrap_or_else(|| panic!("no {key:?}: {said}"))
    };
    for packed in ["pack-small", "pack-full", "pack-burst", "pack-learn"] {
        let busy = busy(of(packed, "small"));
        assert!(busy[0] > 0.08, "{packed}: {busy:?}");
        assert!(
            busy[1..].iter().all(|share| *share <= 0.003),
            "{packed}: {busy:?}"
        );
    }
    let of_power = busy(of("power", "small"));
    assert!(
        of_power[..2].iter().all(|share| *share > 0.01),
        "power: {of_power:?}"
    );
    assert!(
        of_power[2..].iter().all(|share| *share <= 0.003),
        "power: {of_power:?}"
    );
    let of_spread = busy(of("spread", "small"));
    assert!(
        of_spread.iter().all(|share| *share > 0.01),
        "spread: {of_spread:?}"
    );
    // cyclictest binds each thread to a CPU, which a policy may ignore.
    let timers = non_idle(of("pack-full", "timers"));
    let others: f64 = timers[1..].iter().sum();
    assert!(others < 0.05 * timers[0], "cyclictest: {timers:?}");
    let own = metric(of("none", "hogs"), "turns");
    for ((policy, workload), run) in &runs {
        if workload != "hogs" {
            continue;
        }
        let turns = metric(run, "turns");
        // The initial placement of a task happens once and may cost some milliseconds of
        // one CPU.
        assert!(turns >= 0.97 * own, "{policy}: {turns} of {own}");
        let ops: Vec<&Value> = run["identity"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|part| part["kind"] == "policy" && part["name"] == "ops")
            .map(|part| &part["value"])
            .collect();
        match policy.as_str() {
            "none" => assert_eq!(ops, Vec::<&Value>::new()),
            policy => assert_eq!(ops, [&Value::from(policy.replace('-', "_"))]),
        }
    }
    Ok(())
}

fn pages() -> Outcome {
    let here = Here::new();
    let (status, said) = here.run(PAGES, OUT);
    assert_eq!(status, Some(0), "{said}");
    let runs = here.all_runs();
    assert_eq!(runs.len(), 8, "{said}");
    let of = |policy: &str| {
        let runs = runs.iter().filter(|run| run["configuration"] == policy);
        runs.map(non_idle).fold([0.0; 4], |mut sum, run| {
            sum.iter_mut().zip(run).for_each(|(sum, ns)| *sum += ns);
            sum
        })
    };
    let (burst, learn) = (of("pack-burst"), of("pack-learn"));
    // The page's thread gives its CPU to one of the workers that it wakes, so the last CPU is woken
    // for only a few of them.
    assert!(burst[3] < 0.5 * burst[1], "{burst:?}");
    // The first CPU is kept for short tasks.
    assert!(learn[0] < 0.75 * burst[0], "{learn:?} {burst:?}");
    Ok(())
}

fn exact() -> Outcome {
    let here = Here::new();
    let pages = "[workloads.pages]\nkind = \"browser\"\npages = 3\n";
    let text = PLACES.replace("400ms", "20ms").replace("200ms", "50ms") + pages;
    let of = ["--set", "policy=spread,pack-learn"];
    for more in [&["--out", "first"][..], &["--out", "second", "--fresh"]] {
        let (status, said) = here.run(&text, &[&of[..], more].concat());
        assert_eq!(status, Some(0), "{said}");
    }
    is_exact(here.path());
    Ok(())
}

/// A program that loads a policy only if it finds the kernel's configuration, and does not report
/// when it has done so.
const PROGRAM: &str = r#"#!/bin/sh
config=/boot/config-$(cat /proc/sys/kernel/osrelease)
grep -q ^CONFIG_SCHED_CLASS_EXT=y $config || exit 1
exec "$@" > /dev/null
"#;

fn program() -> Outcome {
    let here = Here::new();
    let text = "title = \"Ours\"\nkernel = \"debian:7\"\ncpus = 2\nruns = 1\nimages = 1\n\
        policy = \"spread\"\n[workloads.w]\nkind = \"hogs\"\nduration = \"1ms\"\n";
    let (status, said) = here.run(text, OUT);
    assert_eq!(status, Some(0), "{said}");
    let built = here.cache.path().join("policies/built");
    let place = fs::read_dir(built).unwrap().find_map(|entry| {
        let path = entry.unwrap().path();
        path.join("attach").exists().then_some(path)
    });
    let place = place.unwrap();
    let (attach, object) = (place.join("attach"), place.join("spread.bpf.o"));
    let script = here.path().join("scheduler");
    fs::write(&script, PROGRAM).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&script, executable).unwrap();
    fs::remove_dir_all(here.path().join("x.bundle")).unwrap();
    let text = format!(
        "title = \"Theirs\"\nkernel = \"debian:7\"\ncpus = 2\nruns = 4\nimages = 1\n\
         policy = {{ program = {script:?}, arguments = [{attach:?}, \"/spread.bpf.o\"] }}\n\
         [payload]\nprograms = [\"cat\", \"grep\", {attach:?}]\n\
         files = [{{ from = {object:?}, to = \"/spread.bpf.o\" }}]\n\
         [workloads.w]\nkind = \"hogs\"\nduration = \"1ms\"\n"
    );
    let (status, said) = here.run(&text, OUT);
    assert_eq!(status, Some(0), "{said}");
    let runs = here.all_runs();
    assert_eq!(runs.len(), 4);
    for run in runs {
        assert!(run["exit"]["failed"].is_null(), "{run:#}");
        let identity = run["identity"].to_string();
        assert!(identity.contains("spread"), "{identity}");
    }
    Ok(())
}

const FAILURES: &str = r#"title = "Policies that fail"
kernel = "debian:7"
cpus = 2
runs = 1
images = 1
timeout = "30s"
[factors.policy.none]
[factors.policy.refused]
policy = "refused"
[factors.policy.stall]
policy = "stall"
[factors.policy.unverified]
policy = "unverified"
[factors.policy.ends]
policy = { program = "false" }
[workloads.hogs]
kind = "hogs"
threads = 3
duration = "100ms"
"#;

fn failures() -> Outcome {
    let here = Here::new();
    let (_, said) = here.run(FAILURES, OUT);
    for (policy, wanted) in [
        ("refused", "disabled (runtime error)"),
        ("refused", "0x5eed"),
        ("stall", "disabled (runnable task stall)"),
        ("unverified", "map_value_or_null"),
        ("ends", "exit status 1"),
    ] {
        let line = said
            .lines()
            .find(|line| line.contains(&format!(": {policy} on hogs: failed")));
        let line = line.unwrap_or_else(|| panic!("{policy} has not failed: {said}"));
        assert!(
            line.contains(&format!("policy {policy}")) || policy == "ends",
            "{line}"
        );
        assert!(line.contains(wanted), "{line}");
    }
    let runs = here.runs();
    let none = &runs[&("none".to_owned(), "hogs".to_owned())];
    assert!(none["exit"]["failed"].is_null(), "{none:#}");
    Ok(())
}

fn without() -> Outcome {
    let here = Here::new();
    let text = FAILURES.replace("debian:7", "debian:6.12");
    let (status, said) = here.run(&text, &["--set", "policy=refused"]);
    assert_eq!(status, Some(2), "{said}");
    let last = said.lines().last().unwrap();
    for word in ["refused", "debian:6.12", "CONFIG_SCHED_CLASS_EXT"] {
        assert!(last.contains(word), "{said}");
    }
    let left = fs::read_dir(here.path()).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["x.toml"], "nothing was recorded");
    Ok(())
}

fn same() -> Outcome {
    let here = Here::new();
    let text = "title = \"Same\"\nkernel = \"debian:7\"\nruns = 1\nimages = 1\n\
        [factors.policy.one]\npolicy = \"pack-full\"\n\
        [factors.policy.other]\npolicy = { name = \"pack-full\", fill = \"80%\" }\n\
        [workloads.w]\nkind = \"hogs\"\nduration = \"1ms\"\n";
    let (status, said) = here.run(text, &[]);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("sets the same as 'one'"), "{said}");
    // With another value it is a different policy, so the plan is accepted.
    let text = text.replace("80%", "70%");
    let (status, said) = here.run(&text, &[]);
    assert_eq!(status, Some(0), "{said}");
    Ok(())
}
