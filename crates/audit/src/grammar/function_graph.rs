//! Durations of ftrace's function graph:
//!
//! ```text
//!  7)               |  open_ctree [btrfs]() {
//!  7)               |    btrfs_read_block_groups [btrfs]() {
//!  7) @ 805851.8 us |    }
//!  7)   0.521 us    |    mutex_unlock();
//!  7) @ 911890.2 us |  }
//! ```
//!
//! One stretch of lines is one run, and the time of each function is a metric. Of a
//! function that comes several times it is the mean; the mean of two to nine calls is
//! compared with that of as many only.

use std::collections::BTreeMap;

use super::begins::Begins;
use super::cells::{label, line_at};
use super::number::english;
use super::{Block, Figure, Finding, Grammar, Labels, Taken};
use crate::Line;

/// Durations of functions; see the module.
pub struct FunctionGraph;

/// A longer line is none.
const LONGEST: usize = 200;
/// From so many calls on, their mean may be compared with that of another number of calls.
const MANY: usize = 10;
/// A block has no more lines.
const MOST: usize = 1000;

impl Grammar for FunctionGraph {
    fn name(&self) -> &'static str {
        "function graph"
    }

    fn begins(&self) -> Begins {
        Begins::with(b"0123456789").and_holding(b"|")
    }

    fn starts(&self, line: &str) -> bool {
        line.len() <= LONGEST && entry(line).is_some()
    }

    fn reach(&self) -> usize {
        0
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let depth = lines.first()?.depth;
        let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
        let entries: Vec<Entry<'_>> = (0..MOST).map_while(|at| entry(here(at)?)).collect();
        let figures = figures(&entries);
        if figures.is_empty() {
            return None;
        }
        let mut block = Block {
            findings: Vec::new(),
            taken: vec!["time of a function" as Taken; entries.len()],
        };
        let labels = Labels::default();
        block.find(0, Finding::Run { labels, figures });
        Some(block)
    }
}

/// A line of the graph.
#[derive(Debug, PartialEq)]
struct Entry<'t> {
    cpu: u32,
    microseconds: Option<f64>,
    /// `open_ctree() {`, `}` or `mutex_unlock();`
    code: &'t str,
}

/// ` 7) @ 805851.8 us |    }`
fn entry(text: &str) -> Option<Entry<'_>> {
    let (cpu, rest) = text.trim_start().split_once(')')?;
    let cpu = (cpu.len() <= 4).then(|| cpu.parse().ok())??;
    let (time, code) = rest.split_once('|')?;
    // What draws attention to a long time.
    let time = time
        .trim()
        .trim_start_matches(['+', '!', '#', '*', '@', '$']);
    let microseconds = match time.trim() {
        "" => None,
        time => Some(english(time.strip_suffix("us")?.trim_end())?),
    };
    let code = code.trim();
    let known = code.starts_with('}') || code.ends_with("() {") || code.ends_with("();");
    known.then_some(Entry {
        cpu,
        microseconds,
        code,
    })
}

/// The time of each function that began and ended here.
fn figures(entries: &[Entry<'_>]) -> Vec<Figure> {
    let mut open: Vec<(u32, &str)> = Vec::new();
    let mut all: Vec<(&str, f64)> = Vec::new();
    for entry in entries {
        let name = match entry.code.strip_suffix("() {") {
            Some(name) => {
                open.push((entry.cpu, name));
                continue;
            }
            None if entry.code.starts_with('}') => {
                let at = open.iter().rposition(|(cpu, _)| *cpu == entry.cpu);
                at.map(|at| open.remove(at).1)
            }
            None => entry.code.strip_suffix("();"),
        };
        if let Some((name, time)) = name.zip(entry.microseconds) {
            all.push((name, time));
        }
    }
    let mut calls: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, _) in &all {
        *calls.entry(name).or_default() += 1;
    }
    let figure = |(name, time): &(&str, f64)| {
        let metric = match calls[name] {
            1 => label(name),
            MANY.. => format!("{}, mean of calls", label(name)),
            few => format!("{}, mean of {few} calls", label(name)),
        };
        Figure::new(metric, *time, "us")
    };
    let figures: Vec<Figure> = all.iter().map(figure).collect();
    crate::scan::mean_figures(figures.iter())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::testing;

    const POST: &str = " 7)               |  open_tree [fs]() {\n 7)               |    read_groups [fs]() {\n \
                        7) @ 805851.5 us |    }\n 7)   0.5 us      |    unlock();\n 7)   1.5 us      |    unlock();\n \
                        7) @ 911890.5 us |  } /* open_tree */\n";

    #[test]
    fn each_function_has_the_time_at_its_end() {
        assert_eq!(
            testing::figures(&FunctionGraph, POST),
            [
                ("read_groups [fs]".to_owned(), 805_851.5),
                ("unlock, mean of 2 calls".to_owned(), 1.0),
                ("open_tree [fs]".to_owned(), 911_890.5),
            ]
        );
        assert_eq!(testing::read(&FunctionGraph, POST).unwrap().taken.len(), 6);
    }

    #[test]
    fn ends_of_functions_that_began_elsewhere_and_other_lists_are_none() {
        for text in [
            " 7) @ 805851.5 us |    }\n",
            " 7)               |  open_tree [fs]() {\n",
            " 1) 12.5 us | the first of them\n 2) 13.5 us | the second\n",
            " 7)               |  open_tree() {\n 6) @ 911890.5 us |  }\n",
        ] {
            assert_eq!(testing::figures(&FunctionGraph, text), [], "{text}");
        }
    }
}
