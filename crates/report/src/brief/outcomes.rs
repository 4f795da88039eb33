//! How runs ended: what is said before all else.

use super::Sheet;
use crate::contrasts::{outcome_said, outcome_word, ranked_outcomes};

/// How many rows have a line; of more it is said how many there are.
const ROWS: usize = 4;
/// A row takes so many lines at most.
const LINES: usize = 3;

/// A line or two for each way in which runs ended otherwise than they should, the worst
/// first; none where all ended as they should.
pub(super) fn lines(sheet: &Sheet<'_>) -> Vec<String> {
    let rows = ranked_outcomes(sheet.document);
    let mut lines = Vec::new();
    for row in rows.iter().take(ROWS) {
        let code = match outcome_word(row) {
            "worse" => "1;31",
            "better" => "1;32",
            _ => "1",
        };
        let wrapped = sheet.wrapped(&outcome_said(row), "  ");
        let wrapped = wrapped.iter().take(LINES);
        lines.extend(wrapped.map(|line| sheet.dressed(line, code)));
    }
    if rows.len() > ROWS {
        let more = rows.len() - ROWS;
        lines.push(format!(
            "  and {more} more ways in which runs ended: --format mail"
        ));
    }
    lines
}
