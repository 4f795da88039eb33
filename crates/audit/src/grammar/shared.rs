//! One header above rows that stand below headings:
//!
//! ```text
//! Before:
//!    calls    maxcycles      bpf   finup algorithm   module
//! ======== ============ ======== ======= =========== ==============
//!   168390      1233188    19456   19456 sha512-avx2 sha512_ssse3
//!
//! After:
//!   182694      1007224    19456   19456 sha512-avx2 sha512_ssse3
//! ```
//!
//! The heading of each part is its configuration. Columns of words say what was
//! measured.

use super::begins::Begins;
use super::cells::{label, line_at};
use super::number::english;
use super::table::is_rule;
use super::{Block, Figure, Finding, Grammar, Labels, Taken};
use crate::Line;

/// Rows below a shared header; see the module.
pub struct Shared;

/// A block has no more lines.
const MOST: usize = 400;
/// No header has more columns.
const COLUMNS: usize = 24;

impl Grammar for Shared {
    fn name(&self) -> &'static str {
        "shared header"
    }

    fn is_report(&self) -> bool {
        false
    }

    fn begins(&self) -> Begins {
        Begins::holding(b":")
    }

    fn starts(&self, line: &str) -> bool {
        line.len() <= 80 && line.trim_end().ends_with(':')
    }

    fn reach(&self) -> usize {
        6
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let depth = lines.first()?.depth;
        let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
        let blank = |at: &usize| here(*at).is_some_and(|text| text.trim().is_empty());
        let behind = |at: usize| {
            (at..at + 3)
                .take_while(blank)
                .last()
                .map_or(at, |at| at + 1)
        };
        let heading = |at: usize| {
            here(at)?
                .trim()
                .strip_suffix(':')
                .filter(|name| is_name(name))
        };
        let mut parts = vec![(0, heading(0)?)];
        let head = behind(1);
        let columns: Vec<&str> = here(head)?.split_whitespace().collect();
        let rule = here(head + 1)?;
        let segments = rule.split_whitespace().count();
        let fits =
            (2..=COLUMNS).contains(&columns.len()) && is_rule(rule) && segments == columns.len();
        if !fits {
            return None;
        }
        let mut taken: Vec<Taken> = vec!["blank"; head + 2];
        (taken[0], taken[head], taken[head + 1]) =
            ("heading of rows", "table header", "table rule");
        let mut rows: Vec<(usize, &str, Vec<&str>)> = Vec::new();
        let mut at = head + 2;
        while at < MOST {
            while let Some(row) = here(at).and_then(|text| row(text, columns.len())) {
                rows.push((at, parts.last()?.1, row));
                taken.push("table row");
                at += 1;
            }
            let next = behind(at);
            let Some(name) =
                heading(next).filter(|_| rows.last().is_some_and(|(row, ..)| row + 1 == at))
            else {
                break;
            };
            if parts.iter().any(|(_, known)| *known == name)
                || here(next + 1)
                    .and_then(|text| row(text, columns.len()))
                    .is_none()
            {
                break;
            }
            taken.resize(next, "blank");
            taken.push("heading of rows");
            parts.push((next, name));
            at = next + 1;
        }
        if parts.len() < 2 {
            return None;
        }
        findings(&columns, &rows, taken)
    }
}

fn is_name(name: &str) -> bool {
    let words = name.split_whitespace().count();
    (1..=8).contains(&words) && name.bytes().any(|b| b.is_ascii_alphabetic())
}

/// A line of as many words as there are columns, the first a number.
fn row(text: &str, columns: usize) -> Option<Vec<&str>> {
    let words: Vec<&str> = text.split_whitespace().collect();
    (words.len() == columns && words.iter().any(|word| english(word).is_some())).then_some(words)
}

/// Columns whose cells are all numbers are metrics, the others say of what.
fn findings(
    columns: &[&str],
    rows: &[(usize, &str, Vec<&str>)],
    taken: Vec<Taken>,
) -> Option<Block> {
    let number = |at: usize| {
        rows.iter()
            .all(|(_, _, row)| row.get(at).is_some_and(|cell| english(cell).is_some()))
    };
    let metrics: Vec<usize> = (0..columns.len()).filter(|&at| number(at)).collect();
    let mut block = Block {
        findings: Vec::new(),
        taken,
    };
    for (at, name, row) in rows {
        let words: Vec<&str> = (0..columns.len())
            .filter(|at| !metrics.contains(at))
            .filter_map(|at| row.get(at).copied())
            .collect();
        let labels = Labels {
            configuration: Some(label(name)),
            workload: Some(label(&words.join(" "))).filter(|name| !name.is_empty()),
            repetition: None,
        };
        let figure = |&at: &usize| Some(Figure::new(*columns.get(at)?, english(row.get(at)?)?, ""));
        let figures: Vec<Figure> = metrics.iter().filter_map(figure).collect();
        block.find(*at, Finding::Run { labels, figures });
    }
    (!metrics.is_empty()).then_some(block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::testing;

    fn runs(text: &str) -> Vec<(String, String, Vec<f64>)> {
        let run = |(labels, figures): (Labels, Vec<Figure>)| {
            let name = labels.configuration.unwrap_or_default();
            let values = figures.iter().map(|f| f.value).collect();
            (name, labels.workload.unwrap_or_default(), values)
        };
        testing::runs(&Shared, text).into_iter().map(run).collect()
    }

    const HEAD: &str = "Before:\n  calls  cycles algorithm\n====== ======= =========\n";

    #[test]
    fn rows_below_each_heading_share_the_header() {
        let all = runs(&format!(
            "{HEAD}  168   1233 sha\n\nAfter:\n  182   1007 sha\n\nWords.\n"
        ));
        assert_eq!(
            all,
            [
                ("Before".into(), "sha".into(), vec![168.0, 1233.0]),
                ("After".into(), "sha".into(), vec![182.0, 1007.0]),
            ]
        );
    }

    #[test]
    fn without_a_second_part_it_is_a_table_like_others() {
        assert!(runs(&format!("{HEAD}  168   1233 sha\n\nmore words\n")).is_empty());
        assert!(runs(&format!("{HEAD}  168   1233 sha\n\nAfter:\n no rows\n")).is_empty());
        assert!(runs("Before:\n  calls  cycles\n======\n 1 2\n\nAfter:\n 1 3\n").is_empty());
    }
}
