//! How runs ended; reported first.

use assize_verdict::count_of;

use super::BriefSheet;
use crate::contrasts::{describe_all_completed, describe_outcome, outcome_word, ranked_outcomes};

/// Maximum number of rows shown; the rest are counted.
const ROWS: usize = 4;
/// Maximum number of lines per row.
const LINES: usize = 3;

/// A line or two for each way in which runs ended abnormally, worst first; empty if all
/// ended normally. Undecided rows on slow runs are left to [`slow_lines`].
pub(super) fn lines(sheet: &BriefSheet<'_>) -> Vec<String> {
    let mut rows = ranked_outcomes(sheet.document);
    rows.retain(|row| !row.is_open_tail());
    let mut lines = Vec::new();
    for row in rows.iter().take(ROWS) {
        let code = match outcome_word(row) {
            "worse" => "1;31",
            "better" => "1;32",
            _ => "1",
        };
        let mut wrapped = sheet.wrapped(&describe_outcome(row), "  ");
        if wrapped.len() > LINES {
            wrapped.truncate(LINES);
            if let Some(last) = wrapped.last_mut() {
                last.push_str(" ...");
            }
        }
        lines.extend(wrapped.iter().map(|line| sheet.dressed(line, code)));
    }
    if rows.len() > ROWS {
        let more = rows.len() - ROWS;
        lines.push(format!(
            "  and {} of how runs ended: --format mail",
            count_of(more, "more row")
        ));
    }
    if let Some(text) = describe_all_completed(sheet.document) {
        lines.extend(sheet.wrapped(&text, "  ").into_iter().take(LINES));
    }
    lines
}

/// A line or two for each undecided row on slow runs, in at most `room` lines.
pub(super) fn slow_lines(sheet: &BriefSheet<'_>, room: usize) -> Vec<String> {
    let rows = ranked_outcomes(sheet.document).into_iter();
    let mut lines = Vec::new();
    for row in rows.filter(|row| row.is_open_tail()).take(ROWS) {
        let wrapped = sheet.wrapped(&describe_outcome(row), "  ");
        if lines.len() + wrapped.len() <= room {
            lines.extend(wrapped);
        }
    }
    lines
}
