//! Idle-state residencies: `powertop` old and new, and bare rows of states.
//!
//! A block becomes one run with `C2 residency` in per cent for each state,
//! and, in the old layout, `C2 duration` in ms, `P-state …` in per cent,
//! `wakeups` per second and `power` in watts. Of the new layout's columns the
//! package's are read; those of cores and CPUs are only explained. A comma is
//! always the decimal mark: powertop prints no thousands.

use super::begins::Begins;
use super::cells::{bad_number, label, line_at, push_new, truncated};
use super::number::{Locale, parse};
use super::{Block, Figure, Finding, Grammar, Labels};
use crate::Line;

/// A longer line is none of powertop's.
const LINE_AT_MOST: usize = 2000;

/// No machine has more states and frequencies; a longer page is parted.
const FIGURES_AT_MOST: usize = 200;

/// The output of `powertop`, and rows such as `C6 : 98.7%`.
pub struct Powertop;

impl Grammar for Powertop {
    fn name(&self) -> &'static str {
        "powertop"
    }

    fn begins(&self) -> Begins {
        Begins::with(b"CPW")
    }

    fn starts(&self, line: &str) -> bool {
        let text = line.trim_start();
        match text.as_bytes() {
            [b'C', b'0'..=b'9', ..] => text.len() <= LINE_AT_MOST && text.contains('%'),
            [b'C', b'n', ..] => is_head(text),
            [b'P', b'O', b'L', b'L', ..] => text.len() <= LINE_AT_MOST && text.contains('%'),
            [b'P', b'a' | b'k', ..] => is_package_head(text),
            [b'W', ..] => text.starts_with(WAKEUPS),
            _ => false,
        }
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let first = line_at(lines, 0)?;
        let mut page = Page::default();
        if is_package_head(first) {
            page.read_packages(lines);
        } else if is_head(first) || first.starts_with(WAKEUPS) || old_row(first).is_some() {
            page.read_old(lines);
        } else {
            page.read_states(lines)?;
        }
        page.finish(is_head(first))
    }
}

const WAKEUPS: &str = "Wakeups-from-idle per second";

fn is_head(line: &str) -> bool {
    let rest = line.trim_start().strip_prefix("Cn");
    rest.is_some_and(|r| r.trim_start().starts_with("Avg residency"))
}

fn is_package_head(line: &str) -> bool {
    line.split_once('|')
        .is_some_and(|(cell, _)| matches!(cell.trim(), "Package" | "Pkg(HW)"))
}

/// What is read of one page.
#[derive(Default)]
struct Page {
    block: Block,
    figures: Vec<Figure>,
    /// Where the first figure stands.
    at: Option<usize>,
}

impl Page {
    /// Notes a figure, or why there is none.
    fn figure(&mut self, at: usize, metric: &str, digits: &str, unit: &str) {
        match number(digits) {
            None => self.block.find(at, bad_number(digits, metric)),
            Some(value) if push_new(&mut self.figures, Figure::new(metric, value, unit)) => {
                self.at.get_or_insert(at);
            }
            Some(_) => {
                let doubt = format!("`{metric}` stands twice; the first is read");
                self.block
                    .find(at, Finding::Doubt("duplicate-metric", doubt));
            }
        }
    }

    /// The block, if anything was read or a header promised it.
    fn finish(mut self, headed: bool) -> Option<Block> {
        if let Some(at) = self.at {
            let run = Finding::Run {
                labels: Labels::default(),
                figures: self.figures,
            };
            self.block.find(at, run);
        } else if self.block.findings.is_empty() {
            headed.then_some(())?;
            self.block
                .find(0, truncated("no rows follow powertop's header"));
        }
        (!self.block.taken.is_empty()).then_some(self.block)
    }

    /// Reads the page of powertop 1: states, wakeups and power.
    fn read_old(&mut self, lines: &[Line<'_>]) {
        let mut blanks = 0;
        for at in 0.. {
            let Some(text) = line_at(lines, at) else {
                break;
            };
            if text.trim().is_empty() && blanks < 3 {
                blanks += 1;
                continue;
            }
            if self.figures.len() >= FIGURES_AT_MOST {
                break;
            }
            let Some(taken) = self.old_line(at, text) else {
                break;
            };
            self.block.taken.resize(at, "blank");
            self.block.taken.push(taken);
            blanks = 0;
        }
    }

    fn old_line(&mut self, at: usize, text: &str) -> Option<&'static str> {
        if text.len() > LINE_AT_MOST || (is_head(text) && at > 0) {
            return None;
        }
        let trimmed = text.trim();
        if is_head(text) || trimmed.starts_with("P-states (") {
            return Some("powertop header");
        }
        if let Some(rest) = trimmed.strip_prefix(WAKEUPS) {
            let digits = rest
                .trim_start()
                .strip_prefix(':')?
                .split_whitespace()
                .next();
            self.figure(at, "wakeups", digits.unwrap_or(""), "1/s");
            return Some("powertop wakeups");
        }
        if let Some(rest) = trimmed.strip_prefix("Power usage (ACPI estimate)") {
            let watts = rest
                .trim_start_matches([':', ' '])
                .split_whitespace()
                .next();
            let watts = watts.unwrap_or("");
            self.figure(at, "power", watts.strip_suffix('W').unwrap_or(watts), "W");
            return Some("powertop power");
        }
        if trimmed.starts_with("no ACPI power usage") || trimmed.starts_with("< ") {
            return Some("powertop remark");
        }
        let (row, rest) = match old_row(text) {
            Some((row, rest)) => (Some(row), rest),
            None => (None, trimmed),
        };
        let frequency = (!rest.is_empty()).then(|| frequency(rest)).flatten();
        if row.is_none() && frequency.is_none() {
            return None;
        }
        if let Some(row) = row {
            self.figure(at, &format!("{} residency", row.state), row.percent, "%");
            if let Some(ms) = row.duration {
                self.figure(at, &format!("{} duration", row.state), ms, "ms");
            }
        }
        if let Some((name, percent)) = frequency {
            self.figure(at, &format!("P-state {name}"), percent, "%");
        }
        Some("powertop state")
    }

    /// Reads the idle or frequency table of powertop 2.
    fn read_packages(&mut self, lines: &[Line<'_>]) {
        for at in 0.. {
            let Some(text) = line_at(lines, at) else {
                break;
            };
            let full = self.figures.len() >= FIGURES_AT_MOST;
            if at > 0 && (full || is_package_head(text) || text.len() > LINE_AT_MOST) {
                break;
            }
            if text.trim().is_empty() {
                let goes_on = line_at(lines, at + 1)
                    .is_some_and(|t| t.starts_with("  ") && t.trim_start().starts_with('|'));
                if !goes_on {
                    break;
                }
                self.block.taken.push("blank");
                continue;
            }
            let Some((cell, _)) = text.split_once('|') else {
                break;
            };
            self.block.taken.push("powertop row");
            if at > 0 && !cell.trim().is_empty() {
                self.package_cell(at, cell);
            }
        }
    }

    /// `C2 (pc2)   63.7%`; a cell without per cent is a state never entered.
    fn package_cell(&mut self, at: usize, cell: &str) {
        let Some(rest) = cell.trim_end().strip_suffix('%') else {
            return;
        };
        let (name, digits) = last_word(rest);
        let name = name.split(" (").next().unwrap_or(name).trim();
        self.figure(at, &format!("{} residency", label(name)), digits, "%");
    }

    /// Reads bare rows of states; at least two must follow each other.
    fn read_states(&mut self, lines: &[Line<'_>]) -> Option<()> {
        bare_row(line_at(lines, 0)?)?;
        bare_row(line_at(lines, 1)?)?;
        for at in 0.. {
            let Some((state, percent)) = line_at(lines, at).and_then(bare_row) else {
                break;
            };
            if self.figures.len() >= FIGURES_AT_MOST {
                break;
            }
            self.block.taken.push("idle state row");
            self.figure(at, &format!("{state} residency"), percent, "%");
        }
        Some(())
    }
}

/// A number with a point or a comma for the decimal mark.
fn number(digits: &str) -> Option<f64> {
    let locale = if digits.contains(',') {
        Locale::CommaDecimal
    } else {
        Locale::English
    };
    parse(digits, locale)
}

/// A text without its last word, and that word.
fn last_word(text: &str) -> (&str, &str) {
    let text = text.trim_end();
    match text.rfind(char::is_whitespace) {
        Some(at) => (text[..at].trim_end(), text[at..].trim_start()),
        None => ("", text),
    }
}

/// Whether a word names an idle state: `C1`, `C1E`, `C6-BDW`, `POLL`.
fn is_state(word: &str) -> bool {
    match word.as_bytes() {
        [b'C', d, rest @ ..] => {
            d.is_ascii_digit()
                && rest.len() <= 10
                && rest.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'-')
        }
        _ => matches!(word, "POLL" | "polling"),
    }
}

/// A row of the old page.
struct OldRow<'a> {
    state: &'a str,
    percent: &'a str,
    duration: Option<&'a str>,
}

/// `C2 mwait    9,2ms (96,6%)`, and what stands to the right of it.
fn old_row(text: &str) -> Option<(OldRow<'_>, &str)> {
    if text.len() > LINE_AT_MOST {
        return None;
    }
    let state = text.split_whitespace().next().filter(|w| is_state(w))?;
    let (left, rest) = text.split_once("%)")?;
    let (before, percent) = left.rsplit_once('(')?;
    let duration = match before.trim_end().strip_suffix("ms") {
        Some(before) => Some(last_word(before).1),
        None if state == "C0" => None,
        None => return None,
    };
    let row = OldRow {
        state,
        percent: percent.trim(),
        duration,
    };
    Some((row, rest.trim()))
}

/// `1.60 Ghz   0.7%` or `Turbo Mode   3.0%`.
fn frequency(text: &str) -> Option<(String, &str)> {
    let (name, digits) = last_word(text.strip_suffix('%')?);
    let (value, unit) = last_word(name);
    let named = name == "Turbo Mode"
        || (["ghz", "mhz"].contains(&unit.to_ascii_lowercase().as_str())
            && number(value.trim()).is_some());
    named.then(|| (label(name), digits))
}

/// `C6 : 98.7%`, `C1 (CPU)  12.3%    0.2 ms`: the state and its per cent.
fn bare_row(line: &str) -> Option<(&str, &str)> {
    if line.len() > 200 {
        return None;
    }
    let (left, rest) = line.trim().split_once('%')?;
    let (name, digits) = last_word(left);
    let mut words = name.split_whitespace();
    let mut state = words.next()?;
    let mut separated = 0;
    if let Some(bare) = state.strip_suffix([':', '=']) {
        state = bare;
        separated = 1;
    }
    for word in words {
        if word == ":" || word == "=" {
            separated += 1;
        } else if !(word.starts_with('(') && word.ends_with(')')) {
            return None;
        }
    }
    let mut tail = rest.split_whitespace();
    let tail_fits = match (tail.next(), tail.next(), tail.next()) {
        (None, ..) => true,
        (Some(ms), Some("ms" | "us" | "µs"), None) => number(ms).is_some(),
        _ => false,
    };
    (is_state(state) && separated <= 1 && tail_fits && !digits.is_empty())
        .then_some((state, digits))
}
