//! schbench, from its first version to the one that measures requests.
//!
//! The tool repeats its report every few seconds; the last of an invocation counts.

use super::prelude::*;

/// schbench; see the module.
pub const SCHBENCH: Grammar = Grammar {
    first: b"WRL",
    ..Grammar::new("schbench", |line| title(line.trim()).is_some(), read)
};

static TITLE: Form = Form::new(
    r"^(?:(?<kind>Wakeup|Request) Latenc(?:y|ies)|(?<old>Latency)|(?<rps>RPS)) percentiles \((?:usec|requests)\)(?: runtime (?<runtime>\d+) \(s\).*)?$",
);
static ROW: Form =
    Form::new(r"^\*?\s*(?<at>\d+\.\d+)(?:th)?: (?<value>[\d.]+)(?:\s+\(\d+ samples\))?$");
static ENDS: Form = Form::new(
    r"^min=(?<min>\d+), max=(?<max>\d+)$|^average rps: (?<rps>[\d.]+)$|^sched delay: message (?<message>\d+) \(usec\) worker (?<worker>\d+) \(usec\)$|^avg worker transfer: (?<ops>[\d.]+) ops/sec (?<bandwidth>[\d.]+)(?<unit>\w+/s)$|^current rps: [\d.]+$",
);

/// A section's metric and unit, and the seconds after which it was printed.
fn title(text: &str) -> Option<(&'static str, &'static str, Option<u64>)> {
    if !text.contains("percentiles (") {
        return None;
    }
    let found = TITLE.captures(text)?;
    let (metric, unit) = match found.name("kind").map(|kind| kind.as_str()) {
        Some("Wakeup") => ("wakeup", "us"),
        Some(_) => ("request", "us"),
        None if found.name("rps").is_some() => ("rps", "requests/s"),
        None => ("latency", "us"),
    };
    let runtime = found.name("runtime");
    let runtime = runtime.and_then(|runtime| runtime.as_str().parse().ok());
    Some((metric, unit, runtime))
}

/// The figures of a line in a section.
fn row(text: &str, metric: &str, unit: &str) -> Option<Vec<Figure>> {
    if let Some(found) = ROW.captures(text) {
        let at: f64 = found["at"].parse().ok()?;
        let value = english(&found["value"])?;
        return Some(vec![Figure::new(format!("{metric} p{at}"), value, unit)]);
    }
    let found = ENDS.captures(text)?;
    let figure = |name: &str, metric: String, unit: &str| {
        let value = found.name(name).and_then(|value| english(value.as_str()))?;
        Some(Figure::new(metric, value, unit))
    };
    let bytes = found.name("unit").map_or("", |unit| unit.as_str());
    let all = [
        figure("min", format!("{metric} min"), unit),
        figure("max", format!("{metric} max"), unit),
        figure("rps", "average rps".to_owned(), "requests/s"),
        figure("message", "sched delay message".to_owned(), "us"),
        figure("worker", "sched delay worker".to_owned(), "us"),
        figure("ops", "worker transfer".to_owned(), "ops/sec"),
        figure("bandwidth", "worker transfer bandwidth".to_owned(), bytes),
    ];
    Some(all.into_iter().flatten().collect())
}

/// Whether none of the metrics was read before: a report prints each once.
fn is_new(read: &[Figure], figures: &[Figure]) -> bool {
    let known = |one: &Figure| figures.iter().any(|figure| figure.metric == one.metric);
    !read.iter().any(known)
}

fn read(lines: &[Line<'_>]) -> Option<Block> {
    let (mut metric, mut unit, mut runtime) = title(line_at(lines, 0)?.trim())?;
    let mut block = Block::new("schbench title", 1);
    let mut figures: Vec<Figure> = Vec::new();
    let mut first = 0;
    while let Some(text) = line_at(lines, block.taken.len()).map(str::trim) {
        let at = block.taken.len();
        if let Some(next) = title(text) {
            let mut known = figures.iter();
            let again = known.any(|figure| figure.metric.starts_with(next.0));
            // A later report of the invocation; one that begins anew is another's.
            if again && (next.2 < runtime || next.2.is_none()) {
                block.run(first, Labels::default(), std::mem::take(&mut figures));
                first = at;
            } else if again {
                figures.clear();
                first = at;
            }
            (metric, unit, runtime) = next;
            block.taken.push("schbench title");
        } else if let Some(read) = row(text, metric, unit).filter(|read| is_new(read, &figures)) {
            figures.extend(read);
            block.taken.push("schbench percentile");
        } else {
            break;
        }
    }
    block.run(first, Labels::default(), figures);
    (!block.findings.is_empty()).then_some(block)
}
