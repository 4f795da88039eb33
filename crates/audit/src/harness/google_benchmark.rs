//! Google Benchmark: `--benchmark_format=json` or `--benchmark_out=FILE`.
//!
//! Entries whose `run_type` is `iteration` are measurements; several with the same `run_name` are
//! repetitions within one process. If there are only aggregates, the mean and the deviation of the
//! `repetitions` are used. The number of iterations is chosen by the library and is not a figure.
//! Any other number is a user counter.

use assize_bundle::{Doubt, Spread};
use serde_json::Value;

use super::common::{
    Context, Harness, better, exact, json, list, number, of_one_process, samples, text,
};
use crate::declared::error::Fault;
use crate::declared::metric::Better;
use crate::declared::sheet::{Mean, Of, Sheet};

/// See the module.
pub(super) const GOOGLE_BENCHMARK: Harness = Harness {
    name: "Google Benchmark",
    begins: |text| text.starts_with('{') && KEYS.iter().all(|key| text.contains(key)),
    read,
};

/// Keys that tell the form.
const KEYS: [&str; 3] = ["\"context\"", "\"benchmarks\"", "\"real_time\""];
const FORM: &str = "JSON of Google Benchmark";
/// Keys that are not user counters.
#[rustfmt::skip]
const KNOWN: [&str; 9] = [
    "family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads",
    "iterations", "real_time", "cpu_time", "big_o",
];

fn read(document: &str, context: &Context<'_>, sheet: &mut Sheet) -> Result<(), Fault> {
    let document = json(document, FORM)?;
    let mut names: Vec<&str> = Vec::new();
    let entries = list(&document, "benchmarks", "the file")?;
    for entry in entries {
        let name = name_of(entry)?;
        if !names.contains(&name) {
            names.push(name);
        }
    }
    for name in names {
        let of = Of {
            configuration: context.configuration,
            workload: name,
            ..Of::default()
        };
        let mine = |entry: &&Value| name_of(entry).is_ok_and(|other| other == name);
        let entries: Vec<&Value> = entries.iter().filter(mine).collect();
        benchmark(&entries, of, sheet)?;
    }
    Ok(())
}

/// Returns `run_name`, or before 1.5 the name.
fn name_of(entry: &Value) -> Result<&str, Fault> {
    match entry.get("run_name").and_then(Value::as_str) {
        Some(name) => Ok(name),
        None => text(entry, "name", "a benchmark"),
    }
}

fn benchmark(entries: &[&Value], of: Of<'_>, sheet: &mut Sheet) -> Result<(), Fault> {
    let failed = |entry: &&&Value| entry.get("error_occurred") == Some(&Value::Bool(true));
    if entries.iter().any(|entry| failed(&entry)) {
        sheet.doubts.push(Doubt {
            code: "failed-run".into(),
            detail: format!("{} failed and is not read", of.workload),
            place: assize_bundle::Place::default(),
        });
        return Ok(());
    }
    let single = entries.iter().copied().filter(|e| kind(e) == "iteration");
    let single: Vec<&Value> = single.collect();
    match &single[..] {
        [] => aggregate(entries, of, sheet),
        [one] => {
            let run = sheet.run(of);
            for (metric, unit) in metrics(one)? {
                let value = number(one, &metric, of.workload)?;
                sheet.figure(run, &metric, &unit, exact(value), 0)?;
                say_better(sheet, &metric);
            }
            Ok(())
        }
        several => {
            for (metric, unit) in metrics(several[0])? {
                let value = |entry: &&Value| number(entry, &metric, of.workload);
                let values: Result<Vec<f64>, Fault> = several.iter().map(value).collect();
                samples(sheet, of, &metric, &unit, &values?);
                say_better(sheet, &metric);
            }
            of_one_process(sheet, "repetitions of Google Benchmark");
            Ok(())
        }
    }
}

/// Returns the kind of an entry; older libraries write only measurements.
fn kind(entry: &Value) -> &str {
    let kind = entry.get("run_type").and_then(Value::as_str);
    kind.unwrap_or("iteration")
}

/// The mean and the deviation where no repetition is there.
fn aggregate(entries: &[&Value], of: Of<'_>, sheet: &mut Sheet) -> Result<(), Fault> {
    let find = |wanted: &str| {
        let is = |e: &&Value| e.get("aggregate_name").and_then(Value::as_str) == Some(wanted);
        entries.iter().copied().find(is)
    };
    let Some(mean) = find("mean") else {
        return Err(format!(
            "{} has neither repetitions nor their mean; leave --benchmark_report_aggregates_only out",
            of.workload
        ));
    };
    let deviation = find("stddev");
    let n = mean.get("repetitions").and_then(Value::as_u64);
    for (metric, unit) in metrics(mean)? {
        let number = |entry| number(entry, &metric, of.workload);
        let spread = deviation.map(number).transpose()?;
        let mean = Mean {
            mean: exact(number(mean)?),
            spread: spread.map(Spread::StandardDeviation),
            n: n.and_then(|n| u32::try_from(n).ok()),
        };
        sheet.mean(of, &metric, &unit, mean);
        say_better(sheet, &metric);
    }
    of_one_process(sheet, "repetitions of Google Benchmark");
    Ok(())
}

/// The metrics of an entry and their units.
fn metrics(entry: &Value) -> Result<Vec<(String, String)>, Fault> {
    let unit = text(entry, "time_unit", "a benchmark")?;
    let mut all = vec![
        ("real_time".to_owned(), unit.to_owned()),
        ("cpu_time".to_owned(), unit.to_owned()),
    ];
    for (key, value) in entry.as_object().into_iter().flatten() {
        if value.is_number() && !KNOWN.contains(&key.as_str()) {
            let unit = match key.as_str() {
                "bytes_per_second" => "B/s",
                _ => "",
            };
            all.push((key.clone(), unit.to_owned()));
        }
    }
    Ok(all)
}

fn say_better(sheet: &mut Sheet, metric: &str) {
    match metric {
        "real_time" | "cpu_time" => better(sheet, metric, Better::Lower),
        "bytes_per_second" | "items_per_second" => better(sheet, metric, Better::Higher),
        _ => {}
    }
}
