//! netperf's `omni` tests, which print the columns that were asked for (`-O`):
//!
//! ```text
//! Minimum      90th         Transaction
//! Latency      Percentile   Rate
//! Microseconds Latency      Tran/s
//!              Microseconds
//! 134          279          3961.584
//! ```
//!
//! The words of a column stand above each other from where its figure begins. One
//! invocation is a run.

use super::begins::Begins;
use super::cells::{label, line_at, push_new};
use super::number::english;
use super::{Block, Figure, Finding, Grammar, Labels};
use crate::Line;

/// Columns of netperf's omni tests; see the module.
pub struct NetperfOmni;

/// The first words of columns that are asked for.
const FIRST: [&str; 14] = [
    "Minimum",
    "Maximum",
    "Mean",
    "Stddev",
    "50th",
    "90th",
    "95th",
    "99th",
    "99.9th",
    "Throughput",
    "Transaction",
    "Elapsed",
    "Local",
    "Remote",
];
/// The names of columns have no more words.
const WORDS: usize = 8;
/// Units as netperf writes them.
const UNITS: [(&str, &str); 8] = [
    ("Microseconds", "us"),
    ("usec/Tran", "us"),
    ("Tran/s", "1/s"),
    ("Trans/s", "1/s"),
    ("10^6bits/s", "Mbit/s"),
    ("10^3bits/s", "kbit/s"),
    ("(sec)", "s"),
    ("%", "%"),
];

impl Grammar for NetperfOmni {
    fn name(&self) -> &'static str {
        "netperf"
    }

    fn begins(&self) -> Begins {
        Begins::with(b"MS59TELR")
    }

    fn starts(&self, line: &str) -> bool {
        let words = line.split_ascii_whitespace();
        line.len() <= 300
            && words
                .clone()
                .next()
                .is_some_and(|word| FIRST.contains(&word))
            && words.clone().count() >= 2
            && words.clone().skip(1).any(|word| FIRST.contains(&word))
            && words.clone().all(|word| english(word).is_none())
    }

    fn reach(&self) -> usize {
        WORDS
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let text = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == lines[0].depth);
        let is_figures = |line: &str| {
            let mut words = line.split_ascii_whitespace().peekable();
            words.peek().is_some() && words.all(|word| english(word).is_some())
        };
        let at = (1..=WORDS).find(|at| text(*at).is_some_and(is_figures))?;
        let places = words(text(at)?);
        let mut names: Vec<Vec<&str>> = vec![Vec::new(); places.len()];
        for above in 0..at {
            let header = text(above)?;
            for (place, word) in words(header) {
                let column = places.iter().position(|(own, _)| *own == place)?;
                names[column].push(word);
            }
        }
        let mut figures = Vec::new();
        for ((_, figure), mut name) in places.into_iter().zip(names) {
            let known = |word: &&&str| UNITS.iter().find(|(written, _)| *written == **word);
            let unit = name
                .last()
                .as_ref()
                .and_then(known)
                .map_or("", |(_, unit)| unit);
            if !unit.is_empty() {
                name.pop();
            }
            if name.is_empty() {
                return None;
            }
            let metric = label(&name.join(" ").to_lowercase());
            push_new(&mut figures, Figure::new(metric, english(figure)?, unit));
        }
        let mut block = Block {
            findings: Vec::new(),
            taken: vec!["netperf"; at + 1],
        };
        let labels = Labels::default();
        block.find(at, Finding::Run { labels, figures });
        Some(block)
    }
}

/// The words of a line and where they begin.
fn words(line: &str) -> Vec<(usize, &str)> {
    let words = line.split_ascii_whitespace();
    let place = |word: &str| word.as_ptr().addr() - line.as_ptr().addr();
    words.map(|word| (place(word), word)).collect()
}
