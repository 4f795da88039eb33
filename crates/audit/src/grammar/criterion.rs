//! What criterion.rs prints for a benchmark:
//!
//! ```text
//! take i32 512            time:   [782.83 ns 835.58 ns 901.10 ns]
//!                         thrpt:  [568.2 Melem/s 612.7 Melem/s 654.0 Melem/s]
//!                         change: [-38.602% -34.097% -29.230%] (p = 0.00 < 0.05)
//!                         Performance has improved.
//! Found 14 outliers among 100 measurements (14.00%)
//!   2 (2.00%) high mild
//! ```
//!
//! A name of 24 characters or more stands on a line of its own. The brackets hold an
//! estimate between the bounds of its confidence interval, from samples that one
//! process took: they are no replicates, so a benchmark is one run with the estimate.
//! The change is against what criterion had stored, which the text does not show: a
//! statement.

use super::begins::Begins;
use super::cells::{bad_number, label, line_at, push_new};
use super::number::english;
use super::{Block, Figure, Finding, Grammar, Labels};
use crate::Line;

/// criterion.rs; see the module.
pub struct Criterion;

/// A longer line is none of a benchmark.
const LONGEST: usize = 300;

impl Grammar for Criterion {
    fn name(&self) -> &'static str {
        "criterion"
    }

    fn begins(&self) -> Begins {
        Begins::ANY
    }

    fn starts(&self, line: &str) -> bool {
        line.len() <= LONGEST
    }

    fn reach(&self) -> usize {
        1
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let first = line_at(lines, 0)?;
        let (name, mut at) = match estimate(first, "time") {
            Some((name, _)) => (name, 0),
            None => {
                let (above, _) = estimate(line_at(lines, 1)?, "time")?;
                (above.trim().is_empty().then_some(first)?, 1)
            }
        };
        let name = name.trim();
        if name.is_empty() || name.starts_with(|c: char| !c.is_alphanumeric() && c != '<') {
            return None;
        }
        let mut block = Block {
            taken: vec!["criterion name"; at],
            ..Block::default()
        };
        let labels = Labels {
            workload: Some(label(name)),
            ..Labels::default()
        };
        let (mut figures, mut changes, mut changed) = (Vec::new(), Vec::new(), false);
        while let Some(text) = line_at(lines, at).filter(|text| text.len() <= LONGEST) {
            let metrics = [
                ("time", "time"),
                ("thrpt", "throughput"),
                ("change", "time"),
            ];
            let found = metrics.into_iter().find_map(|(key, metric)| {
                let (before, value) = estimate(text, key)?;
                // The first line may hold the name, and no other one does.
                (before.trim().is_empty() || at == 0).then_some((key, metric, value))
            });
            match found {
                Some((key, metric, value)) => match measured(value) {
                    Some((value, "%")) if key == "change" || changed => {
                        changes.push((at, Figure::new(metric, value, "%")));
                        block.taken.push("criterion change");
                    }
                    Some((value, unit)) if !changed && key != "change" && unit != "%" => {
                        if !push_new(&mut figures, Figure::new(metric, value, unit)) {
                            break;
                        }
                        block.taken.push("criterion estimate");
                    }
                    _ => {
                        block.find(block.taken.len(), bad_number(value, metric));
                        block.taken.push("criterion estimate");
                    }
                },
                None if text.trim() == "change:" => {
                    changed = true;
                    block.taken.push("criterion change");
                }
                None if at > 0 && is_remark(text) => block.taken.push("criterion remark"),
                None => break,
            }
            at += 1;
        }
        for (at, figure) in changes {
            let statement = Finding::Statement {
                labels: labels.clone(),
                figure,
                normalised_to: Some("what criterion had stored".to_owned()),
            };
            block.find(at, statement);
        }
        if !figures.is_empty() {
            let at = block
                .taken
                .iter()
                .position(|t| *t == "criterion estimate")?;
            block.find(at, Finding::Run { labels, figures });
        }
        (!block.findings.is_empty()).then_some(block)
    }
}

/// What stands before `key:` and between the brackets behind it.
fn estimate<'t>(text: &'t str, key: &str) -> Option<(&'t str, &'t str)> {
    let (before, rest) = text.split_once('[')?;
    let before = before.trim_end().strip_suffix(':')?.strip_suffix(key)?;
    let ends = before.is_empty() || before.ends_with([' ', '\t']);
    let (inside, _) = rest.split_once(']')?;
    ends.then_some((before, inside))
}

/// The middle one of three numbers, and its unit.
fn measured(inside: &str) -> Option<(f64, &str)> {
    let words: Vec<&str> = inside.split_ascii_whitespace().collect();
    match words[..] {
        [_, value, _] => Some((english(value.strip_suffix('%')?)?, "%")),
        [_, a, value, unit, _, c] if a.len() <= 16 && c.len() <= 16 => {
            Some((english(value)?, unit))
        }
        _ => None,
    }
}

/// What criterion says besides, of one benchmark or between two.
fn is_remark(text: &str) -> bool {
    const BEGINNINGS: [&str; 8] = [
        "Performance has ",
        "Change within noise threshold",
        "No change in performance detected",
        "Found ",
        "Benchmarking ",
        "Gnuplot not found",
        "Warning: Unable to complete",
        "mean ",
    ];
    let bare = text.trim_start();
    let severity = ["low mild", "low severe", "high mild", "high severe"];
    BEGINNINGS.iter().any(|begin| bare.starts_with(begin))
        || severity.iter().any(|end| bare.ends_with(end))
}
