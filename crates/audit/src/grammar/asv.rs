//! What `asv compare` and `asv continuous` print, in the layout before version 0.6 and in the
//! Markdown since:
//!
//! ```text
//!        before           after         ratio
//!      [dc00e6da]       [8cc6e6e0]
//! -      58.2±0.5ms       39.7±0.9ms     0.68  Graph.time_optimize(False)
//! ```
//!
//! A cell is the median of the samples of one execution, so it becomes a summary. What follows
//! `±` is half the interquartile range of the samples and says nothing about runs: no spread is
//! reported but one doubt per block.

use super::prelude::*;
use super::units::{is_time, metric_of, thousands};

/// Longest line.
const LONGEST: usize = 1000;
/// Most lines between the header and the rows.
const HASHES: usize = 2;

static VALUE: Form =
    Form::new(r"^(?<value>\d[\d.]*(?:e[+-]?\d+)?)(?:±[\d.]+(?:e[+-]?\d+)?)?(?<unit>[a-zA-Zμµ]*)$");

/// asv; see the module.
pub const ASV: Grammar = Grammar {
    first: b"b|",
    reach: HASHES + 2,
    names_what_it_compares: true,
    ..Grammar::new(
        "asv",
        |line| line.len() <= LONGEST && (is_old_header(line) || is_new_header(line)),
        read,
    )
};

fn read(lines: &[Line<'_>]) -> Option<Block> {
    let first = line_at(lines, 0)?;
    let mut block = Block::new("asv header", 1);
    let is_more = |line: &str| match is_new_header(first) {
        true => line.starts_with('|') && line.bytes().all(|b| b"|-: ".contains(&b)),
        false => line.starts_with(['[', '<']),
    };
    block.extend(lines, |_, at, line| {
        (at <= HASHES && is_more(line.trim())).then_some("asv header")
    });
    block.extend(lines, |block, at, line| {
        let row = row(line)?;
        for (configuration, value) in [("before", row.before), ("after", row.after)] {
            let Some(figure) = figure(value, row.name) else {
                continue;
            };
            let labels = Labels::new(Some(configuration.to_owned()), Some(label(row.name)));
            block.find(at, summary(&labels, figure, None, None));
        }
        Some("asv row")
    });
    if block.findings.is_empty() {
        return None;
    }
    let doubt = "what asv prints after ± is half the interquartile range of the samples of \
                 one execution, not a deviation between runs";
    block.doubt(0, "spread-unknown", doubt);
    Some(block)
}

fn is_old_header(line: &str) -> bool {
    let words = line.split_ascii_whitespace();
    words.eq(["before", "after", "ratio"])
}

fn is_new_header(line: &str) -> bool {
    let cells: Vec<&str> = barred(line).collect();
    let starts = ["Change", "Before ", "After ", "Ratio", "Benchmark"];
    let mut named = cells.iter().zip(starts);
    cells.len() == starts.len() && named.all(|(cell, start)| cell.starts_with(start))
}

fn barred(line: &str) -> impl Iterator<Item = &str> {
    let inner = line.trim().strip_prefix('|');
    let inner = inner.and_then(|rest| rest.strip_suffix('|')).into_iter();
    inner.flat_map(|inner| inner.split('|').map(str::trim))
}

/// The two values and the name in a row.
struct Row<'t> {
    before: &'t str,
    after: &'t str,
    name: &'t str,
}

fn row(line: &str) -> Option<Row<'_>> {
    if line.len() > LONGEST {
        return None;
    }
    if let [_, before, after, _, name] = barred(line).collect::<Vec<_>>()[..] {
        return is_row(before, after).then_some(Row {
            before,
            after,
            name,
        });
    }
    let marks = ['+', '-', '!', 'x', '*', '~'];
    let (before, rest) = word(line.trim_start().trim_start_matches(marks))?;
    let (after, rest) = word(rest)?;
    let (_ratio, name) = word(rest)?;
    let name = name.trim();
    (is_row(before, after) && !name.is_empty()).then_some(Row {
        before,
        after,
        name,
    })
}

fn word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace)?;
    Some((&text[..end], &text[end..]))
}

/// Whether both cells hold what asv prints there.
fn is_row(before: &str, after: &str) -> bool {
    let is_cell = |cell: &str| matches!(cell, "n/a" | "failed") || VALUE.is_match(cell);
    is_cell(before) && is_cell(after)
}

/// A value with the prefix of its unit resolved; times keep their unit.
fn figure(cell: &str, name: &str) -> Option<Figure> {
    let found = VALUE.captures(cell)?;
    let (value, unit) = (english(&found["value"])?, &found["unit"]);
    if is_time(unit) {
        return Some(Figure::new(metric_of(unit), value, unit));
    }
    let Some(power) = thousands(unit).filter(|power| *power >= 0) else {
        return Some(Figure::new(unit, value, unit));
    };
    let value = value * 1000_f64.powi(power);
    // `module.Class.peakmem_method(parameters)`.
    let method = name.split('(').next()?.rsplit('.').next()?;
    Some(
        match method.starts_with("mem_") || method.starts_with("peakmem_") {
            true => Figure::new("memory", value, "B"),
            false => Figure::new("value", value, ""),
        },
    )
}
