//! The table that JMH prints:
//!
//! ```text
//! Benchmark                   (size)   Mode  Cnt     Score    Error  Units
//! Copy.arrays                     64   avgt   10   407.383 ±  2.693  ns/op
//! Copy.arrays:·gc.alloc.rate      64   avgt   10   125.0 ±  3.1    MB/sec
//! ```
//!
//! Rows without that header are read too if their scores have a unit of time or of a rate;
//! the names of their parameters are then unknown.
//!
//! A row is one run of a benchmark with its parameters: the error is of iterations within
//! the forks of one invocation, which are no replicates.

use super::begins::Begins;
use super::block::{Block, Figure, Finding, Grammar, Labels};
use super::cells::{label, line_at};
use super::number::english;
use super::units::is_measure;
use crate::line::Line;

/// JMH; see the module.
pub struct Jmh;

/// A longer line is no row.
const LONGEST: usize = 400;

impl Grammar for Jmh {
    fn name(&self) -> &'static str {
        "jmh"
    }

    fn begins(&self) -> Begins {
        Begins::holding(b"/S")
    }

    fn starts(&self, line: &str) -> bool {
        header(line).is_some() || may_be_row(line) && bare_parameters(line).is_some()
    }

    fn reach(&self) -> usize {
        2
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let first = line_at(lines, 0)?;
        let mut block = Block::default();
        let parameters = if let Some(parameters) = header(first) {
            block.taken.push("JMH header");
            parameters
        } else {
            bare_parameters(first)?
        };
        while let Some(text) = line_at(lines, block.taken.len()) {
            let Some(finding) = row(text, &parameters) else {
                break;
            };
            block.find(block.taken.len(), finding);
            block.taken.push("JMH result");
        }
        (!block.findings.is_empty()).then_some(block)
    }
}

/// The names of parameters, which stand in brackets.
fn header(line: &str) -> Option<Vec<&str>> {
    let rest = line.trim_start().strip_prefix("Benchmark")?;
    if line.len() > LONGEST {
        return None;
    }
    let words: Vec<&str> = rest.split_ascii_whitespace().collect();
    let mode = words.iter().position(|word| *word == "Mode")?;
    let names = words[..mode].iter();
    let names = names.map(|word| word.strip_prefix('(')?.strip_suffix(')'));
    let parameters: Option<Vec<&str>> = names.collect();
    let behind = words[mode + 1..].join(" ");
    let known = [
        "Cnt Score Error Units",
        "Cnt Score Units",
        "Samples Score Error Units",
        "Samples Score Score error Units",
        "Samples Mean Mean error Units",
    ];
    parameters.filter(|_| known.contains(&behind.as_str()))
}

/// Whether a line holds the mode of a benchmark.
fn may_be_row(line: &str) -> bool {
    let holds = |mode: &str| memchr::memmem::find(line.as_bytes(), mode.as_bytes()).is_some();
    [" avgt ", " thrpt ", " sample ", " ss "]
        .into_iter()
        .any(holds)
}

/// As many parameters without a name as a row without a header has, if it is one.
fn bare_parameters(line: &str) -> Option<Vec<&'static str>> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let mode = words.iter().position(|word| is_mode(word))?;
    let parameters = vec![""; mode.checked_sub(1)?];
    let (unit, figures) = words[mode + 1..].split_last()?;
    let figure = |word: &&str| *word == "±" || english(word).is_some();
    let measured = is_measure(unit) && figures.iter().all(figure);
    (measured && row(line, &parameters).is_some()).then_some(parameters)
}

fn is_mode(word: &str) -> bool {
    matches!(word, "thrpt" | "avgt" | "sample" | "ss")
}

fn row(text: &str, parameters: &[&str]) -> Option<Finding> {
    if text.len() > LONGEST {
        return None;
    }
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let mode = words.iter().position(|word| is_mode(word))?;
    if mode != parameters.len() + 1 {
        return None;
    }
    let (name, unit) = (words[0], *words.last()?);
    let behind = words.get(mode + 1..words.len() - 1)?;
    let score = match behind.iter().position(|word| *word == "±") {
        Some(at) if at >= 1 && behind.len() == at + 2 => behind[at - 1],
        Some(_) => return None,
        // Without an error, and in old versions without its mark.
        None => match behind {
            [score] | [_, score] | [_, score, _] => score,
            _ => return None,
        },
    };
    let settings: Vec<String> = parameters
        .iter()
        .zip(&words[1..mode])
        .map(|(name, value)| match *name {
            "" => (*value).to_owned(),
            name => format!("{name}={value}"),
        })
        .collect();
    let (name, measured) = name.split_once(':').unwrap_or((name, ""));
    let metric = match (measured.trim_start_matches('·'), words[mode]) {
        ("", "thrpt") => "throughput".to_owned(),
        ("", _) => "time".to_owned(),
        (own, _) => label(own),
    };
    let workload = match settings.is_empty() {
        true => label(name),
        false => label(&format!("{name} ({})", settings.join(", "))),
    };
    let labels = Labels {
        workload: Some(workload),
        ..Labels::default()
    };
    let figures = vec![Figure::new(metric, english(score)?, unit)];
    Some(Finding::Run { labels, figures })
}
