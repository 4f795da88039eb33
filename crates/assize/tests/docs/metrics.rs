//! docs/metrics.md against what instruments are listed to give, and what
//! workloads record.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use assize_job::{INSTRUMENTS, Kind, WORKLOADS};
use libtest_mimic::Failed;
use serde_json::{Value, json};

use crate::common::{self, command, errors};
use crate::root;

/// What becomes of a distribution.
const MARKS: [&str; 7] = ["p50", "p90", "p99", "p99.9", "max", "p99_minus_p50", "mad"];

/// Metric, unit, kind and who gives it.
type Row = (String, String, String, String);

/// The rows of a table of the page: metric, unit, kind, and each who gives it.
fn rows(title: &str) -> BTreeSet<Row> {
    let page = fs::read_to_string(root().join("docs/metrics.md")).unwrap();
    let (_, table) = page.split_once(&format!("<!-- {title} -->\n")).unwrap();
    let (table, _) = table.split_once("<!-- end -->").unwrap();
    let mut rows = BTreeSet::new();
    for line in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, metric, unit, kind, givers, _, _] = cells[..] else {
            panic!("not of six columns: {line}");
        };
        for giver in givers.split(", ") {
            let row = [metric, unit, kind, giver].map(|cell| cell.trim_matches('`').to_owned());
            let [metric, unit, kind, giver] = row;
            for giver in expanded(&giver) {
                let row = (metric.clone(), unit.clone(), kind.clone(), giver);
                assert!(rows.insert(row), "twice: {line}");
            }
        }
    }
    rows
}

/// The workloads that a word of the page stands for.
fn expanded(giver: &str) -> Vec<String> {
    if giver != "simgpu" {
        return vec![giver.to_owned()];
    }
    let submits = |kind: &str| {
        let kind: Kind = serde_json::from_value(json!({ "kind": kind })).unwrap();
        kind.submits()
    };
    let kinds = WORKLOADS.iter().map(|(kind, _)| *kind);
    kinds
        .filter(|kind| submits(kind))
        .map(String::from)
        .collect()
}

fn equal(page: &BTreeSet<Row>, code: &BTreeSet<Row>) -> Result<(), Failed> {
    if page == code {
        return Ok(());
    }
    let only = |one: &BTreeSet<Row>, other: &BTreeSet<Row>| {
        one.difference(other).fold(String::new(), |mut text, row| {
            let _ = write!(text, "\n  {row:?}");
            text
        })
    };
    let (stale, missing) = (only(page, code), only(code, page));
    Err(format!("docs/metrics.md: only there:{stale}\nnot there:{missing}").into())
}

/// The metrics that instruments are said to give are those of the page.
pub fn lists() -> Result<(), Failed> {
    let mut code = BTreeSet::new();
    for instrument in INSTRUMENTS {
        for metric in instrument
            .metrics
            .iter()
            .filter(|metric| !metric.starts_with("none:"))
        {
            let (metric, kind) = match metric.strip_suffix(" (histogram)") {
                Some(metric) => (metric, "distribution"),
                None => (*metric, "number"),
            };
            let (name, unit) = metric.split_once(' ').unwrap_or((metric, ""));
            let row = [name, unit, kind, instrument.name].map(String::from);
            code.insert(row.into());
        }
    }
    equal(&rows("metrics of instruments"), &code)
}

/// One run of every workload, with every instrument that needs no hardware.
fn experiment() -> String {
    let instruments: Vec<String> = INSTRUMENTS
        .iter()
        .map(|i| format!("{:?}", i.name))
        .collect();
    let mut text = format!(
        "title = \"Everything\"\nruns = 1\nduration = \"200ms\"\ninstruments = [{}]\n\
         queue = {{ design = \"depq\", worker = \"follow\" }}\n",
        instruments.join(", ")
    );
    let more: BTreeMap<&str, &str> = BTreeMap::from([
        ("command", "argv = [\"true\"]"),
        ("compositor", "duration = \"500ms\""),
        ("crowd", "contexts = 4"),
        ("cyclictest", "loops = 200"),
        ("deep", "depth = 25"),
        ("frames", "duration = \"500ms\""),
        ("periodic", "loops = [{ name = \"LOOP\" }]"),
        ("replay", "steps = \"1.RCS.500.0.1\"\nrepeat = 30"),
        ("storm", "jobs = 100"),
        ("stream", "submissions = 100"),
        ("sync", "submissions = 100"),
        ("threads", "submissions = 30"),
    ]);
    for (kind, _) in WORKLOADS {
        let more = more.get(kind).copied().unwrap_or_default();
        let _ = write!(text, "\n[workloads.{kind}]\nkind = \"{kind}\"\n{more}\n");
    }
    text
}

/// The page has exactly what the workloads record on the exact machine, and of
/// instruments nothing is recorded that it has not.
pub fn recorded() -> Result<(), Failed> {
    let needed = [
        "agent",
        "QEMU",
        "kernel debian:6.12",
        "modules for debian:6.12",
    ];
    if let Err(why) = common::there(&[&needed[..], &["cyclictest", "hackbench"]].concat()) {
        common::skip(&why);
        return Ok(());
    }
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("all.toml"), experiment()).unwrap();
    let done = command(place.path(), &["run", "--quiet", "all.toml"])
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
    let instruments = rows("metrics of instruments");
    let mut code = BTreeSet::new();
    let mut of_jobs = BTreeSet::new();
    for run in runs(&place.path().join("all.bundle/runs")) {
        assert_eq!(run["exit"], "completed", "{run}");
        for row in recorded_rows(&run) {
            if let Some(name) = row.0.strip_suffix("_per_job") {
                of_jobs.insert(name.to_owned());
                continue;
            }
            let same =
                |(metric, unit, kind, _): &Row| (metric, unit, kind) == (&row.0, &row.1, &row.2);
            if !instruments.iter().any(same) {
                code.insert(row);
            }
        }
    }
    for metric in of_jobs {
        let row = format!("| `{metric}_per_job` | `{metric}` of ");
        let page = fs::read_to_string(root().join("docs/metrics.md")).unwrap();
        assert!(page.contains(&row), "docs/metrics.md lacks: {row}");
    }
    equal(&rows("metrics of workloads"), &code)
}

fn runs(directory: &Path) -> Vec<Value> {
    let entries = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.extension().is_some_and(|end| end == "json"));
    let runs: Vec<Value> = files
        .map(|path| serde_json::from_slice(&fs::read(path).unwrap()).unwrap())
        .collect();
    assert_eq!(runs.len(), WORKLOADS.len());
    runs
}

/// What one run holds, as the page would have it.
fn recorded_rows(run: &Value) -> BTreeSet<Row> {
    let workload = run["workload"].as_str().unwrap();
    let row = |name: &str, unit: &Value, kind: &str| {
        let (name, of) = name
            .split_once(':')
            .map_or((name, ""), |(name, _)| (name, ":THREAD"));
        let name = name.replace("cpu0_", "cpuN_") + of;
        let unit = unit.as_str().unwrap_or_default();
        (name, unit.to_owned(), kind.to_owned(), workload.to_owned())
    };
    let mut rows = BTreeSet::new();
    let mut derived = BTreeSet::new();
    for histogram in run["histograms"].as_array().unwrap() {
        let (name, unit) = (histogram["metric"].as_str().unwrap(), &histogram["unit"]);
        rows.insert(row(name, unit, "distribution"));
        let (stem, of) = name
            .split_once(':')
            .map_or((name, String::new()), |(stem, of)| (stem, format!(":{of}")));
        for mark in MARKS {
            derived.insert(format!("{stem}_{}_{mark}{of}", unit.as_str().unwrap()));
        }
    }
    for (name, value) in run["metrics"].as_object().unwrap() {
        if !derived.contains(name) {
            rows.insert(row(name, &value["unit"], "number"));
        }
    }
    for event in run["events"].as_array().unwrap() {
        rows.insert(row(
            event["event"].as_str().unwrap(),
            &Value::Null,
            "events",
        ));
    }
    rows
}
