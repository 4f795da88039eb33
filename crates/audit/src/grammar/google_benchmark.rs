//! The table that Google Benchmark prints:
//!
//! ```text
//! ---------------------------------------------------------------------
//! Benchmark              Time             CPU   Iterations UserCounters...
//! ---------------------------------------------------------------------
//! BM_copy/64          2.39 ns         2.38 ns    276349157 bytes_per_second=3.89G/s
//! BM_copy/64_mean     2.41 ns         2.40 ns           10
//! ```
//!
//! A benchmark is a run whose workload is its name. Repetitions (`--benchmark_repetitions`) are
//! made by one process, so they are samples of one run, whose figure is their mean. If they are not
//! printed, the row of the mean is used. Other rows of aggregates are left out. The number of
//! iterations is not a figure: the library chooses it.

use std::collections::BTreeMap;

use super::number::{Locale, step};
use super::prelude::*;
use super::units::thousands;

/// Google Benchmark; see the module.
pub const GOOGLE_BENCHMARK: Grammar = Grammar {
    first: b"-B",
    reach: 4,
    ..Grammar::new("google-benchmark", starts, read)
};

/// Longest row.
const LONGEST: usize = 1000;
/// Suffixes of aggregates over repetitions, besides the mean.
const AGGREGATES: [&str; 7] = ["_median", "_stddev", "_cv", "_min", "_max", "_BigO", "_RMS"];

static ROW: Form = Form::new(
    r"^(?<name>\S.*?)\s+(?<time>[\d.]+) (?<unit>[num]?s|%)\s+(?<cpu>[\d.]+) (?:[num]?s|%)(?:\s+\d+)?(?<rest>\s.*)?$",
);
static COUNTER: Form = Form::new(
    r"(?<name>[A-Za-z_][\w.-]*)=(?<value>-?\d[\d.]*)(?<prefix>[pnumkMGTPE]?)i?(?<unit>/s)?(?:\s|$)",
);

fn is_header(line: &str) -> bool {
    let words = line.split_whitespace().take(3);
    line.len() <= LONGEST && words.eq(["Benchmark", "Time", "CPU"])
}

/// Parses a row into its name and figures. The library chooses the prefix of a counter for each
/// number, so the prefix is multiplied into the value instead of being kept in the unit.
fn row(text: &str) -> Option<(String, Vec<Figure>)> {
    let short = text.len() <= LONGEST;
    let found = short.then(|| ROW.captures(text.trim()))??;
    let mut figures = vec![
        Figure::new("time", english(&found["time"])?, &found["unit"]),
        Figure::new("CPU time", english(&found["cpu"])?, &found["unit"]),
    ];
    let rest = found.name("rest").map_or("", |rest| rest.as_str());
    for found in COUNTER.each(rest) {
        let bytes = &found["name"] == "bytes_per_second";
        let power = thousands(&found["prefix"])?;
        let scale = if bytes { 1024.0_f64 } else { 1000.0 }.powi(power);
        let per = found.name("unit").map_or("", |unit| unit.as_str());
        let unit = if bytes { "B/s" } else { per };
        let value = english(&found["value"])? * scale;
        let step = step(&found["value"], Locale::English).map(|step| step * scale);
        let figure = Figure::new(label(&found["name"]), value, unit).with_step(step);
        push_new(&mut figures, figure);
    }
    Some((found["name"].to_owned(), figures))
}

fn starts(line: &str) -> bool {
    let text = line.trim();
    is_header(line) || text.len() >= 20 && text.bytes().all(|b| b == b'-')
}

fn read(lines: &[Line<'_>]) -> Option<Block> {
    let header = (0..2).find(|at| line_at(lines, *at).is_some_and(is_header))?;
    let ruled = line_at(lines, header + 1).is_some_and(|text| text.starts_with("-----"));
    let mut block = Block::new("google benchmark header", header + 1 + usize::from(ruled));
    let mut rows: Vec<(usize, String, Vec<Figure>)> = Vec::new();
    block.extend(lines, |_, at, text| {
        let (name, figures) = row(text)?;
        rows.push((at, name, figures));
        Some("google benchmark result")
    });
    let names: Vec<String> = rows.iter().map(|(_, name, _)| name.clone()).collect();
    let mut benchmarks: BTreeMap<String, (usize, Vec<Figure>)> = BTreeMap::new();
    for (at, name, figures) in rows {
        let mean = name.strip_suffix("_mean");
        let repeated = mean.is_some_and(|stem| names.iter().any(|name| name == stem));
        if repeated || AGGREGATES.iter().any(|end| name.ends_with(end)) {
            continue;
        }
        let own = benchmarks.entry(label(mean.unwrap_or(&name)));
        own.or_insert((at, Vec::new())).1.extend(figures);
    }
    for (name, (at, figures)) in benchmarks {
        block.run(at, Labels::workload(name), mean_figures(figures.iter()));
    }
    block.findings.sort_by_key(|(at, _)| *at);
    (!block.findings.is_empty()).then_some(block)
}
