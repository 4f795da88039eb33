//! `perf stat` in its four forms: text, intervals (`-I`), separated fields (`-x`) and JSON
//! lines (`-j`).
//!
//! A counter has a value, a unit, a name (with the CPU, socket, thread or control group of
//! the row), its uncertainty and the share of time in which it was counted. What perf derives
//! from counters (`# 0.123 CPUs utilized`) adds nothing and is not read.
//!
//! One execution is one run; with `-r` perf prints means with their relative standard errors,
//! which are summaries.

mod counters;
mod fields;
mod line;
mod text;

use super::block::{Grammar, Taken};
use super::latencies::blanks;
use crate::line::Line;

/// The name of the text among the formats.
pub(crate) const PERF_STAT: &str = "perf stat";
/// The name of the text of `perf stat -I` among the formats.
pub(crate) const INTERVAL: &str = "perf stat -I";
/// The metric of how long the program ran.
pub(crate) const ELAPSED: &str = "elapsed";

/// The text that `perf stat` prints by default.
pub const PERF_STAT_TEXT: Grammar = Grammar {
    first: b"0123456789-<PCSDN#",
    ..Grammar::new(PERF_STAT, starts_text, text::read)
};

/// The text of `perf stat -I`.
pub const PERF_STAT_INTERVAL: Grammar = Grammar {
    first: b"0123456789#",
    ..Grammar::new(
        INTERVAL,
        |line| text::is_heading(line) || line::time_stamp(line).is_some(),
        text::read_intervals,
    )
};

/// The fields of `perf stat -x`.
pub const PERF_STAT_CSV: Grammar = Grammar {
    first: b"0123456789-CSDN<#",
    holds: b",;|\t#",
    ..Grammar::new("perf stat -x", starts_csv, fields::separated)
};

/// The lines of `perf stat -j`.
pub const PERF_STAT_JSON: Grammar = Grammar {
    first: b"{#",
    ..Grammar::new("perf stat -j", starts_json, fields::objects)
};

fn starts_text(line: &str) -> bool {
    let text = line.trim_start();
    match text.as_bytes().first() {
        Some(b'#') => text.starts_with(STARTED),
        Some(b'P') => text.starts_with(text::HEADER),
        Some(b'<') => text.starts_with("<not "),
        Some(b'0'..=b'9' | b'-') => value_then_word(text),
        Some(b'C' | b'S' | b'D' | b'N') => line::place(text).is_some(),
        _ => false,
    }
}

fn starts_csv(line: &str) -> bool {
    let text = line.trim_start();
    text.starts_with(STARTED) || text.contains([',', ';', '|', '\t']) && fields::may_be_row(text)
}

fn starts_json(line: &str) -> bool {
    let text = line.trim_start();
    text.starts_with(STARTED)
        || text.starts_with('{') && text.contains("\"counter-value\"") && text.contains("\"event\"")
}

/// The first line of files that `perf stat -o` writes.
const STARTED: &str = "# started on ";

/// Describes the lines that `perf stat -o` writes above the counters.
fn preamble(lines: &[Line<'_>]) -> Vec<Taken> {
    let started = |line: &&Line<'_>| line.text.trim_start().starts_with(STARTED);
    if lines.first().filter(started).is_none() {
        return Vec::new();
    }
    let mut taken = vec!["perf stat note"];
    taken.resize(1 + blanks(&lines[1..], 4), "perf stat blank");
    taken
}

/// A number, then blanks and a word, a sign or a group of digits.
fn value_then_word(text: &str) -> bool {
    let bytes = text.as_bytes();
    let blank = |b: &u8| matches!(b, b' ' | b'\t');
    let number = |b: &u8| b.is_ascii_digit() || matches!(b, b'.' | b',' | b'-' | b'\'' | 0x80..);
    let word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'%' | b'\'' | 0x80..);
    bytes.iter().take(64).position(blank).is_some_and(|end| {
        let next = bytes[end..].iter().find(|b| !blank(b));
        bytes[..end].iter().all(number) && next.is_some_and(word)
    })
}
