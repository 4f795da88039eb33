//! The last line of `dd`: `1073741824 bytes (1.1 GB, 1.0 GiB) copied, 9.87 s, 109 MB/s`.
//!
//! One execution is a run. One of a few bytes that was over at once made a file and measured
//! nothing.

use super::begins::Begins;
use super::cells::line_at;
use super::number::english;
use super::quantity::{power_of_seconds, quantity};
use super::{Block, Figure, Finding, Grammar, Labels};
use crate::Line;

/// So few bytes are written to have them, and not to see how long that takes,
const FEW: f64 = 16.0 * 1024.0 * 1024.0;
/// if it takes less than so many seconds.
const AT_ONCE: f64 = 0.1;

/// `dd`; see the module.
pub struct Dd;

impl Grammar for Dd {
    fn name(&self) -> &'static str {
        "dd"
    }

    fn begins(&self) -> Begins {
        Begins::with(b"0123456789")
    }

    fn starts(&self, line: &str) -> bool {
        line.trim_start().starts_with(|c: char| c.is_ascii_digit()) && line.contains(" bytes")
    }

    fn reach(&self) -> usize {
        1
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let text = line_at(lines, 0)?.trim();
        let (bytes, rest) = text.split_once(" bytes")?;
        let bytes = english(bytes)?;
        let (_, rest) = rest.split_once("copied, ").filter(|_| rest.len() < 200)?;
        let (time, rest) = quantity(rest)?;
        let (rate, rest) = quantity(rest.strip_prefix(',')?)?;
        let timed = super::quantity::is_time(time.unit) && rate.unit.ends_with("B/s");
        if bytes <= 0.0 || !timed || !rest.trim().is_empty() {
            return None;
        }
        let mut block = Block {
            findings: Vec::new(),
            taken: vec!["dd"],
        };
        let seconds = power_of_seconds(time.unit).map(|power| time.value * 10_f64.powi(power));
        if bytes < FEW && seconds.is_some_and(|seconds| seconds < AT_ONCE) {
            return Some(block);
        }
        let figures = vec![
            Figure::new("time", time.value, time.unit),
            Figure::new("rate", rate.value, rate.unit),
        ];
        let labels = Labels::default();
        block.find(0, Finding::Run { labels, figures });
        Some(block)
    }
}
