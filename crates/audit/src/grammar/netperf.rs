//! netperf's report of one test: a header of several lines and a row of numbers.
//!
//! ```text
//! Recv   Send    Send
//! Socket Socket  Message  Elapsed
//! Size   Size    Size     Time     Throughput
//! bytes  bytes   bytes    secs.    10^6bits/sec
//!
//!  87380  16384  16384    10.00    9413.39
//! ```

use super::prelude::*;

/// netperf; see the module.
pub const NETPERF: Grammar = Grammar {
    first: b"bS",
    ..Grammar::new("netperf", starts, read)
};

/// The last line of each header, with the metric and its unit.
const HEADERS: [(&str, &str, &str); 2] = [
    ("10^6bits/sec", "throughput", "Mbit/s"),
    ("per sec", "transactions", "1/s"),
];

fn starts(line: &str) -> bool {
    let text = line.trim();
    (text.starts_with("bytes") || text.starts_with("Send "))
        && HEADERS.iter().any(|(end, ..)| text.ends_with(end))
}

fn read(lines: &[Line<'_>]) -> Option<Block> {
    let head = line_at(lines, 0)?.trim();
    let (_, metric, unit) = HEADERS.iter().find(|(end, ..)| head.ends_with(end))?;
    let at = (1..4).find(|at| line_at(lines, *at).is_some_and(|text| !text.trim().is_empty()))?;
    let row = line_at(lines, at)?.split_whitespace().map(english);
    let row: Vec<f64> = row.collect::<Option<_>>()?;
    let value = *row.last().filter(|_| row.len() >= 4)?;
    let mut block = Block::new("netperf", at + 1);
    let figures = vec![Figure::new(*metric, value, *unit)];
    block.run(at, Labels::default(), figures);
    Some(block)
}
