//! Columns beside two that are compared:
//!
//! ```text
//! | load | base time | new time | delta | faults | new huge |
//! | seq  |    11.260 |   10.301 | -8.5% | 1.000x |  16381.1 |
//! ```
//!
//! Behind two columns of opposite names and their change stand other figures, each of one
//! of the two or of both. They are no further configurations.

use super::decide::differing;
use super::words::is_derived;
use crate::grammar::table::{Grid, Header, Row};

/// So many points have names of opposite meaning.
const OPPOSITE: i32 = 4;

/// The table without such columns, if it has any.
pub(super) fn without(grid: &Grid) -> Option<Grid> {
    let change = compared(grid)?;
    let columns = &grid.header.columns;
    let beside: Vec<usize> = (change + 1..columns.len())
        .filter(|at| !is_derived(&columns[*at].name, &grid.rows, *at))
        .collect();
    let first = *beside.first()?;
    // Changes behind a further column say that it is compared, too.
    let changes = (first..columns.len()).any(|at| is_change(grid, at));
    let names: Vec<&str> = beside.iter().map(|at| columns[*at].name.as_str()).collect();
    let before = columns
        .iter()
        .take(change)
        .map(|column| column.name.as_str());
    let again = before.into_iter().any(|name| names.contains(&name));
    if changes || again || differing(&names) >= OPPOSITE {
        return None;
    }
    let kept = |at: usize| !beside.contains(&at);
    Some(part(grid, &kept))
}

/// Where the change of the two columns before it stands, which are of opposite names.
fn compared(grid: &Grid) -> Option<usize> {
    let columns = &grid.header.columns;
    if !grid.header.groups.is_empty() {
        return None;
    }
    let change = (2..columns.len()).find(|at| is_change(grid, *at))?;
    let pair = columns.get(change - 2..change)?;
    let names: Vec<&str> = pair.iter().map(|column| column.name.as_str()).collect();
    let figures = !(change - 2..change).any(|at| is_derived(&columns[at].name, &grid.rows, at));
    (figures && differing(&names) >= OPPOSITE).then_some(change)
}

/// Whether a column is called as changes are.
fn is_change(grid: &Grid, at: usize) -> bool {
    let name = grid
        .header
        .columns
        .get(at)
        .map(|column| column.name.as_str());
    name.is_some_and(|name| is_derived(name, &[], 0))
}

/// Some columns of a table.
fn part(grid: &Grid, kept: &dyn Fn(usize) -> bool) -> Grid {
    let columns = grid.header.columns.iter().enumerate();
    let columns = columns
        .filter(|(at, _)| kept(*at))
        .map(|(_, column)| column.clone());
    let rows = grid.rows.iter().map(|row| Row {
        labels: row.labels.clone(),
        cells: (row.cells.iter().enumerate())
            .filter(|(at, _)| kept(*at))
            .map(|(_, cell)| cell.clone())
            .collect(),
    });
    Grid {
        header: Header {
            columns: columns.collect(),
            ..grid.header.clone()
        },
        rows: rows.collect(),
        ..grid.clone()
    }
}
