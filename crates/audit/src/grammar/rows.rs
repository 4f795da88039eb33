//! Names with a figure each, below two headings or more:
//!
//! ```text
//! Before the patch:
//!   File Copy 1024 bufsize 2000 maxblocks    1124181
//!   File Read 1024 bufsize 2000 maxblocks    8702173
//!
//! After the patch:
//!   File Copy 1024 bufsize 2000 maxblocks    2026206
//!   File Read 1024 bufsize 2000 maxblocks    8877219
//! ```
//!
//! They are read only if the same names stand below headings that differ as those
//! of configurations do. Each list is one run.

use super::cells::{label, line_at};
use super::table::{Cell, cell_value, wide_cells};
use super::{Block, Figure, Finding, Grammar, Labels, Taken};
use crate::Line;
use crate::roles::differing;

/// Names with figures; see the module.
pub struct Rows;

/// A block has no more lines.
const MOST: usize = 400;
/// So many points make headings those of configurations.
const CONTRAST: i32 = 3;

impl Grammar for Rows {
    fn name(&self) -> &'static str {
        "rows"
    }

    fn starts(&self, line: &str) -> bool {
        line.len() <= 100 && line.trim_end().ends_with(':')
    }

    fn reach(&self) -> usize {
        2
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let first = list(lines, 0)?;
        let mut lists = vec![first];
        while let Some(at) = lists.last().map(List::end).filter(|at| *at <= MOST) {
            let blank = |at: &usize| line_at(lines, *at).is_some_and(|text| text.trim().is_empty());
            let next = (at..at + 3)
                .take_while(blank)
                .last()
                .map_or(at, |at| at + 1);
            let Some(more) = list(lines, next).filter(|more| more.names() == lists[0].names())
            else {
                break;
            };
            lists.push(more);
        }
        let headings: Vec<&str> = lists.iter().map(|list| list.heading).collect();
        let distinct = (1..headings.len()).all(|at| !headings[..at].contains(&headings[at]));
        if lists.len() < 2 || !distinct || differing(&headings) < CONTRAST {
            return None;
        }
        let mut block = Block {
            findings: Vec::new(),
            taken: vec!["blank" as Taken; lists.last().map_or(0, List::end)],
        };
        for list in &lists {
            block.taken[list.at] = "heading of a list";
            for (at, ..) in &list.rows {
                block.taken[*at] = "name and figure";
            }
            let labels = Labels {
                configuration: Some(label(list.heading)),
                ..Labels::default()
            };
            let figure = |(_, name, cell): &(usize, &str, Cell)| {
                let mut figure = Figure::new(label(name), cell.value, cell.unit.clone());
                figure.step = cell.step;
                figure
            };
            let figures = list.rows.iter().map(figure).collect();
            block.find(list.at, Finding::Run { labels, figures });
        }
        Some(block)
    }
}

/// Rows with the heading above them.
struct List<'t> {
    heading: &'t str,
    at: usize,
    rows: Vec<(usize, &'t str, Cell)>,
}

impl List<'_> {
    fn end(&self) -> usize {
        self.rows.last().map_or(self.at, |(at, ..)| at + 1)
    }

    fn names(&self) -> Vec<&str> {
        self.rows.iter().map(|(_, name, _)| *name).collect()
    }
}

fn list<'t>(lines: &'t [Line<'_>], at: usize) -> Option<List<'t>> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let heading = here(at)?.trim().strip_suffix(':')?;
    let named = heading.len() <= 80 && heading.bytes().any(|b| b.is_ascii_alphabetic());
    let mut next = at + 1;
    if here(next)?.trim().is_empty() {
        next += 1;
    }
    let mut rows: Vec<(usize, &str, Cell)> = Vec::new();
    while let Some((name, cell)) = here(next).and_then(row) {
        if rows.iter().any(|(_, known, _)| *known == name) || rows.len() > MOST {
            return None;
        }
        rows.push((next, name, cell));
        next += 1;
    }
    (named && rows.len() >= 2).then_some(List { heading, at, rows })
}

/// A name of words, and behind a gap its figure.
fn row(text: &str) -> Option<(&str, Cell)> {
    let cells = wide_cells(text);
    let [name, value] = cells[..] else {
        return None;
    };
    let name = name.trim_end_matches([':', '=', ' ']);
    let worded = name.starts_with(|c: char| c.is_alphabetic())
        && name.len() <= 80
        && !name.contains([';', '{', '}', '"', '<', '>', '=', '|', '\\']);
    // What `time` prints has a grammar of its own.
    let timed = super::walltime::Walltime.starts(text);
    cell_value(value)
        .filter(|_| worded && !timed)
        .map(|cell| (name, cell))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::testing;

    fn figures(text: &str) -> Vec<(String, String, f64)> {
        testing::placed(&Rows, text)
    }

    #[test]
    fn the_same_names_below_contrary_headings_are_a_run_each() {
        let text = "Before patch:\n  File Copy 1024\t\t1124181\n  File Read 256      8702\n\n\
                    After patch:\n  File Copy 1024       2026206\n  File Read 256      8877\n";
        let all = figures(text);
        assert_eq!(all.len(), 4);
        assert_eq!(
            all[2],
            ("After patch".into(), "File Copy 1024".into(), 2_026_206.0)
        );
    }

    #[test]
    fn other_names_or_other_headings_are_left_alone() {
        let other = "Before patch:\n  a b   1\n  c   2\n\nAfter patch:\n  a b   1\n  d   2\n";
        assert!(figures(other).is_empty());
        let state =
            "Node 0:\n  MemTotal   1\n  MemFree   2\n\nNode 1:\n  MemTotal   1\n  MemFree   2\n";
        assert!(figures(state).is_empty());
        let twice = "Before:\n  a   1\n  a   2\n\nAfter:\n  a   1\n  a   2\n";
        assert!(figures(twice).is_empty());
    }
}
