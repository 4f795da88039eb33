//! What cyclictest writes with `--json`.

use serde_json::{Map, Value};

use super::super::latencies::{
    Cell, Histogram, Seen, bad_number, clip, is_digits, take, truncated,
};
use super::super::{Block, Finding, Labels};
use super::figures;
use crate::Line;

/// Reads the object that begins at the first line.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    let whole = lines.first()?.text.trim() == "{";
    let head = lines.iter().take(5).map(|line| line.text.trim_start());
    let ours =
        |text: &str| text.starts_with("\"file_version\"") || text.starts_with("\"cmdline:\"");
    if whole && !head.clone().any(ours) {
        return None;
    }
    if !whole
        && !head
            .skip(1)
            .take(2)
            .any(|text| text.starts_with("\"histogram\""))
    {
        return None;
    }
    let mut block = Block::default();
    let end = extent(lines);
    take(&mut block, end, "cyclictest json");
    let mut text = String::from(if whole { "" } else { "{" });
    for line in &lines[..end] {
        text.push_str(&line.text);
        text.push('\n');
    }
    if !whole {
        text.truncate(text.trim_end().trim_end_matches(',').len());
        text.push('}');
    }
    match serde_json::from_str::<Value>(&text) {
        Ok(value) => report(&mut block, &value),
        Err(_) => truncated(&mut block, 0, "the JSON object is not complete"),
    }
    Some(block)
}

/// How many lines the object has: up to the brace that closes it, or to the
/// first line that cannot be part of it.
fn extent(lines: &[Line<'_>]) -> usize {
    let mut depth = 0u64;
    for (at, line) in lines.iter().enumerate() {
        let text = line.text.trim();
        let fits = text.starts_with(['{', '}', '"']);
        if !fits && at > 0 {
            return at;
        }
        let mut quoted = false;
        let mut escaped = false;
        for b in text.bytes() {
            match b {
                _ if escaped => escaped = false,
                b'\\' => escaped = quoted,
                b'"' => quoted = !quoted,
                b'{' if !quoted => depth += 1,
                b'}' if !quoted => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        if depth == 0 {
            return at + 1;
        }
    }
    lines.len()
}

/// Makes a run of the object.
fn report(block: &mut Block, value: &Value) {
    // Set where `-N` was given: then the figures are nanoseconds.
    let nanoseconds = value
        .get("resolution_in_ns")
        .and_then(Value::as_u64)
        .unwrap_or(0)
        > 0;
    let unit = if nanoseconds { "ns" } else { "us" };
    let empty = Map::new();
    let listed = value
        .get("thread")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    let mut threads: Vec<(u32, Seen)> = Vec::new();
    let mut histogram = Histogram::default();
    let mut whole = true;
    for (name, thread) in listed {
        let Ok(id) = name.parse::<u32>() else {
            continue;
        };
        let seen = Seen {
            count: number(block, thread, "cycles"),
            min: number(block, thread, "min"),
            avg: number(block, thread, "avg"),
            max: number(block, thread, "max"),
        };
        if seen.count == Cell::Is(0.0) {
            let sentence = format!("thread {id} took no samples, so it has no latencies");
            block.find(0, Finding::Doubt("no-samples", sentence));
            continue;
        }
        whole &= add(block, &mut histogram, thread, seen.count);
        threads.push((id, seen));
    }
    threads.sort_by_key(|(id, _)| *id);
    threads.dedup_by_key(|(id, _)| *id);
    if threads.is_empty() {
        truncated(block, 0, "the JSON object lists no thread with samples");
        return;
    }
    let mut quantiles = Vec::new();
    if whole && !histogram.buckets.is_empty() {
        histogram.buckets.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        if let Some(name) = histogram.push_quantiles(&mut quantiles, "latency", unit) {
            let sentence = format!("{name} lies among the samples above the histogram");
            block.find(0, Finding::Doubt("histogram-overflow", sentence));
        }
    }
    let figures = figures(&threads, unit, quantiles);
    if !figures.is_empty() {
        let labels = Labels {
            workload: command(value),
            ..Labels::default()
        };
        block.find(0, Finding::Run { labels, figures });
    }
}

/// The command line; the tool writes its key with a colon in it.
fn command(value: &Value) -> Option<String> {
    let line = value
        .get("cmdline:")
        .or_else(|| value.get("cmdline"))?
        .as_str()?;
    (!line.is_empty()).then(|| line.chars().take(200).collect())
}

/// A member that should be a latency or a count.
fn number(block: &mut Block, thread: &Value, key: &str) -> Cell {
    match thread.get(key) {
        None => Cell::Absent,
        Some(value) => match value.as_f64() {
            Some(number) if number.is_finite() && number >= 0.0 => Cell::Is(number),
            _ => {
                bad_number(block, 0, key, &clip(&value.to_string()));
                Cell::Bad
            }
        },
    }
}

/// Adds a thread's buckets to the common histogram; false if that cannot be
/// done in full.
fn add(block: &mut Block, histogram: &mut Histogram, thread: &Value, cycles: Cell) -> bool {
    let Some(buckets) = thread.get("histogram").and_then(Value::as_object) else {
        return false;
    };
    let mut inside = 0u64;
    for (bucket, count) in buckets {
        let (Some(count), true) = (count.as_u64(), is_digits(bucket)) else {
            bad_number(block, 0, "the histogram", &count.to_string());
            return false;
        };
        let Ok(value) = bucket.parse::<f64>() else {
            return false;
        };
        inside = inside.saturating_add(count);
        histogram.buckets.push((value, count));
    }
    let Cell::Is(_) = cycles else { return false };
    histogram.over = histogram
        .over
        .saturating_add(cycles.count().saturating_sub(inside));
    true
}
