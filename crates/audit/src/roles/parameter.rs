//! Columns that are parameters of the workload.

use std::collections::BTreeMap;

use super::decide::{differing, monotone};
use super::words::{self, REPETITION_KEYS, key_is, names_metric};
use crate::grammar::table::{Cell, Grid};

/// A leading column that is a parameter of the workload: one that is called
/// so, or whose whole numbers rise or fall from row to row, of one name if rows have names.
pub(super) fn column(grid: &Grid) -> Option<usize> {
    if let Some(at) = words::parameter_column(&grid.header).or_else(|| count(grid)) {
        return Some(at);
    }
    let first = grid.header.columns.first()?;
    if grid.header.columns.len() < 2 || key_is(&first.name, REPETITION_KEYS) || grid.rows.len() < 2
    {
        return None;
    }
    let mut named: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for row in &grid.rows {
        let steps = named.entry(row.labels.join(" ")).or_default();
        steps.extend(row.cells.first().map(size));
    }
    let others = grid.header.columns[1..]
        .iter()
        .map(|column| column.name.as_str());
    let names: Vec<&str> = others.collect();
    let with_first: Vec<&str> = std::iter::once(first.name.as_str())
        .chain(names.iter().copied())
        .collect();
    let values: Vec<&Cell> = grid
        .rows
        .iter()
        .filter_map(|row| row.cells.first())
        .collect();
    let whole = values
        .iter()
        .all(|cell| cell.value.fract() == 0.0 && cell.value >= 0.0);
    // Rows without names are called by what `block size` has in each.
    let unnamed = grid.rows.iter().all(|row| row.labels.is_empty());
    let plain = !names_metric(&first.name)
        || key_is(&first.name, &["size", "bytes", "time"])
        || unnamed && words::names_parameter(&first.name)
        || differing(&names) >= 3;
    let apart = differing(&with_first) == differing(&names);
    // Names that each stand in one row need no number beside them.
    let mut steps = named.values().all(|steps| monotone(steps.iter().copied()));
    // They may be sorted as words: `100M`, `10M`, `128k`.
    if unnamed && words::names_parameter(&first.name) {
        let printed = |cell: &Cell| format!("{}{}", cell.value, cell.unit);
        steps |= values.is_sorted_by(|a, b| printed(a) < printed(b));
    }
    (whole && plain && apart && steps).then_some(0)
}

/// What a cell states, in bytes where it is a size: `512B` is less than `4k`.
fn size(cell: &Cell) -> f64 {
    let unit = cell.unit.trim_end_matches('B').trim_end_matches('i');
    let scale = match unit {
        "k" | "K" => 1024.0,
        "M" => 1024.0 * 1024.0,
        "G" => 1024.0 * 1024.0 * 1024.0,
        _ => 1.0,
    };
    cell.value * scale
}

/// A column of rows without names that counts how much was done so far, as fs_mark does.
fn count(grid: &Grid) -> Option<usize> {
    let columns = grid.header.columns.iter().take(3);
    let at = columns
        .into_iter()
        .position(|column| key_is(&column.name, &["count"]))?;
    let values = || grid.rows.iter().map(|row| row.cells[at].value);
    let unnamed = grid.rows.iter().all(|row| row.labels.is_empty());
    let rises = values().all(|value| value.fract() == 0.0) && monotone(values());
    (unnamed && rises).then_some(at)
}
