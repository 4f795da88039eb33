//! The histograms of `rtla timerlat hist` and `rtla osnoise hist`.

use super::super::latencies::{
    Cell, Seen, blanks, cell, is_digits, push_levels, run, take, truncated, unescaped,
};
use super::super::{Block, Figure, Finding};
use crate::Line;

/// The rows under the histogram that are read.
const STATISTICS: [&str; 5] = ["over:", "count:", "min:", "avg:", "max:"];
const COUNT: usize = 1;
const MIN: usize = 2;
const AVG: usize = 3;
const MAX: usize = 4;

/// What a column counts, and where.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Column {
    prefix: &'static str,
    cpu: u32,
}

/// Reads the name of a column (`IRQ-000`).
fn column(token: &str) -> Option<Column> {
    let (kind, cpu) = token.split_once('-')?;
    let prefix = match kind {
        "IRQ" => "timerlat irq",
        "Thr" => "timerlat thread",
        "Usr" => "timerlat user",
        "CPU" => "osnoise sample",
        _ => return None,
    };
    is_digits(cpu).then_some(())?;
    Some(Column {
        prefix,
        cpu: cpu.parse().ok()?,
    })
}

/// Whether a histogram begins here: at its title or at its columns.
pub(super) fn starts(text: &str) -> bool {
    text.starts_with("# RTLA timerlat histogram")
        || text.starts_with("# RTLA osnoise histogram")
        || is_index(text) && text.contains('-')
}

/// Whether a line names the columns; a histogram without samples has none.
fn is_index(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("Index") else {
        return false;
    };
    rest.split_ascii_whitespace()
        .take(1)
        .all(|token| column(token).is_some())
        && (rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// A histogram as it is read.
#[derive(Debug, Default)]
struct Hist {
    nanoseconds: bool,
    columns: Vec<Column>,
    /// Line and cells of each row under the histogram.
    statistics: [Option<(usize, Vec<Cell>)>; STATISTICS.len()],
    last: Option<usize>,
    /// Whether the rows over all CPUs have begun.
    total: bool,
    /// Whether the columns were named.
    index: bool,
}

/// Reads the histogram that begins at the first line.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    let mut block = Block::default();
    let mut hist = Hist::default();
    loop {
        let at = block.taken.len();
        let gap = blanks(lines.get(at..).unwrap_or(&[]), 1);
        let Some(line) = lines.get(at + gap) else {
            break;
        };
        let text = unescaped(&line.text);
        let Some(taken) = hist.next(&mut block, at + gap, at == 0, text) else {
            break;
        };
        take(&mut block, gap, "blank");
        take(&mut block, 1, taken);
    }
    hist.report(&mut block);
    Some(block).filter(|block| !block.taken.is_empty())
}

impl Hist {
    /// Reads one line and says what it was, or `None` if the histogram has
    /// ended before it.
    fn next(
        &mut self,
        block: &mut Block,
        at: usize,
        first: bool,
        text: &str,
    ) -> Option<&'static str> {
        let begun = self.last.is_some();
        match text.as_bytes().first()? {
            b'#' if first && starts(text) => Some("rtla header"),
            b'#' if !first && !self.index => {
                self.nanoseconds |= text.contains("nanoseconds");
                let known = text.starts_with("# Time unit is") || text.starts_with("# Duration:");
                known.then_some("rtla header")
            }
            b'I' if is_index(text) && !self.index => {
                self.index = true;
                self.columns
                    .extend(text.split_ascii_whitespace().filter_map(column));
                Some("rtla header")
            }
            b'A' if text.starts_with("ALL:") && begun && !self.total => {
                self.total = true;
                Some("rtla total")
            }
            b'o' | b'c' | b'm' | b'a' => self.statistic(block, at, text),
            b'0'..=b'9' | b'-' if begun => self.more_cells(block, at, text),
            b'0'..=b'9' if text.split_ascii_whitespace().all(is_digits) => {
                self.index.then_some("rtla histogram")
            }
            b'I' | b'T' | b'U' | b'C' if self.index && !begun => {
                let mut names = text.split_ascii_whitespace();
                if !names.all(|token| column(token).is_some()) {
                    return None;
                }
                self.columns
                    .extend(text.split_ascii_whitespace().filter_map(column));
                Some("rtla header")
            }
            _ => None,
        }
    }

    /// Reads a row under the histogram.
    fn statistic(&mut self, block: &mut Block, at: usize, text: &str) -> Option<&'static str> {
        let which = STATISTICS.iter().position(|name| text.starts_with(name))?;
        if self.total {
            return Some("rtla total");
        }
        if !self.index || self.statistics[which].is_some() {
            return None;
        }
        let values = text.get(STATISTICS[which].len()..).unwrap_or("");
        self.last = Some(which);
        self.statistics[which] = Some((at, Vec::new()));
        self.cells(block, at, which, values);
        Some("rtla statistic")
    }

    /// Goes on with a row that a mailer has broken.
    fn more_cells(&mut self, block: &mut Block, at: usize, text: &str) -> Option<&'static str> {
        let which = self.last?;
        let (_, cells) = self.statistics[which].as_ref()?;
        let numeric = |token: &str| is_digits(token) || token == "-";
        if self.total || cells.len() >= self.columns.len() {
            return None;
        }
        if !text.split_ascii_whitespace().all(numeric) {
            return None;
        }
        self.cells(block, at, which, text);
        Some("rtla statistic")
    }

    /// Adds the cells of a row.
    fn cells(&mut self, block: &mut Block, at: usize, which: usize, text: &str) {
        let Some((_, cells)) = self.statistics[which].as_mut() else {
            return;
        };
        for token in text.split_ascii_whitespace() {
            cells.push(match token {
                "-" => Cell::Absent,
                _ => cell(block, at, STATISTICS[which].trim_end_matches(':'), token),
            });
        }
    }

    /// The cell of a column in a row; bad if the row has another width.
    fn at(&self, which: usize, column: usize) -> Cell {
        match &self.statistics[which] {
            Some((_, cells)) if cells.len() == self.columns.len() => cells[column],
            _ => Cell::Bad,
        }
    }

    /// Turns the histogram into a run.
    fn report(&self, block: &mut Block) {
        if self.columns.is_empty() {
            if self.statistics[COUNT].is_some() {
                let sentence = "no sample reached the histogram, so it has no latencies";
                block.find(0, Finding::Doubt("no-samples", sentence.to_owned()));
            } else if !block.taken.is_empty() {
                truncated(block, 0, "the histogram has no columns");
            }
            return;
        }
        if self.statistics[COUNT..].iter().all(Option::is_none) {
            truncated(block, 0, "the histogram ends before its statistics");
            return;
        }
        for (at, cells) in self.statistics[COUNT..].iter().flatten() {
            if cells.len() != self.columns.len() {
                truncated(
                    block,
                    *at,
                    "the row has not as many figures as the histogram columns",
                );
            }
        }
        if self.statistics[COUNT..].iter().any(Option::is_none) {
            truncated(block, 0, "the histogram lacks some of its statistics");
        }
        let figures = self.figures();
        if !figures.is_empty() {
            block.find(0, run(figures));
        }
    }

    /// The figures over all CPUs and the maxima of each.
    fn figures(&self) -> Vec<Figure> {
        let unit = if self.nanoseconds { "ns" } else { "us" };
        let mut figures = Vec::new();
        for prefix in [
            "timerlat irq",
            "timerlat thread",
            "timerlat user",
            "osnoise sample",
        ] {
            let mut places: Vec<(u32, Seen)> = Vec::new();
            for (index, column) in self.columns.iter().enumerate() {
                if column.prefix != prefix {
                    continue;
                }
                let count = self.at(COUNT, index);
                // Without samples old versions print 2^64 - 1 as the minimum.
                let cell = |which| match count {
                    Cell::Is(0.0) => Cell::Absent,
                    _ => self.at(which, index),
                };
                let seen = Seen {
                    count,
                    min: cell(MIN),
                    avg: cell(AVG),
                    max: cell(MAX),
                };
                places.push((column.cpu, seen));
            }
            let mut cpus = std::collections::HashSet::new();
            places.retain(|(cpu, _)| cpus.insert(*cpu));
            let seen: Vec<Seen> = places.iter().map(|(_, seen)| *seen).collect();
            push_levels(&mut figures, prefix, unit, &seen);
            for (cpu, seen) in &places {
                if let Some(value) = seen.max.value() {
                    figures.push(Figure::new(format!("{prefix} max CPU{cpu}"), value, unit));
                }
            }
        }
        figures
    }
}
