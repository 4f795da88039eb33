//! Tables with two names before the figures, of which the first stands only where it
//! changes:
//!
//! ```text
//!  size |  pool   | IOPS  | cpu           size   pool      IOPS
//!  .....|.........|.......|.....          8k     none      41.5k
//!  8k   |  none   | 41.5k | 16 %                 private   43.5k
//!       | private | 43.5k | 15 %          32k    none      18.5k
//!  32k  |  none   | 18.5k | 18 %                 private   20.5k
//!       | private | 20.5k | 14 %
//! ```
//!
//! It is put into the rows below, and then it is a table like others.

use super::stacked::spans;
use super::{cell_value, is_rule, rewritten, row, wide_cells};
use crate::Line;
use crate::grammar::Block;
use crate::grammar::cells::line_at;

/// A table has no more lines.
const MOST: usize = 400;

/// Reads such a table.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let head = here(0)?;
    let piped = row::pipe_cells(head).is_some();
    let columns = cells(head).len();
    let first = if is_rule(here(1)?) { 2 } else { 1 };
    let top = Row::of(here(first)?, columns, piped)?;
    // Two names, of which the first is no part of the second.
    if columns < 3 || top.cells.get(1).is_none_or(|name| is_figure(name)) {
        return None;
    }
    let mut right: Vec<(usize, String)> = Vec::new();
    right.extend((0..first).filter_map(|at| Some((at, here(at)?.to_owned()))));
    let mut name = top.cells.first()?.clone();
    let mut filled = 0;
    for at in first..MOST {
        let Some(text) = here(at).filter(|text| !text.trim().is_empty()) else {
            break;
        };
        if is_rule(text) {
            right.push((at, text.to_owned()));
            continue;
        }
        if let Some(row) = Row::of(text, columns, piped) {
            name.clone_from(&row.cells[0]);
            right.push((at, row.line(piped)));
        } else if let Some(row) = Row::below(text, &top, piped, &name) {
            filled += 1;
            right.push((at, row.line(piped)));
        } else {
            break;
        }
    }
    (filled >= 2).then(|| rewritten::read(lines, right, "table row"))?
}

/// A row with its names.
struct Row {
    cells: Vec<String>,
    /// Where the second cell begins.
    second: usize,
}

impl Row {
    /// A row that has all cells, with both names.
    fn of(text: &str, columns: usize, piped: bool) -> Option<Row> {
        let cells = cells(text);
        let whole = cells.len() == columns && row::pipe_cells(text).is_some() == piped;
        let named = cells.iter().take(2).all(|cell| !cell.is_empty());
        let fits = whole && named && cells.last().is_some_and(|cell| is_figure(cell));
        let second = || spans(text).get(1).map_or(0, |(from, ..)| *from);
        fits.then(|| Row {
            cells: cells.into_iter().map(str::to_owned).collect(),
            second: if piped { 0 } else { second() },
        })
    }

    /// A row without the first name, which is `name`.
    fn below(text: &str, top: &Row, piped: bool, name: &str) -> Option<Row> {
        let mut found = cells(text);
        if piped {
            // Of a row that begins with a pipe where others do not, the first cell is left out.
            let open = found.len() + 1 == top.cells.len() && text.trim_start().starts_with('|');
            let empty = open || !found.is_empty() && found.remove(0).is_empty();
            row::pipe_cells(text).filter(|_| empty)?;
        } else {
            let from = spans(text).first().map_or(0, |(from, ..)| *from);
            // It stands under the second name, and not under the first one.
            if from + 1 < top.second || row::pipe_cells(text).is_some() {
                return None;
            }
        }
        let (own, figures) = found.split_first()?;
        let fits = found.len() + 1 == top.cells.len()
            && !own.is_empty()
            && !is_figure(own)
            && figures.last().is_some_and(|cell| is_figure(cell));
        let all = std::iter::once(name).chain(found.iter().copied());
        fits.then(|| Row {
            cells: all.map(str::to_owned).collect(),
            second: 0,
        })
    }

    fn line(&self, piped: bool) -> String {
        match piped {
            true => format!("| {} |", self.cells.join(" | ")),
            false => self.cells.join("   "),
        }
    }
}

fn cells(text: &str) -> Vec<&str> {
    row::pipe_cells(text).unwrap_or_else(|| wide_cells(text))
}

fn is_figure(cell: &str) -> bool {
    cell_value(cell).is_some()
}

#[cfg(test)]
mod tests {
    use super::super::Table;
    use super::rewritten;
    use crate::grammar::testing;

    /// The names of the rows and their first figures.
    fn rows(text: &str) -> Option<Vec<(Vec<String>, f64)>> {
        let block = testing::read(&Table, text)?;
        let rows = rewritten::grid(&block)?.rows.iter();
        rows.map(|row| Some((row.labels.clone(), row.cells.first()?.value)))
            .collect()
    }

    fn named(rows: &[(&str, &str, f64)]) -> Option<Vec<(Vec<String>, f64)>> {
        let own = |text: &&str| (*text).to_owned();
        let row = |(a, b, value): &(&str, &str, f64)| ([a, b].map(own).to_vec(), *value);
        Some(rows.iter().map(row).collect())
    }

    const ALL: &[(&str, &str, f64)] = &[
        ("small", "none", 41.5),
        ("small", "private", 43.5),
        ("large", "none", 18.5),
        ("large", "private", 20.5),
    ];

    #[test]
    fn the_first_name_holds_for_the_rows_below_it() {
        let open = " size  |  pool   | IOPS  | cpu\n .......|.........|.......|.....\n\
                     small |  none   | 41.5k | 16 %\n       | private | 43.5k | 15 %\n\
                     large |  none   | 18.5k | 18 %\n       | private | 20.5k | 14 %\n";
        let closed = "| size  |  pool   | IOPS  | cpu  |\n|-------|---------|-------|------|\n\
                      | small |  none   | 41.5k | 16 % |\n|       | private | 43.5k | 15 % |\n\
                      | large |  none   | 18.5k | 18 % |\n|       | private | 20.5k | 14 % |\n";
        let wide = "size    pool      IOPS    cpu\nsmall   none      41.5k   16 %\n\
                    \u{20}       private   43.5k   15 %\nlarge   none      18.5k   18 %\n\
                    \u{20}       private   20.5k   14 %\n";
        for text in [open, closed, wide] {
            assert_eq!(rows(text), named(ALL), "{text}");
        }
        let sizes = open.replace("small", " 4k  ").replace("large", " 16k ");
        let (first, _) = &rows(&sizes).unwrap()[1];
        assert_eq!(first.join(" "), "4k private");
    }

    #[test]
    fn a_row_with_a_figure_less_is_not_filled() {
        // What stands under the first name is no second one.
        let text = "size    pool      IOPS    cpu\nsmall   none      41.5k   16 %\n\
                    private           43.5k   15 %\nlarge   none      18.5k   18 %\n\
                    private           20.5k   14 %\n";
        assert_ne!(rows(text), named(ALL));
        // Nor are figures names.
        let text = "| size  | IOPS  | cpu  |\n|-------|-------|------|\n\
                    | small | 41.5k | 16 % |\n|       | 43.5k | 15 % |\n\
                    | large | 18.5k | 18 % |\n|       | 20.5k | 14 % |\n";
        let firsts = rows(text).unwrap_or_default();
        let small = firsts.iter().filter(|(names, _)| names.concat() == "small");
        assert!(small.count() <= 1, "{firsts:?}");
    }
}
