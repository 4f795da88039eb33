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
//! Behind the first heading names may stand over several figures of each row
//! (`Before:   A53   A72`): then each column is a workload.
//!
//! They are read only if the same names stand below headings that differ as those
//! of configurations do. Each list is one run.

use assize_bundle::Spread;

use super::begins::Begins;
use super::cells::{self, label, line_at};
use super::spread::{DEVIATIONS, MEANS};
use super::table::{Cell, cell_value, wide_cells};
use super::{Block, Figure, Finding, Grammar, Labels, Taken};
use crate::Line;
use crate::headings::last_words;
use crate::roles::differing;
use crate::roles::words::names_configuration;

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

    fn is_report(&self) -> bool {
        false
    }

    fn begins(&self) -> Begins {
        Begins::holding(b":")
    }

    fn starts(&self, line: &str) -> bool {
        let over = || {
            let mut parts = line.split(":  ");
            parts.next().is_some_and(names_configuration) && parts.next().is_some()
        };
        line.len() <= 100 && (line.trim_end().ends_with(':') || line.contains(":  ") && over())
    }

    fn reach(&self) -> usize {
        2
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let mut lists = vec![list(lines, 0)?];
        while let Some(at) = lists.last().map(List::end).filter(|at| *at <= MOST) {
            let blank = |at: &usize| line_at(lines, *at).is_some_and(|text| text.trim().is_empty());
            let next = (at..at + 3)
                .take_while(blank)
                .last()
                .map_or(at, |at| at + 1);
            let Some(more) = list(lines, next).filter(|more| lists[0].goes_on(more)) else {
                break;
            };
            lists.push(more);
        }
        let columns = lists[0].columns.clone();
        let figures = lists[0].rows.first().map_or(0, |(_, _, cells)| cells.len());
        let headings: Vec<&str> = lists.iter().map(|list| list.heading).collect();
        let distinct = (1..headings.len()).all(|at| !headings[..at].contains(&headings[at]));
        if lists.len() < 2
            || !distinct
            || columns.len().max(1) != figures
            || differing(&headings) < CONTRAST
        {
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
            for run in list.runs(&columns) {
                block.find(list.at, run);
            }
        }
        Some(block)
    }
}

/// Rows with the heading above them.
struct List<'t> {
    heading: &'t str,
    /// What stands behind the heading, over the figures.
    columns: Vec<&'t str>,
    at: usize,
    rows: Vec<(usize, &'t str, Vec<Cell>)>,
}

impl<'t> List<'t> {
    fn end(&self) -> usize {
        self.rows.last().map_or(self.at, |(at, ..)| at + 1)
    }

    fn names(&self) -> Vec<&str> {
        self.rows.iter().map(|(_, name, _)| *name).collect()
    }

    /// Whether another list goes on with these: the same names, and the same columns
    /// if it names any.
    fn goes_on(&self, more: &List<'_>) -> bool {
        let columns = more.columns.is_empty() || more.columns == self.columns;
        let cells = |list: &List<'_>| list.rows.first().map(|(_, _, cells)| cells.len());
        columns && more.names() == self.names() && cells(more) == cells(self)
    }

    /// A run for each column. A mean and its deviation are a summary.
    fn runs(&self, columns: &[&str]) -> Vec<Finding> {
        let named = |words: &[&str]| {
            let fits = |name: &str| words.contains(&name.to_ascii_lowercase().as_str());
            self.rows.iter().position(|(_, name, _)| fits(name))
        };
        let summary = named(MEANS).zip(named(DEVIATIONS));

        let figure = |name: &str, cell: &Cell| {
            let mut figure = Figure::new(label(name), cell.value, cell.unit.clone());
            figure.step = cell.step;
            figure
        };
        let run = |column: usize| {
            let of = |(_, name, cells): &(usize, &str, Vec<Cell>)| {
                Some(figure(name, cells.get(column)?))
            };
            let mut figures: Vec<Figure> = self.rows.iter().filter_map(of).collect();
            let labels = Labels {
                configuration: Some(label(self.heading)),
                workload: columns.get(column).map(|name| label(name)),
                repetition: None,
            };
            let mut found = Vec::new();
            if let Some((mean, deviation)) = summary
                && let (Some(of), Some(by)) = (figures.get(mean), figures.get(deviation))
            {
                let spread = (of.unit == by.unit && by.value >= 0.0)
                    .then_some(Spread::StandardDeviation(by.value));
                found.push(cells::summary(&labels, of.clone(), spread, None));
                let mut at = 0;
                figures.retain(|_| {
                    at += 1;
                    at - 1 != mean && at - 1 != deviation
                });
            }
            if !figures.is_empty() {
                found.push(Finding::Run { labels, figures });
            }
            found
        };
        (0..columns.len().max(1)).flat_map(run).collect()
    }
}

/// A heading, and what stands behind its colon over the figures below.
fn heading(text: &str) -> Option<(&str, Vec<&str>)> {
    let (heading, rest) = text.trim().split_once(':')?;
    let heading = last_words(heading);
    let named = heading.len() <= 80 && heading.bytes().any(|b| b.is_ascii_alphabetic());
    let columns = wide_cells(rest);
    let over = columns.is_empty()
        || rest.starts_with("  ")
            && names_configuration(heading)
            && columns.iter().all(|name| cell_value(name).is_none());
    (named && over).then_some((heading, columns))
}

fn list<'t>(lines: &'t [Line<'_>], at: usize) -> Option<List<'t>> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let (heading, columns) = heading(here(at)?)?;
    let mut next = at + 1;
    if here(next)?.trim().is_empty() {
        next += 1;
    }
    let mut rows: Vec<(usize, &str, Vec<Cell>)> = Vec::new();
    while let Some((name, cells)) = here(next).and_then(row) {
        let as_many = rows
            .first()
            .is_none_or(|(.., first)| first.len() == cells.len());
        if rows.iter().any(|(_, known, _)| *known == name) || rows.len() > MOST || !as_many {
            return None;
        }
        rows.push((next, name, cells));
        next += 1;
    }
    (rows.len() >= 2).then_some(List {
        heading,
        columns,
        at,
        rows,
    })
}

/// A name of words, and behind a gap or a colon its figures.
fn row(text: &str) -> Option<(&str, Vec<Cell>)> {
    let mut cells = wide_cells(text);
    let first = cells.first()?;
    // The longest name leaves one blank.
    let (name, glued) = match first.split_once(": ") {
        Some((name, value)) if cell_value(value).is_some() => (name, Some(value)),
        _ => (*first, None),
    };
    let name = name.trim_end_matches([':', '=', ' ']);
    match glued {
        Some(value) => cells[0] = value,
        None => drop(cells.remove(0)),
    }
    let worded = name.starts_with(|c: char| c.is_alphabetic())
        && name.len() <= 80
        && !name.contains([';', '{', '}', '"', '<', '>', '=', '|', '\\']);
    // What `time` prints has a grammar of its own.
    let timed = super::walltime::Walltime.starts(text);
    let cells: Option<Vec<Cell>> = cells.into_iter().map(cell_value).collect();
    cells
        .filter(|cells| !cells.is_empty() && worded && !timed)
        .map(|cells| (name, cells))
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
    fn names_behind_a_heading_are_workloads() {
        let text = "Before:      A53    A72\nload_8:    10.5   20.5\nload_16:   11.5   21.5\n\
                    After:\nload_8:     9.5   18.5\nload_16: 10.25   19.5\n";
        let lines = testing::lines(text);
        let block = Rows.read(&lines).expect("a block");
        let runs: Vec<_> = block
            .findings
            .into_iter()
            .filter_map(|(_, finding)| match finding {
                Finding::Run { labels, figures } => Some((
                    labels.configuration.unwrap_or_default(),
                    labels.workload.unwrap_or_default(),
                    figures.iter().map(|f| f.value).collect::<Vec<_>>(),
                )),
                _ => None,
            })
            .collect();
        let of = |a: &str, b: &str, v: &[f64]| (a.to_owned(), b.to_owned(), v.to_vec());
        assert_eq!(
            runs,
            [
                of("Before", "A53", &[10.5, 11.5]),
                of("Before", "A72", &[20.5, 21.5]),
                of("After", "A53", &[9.5, 10.25]),
                of("After", "A72", &[18.5, 19.5]),
            ]
        );
    }

    #[test]
    fn columns_without_names_and_other_numbers_of_figures_are_left_alone() {
        let unnamed = "Before:\nload_8:  1.5  2.5\nload_9:  2.5  3.5\nAfter:\nload_8:  1.5  2.5\nload_9:  2.5  3.5\n";
        assert!(figures(unnamed).is_empty());
        let fewer = "Before:   A53   A72\nload_8:  1.5  2.5\nload_9:  2.5  3.5\nAfter:\nload_8:  1.5\nload_9:  2.5\n";
        assert!(figures(fewer).is_empty());
        let machines = "Node 0:   A53   A72\nload_8:  1.5  2.5\nload_9:  2.5  3.5\nNode 1:\nload_8:  1.5  2.5\nload_9:  2.5  3.5\n";
        assert!(figures(machines).is_empty());
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
