//! Comparison tables with a line for each configuration, where that takes fewer lines than one
//! with a column for each.

use assize_verdict::{Comparison, Document, Verdict};
use unicode_width::UnicodeWidthStr;

use super::grid::{TextCell, TextGrid};
use super::push_wrapped;
use crate::WIDTH;
use crate::contrasts::{RowOutcome, contradicted, fixed_outcome};
use crate::style::Style;

/// The width of a column with a ratio and its interval.
const COLUMN: usize = 24;
/// Blanks behind the longest name.
const GAP: usize = 2;

/// The table turned round; `None` if it does not fit, or is no shorter. Unless all are wanted, and
/// where something is decided of another one, configurations of which nothing is decided and those
/// equal in all runs are named in a line each.
pub(super) fn draw(
    document: &Document,
    rows: &[&Comparison],
    grid: &TextGrid,
    style: Style,
    wants_all: bool,
) -> Option<String> {
    let names = grid.heads.iter().map(|name| name.width()).max()? + GAP;
    if names + grid.rows.len() * COLUMN > WIDTH {
        return None;
    }
    let mut turned = TextGrid {
        heads: grid.rows.iter().map(|(metric, _)| metric.clone()).collect(),
        rows: Vec::new(),
        column: COLUMN,
    };
    let (mut open, mut equal) = (Vec::new(), Vec::new());
    for (at, name) in grid.heads.iter().enumerate() {
        let mut of_name = rows.iter().filter(|row| row.configuration == *name);
        if !wants_all && of_name.clone().all(|row| is_open(document, row)) {
            open.push(name.as_str());
        } else if of_name.all(|row| fixed_outcome(document, row) == Some(RowOutcome::Equal)) {
            equal.push(name.as_str());
        } else {
            let cells = grid.rows.iter();
            let cells: Option<Vec<TextCell>> = cells
                .map(|(_, cells)| cells.get(at).and_then(on_one_line))
                .collect();
            turned.rows.push((name.clone(), cells?));
        }
    }
    let mut text = String::new();
    if turned.rows.is_empty() && !open.is_empty() {
        return None;
    }
    if !turned.rows.is_empty() {
        turned.draw(style, &mut text);
    }
    for (word, names) in [("undecided", open), ("equal in every run", equal)] {
        if !names.is_empty() {
            let line = format!("{word}: {}", names.join(", "));
            push_wrapped(&mut text, "", "  ", &line);
        }
    }
    let mut usual = String::new();
    grid.draw(style, &mut usual);
    (text.lines().count() < usual.lines().count()).then_some(text)
}

fn is_open(document: &Document, row: &Comparison) -> bool {
    row.verdict == Verdict::Undecided
        && fixed_outcome(document, row).is_none()
        && !contradicted(document, row)
}

/// The cell on one line; `None` if that is too wide.
fn on_one_line(cell: &TextCell) -> Option<TextCell> {
    let line = cell.lines.join(" ");
    (line.width() < COLUMN).then(|| TextCell {
        lines: vec![line],
        weight: cell.weight,
    })
}
