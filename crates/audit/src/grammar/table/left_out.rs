//! Rows that are left out, each with the reason.

use super::{Parting, Parts, Row, cell_value, row};
use crate::grammar::{Finding, Taken};

impl Parts {
    /// Takes a row without reading it, and says why.
    pub(super) fn leave_out(&mut self, code: &'static str, detail: String, taken: Taken) {
        let doubt = Finding::Doubt(code, detail);
        self.doubts.push((self.taken.len(), doubt));
        self.taken.push(taken);
    }
}

/// Whether a line has as many cells as the row above it, which the next line is like, too: a
/// row of which a cell was spoiled, and which is left out.
pub(super) fn spoiled(line: &str, next: Option<&str>, parts: &mut Parts) -> bool {
    let cells = |row: &Row| row.labels.len() + row.cells.len();
    let next = next.and_then(|line| row::data_row(line, parts.parting));
    let alike = parts.parting == Parting::Wide
        && next
            .zip(parts.grid.rows.last())
            .is_some_and(|(next, last)| {
                cells(&next) == cells(last) && next.cells.len() == last.cells.len()
            });
    let own = row::pipe_cells(line).unwrap_or_else(|| row::wide_cells(line));
    let above = parts.grid.rows.last();
    let spoiled = alike && above.is_some_and(|above| own.len() == cells(above));
    if spoiled {
        let detail = format!("a row is left out: {}", clip(line));
        parts.leave_out("bad-number", detail, "table row, bad number");
    }
    spoiled
}

/// Leaves out a row that would be one but for cells like `nan` or `1,2,3`.
pub(super) fn doubtful(line: &str, parts: &mut Parts, figures: usize) -> bool {
    let cells = row::pipe_cells(line).unwrap_or_else(|| line.split_whitespace().collect());
    let good = cells
        .iter()
        .filter(|cell| cell_value(cell).is_some())
        .count();
    let bad: Vec<&&str> = cells
        .iter()
        .filter(|cell| cell_value(cell).is_none() && odd_number(cell))
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

pub(super) fn clip(line: &str) -> String {
    line.trim().chars().take(80).collect()
}
