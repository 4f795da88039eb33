//! Checks that docs/metrics.md, the list of metrics in the code, and the metrics recorded by
//! workloads agree.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use assize_job::{
    INSTRUMENTS, METRICS, Mark, Metric, MetricForm, MetricName, MetricSource, PER_JOB, TracerKind,
    WORKLOADS, WorkloadKind, per_job,
};
use libtest_mimic::Failed;
use serde_json::{Value, json};

use crate::common::{self, command, errors};
use crate::root;

/// The tracer under test; only one can be used at a time.
const TRACER: TracerKind = TracerKind::Osnoise;

/// Metric, unit, kind and source.
type Row = (String, String, String, String);

/// The rows of a table in the page: metric, unit with step, kind, and one row per source.
fn rows(title: &str) -> BTreeSet<Row> {
    let page = fs::read_to_string(root().join("docs/metrics.md")).unwrap();
    let (_, table) = page.split_once(&format!("<!-- {title} -->\n")).unwrap();
    let (table, _) = table.split_once("<!-- end -->").unwrap();
    let mut rows = BTreeSet::new();
    for line in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, metrics, unit, givers, _, _] = cells[..] else {
            panic!("not of four columns: {line}");
        };
        let (unit, kind) = match unit.split_once(", ") {
            Some((unit, kind)) => (unit, kind),
            None if unit == "events" => ("", unit),
            None => (unit, "number"),
        };
        for metric in metrics.split(", ").map(|name| name.trim_matches('`')) {
            for giver in givers
                .split(", ")
                .flat_map(|giver| expanded(giver.trim_matches('`')))
            {
                let row = (metric.to_owned(), unit.to_owned(), kind.to_owned(), giver);
                assert!(rows.insert(row), "twice: {line}");
            }
        }
    }
    rows
}

/// The workloads that a word in the page refers to.
fn expanded(giver: &str) -> Vec<String> {
    if giver != "simgpu" {
        return vec![giver.to_owned()];
    }
    let submits = |kind: &str| {
        let kind: WorkloadKind = serde_json::from_value(json!({ "kind": kind })).unwrap();
        kind.submits()
    };
    let kinds = WORKLOADS.iter().map(|(kind, _)| *kind);
    kinds
        .filter(|kind| submits(kind))
        .map(String::from)
        .collect()
}

/// Fails with the rows that occur in only one of the two.
fn equal(page: &BTreeSet<Row>, code: &BTreeSet<Row>, place: &str) -> Result<(), Failed> {
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
    Err(format!("{place}: only there:{stale}\nnot there:{missing}").into())
}

/// A metric in the form of the page, with a row for each source.
fn listed(metric: &Metric, unit: &str) -> Vec<Row> {
    let kind = match metric.form {
        MetricForm::Number => "number",
        MetricForm::Distribution => "distribution",
        MetricForm::Events => "events",
    };
    let givers = match metric.source {
        MetricSource::Workloads(kinds) => kinds.to_vec(),
        MetricSource::Instrument(name) => vec![name],
    };
    let row = |giver: &str| [metric.name, unit, kind, giver].map(String::from).into();
    givers.into_iter().map(row).collect()
}

/// The rows of the list in the code.
fn list(is_wanted: impl Fn(&MetricSource) -> bool) -> BTreeSet<Row> {
    let wanted = METRICS.iter().filter(|metric| is_wanted(&metric.source));
    wanted.flat_map(|one| listed(one, one.unit)).collect()
}

/// Like [`list`], with the step of the values before the unit, as in the page.
fn list_with_steps(is_wanted: impl Fn(&MetricSource) -> bool) -> BTreeSet<Row> {
    let wanted = METRICS.iter().filter(|metric| is_wanted(&metric.source));
    let unit = |one: &Metric| match one.resolution {
        Some(step) => format!("{step} {}", one.unit),
        None => one.unit.to_owned(),
    };
    wanted.flat_map(|one| listed(one, &unit(one))).collect()
}

/// The metrics in the list match those in the page, with their units and steps.
pub fn lists() -> Result<(), Failed> {
    let of_instrument = |giver: &MetricSource| matches!(giver, MetricSource::Instrument(_));
    let page = "docs/metrics.md";
    let (workloads, instruments) = ("metrics of workloads", "metrics of instruments");
    let of_workloads = list_with_steps(|giver| !of_instrument(giver));
    equal(&rows(workloads), &of_workloads, page)?;
    equal(&rows(instruments), &list_with_steps(of_instrument), page)?;
    let page = fs::read_to_string(root().join(page)).unwrap();
    for metric in METRICS.iter().filter(|one| PER_JOB.contains(&one.name)) {
        let MetricSource::Instrument(giver) = metric.source else {
            panic!("only of instruments: {}", metric.name);
        };
        let name = metric.name;
        let row = format!("| `{}` | `{name}` of `{giver}` |", per_job(name));
        assert!(page.contains(&row), "docs/metrics.md lacks: {row}");
    }
    assert_eq!(page.matches("_per_job` | `").count(), PER_JOB.len());
    Ok(())
}

/// One run of every workload with every instrument, but only one tracer. Instruments that the
/// kernel or the machine does not support report that.
fn experiment() -> String {
    let is_other_tracer = |name| TracerKind::from_name(name).is_some_and(|kind| kind != TRACER);
    let instruments: Vec<String> = INSTRUMENTS
        .iter()
        .filter(|i| !is_other_tracer(i.name))
        .map(|i| format!("{:?}", i.name))
        .collect();
    let mut text = format!(
        "title = \"Everything\"\nruns = 1\nduration = \"200ms\"\ninstruments = [{}]\n\
         queue = {{ design = \"depq\", worker = \"follow\" }}\n\
         stalls = {{ length = \"20us\", period = \"50ms\" }}\n",
        instruments.join(", ")
    );
    let more: BTreeMap<&str, &str> = BTreeMap::from([
        ("browser", "pages = 3"),
        ("command", "argv = [\"true\"]"),
        ("compositor", "duration = \"500ms\""),
        ("crowd", "contexts = 4"),
        ("cyclictest", "loops = 200\nthreads = 2"),
        ("deep", "depth = 25"),
        ("drawing", "operations = 20"),
        ("frames", "duration = \"500ms\""),
        ("frames-stream", "period = \"20ms\""),
        ("memory-routine", "routine = \"movsl-rule\""),
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

/// Checks that the list has exactly the metrics that workloads record on the exact machine, and all
/// that instruments record.
pub fn recorded() -> Result<(), Failed> {
    let needed = [
        "agent",
        "QEMU",
        "kernel debian:6.12",
        "modules for debian:6.12",
    ];
    if let Err(why) =
        common::there(&[&needed[..], &["cyclictest", "hackbench", "mpg123", "aplay"]].concat())
    {
        common::skip(&why);
        return Ok(());
    }
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("all.toml"), experiment()).unwrap();
    let done = command(place.path(), &["run", "--quiet", "all.toml"])
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
    let mut recorded = BTreeSet::new();
    for run in runs(&place.path().join("all.bundle/runs")) {
        assert_eq!(run["exit"], "completed", "{run}");
        recorded.extend(recorded_rows(&run));
        only_what_is_listed(&run);
    }
    let of_instrument = list(|giver| matches!(giver, MetricSource::Instrument(_)));
    let is_of_workload = |row: &Row| {
        let same = |(name, unit, kind, _): &Row| (name, unit, kind) == (&row.0, &row.1, &row.2);
        !of_instrument.iter().any(same)
    };
    recorded.retain(is_of_workload);
    let of_workloads = list(|giver| matches!(giver, MetricSource::Workloads(_)));
    equal(&of_workloads, &recorded, "the list of metrics")
}

/// Checks that every metric of a run could be declared primary in its experiment.
fn only_what_is_listed(run: &Value) {
    let names = names(run["workload"].as_str().unwrap());
    for metric in run["metrics"].as_object().unwrap().keys() {
        let is_listed = names.iter().any(|name| name.matches(metric));
        assert!(is_listed, "{}: {metric}", run["workload"]);
    }
}

/// The metrics that runs of this workload of [`experiment`] may have.
fn names(workload: &str) -> Vec<MetricName> {
    let experiment = assize_plan::parse(&experiment(), "all.toml").unwrap();
    let plan = experiment.plan(&assize_plan::Overrides::default()).unwrap();
    let workload = plan.workloads.iter().find(|one| one.name == workload);
    assize_job::measured(workload.as_slice(), &plan.instruments)
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

/// The metrics of one run in the form of the page, except derived ones.
fn recorded_rows(run: &Value) -> BTreeSet<Row> {
    let workload = run["workload"].as_str().unwrap();
    let row = |name: &str, unit: &Value, kind: &str| {
        let (name, of) = name
            .split_once(':')
            .map_or((name, ""), |(name, _)| (name, ":THREAD"));
        let name = name.replace("cpu0_", "cpuN_");
        let name = name
            .replace("thread0_", "threadN_")
            .replace("thread1_", "threadN_")
            + of;
        let unit = unit.as_str().unwrap_or_default();
        (name, unit.to_owned(), kind.to_owned(), workload.to_owned())
    };
    let mut rows = BTreeSet::new();
    let mut derived: BTreeSet<String> = PER_JOB.iter().map(|name| per_job(name)).collect();
    for histogram in run["histograms"].as_array().unwrap() {
        let (name, unit) = (histogram["metric"].as_str().unwrap(), &histogram["unit"]);
        rows.insert(row(name, unit, "distribution"));
        let unit = unit.as_str().unwrap();
        derived.extend(Mark::ALL.map(|mark| mark.metric_name(name, unit)));
    }
    for (name, value) in run["metrics"].as_object().unwrap() {
        if !derived.contains(name) {
            rows.insert(row(name, &value["unit"], "number"));
        }
    }
    for event in run["events"].as_array().unwrap() {
        let name = event["event"].as_str().unwrap();
        rows.insert(row(name, &Value::Null, "events"));
    }
    rows
}
