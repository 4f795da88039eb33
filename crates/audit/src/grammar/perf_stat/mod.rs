//! `perf stat` in its four forms: text, intervals (`-I`), separated fields
//! (`-x`) and JSON lines (`-j`).
//!
//! What is read of each counter is its value, its unit, its name (with the
//! CPU, socket, thread or control group of the row), its uncertainty and the
//! share of time in which it was counted. The figures that perf derives from
//! the counters (`# 0.123 CPUs utilized`) are not read: they add nothing.
//!
//! One execution gives one [`Finding::Run`]; with `-r`, where perf prints the
//! mean and its relative standard error, each counter gives one
//! [`Finding::Summary`].
//!
//! [`Finding::Run`]: super::Finding::Run
//! [`Finding::Summary`]: super::Finding::Summary

mod csv;
mod emit;
mod event;
mod header;
mod interval;
mod join;
mod json;
mod row;
mod tail;
mod text;
mod token;

use super::begins::Begins;
use super::{Block, Grammar, Taken};
use crate::Line;

/// The name of the text of `perf stat -I` among the formats.
pub(crate) const INTERVAL: &str = "perf stat -I";
/// The metric of how long the program ran.
pub(crate) const ELAPSED: &str = "elapsed";

/// The text that `perf stat` prints by default.
#[derive(Debug, Clone, Copy)]
pub struct PerfStat;

/// The text of `perf stat -I`.
#[derive(Debug, Clone, Copy)]
pub struct PerfStatInterval;

/// The fields of `perf stat -x`.
#[derive(Debug, Clone, Copy)]
pub struct PerfStatCsv;

/// The lines of `perf stat -j`.
#[derive(Debug, Clone, Copy)]
pub struct PerfStatJson;

/// The format's name.
pub(crate) const PERF_STAT: &str = "perf stat";

impl Grammar for PerfStat {
    fn name(&self) -> &'static str {
        PERF_STAT
    }

    fn begins(&self) -> Begins {
        Begins::with(b"0123456789-+.niNI<PCSD#")
    }

    fn starts(&self, line: &str) -> bool {
        let bytes = blanks_off(line.as_bytes());
        match bytes.first() {
            Some(b'0'..=b'9') => value_then_word(bytes),
            Some(b'-' | b'+' | b'.' | b'n' | b'i' | b'N' | b'I') => odd_value(bytes),
            Some(b'<') => bytes.starts_with(b"<not "),
            Some(b'P') => bytes.starts_with(b"Performance counter stats"),
            Some(b'C' | b'S' | b'D') => place_prefix(bytes).is_some(),
            Some(b'#') => bytes.starts_with(STARTED.as_bytes()),
            // A no-break space.
            Some(0xC2) => true,
            _ => false,
        }
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        text::read(lines)
    }
}

impl Grammar for PerfStatInterval {
    fn name(&self) -> &'static str {
        INTERVAL
    }

    fn begins(&self) -> Begins {
        Begins::with(b"0123456789#")
    }

    fn starts(&self, line: &str) -> bool {
        match blanks_off(line.as_bytes()).first() {
            Some(b'#') => interval::is_heading(line),
            Some(b'0'..=b'9') => token::timestamp(line).is_some(),
            _ => false,
        }
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        interval::read(lines)
    }
}

impl Grammar for PerfStatCsv {
    fn name(&self) -> &'static str {
        "perf stat -x"
    }

    fn begins(&self) -> Begins {
        Begins::with(b"0123456789-niCSDN<#")
    }

    fn starts(&self, line: &str) -> bool {
        let bytes = blanks_off(line.as_bytes());
        match bytes.first() {
            Some(b'0'..=b'9' | b'-') => separated_value(bytes),
            Some(b'n' | b'i') => bytes.starts_with(b"nan") || bytes.starts_with(b"inf"),
            Some(b'<') => bytes.starts_with(b"<not ") && bytes.get(9..16).is_some_and(closes),
            Some(b'C' | b'S' | b'D' | b'N') => place_prefix(bytes).is_some_and(is_separator),
            Some(b'#') => bytes.starts_with(STARTED.as_bytes()),
            _ => false,
        }
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        csv::read(lines)
    }
}

impl Grammar for PerfStatJson {
    fn name(&self) -> &'static str {
        "perf stat -j"
    }

    fn begins(&self) -> Begins {
        Begins::with(b"{#")
    }

    fn starts(&self, line: &str) -> bool {
        match blanks_off(line.as_bytes()).first() {
            Some(b'{') => json::starts(line),
            Some(b'#') => line.trim_start().starts_with(STARTED),
            _ => false,
        }
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        json::read(lines)
    }
}

/// What `perf stat -o` writes at the top of its file.
const STARTED: &str = "# started on ";

/// How many lines `perf stat -o` wrote above the counters.
fn preamble(lines: &[Line<'_>]) -> usize {
    let Some(first) = lines.first() else {
        return 0;
    };
    if !first.text.trim_start().starts_with(STARTED) {
        return 0;
    }
    let blanks = lines
        .iter()
        .skip(1)
        .take(4)
        .take_while(|line| line.text.trim().is_empty())
        .count();
    1 + blanks
}

/// What these lines were taken for.
fn preamble_taken(lines: usize) -> Vec<Taken> {
    let mut taken = vec!["perf stat blank"; lines];
    if let Some(first) = taken.first_mut() {
        *first = "perf stat note";
    }
    taken
}

fn blanks_off(bytes: &[u8]) -> &[u8] {
    let blanks = bytes
        .iter()
        .take_while(|b| matches!(b, b' ' | b'\t'))
        .count();
    bytes.get(blanks..).unwrap_or_default()
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b',' | b';' | b'|' | b'\t')
}

/// Whether a bracket closes and a separator follows (`ted>,`).
fn closes(bytes: &[u8]) -> bool {
    bytes
        .windows(2)
        .any(|pair| matches!(pair, [b'>', next] if is_separator(*next)))
}

/// A number, then a blank and something that may be a unit, a name, a group
/// of digits, or a sign; or nothing.
fn value_then_word(bytes: &[u8]) -> bool {
    let end = bytes
        .iter()
        .take(64)
        .position(|b| matches!(b, b' ' | b'\t'))
        .unwrap_or(bytes.len().min(64));
    let odd = |b: &u8| matches!(b, b':' | b')' | b'%' | b'/' | b'=' | b']');
    let ends_sentence = end > 0 && bytes.get(end - 1) == Some(&b'.');
    if ends_sentence || bytes.iter().take(end).any(odd) {
        return false;
    }
    match blanks_off(bytes.get(end..).unwrap_or_default()).first() {
        Some(next) => next.is_ascii_alphanumeric() || matches!(next, b'+' | b'%' | b'\'' | 0xC2),
        None => end < 64,
    }
}

/// `-12.3 Joules`, `nan Joules`; also a place that starts with `N`.
fn odd_value(bytes: &[u8]) -> bool {
    let body = match bytes {
        [b'-' | b'+', body @ ..] => body,
        body => body,
    };
    match body {
        [b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..] => value_then_word(body),
        [a, b, c, b' ' | b'\t', ..] => {
            let word = [a, b, c].map(u8::to_ascii_lowercase);
            &word == b"nan" || &word == b"inf"
        }
        _ => false,
    }
    .then_some(())
    .or_else(|| place_prefix(bytes).map(|_| ()))
    .is_some()
}

/// The byte after `CPU0`, `S0-D0-C1` and the like.
fn place_prefix(bytes: &[u8]) -> Option<u8> {
    let tail = match bytes {
        [b'C', b'P', b'U', tail @ ..] | [b'S' | b'N' | b'D', tail @ ..] => tail,
        _ => return None,
    };
    if !tail.first().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    tail.iter()
        .take(40)
        .find(|b| !(b.is_ascii_digit() || b.is_ascii_uppercase() || **b == b'-'))
        .copied()
        .filter(|b| matches!(b, b' ' | b'\t') || is_separator(*b))
}

/// A number that a separator ends: `33,,`, `33;;`, `0.100226133,0.66,`.
fn separated_value(bytes: &[u8]) -> bool {
    let mut before = 0;
    for &byte in bytes.iter().take(64) {
        match byte {
            b'0'..=b'9' | b'.' | b',' | b'-' | b'+' | b'%' => before = byte,
            b';' | b'|' | b'\t' => return true,
            _ => return before == b',',
        }
    }
    false
}

#[cfg(test)]
mod tests;
