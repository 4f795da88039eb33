//! cyclictest: thread lines, histograms and JSON.
//!
//! Threads are parts of one run, not repetitions of it. A repeated thread line is a redrawn screen
//! if its figures continue the earlier ones; otherwise it belongs to another run.

use std::collections::BTreeMap;

use serde_json::Value;

use super::latencies::{Seen, blanks, levels, quantiles, unescaped};
use super::prelude::*;

/// cyclictest; see the module.
pub const CYCLICTEST: Grammar = Grammar {
    first: b"T#p{\x1b",
    ..Grammar::new("cyclictest", starts, read)
};

/// The rows below a histogram.
const SUMMARIES: [&str; 5] = [
    "# Total:",
    "# Min Latencies:",
    "# Avg Latencies:",
    "# Max Latencies:",
    "# Histogram Overflows:",
];

/// The output of one invocation.
#[derive(Default)]
struct Run {
    first: usize,
    threads: BTreeMap<u32, Seen>,
    /// Latency and samples of all threads.
    buckets: Vec<(f64, u64)>,
    summaries: [Vec<f64>; 5],
}

/// Reads the number and figures of a thread line:
/// `T: 0 ( 1234) P:80 I:1000 C: 100 Min: 1 Act: 2 Avg: 3 Max: 4`.
fn thread(text: &str) -> Option<(u32, Seen)> {
    let (head, fields) = text.strip_prefix("T:")?.split_once(')')?;
    let number = head.split('(').next()?.trim().parse().ok()?;
    let mut words = fields.split([' ', ':']).filter(|word| !word.is_empty());
    let mut seen = Seen::default();
    while let Some(key) = words.next() {
        let value = words.next().and_then(english).filter(|value| *value >= 0.0);
        match key {
            "C" => seen.count = value,
            "Min" => seen.min = value,
            "Avg" => seen.avg = value,
            "Max" => seen.max = value,
            _ => {}
        }
    }
    (seen.min.is_some() && seen.max.is_some()).then_some((number, seen))
}

/// The numbers of a row, if it has nothing else.
fn numbers(text: &str) -> Option<Vec<f64>> {
    let all: Option<Vec<f64>> = text.split_whitespace().map(english).collect();
    all.filter(|all| !all.is_empty())
}

/// Whether a line is one of cyclictest's headers or warnings.
fn is_header(text: &str) -> bool {
    let mut starts = ["# /dev/cpu_dma_latency set to", "WARN: ", "INFO: "].iter();
    text.starts_with("policy:") && text.contains("loadavg:")
        || starts.any(|start| text.starts_with(start))
}

fn starts(line: &str) -> bool {
    let text = unescaped(line);
    match text.as_bytes().first() {
        Some(b'T') => thread(text).is_some(),
        Some(b'{') => text.trim_end() == "{",
        Some(b'#') => text == "# Histogram" || text.starts_with(SUMMARIES[1]) || is_header(text),
        Some(b'p') => is_header(text),
        _ => false,
    }
}

fn read(lines: &[Line<'_>]) -> Option<Block> {
    let mut block = Block::default();
    if unescaped(&lines.first()?.text).starts_with('{') {
        return object(lines);
    }
    let mut run = Run::default();
    loop {
        let at = block.taken.len();
        let gap = blanks(lines.get(at..).unwrap_or(&[]), 3);
        let Some(text) = line_at(lines, at + gap).map(|text| unescaped(text).trim_end()) else {
            break;
        };
        let Some(what) = run.take(text, at + gap, &mut block) else {
            break;
        };
        block.taken.resize(at + gap, "blank");
        block.taken.push(what);
    }
    run.finish(&mut block);
    (!block.findings.is_empty()).then_some(block)
}

impl Run {
    /// Takes a line and returns its description; another invocation ends the run.
    fn take(&mut self, text: &str, at: usize, block: &mut Block) -> Option<&'static str> {
        if let Some((number, seen)) = thread(text) {
            let old = self.threads.get(&number);
            let goes_on = old.is_none_or(|old| {
                old.count <= seen.count && old.max <= seen.max && seen.min <= old.min
            });
            if !goes_on || !self.buckets.is_empty() {
                std::mem::take(self).finish(block);
            }
            if self.threads.is_empty() {
                self.first = at;
            }
            self.threads.insert(number, seen);
            return Some("cyclictest thread");
        }
        if let Some(which) = SUMMARIES.iter().position(|name| text.starts_with(name)) {
            self.summaries[which] = numbers(&text[SUMMARIES[which].len()..])?;
            return Some("cyclictest summary");
        }
        if is_header(text) || text == "# Histogram" {
            if !self.buckets.is_empty() {
                std::mem::take(self).finish(block);
            }
            return Some("cyclictest header");
        }
        if text.starts_with("# Histogram Overflow at") || text.starts_with("# Thread ") {
            return Some("cyclictest overflow");
        }
        let row = numbers(text).filter(|row| row.len() >= 2)?;
        if !text.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        if self.buckets.is_empty() && self.threads.is_empty() {
            self.first = at;
        }
        // Behind those of the threads their sum may stand.
        let count = row[1..].iter().sum::<f64>() as u64;
        self.buckets.push((row[0], count));
        Some("cyclictest histogram")
    }

    fn finish(mut self, block: &mut Block) {
        let [total, min, avg, max, over] = &self.summaries;
        if self.threads.is_empty() {
            let at = |row: &[f64], thread: usize| row.get(thread).copied();
            for thread in 0..min.len() {
                let seen = Seen::new([total, min, avg, max].map(|row| at(row, thread)));
                self.threads.insert(thread as u32, seen);
            }
        }
        let summed = self.threads.len() > 1 && max.len() > self.threads.len();
        let parts = if summed { 2 } else { 1 };
        for (_, count) in &mut self.buckets {
            *count /= parts;
        }
        let over = over.iter().sum::<f64>() as u64 / parts;
        let figures = figures(&self.threads, &self.buckets, over);
        block.run(self.first, Labels::default(), figures);
    }
}

/// The figures of a run, over all threads.
fn figures(threads: &BTreeMap<u32, Seen>, buckets: &[(f64, u64)], over: u64) -> Vec<Figure> {
    let measured = threads.values().filter(|seen| seen.count != Some(0.0));
    let seen: Vec<Seen> = measured.copied().collect();
    let mut figures = levels("latency", "us", &seen);
    figures.extend(quantiles("latency", "us", buckets, over));
    figures
}

/// What cyclictest writes with `--json`.
fn object(lines: &[Line<'_>]) -> Option<Block> {
    let (root, end) = json(lines, "cyclictest")?;
    let mut threads = BTreeMap::new();
    let mut buckets: BTreeMap<u64, u64> = BTreeMap::new();
    for (number, of) in root.get("thread")?.as_object()? {
        let get = |key: &str| of.get(key).and_then(Value::as_f64);
        let seen = Seen::new(["cycles", "min", "avg", "max"].map(get));
        threads.insert(number.parse().ok()?, seen);
        let histogram = of.get("histogram").and_then(Value::as_object);
        for (latency, count) in histogram.into_iter().flatten() {
            *buckets.entry(latency.parse().ok()?).or_default() += count.as_u64()?;
        }
    }
    let buckets: Vec<(f64, u64)> = buckets.into_iter().map(|(at, n)| (at as f64, n)).collect();
    let inside: u64 = buckets.iter().map(|(_, n)| n).sum();
    let all: f64 = threads.values().filter_map(|seen: &Seen| seen.count).sum();
    let over = (all as u64).saturating_sub(inside);
    let mut block = Block::new("cyclictest json", end);
    block.run(0, Labels::default(), figures(&threads, &buckets, over));
    (!block.findings.is_empty()).then_some(block)
}
