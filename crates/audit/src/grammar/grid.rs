//! A table as it was read, before its rows and columns are given their roles.

use super::number::{Locale, number};
use super::units::{is_measure, is_unit};
use crate::numbers;

/// A figure in a table or a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    pub(crate) value: f64,
    pub(crate) unit: String,
    /// The place of its last digit.
    pub(crate) step: Option<f64>,
    /// The number after its `±`.
    pub(crate) spread: Option<f64>,
    /// Whether it has a prefix (`12K`) or is a size, as names of rows and settings have.
    pub(crate) is_size: bool,
    /// As it was printed.
    pub(crate) text: String,
    /// The figure behind its arrow: `12.5 ms → 11.5 ms`.
    pub(crate) then: Option<Box<Cell>>,
}

/// Printed changes are rounded to this many percent.
const CHANGE_STEP: f64 = 0.51;

impl Cell {
    /// The figure at the beginning of a text, perhaps behind a remark in brackets, and the rest
    /// of the text.
    pub(crate) fn leading(text: &str) -> Option<(Cell, &str)> {
        let text = undecorated(text);
        let remark = text
            .strip_prefix('[')
            .and_then(|rest| rest.split_once("] "));
        let text = remark.map_or(text, |(_, rest)| undecorated(rest));
        if !text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) {
            return None;
        }
        if let Some((digits, rest)) = text.split_once(['x', '\u{d7}'])
            && let Some(times) = number(digits.trim_end(), Locale::English)
            && !rest.starts_with(char::is_alphanumeric)
        {
            let mut cell = Cell::new(times.value, "x", text);
            cell.step = times.step;
            return Some((cell, rest));
        }
        let first = |text: &'_ str| {
            let one = numbers::find(text).into_iter().next()?;
            (one.at == 0).then_some((one.number, one.unit.to_owned(), one.end, one.times))
        };
        let (number, mut unit, end, times) = first(text)?;
        let (mut rest, mut spread) = (&text[end..], None);
        let marks = ["\u{b1}", "+/-", "+-"];
        if let Some(behind) = marks
            .iter()
            .find_map(|mark| rest.trim_start().strip_prefix(mark))
        {
            let behind = behind.trim_start();
            let (half, other, end, _) = first(behind)?;
            // `3.67±0.02s`: the unit is behind both.
            spread = match other.as_str() {
                "%" if unit != "%" => Some(number.value.abs() * half.value / 100.0),
                "" => Some(half.value),
                other if unit.is_empty() || unit == other => {
                    unit = other.to_owned();
                    Some(half.value)
                }
                _ => return None,
            };
            rest = &behind[end..];
        }
        let is_size = times != 1.0 || !(unit.is_empty() || unit == "%" || is_measure(&unit));
        let known = unit.is_empty() || is_unit(&unit);
        let cell = Cell {
            step: number.step,
            spread,
            is_size,
            ..Cell::new(number.value, &unit, text)
        };
        known.then_some((cell, rest))
    }

    fn new(value: f64, unit: &str, text: &str) -> Cell {
        let (unit, text) = (unit.to_owned(), text.to_owned());
        Cell {
            value,
            unit,
            step: None,
            spread: None,
            is_size: false,
            text,
            then: None,
        }
    }

    /// The figures before and behind an arrow, or `from` and `to`, perhaps with the change behind
    /// them; the inner `None` stands for other things.
    pub(crate) fn pair(text: &str) -> Option<Option<[Cell; 2]>> {
        let mut arrows = ["\u{2192}", "->", "=>"].iter();
        let arrow = arrows.find_map(|arrow| text.split_once(arrow));
        let (before, after) =
            arrow.or_else(|| text.trim().strip_prefix("from ")?.split_once(" to "))?;
        let change = after.rsplit_once(' ').filter(|(_, word)| is_change(word));
        let after = change.map_or(after.to_owned(), |(after, word)| {
            format!("{after} ({word})")
        });
        let both = Cell::whole(before).zip(Cell::whole(&after));
        Some(both.map(|(mut before, after)| {
            if before.unit.is_empty() {
                before.unit.clone_from(&after.unit);
            }
            [before, after]
        }))
    }

    /// The first figure, which keeps the second.
    pub(crate) fn joined([before, after]: [Cell; 2]) -> Cell {
        let then = Some(Box::new(after));
        Cell { then, ..before }
    }

    /// Whether it says how many times faster or slower it is than another.
    pub(crate) fn compares(&self) -> bool {
        let (_, said) = self.text.split_once(": ").unwrap_or_default();
        said.contains("x faster") || said.contains("x slower")
    }

    /// The figure that a text is, perhaps with a remark in parentheses or a comparison behind it. One
    /// change may be told twice: `1.09x faster, -7.9%`.
    pub(crate) fn whole(text: &str) -> Option<Cell> {
        let (cell, rest) = Cell::leading(text)?;
        let said = rest.starts_with(':') && cell.compares();
        let change = |cell: &Cell| matches!(&*cell.unit, "%" | "x");
        let twice = || {
            let (word, again) = rest.split_once(',')?;
            let (word, again) = (word.trim(), Cell::leading(again)?);
            let way = matches!(word, "" | "faster" | "slower" | "less" | "more");
            Some(way && change(&again.0) && is_remark(again.1))
        };
        let told = change(&cell) && twice() == Some(true);
        let deviation = || cell.deviation(rest);
        let spread = cell.spread.or_else(deviation);
        (is_remark(rest) || said || told).then_some(Cell { spread, ..cell })
    }

    /// The deviation in a remark: `(stdev 1.2, n=5)`.
    fn deviation(&self, remark: &str) -> Option<f64> {
        let inner = remark.trim_start().strip_prefix('(')?.split(')').next()?;
        inner.split([',', ';']).find_map(|part| {
            let one = numbers::find(part).into_iter().next()?;
            let half = match one.unit {
                "%" if self.unit != "%" => self.value.abs() * one.number.value / 100.0,
                unit if unit.is_empty() || unit == self.unit => one.number.value,
                _ => return None,
            };
            is_deviation(&part[..one.at]).then_some(half)
        })
    }

    /// The number of runs in a remark: `n=5`.
    pub(crate) fn runs(text: &str) -> Option<u32> {
        let (_, inner) = text.split_once('(')?;
        let mut parts = inner.split([',', ';']);
        let n = parts.find_map(|part| {
            part.trim()
                .strip_prefix("n=")
                .or(part.trim().strip_prefix("n = "))
        })?;
        n.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    }
}

/// Whether a word is a change in percent: `-0.68%`.
fn is_change(word: &str) -> bool {
    word.starts_with(['+', '-']) && word.ends_with('%')
}

/// Whether figures before and after a change were measured: they have a unit or a prefix, or a printed
/// change follows from them. Versions have none.
pub(crate) fn are_measured([before, after]: [&Cell; 2]) -> bool {
    let measured = |cell: &Cell| !cell.unit.is_empty() || cell.is_size;
    let last = after.text.trim_end_matches(')').rsplit([' ', '(']).next();
    let printed = last.filter(|word| is_change(word)).and_then(Cell::leading);
    let printed = printed.map_or(f64::NAN, |(change, _)| change.value);
    let follows = (100.0 * (after.value / before.value - 1.0) - printed).abs() < CHANGE_STEP;
    follows || measured(before) && measured(after)
}

/// Whether a text holds nothing but remarks in parentheses or brackets, and marks.
pub(crate) fn is_remark(text: &str) -> bool {
    let mut rest = undecorated(text);
    let behind = |rest: &'_ str| match rest.chars().next() {
        Some('(') => rest.find(')'),
        Some('[') => rest.find(']'),
        _ => None,
    };
    while let Some(end) = behind(rest) {
        rest = undecorated(&rest[end + 1..]);
    }
    rest.is_empty()
}

/// A text without the marks of Markdown and the symbols around it.
pub(crate) fn undecorated(text: &str) -> &str {
    let is_mark = |c: char| {
        let symbol = !c.is_ascii() && !c.is_alphanumeric();
        matches!(c, '*' | '_' | '`' | '~' | ' ' | '\t')
            || symbol && !matches!(c, '\u{b1}' | '\u{2192}' | '\u{2212}' | '\u{d7}')
    };
    text.trim_matches(is_mark)
}

/// Words for standard deviations of runs.
pub(crate) const DEVIATIONS: [&str; 4] = ["stddev", "stdev", "std", "sd"];

pub(crate) fn has_word(name: &str, words: &[&str]) -> bool {
    let lower = name.to_lowercase();
    let mut all = lower.split(|c: char| !c.is_alphanumeric());
    all.any(|word| words.contains(&word))
}

pub(crate) fn is_deviation(name: &str) -> bool {
    has_word(name, &DEVIATIONS)
}

/// A row: labels, then figures, `None` where one is missing.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its line in the block.
    pub(crate) at: usize,
    pub(crate) labels: Vec<String>,
    pub(crate) cells: Vec<Option<Cell>>,
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// The headers of the labels.
    pub(crate) keys: Vec<String>,
    /// The headers of the figures.
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Row>,
}

impl Row {
    /// Returns the labels joined by blanks.
    pub(crate) fn label(&self) -> String {
        self.labels.join(" ")
    }
}
