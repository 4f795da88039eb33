//! Tables whose rows have their names behind the figures:
//!
//! ```text
//! | current    | this patch | uplift | test case    |     % time   calls  syscall
//! | ---------- | ---------- | ------ | ------------ |     ------   -----  -------
//! | 10.04M/s   | 75.20M/s   | 7.5x   | 1 % of nulls |      61.20     120  futex
//! | 9.99M/s    | 74.06M/s   | 7.4x   | 5 % of nulls |      38.80      75  read
//! ```
//!
//! The last column is put before the others, and then it is a table like others.

use super::{Grid, cell_value, is_rule, rewritten, row, wide_cells};
use crate::Line;
use crate::grammar::cells::line_at;
use crate::grammar::{Block, Finding};

/// A table has no more lines.
const MOST: usize = 400;
/// No name of a row is longer.
const NAME: usize = 80;

/// Reads a table with the names of its rows behind the figures.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let first = (1..=2).find(|at| here(*at).is_some_and(|text| !is_rule(text)))?;
    let columns = figures_before_name(here(first)?)?.0.len();
    let head = cells(here(0)?);
    let named = head.len() == columns + 1 && head.iter().all(|name| is_name(name));
    if columns < 2 || !named {
        return None;
    }
    let turn = |figures: &[&str], name: &str| format!("| {name} | {} |", figures.join(" | "));
    let (key, names) = head.split_last()?;
    let mut turned = vec![turn(names, key)];
    while let Some(text) = here(turned.len()).filter(|_| turned.len() <= MOST) {
        if is_rule(text) {
            turned.push("|---|---|".to_owned());
            continue;
        }
        match figures_before_name(text) {
            Some((figures, name)) if figures.len() == columns => turned.push(turn(&figures, name)),
            _ => break,
        }
    }
    let right = turned.into_iter().enumerate().collect();
    let block = rewritten::read(lines, right, "table row")?;
    let rows = |(_, finding): &(usize, Finding)| match finding {
        Finding::Grid(grid) => grid.rows.len() >= 2 && is_keyed(grid),
        _ => false,
    };
    block.findings.iter().any(rows).then_some(block)
}

fn is_keyed(grid: &Grid) -> bool {
    grid.header.keys.len() == 1
}

fn cells(text: &str) -> Vec<&str> {
    row::pipe_cells(text).unwrap_or_else(|| wide_cells(text))
}

/// The name of a column or a row: no figure.
fn is_name(cell: &str) -> bool {
    cell.bytes().any(|b| b.is_ascii_alphabetic()) && cell_value(cell).is_none()
}

/// Nothing but figures, and the name behind them.
fn figures_before_name(text: &str) -> Option<(Vec<&str>, &str)> {
    let first = text.trim_start_matches(['|', ' ', '\t']).as_bytes().first();
    if !first.is_some_and(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'~')) {
        return None;
    }
    let mut cells = cells(text);
    let name = cells.pop()?;
    let fits = name.len() <= NAME && !name.contains(['|', '(']) && is_name(name);
    let figures = cells.iter().all(|cell| cell_value(cell).is_some());
    (fits && figures && cells.len() >= 2).then_some((cells, name))
}

#[cfg(test)]
mod tests {
    use super::super::Table;
    use crate::grammar::{Finding, testing};

    /// The name of a row and its figures.
    type Named = (String, Vec<f64>);

    /// Keys, columns and rows.
    fn grid(text: &str) -> Option<(Vec<String>, Vec<String>, Vec<Named>)> {
        let block = testing::read(&Table, text)?;
        block
            .findings
            .into_iter()
            .find_map(|(_, finding)| match finding {
                Finding::Grid(grid) => {
                    let columns = grid.header.columns.into_iter().map(|c| c.name);
                    let rows = grid.rows.into_iter().map(|row| {
                        let values = row.cells.iter().map(|cell| cell.value).collect();
                        (row.labels.join(" "), values)
                    });
                    Some((grid.header.keys, columns.collect(), rows.collect()))
                }
                _ => None,
            })
    }

    #[test]
    fn names_behind_the_figures_are_those_of_the_rows() {
        let piped = "| current  | this patch | uplift | test case |\n\
                     | -------- | ---------- | ------ | --------- |\n\
                     | 10.04M/s | 75.20M/s   | 7.5x   | nulls=1   |\n\
                     | 9.99M/s  | 74.06M/s   | 7.4x   | nulls=5   |\n\nThat is all.\n";
        let (keys, columns, rows) = grid(piped).unwrap();
        assert_eq!(keys, ["test case"]);
        assert_eq!(columns, ["current", "this patch", "uplift"]);
        assert_eq!(rows[0], ("nulls=1".to_owned(), vec![10.04, 75.2, 7.5]));
        assert_eq!(rows[1], ("nulls=5".to_owned(), vec![9.99, 74.06, 7.4]));
        let wide = "before ms   after ms   what\n---------   --------   ----\n\
                    61.20       12.5       futex, busy\n38.80       10.5       read\n";
        let (keys, columns, rows) = grid(wide).unwrap();
        assert_eq!((keys[0].as_str(), columns.len()), ("what", 2));
        assert_eq!(rows[0], ("futex, busy".to_owned(), vec![61.2, 12.5]));
    }

    #[test]
    fn names_before_the_figures_and_profiles_are_not_turned() {
        let plain = "what    before   after   note\nfutex   61.2     12.5    13.5\nread    38.8     10.5    11.5\n";
        assert_eq!(grid(plain).unwrap().2[0].0, "futex");
        for text in [
            // One figure, as `du` prints.
            "size    what\n12K     ./auth\n19M     .\n",
            // A row alone.
            "before ms   after ms   what\n61.20       12.5       futex\n",
            // A name for each figure and none for the rows.
            "before   after   ratio\n61.20    12.5    2.5   futex\n38.80    10.5    2.5   read\n",
            "Overhead  Samples  Object  Symbol\n42.57%    120      runsc   [.] drain\n9.74%     12       runsc   [.] grey\n",
        ] {
            let turned = grid(text).is_some_and(|(.., rows)| {
                rows.iter()
                    .any(|(name, _)| ["futex", "./auth", "[.] drain"].contains(&name.as_str()))
            });
            assert!(!turned, "{text}");
        }
    }
}
