//! One run, event by event: what Perfetto reads in a trace, the latency split, and refused
//! requests.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{Cache, Outcome, assize, command, document, errors, files, printed, skip};
use assize_bundle::{Head, Run, RunExit, RunRecord, Unavailable, Writer};
use serde_json::Value;

const NEEDED: [&str; 4] = [
    "agent",
    "QEMU",
    "kernel debian:6.12",
    "modules for debian:6.12",
];

crate::common::tests! {
    needs [];
    a_run_that_is_not_there_is_named = not_there,
    a_run_without_events_names_the_instrument = no_events,
    events_that_were_cut_off_are_refused = cut_off,
    a_split_says_where_latency_went = split,
    perfetto_knows_all_that_is_written = perfetto,
}

mod full {
    use super::*;

    crate::common::tests! {
        needs NEEDED;
        kernel_events_of_exact_runs_are_the_same_bytes = exact,
    }
}

/// The events of 20 jobs on the exact machine with two CPUs; the client waits for each
/// job.
fn recording(design: &str) -> String {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    fs::read_to_string(data.join(format!("kernel-events-{design}.txt"))).unwrap()
}

/// Writes a bundle of two runs: run 0 has these events, if any, and run 1 is missing.
fn bundle(directory: &Path, events: Option<String>, unavailable: Option<&str>) {
    let head = Head {
        target: "exact".into(),
        configurations: vec![assize_bundle::Configuration::default()],
        planned_runs: 2,
        ..Head::default()
    };
    let writer = Writer::create(directory, &head).unwrap();
    let unavailable = unavailable.map(|reason| Unavailable {
        configuration: "base".into(),
        workload: "sync".into(),
        instrument: "kernel-events".into(),
        metric: None,
        reason: reason.into(),
    });
    let recorded = RunRecord {
        unavailable: Vec::from_iter(unavailable),
        raw: events
            .map(|text| ("kernel-events.txt".to_owned(), text))
            .into_iter()
            .collect(),
        ..RunRecord::new(0, 7, Run::new("base", "sync", 1), RunExit::Completed)
    };
    writer.put(&recorded).unwrap();
}

/// The message for wrong use.
fn refused(directory: &Path, arguments: &[&str]) -> String {
    let done = assize(directory, arguments);
    assert_eq!(
        done.status.code(),
        Some(2),
        "{arguments:?}: {}",
        errors(&done)
    );
    assert!(done.stdout.is_empty());
    errors(&done)
}

fn not_there() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    bundle(&here.join("b"), Some(recording("drm-sched")), None);
    let said = refused(here, &["trace", "b", "2"]);
    assert_eq!(
        said,
        "assize: run 2: b: the schedule has 2 runs, counted from 0; their files are in b/runs\n"
    );
    let said = refused(here, &["trace", "b", "1"]);
    assert!(
        said.contains("not recorded yet; `assize run --resume b` executes it"),
        "{said}"
    );
    let said = refused(here, &["trace", "elsewhere", "0"]);
    assert!(said.contains("elsewhere: not a bundle"), "{said}");
    let said = refused(here, &["trace", "b", "0", "--worst", "3"]);
    assert!(said.contains("--split"), "{said}");
    Ok(())
}

fn no_events() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    bundle(&here.join("none"), None, None);
    let said = refused(here, &["trace", "none", "0"]);
    assert!(
        said.contains("add \"kernel-events\" to the key instruments"),
        "{said}"
    );
    bundle(&here.join("refused"), None, Some("no tracefs"));
    let said = refused(here, &["trace", "refused", "0"]);
    assert!(said.contains("not available: no tracefs"), "{said}");
    Ok(())
}

fn cut_off() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    let mut text = recording("drm-sched");
    text.truncate(text.len() / 2);
    bundle(&here.join("b"), Some(text), None);
    let said = refused(here, &["trace", "b", "0", "--split"]);
    assert!(
        said.contains("b/raw/0000-kernel-events.txt: line "),
        "{said}"
    );
    Ok(())
}

/// The number of jobs in a stage, and its median.
fn stage(split: &Value, from: &str, to: &str) -> (u64, Option<f64>) {
    let stages = split["stages"].as_array().unwrap();
    let found = stages.iter().find(|s| s["from"] == from && s["to"] == to);
    let found = found.unwrap();
    (found["jobs"].as_u64().unwrap(), found["ns_p50"].as_f64())
}

fn split() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    let mut medians = Vec::new();
    for (design, inline) in [("drm-sched", 0), ("bypass", 20)] {
        bundle(&here.join(design), Some(recording(design)), None);
        let arguments = ["trace", design, "0", "--split", "--format", "json"];
        let split = document(here, &arguments);
        assert_eq!(split["schema"], "assize.split/1");
        assert_eq!(
            (&split["jobs"], &split["inline"]),
            (&20.into(), &inline.into())
        );
        assert_eq!(split["events_lost"], 0);
        let by_worker = stage(&split, "worker woken", "worker running");
        assert_eq!(by_worker.0, 20 - inline);
        assert_eq!(stage(&split, "completion", "waiter running").0, 20);
        medians.extend(stage(&split, "submit", "run_job").1);
        let worst = split["worst"].as_array().unwrap();
        assert_eq!(worst.len(), 10);
        let latencies: Vec<u64> = worst
            .iter()
            .map(|w| w["latency_ns"].as_u64().unwrap())
            .collect();
        assert!(latencies.is_sorted_by(|a, b| a >= b));
        let text = printed(here, &["trace", design, "0", "--split", "--worst", "2"]);
        assert!(
            text.starts_with("run 0: base on sync, seed 7\n20 jobs"),
            "{text}"
        );
        assert!(
            text.lines().all(|line| line.chars().count() <= 72),
            "{text}"
        );
    }
    assert!(
        medians[1] < medians[0],
        "no worker has to be woken: {medians:?}"
    );
    let said = refused(
        here,
        &["trace", "bypass", "0", "--split", "--thread", "nobody"],
    );
    assert!(
        said.contains("no thread 'nobody' submitted a job; valid: "),
        "{said}"
    );
    Ok(())
}

/// What Perfetto reads in a file.
fn seen(path: &Path) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/read_trace.py");
    let done = Command::new(crate::common::python())
        .arg(script)
        .arg(path)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{error}");
    serde_json::from_slice(&done.stdout).unwrap()
}

fn perfetto() -> Outcome {
    let reads = Command::new(crate::common::python())
        .args([
            "-c",
            "import perfetto.protos.perfetto.trace.perfetto_trace_pb2",
        ])
        .output()
        .is_ok_and(|done| done.status.success());
    if !reads {
        let python = crate::common::python();
        skip(&format!(
            "{} lacks perfetto; ./setup.sh full",
            python.display()
        ));
        return Ok(());
    }
    let place = tempfile::tempdir()?;
    let here = place.path();
    for design in ["drm-sched", "bypass"] {
        bundle(&here.join(design), Some(recording(design)), None);
        printed(here, &["trace", design, "0", "-o", "trace"]);
        let seen = seen(&here.join("trace"));
        assert_eq!(seen["wrong"], Value::Array(Vec::new()), "{design}");
        let switches = recording(design);
        let switches = switches
            .lines()
            .filter(|line| line.starts_with("0 "))
            .count();
        let of = |cpu: &str| seen["switches"][cpu].as_u64().unwrap_or(0);
        assert_eq!(of("0") + of("1"), switches as u64, "kind 0 is sched_switch");
        let slices = |track: &str| seen["slices"][track].as_array().unwrap();
        assert_eq!(slices("engine 0/jobs").len(), 20);
        let jobs = slices("context 1/jobs")
            .iter()
            .filter(|slice| slice[3] == 0);
        assert_eq!(jobs.count(), 20);
        let flows = seen["flows"].as_object().unwrap();
        assert_eq!(flows.len(), 20);
        for steps in flows.values() {
            let steps: Vec<&str> = steps
                .as_array()
                .unwrap()
                .iter()
                .map(|s| s[1].as_str().unwrap())
                .collect();
            let job = steps[2];
            let wanted = [
                format!("submit {job}"),
                format!("run_job {job}"),
                job.to_owned(),
                format!("done {job}"),
            ];
            assert_eq!(steps, wanted);
        }
        let queued = seen["counters"]["context 1/jobs queued"].as_array();
        assert_eq!(queued.is_some(), design == "drm-sched");
        // A pipe gives the same result as a file.
        let stream = assize(here, &["trace", design, "0"]).stdout;
        assert_eq!(stream, fs::read(here.join("trace"))?);
    }
    Ok(())
}

const EXPERIMENT: &str = r#"title = "Test"
question = "Where does the latency of a job go?"
runs = 1
instruments = ["kernel-events"]

[factors.queue.drm-sched]

[factors.queue.bypass]
queue.design = "depq"
queue.bypass = true

[workloads.sync]
kind = "sync"
submissions = 40
"#;

fn exact() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    fs::write(here.join("test.toml"), EXPERIMENT)?;
    for out in ["first", "second"] {
        let cache = Cache::new();
        let done = command(here, &["run", "--quiet", "--out", out, "test.toml"])
            .env("ASSIZE_CACHE", cache.path())
            .output()?;
        assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
    }
    assert_eq!(files(&here.join("first")), files(&here.join("second")));
    for run in ["0", "1"] {
        let arguments = ["trace", "first", run, "--split", "--format", "json"];
        let split = document(here, &arguments);
        let inline = if split["configuration"] == "bypass" {
            40
        } else {
            0
        };
        assert_eq!(
            (&split["jobs"], &split["inline"]),
            (&40.into(), &inline.into())
        );
        assert_eq!(
            (&split["incomplete"], &split["events_lost"]),
            (&0.into(), &0.into())
        );
        assert_eq!(
            stage(&split, "worker woken", "worker running").0,
            40 - inline
        );
    }
    Ok(())
}
