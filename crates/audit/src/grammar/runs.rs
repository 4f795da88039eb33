//! Several runs in a row after a name: `time: 1.21s 1.25s 1.19s`.
//!
//! Three or more numbers after a name, each with a fraction or a unit and not sorted, are runs of
//! the configuration that the heading above names. Counts, quantiles and load averages look the
//! same, but are integers or sorted. Anyone may write such a line, so the gate compares only rows
//! below headings of several configurations; all others are left as prose.

use super::grid::Cell;
use super::prelude::*;
use super::table::counts_runs;
use crate::numbers::{self, Printed};

/// Runs in a row; see the module.
pub const RUNS_IN_A_ROW: Grammar = Grammar {
    holds: b":=",
    reach: 0,
    is_report: false,
    ..Grammar::new(RUNS, starts, read)
};

/// Their name among the formats.
pub(crate) const RUNS: &str = "runs in a row";

/// Longest such line.
const LONGEST: usize = 400;
/// Fewest numbers.
pub(crate) const FEWEST: usize = 3;
/// Most words of a name; more are a sentence.
const WORDS: usize = 6;

/// Splits a line into the name before its colon or equals sign and the numbers after it; `None` if
/// it has anything else.
pub(crate) fn behind_name(text: &str) -> Option<(&str, Vec<Printed<'_>>)> {
    let first = numbers::find(text).first()?.at;
    let name = text[..first].trim_end().strip_suffix([':', '='])?;
    let name = name.trim().trim_start_matches(['-', '*']).trim_start();
    let named = (1..=WORDS).contains(&name.split_whitespace().count());
    Some((name, in_a_row(&text[first..]).filter(|_| named)?))
}

/// The numbers of a text that has nothing else: `12.3s 12.5s 12.1s`, `[512k, 514k, 511k]`.
pub(super) fn in_a_row(text: &str) -> Option<Vec<Printed<'_>>> {
    let text = text.trim().trim_start_matches('[').trim_end_matches(']');
    let all = numbers::find(text);
    let first = all.first().filter(|_| all.len() >= FEWEST)?;
    let only = text.split([' ', '\t', ',', ';']).all(|word| {
        let number = word.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
        word.is_empty() || word == first.unit || number && numbers::find(word).len() == 1
    });
    only.then_some(all)
}

/// Whether values rise or fall all along, as quantiles do.
pub(super) fn is_sorted(values: impl DoubleEndedIterator<Item = f64> + Clone) -> bool {
    values.clone().is_sorted() || values.rev().is_sorted()
}

/// Whether numbers can be repeated runs of the same thing.
pub(super) fn are_runs(all: &[&Figure]) -> bool {
    let values = || all.iter().map(|one| one.value);
    let whole = |one: &&Figure| one.unit.is_empty() && one.step.is_none_or(|step| step >= 1.0);
    let one_unit = all.iter().all(|one| one.unit == all[0].unit);
    all.len() >= FEWEST && one_unit && !is_sorted(values()) && !all.iter().any(whole)
}

/// The figure of a line that has nothing else, but perhaps its number: `2) 7.8 s`, `run 3: 4.01`.
pub(super) fn counted(text: &str) -> Option<Cell> {
    let text = text.trim();
    let is_count = |head: &str| {
        let word = head.trim_end_matches(|c: char| c.is_ascii_digit());
        word.len() < head.len() && counts_runs(word)
    };
    match text.split_once([':', '=']) {
        Some((head, rest)) if is_count(head.trim_end()) => Cell::whole(rest),
        _ => Cell::whole(&text[numbers::list_mark(text)..]),
    }
}

fn starts(line: &str) -> bool {
    let number = |c: char| c.is_ascii_digit() || "+-.".contains(c);
    let parted = line.split_once([':', '=']);
    line.len() <= LONGEST && parted.is_some_and(|(_, rest)| rest.trim_start().starts_with(number))
}

fn read(lines: &[Line<'_>]) -> Option<Block> {
    let (name, all) = behind_name(line_at(lines, 0)?)?;
    let figure = |one: &Printed<'_>| {
        Figure::new(label(name), one.number.value, one.unit).with_step(one.number.step)
    };
    let figures: Vec<Figure> = all.iter().map(figure).collect();
    let mut block = Block::new(RUNS, 1);
    if !are_runs(&figures.iter().collect::<Vec<_>>()) {
        return None;
    }
    for figure in figures {
        block.run(0, Labels::default(), vec![figure]);
    }
    Some(block)
}
