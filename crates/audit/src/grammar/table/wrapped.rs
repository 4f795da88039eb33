//! Tables of which a mailer has wrapped every line:
//!
//! ```text
//! test case   bw        iops     rd_avg_lat   wr_avg_lat
//! rd_p99_lat  wr_p99_lat
//! ======================================================
//! alpha       767226    191806   1333.30      0.00
//! 536.00      0.00
//! beta        94607     23651    10816.06     0.00
//! 610.00      0.00
//! ```
//!
//! Header and rows are broken at the same place. They are joined, and then it is a
//! table like others.

use super::{Grid, Table, cell_value, is_rule, wide_cells};
use crate::Line;
use crate::grammar::cells::line_at;
use crate::grammar::{Block, Finding, Grammar, Taken};

/// A table has no more rows.
const MOST: usize = 400;

/// Reads a wrapped table.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let head = wide_cells(here(0)?);
    if head.len() < 3 {
        return None;
    }
    let more = wide_cells(here(1)?);
    let named = !more.is_empty()
        && head
            .iter()
            .chain(&more)
            .all(|cell| cell_value(cell).is_none() && !is_rule(cell));
    if !named {
        return None;
    }
    let ruled = here(2).is_some_and(is_rule);
    let first = if ruled { 3 } else { 2 };
    let mut joined = vec![format!("{}  {}", head.join("  "), more.join("  "))];
    let mut at = first;
    while joined.len() <= MOST {
        let Some(row) = here(at)
            .zip(here(at + 1))
            .and_then(|(a, b)| row(a, b, head.len(), more.len()))
        else {
            break;
        };
        joined.push(row);
        at += 2;
    }
    if joined.len() < 3 {
        return None;
    }
    let whole: Vec<Line<'_>> = joined
        .into_iter()
        .map(|text| Line::new(text, depth, lines[0].place))
        .collect();
    let read = Table
        .read(&whole)
        .filter(|read| read.taken.len() == whole.len())?;
    Some(spread_out(read, first, at))
}

/// A row of both lines, if each has as many cells as its part of the header.
fn row(text: &str, more: &str, head: usize, rest: usize) -> Option<String> {
    let (cells, tail) = (wide_cells(text), wide_cells(more));
    let figures = |cells: &[&str]| cells.iter().all(|cell| cell_value(cell).is_some());
    let name = cells.first().filter(|name| cell_value(name).is_none())?;
    let fits = cells.len() == head
        && tail.len() == rest
        && figures(&cells[1..])
        && figures(&tail)
        && name.len() <= 60;
    fits.then(|| format!("{}  {}", cells.join("  "), tail.join("  ")))
}

/// Puts what was read of joined lines to the lines they were joined of.
fn spread_out(read: Block, first: usize, end: usize) -> Block {
    let place = |row: usize| if row == 0 { 0 } else { first + 2 * (row - 1) };
    let mut taken: Vec<Taken> = vec!["table row"; end];
    taken[..first].fill("table header");
    let moved = |(at, finding)| match finding {
        Finding::Grid(grid) => {
            let at_rows = grid.at.iter().map(|row| place(*row)).collect();
            let grid = Grid {
                at: at_rows,
                ..*grid
            };
            (place(at), Finding::Grid(Box::new(grid)))
        }
        other => (place(at), other),
    };
    Block {
        findings: read.findings.into_iter().map(moved).collect(),
        taken,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Block> {
        let numbered = text.lines().enumerate();
        let lines: Vec<Line<'_>> = numbered
            .map(|(at, text)| Line::plain(at as u32, text))
            .collect();
        super::read(&lines)
    }

    const POST: &str = "case        bw        iops     avg\n\
                        p99  max\n\
                        ===============================\n\
                        alpha       767226    191806   1333.30\n536.00      0.00\n\
                        beta        94607     23651    10816.06\n610.00      0.00\nwords\n";

    #[test]
    fn halves_of_rows_are_joined() {
        let block = of(POST).unwrap();
        assert_eq!(block.taken.len(), 7);
        let Finding::Grid(grid) = &block.findings[0].1 else {
            panic!("no grid")
        };
        assert_eq!(grid.at, [3, 5]);
        let values: Vec<f64> = grid.rows[1].cells.iter().map(|cell| cell.value).collect();
        assert_eq!(values, [94607.0, 23651.0, 10816.06, 610.0, 0.0]);
    }

    #[test]
    fn rows_that_break_elsewhere_are_left_alone() {
        assert!(of(&POST.replace("610.00      0.00", "610.00")).is_none());
        assert!(of("case  bw  iops\nalpha  1  2\nbeta  1  2\ngamma  2  3\n").is_none());
    }
}
