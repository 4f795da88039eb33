//! Whether the rows of a table are repetitions of one thing.

use super::decide::{monotone, range};
use super::words::{REPETITION_KEYS, is_derived_row, key_is};
use super::{Context, sums};
use crate::grammar::table::Grid;

/// Whether the rows are repetitions, and nothing says that each is of something else.
pub(super) fn are(grid: &Grid, columns: &[usize], context: &Context<'_>) -> bool {
    !tells_rows_apart(grid, columns) && repeats(grid, columns, context)
}

/// Whether a first column, which is none of figures, has another whole number in each row,
/// rising or falling, and not 1, 2, 3: `MAX_CACHE` of 256, 512, 1024.
fn tells_rows_apart(grid: &Grid, figures: &[usize]) -> bool {
    let values = || {
        grid.rows
            .iter()
            .filter_map(|row| Some(row.cells.first()?.value))
    };
    let whole = values().all(|value| value.fract() == 0.0);
    let counts = values().next().is_some_and(|first| {
        first <= 1.0
            && values()
                .zip(0..)
                .all(|(value, row)| value == first + f64::from(row))
    });
    !figures.contains(&0) && whole && !counts && monotone(values())
}

/// Whether the rows are repetitions: they are numbered as such, or the text
/// says so many runs, or nothing tells them apart and their figures scatter.
fn repeats(grid: &Grid, columns: &[usize], context: &Context<'_>) -> bool {
    let bare = |label: &str| {
        let label = label
            .trim()
            .trim_end_matches([':', '.', ')'])
            .to_lowercase();
        let stem = label.trim_end_matches(|c: char| c.is_ascii_digit());
        let stem = stem.trim_matches(|c: char| !c.is_alphanumeric() && c != '#');
        stem.len() < label.len() && key_is(stem, REPETITION_KEYS)
    };
    let labelled = grid.rows.iter().filter(|row| !row.labels.is_empty());
    if grid.rows.len() >= 2 && labelled.clone().count() > 0 {
        let own: Vec<String> = grid
            .rows
            .iter()
            .map(|row| row.labels.join(" "))
            .filter(|label| !is_derived_row(label))
            .collect();
        let runs = own.iter().all(|label| bare(label))
            || own.iter().all(String::is_empty) && sums::ends_with_mean(grid, columns);
        return own.len() >= 2 && runs;
    }
    let rows = grid.rows.len();
    if rows < 2 || columns.is_empty() {
        return false;
    }
    if context.runs == Some(rows as u32) {
        return true;
    }
    columns.iter().all(|&at| {
        let values: Vec<f64> = grid.rows.iter().map(|row| row.cells[at].value).collect();
        let (low, high) = range(&values);
        low > 0.0 && high / low < 2.0 && !(rows >= 3 && monotone(values.iter().copied()))
    })
}
