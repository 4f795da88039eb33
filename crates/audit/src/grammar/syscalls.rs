//! `perf trace -s`: how often system calls were made and how long they took.
//!
//! ```text
//!  syscall            calls  errors  total       min       avg       max       stddev
//!                                    (msec)    (msec)    (msec)    (msec)        (%)
//!  --------------- --------  ------ -------- --------- --------- ---------     ------
//!  sendto            699574      0  2595.220     0.001     0.004     0.462      0.03%
//! ```
//!
//! One summary is a run. Its `stddev` is over the calls of that run and says
//! nothing of how runs vary.

use super::begins::Begins;
use super::cells::line_at;
use super::number::english;
use super::{Block, Figure, Finding, Grammar, Labels, Taken};
use crate::Line;

/// `perf trace -s`; see the module.
pub struct Syscalls;

/// No summary has more system calls.
const MOST: usize = 400;

impl Grammar for Syscalls {
    fn name(&self) -> &'static str {
        "perf trace -s"
    }

    fn begins(&self) -> Begins {
        Begins::with(b"s")
    }

    fn starts(&self, line: &str) -> bool {
        line.trim_start().starts_with("syscall ") && columns(line).is_some()
    }

    fn reach(&self) -> usize {
        6
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let depth = lines.first()?.depth;
        let columns = columns(line_at(lines, 0)?)?;
        let mut figures: Vec<Figure> = Vec::new();
        let mut taken: Vec<Taken> = vec!["perf trace -s, header"];
        for at in 1..MOST {
            let Some(text) = line_at(lines, at).filter(|_| lines[at].depth == depth) else {
                break;
            };
            if figures.is_empty() && is_head(text) {
                taken.push("perf trace -s, header");
                continue;
            }
            let Some(row) = row(text, &columns) else {
                break;
            };
            figures.extend(row);
            taken.push("perf trace -s");
        }
        if figures.is_empty() {
            return None;
        }
        let mut block = Block {
            findings: Vec::new(),
            taken,
        };
        let labels = Labels::default();
        block.find(0, Finding::Run { labels, figures });
        Some(block)
    }
}

/// The names behind `syscall`, of a summary of the old form or the new.
fn columns(head: &str) -> Option<Vec<&str>> {
    let mut words = head.split_whitespace();
    let first = words.next();
    let columns: Vec<&str> = words.collect();
    let known = |name: &&str| {
        matches!(
            *name,
            "calls" | "errors" | "total" | "min" | "avg" | "max" | "stddev"
        )
    };
    let fits = first == Some("syscall")
        && columns.first() == Some(&"calls")
        && columns.contains(&"avg")
        && columns.iter().all(known);
    fits.then_some(columns)
}

/// Units and rules below the names.
fn is_head(text: &str) -> bool {
    let text = text.trim();
    text.is_empty()
        || text.bytes().all(|b| matches!(b, b'-' | b' '))
        || text
            .split_whitespace()
            .all(|word| matches!(word, "(msec)" | "(%)"))
}

/// The figures of one system call: of its deviation none.
fn row(text: &str, columns: &[&str]) -> Option<Vec<Figure>> {
    let mut words = text.split_whitespace();
    let name = words.next()?;
    let values: Vec<&str> = words.collect();
    let plain = name
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':' | b'(' | b')'));
    if values.len() != columns.len() || !plain {
        return None;
    }
    let mut figures = Vec::new();
    for (column, value) in columns.iter().zip(values) {
        let number = english(value.trim_end_matches('%')).filter(|v| *v >= 0.0)?;
        let unit = if matches!(*column, "calls" | "errors") {
            ""
        } else {
            "msec"
        };
        if *column != "stddev" {
            figures.push(Figure::new(format!("{name} {column}"), number, unit));
        }
    }
    Some(figures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::testing;

    fn figures(text: &str) -> Vec<(String, f64, String)> {
        let runs = testing::runs(&Syscalls, text);
        let figures = runs.into_iter().flat_map(|(_, figures)| figures);
        figures.map(|f| (f.metric, f.value, f.unit)).collect()
    }

    const HEAD: &str = "   syscall  calls  errors  total  min  avg  max  stddev\n\
                        \u{20}                       (msec) (msec) (msec) (msec) (%)\n\
                        \u{20}  ------- ------ ------ ------ ------ ---- ---- ------\n";

    #[test]
    fn each_system_call_has_its_figures_and_no_spread() {
        let text = format!(
            "{HEAD}   sendto 699 0 25.22 0.001 0.004 0.462 0.03%\n   recvfrom 139 4 21.4 0.001 0.002 0.4 0.1%\n\nmore\n"
        );
        let all = figures(&text);
        assert_eq!(all.len(), 12);
        assert_eq!(all[2], ("sendto total".into(), 25.22, "msec".into()));
        assert!(all.iter().all(|(metric, ..)| !metric.contains("stddev")));
    }

    #[test]
    fn a_header_alone_or_other_columns_are_nothing() {
        assert!(figures(HEAD).is_empty());
        assert!(figures("syscall calls count\nsendto 1 2\n").is_empty());
        assert!(
            figures(&format!(
                "{HEAD}   sendto 699 0 x 0.001 0.004 0.462 0.03%\n"
            ))
            .is_empty()
        );
    }
}
