//! pytest-benchmark: `--benchmark-json=FILE`, or a file of `.benchmarks`.
//!
//! All times are in seconds. The rounds of a test are made in one process.

use assize_bundle::Spread;
use serde_json::Value;

use super::common::{
    Context, Harness, better, exact, json, list, missing, number, numbers, of_one_process, samples,
    text,
};
use crate::declared::error::Fault;
use crate::declared::metric::Better;
use crate::declared::sheet::{Mean, Of, Sheet};

/// See the module.
pub(super) const PYTEST_BENCHMARK: Harness = Harness {
    name: "pytest-benchmark",
    begins: |text| text.starts_with('{') && text.contains("\"machine_info\""),
    read,
};

fn read(document: &str, context: &Context<'_>, sheet: &mut Sheet) -> Result<(), Fault> {
    let document = json(document, "JSON of pytest-benchmark")?;
    for entry in list(&document, "benchmarks", "the file")? {
        let name = text(entry, "fullname", "a benchmark")?;
        let of = Of {
            configuration: context.configuration,
            workload: name,
            ..Of::default()
        };
        let stats = entry.get("stats").ok_or_else(|| missing("stats", name))?;
        test(stats, of, sheet)?;
        better(sheet, "time", Better::Lower);
    }
    of_one_process(sheet, "rounds of pytest-benchmark");
    Ok(())
}

/// Adds the rounds of a test, or only their statistics if the file has no rounds.
fn test(stats: &Value, of: Of<'_>, sheet: &mut Sheet) -> Result<(), Fault> {
    if stats.get("data").is_some() {
        let rounds = numbers(stats, "data", of.workload)?;
        samples(sheet, of, "time", "s", &rounds);
        return Ok(());
    }
    let rounds = number(stats, "rounds", of.workload)?;
    let n = (rounds >= 1.0 && rounds <= f64::from(u32::MAX)).then_some(rounds as u32);
    let mean = exact(number(stats, "mean", of.workload)?);
    let deviation = number(stats, "stddev", of.workload)?;
    let spread = Some(Spread::StandardDeviation(deviation));
    let mean = Mean { mean, spread, n };
    sheet.mean(of, "time", "s", mean);
    Ok(())
}
