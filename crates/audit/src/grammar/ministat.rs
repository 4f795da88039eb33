//! The tables of FreeBSD's `ministat`.
//!
//! Each row becomes a summary of the metric `value` (ministat knows no unit)
//! with a standard deviation and, where column `N` is there, the number of
//! values. Rows are named by the legend (`x base.txt`) or, where somebody has
//! replaced the plot symbols by names, by themselves. The plot and the t test
//! are only explained: the test is derived from the rows.

use assize_bundle::Spread;

use super::begins::Begins;
use super::cells::{
    bad_number, configuration, label, line_at, numeric_cell, summary, truncated, unwrapped,
};
use super::number::english;
use super::{Block, Figure, Finding, Grammar};
use crate::Line;

/// The symbols of the data sets, in ministat's order.
const SYMBOLS: &str = "x+*%#@O";

/// The output of `ministat`.
pub struct Ministat;

impl Grammar for Ministat {
    fn name(&self) -> &'static str {
        "ministat"
    }

    fn names_what_it_compares(&self) -> bool {
        true
    }

    fn begins(&self) -> Begins {
        Begins::holding(b"xM")
    }

    fn starts(&self, line: &str) -> bool {
        line.starts_with("x ") || columns(line) > 0
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let mut block = Block::default();
        let mut legend = Vec::new();
        if columns(line_at(lines, 0)?) == 0 {
            legend = read_legend(&mut block, lines)?;
        }
        let at = block.taken.len();
        let (header, used) = unwrapped(lines, at, |text| columns(text) > FOUR)?;
        let columns = columns(&header);
        if columns <= FOUR {
            return None;
        }
        block
            .taken
            .extend(std::iter::repeat_n("ministat header", used));
        let rows = read_rows(&mut block, lines, columns, &legend);
        if rows == 0 {
            block.find(at, truncated("no rows follow ministat's header"));
        }
        Some(block)
    }
}

/// `Min Max Median Avg`, of which `Stddev` was wrapped to the next line.
const FOUR: usize = 4;

/// How many columns of numbers a header names: 6 with `N`, 5 without it, 4
/// if the last is on the next line, 0 if the line is no header.
fn columns(line: &str) -> usize {
    let mut words = line.split_ascii_whitespace();
    let mut count = 4;
    match words.next() {
        Some("N") => {
            count = 5;
            if words.next() != Some("Min") {
                return 0;
            }
        }
        Some("Min") => {}
        // The name of what the rows differ in; or of the rows, before `N`.
        Some(_) => match words.next() {
            Some("N") if words.next() == Some("Min") => count = 5,
            Some("Min") => {}
            _ => return 0,
        },
        None => return 0,
    }
    if ["Max", "Median", "Avg"]
        .iter()
        .any(|w| words.next() != Some(w))
    {
        return 0;
    }
    match (words.next(), words.next()) {
        (Some("Stddev"), None) => count + 1,
        (None, None) => FOUR,
        _ => 0,
    }
}

/// Reads the legend and the plot; `None` if what follows is no table.
fn read_legend<'a>(block: &mut Block, lines: &'a [Line<'_>]) -> Option<Vec<(char, &'a str)>> {
    let mut legend = Vec::new();
    for (at, symbol) in SYMBOLS.chars().enumerate() {
        let Some(name) = line_at(lines, at).and_then(|t| t.strip_prefix(symbol)) else {
            break;
        };
        legend.push((symbol, name.strip_prefix(' ')?.trim()));
        block.taken.push("ministat legend");
    }
    for at in block.taken.len().. {
        let text = line_at(lines, at)?;
        if columns(text) > 0 {
            return Some(legend);
        }
        let plot = text.starts_with('|') || text.starts_with("+--") || text.starts_with("[no plot");
        if !plot {
            // The rest of a plot line that a mailer wrapped.
            let wrapped = at > legend.len() && text.bytes().all(|b| b"|+-_AMx*%#@O ".contains(&b));
            if !wrapped {
                return None;
            }
        }
        block.taken.push("ministat plot");
    }
    None
}

/// Reads rows and tests; says how many rows there were.
fn read_rows(
    block: &mut Block,
    lines: &[Line<'_>],
    columns: usize,
    legend: &[(char, &str)],
) -> usize {
    let mut rows = 0;
    loop {
        let at = block.taken.len();
        let row = |text: &str| Row::of(text, columns).is_some();
        // What may not be joined with the next line is whole as it is.
        let whole = |text: &str| {
            is_test(text) || text.is_empty() || line_at(lines, at + 1).is_some_and(row) || row(text)
        };
        let Some((text, used)) = unwrapped(lines, at, whole) else {
            break;
        };
        if let Some(row) = Row::of(&text, columns) {
            row.note(block, at, legend);
            block
                .taken
                .extend(std::iter::repeat_n("ministat row", used));
            rows += 1;
        } else if is_test(&text) {
            block.taken.push("ministat test");
        } else if let Some(cells) = short_row(&text, columns) {
            let doubt = format!("a row of {cells} numbers stands under {columns} columns");
            block.find(at, Finding::Doubt("ragged-row", doubt));
            block.taken.push("ministat row");
        } else {
            break;
        }
    }
    rows
}

/// A row's name and the numbers that are read.
struct Row<'a> {
    name: &'a str,
    n: Option<&'a str>,
    mean: &'a str,
    deviation: &'a str,
}

impl<'a> Row<'a> {
    /// Takes the last `columns` words for numbers; what stands before them is
    /// the name.
    fn of(text: &'a str, columns: usize) -> Option<Self> {
        let mut cells = [""; 6];
        let mut rest = text.trim_end();
        for cell in cells[..columns].iter_mut().rev() {
            let at = rest.rfind(|c: char| c.is_ascii_whitespace());
            *cell = &rest[at.map_or(0, |at| at + 1)..];
            rest = rest[..at.unwrap_or(0)].trim_end();
            if !numeric_cell(cell) {
                return None;
            }
        }
        Some(Row {
            name: rest.trim_start(),
            n: (columns == 6).then_some(cells[0]),
            mean: cells[columns - 2],
            deviation: cells[columns - 1],
        })
    }

    fn note(&self, block: &mut Block, at: usize, legend: &[(char, &str)]) {
        let name = legend
            .iter()
            .find(|(symbol, _)| self.name.len() == 1 && self.name.starts_with(*symbol))
            .map_or(self.name, |(_, file)| file);
        let labels = configuration(Some(name).filter(|n| !n.is_empty()));
        let n = self.n.and_then(|text| text.parse().ok());
        if let (Some(text), None) = (self.n, n) {
            block.find(at, bad_number(text, "the number of values"));
        }
        let Some(mean) = english(self.mean) else {
            block.find(
                at,
                bad_number(self.mean, &format!("the mean of `{}`", label(name))),
            );
            return;
        };
        let spread = english(self.deviation).map(Spread::StandardDeviation);
        if spread.is_none() {
            block.find(at, bad_number(self.deviation, "the standard deviation"));
        }
        let figure = Figure::new("value", mean, "");
        block.find(at, summary(&labels, figure, spread, n));
    }
}

/// A row that begins as rows do but has another number of cells.
fn short_row(text: &str, columns: usize) -> Option<usize> {
    let mut words = text.split_ascii_whitespace();
    let name = words.next()?;
    if name.len() != 1 || !SYMBOLS.contains(name) {
        return None;
    }
    let mut cells = 0;
    for word in words {
        if !numeric_cell(word) {
            return None;
        }
        cells += 1;
    }
    (cells > 0 && cells != columns).then_some(cells)
}

/// The lines of Student's t test.
fn is_test(line: &str) -> bool {
    let text = line.trim_start();
    text.starts_with("Difference at ")
        || text.starts_with("No difference proven at ")
        || text.starts_with("(Student's t")
        || (text.contains(" +/- ") && text.split(' ').next().is_some_and(numeric_cell))
}
