//! Reports of benchmarks whose lines are a name and a figure: sysbench, STREAM,
//! UnixBench, kernbench.
//!
//! One invocation is a run. kernbench prints means of its runs with their
//! standard deviation; how many runs, it does not print.

use assize_bundle::Spread;

use super::begins::Begins;
use super::cells::{configuration, label, line_at, summary};
use super::number::english;
use super::quantity::quantity;
use super::{Block, Figure, Finding, Grammar, Labels, Taken};
use crate::Line;

/// sysbench, from version 0.4 on.
pub struct Sysbench;
/// STREAM.
pub struct Stream;
/// UnixBench (byte-unixbench).
pub struct Unixbench;
/// kernbench.
pub struct Kernbench;

/// No report is longer.
const MOST: usize = 80;
/// What sysbench prints before it has no more lines.
const BANNER: usize = 40;
/// The line with its version is no longer.
const SHORT: usize = 60;

/// The lines of a block at one depth, up to where `known` no longer holds; blank
/// lines only between others.
fn stretch<'t>(lines: &'t [Line<'_>], known: impl Fn(&str) -> bool) -> Vec<&'t str> {
    let mut found = Vec::new();
    let mut end = 0;
    for at in 0..MOST.min(lines.len()) {
        let Some(text) = line_at(lines, at).filter(|_| lines[at].depth == lines[0].depth) else {
            break;
        };
        let blank = text.trim().is_empty();
        if !blank && !known(text.trim()) || blank && at > end + 1 {
            break;
        }
        found.push(text.trim());
        if !blank {
            end = at + 1;
        }
    }
    found.truncate(end);
    found
}

fn run(at: usize, figures: Vec<Figure>, taken: Vec<Taken>) -> Option<Block> {
    let mut block = Block {
        findings: Vec::new(),
        taken,
    };
    if figures.is_empty() {
        return None;
    }
    let labels = Labels::default();
    block.find(at, Finding::Run { labels, figures });
    Some(block)
}

/// Beginnings of sysbench's lines that are kept: metric and unit.
const SYSBENCH: &[(&str, &str, &str)] = &[
    ("transactions:", "transactions", "1/s"),
    ("queries:", "queries", "1/s"),
    ("events per second:", "events", "1/s"),
    ("events/s (eps):", "events", "1/s"),
    ("total time:", "total time", "s"),
    ("reads/s:", "reads", "1/s"),
    ("writes/s:", "writes", "1/s"),
    ("fsyncs/s:", "fsyncs", "1/s"),
    ("read, MiB/s:", "read", "MiB/s"),
    ("written, MiB/s:", "written", "MiB/s"),
    ("avg:", "latency avg", "ms"),
    ("max:", "latency max", "ms"),
    ("95th percentile:", "latency 95th", "ms"),
    ("99th percentile:", "latency 99th", "ms"),
];
/// Others of them.
const SYSBENCH_OTHERS: &[&str] = &[
    "SQL statistics:",
    "queries performed:",
    "read:",
    "write:",
    "other:",
    "total:",
    "ignored errors:",
    "reconnects:",
    "General statistics:",
    "total number of events:",
    "Latency (ms):",
    "min:",
    "sum:",
    "Threads fairness:",
    "events (avg/stddev):",
    "execution time (avg/stddev):",
    "CPU speed:",
    "File operations:",
    "Throughput:",
    "time elapsed:",
    "deadlocks:",
    "read/write requests:",
    "other operations:",
    "OLTP test statistics:",
    "fsync:",
];

impl Grammar for Sysbench {
    fn name(&self) -> &'static str {
        "sysbench"
    }

    fn begins(&self) -> Begins {
        Begins::with(b"SGCFTORst")
    }

    fn starts(&self, line: &str) -> bool {
        let text = line.trim();
        matches!(
            text,
            "SQL statistics:"
                | "General statistics:"
                | "CPU speed:"
                | "File operations:"
                | "Throughput:"
                | "OLTP test statistics:"
        ) || text.starts_with("transactions: ") && text.ends_with("per sec.)")
            || is_banner(text)
    }

    fn reach(&self) -> usize {
        3
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let kept = |text: &str| SYSBENCH.iter().find(|(start, ..)| text.starts_with(start));
        let other = |text: &str| SYSBENCH_OTHERS.iter().any(|start| text.starts_with(start));
        let above = match line_at(lines, 0).is_some_and(is_banner) {
            true => banner(lines)?,
            false => 0,
        };
        let report = lines.get(above..)?;
        let texts = stretch(report, |text| kept(text).is_some() || other(text));
        let mut figures: Vec<Figure> = Vec::new();
        for text in &texts {
            for figure in fileio(text) {
                if figures.iter().all(|f| f.metric != figure.metric) {
                    figures.push(figure);
                }
            }
            let Some((start, metric, unit)) = kept(text) else {
                continue;
            };
            let rest = &text[start.len()..];
            // Of a count and a rate the rate: `12345  (1234.50 per sec.)`.
            let value = match rest.split_once('(') {
                Some((_, rate)) => rate.split_whitespace().next().and_then(english),
                None => rest.trim().trim_end_matches('s').parse().ok(),
            };
            let value = value.filter(|v: &f64| v.is_finite());
            let value = value.filter(|_| figures.iter().all(|f| f.metric != *metric));
            figures.extend(value.map(|value| Figure::new(*metric, value, *unit)));
        }
        let enough = figures.len() >= 2;
        run(above, figures, vec!["sysbench"; above + texts.len()]).filter(|_| enough)
    }
}

/// Whether a line is one with which sysbench begins to say what it does.
fn is_banner(text: &str) -> bool {
    let text = text.trim();
    let version = text.strip_prefix("sysbench ");
    text == "Running the test with following options:"
        || version.is_some_and(|rest| {
            rest.starts_with(|c: char| c.is_ascii_digit()) && rest.len() <= SHORT
        })
}

/// How many lines sysbench prints of what it does before its report.
fn banner(lines: &[Line<'_>]) -> Option<usize> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let started = |text: &str| matches!(text.trim(), "Threads started!" | "Done.");
    let begun = (1..BANNER).take_while(|&at| here(at).is_some());
    let at = begun
        .into_iter()
        .find(|&at| here(at).is_some_and(started))?;
    (at + 1..at + 5)
        .find(|&at| here(at).is_some_and(|text| !text.trim().is_empty() && Sysbench.starts(text)))
}

/// `write: IOPS=31710.38 495.47 MiB/s (519.54 MB/s)` of sysbench's fileio.
fn fileio(text: &str) -> Vec<Figure> {
    let mut figures = Vec::new();
    let (Some((name, rest)), true) = (text.split_once(':'), text.contains("IOPS=")) else {
        return figures;
    };
    let mut words = rest.split_whitespace();
    let iops = words
        .next()
        .and_then(|word| english(word.strip_prefix("IOPS=")?));
    let rate = words.next().and_then(english);
    // What was not done has no rate.
    if let Some(iops) = iops.filter(|iops| *iops > 0.0) {
        figures.push(Figure::new(format!("{name} iops"), iops, "IOPS"));
        let rate = rate.filter(|_| words.next() == Some("MiB/s"));
        figures.extend(rate.map(|rate| Figure::new(name, rate, "MiB/s")));
    }
    figures
}

impl Grammar for Stream {
    fn name(&self) -> &'static str {
        "stream"
    }

    fn begins(&self) -> Begins {
        Begins::with(b"F-")
    }

    fn starts(&self, line: &str) -> bool {
        line.starts_with("Function ") && line.contains("Rate")
            || line.len() >= 20 && line.bytes().all(|b| b == b'-')
    }

    fn reach(&self) -> usize {
        2
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        // The heading stands between lines of dashes.
        let rule = usize::from(!line_at(lines, 0)?.starts_with("Function "));
        let head = line_at(lines, rule)?;
        if !head.starts_with("Function ") || !head.contains("MB/s") || !head.contains("time") {
            return None;
        }
        let mut figures = Vec::new();
        for at in rule + 1..=rule + 4 {
            let Some(text) = line_at(lines, at).filter(|_| lines[at].depth == lines[0].depth)
            else {
                break;
            };
            let Some((name, values)) = text.split_once(':') else {
                break;
            };
            let values: Option<Vec<f64>> = values.split_whitespace().map(english).collect();
            let Some(values) = values.filter(|values| values.len() == 4) else {
                break;
            };
            if !["Copy", "Scale", "Add", "Triad"].contains(&name.trim()) {
                break;
            }
            figures.push(Figure::new(name.trim(), values[0], "MB/s"));
        }
        let taken = vec!["stream"; figures.len() + rule + 1];
        run(rule + 1, figures, taken)
    }
}

impl Grammar for Unixbench {
    fn name(&self) -> &'static str {
        "unixbench"
    }

    fn begins(&self) -> Begins {
        Begins::holding(b")B")
    }

    fn starts(&self, line: &str) -> bool {
        line.ends_with("samples)") && unixbench_row(line).is_some() || unixbench_head(line)
    }

    fn reach(&self) -> usize {
        2
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let index = |text: &str| {
            let (name, value) = text.rsplit_once("  ")?;
            let score = name.trim_end().starts_with("System Benchmarks Index Score");
            english(value.trim()).filter(|_| score)
        };
        let known = |text: &str| {
            unixbench_row(text).is_some()
                || text.starts_with("System Benchmarks ")
                || text.bytes().all(|b| matches!(b, b'=' | b' '))
                || index_row(text).is_some()
        };
        let texts = stretch(lines, known);
        let mut figures: Vec<Figure> = Vec::new();
        let mut again = 0;
        for text in &texts {
            if let Some(figure) = unixbench_row(text) {
                if figures.iter().any(|f| f.metric == figure.metric) {
                    return None;
                }
                figures.push(figure);
            } else if let Some(score) = index(text) {
                figures.push(Figure::new("index score", score, ""));
            } else if let Some(row) = index_row(text) {
                // A report prints each result twice, above its indices too.
                for figure in row {
                    let first = figures.iter().all(|f| f.metric != figure.metric);
                    again += usize::from(!first && figure.metric.ends_with(" index"));
                    figures.extend(first.then_some(figure));
                }
            }
        }
        // Two tables that nothing parts are of two runs.
        run(0, figures, vec!["unixbench"; texts.len()]).filter(|_| again == 0)
    }
}

/// Whether a line is the one above UnixBench's indices.
pub(super) fn unixbench_head(line: &str) -> bool {
    let text = line.trim_start();
    text.starts_with("System Benchmarks ") && text.contains("BASELINE")
}

/// Beginnings of the names of UnixBench's tests, and the unit of their results.
const UNIXBENCH: &[(&str, &str)] = &[
    ("Double-Precision Whetstone", "MWIPS"),
    ("File Copy", "KBps"),
    ("File Read", "KBps"),
    ("File Write", "KBps"),
    ("Shell Scripts", "lpm"),
    ("C Compiler Throughput", "lpm"),
];

/// `Pipe Throughput    12440.0   1234567.8   992.4`: the result and its index. The first
/// figure is that of the machine with which all others are compared.
fn index_row(text: &str) -> Option<[Figure; 2]> {
    let (rest, index) = text.trim_end().rsplit_once(' ')?;
    let (rest, result) = rest.trim_end().rsplit_once(' ')?;
    let (name, baseline) = rest.trim_end().rsplit_once(' ')?;
    let [baseline, result, index] = [baseline, result, index].map(english);
    let name = name.strip_suffix(' ').filter(|_| text.len() <= 160)?.trim();
    baseline.filter(|_| name.bytes().any(|b| b.is_ascii_alphabetic()))?;
    let known = UNIXBENCH.iter().find(|(first, _)| name.starts_with(first));
    let unit = known.map_or("lps", |(_, unit)| unit);
    Some([
        Figure::new(label(name), result?, unit),
        Figure::new(format!("{} index", label(name)), index?, ""),
    ])
}

/// `Pipe Throughput     1234567.8 lps   (10.0 s, 7 samples)`
fn unixbench_row(text: &str) -> Option<Figure> {
    let (head, tail) = text.trim().rsplit_once('(')?;
    if !tail.ends_with("samples)") || text.len() > 160 {
        return None;
    }
    let (head, unit) = head.trim_end().rsplit_once(' ')?;
    let (name, value) = head.trim_end().rsplit_once(' ')?;
    let known = ["lps", "lpm", "MWIPS", "KBps"].contains(&unit);
    let value = english(value)?;
    known.then(|| Figure::new(label(name), value, unit))
}

impl Grammar for Kernbench {
    fn name(&self) -> &'static str {
        "kernbench"
    }

    fn begins(&self) -> Begins {
        Begins::with(b"A")
    }

    fn starts(&self, line: &str) -> bool {
        let text = line.trim_start();
        text.starts_with("Average ") && text.contains("(std deviation)")
    }

    fn reach(&self) -> usize {
        2
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let head = line_at(lines, 0)?.trim();
        let load = head.strip_prefix("Average ")?.split_once(" Run")?.0;
        let mut labels = configuration(None);
        labels.workload = Some(label(&format!("kernbench {load}")));
        let mut block = Block {
            findings: Vec::new(),
            taken: vec!["kernbench"],
        };
        for at in 1..=6 {
            let Some(text) = line_at(lines, at).filter(|_| lines[at].depth == lines[0].depth)
            else {
                break;
            };
            let Some((figure, deviation)) = kernbench_row(text.trim()) else {
                break;
            };
            block.taken.push("kernbench");
            let spread = Some(Spread::StandardDeviation(deviation));
            block.find(at, summary(&labels, figure, spread, None));
        }
        (!block.findings.is_empty()).then_some(block)
    }
}

/// `Elapsed Time 33.25 (0.251)`
fn kernbench_row(text: &str) -> Option<(Figure, f64)> {
    const NAMES: [(&str, &str); 6] = [
        ("Elapsed Time", "s"),
        ("User Time", "s"),
        ("System Time", "s"),
        ("Percent CPU", "%"),
        ("Context Switches", ""),
        ("Sleeps", ""),
    ];
    let (name, unit) = NAMES.iter().find(|(name, _)| text.starts_with(name))?;
    let (value, rest) = quantity(&text[name.len()..])?;
    let deviation = rest.trim().strip_prefix('(')?.strip_suffix(')')?;
    let deviation = english(deviation).filter(|d| *d >= 0.0)?;
    Some((Figure::new(*name, value.value, *unit), deviation))
}
