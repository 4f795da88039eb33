//! Tables: parted by blanks, tabs or pipes, ruled or not.
//!
//! A table is a header line that names as many columns as the following rows
//! have figures. This only cuts it into its parts; what its rows and columns
//! stand for is decided from all that surrounds it, by `roles`.

mod header;
mod row;

use assize_bundle::Place;

use crate::Line;
use crate::grammar::{Block, Finding, Grammar, Taken};
pub(crate) use header::{Column, Header, split_unit};
use row::Parting;
pub(crate) use row::{Cell, Row, cell_value, is_rule, is_unit};

/// Tables of any style; see the module.
pub struct Table;

/// A first row stands at most so many lines below the first line: behind
/// caption, header and rules.
const HEAD: usize = 6;

/// A table cut into its parts, of which it is not yet known what they stand
/// for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Grid {
    /// A line above the header that names metric or unit of all figures.
    pub(crate) caption: String,
    pub(crate) header: Header,
    pub(crate) rows: Vec<Row>,
    /// Line of each row in the block.
    pub(crate) at: Vec<usize>,
    /// Where each row stands; the scanner knows.
    pub(crate) places: Vec<Place>,
}

impl Grid {
    /// Whether a `±` stands behind any of its figures.
    pub(crate) fn has_spreads(&self) -> bool {
        let mut cells = self.rows.iter().flat_map(|row| &row.cells);
        cells.any(|cell| cell.spread.is_some())
    }
}

/// A table while it is cut.
struct Parts {
    parting: Parting,
    grid: Grid,
    taken: Vec<Taken>,
    doubts: Vec<(usize, Finding)>,
}

impl Parts {
    /// Takes a row without reading it, and says why.
    fn leave_out(&mut self, code: &'static str, detail: String, taken: Taken) {
        let doubt = Finding::Doubt(code, detail);
        self.doubts.push((self.taken.len(), doubt));
        self.taken.push(taken);
    }
}

impl Grammar for Table {
    fn name(&self) -> &'static str {
        "table"
    }

    fn starts(&self, line: &str) -> bool {
        let text = line.trim_start();
        text.len() >= 3
            && text.len() <= 1000
            && !text.starts_with("diff ")
            && !text.ends_with(['.', ';', '{', '}'])
    }

    fn reach(&self) -> usize {
        HEAD
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let parts = cut(lines)?;
        let mut block = Block {
            findings: parts.doubts,
            taken: parts.taken,
        };
        if let Some(&first) = parts.grid.at.first() {
            block.find(first, Finding::Grid(Box::new(parts.grid)));
        }
        block.findings.sort_by_key(|(at, _)| *at);
        Some(block)
    }
}

/// Finds header and rows.
fn cut(lines: &[Line<'_>]) -> Option<Parts> {
    let depth = lines[0].depth;
    let text = |at: usize| {
        lines
            .get(at)
            .filter(|line| line.depth == depth)
            .map(|line| line.text.as_ref())
    };
    let mut taken: Vec<Taken> = Vec::new();
    let mut at = 0;
    let mut caption = String::new();
    if row::is_rule(text(0)?) {
        taken.push("table rule");
        at = 1;
    } else if is_caption(text(0)?) {
        caption = text(0)?.trim().to_string();
        taken.push("table caption");
        at = 1;
    }
    let head = text(at)?;
    if row::is_rule(head) || head.trim().is_empty() {
        return None;
    }
    taken.push("table header");
    at += 1;
    while at < HEAD && text(at).is_some_and(row::is_rule) {
        taken.push("table rule");
        at += 1;
    }
    if !plausible(head) {
        return None;
    }
    [Parting::Wide, Parting::Words]
        .into_iter()
        .find_map(|parting| {
            let first = row::data_row(text(at)?, parting)?;
            let header = header::fit(head, std::slice::from_ref(&first))?;
            let (caption, taken) = (caption.clone(), taken.clone());
            let grid = Grid {
                caption,
                header,
                ..Grid::default()
            };
            let mut parts = Parts {
                parting,
                grid,
                taken,
                doubts: Vec::new(),
            };
            take_rows(&text, at, &mut parts);
            // One row alone must have a name or stand between rules.
            let ruled = parts.taken.contains(&"table rule") || row::pipe_cells(head).is_some();
            let named = parts.grid.rows.iter().any(|row| !row.labels.is_empty());
            let one = parts.grid.header.columns.len() >= 2
                && (ruled || named && head.split_whitespace().count() >= 3);
            (parts.grid.rows.len() >= 2 || one).then_some(parts)
        })
}

/// A line above the header that is nothing but a unit or metric of all cells.
fn is_caption(text: &str) -> bool {
    let text = text.trim().trim_end_matches(':');
    let bare = text
        .trim_start_matches(['(', '['])
        .trim_end_matches([')', ']']);
    row::is_unit(bare) || (bare.len() <= 24 && !bare.contains(' ') && bare.contains("/s"))
}

/// Prose above two numbers must not become a table.
fn plausible(head: &str) -> bool {
    let words = head.split_whitespace().count();
    let numbers = head
        .split_whitespace()
        .filter(|w| row::split_number(w).is_some())
        .count();
    !head.trim_end().ends_with(['.', ',', '?', '!']) && numbers * 2 < words.max(1)
}

fn take_rows<'t>(text: &impl Fn(usize) -> Option<&'t str>, from: usize, parts: &mut Parts) {
    let mut at = from;
    while let Some(line) = text(at) {
        let used = if row::is_rule(line) {
            parts.taken.push("table rule");
            1
        } else if line.trim().is_empty() {
            take_blank(text(at + 1), text(at + 2), parts)
        } else {
            take_row(line, text(at + 1), parts)
        };
        if used == 0 {
            break;
        }
        at += used;
    }
    while parts.taken.last().is_some_and(|t| *t == "table blank") {
        parts.taken.pop();
    }
}

/// A blank line belongs to the table if a row of the same shape follows.
fn take_blank(next: Option<&str>, after: Option<&str>, parts: &mut Parts) -> usize {
    let figures = parts.grid.header.columns.len();
    let same = next
        .and_then(|line| row::data_row(line, parts.parting))
        .is_some_and(|next| {
            next.cells.len() == figures
                && parts
                    .grid
                    .rows
                    .last()
                    .is_some_and(|r| r.labels.len() == next.labels.len())
        });
    if !same || after.is_some_and(row::is_rule) {
        return 0;
    }
    parts.taken.push("table blank");
    1
}

/// Takes a row, with the line below if a mailer wrapped it; says how many
/// lines that were.
fn take_row(line: &str, next: Option<&str>, parts: &mut Parts) -> usize {
    let figures = parts.grid.header.columns.len();
    let read = row::data_row(line, parts.parting);
    if read.as_ref().is_none_or(|row| row.cells.len() != figures) && doubtful(line, parts, figures)
    {
        return 1;
    }
    let Some(mut read) = read else { return 0 };
    let mut used = 1;
    if read.cells.len() < figures {
        let rest = next.and_then(|line| row::data_row(line, parts.parting));
        if let Some(rest) =
            rest.filter(|r| r.labels.is_empty() && r.cells.len() + read.cells.len() == figures)
        {
            read.cells.extend(rest.cells);
            used = 2;
        }
    }
    if read.cells.len() == figures {
        parts.grid.at.push(parts.taken.len());
        parts.grid.rows.push(read);
        parts
            .taken
            .extend(["table row", "table row, continued"].iter().take(used));
    } else {
        let detail = format!(
            "a row has {} figures under {figures} columns and is left out: {}",
            read.cells.len(),
            clip(line)
        );
        parts.leave_out("ragged-row", detail, "table row, ragged");
    }
    used
}

/// A row that would be one but for cells like `nan` or `1,2,3`.
fn doubtful(line: &str, parts: &mut Parts, figures: usize) -> bool {
    let cells = row::pipe_cells(line).unwrap_or_else(|| line.split_whitespace().collect());
    let good = cells
        .iter()
        .filter(|cell| row::cell_value(cell).is_some())
        .count();
    let bad: Vec<&&str> = cells
        .iter()
        .filter(|cell| row::cell_value(cell).is_none() && odd_number(cell))
        .collect();
    if bad.is_empty() || good + bad.len() != figures {
        return false;
    }
    let detail = format!(
        "{} is not a number; its row is left out: {}",
        bad[0],
        clip(line)
    );
    parts.leave_out("bad-number", detail, "table row, bad number");
    true
}

fn odd_number(cell: &str) -> bool {
    let lower = cell.to_lowercase();
    matches!(
        lower.trim_start_matches(['+', '-']),
        "nan" | "inf" | "infinity"
    ) || cell.bytes().any(|b| b.is_ascii_digit())
        && cell
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b',' | b'.' | b'-' | b'+' | b'e' | b'E'))
}

fn clip(line: &str) -> String {
    line.trim().chars().take(80).collect()
}
