//! Rows below a title of their own, whose header stands above the table before them:
//!
//! ```text
//! Stock kernel:
//! jobs |  IOPS (k)  |  lat (usec)
//!  1   |   80.5     |   371
//!  2   |  160.1     |   376
//!
//! With the series:
//!  1   |  169.2     |   163
//!  2   |  344.7     |   154
//! ```

use super::Scanner;
use crate::Line;
use crate::grammar::table::{Table, is_rule, pipe_cells, wide_cells};
use crate::grammar::{Block, Finding, Grammar, Taken};

/// So many lines at most are between the table and the rows.
const APART: usize = 6;
/// A table has no more rows.
const MOST: usize = 400;
/// No title is longer.
const TITLE: usize = 80;

/// Where a table stands: its first line, its first row, and the line behind it.
#[derive(Clone, Copy)]
pub(super) struct Above {
    pub(super) head: usize,
    pub(super) first: usize,
    pub(super) end: usize,
}

impl Scanner<'_, '_> {
    /// Notes where a block stands if it is a table with a header, or goes on with the one above.
    pub(super) fn note_table(&mut self, at: usize, format: &str, taken: &[Taken]) {
        let depth = self.lines.get(at).map_or(0, |line| line.depth);
        let table = &mut self.level(depth).table;
        let end = at + taken.len();
        let first = taken.iter().position(|what| *what == "table row");
        *table = match (first.filter(|_| format == "table"), *table) {
            (Some(0), Some(above)) => Some(Above { end, ..above }),
            (Some(0), None) | (None, _) => None,
            (Some(first), _) => Some(Above {
                head: at,
                first: at + first,
                end,
            }),
        };
    }

    /// Reads rows of the same shape as those of the table above, below one title.
    pub(super) fn rows_again(&self, at: usize) -> Option<Block> {
        let depth = self.lines.get(at)?.depth;
        let above = self.levels.get(&depth)?.table?;
        let titles = self.lines.get(above.end..at).filter(|between| {
            between.len() <= APART && between.iter().all(|line| line.depth == depth)
        })?;
        let mut titles = titles
            .iter()
            .map(|line| line.text.trim())
            .filter(|text| !text.is_empty() && !is_rule(text));
        let title = titles.next()?;
        if titles.next().is_some() || !title.ends_with(':') || title.len() > TITLE {
            return None;
        }
        let columns = cells(self.lines.get(above.first)?);
        let same = |line: &&Line<'_>| line.depth == depth && cells(line) == columns;
        let rows: Vec<Line<'_>> = self
            .lines
            .get(at..)?
            .iter()
            .take(MOST)
            .take_while(same)
            .cloned()
            .collect();
        if columns < 3 || rows.len() < 2 {
            return None;
        }
        let mut whole = self.lines.get(above.head..above.first)?.to_vec();
        let head = whole.len();
        whole.extend(rows);
        below(Table.read(&whole)?, head)
    }
}

/// How many cells a line has.
fn cells(line: &Line<'_>) -> usize {
    pipe_cells(&line.text).map_or_else(|| wide_cells(&line.text).len(), |cells| cells.len())
}

/// The part of a block that is below its first lines, if all figures stand there.
fn below(block: Block, head: usize) -> Option<Block> {
    let taken = block.taken.get(head..)?.to_vec();
    let mut findings = Vec::new();
    for (at, finding) in block.findings {
        let finding = match finding {
            Finding::Grid(mut grid) => {
                let rows = grid.at.iter().map(|row| row.checked_sub(head));
                grid.at = rows.collect::<Option<_>>()?;
                Finding::Grid(grid)
            }
            other => other,
        };
        findings.push((at.checked_sub(head)?, finding));
    }
    (!taken.is_empty()).then_some(Block { findings, taken })
}

#[cfg(test)]
mod tests {
    const POST: &str = "\
The latency with fio was measured before and after the series.

Stock kernel:
jobs | IOPS (k) | avg lat (usec) | 99.9 (usec)
******************************
 1 |  80.5 | 371.4 | 758
 2 | 160.1 | 376.5 | 717
 4 | 255.7 | 352.4 | 750

Patched kernel:
******************************
 1 | 169.2 | 163.6 | 469
 2 | 344.7 | 154.1 | 445
 4 | 513.3 | 159.1 | 465
";

    fn values(text: &str) -> Vec<(String, usize)> {
        let audit = crate::read(text.as_bytes(), "post", &Default::default()).unwrap();
        let runs = audit.records.runs.iter();
        runs.map(|run| (run.configuration.clone(), run.metrics.len()))
            .collect()
    }

    #[test]
    fn rows_below_a_second_title_have_the_header_above() {
        let read = values(POST);
        let of = |name: &str| read.iter().filter(|(own, _)| own == name).count();
        assert_eq!(
            (of("Stock kernel"), of("Patched kernel")),
            (3, 3),
            "{read:?}"
        );
        assert!(read.iter().all(|(_, metrics)| *metrics == 3));
    }

    #[test]
    fn a_third_title_has_it_too() {
        let rows = POST.rsplit_once("Patched").map_or("", |(_, rows)| rows);
        let third = rows.replace('6', "7");
        let read = values(&format!("{POST}\nReverted{third}"));
        let of = |name: &str| read.iter().filter(|(own, _)| own == name).count();
        assert_eq!(of("Reverted kernel"), 3, "{read:?}");
    }

    #[test]
    fn rows_of_another_shape_or_without_a_title_are_none() {
        for (from, to) in [
            ("Patched kernel:\n", ""),
            ("Patched kernel:", "These are of a kernel."),
            (
                "Patched kernel:",
                "Patched kernel:\nclients, of another run:",
            ),
            (" 1 | 169.2 | 163.6 |", " 1 | 169.2 |"),
        ] {
            let read = values(&POST.replace(from, to));
            assert!(
                !read.iter().any(|(name, _)| name == "Patched kernel"),
                "{to}"
            );
        }
    }

    #[test]
    fn a_sentence_between_is_no_title() {
        let options = crate::Options {
            explain: true,
            ..Default::default()
        };
        let last = |text: &str| {
            let audit = crate::read(text.as_bytes(), "post", &options).unwrap();
            audit.explained.last().unwrap().taken.clone()
        };
        assert_eq!(last(POST), "table row");
        let other = POST.replace("Patched kernel:", "Those are of a kernel.");
        assert_ne!(last(&other), "table row");
    }
}
