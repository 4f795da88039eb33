//! Tables between pipes whose first columns together say what was measured:
//!
//! ```text
//! | pool size | block size | before MB/s | after MB/s |
//! |-----------|------------|-------------|------------|
//! |   1 MB    |   256 KB   |     242     |    280     |
//! |   1 MB    |   512 KB   |     238     |    295     |
//! |   2 MB    |   256 KB   |     238     |    354     |
//! ```
//!
//! Such columns count on like the digits of a number: each row has other ones, and those of
//! the second column begin anew where the first one changes. They become the name of the
//! row, and then it is a table like others.

use std::collections::{BTreeMap, BTreeSet};

use super::{cell_value, is_rule, rewritten, row, split_unit};
use crate::Line;
use crate::grammar::Block;
use crate::grammar::cells::line_at;
use crate::roles::{differing, monotone, words};
use crate::states;

/// A table has no more lines.
const MOST: usize = 400;
/// No more columns name a row.
const KEYS: usize = 5;
/// So few rows do not show that columns count on.
const FEWEST: usize = 3;
/// So many points have names of opposite meaning.
const OPPOSITE: i32 = 4;

/// The cells of a table with pipes, and the line of each row.
struct Cells<'t> {
    names: Vec<&'t str>,
    rows: Vec<(usize, Vec<&'t str>)>,
}

/// Reads such a table.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    // A line above the header says what is measured.
    let header = (0..=1).find(|at| here(*at).is_some_and(is_piped))?;
    let names = row::pipe_cells(here(header)?)?;
    if !(3..=12).contains(&names.len()) || names.iter().any(|name| !is_name(name)) {
        return None;
    }
    let wide = |text: &str| row::pipe_cells(text).is_some_and(|cells| cells.len() == names.len());
    let below = (header + 1..MOST).map_while(|at| Some((at, here(at)?)));
    let below =
        below.take_while(|(_, text)| is_rule(text) || row::is_empty_row(text) || wide(text));
    let below: Vec<(usize, &str)> = below.filter(|(_, text)| !row::is_empty_row(text)).collect();
    let rows = below.iter().filter(|(_, text)| !is_rule(text));
    let rows = rows.filter_map(|(at, text)| Some((*at, row::pipe_cells(text)?)));
    let cells = Cells {
        names: names.clone(),
        rows: rows.collect(),
    };
    let keys = cells.keys()?;
    let mut right: Vec<(usize, String)> = Vec::new();
    right.extend((0..header).filter_map(|at| Some((at, here(at)?.to_owned()))));
    let key = names.get(..keys)?.join(" ");
    right.push((header, line(&key, names.get(keys..)?)));
    for (at, text) in below {
        let row = cells.rows.iter().find(|(own, _)| *own == at);
        right.push(match row {
            Some((_, row)) => (at, line(&cells.name(row, keys), row.get(keys..)?)),
            None => (at, text.to_owned()),
        });
    }
    let block = rewritten::read(lines, right, "table blank")?;
    rewritten::grid(&block).is_some().then_some(block)
}

/// Whether a line has cells between pipes, and is no rule.
fn is_piped(text: &str) -> bool {
    !is_rule(text) && row::pipe_cells(text).is_some_and(|cells| cells.len() >= 3)
}

/// The name of a column: no figure.
fn is_name(cell: &str) -> bool {
    cell.bytes().any(|b| b.is_ascii_alphabetic()) && cell_value(cell).is_none()
}

fn line(name: &str, cells: &[&str]) -> String {
    format!("| {name} | {} |", cells.join(" | "))
}

/// Whole numbers and sizes, in bytes where a unit says it.
fn amount(cell: &str) -> Option<f64> {
    let read = cell_value(cell)?;
    let bare = read.spread.is_none() && read.change.is_none() && !read.signed;
    let power = match read.unit.as_str() {
        "" | "B" => 0,
        "k" | "K" | "kB" | "KB" | "KiB" => 1,
        "M" | "MB" | "MiB" => 2,
        "G" | "GB" | "GiB" => 3,
        _ => return None,
    };
    (bare && read.value.fract() == 0.0).then(|| read.value * 1024_f64.powi(power))
}

impl Cells<'_> {
    /// How many columns together name the rows, if more than one does.
    fn keys(&self) -> Option<usize> {
        let figures = |keys: usize| {
            let mut cells = self.rows.iter().flat_map(|(_, row)| row.iter().skip(keys));
            cells.all(|cell| cell_value(cell).is_some() || row::is_missing(cell))
        };
        let most = KEYS.min(self.names.len() - 1);
        let keys = (1..=most).find(|keys| self.tell_apart(*keys))?;
        let numbers = (0..keys).filter(|at| self.is_amount(*at)).count();
        let named = self.names.get(..keys)?.iter().all(|name| may_be_key(name));
        let fits = keys >= 2 && numbers >= 1 && self.rows.len() >= FEWEST && named;
        let evident = || {
            let numbered = numbers == keys && (self.recurs(keys) || self.are_parameters(keys));
            let rest = self.names.get(keys..).unwrap_or_default();
            numbered && rest.len() >= 2 || differing(rest) >= OPPOSITE
        };
        let whole = (0..keys).all(|column| self.is_whole(column));
        (fits && whole && figures(keys) && self.counts_on(keys) && evident()).then_some(keys)
    }

    /// Whether the first columns differ in each two rows.
    fn tell_apart(&self, keys: usize) -> bool {
        let mut all: Vec<&[&str]> = self
            .rows
            .iter()
            .filter_map(|(_, row)| row.get(..keys))
            .collect();
        all.sort_unstable();
        all.windows(2).all(|pair| pair.first() != pair.last())
    }

    /// Whether a column has nothing but whole numbers and sizes.
    fn is_amount(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().map(|(_, row)| row.get(column));
        cells.all(|cell| cell.is_some_and(|cell| amount(cell).is_some()))
    }

    /// Whether a column has something in each row, and no figure that is no amount.
    fn is_whole(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().map(|(_, row)| row.get(column));
        cells.all(|cell| {
            cell.is_some_and(|cell| {
                let figure = cell_value(cell).is_some() && amount(cell).is_none();
                !cell.is_empty() && !figure
            })
        })
    }

    /// Whether each column goes one way, or has one word after the other, in the rows that
    /// are alike in the columns before it.
    fn counts_on(&self, keys: usize) -> bool {
        (0..keys).all(|column| {
            let mut runs: BTreeMap<&[&str], Vec<&str>> = BTreeMap::new();
            for (_, row) in &self.rows {
                let (Some(before), Some(own)) = (row.get(..column), row.get(column)) else {
                    return false;
                };
                let run = runs.entry(before).or_default();
                if run.last() != Some(own) {
                    run.push(own);
                }
            }
            let numbers = self.is_amount(column);
            runs.values().all(|run| match numbers {
                true => goes_one_way(run),
                false => run.iter().collect::<BTreeSet<_>>().len() == run.len(),
            })
        })
    }

    /// Whether a number of a column behind the first stands beside several of those before.
    fn recurs(&self, keys: usize) -> bool {
        (1..keys).any(|column| {
            let mut beside: BTreeMap<&str, BTreeSet<&[&str]>> = BTreeMap::new();
            for (_, row) in &self.rows {
                if let (Some(before), Some(own)) = (row.get(..column), row.get(column)) {
                    beside.entry(own).or_default().insert(before);
                }
            }
            self.is_amount(column) && beside.values().any(|rows| rows.len() >= 2)
        })
    }

    /// Whether all first columns are called as parameters are.
    fn are_parameters(&self, keys: usize) -> bool {
        let mut names = self.names.iter().take(keys);
        names.all(|name| words::names_parameter(name))
    }

    /// The name of a row: its numbers with what they are of, and its words.
    fn name(&self, row: &[&str], keys: usize) -> String {
        let cells = self.names.iter().zip(row).take(keys);
        let parts = cells.map(|(name, cell)| match amount(cell) {
            Some(_) => format!("{name}={cell}"),
            None => (*cell).to_owned(),
        });
        parts.collect::<Vec<_>>().join(" ")
    }
}

/// Whether numbers only rise or only fall; one alone does.
fn goes_one_way(run: &[&str]) -> bool {
    let values: Vec<f64> = run.iter().filter_map(|cell| amount(cell)).collect();
    values.len() < 2 || monotone(values.into_iter())
}

/// Whether a column of this name may say what was measured: none of figures, of what is
/// compared or of what numbers the runs.
fn may_be_key(name: &str) -> bool {
    let (bare, unit) = split_unit(name);
    let listed = [
        words::CONFIGURATION_KEYS,
        words::REPETITION_KEYS,
        words::METRIC_KEYS,
    ];
    !listed.iter().any(|list| words::key_is(name, list))
        && !words::names_measurement(&bare)
        && !words::names_configuration(name)
        && !states::in_name(name)
        && (unit.is_empty() || amount(&format!("1 {unit}")).is_some())
}

#[cfg(test)]
mod tests {
    use super::super::{Grid, Table, rewritten};
    use crate::grammar::testing;

    fn grid(text: &str) -> Option<Grid> {
        let block = testing::read(&Table, text)?;
        rewritten::grid(&block).cloned()
    }

    /// Names of rows, and how many figures each has.
    fn rows(text: &str) -> Vec<(String, usize)> {
        let rows = grid(text).map_or_else(Vec::new, |grid| grid.rows);
        rows.iter()
            .map(|row| (row.labels.join(" "), row.cells.len()))
            .collect()
    }

    fn is_keyed(text: &str) -> bool {
        rows(text).iter().any(|(name, _)| name.contains('='))
    }

    const SIZES: &str = "\
+-----------+-------------+---------------+--------------+
| Area size | Block size  | before (MB/s) | after (MB/s) |
+-----------+-------------+---------------+--------------+
|    1 MB   |   256 KB    |      142      |     180      |
|    1 MB   |   512 KB    |      138      |     195      |
|           |             |               |              |
|    2 MB   |   256 KB    |      141      |     254      |
|    2 MB   |     1 MB    |      145      |     294      |
+-----------+-------------+---------------+--------------+
";

    #[test]
    fn first_columns_that_count_on_name_the_rows() {
        let grid = grid(SIZES).unwrap();
        let names: Vec<String> = grid.rows.iter().map(|row| row.labels.join(" ")).collect();
        assert_eq!(names[1], "Area size=1 MB Block size=512 KB");
        assert_eq!(names[3], "Area size=2 MB Block size=1 MB");
        assert_eq!(grid.header.columns.len(), 2);
        assert_eq!(grid.rows[2].cells[1].value, 254.0);
        assert_eq!(grid.at, [3, 4, 6, 7]);
    }

    #[test]
    fn names_of_opposite_meaning_behind_them_tell_that_one_value_is_a_parameter() {
        let text = "key bits | chunk | base ops | new ops | differ(%)\n\
                    152 | 16   | 7920 | 8010 | 1.14\n152 | 64   | 5520 | 5570 | 0.9\n\
                    152 | 1420 | 2540 | 2600 | 2.36\n";
        assert_eq!(rows(text)[2], ("key bits=152 chunk=1420".to_owned(), 3));
        // Words are names as they are.
        let worded = text
            .replacen("key bits", "job     ", 1)
            .replace("152 ", "read");
        assert_eq!(rows(&worded)[2], ("read chunk=1420".to_owned(), 3));
        let unlike = text.replacen("base ops | new ops", "reads    | writes ", 1);
        assert!(!is_keyed(&unlike));
    }

    #[test]
    fn figures_that_do_not_count_on_are_no_names() {
        for (from, to) in [
            // The first column alone names the rows; the second does not go one way.
            ("|    1 MB   |   512", "|    3 MB   |   512"),
            ("|    2 MB   |     1 MB", "|    1 MB   |   128 KB"),
            ("Block size ", "old size   "),
            ("Block size ", "IOPS       "),
            ("Area size", "version  "),
            ("|   256 KB    |      142", "|   256 us    |      142"),
        ] {
            let text = SIZES.replacen(from, to, 1);
            let text = if from.contains("1 MB   |   512") {
                text.replacen("|    2 MB   |   256", "|    4 MB   |   256", 1)
            } else {
                text
            };
            assert!(!is_keyed(&text), "{text}");
        }
        assert!(is_keyed(SIZES));
    }
}
