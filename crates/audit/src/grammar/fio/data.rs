//! fio's JSON.

use serde_json::Value;

use crate::grammar::cells;
use crate::grammar::prelude::*;

/// Reads JSON from the line with its opening brace.
pub(super) fn json(lines: &[Line<'_>]) -> Option<Block> {
    let (read, end) = cells::json(lines, "\"fio version\"")?;
    let mut block = Block::new("fio json", end);
    for job in read.get("jobs")?.as_array()? {
        let mut figures = Vec::new();
        for direction in ["read", "write", "trim"] {
            if let Some(side) = job.get(direction) {
                of_direction(direction, side, &mut figures);
            }
        }
        let name = job.get("jobname").and_then(Value::as_str).map(label);
        block.run(0, Labels::new(None, name), figures);
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
    for name in ["clat_ns", "lat_ns", "clat", "lat"] {
        if let Some(mean) = number(&[name, "mean"]) {
            let (name, unit) = match name.strip_suffix("_ns") {
                Some(name) => (name, "nsec"),
                None => (name, "usec"),
            };
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
