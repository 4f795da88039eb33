//! mutilate, which loads memcached.
//!
//! ```text
//! #type       avg     std     min     5th    10th    90th    95th    99th
//! read     1275.8  6358.9    49.8   378.2   418.5   767.2   841.4 53998.5
//! update      0.0     0.0     0.0     0.0     0.0     0.0     0.0     0.0
//! op_q        1.0     0.0     1.0     1.0     1.0     1.1     1.1     1.1
//!
//! Total QPS = 626566.2 (37594133 / 60.0s)
//! ```
//!
//! One invocation is a run. Latencies are in microseconds; `std` is over the
//! requests of that run and says nothing of how runs vary.

use super::begins::Begins;
use super::cells::line_at;
use super::number::english;
use super::{Block, Figure, Finding, Grammar, Labels, Taken};
use crate::Line;

/// mutilate; see the module.
pub struct Mutilate;

/// No report is longer.
const MOST: usize = 24;
/// Statistics that are kept.
const KEPT: [&str; 4] = ["avg", "90th", "95th", "99th"];
/// Lines that say nothing that is kept.
const OTHERS: [&str; 4] = ["Misses = ", "Skipped TXs = ", "RX ", "TX "];

impl Grammar for Mutilate {
    fn name(&self) -> &'static str {
        "mutilate"
    }

    fn begins(&self) -> Begins {
        Begins::with(b"#")
    }

    fn starts(&self, line: &str) -> bool {
        line.trim_start().starts_with("#type ")
    }

    fn reach(&self) -> usize {
        1
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let depth = lines.first()?.depth;
        let columns = columns(line_at(lines, 0)?)?;
        let mut figures: Vec<Figure> = Vec::new();
        let mut taken: Vec<Taken> = vec!["mutilate, header"];
        let mut end = 1;
        for at in 1..MOST {
            let Some(text) = line_at(lines, at).filter(|_| lines[at].depth == depth) else {
                break;
            };
            let text = text.trim();
            if let Some(row) = row(text, &columns) {
                figures.extend(row);
            } else if let Some(rate) = rate(text) {
                figures.push(rate);
            } else if !text.is_empty() && !OTHERS.iter().any(|start| text.starts_with(start)) {
                break;
            }
            taken.push(if text.is_empty() { "blank" } else { "mutilate" });
            if !text.is_empty() {
                end = at + 1;
            }
        }
        taken.truncate(end);
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

fn columns(head: &str) -> Option<Vec<&str>> {
    let mut words = head.split_whitespace();
    let first = words.next();
    let columns: Vec<&str> = words.collect();
    (first == Some("#type") && columns.first() == Some(&"avg") && columns.contains(&"99th"))
        .then_some(columns)
}

/// The latencies of one kind of requests; none of a kind of which there were none,
/// nor of the depth of queues.
fn row(text: &str, columns: &[&str]) -> Option<Vec<Figure>> {
    let mut words = text.split_whitespace();
    let name = words.next()?;
    let values: Option<Vec<f64>> = words.map(english).collect();
    let values = values.filter(|values| values.len() == columns.len())?;
    if !matches!(name, "read" | "update" | "op_q") {
        return None;
    }
    let measured = name != "op_q" && values.iter().any(|value| *value > 0.0);
    let kept = columns.iter().zip(values);
    let kept = kept.filter(|(column, _)| measured && KEPT.contains(column));
    let figure =
        |(column, value): (&&str, f64)| Figure::new(format!("{name} {column}"), value, "us");
    Some(kept.map(figure).collect())
}

/// `Total QPS = 626566.2 (37594133 / 60.0s)`
fn rate(text: &str) -> Option<Figure> {
    let rest = text.strip_prefix("Total QPS = ")?;
    let value = english(rest.split_whitespace().next()?)?;
    (value >= 0.0).then(|| Figure::new("total QPS", value, "1/s"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::testing;

    fn figures(text: &str) -> Vec<(String, f64)> {
        testing::figures(&Mutilate, text)
    }

    #[test]
    fn a_report_gives_latencies_and_the_rate() {
        let text = "#type avg std min 5th 10th 90th 95th 99th\n\
                    read 1275.8 6358.9 49.8 378.2 418.5 767.2 841.4 53998.5\n\
                    update 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0\n\
                    op_q 1.0 0.0 1.0 1.0 1.0 1.1 1.1 1.1\n\n\
                    Total QPS = 626566.2 (37594133 / 60.0s)\n\nMisses = 0 (0.0%)\n\nand more\n";
        assert_eq!(
            figures(text),
            [
                ("read avg".into(), 1275.8),
                ("read 90th".into(), 767.2),
                ("read 95th".into(), 841.4),
                ("read 99th".into(), 53998.5),
                ("total QPS".into(), 626_566.2),
            ]
        );
    }

    #[test]
    fn another_header_is_none_of_it() {
        assert!(figures("#type count\nread 5\n").is_empty());
        assert!(figures("#type avg std 99th\nother 1 2 3\n").is_empty());
    }
}
