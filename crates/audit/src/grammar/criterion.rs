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
//! A name of 24 characters or more is on a line of its own. The brackets hold an estimate between
//! the bounds of its confidence interval. It comes from samples within one process, which are not
//! replicates, so a benchmark is one run whose figure is the estimate. The change is relative to
//! results that criterion had stored and that the text does not show, so it becomes a statement.

use super::prelude::*;

/// criterion.rs; see the module.
pub const CRITERION: Grammar = Grammar {
    reach: 1,
    ..Grammar::new("criterion", |line| line.len() <= LONGEST, read)
};

/// Longest line of a benchmark.
const LONGEST: usize = 300;

fn read(lines: &[Line<'_>]) -> Option<Block> {
    let first = line_at(lines, 0)?;
    let (name, mut at) = match estimate(first, "time") {
        Some((name, _)) => (name, 0),
        None => {
            let (above, _) = estimate(line_at(lines, 1)?, "time")?;
            (above.trim().is_empty().then_some(first)?, 1)
        }
    };
    let name = bare_name(name.trim());
    if name.is_empty() || name.starts_with(|c: char| !c.is_alphanumeric() && c != '<') {
        return None;
    }
    let labels = Labels::workload(label(name));
    let mut block = Block::new("criterion name", at);
    let (mut figures, mut estimates_at) = (Vec::new(), None);
    let mut changed = false;
    while let Some(text) = line_at(lines, at).filter(|text| text.len() <= LONGEST) {
        let Some(said) = said(text, at == 0, changed) else {
            break;
        };
        block.taken.push(said.taken());
        match said {
            Said::Estimate(figure) if push_new(&mut figures, figure.clone()) => {
                estimates_at.get_or_insert(at);
            }
            Said::Estimate(_) => {
                block.taken.pop();
                break;
            }
            Said::Change(figure) => {
                let change = Finding::Statement {
                    labels: labels.clone(),
                    figure,
                    normalised_to: Some("what criterion had stored".to_owned()),
                };
                block.find(at, change);
            }
            Said::NoNumber(cell, metric) => block.find(at, bad_number(cell, metric)),
            Said::Changes => changed = true,
            Said::Remark => {}
        }
        at += 1;
    }
    if let Some(at) = estimates_at {
        block.run(at, labels, figures);
    }
    (!block.findings.is_empty()).then_some(block)
}

/// A name without what criterion prints around it on a terminal, where the estimate
/// overwrites it: `Benchmarking NAME: Collecting 100 samples in estimated 5.0083 s (2.2M i`.
fn bare_name(name: &str) -> &str {
    let progress = ["Warming up", "Collecting", "Analyzing"];
    let written = name.strip_prefix("Benchmarking ");
    match written.and_then(|rest| rest.rsplit_once(": ")) {
        Some((own, doing)) if progress.iter().any(|word| doing.starts_with(word)) => own,
        _ => name,
    }
}

/// The contents of a line.
enum Said<'t> {
    Estimate(Figure),
    Change(Figure),
    /// The heading above changes.
    Changes,
    /// A cell that is not a number, and its metric.
    NoNumber(&'t str, &'static str),
    Remark,
}

impl Said<'_> {
    fn taken(&self) -> Taken {
        match self {
            Said::Estimate(_) | Said::NoNumber(..) => "criterion estimate",
            Said::Change(_) | Said::Changes => "criterion change",
            Said::Remark => "criterion remark",
        }
    }
}

/// Reads a line. The `first` one may hold the name; after `change:` all are changes.
fn said(text: &str, first: bool, changed: bool) -> Option<Said<'_>> {
    let metrics = [
        ("time", "time"),
        ("thrpt", "throughput"),
        ("change", "time"),
    ];
    let found = metrics.into_iter().find_map(|(key, metric)| {
        let (before, inside) = estimate(text, key)?;
        (first || before.trim().is_empty()).then_some((key == "change" || changed, metric, inside))
    });
    match found {
        Some((change, metric, inside)) => Some(match measured(inside) {
            Some((value, "%")) if change => Said::Change(Figure::new(metric, value, "%")),
            Some((value, unit)) if !change && unit != "%" => {
                Said::Estimate(Figure::new(metric, value, unit))
            }
            _ => Said::NoNumber(inside, metric),
        }),
        None if text.trim() == "change:" => Some(Said::Changes),
        None => (!first && is_remark(text)).then_some(Said::Remark),
    }
}

/// Returns the texts before `key:` and between the brackets after it.
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

/// Whether a line is one of criterion's remarks.
fn is_remark(text: &str) -> bool {
    #[rustfmt::skip]
    const BEGINNINGS: [&str; 8] = [
        "Performance has ", "Change within noise threshold", "No change in performance detected",
        "Found ", "Benchmarking ", "Gnuplot not found", "Warning: Unable to complete", "mean ",
    ];
    let bare = text.trim_start();
    let severity = ["low mild", "low severe", "high mild", "high severe"];
    BEGINNINGS.iter().any(|begin| bare.starts_with(begin))
        || severity.iter().any(|end| bare.ends_with(end))
}
