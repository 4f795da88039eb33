//! rtla: `timerlat` and `osnoise`, as tables (`top`) and as histograms (`hist`), and `hwnoise`.
//!
//! All CPUs belong to one run. A table that is printed again is the same screen redrawn; only the
//! last one counts.

use std::collections::BTreeMap;

use super::latencies::{Seen, levels, unescaped};
use super::prelude::*;

/// rtla; see the module.
pub const RTLA: Grammar = Grammar {
    first: b"#ITOHC\x1b",
    ..Grammar::new("rtla", starts, read)
};

/// The sections of a table, and the prefixes of a histogram's columns.
const SECTIONS: [(&str, &str); 4] = [
    ("IRQ-", "timerlat irq"),
    ("Thr-", "timerlat thread"),
    ("Usr-", "timerlat user"),
    ("CPU-", "osnoise sample"),
];
/// The columns of a noise table that are kept, with their units.
const NOISE: [(&str, &str); 4] = [
    ("noise", "us"),
    ("available", "%"),
    ("max noise", "us"),
    ("max single", "us"),
];

fn is_title(text: &str) -> bool {
    let title = text.split('\u{1b}').next().unwrap_or_default().trim_end();
    let mut titles = "Timer Latency|Operating System Noise|Hardware-related Noise".split('|');
    titles.any(|known| known == title)
        || title.starts_with("# RTLA ") && title.ends_with(" histogram")
}

/// Whether a line names the columns of a table or of a histogram.
fn is_columns(text: &str) -> bool {
    text.starts_with("CPU COUNT ")
        || text.starts_with("CPU Period ")
        || text.starts_with("Index ") && text.contains("-0")
}

fn starts(line: &str) -> bool {
    let text = unescaped(line);
    is_title(text) || is_columns(text)
}

fn read(lines: &[Line<'_>]) -> Option<Block> {
    let text = |at: usize| line_at(lines, at).map_or("", unescaped);
    let mut head = (0..6).find(|at| is_columns(text(*at)))?;
    let mut first = 0;
    let (mut end, figures) = loop {
        let unit = match (first..head).any(|at| text(at).contains("(ns)")) {
            true => "ns",
            false => "us",
        };
        let (end, figures) = match text(head).starts_with("Index") {
            true => histogram(lines, head, unit),
            false => table(lines, head, unit),
        };
        // Another table of this kind is the same screen, some time later.
        let next = (end..end + 6).find(|at| is_columns(text(*at)));
        let again = next.filter(|next| text(*next) == text(head) && is_title(text(end)));
        match again.filter(|_| !text(head).starts_with("Index")) {
            Some(next) => (first, head) = (end, next),
            None => break (end, figures),
        }
    };
    end = end.min(lines.len());
    let mut block = Block::new("rtla", end);
    block.run(first, Labels::default(), figures);
    (!block.findings.is_empty()).then_some(block)
}

/// CPU, count and cells of a row: `  0 #10003     |  113 ...`; `-` is an empty cell.
fn row(text: &str) -> Option<(u32, Option<f64>, Vec<Option<f64>>)> {
    let (cpu, rest) = text.split_once(' ')?;
    let mut words = rest.trim_start().strip_prefix('#')?.split_whitespace();
    let count = words.next().and_then(english);
    let cells = words.filter(|word| *word != "|").map(english).collect();
    Some((cpu.parse().ok()?, count, cells))
}

/// Reads a table whose header is line `head`; returns the line after it, and its figures.
fn table(lines: &[Line<'_>], head: usize, unit: &str) -> (usize, Vec<Figure>) {
    let names = line_at(lines, head).unwrap_or_default();
    let timed = names.contains("COUNT");
    let tool = match names.contains("Softirq") {
        true => "osnoise",
        false => "hwnoise",
    };
    let mut rows: Vec<(u32, _, _)> = Vec::new();
    let mut end = head + 1;
    while let Some(text) = line_at(lines, end).map(unescaped) {
        let ruled = text.starts_with("---") || text.starts_with("ALL #");
        match row(text) {
            // Each CPU has one row; another begins something else.
            Some(row) if rows.iter().any(|(cpu, ..)| *cpu == row.0) => break,
            Some(row) => rows.push(row),
            None if ruled => {}
            None => break,
        }
        end += 1;
    }
    let cell = |cells: &[Option<f64>], at: usize| cells.get(at).copied().flatten();
    let mut figures = Vec::new();
    if timed {
        for (section, (_, prefix)) in SECTIONS.iter().take(3).enumerate() {
            let seen = rows.iter().map(|(_, count, cells)| {
                let [min, avg, max] = [1, 2, 3].map(|at| cell(cells, section * 4 + at));
                Seen::new([*count, min, avg, max])
            });
            figures.extend(levels(prefix, unit, &seen.collect::<Vec<_>>()));
        }
        return (end, figures);
    }
    let cell = |cells: &[Option<f64>], at: usize| cell(cells, at + 1);
    for (at, (name, unit)) in NOISE.iter().enumerate() {
        let all = rows.iter().filter_map(|(.., cells)| cell(cells, at));
        let over_all = match at {
            0 => Some(all.sum()),
            1 => all.reduce(f64::min),
            _ => all.reduce(f64::max),
        };
        let figure = |value| Figure::new(format!("{tool} {name}"), value, *unit);
        figures.extend(over_all.map(figure));
    }
    (end, figures)
}

/// Reads a histogram whose header is line `head`; returns the line after it, and its figures.
fn histogram(lines: &[Line<'_>], head: usize, unit: &str) -> (usize, Vec<Figure>) {
    let names = line_at(lines, head).unwrap_or_default();
    let section = |name: &str| {
        let mut all = SECTIONS.iter();
        all.find(|(start, _)| name.starts_with(start))
            .map(|(_, prefix)| *prefix)
    };
    let columns = names.split_whitespace().skip(1).filter_map(section);
    let columns: Vec<&str> = columns.collect();
    let mut statistics: BTreeMap<&str, Vec<Option<f64>>> = BTreeMap::new();
    let mut end = head + 1;
    while let Some(text) = line_at(lines, end) {
        let mut words = text.split_whitespace();
        let Some(first) = words.next() else { break };
        let known = ["over:", "count:", "min:", "avg:", "max:", "ALL:"].contains(&first);
        if !known && english(first).is_none() {
            break;
        }
        if known {
            // Below `ALL:` stand sums, which are those of the rows above.
            let row = statistics.entry(first);
            row.or_insert_with(|| words.map(english).collect());
        }
        end += 1;
    }
    let mut figures = Vec::new();
    for (_, prefix) in SECTIONS {
        let own = columns.iter().enumerate();
        let own = own.filter(|(_, name)| **name == prefix);
        let seen = own.map(|(at, _)| {
            let cell = |row: &str| statistics.get(row)?.get(at).copied().flatten();
            Seen::new(["count:", "min:", "avg:", "max:"].map(cell))
        });
        figures.extend(levels(prefix, unit, &seen.collect::<Vec<_>>()));
    }
    (end, figures)
}
