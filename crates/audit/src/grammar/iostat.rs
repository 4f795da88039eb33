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
//! With `-h` the device stands last, and figures have a suffix:
//!
//! ```text
//!    tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn Device
//!   7.00         0.0k         1.3M       0.0k       1.3M sda
//! ```
//!
//! Reports that follow each other are samples of one run, and their mean is that
//! run's. Two rows of one device in one report are two, of which the text says what each
//! is: statements. The header may stand only above the first of several parts.

mod human;

use std::collections::BTreeMap;

use super::begins::Begins;
use super::cells::{label, line_at};
use super::number::english;
use super::{Block, Figure, Finding, Grammar, Labels, Taken};
use crate::Line;
use crate::states;

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
        memchr::memchr2(b'%', b'p', line.as_bytes()).is_some()
            && (columns(line).is_some() || human::begins(line))
    }

    fn reach(&self) -> usize {
        1
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        if let Some((part, taken)) = human::read(lines) {
            return block(vec![part], taken);
        }
        let depth = lines.first()?.depth;
        let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
        let header = columns(here(0)?)?;
        let behind = |at: usize| {
            let blank = |at: &usize| here(*at).is_some_and(|text| text.trim().is_empty());
            (at..at + 3).find(|at| !blank(at)).unwrap_or(at)
        };
        let rows = |at: usize| -> Vec<Row> {
            let rows = (at..MOST).map_while(|at| row(here(at)?, &header));
            rows.collect()
        };
        let mut taken: Vec<Taken> = Vec::new();
        let mut parts: Vec<Part> = Vec::new();
        let mut at = 0;
        while at < MOST {
            if here(at).and_then(columns).as_ref() == Some(&header) {
                taken.resize(at, "blank");
                taken.push("iostat, header");
                at += 1;
                if parts.is_empty() {
                    parts.push(Part::default());
                }
            } else if let Some(name) = here(at).and_then(state).filter(|_| !parts.is_empty()) {
                // The header stands only above the first part.
                let below = behind(at + 1);
                let known = |row: &Row| parts.iter().any(|part| part.has(&row.device));
                if !rows(below).first().is_some_and(known) {
                    break;
                }
                taken.resize(at, "blank");
                taken.push("heading of rows");
                taken.resize(below, "blank");
                at = below;
                parts.push(Part {
                    name: Some(name.to_owned()),
                    ..Part::default()
                });
            } else {
                break;
            }
            let (rows, part) = (rows(at), parts.last_mut()?);
            if rows.is_empty() {
                return None;
            }
            taken.resize(at + rows.len(), "iostat");
            part.add(at, rows);
            at = behind(taken.len());
        }
        block(parts, taken)
    }
}

/// The runs of reports, or statements where nothing says of what each row is.
fn block(parts: Vec<Part>, taken: Vec<Taken>) -> Option<Block> {
    let several = parts.len() > 1;
    let mut block = Block {
        findings: Vec::new(),
        taken,
    };
    for part in parts {
        let labels = Labels {
            configuration: part.name.as_deref().map(label),
            workload: several.then(|| "iostat".to_owned()),
            repetition: None,
        };
        for (at, row) in part.apart.iter().flat_map(|(at, rows)| {
            let rows = rows.iter().enumerate();
            rows.map(move |(i, row)| (at + i, row))
        }) {
            for (metric, value) in &row.values {
                let (labels, figure) = (labels.clone(), figure(metric, *value));
                let normalised_to = None;
                block.find(
                    at,
                    Finding::Statement {
                        labels,
                        figure,
                        normalised_to,
                    },
                );
            }
        }
        let means = part.sums.iter();
        let means = means.map(|(metric, sum, count)| figure(metric, sum / f64::from(*count)));
        let figures: Vec<Figure> = means.collect();
        if !figures.is_empty() {
            block.find(part.at, Finding::Run { labels, figures });
        }
    }
    (!block.findings.is_empty()).then_some(block)
}

fn figure(metric: &str, value: f64) -> Figure {
    let unit = if metric.contains('%') { "%" } else { "" };
    Figure::new(metric, value, unit)
}

/// What stands below one heading.
#[derive(Default)]
struct Part {
    at: usize,
    /// The heading between the reports.
    name: Option<String>,
    /// By metric, in the order of the first report: its sum and its number.
    sums: Vec<(String, f64, u32)>,
    /// Reports with two rows of one device: the text says which is which.
    apart: Vec<(usize, Vec<Row>)>,
}

impl Part {
    fn has(&self, device: &str) -> bool {
        let prefix = format!("{device} ");
        self.sums
            .iter()
            .any(|(metric, ..)| metric.starts_with(&prefix))
    }

    /// Adds a report.
    fn add(&mut self, at: usize, rows: Vec<Row>) {
        if self.sums.is_empty() {
            self.at = at;
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for row in &rows {
            *counts.entry(&row.device).or_default() += 1;
        }
        if counts.values().any(|count| *count == 2) {
            self.apart.push((at, rows));
            return;
        }
        for (metric, value) in rows.into_iter().flat_map(|row| row.values) {
            let known = self.sums.iter().position(|(name, ..)| *name == metric);
            if let Some((_, sum, count)) = known.and_then(|at| self.sums.get_mut(at)) {
                *sum += value;
                *count += 1;
            } else if self.sums.len() < ROWS {
                self.sums.push((metric, value, 1));
            }
        }
    }
}

/// A heading that begins with a state: `After (with all patches):`.
fn state(text: &str) -> Option<&str> {
    let name = text
        .trim()
        .strip_suffix(':')
        .filter(|name| name.len() <= 100)?;
    states::begins_with_state(name).then_some(name)
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
struct Row {
    device: String,
    values: Vec<(String, f64)>,
}

/// A line of as many numbers as there are columns, behind the name of a device or CPU.
fn row(text: &str, columns: &[&str]) -> Option<Row> {
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
    Some(Row {
        device: label(name),
        values: columns.iter().zip(values?).map(named).collect(),
    })
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
    fn two_rows_of_one_device_are_stated_and_not_averaged() {
        let text = "Device r_await w_await svctm %util\nnvme0n1 0.5 0.1 1 6\nnvme0n1 1.5 0.2 1 8\n";
        assert!(figures(text).is_empty());
        let block = testing::read(&Iostat, text).unwrap();
        let stated = block.findings.iter();
        let stated = stated.filter(|(_, f)| matches!(f, Finding::Statement { .. }));
        let at: Vec<usize> = stated.map(|(at, _)| *at).collect();
        assert_eq!(at, [1, 1, 1, 1, 2, 2, 2, 2]);
        // Second by second they are samples.
        let more = format!("{text}nvme0n1 2.5 0.3 1 10\n");
        assert_eq!(figures(&more)[0], ("nvme0n1 r_await".into(), 1.5));
    }

    #[test]
    fn rows_below_a_state_go_on_under_the_header() {
        let head = "Device r_await w_await svctm %util\nsda 0.5 0.1 1 6\n\n";
        let text = format!("{head}After (all patches):\n\nsda 1.5 0.1 1 8\n");
        let runs = testing::runs(&Iostat, &text);
        assert_eq!(runs.len(), 2);
        assert_eq!(runs[0].0.configuration, None);
        assert_eq!(
            runs[1].0.configuration.as_deref(),
            Some("After (all patches)")
        );
        assert_eq!(runs[1].1[0].value, 1.5);
        for other in [
            "Results (all patches):\n\nsda 1.5 0.1 1 8\n",
            "After (all patches):\n\nsdb 1.5 0.1 1 8\n",
            "After (all patches):\n\nsda 1.5 0.1 1\n",
        ] {
            assert_eq!(testing::runs(&Iostat, &format!("{head}{other}")).len(), 1);
        }
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
