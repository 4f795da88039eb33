//! netperf and iperf: what was transferred in how long.
//!
//! One invocation is a run. The seconds that iperf reports on its way are
//! samples within it and are not kept.

use super::begins::Begins;
use super::cells::line_at;
use super::number::english;
use super::quantity::quantity;
use super::{Block, Figure, Finding, Grammar, Labels, Taken};
use crate::Line;

/// netperf's tables of one row.
pub struct Netperf;
/// iperf, versions 2 and 3.
pub struct Iperf;

/// Beginnings of the lines of netperf's headings.
const HEADINGS: [&str; 13] = [
    "Recv   Send",
    "Socket Socket",
    "Socket  Message",
    "Size   Size",
    "Size    Size",
    "bytes  bytes",
    "bytes   bytes",
    "Local /Remote",
    "Socket Size",
    "Send   Recv",
    "bytes  Bytes",
    "Local Remote",
    "Recv Send",
];

impl Grammar for Netperf {
    fn name(&self) -> &'static str {
        "netperf"
    }

    fn begins(&self) -> Begins {
        Begins::with(b"RSL")
    }

    fn starts(&self, line: &str) -> bool {
        let text = line.trim_start();
        matches!(text.as_bytes().first(), Some(b'R' | b'S' | b'L'))
            && ["Recv ", "Socket ", "Local "]
                .iter()
                .any(|s| text.starts_with(s))
            && is_heading(text)
    }

    fn reach(&self) -> usize {
        8
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let text = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == lines[0].depth);
        let mut at = 0;
        let (mut unit, mut metric, mut place) = (None, "throughput", 0);
        while let Some(heading) = text(at).filter(|t| is_heading(t.trim_start()) && at < 6) {
            if heading.contains("Trans.") || heading.contains("Rate") {
                metric = "transactions";
            }
            if let Some(found) = unit_of(heading) {
                unit = Some(found);
            }
            if heading.trim_start().starts_with("bytes") {
                place = heading.split_whitespace().count();
            }
            at += 1;
        }
        let headings = at;
        while text(at).is_some_and(|t| t.trim().is_empty() && at < headings + 2) {
            at += 1;
        }
        let values: Vec<f64> = text(at)?
            .split_whitespace()
            .map(english)
            .collect::<Option<_>>()?;
        let unit = unit.filter(|_| headings >= 2 && values.len() >= 4)?;
        // `per sec` and `10^6bits/sec` are the last columns: the rate is the
        // last figure; a column of lost messages does not stand behind it.
        let rate = *values.last()?;
        if values.len() + usize::from(unit == "1/s") != place {
            return None;
        }
        let mut block = Block {
            findings: Vec::new(),
            taken: vec!["netperf" as Taken; at + 1],
        };
        let labels = Labels::default();
        let figures = vec![Figure::new(metric, rate, unit)];
        block.find(at, Finding::Run { labels, figures });
        // The other side's sizes, on a line of their own.
        let sizes = text(at + 1).is_some_and(|t| {
            let words: Vec<&str> = t.split_whitespace().collect();
            words.len() == 2 && words.iter().all(|w| english(w).is_some())
        });
        if sizes {
            block.taken.push("netperf");
        }
        Some(block)
    }
}

/// The throughput in a row that netperf prints without headings, as `-P 0` asks for: two
/// sizes of sockets, one of messages, seconds and 10^6 bits/s. `command` stands right above.
pub(crate) fn row_without_headings(command: &str, row: &str) -> Option<Figure> {
    let mut words = command.split_whitespace();
    words.find(|word| word.rsplit('/').next() == Some("netperf"))?;
    let own: Vec<&str> = words.take_while(|word| *word != "--").collect();
    let bare = own.contains(&"-P0") || own.windows(2).any(|two| two == ["-P", "0"]);
    // With these it prints other columns or other units.
    let other = |word: &&str| {
        let mut options = ["-f", "-t", "-c", "-C", "-j"].iter();
        options.any(|option| word.starts_with(option))
    };
    if !bare || own.iter().any(other) {
        return None;
    }
    let cells: Vec<&str> = row.split_whitespace().collect();
    let [sizes @ .., seconds, rate] = &cells[..] else {
        return None;
    };
    let whole = |cell: &&str| cell.bytes().all(|b| b.is_ascii_digit());
    let fits = sizes.len() == 3 && sizes.iter().all(whole) && seconds.contains('.');
    english(seconds).filter(|_| fits)?;
    let rate = english(rate).filter(|rate| rate.is_sign_positive())?;
    Some(Figure::new("throughput", rate, "Mbit/s"))
}

fn is_heading(text: &str) -> bool {
    text.len() < 160 && HEADINGS.iter().any(|start| text.starts_with(start))
}

fn unit_of(heading: &str) -> Option<&'static str> {
    const UNITS: [(&str, &str); 4] = [
        ("10^6bits/sec", "Mbit/s"),
        ("10^9bits/sec", "Gbit/s"),
        ("10^3bits/sec", "kbit/s"),
        ("per sec", "1/s"),
    ];
    UNITS
        .iter()
        .find(|(written, _)| heading.contains(written))
        .map(|(_, unit)| *unit)
}

impl Grammar for Iperf {
    fn name(&self) -> &'static str {
        "iperf"
    }

    fn begins(&self) -> Begins {
        Begins::with(b"[")
    }

    fn starts(&self, line: &str) -> bool {
        let text = line.trim_start();
        text.starts_with('[') && (text.contains("Interval") || row(text).is_some())
    }

    fn reach(&self) -> usize {
        3
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let mut taken: Vec<Taken> = Vec::new();
        let mut rows: Vec<(usize, Row)> = Vec::new();
        for at in 0..MOST {
            let Some(text) = line_at(lines, at).filter(|_| lines[at].depth == lines[0].depth)
            else {
                break;
            };
            let text = text.trim();
            let heading = text.starts_with('[') && text.contains("Interval");
            if let Some(row) = row(text) {
                rows.push((at, row));
            } else if heading && rows.iter().any(|(_, row)| row.whole)
                || !heading && !text.starts_with("- - ")
            {
                // The next invocation begins, or something else.
                break;
            }
            taken.push("iperf");
        }
        // A heading alone is none.
        if rows.is_empty() {
            return None;
        }
        let mut block = Block {
            findings: Vec::new(),
            taken,
        };
        let told = rows.iter().map(|(_, row)| row);
        let senders: Vec<Row> = told.filter(|row| row.sends()).cloned().collect();
        let wholes = wholes(rows);
        if wholes.is_empty() {
            let detail = "of these rows none is of the whole run".to_owned();
            block.find(0, Finding::Doubt("not-understood", detail));
        }
        for (at, row) in wholes {
            let labels = Labels::default();
            let sent = senders.iter().filter(|sender| sender.is_of(&row));
            let sent: Vec<&Row> = sent.collect();
            let mut figures = vec![Figure::new("throughput", row.rate, row.unit)];
            if let [sender] = sent[..] {
                let unit = sender.unit.as_str();
                figures.push(Figure::new("throughput of the sender", sender.rate, unit));
                figures.extend(sender.sent_again.map(|n| Figure::new("retransmits", n, "")));
            }
            block.find(at, Finding::Run { labels, figures });
        }
        Some(block)
    }
}

/// No invocation prints more lines.
const MOST: usize = 5000;

/// Of the rows of a block those that are of a whole run: what adds up streams or
/// says that it is the receiver's; else the one of the longest time. Where all
/// rows are of that time and begin with it, somebody has collected them from several
/// runs.
fn wholes(rows: Vec<(usize, Row)>) -> Vec<(usize, Row)> {
    let Some((_, first)) = rows.first() else {
        return rows;
    };
    let same = |row: &Row| (row.from, row.length, &row.id) == (first.from, first.length, &first.id);
    if rows.len() > 1
        && rows
            .iter()
            .all(|(_, row)| same(row) && !row.whole && !row.sum)
    {
        return rows;
    }
    let best = rows.iter().map(|(_, row)| row.rank()).max();
    // Streams that nothing adds up are parts of one run.
    let ties = rows.iter().filter(|(_, row)| Some(row.rank()) == best);
    let alone = ties.count() == 1;
    let is_best = |(_, row): &(usize, Row)| alone && Some(row.rank()) == best;
    rows.iter().filter(|row| is_best(row)).cloned().collect()
}

/// A row of iperf's.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    id: String,
    from: f64,
    length: f64,
    rate: f64,
    unit: String,
    /// Whether it adds up streams.
    sum: bool,
    /// Whether it says so itself that it is of the whole time.
    whole: bool,
    receiver: bool,
    /// How often something had to be sent again.
    sent_again: Option<f64>,
}

impl Row {
    /// Whether it says that it is what was sent in the whole time.
    fn sends(&self) -> bool {
        self.whole && !self.receiver
    }

    /// Whether it is of the same streams as what was received.
    fn is_of(&self, received: &Row) -> bool {
        received.receiver && self.id == received.id && self.sum == received.sum
    }

    /// Of two rows the one that says more of the whole.
    fn rank(&self) -> (bool, bool, bool, i64) {
        (self.whole, self.sum, self.receiver, self.length as i64)
    }
}

/// `[  5]   0.00-10.00  sec  10.9 GBytes  9.40 Gbits/sec    0   sender`
fn row(text: &str) -> Option<Row> {
    let (id, rest) = text.strip_prefix('[')?.split_once(']')?;
    let sum = id.trim() == "SUM";
    let streams = !id.trim().is_empty() && id.trim().bytes().all(|b| b.is_ascii_digit());
    let (interval, rest) = rest.trim_start().split_once(" sec")?;
    let (from, to) = interval.trim().split_once('-')?;
    let (from, to) = (english(from.trim())?, english(to.trim())?);
    let (_, rest) = rest.split_once("Bytes")?;
    let (rate, rest) = quantity(rest)?;
    let fits = (sum || streams) && rate.unit.contains("bits/sec") && to > from;
    fits.then(|| Row {
        id: id.trim().to_owned(),
        from,
        length: to - from,
        rate: rate.value,
        unit: rate.unit.replace("bits/sec", "bit/s"),
        sum,
        whole: rest.contains("sender") || rest.contains("receiver"),
        receiver: rest.contains("receiver"),
        sent_again: english(rest.split_whitespace().next().unwrap_or_default()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_headings_is_of_the_command_that_asks_for_it() {
        let row = " 87380  16384 131072    30.01    9410.25";
        let read = |command: &str| row_without_headings(command, row).map(|figure| figure.value);
        for command in [
            "netperf -H host -P 0 -l 30 -- -m 128K",
            "taskset -c 2 ./netperf -P0 -H host",
        ] {
            assert_eq!(read(command), Some(9410.25), "{command}");
        }
        for other in [
            "netperf -H host -l 30",
            "netperf -H host -l 30 -- -P 0",
            "netperf -P 0 -t TCP_RR -H host",
            "netperf -P 0 -f g -H host",
            "iperf -P 0 -c host",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
        assert_eq!(
            row_without_headings("netperf -P 0", "87380 16384 30.01"),
            None
        );
    }
}
