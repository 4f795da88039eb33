//! Tables whose columns are the steps of a parameter:
//!
//! ```text
//! threads     1     2     4     8          bytes:      64    256    1024
//! base      120   230   410   700          new(ns):    48     53      57
//! patched   130   250   480   790          old(ns):    45     88     182
//! ```
//!
//! Numbers are names of columns only if what stands before them is called as a parameter is,
//! or if each is a multiple of the one before it; and only if they rise or fall. Those of
//! seconds or of runs are none: they number what one run goes through.

use super::cell::{Cell, cell_value, is_unit};
use super::header::{Column, Header, split_unit};
use super::{Grid, Row, is_rule, row, wide_cells};
use crate::Line;
use crate::grammar::cells::line_at;
use crate::grammar::{Block, Finding};
use crate::roles::monotone;
use crate::roles::words::{PARAMETER_KEYS, REPETITION_KEYS};

/// A table has no more rows.
const MOST: usize = 100;
/// No name is longer.
const NAME: usize = 48;
/// So many numbers, each a multiple of the one before it, are steps.
const MULTIPLES: usize = 3;

/// Reads such a table.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let (key, names) = head(here(0)?)?;
    let mut block = Block::default();
    block.taken.push("table header");
    let mut grid = Grid::default();
    for at in 1..MOST {
        let Some(text) = here(at) else {
            break;
        };
        if is_rule(text) {
            block.taken.push("table rule");
        } else if let Some(row) = row_of(text, names.len()) {
            grid.at.push(at);
            grid.rows.push(row);
            block.taken.push("table row");
        } else {
            break;
        }
    }
    while block.taken.last() == Some(&"table rule") {
        block.taken.pop();
    }
    let column = |name: &str| Column {
        name: name.to_owned(),
        unit: String::new(),
        numbered: false,
    };
    grid.header = Header {
        keys: vec![key.clone()],
        columns: names.into_iter().map(column).collect(),
        steps: key,
        ..Header::default()
    };
    let first = *grid.at.first().filter(|_| grid.rows.len() >= 2)?;
    block.find(first, Finding::Grid(Box::new(grid)));
    Some(block)
}

/// The cells of a line that pipes, tabs or two blanks part.
fn cells(text: &str) -> Vec<&str> {
    row::pipe_cells(text).unwrap_or_else(|| wide_cells(text))
}

/// The parameter and its steps.
fn head(text: &str) -> Option<(String, Vec<&str>)> {
    let mut names = cells(text);
    if names.is_empty() || names.first().is_some_and(|first| step(first).is_some()) {
        return None;
    }
    let key = names.remove(0).trim_end_matches(':').trim_end();
    let steps: Vec<f64> = names.iter().map(|name| step(name)).collect::<Option<_>>()?;
    let values = || steps.iter().copied();
    let fits = steps.len() >= 2
        && monotone(values())
        && (1..=NAME).contains(&key.len())
        && !counts_runs(key)
        && (names_steps(key) || multiples(values()));
    fits.then(|| (key.to_owned(), names))
}

/// A whole number or a size: `64`, `4k`, `1 MB`.
fn step(cell: &str) -> Option<f64> {
    let digits = cell.bytes().take_while(u8::is_ascii_digit).count();
    let value: f64 = cell.get(..digits)?.parse().ok()?;
    let factor = match cell.get(digits..)?.trim() {
        "" | "B" => 1.0,
        "k" | "K" | "kB" | "KB" | "KiB" => 1024.0,
        "M" | "MB" | "MiB" => 1_048_576.0,
        "G" | "GB" | "GiB" => 1_073_741_824.0,
        _ => return None,
    };
    Some(value * factor)
}

/// Whether a name is one of parameters: `threads`, `block size`, `# of clients`.
fn names_steps(key: &str) -> bool {
    let lower = key.to_lowercase();
    let mut words = lower.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let known = |word: &str| PARAMETER_KEYS.contains(&word) || word.starts_with("percentile");
    words.any(known)
}

/// Whether a name is of seconds or of runs.
fn counts_runs(key: &str) -> bool {
    let lower = key.to_lowercase();
    let mut words = lower.split(|c: char| !(c.is_alphanumeric() || c == '#'));
    let time = |word: &str| {
        [
            "time", "sec", "secs", "second", "seconds", "minute", "hour", "day", "date", "year",
        ]
        .contains(&word)
    };
    words.any(|word| {
        time(word) || REPETITION_KEYS.contains(&word.trim_end_matches('s')) && !word.is_empty()
    })
}

/// Whether each is a multiple of the one before it, at least twice as much.
fn multiples(values: impl Iterator<Item = f64>) -> bool {
    let values: Vec<f64> = values.collect();
    let multiple = |pair: &[f64]| match *pair {
        [a, b] => a > 0.0 && b >= 2.0 * a && (b / a).fract() == 0.0,
        _ => false,
    };
    values.len() >= MULTIPLES && values.windows(2).all(multiple)
}

/// A row of a name and a figure for each step; a unit in brackets behind the name is that of
/// its figures.
fn row_of(text: &str, steps: usize) -> Option<Row> {
    let cells = cells(text);
    let (name, figures) = cells.split_first()?;
    let missing = |cell: &str| matches!(cell, "-" | "--" | "n/a" | "N/A" | "");
    let name = name.trim_end_matches(':').trim_end();
    let named = name.bytes().any(|b| b.is_ascii_alphabetic())
        && name.len() <= NAME
        && cell_value(name).is_none()
        && !name.ends_with(['.', ',', ';']);
    if !named || figures.len() != steps || figures.iter().all(|cell| missing(cell)) {
        return None;
    }
    let (name, unit) = split_unit(name);
    let value = |cell: &&str| match missing(cell) {
        true => Some(Cell::missing()),
        false => cell_value(cell).map(|mut cell| {
            if cell.unit.is_empty() && is_unit(&unit) {
                cell.unit.clone_from(&unit);
            }
            cell
        }),
    };
    Some(Row {
        labels: vec![name],
        cells: figures.iter().map(value).collect::<Option<_>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::Table;
    use super::super::rewritten;
    use crate::grammar::testing;

    /// The parameter, its steps, and the figures of each row.
    type Read = (String, Vec<String>, Vec<(String, Vec<f64>)>);

    fn grid(text: &str) -> Option<Read> {
        let block = testing::read(&Table, text)?;
        let grid = rewritten::grid(&block)?;
        let steps = grid.header.columns.iter().map(|column| column.name.clone());
        let rows = grid.rows.iter().map(|row| {
            let values = row.cells.iter().map(|cell| cell.value).collect();
            (row.labels.join(" "), values)
        });
        (!grid.header.steps.is_empty())
            .then(|| (grid.header.steps.clone(), steps.collect(), rows.collect()))
    }

    #[test]
    fn numbers_under_the_name_of_a_parameter_are_steps() {
        for text in [
            "threads     1     3     4\nbase      120   230   410\npatched   130   250   480\n",
            "threads | 1 | 3 | 4\n--------|---|---|---\nbase | 120 | 230 | 410\npatched | 130 | 250 | 480\n",
        ] {
            let (key, steps, rows) = grid(text).unwrap();
            assert_eq!(key, "threads", "{text}");
            assert_eq!(steps, ["1", "3", "4"]);
            assert_eq!(rows[1], ("patched".to_owned(), vec![130.0, 250.0, 480.0]));
        }
    }

    #[test]
    fn multiples_and_sizes_under_a_name_are_steps_too() {
        let text = "ring:       64    256    1024\nnew(ns):    48     53      57\nold(ns):    45     88     182\n";
        let (key, _, rows) = grid(text).unwrap();
        assert_eq!((key.as_str(), rows.len()), ("ring", 2));
        assert_eq!(rows[0].0, "new");
        let text = "block size  4k    16k   1M\nold         120   230   410\nnew         130   250   480\n";
        assert_eq!(grid(text).unwrap().1, ["4k", "16k", "1M"]);
    }

    #[test]
    fn rows_of_figures_are_no_steps() {
        for text in [
            // Seconds of a run, and runs.
            "sec        1     2     4\nbase     120   230   410\npatched  130   250   480\n",
            "run        1     2     4\nbase     120   230   410\npatched  130   250   480\n",
            // Nobody says of what.
            "           4k    16k   1M\nbase     120   230   410\npatched  130   250   480\n",
            // A row like the others.
            "first     10    20    30\nbase     120   230   410\npatched  130   250   480\n",
            "first     30    20    50\nbase     120   230   410\npatched  130   250   480\n",
            // No figure for a step.
            "threads    1     2     4\nbase     120   230\npatched  130   250   480\n",
            "threads    4     1     2\nbase     120   230   410\npatched  130   250   480\n",
        ] {
            assert_eq!(grid(text), None, "{text}");
        }
    }
}
