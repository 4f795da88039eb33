//! Tables whose names of columns stand over several lines between two rules:
//!
//! ```text
//! -----------------------------------------------
//! big job,        v6 patch 15     v6 patch 16
//! perf stats        regressed          fixed
//! -----------------------------------------------
//! branches      1,571,192,128   1,545,342,571
//! misses           25,849,557      24,120,991
//! ```
//!
//! What stands above one column is joined from top to bottom.

use super::{Grid, Table, is_rule, row};
use crate::Line;
use crate::grammar::cells::line_at;
use crate::grammar::{Block, Finding, Grammar, Taken};

/// No header has more lines.
const HEAD: usize = 6;
/// No table has more rows.
const MOST: usize = 400;

/// Reads such a table.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    if !is_rule(here(0)?) {
        return None;
    }
    let named =
        |at: &usize| here(*at).is_some_and(|text| !text.trim().is_empty() && !is_rule(text));
    let end = (1..=HEAD).take_while(named).last()? + 1;
    let first = end + 1;
    if end < 3 || !is_rule(here(end)?) {
        return None;
    }
    let head: Vec<&str> = (1..end).map_while(here).collect();
    let figures = |text: &&str| {
        let cells = row::pipe_cells(text).unwrap_or_else(|| row::wide_cells(text));
        cells
            .into_iter()
            .filter(|cell| row::cell_value(cell).is_some())
            .count()
    };
    let sample = here(first)?;
    let cells = match row::pipe_cells(sample) {
        Some(cells) => piped(&head, cells.len())?,
        None => placed(&head, sample)?,
    };
    // A header has fewer figures than a row.
    if head
        .iter()
        .any(|line| figures(line) >= figures(&sample).max(1))
    {
        return None;
    }
    let piped = row::pipe_cells(sample).is_some();
    let joined = cells.join(if piped { " | " } else { "   " });
    let mut whole: Vec<Line<'_>> = vec![Line {
        text: joined.into(),
        place: lines[0].place,
        depth,
    }];
    whole.extend((first..first + MOST).map_while(|at| here(at).and(lines.get(at)).cloned()));
    let read = Table.read(&whole)?;
    Some(moved(read, end))
}

/// The cells of each line between pipes, joined.
fn piped(head: &[&str], count: usize) -> Option<Vec<String>> {
    let mut cells = vec![String::new(); count];
    for line in head {
        let parts = row::pipe_cells(line).filter(|parts| parts.len() == count)?;
        for (cell, part) in cells.iter_mut().zip(parts) {
            append(cell, part);
        }
    }
    cells
        .iter()
        .skip(1)
        .all(|cell| !cell.is_empty())
        .then_some(cells)
}

/// The words of each line, put to the column of the row below to which they stand
/// nearest.
fn placed(head: &[&str], sample: &str) -> Option<Vec<String>> {
    let columns = spans(sample);
    if columns.len() < 2 || head.iter().any(|line| line.contains('\t')) || sample.contains('\t') {
        return None;
    }
    let mut cells = vec![String::new(); columns.len()];
    for line in head {
        let mut last = None;
        for (from, to, text) in spans(line) {
            let apart = |(left, right, _): &(usize, usize, &str)| {
                // Names stand left, figures right; so do what is above them.
                from.abs_diff(*left).min(to.abs_diff(*right))
            };
            let (at, _) = columns
                .iter()
                .enumerate()
                .min_by_key(|(_, column)| apart(column))?;
            // Two parts of one line never stand above one column.
            if last.is_some_and(|last| at <= last) {
                return None;
            }
            last = Some(at);
            append(cells.get_mut(at)?, text);
        }
    }
    cells
        .iter()
        .skip(1)
        .all(|cell| !cell.is_empty())
        .then_some(cells)
}

fn append(cell: &mut String, part: &str) {
    if !cell.is_empty() && !part.is_empty() {
        cell.push(' ');
    }
    cell.push_str(part);
}

/// Where the cells of a line stand that two blanks part.
fn spans(line: &str) -> Vec<(usize, usize, &str)> {
    let mut from = 0;
    let found = row::wide_cells(line).into_iter().filter_map(|cell| {
        let at = from + line.get(from..)?.find(cell)?;
        from = at + cell.len();
        let place = line[..at].chars().count();
        Some((place, place + cell.chars().count(), cell))
    });
    found.collect()
}

/// Puts what was read below a joined header to the lines of the post.
fn moved(read: Block, end: usize) -> Block {
    let mut taken: Vec<Taken> = vec!["table header"; end + 1];
    (taken[0], taken[end]) = ("table rule", "table rule");
    taken.extend(read.taken.into_iter().skip(1));
    let place = |at: usize| at + end;
    let findings = read
        .findings
        .into_iter()
        .map(|(at, finding)| match finding {
            Finding::Grid(grid) => {
                let rows = grid.at.iter().map(|row| place(*row)).collect();
                let grid = Grid { at: rows, ..*grid };
                (place(at), Finding::Grid(Box::new(grid)))
            }
            other => (place(at), other),
        });
    Block {
        findings: findings.collect(),
        taken,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(text: &str) -> Option<(Vec<String>, Vec<usize>, usize)> {
        let numbered = text.lines().enumerate();
        let lines: Vec<Line<'_>> = numbered
            .map(|(at, text)| Line::plain(at as u32, text))
            .collect();
        let block = super::read(&lines)?;
        block
            .findings
            .iter()
            .find_map(|(_, finding)| match finding {
                Finding::Grid(grid) => {
                    let names = grid.header.columns.iter().map(|column| column.name.clone());
                    Some((names.collect(), grid.at.clone(), block.taken.len()))
                }
                _ => None,
            })
    }

    #[test]
    fn what_stands_above_a_column_is_its_name() {
        let text = "\
-----------------------------------------------
big job,        v6 patch 15     v6 patch 16
perf stats        regressed          fixed
-----------------------------------------------
branches      1,571,192,128   1,545,342,571
misses           25,849,557      24,120,991
";
        let (names, rows, taken) = grid(text).unwrap();
        assert_eq!(names, ["v6 patch 15 regressed", "v6 patch 16 fixed"]);
        assert_eq!((rows, taken), (vec![4, 5], 6));
    }

    #[test]
    fn cells_between_pipes_are_joined_too() {
        let text = "\
+--------+-----------+
| kind   | latency   |
|        | (to pipe) |
+--------+-----------+
| pipe   |       1.0 |
| signal |      14.8 |
";
        let (names, rows, _) = grid(text).unwrap();
        assert_eq!(
            (names, rows),
            (vec!["latency (to pipe)".into()], vec![4, 5])
        );
    }

    #[test]
    fn one_line_or_words_between_columns_are_no_such_header() {
        assert!(grid("-----\na  b\n-----\n1  2\n3  4\n").is_none());
        assert!(grid("-----------\na  b  c\nd  e  f\n-----------\nx  2\ny  4\n").is_none());
    }
}
