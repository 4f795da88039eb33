//! Lists that people make: in each line a name and its figures.
//!
//! | line | is |
//! | --- | --- |
//! | `- baseline: 17499.88 req/s` | a row with one column |
//! | `edge: 36.7ms → 41.5ms (13% worse)` | a row with the columns `before` and `after` |
//! | `Query 1: prev=74 ms, new=70 ms` | a row whose columns are `prev` and `new` |
//! | `Before: 16073 TPS, 6.241 ms` | a row whose columns are `TPS` and `time` |
//! | `Before:` above `sort: 12.5 s` or `12.5 s` | figures of one configuration |
//! | `Before:` above `12.5 12.9 12.4` | runs of one configuration |
//! | `before: 12.5s 12.9s 12.4s` above `after: …` | runs of both |
//!
//! Two lines or more of one form are a table, which must say itself what is compared. A list below
//! the name of a state holds either metrics, each with another name or a sentence of its own, or
//! three or more runs in a row: numbers alone, perhaps counted. Any other list is left as prose:
//! anyone may write one.

use assize_bundle::Spread;

use super::dispatch;
use super::grid::{Cell, Grid, Row, are_measured, is_deviation, is_remark, undecorated};
use super::prelude::*;
use super::runs::{self, RUNS};
use super::units::{is_measure, metric_of};
use crate::headings::is_fence;
use crate::numbers::{self, Printed};
use crate::states::{are_before_and_after, may_begin, side};

/// Lists; see the module.
pub const LISTS: Grammar = Grammar {
    reach: FAR + 1,
    is_report: false,
    ..Grammar::new(LIST, starts, read)
};

/// Their name among the formats.
pub(crate) const LIST: &str = "list";

/// Longest line.
const LONGEST: usize = 200;
/// Most words of a name; more are a sentence.
const WORDS: usize = 6;
/// Most lines between the name of a state and its list.
const FAR: usize = 3;
/// Most lines of a list.
const MOST: usize = 200;

/// A line of a list: its name, and its figures with the names of their columns.
type Entry = (String, Vec<(String, Cell)>);

/// A line without the mark of an item.
fn item(text: &str) -> &str {
    let text = text.trim_start();
    let bare = text.trim_start_matches(['-', '*', '+', '\u{2022}']);
    if bare.starts_with(' ') {
        bare.trim()
    } else {
        text.trim_end()
    }
}

fn entry(text: &str) -> Option<Entry> {
    let text = item(text);
    // `x.ll 60303436 -> 59892141 -0.68%`
    let before_arrow = || text[..text.find(" -> ")?].rfind(' ');
    let (name, rest) = text.split_at(text.find([':', '=']).or_else(before_arrow)?);
    let name = undecorated(name);
    let named = name.contains(char::is_alphabetic) && name.split_whitespace().nth(WORDS).is_none();
    let cells = (named && text.len() <= LONGEST).then(|| cells(&rest[1..]))??;
    // `HZ=250` is a setting.
    let set = |(_, cell): &(String, Cell)| cell.unit.is_empty() && cell.value.fract() == 0.0;
    let sets = rest.starts_with('=') && cells.len() == 1 && cells.iter().all(set);
    (!sets).then(|| (label(name), cells))
}

/// The figures behind a name.
fn cells(text: &str) -> Option<Vec<(String, Cell)>> {
    if let Some(pair) = Cell::pair(text) {
        let [before, after] = pair.filter(|[a, b]| are_measured([a, b]))?;
        return Some(vec![
            ("before".to_owned(), before),
            ("after".to_owned(), after),
        ]);
    }
    match Cell::whole(text).or_else(|| of_what(text)) {
        Some(cell) => Some(vec![(String::new(), cell)]),
        None => pairs(text).or_else(|| in_units(text)),
    }
}

/// Figures in different units, which tell them apart: `16073 TPS, 6.241 ms`.
fn in_units(text: &str) -> Option<Vec<(String, Cell)>> {
    let mut all: Vec<(String, Cell)> = Vec::new();
    for part in text.split(", ") {
        let cell = Cell::whole(part).or_else(|| of_what(part))?;
        let metric = metric_of(&cell.unit).to_owned();
        let twice = metric.is_empty() || all.iter().any(|(known, _)| *known == metric);
        all.push((!twice).then_some((metric, cell))?);
    }
    (all.len() >= 2).then_some(all)
}

/// A figure with a unit, behind which a word says what it is of: `210.3% cpu (-13.7%)`.
fn of_what(text: &str) -> Option<Cell> {
    let (cell, rest) = Cell::leading(text)?;
    let (what, remark) = rest.split_at(rest.find('(').unwrap_or(rest.len()));
    let word = |b: u8| b.is_ascii_alphabetic() || matches!(b, b' ' | b'.');
    let said = what.bytes().all(word) && what.split_whitespace().nth(1).is_none();
    (said && !cell.unit.is_empty() && is_remark(remark)).then_some(cell)
}

/// `prev= 74 ms, new= 70 ms, diff=1.06 faster`: two figures or more, each behind a name.
fn pairs(text: &str) -> Option<Vec<(String, Cell)>> {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some((name, behind)) = rest.split_once([':', '=']) {
        let name = undecorated(name.trim_matches([',', ';', '|', ' ']));
        let named = name.starts_with(char::is_alphabetic) && name.split_whitespace().count() <= 3;
        let (cell, next) = Cell::leading(behind)?;
        all.push((label(name), named.then_some(cell)?));
        rest = match next.trim_start().strip_prefix('(') {
            Some(remark) => remark.split_once(')')?.1,
            None => next,
        };
    }
    let ends = is_remark(rest) || rest.split_whitespace().count() <= 2;
    (all.len() >= 2 && ends).then_some(all)
}

/// Several runs: `12.3s 12.5s 12.1s`, `512k, 514k, 511k`, `[12.3, 12.5, 12.1]`.
fn in_a_row(text: &str) -> Option<Vec<Figure>> {
    let run = |one: &Printed<'_>| {
        named(metric_of(one.unit), one.number.value, one.unit).with_step(one.number.step)
    };
    let runs: Vec<Figure> = runs::in_a_row(text)?.iter().map(run).collect();
    runs.iter()
        .all(|run| run.unit == runs[0].unit)
        .then_some(runs)
}

/// The runs of a state before a change and of one after it, each in a row behind its name. Sorted
/// rows may be quantiles.
fn runs_of_states(lines: &[Line<'_>]) -> Option<Block> {
    let here = |at: &usize| line_at(lines, *at).filter(|_| lines[*at].depth == lines[0].depth);
    let row = |at: usize| {
        let (name, rest) = item(here(&at)?).split_once([':', '='])?;
        side(undecorated(name))?;
        Some((at, label(undecorated(name)), in_a_row(rest)?))
    };
    let rows: Vec<_> = (0..MOST).map_while(row).collect();
    let names: Vec<&String> = rows.iter().map(|(_, name, _)| name).collect();
    let sorted = |runs: &[Figure]| runs::is_sorted(runs.iter().map(|run| run.value));
    if !are_before_and_after(&names) || rows.iter().all(|(_, _, runs)| sorted(runs)) {
        return None;
    }
    let mut block = Block::new(LIST, rows.len());
    for (at, name, runs) in rows {
        for run in runs {
            block.run(at, configuration(Some(&name)), vec![run]);
        }
    }
    Some(block)
}

fn starts(line: &str) -> bool {
    let figure = || {
        let sign = memchr::memchr3(b':', b'=', b'>', line.as_bytes());
        sign.is_some_and(|at| line.bytes().skip(at).any(|b| b.is_ascii_digit()))
    };
    line.len() <= LONGEST && (figure() || state(line).is_some())
}

/// The name of a state that a line is, `Before:`, `## After`, `**master**`, perhaps behind that of a
/// workload: `sort -r, before:`.
pub(crate) fn state(line: &str) -> Option<Labels> {
    if !may_begin(line) {
        return None;
    }
    let (bare, said) = line.split_once('(').unwrap_or((line, ")"));
    let ends = said.trim_end().trim_end_matches([':', '*']).ends_with(')');
    if !ends || bare.split_whitespace().nth(WORDS).is_some() {
        return None;
    }
    let text = line.trim().trim_start_matches('#').trim_start();
    let name = undecorated(text.trim_end_matches([':', '*'])).trim_end_matches(':');
    side(name).filter(|_| !name.contains(": "))?;
    Some(configuration(Some(name)))
}

fn read(lines: &[Line<'_>]) -> Option<Block> {
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == lines[0].depth);
    if let Some(block) = runs_of_states(lines) {
        return Some(block);
    }
    if let Some(labels) = state(here(0)?).filter(|_| entry(&lines[0].text).is_none()) {
        let empty = |at: &usize| {
            here(*at).is_some_and(|text| text.trim().is_empty() || is_fence(text.trim()))
        };
        let begin = (1..=FAR).find(|at| !empty(at))?;
        let text = |at: usize| here(at).filter(|_| at < MOST && !empty(&at));
        let ends = |text: &str| state(text).is_some() && entry(text).is_none();
        let end = (begin..).find(|at| text(*at).is_none_or(ends))?;
        return of_state(&labels, lines, begin..end);
    }
    let names = |(_, cells): &Entry| -> Vec<String> {
        cells.iter().map(|(name, _)| name.clone()).collect()
    };
    let first = here(0).and_then(entry)?;
    let (columns, mut rows) = (names(&first), vec![first]);
    let next = |at: usize| entry(here(at)?).filter(|next| names(next) == columns);
    rows.extend((1..MOST).map_while(next));
    let row = |(at, (name, cells)): (usize, Entry)| Row {
        at,
        labels: vec![name],
        cells: cells.into_iter().map(|(_, cell)| Some(cell)).collect(),
    };
    let rows: Vec<Row> = rows.into_iter().enumerate().map(row).collect();
    let keys = vec![String::new()];
    let grid = Grid {
        keys,
        columns,
        rows,
    };
    let grid = grid.by_ends().unwrap_or(grid);
    let mut block = Block::new(LIST, grid.rows.len());
    let declares = (grid.rows.len() >= 2 || grid.compares()) && grid.declares() && grid.is_of_one();
    block.find(0, Finding::Grid(Box::new(grid)));
    declares.then_some(block)
}

/// The list of a state. What a tool prints there is no list.
fn of_state(labels: &Labels, lines: &[Line<'_>], range: std::ops::Range<usize>) -> Option<Block> {
    let mut block = Block::new(LIST, range.end);
    let (mut figures, mut runs): (Vec<Figure>, Vec<(usize, Figure)>) = Default::default();
    for at in range.clone() {
        let text = line_at(lines, at)?;
        if is_of_tool(&lines[at..]) {
            return None;
        }
        if let Some(cell) = runs::counted(text) {
            runs.push((at, figure(metric_of(&cell.unit), &cell)));
        } else if let Some(row) = in_a_row(text) {
            runs.extend(row.into_iter().map(|run| (at, run)));
        } else if let Some((name, cells)) = entry(text) {
            // What a spread is can be said of a table only.
            let spread = cells.iter().any(|(_, cell)| cell.spread.is_some());
            let single = (!spread).then_some(cells.len() == 1)?;
            for (column, cell) in &cells {
                let name = if single { &name } else { column };
                let twice = figures.iter().any(|known| known.metric == *name);
                figures.push((!twice).then(|| figure(name, cell))?);
            }
        } else if let Some(said) = sentence(text) {
            let twice = figures.iter().any(|known| known.metric == said.metric);
            figures.push((!twice).then_some(said)?);
        }
    }
    let values: Vec<&Figure> = runs.iter().map(|(_, figure)| figure).collect();
    if runs::are_runs(&values) {
        for (at, figure) in runs {
            block.run(at, labels.clone(), vec![figure]);
        }
    } else if runs.is_empty() {
        let (spreads, figures): (Vec<Figure>, Vec<Figure>) =
            (figures.into_iter()).partition(|figure| is_deviation(&figure.metric));
        match (&figures[..], &spreads[..]) {
            ([mean], [sd]) => {
                let spread = Some(Spread::StandardDeviation(sd.value));
                block.find(range.start, summary(labels, mean.clone(), spread, None));
            }
            _ => block.run(range.start, labels.clone(), figures),
        }
    }
    (!block.findings.is_empty()).then_some(block)
}

/// The one figure with a unit in a line of words, which are its name: `Read 200 files in 12.5 s`. It
/// has a fraction, `the timeout is 30 s` is a setting, and no sign, as changes have. Times of day are no part of the name, all
/// other numbers are.
fn sentence(text: &str) -> Option<Figure> {
    let text = item(text);
    let all = numbers::find(text);
    let mut measured = all.iter().filter(|one| is_measure(one.unit));
    let (Some(one), None) = (measured.next(), measured.next()) else {
        return None;
    };
    one.number.step.filter(|step| *step < 1.0)?;
    let signed = text[one.at..].starts_with(['+', '-']);
    let clock = |word: &&str| !word.contains(':') || word.contains(char::is_alphabetic);
    let words = [&text[..one.at], &text[one.end..]].map(str::split_whitespace);
    let words: Vec<&str> = words.into_iter().flatten().filter(clock).collect();
    let name = label(undecorated(&words.join(" ")).trim_end_matches(['.', ',', ';', ' ']));
    let told = name.contains(char::is_alphabetic) && text.len() <= LONGEST;
    (told && !signed).then(|| named(&name, one.number.value, one.unit).with_step(one.number.step))
}

fn figure(metric: &str, cell: &Cell) -> Figure {
    named(metric, cell.value, &cell.unit).with_step(cell.step)
}

fn named(metric: &str, value: f64, unit: &str) -> Figure {
    let metric = if metric.is_empty() { "value" } else { metric };
    Figure::new(metric, value, unit)
}

/// Whether another format reads these lines.
fn is_of_tool(lines: &[Line<'_>]) -> bool {
    let text: &str = &lines[0].text;
    dispatch::formats(text, 0)
        .map(|format| &super::all()[format])
        .filter(|format| ![LIST, RUNS].contains(&format.name))
        .any(|format| (format.starts)(text) && (format.read)(lines).is_some())
}
