//! pgbench: what its report says at its end.
//!
//! ```text
//! number of transactions actually processed: 840972
//! latency average = 24.013 ms
//! tps = 4664.153934 (including connections establishing)
//! tps = 4664.421492 (excluding connections establishing)
//! ```
//!
//! One invocation is a run. Of two rates the one without the time for
//! connections is kept beside the other.

use super::begins::Begins;
use super::cells::line_at;
use super::number::english;
use super::quantity::quantity;
use super::{Block, Figure, Finding, Grammar, Labels, Taken};
use crate::Line;

/// pgbench; see the module.
pub struct Pgbench;

/// No report is longer.
const MOST: usize = 24;

/// Lines that set the run or say nothing that is kept.
const OTHERS: [&str; 12] = [
    "transaction type:",
    "scaling factor:",
    "query mode:",
    "number of clients:",
    "number of threads:",
    "number of transactions per client:",
    "duration:",
    "maximum number of tries:",
    "number of failed transactions:",
    "number of transactions retried:",
    "total number of retries:",
    "initial connection time",
];

impl Grammar for Pgbench {
    fn name(&self) -> &'static str {
        "pgbench"
    }

    fn begins(&self) -> Begins {
        Begins::with(b"tlsqndmi")
    }

    fn starts(&self, line: &str) -> bool {
        let text = line.trim_start();
        text.len() <= 120
            && (text.starts_with("tps = ")
                || text.starts_with("latency average = ")
                || processed(text).is_some()
                || OTHERS.iter().any(|start| text.starts_with(start)))
    }

    fn reach(&self) -> usize {
        4
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let depth = lines.first()?.depth;
        let mut figures: Vec<Figure> = Vec::new();
        let mut taken: Vec<Taken> = Vec::new();
        for at in 0..MOST {
            let Some(text) = line_at(lines, at).filter(|_| lines[at].depth == depth) else {
                break;
            };
            match figure(text.trim()) {
                Some(figure) if figures.iter().any(|f| f.metric == figure.metric) => break,
                Some(figure) => figures.push(figure),
                None if OTHERS.iter().any(|start| text.trim().starts_with(start)) => {}
                None => break,
            }
            taken.push("pgbench");
        }
        let has = |metric: &str| {
            figures
                .iter()
                .any(|figure| figure.metric.starts_with(metric))
        };
        if !has("tps") || figures.len() < 2 {
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

/// `number of transactions actually processed: 840972`, `…: 1000/1000`.
fn processed(text: &str) -> Option<f64> {
    let (head, value) = text.split_once(": ")?;
    let value = value.split('/').next()?.trim();
    let counted = head.contains("transactions ")
        && !head.contains(" per client")
        && head.split_whitespace().count() <= 6;
    english(value).filter(|v| counted && v.fract() == 0.0 && *v > 0.0)
}

fn figure(text: &str) -> Option<Figure> {
    if text.len() > 120 || OTHERS.iter().any(|start| text.starts_with(start)) {
        return None;
    }
    if let Some(rest) = text.strip_prefix("tps = ") {
        let (value, note) = rest.split_once(' ').unwrap_or((rest, ""));
        let value = english(value).filter(|v| *v >= 0.0)?;
        let metric = match note {
            "(including connections establishing)" | "(including reconnection times)" => {
                "tps with connections"
            }
            "" => "tps",
            note if note.starts_with("(excluding ") || note.starts_with("(without ") => "tps",
            _ => return None,
        };
        return Some(Figure::new(metric, value, "1/s"));
    }
    for metric in ["latency average", "latency stddev"] {
        if let Some(rest) = text
            .strip_prefix(metric)
            .and_then(|rest| rest.strip_prefix(" = "))
        {
            let (value, rest) = quantity(rest)?;
            // It scatters from transaction to transaction, not from run to run.
            let metric = if metric == "latency stddev" {
                "latency deviation in a run"
            } else {
                metric
            };
            return rest
                .trim()
                .is_empty()
                .then(|| Figure::new(metric, value.value, value.unit));
        }
    }
    processed(text).map(|value| Figure::new("transactions", value, ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::testing;

    fn figures(text: &str) -> Vec<(String, f64)> {
        testing::figures(&Pgbench, text)
    }

    #[test]
    fn a_report_is_a_run() {
        let text = "scaling factor: 10\n\
                    number of transactions actually processed: 840972\n\
                    latency average = 24.013 ms\n\
                    tps = 4664.15 (including connections establishing)\n\
                    tps = 4664.42 (excluding connections establishing)\n";
        assert_eq!(
            figures(text),
            [
                ("transactions".into(), 840_972.0),
                ("latency average".into(), 24.013),
                ("tps with connections".into(), 4664.15),
                ("tps".into(), 4664.42),
            ]
        );
    }

    #[test]
    fn another_report_is_another_run_and_one_line_is_none() {
        let two = "latency average = 2 ms\ntps = 10.5\nlatency average = 3 ms\ntps = 11.5\n";
        assert_eq!(figures(two).len(), 2);
        assert!(figures("tps = 10.5\n").is_empty());
        assert!(figures("transactions in flight: 12\nlatency average = 2 ms\n").is_empty());
        assert!(figures("tps = 10.5 (some words)\nlatency average = 2 ms\n").is_empty());
    }
}
