//! rtla: `timerlat` and `osnoise`, as tables (`top`) and as histograms
//! (`hist`), and `hwnoise`.
//!
//! The CPUs are parts of one run. A table that is printed again with a later
//! time is the same screen redrawn, of which the last counts.

use super::begins::Begins;
use super::latencies::{
    Cell, Seen, blanks, cell, greatest, is_digits, least, push_levels, run, take, truncated,
    unescaped,
};
use super::{Block, Figure, Grammar};
use crate::Line;

mod hist;

/// rtla.
#[derive(Debug, Clone, Copy)]
pub struct Rtla;

impl Grammar for Rtla {
    fn name(&self) -> &'static str {
        "rtla"
    }

    fn begins(&self) -> Begins {
        Begins::with(b"0123456789#ITOHCd\x1b")
    }

    fn starts(&self, line: &str) -> bool {
        let text = unescaped(line);
        match text.as_bytes().first() {
            Some(b'#' | b'I') => hist::starts(text),
            Some(b'T' | b'O' | b'H') => is_title(text),
            Some(b'C') => is_columns(text),
            Some(b'd') => is_legend(text),
            Some(b'0'..=b'9') => is_legend(text),
            _ => false,
        }
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        if hist::starts(unescaped(&lines.first()?.text)) {
            return hist::read(lines);
        }
        let mut block = Block::default();
        let mut screens: Vec<Screen> = Vec::new();
        loop {
            let at = block.taken.len();
            let gap = blanks(lines.get(at..).unwrap_or(&[]), 2);
            let Some(line) = lines.get(at + gap) else {
                break;
            };
            if !self.starts(&line.text) || hist::starts(unescaped(&line.text)) {
                break;
            }
            let Some(screen) = Screen::read(lines, &mut block, gap) else {
                break;
            };
            if let Some(old) = screens.pop_if(|old| old.goes_on_as(&screen)) {
                block.taken[old.first..old.end].fill("rtla interim screen");
            }
            screens.push(screen);
        }
        for screen in &screens {
            screen.report(&mut block);
        }
        (!block.taken.is_empty()).then_some(block)
    }
}

/// Whether a line is the title of a table.
fn is_title(text: &str) -> bool {
    let end = text.find('\u{1b}').unwrap_or(text.len());
    let title = text[..end].trim_end();
    matches!(
        title,
        "Timer Latency" | "Operating System Noise" | "Hardware-related Noise"
    )
}

/// Whether a line names the columns.
fn is_columns(text: &str) -> bool {
    text.starts_with("CPU COUNT ") || text.starts_with("CPU Period ")
}

/// Whether a line says how long the tool has run and in which unit it
/// prints.
fn is_legend(text: &str) -> bool {
    let Some((head, rest)) = text.split_once('|') else {
        return false;
    };
    let rest = rest.trim_start();
    head.len() < 40
        && (rest.starts_with("IRQ Timer Latency (")
            || (head.starts_with("duration:") && rest.starts_with("time is in ")))
}

/// Seconds in `0 00:10:01` or `duration:   0 00:10:01`.
fn duration(legend: &str) -> Option<u64> {
    let (head, _) = legend.split_once('|')?;
    let head = head.trim().trim_start_matches("duration:").trim_start();
    let (days, clock) = head.split_once(' ')?;
    let mut seconds = days.parse::<u64>().ok()?;
    for (part, scale) in clock.trim().split(':').zip([24, 60, 60]) {
        seconds = seconds
            .checked_mul(scale)?
            .checked_add(part.parse().ok()?)?;
    }
    Some(seconds)
}

/// Columns of a noise table after the first two.
const OSNOISE_COLUMNS: usize = 10;

/// The same where interrupts were off, so that only hardware interferes.
const HWNOISE_COLUMNS: usize = 7;

/// One CPU: for timerlat four cells in each section, for osnoise one for
/// each column.
#[derive(Debug, Default)]
struct Row {
    cpu: u32,
    count: Cell,
    cells: Vec<Cell>,
}

/// One table.
#[derive(Debug, Default)]
struct Screen {
    first: usize,
    end: usize,
    /// Whether the latency columns are there; else it is a table of noise.
    timerlat: bool,
    /// Columns after the first two.
    width: usize,
    nanoseconds: bool,
    duration: Option<u64>,
    rows: Vec<Row>,
    /// The row over all CPUs, by section: minimum, mean, maximum.
    all: Vec<[Cell; 3]>,
    /// Whether the poster has left out rows.
    elided: bool,
}

impl Screen {
    /// Reads a table that begins after `gap` blank lines, or nothing.
    fn read(lines: &[Line<'_>], block: &mut Block, gap: usize) -> Option<Screen> {
        let mut screen = Screen {
            first: block.taken.len() + gap,
            ..Screen::default()
        };
        let mut end = screen.first;
        let text = |at: usize| lines.get(at).map_or("", |line| unescaped(&line.text));
        let mut legend = false;
        if is_title(text(end)) {
            end += 1;
        }
        end += blanks(lines.get(end..).unwrap_or(&[]), 1);
        while is_legend(text(end)) || (legend && text(end).contains("Timer Latency (")) {
            screen.nanoseconds |= text(end).contains("Latency (ns)");
            screen.duration = screen.duration.or_else(|| duration(text(end)));
            legend = true;
            end += 1;
        }
        if !is_columns(text(end)) {
            if !legend {
                return None;
            }
            take(block, gap, "blank");
            take(block, end - screen.first, "rtla header");
            screen.end = end;
            return Some(screen);
        }
        screen.timerlat = text(end).starts_with("CPU COUNT");
        screen.add_columns(text(end));
        end += 1;
        while is_more_columns(text(end)) {
            screen.add_columns(text(end));
            end += 1;
        }
        take(block, gap, "blank");
        take(block, end - screen.first, "rtla header");
        screen.read_rows(lines, block);
        screen.end = block.taken.len();
        Some(screen)
    }

    /// Counts the columns that a line names.
    fn add_columns(&mut self, text: &str) {
        if self.timerlat {
            let names = ["cur", "min", "avg", "max"];
            let words = text.split_ascii_whitespace();
            self.width += words.filter(|word| names.contains(word)).count();
        } else if text.contains("Softirq") {
            self.width = OSNOISE_COLUMNS;
        } else {
            self.width = self.width.max(HWNOISE_COLUMNS);
        }
    }

    /// Reads the rows of the CPUs, the rule and the row over all.
    fn read_rows(&mut self, lines: &[Line<'_>], block: &mut Block) {
        while let Some(line) = lines.get(block.taken.len()) {
            let text = unescaped(&line.text);
            let at = block.taken.len();
            if let Some((cpu, count, rest)) = row(text) {
                self.read_row(lines, block, cpu, count, rest);
            } else if self.timerlat && text.starts_with("---") && text.contains("-|-") {
                take(block, 1, "rtla header");
            } else if self.timerlat && text.starts_with("ALL #") {
                self.read_all(block, at, text);
            } else if matches!(text, "..." | "[...]" | "…") {
                self.elided = true;
                take(block, 1, "rtla row left out");
            } else {
                break;
            }
        }
    }

    /// Reads the row of one CPU, over the lines on which a mailer has
    /// broken it.
    fn read_row(
        &mut self,
        lines: &[Line<'_>],
        block: &mut Block,
        cpu: u32,
        count: &str,
        rest: &str,
    ) {
        let at = block.taken.len();
        take(block, 1, "rtla row");
        let mut row = Row {
            cpu,
            count: cell(block, at, "the count", count),
            cells: Vec::new(),
        };
        let mut text = rest;
        loop {
            for token in text.split_ascii_whitespace().filter(|token| *token != "|") {
                if row.cells.len() == self.width {
                    break;
                }
                let value = match token {
                    "-" => Cell::Absent,
                    _ => cell(block, block.taken.len() - 1, "a figure of the CPU", token),
                };
                row.cells.push(value);
            }
            let next = lines
                .get(block.taken.len())
                .map_or("", |line| line.text.trim_start());
            if row.cells.len() == self.width || next.is_empty() || !is_cells(next) {
                break;
            }
            text = next;
            take(block, 1, "rtla row");
        }
        if row.cells.len() < self.width {
            truncated(
                block,
                at,
                "the row has fewer figures than the table has columns",
            );
            row.cells.resize(self.width, Cell::Bad);
        }
        self.rows.push(row);
    }

    /// Reads the row over all CPUs (`ALL #40011  e0 |  2 137 462 | ...`).
    fn read_all(&mut self, block: &mut Block, at: usize, text: &str) {
        take(block, 1, "rtla total");
        for section in text.split('|').skip(1) {
            let mut cells = section.split_ascii_whitespace().map(|token| match token {
                "-" => Cell::Absent,
                _ => cell(block, at, "a figure over all CPUs", token),
            });
            let mut next = || cells.next().unwrap_or_default();
            self.all.push([next(), next(), next()]);
        }
    }

    /// Whether `next` is this table some time later.
    fn goes_on_as(&self, next: &Screen) -> bool {
        let later = match (self.duration, next.duration) {
            (Some(old), Some(new)) => old < new,
            _ => false,
        };
        let same = |(old, new): (&Row, &Row)| {
            old.cpu == new.cpu
                && match (old.count, new.count) {
                    (Cell::Is(old), Cell::Is(new)) => old <= new,
                    _ => true,
                }
        };
        later
            && self.timerlat == next.timerlat
            && self.rows.len() <= next.rows.len()
            && self.rows.iter().zip(&next.rows).all(same)
    }

    /// Turns the table into a run.
    fn report(&self, block: &mut Block) {
        if self.rows.is_empty() && self.all.is_empty() {
            truncated(block, self.first, "the table has no rows");
            return;
        }
        if self.elided {
            let sentence =
                "rows of the table are left out, so figures over all CPUs may be missing";
            truncated(block, self.first, sentence);
        }
        let mut figures = Vec::new();
        if self.timerlat {
            self.latencies(&mut figures);
        } else {
            self.noise(&mut figures);
        }
        // A CPU that is listed twice keeps its first figure.
        let mut names = std::collections::HashSet::new();
        figures.retain(|figure| names.insert(figure.metric.clone()));
        if !figures.is_empty() {
            block.find(self.first, run(figures));
        }
    }

    /// Adds the figures of a latency table.
    fn latencies(&self, figures: &mut Vec<Figure>) {
        let unit = if self.nanoseconds { "ns" } else { "us" };
        for (section, name) in ["irq", "thread", "user"].iter().enumerate() {
            let prefix = format!("timerlat {name}");
            let cells = |row: &Row, column: usize| {
                row.cells
                    .get(section * 4 + column)
                    .copied()
                    .unwrap_or_default()
            };
            let mut seen: Vec<Seen> = Vec::new();
            if self.rows.is_empty() || self.elided {
                let all = self.all.get(section);
                let [min, avg, max] = all.copied().unwrap_or_default();
                seen.push(Seen {
                    min,
                    avg,
                    max,
                    ..Seen::default()
                });
            } else {
                seen.extend(self.rows.iter().map(|row| Seen {
                    count: row.count,
                    min: cells(row, 1),
                    avg: cells(row, 2),
                    max: cells(row, 3),
                }));
            }
            push_levels(figures, &prefix, unit, &seen);
            for row in &self.rows {
                if let Some(value) = cells(row, 3).value() {
                    figures.push(Figure::new(
                        format!("{prefix} max CPU{}", row.cpu),
                        value,
                        unit,
                    ));
                }
            }
        }
    }

    /// Adds the figures of a noise table.
    fn noise(&self, figures: &mut Vec<Figure>) {
        let tool = if self.width == OSNOISE_COLUMNS {
            "osnoise"
        } else {
            "hwnoise"
        };
        let column = |index: usize| {
            let cells = self
                .rows
                .iter()
                .map(move |row| row.cells.get(index).copied());
            cells.map(Option::unwrap_or_default)
        };
        let sum = column(1).map(Cell::value).sum::<Option<f64>>();
        let totals = [
            ("noise", "us", sum),
            ("available", "%", least(column(2))),
            ("max noise", "us", greatest(column(3))),
            ("max single", "us", greatest(column(4))),
        ];
        for (name, unit, value) in totals {
            if let Some(value) = value.filter(|_| !self.elided) {
                figures.push(Figure::new(format!("{tool} {name}"), value, unit));
            }
        }
        for row in &self.rows {
            for (index, (name, unit, _)) in totals.iter().enumerate() {
                if let Some(value) = row.cells.get(index + 1).and_then(|cell| cell.value()) {
                    let metric = format!("{tool} {name} CPU{}", row.cpu);
                    figures.push(Figure::new(metric, value, *unit));
                }
            }
        }
    }
}

/// Whether a line goes on with the names of the columns.
fn is_more_columns(text: &str) -> bool {
    let names = [
        "cur", "min", "avg", "max", "|", "Max", "Noise", "Single", "HW", "NMI", "IRQ", "Softirq",
        "Thread",
    ];
    !text.is_empty()
        && text
            .split_ascii_whitespace()
            .all(|word| names.contains(&word))
}

/// Whether a line holds nothing but cells, as the rest of a broken row does.
fn is_cells(text: &str) -> bool {
    let mut any = false;
    let all = text.split_ascii_whitespace().all(|token| {
        any |= token != "|";
        matches!(token, "|" | "-") || token.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    });
    any && all
}

/// CPU, count and rest of a row (`  0 #10003     |  113 ...`).
fn row(text: &str) -> Option<(u32, &str, &str)> {
    let (cpu, rest) = text.split_once(' ')?;
    if !is_digits(cpu) {
        return None;
    }
    let rest = rest.trim_start().strip_prefix('#')?;
    let (count, rest) = rest.split_at(rest.find([' ', '|']).unwrap_or(rest.len()));
    Some((cpu.parse().ok()?, count, rest))
}
