//! The histogram of cyclictest and the summary rows under it.

use super::super::Block;
use super::super::latencies::{Cell, Histogram, Seen, cell};

/// The rows under a histogram, without their `# `.
pub(super) const SUMMARIES: [&str; 5] = [
    "Total:",
    "Min Latencies:",
    "Avg Latencies:",
    "Max Latencies:",
    "Histogram Overflows:",
];
/// Place of `TOTAL` in [`SUMMARIES`].
pub(super) const TOTAL: usize = 0;
const MIN: usize = 1;
const AVG: usize = 2;
const MAX: usize = 3;
/// Place of `OVER` in [`SUMMARIES`].
pub(super) const OVER: usize = 4;

/// The rows under a histogram and the histogram itself.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// The line at which it begins.
    pub(super) at: usize,
    /// Whether it has a histogram, not only summary rows.
    pub(super) begun: bool,
    /// Bucket and counts, one per column.
    pub(super) rows: Vec<(f64, Vec<u64>)>,
    /// Whether rows differ in width or do not ascend.
    pub(super) ragged: bool,
    /// The cells of each summary row.
    pub(super) summaries: [Option<Vec<Cell>>; SUMMARIES.len()],
    /// The summary row read last.
    pub(super) last: Option<usize>,
}

impl Table {
    /// Whether nothing of a histogram was seen.
    pub(super) fn is_empty(&self) -> bool {
        !self.begun && self.last.is_none()
    }

    /// Adds a row of the histogram.
    pub(super) fn push(&mut self, text: &str) {
        let mut tokens = text
            .split_ascii_whitespace()
            .map(|t| t.parse::<u64>().unwrap_or(u64::MAX));
        let Some(bucket) = tokens.next() else { return };
        let counts: Vec<u64> = tokens.collect();
        let width = self
            .rows
            .first()
            .map_or(counts.len(), |(_, first)| first.len());
        let ascends = self
            .rows
            .last()
            .is_none_or(|(last, _)| *last < bucket as f64);
        if counts.is_empty() || counts.len() != width || !ascends {
            self.ragged = true;
        } else if !self.ragged {
            self.rows.push((bucket as f64, counts));
        }
    }

    /// Adds the cells of a summary row.
    pub(super) fn summarise(&mut self, block: &mut Block, at: usize, which: usize, text: &str) {
        let cells = self.summaries[which].get_or_insert_default();
        for token in text.split_ascii_whitespace() {
            cells.push(cell(
                block,
                at,
                SUMMARIES[which].trim_end_matches(':'),
                token,
            ));
        }
        self.last = Some(which);
    }

    /// Number of threads: `-H` adds a column over all of them, but not to
    /// the rows of minima and means.
    fn threads(&self) -> usize {
        let width = |which: usize| self.summaries[which].as_ref().map(Vec::len);
        [MIN, AVG, MAX]
            .into_iter()
            .filter_map(width)
            .min()
            .unwrap_or_else(|| self.rows.first().map_or(0, |(_, counts)| counts.len()))
    }

    /// The cell of a thread in a summary row.
    fn summary(&self, which: usize, thread: usize) -> Cell {
        let row = self.summaries[which].as_ref();
        row.and_then(|cells| cells.get(thread).copied())
            .unwrap_or_default()
    }

    /// What each thread saw.
    pub(super) fn seen(&self) -> Vec<Seen> {
        let count = |thread: usize| match (self.summary(TOTAL, thread), self.summary(OVER, thread))
        {
            (Cell::Is(inside), Cell::Is(over)) => Cell::Is(inside + over),
            _ => Cell::Absent,
        };
        let threads = 0..self.threads();
        threads
            .map(|thread| Seen {
                count: count(thread),
                min: self.summary(MIN, thread),
                avg: self.summary(AVG, thread),
                max: self.summary(MAX, thread),
            })
            .collect()
    }

    /// The histogram over all threads, if it can be trusted.
    pub(super) fn histogram(&self) -> Option<Histogram> {
        let threads = self.threads();
        let over = self.summaries[OVER].as_ref()?.iter().take(threads);
        if self.ragged || self.rows.is_empty() {
            return None;
        }
        let sum = |counts: &Vec<u64>| {
            counts
                .iter()
                .take(threads)
                .fold(0u64, |sum, n| sum.saturating_add(*n))
        };
        Some(Histogram {
            buckets: self
                .rows
                .iter()
                .map(|(bucket, counts)| (*bucket, sum(counts)))
                .collect(),
            over: over.fold(0u64, |sum, cell| sum.saturating_add(cell.count())),
        })
    }
}
