//! iostat and mpstat: what devices and CPUs did, second by second.
//!
//! ```text
//! Device            r_await w_await aqu-sz rareq-sz wareq-sz  svctm  %util
//! nvme0n1              0.08    0.05   0.06   128.00   128.00   0.07   6.50
//!
//! CPU    %usr   %nice    %sys %iowait    %irq   %soft   %idle
//!   0    1.53    0.00   27.78    2.72    1.31   66.45    0.22
//! ```
//!
//! Reports that follow each other are samples of one run, and their mean is that
//! run's.

use super::begins::Begins;
use super::cells::{label, line_at};
use super::number::english;
use super::{Block, Figure, Finding, Grammar, Labels, Taken};
use crate::Line;

/// iostat and mpstat; see the module.
pub struct Iostat;

/// No block is longer.
const MOST: usize = 4000;
/// No table has more devices or CPUs.
const ROWS: usize = 600;

/// What stands first in a header, and a column that its tool surely prints.
const HEADERS: [(&str, &str); 4] = [
    ("Device", "%util"),
    ("Device:", "%util"),
    ("Device", "tps"),
    ("CPU", "%idle"),
];

impl Grammar for Iostat {
    fn name(&self) -> &'static str {
        "iostat"
    }

    fn begins(&self) -> Begins {
        Begins::holding(b"%p")
    }

    fn starts(&self, line: &str) -> bool {
        memchr::memchr2(b'%', b'p', line.as_bytes()).is_some() && columns(line).is_some()
    }

    fn reach(&self) -> usize {
        1
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let depth = lines.first()?.depth;
        let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
        let header = columns(here(0)?)?;
        let mut taken: Vec<Taken> = Vec::new();
        // By metric, in the order of the first report: its sum and its number.
        let mut sums: Vec<(String, f64, u32)> = Vec::new();
        let mut at = 0;
        while at < MOST && here(at).and_then(columns).as_ref() == Some(&header) {
            taken.resize(at, "blank");
            taken.push("iostat, header");
            let mut next = at + 1;
            while let Some(row) = here(next).and_then(|text| row(text, &header)) {
                taken.push("iostat");
                next += 1;
                for (metric, value) in row {
                    let known = sums.iter().position(|(name, ..)| *name == metric);
                    if let Some((_, sum, count)) = known.and_then(|at| sums.get_mut(at)) {
                        *sum += value;
                        *count += 1;
                    } else if sums.len() < ROWS {
                        sums.push((metric, value, 1));
                    }
                }
            }
            if next == at + 1 {
                return None;
            }
            at = next;
            while here(at).is_some_and(|text| text.trim().is_empty()) && at < next + 3 {
                at += 1;
            }
        }
        let figures: Vec<Figure> = sums
            .into_iter()
            .map(|(metric, sum, count)| {
                let unit = if metric.contains('%') { "%" } else { "" };
                Figure::new(metric, sum / f64::from(count), unit)
            })
            .collect();
        let mut block = Block {
            findings: Vec::new(),
            taken,
        };
        let labels = Labels::default();
        block.find(0, Finding::Run { labels, figures });
        Some(block)
    }
}

/// The names of columns behind the first, if a line is such a header.
fn columns(text: &str) -> Option<Vec<&str>> {
    if text.len() > 300 {
        return None;
    }
    let mut words = text.split_whitespace();
    let mut first = words.next()?;
    // mpstat writes the time before it: `12:30:01 PM  CPU  %usr …`
    let mut skipped = 0;
    while first != "CPU"
        && skipped < 2
        && first.starts_with(|c: char| c.is_ascii_digit() || matches!(c, 'A' | 'P'))
    {
        first = words.next()?;
        skipped += 1;
    }
    if HEADERS.iter().all(|(start, _)| first != *start) {
        return None;
    }
    let columns: Vec<&str> = words.collect();
    let fits = HEADERS
        .iter()
        .any(|(start, sure)| first == *start && columns.contains(sure));
    (fits && columns.len() >= 4).then_some(columns)
}

/// The figures of one device or CPU.
fn row(text: &str, columns: &[&str]) -> Option<Vec<(String, f64)>> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let from = words.len().checked_sub(columns.len())?;
    let name = words.get(from.checked_sub(1)?)?;
    let stamped = words[..from - 1]
        .iter()
        .all(|word| word.contains(':') || matches!(*word, "AM" | "PM"));
    if !stamped || name.len() > 40 {
        return None;
    }
    let values: Option<Vec<f64>> = words[from..].iter().map(|word| english(word)).collect();
    let named = |(column, value): (&&str, f64)| (label(&format!("{name} {column}")), value);
    Some(columns.iter().zip(values?).map(named).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::testing;

    fn figures(text: &str) -> Vec<(String, f64)> {
        testing::figures(&Iostat, text)
    }

    #[test]
    fn reports_that_follow_each_other_are_samples_of_one_run() {
        let text = "Device r_await w_await svctm %util\nnvme0n1 0.5 0.1 1 6\n\n\
                    Device r_await w_await svctm %util\nnvme0n1 1.5 0.1 1 8\n";
        assert_eq!(
            figures(text),
            [
                ("nvme0n1 r_await".into(), 1.0),
                ("nvme0n1 w_await".into(), 0.1),
                ("nvme0n1 svctm".into(), 1.0),
                ("nvme0n1 %util".into(), 7.0),
            ]
        );
    }

    #[test]
    fn times_of_day_are_no_figures() {
        let text = "12:30:01 PM CPU %usr %nice %sys %idle\n12:30:02 PM all 1.5 0.0 27.5 71.0\n";
        assert_eq!(figures(text).len(), 4);
        assert_eq!(figures(text)[0], ("all %usr".into(), 1.5));
    }

    #[test]
    fn other_tables_are_left_alone() {
        for text in [
            "Device Boot Start End Sectors Size\n/dev/sda1 1 2 3 4 5\n",
            "CPU cycles instructions misses ipc\n0 1 2 3 4\n",
            "Device r_await w_await svctm %util\nnvme0n1 0.5 x 1 6\n",
        ] {
            assert!(figures(text).is_empty(), "{text}");
        }
    }
}
