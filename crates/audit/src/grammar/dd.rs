//! What `dd` prints at its end:
//!
//! ```text
//! 2048+0 records in
//! 2048+0 records out
//! 2147483648 bytes (2.1 GB, 2.0 GiB) copied, 9.87 s, 218 MB/s
//! ```
//!
//! One execution is a run. One of a few bytes that was over at once made a file and measured
//! nothing; lines that say how far one has come, of `status=progress`, are none of its own.
//! Times of different numbers of bytes are those of different work.

use super::begins::Begins;
use super::cells::line_at;
use super::number::english;
use super::quantity::{Quantity, power_of_seconds, quantity};
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
        let copied = Copied::read(line_at(lines, 0)?)?;
        let mut block = Block {
            findings: Vec::new(),
            taken: vec!["dd"],
        };
        // So far it had come after so many whole seconds.
        let next = lines.get(1..).unwrap_or_default();
        let later = line_at(next, 0).and_then(Copied::read);
        let more = |later: Copied<'_>| later.bytes > copied.bytes;
        let unfinished = copied.time.unit == "s"
            && copied.time.value.fract() == 0.0
            && later.or_else(|| ended(next)).is_some_and(more);
        match unfinished {
            true => block.taken = vec!["progress of dd"],
            false => copied.find(&mut block),
        }
        Some(block)
    }
}

/// Whether a line is `2048+0 records in`, or the same of `out`.
fn is_records(line: &str, way: &str) -> bool {
    let rest = line.trim().strip_suffix(way);
    let count = rest.and_then(|rest| rest.trim_end().strip_suffix(" records"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    count
        .and_then(|count| count.split_once('+'))
        .is_some_and(|(whole, part)| digits(whole) && digits(part))
}

/// What was copied in all, of the three lines that `dd` ends with.
fn ended<'t>(lines: &'t [Line<'_>]) -> Option<Copied<'t>> {
    let records = is_records(line_at(lines, 0)?, "in") && is_records(line_at(lines, 1)?, "out");
    let copied = Copied::read(line_at(lines, 2)?)?;
    records.then_some(copied)
}

/// `1073741824 bytes (1.1 GB, 1.0 GiB) copied, 9.87 s, 109 MB/s`
struct Copied<'t> {
    bytes: f64,
    time: Quantity<'t>,
    rate: Quantity<'t>,
}

impl<'t> Copied<'t> {
    fn read(line: &'t str) -> Option<Self> {
        let (bytes, rest) = line.trim().split_once(" bytes")?;
        let bytes = english(bytes)?;
        let (_, rest) = rest.split_once("copied, ").filter(|_| rest.len() < 200)?;
        let (time, rest) = quantity(rest)?;
        let (rate, rest) = quantity(rest.strip_prefix(',')?)?;
        let timed = super::quantity::is_time(time.unit) && rate.unit.ends_with("B/s");
        (bytes > 0.0 && timed && rest.trim().is_empty()).then_some(Copied { bytes, time, rate })
    }

    /// Notes the run, if it measured something.
    fn find(&self, block: &mut Block) {
        let Copied { bytes, time, rate } = self;
        let seconds = power_of_seconds(time.unit).map(|power| time.value * 10_f64.powi(power));
        if *bytes < FEW && seconds.is_some_and(|seconds| seconds < AT_ONCE) {
            return;
        }
        let figures = vec![
            Figure::new(format!("{TIME}{bytes} bytes"), time.value, time.unit),
            Figure::new("rate", rate.value, rate.unit),
        ];
        let labels = Labels::default();
        block.find(0, Finding::Run { labels, figures });
    }
}

/// What the time of a number of bytes is called before it is known whether there are others.
const TIME: &str = "time of ";

/// The number of bytes in the name of a time, as `dd` gives them.
pub(crate) fn bytes_of(metric: &str) -> Option<&str> {
    metric.strip_prefix(TIME)
}
