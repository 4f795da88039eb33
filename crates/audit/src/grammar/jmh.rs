//! The table that JMH prints:
//!
//! ```text
//! Benchmark                   (size)   Mode  Cnt     Score    Error  Units
//! Copy.arrays                     64   avgt   10   407.383 ±  2.693  ns/op
//! Copy.arrays:·gc.alloc.rate      64   avgt   10   125.0 ±  3.1    MB/sec
//! ```
//!
//! Rows without the header are read if they are whole: mode, count, score, `±`, error and a unit
//! of JMH's.
//!
//! A row is one run of a benchmark with its parameters: the error is of iterations within
//! the forks of one invocation, which are no replicates.

use super::prelude::*;

/// JMH; see the module.
pub const JMH: Grammar = Grammar {
    // The header has the first byte, a row without it the others.
    holds: "B±".as_bytes(),
    reach: 2,
    ..Grammar::new(
        "jmh",
        |line| header(line).is_some() || is_whole_row(line),
        read,
    )
};

/// Longest row.
const LONGEST: usize = 400;

fn read(lines: &[Line<'_>]) -> Option<Block> {
    let first = line_at(lines, 0)?;
    let (parameters, mut block) = match header(first) {
        Some(parameters) => (parameters, Block::new("JMH header", 1)),
        None => (Vec::new(), Block::default()),
    };
    let headed = !block.taken.is_empty();
    block.extend(lines, |block, at, text| {
        let finding = row(text, &parameters).filter(|_| headed || is_whole_row(text))?;
        block.find(at, finding);
        Some("JMH result")
    });
    (!block.findings.is_empty()).then_some(block)
}

/// Returns the names of parameters, which are in parentheses.
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
    ];
    parameters.filter(|_| known.contains(&behind.as_str()))
}

/// Whether a line without parameters has all that JMH prints: `A.b thrpt 20 57.2 ± 0.9 ops/s`.
fn is_whole_row(line: &str) -> bool {
    if line.len() > LONGEST || !line.contains('±') {
        return false;
    }
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let [name, mode, count, score, "±", error, unit] = words[..] else {
        return false;
    };
    let number = |word: &str| english(word).is_some();
    let (numerator, denominator) = unit.split_once('/').unwrap_or_default();
    let per_op = denominator == "op" || numerator == "ops";
    name.contains('.') && is_mode(mode) && per_op && [count, score, error].into_iter().all(number)
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
    let settings = parameters.iter().zip(&words[1..mode]);
    let settings = settings.map(|(name, value)| format!("{name}={value}"));
    let settings: Vec<String> = settings.collect();
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
    let labels = Labels::workload(workload);
    let figures = vec![Figure::new(metric, english(score)?, unit)];
    Some(Finding::Run { labels, figures })
}
