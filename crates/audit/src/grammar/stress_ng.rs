//! stress-ng with `--metrics` or `--metrics-brief`.
//!
//! ```text
//! stress-ng: info:  [914] dispatching hogs: 1 matrix, 1 pipe
//! stress-ng: metrc: [914] stressor       bogo ops real time  usr time  sys time   bogo ops/s     bogo ops/s
//! stress-ng: metrc: [914]                           (secs)    (secs)    (secs)   (real time) (usr+sys time)
//! stress-ng: metrc: [914] matrix             4882      2.00      0.97      0.00      2436.83        5043.97
//! stress-ng: info:  [914] for a 2.00s run time:
//! ```
//!
//! One report is a run. What was dispatched is the workload: reports of 4 and of 8 stressors
//! are no repetitions. How long it went on and how much CPU there was is not kept.

use super::begins::Begins;
use super::cells::{label, line_at, push_new};
use super::number::english;
use super::{Block, Figure, Finding, Grammar, Labels};
use crate::Line;

/// stress-ng; see the module.
pub struct StressNg;

/// Its name among the formats.
const TOOL: &str = "stress-ng";

/// Of a row: name and unit of each number.
const COLUMNS: [(&str, &str); 8] = [
    ("bogo ops", ""),
    ("real time", "s"),
    ("usr time", "s"),
    ("sys time", "s"),
    ("bogo ops/s", "1/s"),
    ("bogo ops/s (usr+sys time)", "1/s"),
    ("CPU used per instance", "%"),
    ("RSS max", "KB"),
];
/// How many of them each version prints.
const ALWAYS: usize = 6;

/// A line behind what stress-ng puts before each.
fn bare(text: &str) -> Option<&str> {
    let (kind, rest) = text.trim().strip_prefix("stress-ng: ")?.split_once(']')?;
    (kind.len() <= 40 && kind.contains('[')).then_some(rest.trim())
}

/// `matrix             4882      2.00      0.97      0.00      2436.83        5043.97`
fn row(text: &str) -> Option<(&str, Vec<f64>)> {
    let mut words = text.split_whitespace();
    let name = words
        .next()
        .filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))?;
    let values: Option<Vec<f64>> = words.map(english).collect();
    let values = values.filter(|values| (ALWAYS..=COLUMNS.len()).contains(&values.len()))?;
    Some((name, values))
}

impl Grammar for StressNg {
    fn name(&self) -> &'static str {
        TOOL
    }

    fn begins(&self) -> Begins {
        Begins::with(b"s")
    }

    fn starts(&self, line: &str) -> bool {
        bare(line).is_some()
    }

    fn reach(&self) -> usize {
        1
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let depth = lines.first()?.depth;
        let mut block = Block::default();
        let mut figures: Vec<Figure> = Vec::new();
        let (mut hogs, mut first) = (None, 0);
        while let Some(text) = line_at(lines, block.taken.len()).and_then(bare) {
            let at = block.taken.len();
            let begins = text.strip_prefix("dispatching hogs: ");
            if lines[at].depth != depth || begins.is_some() && !figures.is_empty() {
                break;
            }
            hogs = hogs.or(begins);
            if let Some((stressor, values)) = row(text) {
                first = if figures.is_empty() { at } else { first };
                for ((metric, unit), value) in COLUMNS.iter().zip(values) {
                    let metric = label(&format!("{stressor} {metric}"));
                    push_new(&mut figures, Figure::new(metric, value, *unit));
                }
            }
            block.taken.push(TOOL);
        }
        if figures.is_empty() {
            return None;
        }
        let command = hogs.map(|hogs| Finding::Command(format!("{TOOL} {}", label(hogs))));
        block
            .findings
            .extend(command.map(|command| (first, command)));
        let labels = Labels::default();
        block.find(first, Finding::Run { labels, figures });
        Some(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_a_run_of_what_was_dispatched() {
        let text = include_str!("../../tests/benchmarks/stress-ng-brief.txt");
        let lines: Vec<Line<'_>> = (1..)
            .zip(text.lines())
            .map(|(at, text)| Line::plain(at, text))
            .collect();
        let block = StressNg.read(&lines).expect("a report");
        assert_eq!(block.taken.len(), lines.len());
        assert!(
            matches!(&block.findings[0].1, Finding::Command(hogs) if hogs == "stress-ng 1 cpu, 1 vm")
        );
        let Finding::Run { figures, .. } = &block.findings[1].1 else {
            panic!("{block:?}");
        };
        assert_eq!((figures.len(), figures[6].value), (12, 80_234.0));
        assert!(
            StressNg
                .read(&[Line::plain(1, "stress-ng: info: [1] passed: 2")])
                .is_none()
        );
    }
}
