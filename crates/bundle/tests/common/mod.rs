//! Runs to store in the bundles of tests.

#![allow(dead_code, unreachable_pub)] // Not every test uses all of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use assize_bundle::{
    Configuration, Doubt, Events, Head, Histogram, Measurement, Place, Run, RunExit, RunRecord,
    Samples, Unavailable,
};
use serde_json::json;

/// The head of an experiment with two configurations and this many runs.
pub fn head(planned_runs: u32) -> Head {
    let named = |name: &str| Configuration {
        name: name.into(),
        label: name.into(),
        ..Configuration::default()
    };
    let runs: Vec<_> = (0..planned_runs)
        .map(|index| json!({"index": index, "seed": 11 + index}))
        .collect();
    Head {
        source: "queue.toml".into(),
        experiment: "title = \"x\"\nruns = 3\n".into(),
        plan: json!({"margin": 0.01, "runs": runs}),
        target: "exact".into(),
        machine: "one".into(),
        title: "x".into(),
        question: "which is faster?".into(),
        configurations: vec![named("base"), named("queue")],
        level_settings: Vec::new(),
        same: BTreeMap::new(),
        factors: vec![],
        workloads: vec!["pipe".into()],
        primary: vec!["time".into()],
        higher_is_better: vec![],
        claims: vec!["queue < base on time".into()],
        tables: vec![],
        tradeoffs: vec![],
        planned_runs,
        facts: BTreeMap::from([
            ("qemu".into(), "7.2".into()),
            ("host_cpu".into(), "some".into()),
        ]),
        limits: vec!["no caches are modelled".into()],
    }
}

/// A run: even indices belong to the baseline, odd ones to the other
/// configuration; two runs per block.
pub fn recorded(index: u32) -> RunRecord {
    let configuration = if index.is_multiple_of(2) {
        "base"
    } else {
        "queue"
    };
    let mut run = Run::new(configuration, "pipe", index / 2 + 1);
    run.order = index;
    run.block = Some(index / 2);
    run.image = Some(index / 2);
    run.seed = Some(u64::MAX - u64::from(index));
    let time = 1.1 + 0.3 * f64::from(index % 2) + 0.013 * f64::from(index * index % 7);
    run.metrics
        .insert("time".into(), Measurement::new(time, "s"));
    run.metrics.insert(
        "switches".into(),
        Measurement::new(f64::from(1000 + index), ""),
    );
    RunRecord {
        index,
        run,
        exit: RunExit::Completed,
        ending: None,
        complaints: Vec::new(),
        unavailable: vec![Unavailable {
            configuration: configuration.into(),
            workload: "pipe".into(),
            instrument: "energy".into(),
            metric: None,
            reason: "no counter of energy in this machine".into(),
        }],
        environment: BTreeMap::from([("kernel".into(), "6.12".into())]),
        identity: vec![assize_bundle::IdentityPart {
            kind: "kernel".into(),
            name: "release".into(),
            value: Some("6.12".into()),
        }],
        events: vec![Events {
            configuration: configuration.into(),
            workload: "pipe".into(),
            event: "missed".into(),
            count: 2,
            exposure_s: Some(10.0),
            times_s: vec![1.0, 2.0],
            span_s: None,
            tolerated_s: None,
            by_run: Vec::new(),
            place: Place::default(),
        }],
        doubts: vec![Doubt {
            code: "lost-events".into(),
            detail: "3 trace events were lost".into(),
            place: Place::default(),
        }],
        samples: vec![Samples {
            metric: "latency".into(),
            unit: "ns".into(),
            start_ns: Some(700),
            t_ns: (0..100).map(|at| 1000 * at).collect(),
            values: (0..100)
                .map(|at| f64::from(at * 37 % 101 + index))
                .collect(),
        }],
        histograms: vec![Histogram {
            metric: "wakeup".into(),
            unit: "ns".into(),
            buckets: vec![(100, 3), (250, 1)],
            exact: true,
        }],
        raw: vec![("tool.txt".into(), format!("printed in run {index}\n"))],
    }
}

/// Every file except the log, by path.
pub fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for folder in ["", "runs", "samples", "raw"] {
        let Ok(entries) = fs::read_dir(directory.join(folder)) else {
            continue;
        };
        for entry in entries {
            let entry = entry.unwrap();
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type().unwrap().is_file() && name != "log.jsonl" {
                files.insert(format!("{folder}/{name}"), fs::read(entry.path()).unwrap());
            }
        }
    }
    files
}
