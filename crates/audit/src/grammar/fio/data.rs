//! fio's JSON and its terse lines.

use serde_json::Value;

use crate::grammar::cells;
use crate::grammar::prelude::*;

/// Most terse lines.
const LINES: usize = 20_000;

/// Reads JSON from the line with its opening brace.
pub(super) fn json(lines: &[Line<'_>]) -> Option<Block> {
    let (read, end) = cells::json(lines, "\"fio version\"")?;
    let mut block = Block::of("fio json", end);
    for job in read.get("jobs")?.as_array()? {
        let mut figures = Vec::new();
        for direction in ["read", "write", "trim"] {
            if let Some(side) = job.get(direction) {
                of_direction(direction, side, &mut figures);
            }
        }
        let labels = Labels {
            workload: job.get("jobname").and_then(Value::as_str).map(label),
            ..Labels::default()
        };
        if !figures.is_empty() {
            block.run(0, labels, figures);
        }
    }
    (!block.findings.is_empty()).then_some(block)
}

/// What was read or written, if anything was.
fn of_direction(direction: &str, side: &Value, figures: &mut Vec<Figure>) {
    let number = |path: &[&str]| {
        let found = path.iter().try_fold(side, |at, key| at.get(key));
        found.and_then(Value::as_f64).filter(|v| v.is_finite())
    };
    let Some(iops) = number(&["iops"]).filter(|iops| *iops > 0.0) else {
        return;
    };
    figures.push(Figure::new(format!("{direction} iops"), iops, "IOPS"));
    if let Some(bytes) = number(&["bw_bytes"]) {
        figures.push(Figure::new(format!("{direction} bw"), bytes, "B/s"));
    } else if let Some(kib) = number(&["bw"]) {
        figures.push(Figure::new(format!("{direction} bw"), kib, "KiB/s"));
    }
    for (name, unit) in [
        ("clat_ns", "nsec"),
        ("lat_ns", "nsec"),
        ("clat", "usec"),
        ("lat", "usec"),
    ] {
        if let Some(mean) = number(&[name, "mean"]) {
            let name = name.trim_end_matches("_ns");
            figures.push(Figure::new(format!("{direction} {name} avg"), mean, unit));
        }
    }
    for percentile in ["50.000000", "99.000000", "99.900000"] {
        if let Some(value) = number(&["clat_ns", "percentile", percentile]) {
            let short = &percentile[..5];
            let metric = format!("{direction} clat {short}th");
            figures.push(Figure::new(metric, value, "nsec"));
        }
    }
}

/// The field with the bandwidth of each direction in a terse line.
const SIDES: [(&str, usize); 2] = [("read", 6), ("write", 47)];
/// The distance from the bandwidth to the mean of the completion latency.
const CLAT: usize = 9;

/// Reads terse lines of the versions 3 and 4, each a run.
pub(super) fn terse(lines: &[Line<'_>]) -> Option<Block> {
    let mut block = Block::default();
    for at in 0..LINES {
        let Some(text) = line_at(lines, at).filter(|_| lines[at].depth == lines[0].depth) else {
            break;
        };
        let Some((job, figures)) = terse_line(text) else {
            break;
        };
        let labels = Labels::workload(label(job));
        block.taken.push("fio terse");
        block.run(at, labels, figures);
    }
    (!block.findings.is_empty()).then_some(block)
}

fn terse_line(text: &str) -> Option<(&str, Vec<Figure>)> {
    let fields: Vec<&str> = text.trim().split(';').take(200).collect();
    let version: u32 = fields.first()?.parse().ok()?;
    let fits =
        (3..=4).contains(&version) && fields.get(1)?.starts_with("fio-") && fields.len() >= 80;
    if !fits {
        return None;
    }
    let number = |at: usize| {
        let value = fields.get(at)?.parse::<f64>().ok();
        value.filter(|v| v.is_finite() && *v > 0.0)
    };
    let mut figures = Vec::new();
    for (direction, from) in SIDES {
        let (Some(bw), Some(iops)) = (number(from), number(from + 1)) else {
            continue;
        };
        figures.push(Figure::new(format!("{direction} iops"), iops, "IOPS"));
        figures.push(Figure::new(format!("{direction} bw"), bw, "KiB/s"));
        if let Some(clat) = number(from + CLAT) {
            figures.push(Figure::new(format!("{direction} clat avg"), clat, "usec"));
        }
    }
    (!figures.is_empty()).then_some((fields[2], figures))
}
