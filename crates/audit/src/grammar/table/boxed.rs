//! Tables whose rows stand between rules and may have cells of several lines:
//!
//! ```text
//!            +---------+----------+
//!            | seqw4k  | rndw128k |
//!            | (MB/s)  |  (KIOPS) |
//! +----------+---------+----------+
//! |  before  | 1005    | 217      |
//! |  mq      |         |          |
//! +----------+---------+----------+
//! |  after   | 1946    | 358      |
//! |  mq      | (+94%)  | (+65%)   |
//! +----------+---------+----------+
//! ```
//!
//! The lines between two rules are one row, which is joined cell by cell.

use super::row::is_missing;
use super::{cell_value, rewritten, row};
use crate::Line;
use crate::grammar::Block;
use crate::grammar::cells::line_at;

/// A table has no more lines.
const MOST: usize = 400;

/// Whether a line is a rule with corners: `+---+---+`.
fn is_rule(text: &str) -> bool {
    let text = text.trim();
    let inner = text.strip_prefix('+').and_then(|t| t.strip_suffix('+'));
    inner.is_some_and(|inner| {
        !inner.is_empty() && inner.bytes().all(|b| matches!(b, b'-' | b'=' | b'+'))
    })
}

/// The first of some lines between two rules, with their cells joined.
type Joined = (usize, Vec<String>);

/// Reads such a table.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    if !is_rule(here(0)?) {
        return None;
    }
    let mut groups: Vec<Joined> = Vec::new();
    let mut at = 1;
    while let Some(text) = here(at).filter(|text| at < MOST && text.trim().starts_with('|')) {
        let mut group = (at, owned(row::pipe_cells(text)?));
        at += 1;
        while let Some(more) = here(at).filter(|text| text.trim().starts_with('|')) {
            let cells = row::pipe_cells(more).filter(|cells| cells.len() == group.1.len())?;
            append(&mut group.1, &cells);
            at += 1;
        }
        // What is not closed by a rule is no such row.
        here(at).filter(|text| is_rule(text))?;
        groups.push(group);
        at += 1;
    }
    let (head, rows) = groups.split_first()?;
    let width = rows.first()?.1.len();
    let fits = rows.len() >= 2 && rows.iter().all(|(_, cells)| is_row(cells, width));
    let mut names = head.1.clone();
    // Above the names of rows there is often no box.
    if names.len() + 1 == width {
        names.insert(0, String::new());
    }
    if !fits || names.len() != width || names.iter().any(|name| cell_value(name).is_some()) {
        return None;
    }
    let mut right = vec![(head.0, line(&names))];
    right.extend(rows.iter().map(|(at, cells)| (*at, line(&known(cells)))));
    let mut block = rewritten::read(lines, right, "table row")?;
    // The rules above and below, and the lines with which a cell goes on.
    for (at, taken) in block.taken.iter_mut().enumerate() {
        match here(at) {
            Some(text) if is_rule(text) => *taken = "table rule",
            _ if at < rows[0].0 => *taken = "table header",
            _ => {}
        }
    }
    let end = block.taken.len();
    let rest = (end..at).map(|at| match here(at).is_some_and(is_rule) {
        true => "table rule",
        false => "table row",
    });
    block.taken.extend(rest);
    Some(block)
}

fn owned(cells: Vec<&str>) -> Vec<String> {
    cells.into_iter().map(str::to_owned).collect()
}

fn append(cells: &mut [String], more: &[&str]) {
    for (cell, part) in cells.iter_mut().zip(more) {
        if !cell.is_empty() && !part.is_empty() {
            cell.push(' ');
        }
        cell.push_str(part);
    }
}

/// Whether cells are names and then nothing but figures, or marks that there is none.
fn is_row(cells: &[String], width: usize) -> bool {
    let figure = |cell: &String| cell_value(cell).is_some();
    let first = cells.iter().position(figure);
    let none = |cell: &String| cell.is_empty() || is_missing(cell);
    first.is_some_and(|first| {
        let named = first > 0 && !cells[0].is_empty();
        named && cells[first..].iter().all(|cell| figure(cell) || none(cell))
    }) && cells.len() == width
}

/// A row with a mark where it has no figure.
fn known(cells: &[String]) -> Vec<String> {
    let mark = |cell: &String| match cell.as_str() {
        "" => "N/A".to_owned(),
        cell => cell.to_owned(),
    };
    cells.iter().map(mark).collect()
}

fn line(cells: &[String]) -> String {
    format!("| {} |", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::super::{Grid, Table, rewritten};
    use crate::grammar::testing;

    fn read(text: &str) -> Option<(Grid, Vec<&'static str>)> {
        let block = testing::read(&Table, text)?;
        let grid = rewritten::grid(&block)?.clone();
        Some((grid, block.taken))
    }

    const POST: &str = "            +---------+----------+\n\
                        \u{20}           | seqw4k  | rndw128k |\n\
                        \u{20}           | (MB/s)  |  (KIOPS) |\n\
                        +-----------+---------+----------+\n\
                        |  Baseline | 1005    | 217      |\n\
                        |    mq     |         |          |\n\
                        +-----------+---------+----------+\n\
                        |    New    | 1946    | 358      |\n\
                        |   none    | (+94%)  | (+65%)   |\n\
                        +-----------+---------+----------+\n\nWords.\n";

    #[test]
    fn the_lines_between_two_rules_are_one_row() {
        let (grid, taken) = read(POST).unwrap();
        let columns: Vec<_> = grid.header.columns.iter().collect();
        assert_eq!(
            (columns[0].name.as_str(), columns[0].unit.as_str()),
            ("seqw4k", "MB/s")
        );
        assert_eq!(
            (columns[1].name.as_str(), columns[1].unit.as_str()),
            ("rndw128k", "KIOPS")
        );
        let name = |at: usize| grid.rows[at].labels.join(" ");
        assert_eq!(
            (name(0).as_str(), name(1).as_str()),
            ("Baseline mq", "New none")
        );
        let cell = &grid.rows[1].cells[1];
        assert_eq!((cell.value, cell.change), (358.0, Some(65.0)));
        assert_eq!(grid.at, [4, 7]);
        assert_eq!(taken.len(), 10);
        assert_eq!(
            taken[1..6],
            [
                "table header",
                "table header",
                "table rule",
                "table row",
                "table row"
            ]
        );
    }

    #[test]
    fn several_rows_between_two_rules_stay_several() {
        let text = "+------+------+\n| name | MB/s |\n+------+------+\n| old  | 12.5 |\n| new  | 13.5 |\n\
                    +------+------+\n| all  | 14.5 |\n+------+------+\n";
        let (grid, _) = read(text).unwrap();
        assert_eq!(grid.rows[1].cells[0].value, 13.5);
        // Nor is one joined that no rule closes, or that has words among its figures.
        let open = POST.replacen("+-----------+---------+----------+\n\nWords", "Words", 1);
        let words = POST.replace("358      ", "358 more ");
        for text in [open, words] {
            let joined = |grid: &Grid| {
                grid.rows
                    .iter()
                    .any(|row| row.labels.concat().contains("mq"))
            };
            assert!(
                !read(&text).is_some_and(|(grid, _)| joined(&grid)),
                "{text}"
            );
        }
    }
}
