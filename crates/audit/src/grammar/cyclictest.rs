//! cyclictest: thread lines, histograms and JSON.
//!
//! Threads are parts of one run, not repetitions of it. A thread line that
//! repeats is a redrawn screen if its process is the same and its figures
//! went on from where they were; otherwise it is another run.

use std::collections::BTreeMap;

use super::begins::Begins;
use super::latencies::{
    Cell, Seen, blanks, cell, is_digits, leading_digits, push_levels, run, take, truncated,
    unescaped,
};
use super::{Block, Figure, Finding, Grammar};
use crate::Line;

mod json;
mod table;

use table::{OVER, SUMMARIES, TOTAL, Table};

/// cyclictest.
#[derive(Debug, Clone, Copy)]
pub struct Cyclictest;

/// Longest distance in lines over which a broken row is put together.
const WRAP: usize = 2;

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// `# /dev/cpu_dma_latency set to 0us`: an invocation begins.
    Device,
    /// `policy: fifo: loadavg: ...`: the head of each screen.
    Policy,
    /// A message of the tool between the head and the threads.
    Message,
    /// `T: 0 (...`
    Thread,
    /// `# Histogram`
    Histogram,
    /// `000012 000000 000003`
    Digits,
    /// `# Min Latencies:` and the like, by place in [`SUMMARIES`].
    Summary(usize),
    /// The cycles at which the histogram overflowed.
    Overflow,
    /// Anything else.
    Other,
}

impl Grammar for Cyclictest {
    fn name(&self) -> &'static str {
        "cyclictest"
    }

    fn begins(&self) -> Begins {
        Begins::with(b"T#p{\"\x1b")
    }

    fn starts(&self, line: &str) -> bool {
        let text = unescaped(line);
        match text.as_bytes().first() {
            Some(b'T') => thread(text).is_some(),
            Some(b'#') => !matches!(comment(text), Kind::Other | Kind::Overflow),
            Some(b'p') => is_policy(text),
            Some(b'{') => text == "{",
            Some(b'"') => text.starts_with("\"thread\""),
            _ => false,
        }
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let text = unescaped(&lines.first()?.text);
        if text.starts_with(['{', '"']) {
            return json::read(lines);
        }
        let mut reader = Reader::default();
        reader.read(lines);
        reader.finish()
    }
}

/// Whether a line is the head of a screen.
fn is_policy(text: &str) -> bool {
    text.starts_with("policy:") && text.len() < 512 && text.contains("loadavg:")
}

/// What a line that begins with `#` is.
fn comment(text: &str) -> Kind {
    let Some(rest) = text.strip_prefix('#').map(str::trim_start) else {
        return Kind::Other;
    };
    if let Some(summary) = SUMMARIES.iter().position(|name| rest.starts_with(name)) {
        let values = rest.get(SUMMARIES[summary].len()..).unwrap_or("");
        let token = values.split_ascii_whitespace().next().unwrap_or("0");
        // `# Total: 5 tests` and the like are other people's.
        let own = summary != TOTAL || (is_digits(token) && token.len() >= 6);
        return if own {
            Kind::Summary(summary)
        } else {
            Kind::Other
        };
    }
    if rest.trim_end() == "Histogram" {
        Kind::Histogram
    } else if rest.starts_with("/dev/cpu_dma_latency set to") {
        Kind::Device
    } else if rest.starts_with("Histogram Overflow at cycle") || rest.starts_with("Thread ") {
        Kind::Overflow
    } else {
        Kind::Other
    }
}

/// What a line is, cheap tests first.
fn kind(text: &str) -> Kind {
    match text.as_bytes().first() {
        Some(b'#') => comment(text),
        Some(b'T') if thread(text).is_some() => Kind::Thread,
        Some(b'p') if is_policy(text) => Kind::Policy,
        Some(b'W') if text.starts_with("WARN: ") => Kind::Message,
        Some(b'I') if text.starts_with("INFO: ") => Kind::Message,
        Some(b'0'..=b'9') if text.split_ascii_whitespace().all(is_digits) => Kind::Digits,
        _ => Kind::Other,
    }
}

/// Number, process and fields of a thread line.
fn thread(text: &str) -> Option<(u32, u64, &str)> {
    let (id, rest) = leading_digits(text.strip_prefix("T:")?.trim_start());
    let rest = rest.trim_start().strip_prefix('(')?;
    let (pid, rest) = leading_digits(rest.trim_start());
    let rest = rest.trim_start().strip_prefix(')')?;
    Some((id.parse().ok()?, pid.parse().ok()?, rest))
}

/// The figures of one thread line.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    at: usize,
    pid: u64,
    /// Number of the screen that shows it.
    screen: u64,
    seen: Seen,
}

impl Row {
    /// Whether `next` can be this thread a while later.
    fn goes_on_as(&self, next: &Row) -> bool {
        let grows = |old: Cell, new: Cell| match (old, new) {
            (Cell::Is(old), Cell::Is(new)) => old <= new,
            _ => true,
        };
        let same = self.pid == next.pid || self.pid == 0 || next.pid == 0;
        same && grows(self.seen.count, next.seen.count)
            && grows(next.seen.min, self.seen.min)
            && grows(self.seen.max, next.seen.max)
    }
}

/// Reads the thread line at `at`, over the lines on which a mailer has
/// broken it.
fn read_row(lines: &[Line<'_>], block: &mut Block, pid: u64, fields: &str) -> Row {
    let at = block.taken.len();
    let mut row = Row {
        at,
        pid,
        ..Row::default()
    };
    let mut key = "";
    take(block, 1, "cyclictest thread");
    read_fields(block, &mut row, &mut key, fields);
    for _ in 0..WRAP {
        if row.seen.max != Cell::Absent {
            break;
        }
        let text = lines
            .get(block.taken.len())
            .map_or("", |line| unescaped(&line.text));
        let first = text.split_ascii_whitespace().next().unwrap_or("");
        let is_key = ["C:", "Min:", "Act:", "Avg:", "Max:"]
            .iter()
            .any(|k| first.starts_with(k));
        if !(is_key || key.ends_with(':') && is_digits(first)) {
            break;
        }
        take(block, 1, "cyclictest thread");
        read_fields(block, &mut row, &mut key, text);
    }
    let seen = &mut row.seen;
    if [seen.min, seen.avg, seen.max, seen.count].contains(&Cell::Absent) {
        truncated(block, at, "the thread line ends before its figures");
        for cell in [&mut seen.min, &mut seen.avg, &mut seen.max, &mut seen.count] {
            if *cell == Cell::Absent {
                *cell = Cell::Bad;
            }
        }
    }
    row
}

/// Reads `KEY:VALUE` and `KEY: VALUE`; `key` is the one still without value.
fn read_fields<'a>(block: &mut Block, row: &mut Row, key: &mut &'a str, text: &'a str) {
    let at = block.taken.len().saturating_sub(1);
    for token in text.split_ascii_whitespace() {
        let value = match token.find(':') {
            Some(colon) => {
                *key = &token[..=colon];
                &token[colon + 1..]
            }
            None => token,
        };
        if value.is_empty() {
            continue;
        }
        let (what, place) = match std::mem::take(key) {
            "C:" => ("C", &mut row.seen.count),
            "Min:" => ("Min", &mut row.seen.min),
            "Avg:" => ("Avg", &mut row.seen.avg),
            "Max:" => ("Max", &mut row.seen.max),
            _ => continue,
        };
        if *place == Cell::Absent {
            *place = cell(block, at, what, value);
        }
    }
}

/// Reads the text output.
#[derive(Debug, Default)]
struct Reader {
    block: Block,
    /// The threads of the run at hand.
    rows: BTreeMap<u32, Row>,
    /// Number of the screen at hand.
    screen: u64,
    /// Whether no thread of the screen at hand was read yet.
    fresh: bool,
    table: Table,
    overflows: bool,
    runs: usize,
}

impl Reader {
    /// Consumes lines up to the end of the block.
    fn read(&mut self, lines: &[Line<'_>]) {
        loop {
            let at = self.block.taken.len();
            let gap = blanks(lines.get(at..).unwrap_or(&[]), 3);
            let Some(line) = lines.get(at + gap) else {
                break;
            };
            let text = unescaped(&line.text);
            let kind = kind(text);
            if !self.accepts(kind, at == 0) || (kind == Kind::Digits && gap > 0) {
                break;
            }
            take(&mut self.block, gap, "blank");
            self.consume(lines, kind, text);
        }
    }

    /// Whether a line belongs to the block.
    fn accepts(&self, kind: Kind, first: bool) -> bool {
        let fresh = self.rows.is_empty() && self.table.is_empty();
        match kind {
            Kind::Device => first,
            Kind::Message => fresh,
            Kind::Policy | Kind::Thread => self.table.is_empty(),
            Kind::Histogram => self.table.is_empty(),
            Kind::Digits => self.table.begun || self.table.last.is_some(),
            Kind::Summary(which) => self.table.summaries[which].is_none() && !self.overflows,
            Kind::Overflow => self.table.last.is_some(),
            Kind::Other => false,
        }
    }

    /// Takes one line, or those of a thread.
    fn consume(&mut self, lines: &[Line<'_>], kind: Kind, text: &str) {
        let at = self.block.taken.len();
        match kind {
            Kind::Thread => self.thread(lines, text),
            Kind::Histogram => {
                self.table.begun = true;
                self.table.at = at;
                take(&mut self.block, 1, "cyclictest histogram");
            }
            Kind::Digits => match self.table.last {
                None => {
                    self.table.push(text);
                    take(&mut self.block, 1, "cyclictest histogram");
                }
                Some(_) if self.overflows => take(&mut self.block, 1, "cyclictest overflow"),
                Some(which) => self.summary(at, which, text),
            },
            Kind::Summary(which) => {
                let (_, values) = text.split_once(':').unwrap_or((text, ""));
                if self.table.is_empty() {
                    self.table.at = at;
                }
                self.summary(at, which, values);
            }
            Kind::Overflow => {
                self.overflows = true;
                take(&mut self.block, 1, "cyclictest overflow");
            }
            _ => {
                self.fresh = true;
                take(&mut self.block, 1, "cyclictest header");
            }
        }
    }

    /// Takes a summary row or its continuation.
    fn summary(&mut self, at: usize, which: usize, values: &str) {
        take(&mut self.block, 1, "cyclictest summary");
        self.table.summarise(&mut self.block, at, which, values);
    }

    /// Takes a thread line: of the same screen, of the next, or of another
    /// run.
    fn thread(&mut self, lines: &[Line<'_>], text: &str) {
        let Some((id, pid, fields)) = thread(text) else {
            return;
        };
        let mut row = read_row(lines, &mut self.block, pid, fields);
        let old = self.rows.get(&id).copied();
        if let Some(old) = old.filter(|old| self.fresh || old.screen == self.screen) {
            self.screen += 1;
            if !old.goes_on_as(&row) {
                self.end_run();
            }
        }
        self.fresh = false;
        row.screen = self.screen;
        if let Some(old) = self.rows.insert(id, row) {
            let redrawn = self.block.taken[old.at..row.at].iter_mut();
            for taken in redrawn
                .take_while(|taken| **taken == "cyclictest thread")
                .take(1)
            {
                *taken = "cyclictest refresh";
            }
        }
    }

    /// Makes a run of the threads read so far.
    fn end_run(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        let table = std::mem::take(&mut self.table);
        let first = rows.values().map(|row| row.at).min().unwrap_or(table.at);
        let mut threads: Vec<(u32, Seen)> = Vec::new();
        for (id, row) in rows {
            if row.seen.count == Cell::Is(0.0) {
                let sentence = format!("thread {id} took no samples, so it has no latencies");
                self.block
                    .find(row.at, Finding::Doubt("no-samples", sentence));
            } else {
                threads.push((id, row.seen));
            }
        }
        if threads.is_empty() {
            threads = (0u32..).zip(table.seen()).collect();
        }
        let mut quantiles = Vec::new();
        if table.begun {
            self.quantiles(&table, &mut quantiles);
        }
        let figures = figures(&threads, "us", quantiles);
        if !figures.is_empty() {
            self.runs += 1;
            self.block.find(first, run(figures));
        }
    }

    /// Reads the quantiles off the histogram, or says why not.
    fn quantiles(&mut self, table: &Table, quantiles: &mut Vec<Figure>) {
        if table.ragged {
            let sentence = "the rows of the histogram differ in width, so it has no quantiles";
            self.block.find(
                table.at,
                Finding::Doubt("ragged-histogram", sentence.to_owned()),
            );
        }
        match table.histogram() {
            None if table.rows.is_empty() && !table.ragged => {
                truncated(&mut self.block, table.at, "the histogram has no rows");
            }
            None if table.summaries[OVER].is_none() => {
                truncated(
                    &mut self.block,
                    table.at,
                    "the histogram ends before its overflows",
                );
            }
            None => {}
            Some(histogram) => {
                if let Some(name) = histogram.push_quantiles(quantiles, "latency", "us") {
                    let sentence = format!("{name} lies among the samples above the histogram");
                    self.block
                        .find(table.at, Finding::Doubt("histogram-overflow", sentence));
                }
            }
        }
    }

    /// Ends the last run and the block.
    fn finish(mut self) -> Option<Block> {
        if self.block.taken.is_empty() {
            return None;
        }
        let found = self.block.findings.len();
        self.end_run();
        if self.runs == 0 && self.block.findings.len() == found {
            truncated(
                &mut self.block,
                0,
                "cyclictest began but no thread line follows",
            );
        }
        Some(self.block)
    }
}

/// The figures of one run: over all threads, then quantiles, then of each
/// thread.
fn figures(threads: &[(u32, Seen)], unit: &str, quantiles: Vec<Figure>) -> Vec<Figure> {
    let mut figures = Vec::new();
    let seen: Vec<Seen> = threads.iter().map(|(_, seen)| *seen).collect();
    push_levels(&mut figures, "latency", unit, &seen);
    figures.extend(quantiles);
    for (id, seen) in threads {
        for (name, cell) in [("max", seen.max), ("avg", seen.avg), ("min", seen.min)] {
            if let Some(value) = cell.value() {
                figures.push(Figure::new(format!("latency {name} T{id}"), value, unit));
            }
        }
    }
    figures
}
