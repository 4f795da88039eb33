//! Tables with two figures in each cell of a column:
//!
//! ```text
//! | threads | socket           | shared memory    |    | size | Avg (grpc / cmux) |
//! | ------- | ---------------- | ---------------- |    | ---- | ----------------- |
//! | 1       | 3324 MB/s, 35 us | 7045 MB/s, 16 us |    | 10k  | 8.47 s / 8.87 s   |
//! ```
//!
//! Such a column is parted. Where its name is, too, each part has one of its names; else
//! the two are metrics, which are called by their units. Several columns with the same two
//! names are groups: `Reads (old/new)` and `Writes (old/new)`. These may be parted by blanks,
//! and blank lines may stand between their rows.

use super::{Cell, cell_value, is_rule, rewritten, row};
use crate::Line;
use crate::grammar::cells::line_at;
use crate::grammar::{Block, Finding};

/// A table has no more lines.
const MOST: usize = 400;
/// What stands between two figures of a cell.
const MARKS: [&str; 3] = [" / ", ", ", "/"];

/// The cells of a table.
struct Cells<'t> {
    names: Vec<&'t str>,
    rows: Vec<Vec<&'t str>>,
    /// Line of each row in the block.
    at: Vec<usize>,
    /// What parts the figures of each column that has two.
    marks: Vec<Option<&'static str>>,
    /// The columns that are parted.
    parted: Vec<usize>,
    /// The first of them: what stands before is the name of the row.
    first: usize,
}

/// Reads a table with two figures in its cells.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    let (cells, piped) = match Cells::of(lines) {
        Some(cells) => (cells, true),
        None => (Cells::of_blanks(lines)?, false),
    };
    let named: Option<Vec<(String, String)>> =
        cells.parted.iter().map(|at| cells.two_names(*at)).collect();
    let mut right = match &named {
        Some(named) => match cells.header_of_groups(named) {
            Some(groups) => groups,
            None => cells.header_of_names(),
        },
        None if piped => cells.header_of_units()?,
        None => return None,
    };
    for (at, row) in cells.at.iter().zip(&cells.rows) {
        right.push((*at, cells.row(row)?));
    }
    let mut block = rewritten::read(lines, right, "table row")?;
    let grid = block
        .findings
        .iter_mut()
        .find_map(|(_, finding)| match finding {
            Finding::Grid(grid) => Some(grid),
            _ => None,
        })?;
    if named.is_some_and(|named| named.len() == 1) && grid.header.groups.is_empty() {
        let before = cells.names[cells.first].split('(').next();
        let metric = before.unwrap_or_default().trim();
        let whole = metric.is_empty() || metric == cells.names[cells.first];
        grid.metric = if whole { "value" } else { metric }.to_owned();
    }
    Some(block)
}

impl<'t> Cells<'t> {
    fn of(lines: &'t [Line<'_>]) -> Option<Self> {
        let depth = lines.first()?.depth;
        let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
        let names = row::pipe_cells(here(0)?)?;
        if !is_rule(here(1)?) {
            return None;
        }
        let rows: Vec<Vec<&str>> = (2..MOST)
            .map_while(|at| row::pipe_cells(here(at)?).filter(|cells| cells.len() == names.len()))
            .collect();
        let at = (2..2 + rows.len()).collect();
        Cells::parted(names, rows, at)
    }

    /// The cells of a table parted by blanks, of which each column but the first says which
    /// two figures its cells have.
    fn of_blanks(lines: &'t [Line<'_>]) -> Option<Self> {
        let depth = lines.first()?.depth;
        let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
        let head = here(0)?;
        // Most lines have none.
        if !head.contains('/') || row::pipe_cells(head).is_some() {
            return None;
        }
        let names = row::wide_cells(head);
        let two = |name: &&str| name.contains(['/', ',']);
        if names.len() < 2 || !names[1..].iter().all(two) {
            return None;
        }
        let first = if is_rule(here(1)?) { 2 } else { 1 };
        let (mut rows, mut places) = (Vec::new(), Vec::new());
        let mut at = first;
        while let Some(text) = here(at).filter(|_| at < MOST) {
            let cells = row::wide_cells(text);
            if cells.len() == names.len() {
                // All columns but the first must have two figures: most tables end here.
                let two = |cell: &&str| MARKS.iter().any(|mark| parts(cell, mark).is_some());
                if !cells[1..].iter().all(two) {
                    return None;
                }
                rows.push(cells);
                places.push(at);
            } else if !text.trim().is_empty() {
                break;
            }
            at += 1;
        }
        let cells = Cells::parted(names, rows, places)?;
        let whole = cells.first == 1 && cells.parted.len() + 1 == cells.names.len();
        whole.then_some(cells)
    }

    fn parted(names: Vec<&'t str>, rows: Vec<Vec<&'t str>>, at: Vec<usize>) -> Option<Self> {
        let mark = |column: usize| {
            let all = |mark: &&str| rows.iter().all(|row| parts(row[column], mark).is_some());
            MARKS.into_iter().find(all).filter(|_| column > 0)
        };
        let marks: Vec<Option<&'static str>> = (0..names.len()).map(mark).collect();
        let parted: Vec<usize> = (0..names.len()).filter(|at| marks[*at].is_some()).collect();
        let first = *parted.first().filter(|_| rows.len() >= 2)?;
        Some(Cells {
            names,
            rows,
            at,
            marks,
            parted,
            first,
        })
    }

    fn key(&self) -> String {
        self.names[..self.first].join(", ")
    }

    /// `Avg (grpc / cmux)` or `grpc / cmux`: the names of both figures of a column.
    fn two_names(&self, at: usize) -> Option<(String, String)> {
        let (name, mark) = (self.names[at], self.marks[at]?);
        let inner = name
            .strip_suffix(')')
            .and_then(|head| head.rsplit_once('('));
        let inner = inner.map_or(name, |(_, inner)| inner);
        let (a, b) = inner.split_once(mark.trim())?;
        let is_name = |text: &str| {
            text.bytes().any(|b| b.is_ascii_alphabetic()) && !text.contains(['(', ')'])
        };
        let (a, b) = (a.trim(), b.trim());
        (is_name(a) && is_name(b) && a != b).then(|| (a.to_owned(), b.to_owned()))
    }

    /// The names of columns over groups of the same two, if all are such.
    fn header_of_groups(&self, named: &[(String, String)]) -> Option<Vec<(usize, String)>> {
        let first = named.first()?;
        let same = named.len() >= 2 && named.iter().all(|names| names == first);
        let whole = self.parted.len() + self.first == self.names.len();
        if !same || !whole {
            return None;
        }
        let before = |at: &usize| {
            self.names[*at]
                .rsplit_once('(')
                .map(|(name, _)| name.trim())
        };
        let groups: Vec<String> = self
            .parted
            .iter()
            .map(|at| {
                before(at)
                    .filter(|name| !name.is_empty())
                    .map(str::to_owned)
            })
            .collect::<Option<_>>()?;
        let columns = named.iter().flat_map(|(a, b)| [a.clone(), b.clone()]);
        let keyed = || std::iter::once(self.key());
        Some(vec![
            (0, piped(keyed().chain(groups))),
            (0, piped(keyed().chain(columns))),
        ])
    }

    fn header_of_names(&self) -> Vec<(usize, String)> {
        let columns = (self.first..self.names.len()).flat_map(|at| match self.two_names(at) {
            Some((a, b)) => vec![a, b],
            None => vec![self.names[at].to_owned()],
        });
        let names = std::iter::once(self.key()).chain(columns);
        vec![(0, piped(names)), (1, "| --- | --- |".to_owned())]
    }

    /// The names of columns over groups of two metrics, if all are such.
    fn header_of_units(&self) -> Option<Vec<(usize, String)>> {
        let units = |row: &Vec<&str>, at: usize| {
            let (a, b) = parts(row[at], self.marks[at]?)?;
            Some([a.unit, b.unit])
        };
        let two = units(&self.rows[0], self.first)?;
        let whole = self.parted.len() >= 2 && self.parted.len() + self.first == self.names.len();
        let same = |at: &usize| {
            let mut rows = self.rows.iter();
            rows.all(|row| units(row, *at).as_ref() == Some(&two))
        };
        let metrics = two[0] != two[1] && two.iter().all(|unit| !unit.is_empty());
        if !whole || !metrics || !self.parted.iter().all(same) {
            return None;
        }
        let groups = self.parted.iter().map(|at| self.names[*at].to_owned());
        let columns = self.parted.iter().flat_map(|_| two.clone());
        let keyed = || std::iter::once(self.key());
        Some(vec![
            (0, piped(keyed().chain(groups))),
            (1, piped(keyed().chain(columns))),
        ])
    }

    /// A row with its name in one cell, to which numbers before the figures belong.
    fn row(&self, row: &[&str]) -> Option<String> {
        let part = |(key, cell): (&&str, &&str)| match cell_value(cell) {
            Some(_) => format!("{key} {cell}"),
            None => (*cell).to_owned(),
        };
        let name: Vec<String> = self.names[..self.first].iter().zip(row).map(part).collect();
        let mut cells = vec![name.join(", ")];
        for (cell, mark) in row.iter().zip(&self.marks).skip(self.first) {
            match mark {
                Some(mark) => {
                    let (a, b) = cell.split_once(mark)?;
                    cells.extend([a.trim().to_owned(), b.trim().to_owned()]);
                }
                None => cells.push((*cell).to_owned()),
            }
        }
        Some(piped(cells.into_iter()))
    }
}

fn piped(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
}

/// The two figures of a cell.
fn parts(cell: &str, mark: &str) -> Option<(Cell, Cell)> {
    let (a, b) = cell.split_once(mark)?;
    let figure = |text: &str| {
        let cell = cell_value(text.trim())?;
        // `1/2` and `10,000` are one.
        let measured = !cell.unit.is_empty() || cell.value.fract() != 0.0;
        (measured && !cell.signed).then_some(cell)
    };
    figure(a).zip(figure(b))
}

#[cfg(test)]
mod tests {
    use super::super::Table;
    use super::rewritten;
    use crate::grammar::testing;

    /// Groups and columns, and the figures of the first row.
    fn read(text: &str) -> Option<(Vec<String>, Vec<String>, Vec<f64>)> {
        let block = testing::read(&Table, text)?;
        let grid = rewritten::grid(&block)?;
        let names = grid.header.columns.iter().map(|column| column.name.clone());
        let values = grid.rows[0].cells.iter().map(|cell| cell.value);
        Some((
            grid.header.groups.clone(),
            names.collect(),
            values.collect(),
        ))
    }

    #[test]
    fn two_figures_of_a_cell_stand_under_both_names_of_the_column() {
        let text = "| Mode | Avg (grpc / cmux) |\n| --- | --- |\n\
                    | stream | 2m45.5s / 3m17.5s |\n| plain | 6.333s  / 6.536s |\n";
        let (_, names, values) = read(text).unwrap();
        assert_eq!(
            (names, values),
            (
                vec!["grpc".to_owned(), "cmux".to_owned()],
                vec![165.5, 197.5]
            )
        );
    }

    #[test]
    fn two_figures_of_other_units_are_two_metrics_of_each_column() {
        let text = "| clients | socket | shared memory |\n| --- | --- | --- |\n\
                    | one | 3324 MB/s, 35 us | 7045 MB/s, 16 us |\n| two | 6289 MB/s, 38 us | 13311 MB/s, 17 us |\n";
        let (groups, names, values) = read(text).unwrap();
        assert_eq!(groups, ["socket", "shared memory"]);
        assert_eq!(names, ["MB/s", "us", "MB/s", "us"]);
        assert_eq!(values, [3324.0, 35.0, 7045.0, 16.0]);
    }

    #[test]
    fn one_figure_with_a_mark_in_it_is_not_parted() {
        for text in [
            "| Mode | passed |\n| --- | --- |\n| stream | 12 / 15 |\n| plain | 14 / 15 |\n",
            "| Mode | rate |\n| --- | --- |\n| stream | 10,500 |\n| plain | 11,500 |\n",
            "| Mode | a | b |\n| --- | --- | --- |\n| stream | 5 ms / 6 ms | 7 ms |\n| plain | 5 ms / 6 ms | 8 ms |\n",
        ] {
            let parted = read(text)
                .is_some_and(|(_, names, _)| names.len() == 4 || names == ["passed", "rate"]);
            assert!(!parted, "{text}");
        }
    }
}
