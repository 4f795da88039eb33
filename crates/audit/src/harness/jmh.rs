//! JMH: `-rf json`.
//!
//! `rawData` has a list for each fork, which is a process of its own: a run, with the
//! mean of its iterations. The iterations of one fork alone are samples.

use serde_json::Value;

use super::common::{
    Context, Harness, better, exact, json, missing, of_one_process, samples, text,
};
use crate::declared::error::Fault;
use crate::declared::metric::Better;
use crate::declared::sheet::{Of, Sheet};

/// See the module.
pub(super) const JMH: Harness = Harness {
    name: "JMH",
    begins: |text| text.starts_with('[') && text.contains("\"jmhVersion\""),
    read,
};

fn read(document: &str, context: &Context<'_>, sheet: &mut Sheet) -> Result<(), Fault> {
    let document = json(document, "JSON of JMH")?;
    for entry in document.as_array().into_iter().flatten() {
        let name = named(entry)?;
        let of = Of {
            configuration: context.configuration,
            workload: &name,
            ..Of::default()
        };
        benchmark(entry, of, sheet)?;
    }
    Ok(())
}

/// The name of a benchmark with its parameters.
fn named(entry: &Value) -> Result<String, Fault> {
    let mut name = text(entry, "benchmark", "an entry")?.to_owned();
    let parameters = entry.get("params").and_then(Value::as_object);
    for (key, value) in parameters.into_iter().flatten() {
        let text = value.as_str().map(str::to_owned);
        let value = text.unwrap_or_else(|| value.to_string());
        name.push_str(&format!(", {key}={value}"));
    }
    Ok(name)
}

fn benchmark(entry: &Value, of: Of<'_>, sheet: &mut Sheet) -> Result<(), Fault> {
    let mode = text(entry, "mode", of.workload)?;
    let primary = entry.get("primaryMetric");
    let primary = primary.ok_or_else(|| missing("primaryMetric", of.workload))?;
    let unit = text(primary, "scoreUnit", of.workload)?;
    let raw = primary.get("rawData").and_then(Value::as_array);
    let raw: Option<Vec<Vec<f64>>> = raw.and_then(|forks| forks.iter().map(fork).collect());
    let forks = raw.ok_or_else(|| missing("rawData", of.workload))?;
    match &forks[..] {
        [one] => {
            samples(sheet, of, mode, unit, one);
            of_one_process(sheet, "iterations of one fork of JMH");
        }
        several => {
            for fork in several.iter().filter(|fork| !fork.is_empty()) {
                let mean = fork.iter().sum::<f64>() / fork.len() as f64;
                let run = sheet.run(of);
                sheet.figure(run, mode, unit, exact(mean), 0)?;
            }
            let said = "a run of JMH is a fork, with the mean of its iterations".to_owned();
            if !sheet.limits.contains(&said) {
                sheet.limits.push(said);
            }
        }
    }
    let way = match mode {
        "thrpt" => Better::Higher,
        _ => Better::Lower,
    };
    better(sheet, mode, way);
    Ok(())
}

fn fork(iterations: &Value) -> Option<Vec<f64>> {
    iterations.as_array()?.iter().map(Value::as_f64).collect()
}
