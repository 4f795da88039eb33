//! The text of `perf stat`, and of `perf stat -I`.

use super::counters::{Counter, add_up, emit};
use super::line::{self, Row};
use super::{ELAPSED, preamble};
use crate::grammar::latencies::blanks;
use crate::grammar::number::Locale;
use crate::grammar::prelude::*;

/// The beginning of the line above the counters.
pub(super) const HEADER: &str = "Performance counter stats for";
/// More blank lines in a row end a block.
const BLANKS: usize = 4;
/// Most lines of a wrapped header.
const WRAPPED: usize = 4;
/// The quotes that perf and mailers put around the command.
const QUOTES: [char; 5] = ['\'', '"', '`', '\u{2018}', '\u{2019}'];
/// Advice that perf prints below the counters.
const ADVICE: [&str; 5] = [
    "Some events weren't counted",
    "echo 0 > /proc/sys/kernel/nmi_watchdog",
    "echo 1 > /proc/sys/kernel/nmi_watchdog",
    "The events in group usually",
    "perf stat ...",
];

/// The contents of the line above the counters.
#[derive(Default)]
struct Header {
    /// The measured command, if there is one.
    command: Option<String>,
    runs: Option<u32>,
}

/// Reads a header, which a mailer may have wrapped; returns also its number of lines.
fn header(lines: &[Line<'_>]) -> Option<(Header, usize)> {
    let mut text = line_at(lines, 0)?.trim().to_owned();
    if !text.starts_with(HEADER) || text.len() > 1 << 16 {
        return None;
    }
    let mut used = 1;
    while !text.ends_with(':') && used < WRAPPED {
        let next = line_at(lines, used).filter(|next| !next.trim().is_empty());
        let Some(next) = next.filter(|next| line::parse(next).is_none()) else {
            break;
        };
        text = format!("{text} {}", next.trim());
        used += 1;
    }
    let target = text[HEADER.len()..].trim();
    let (target, closed) = match target.strip_suffix(':') {
        Some(target) => (target, true),
        None => (target, target.ends_with(QUOTES)),
    };
    let bare = target.strip_suffix(')');
    let counted = bare.and_then(|rest| rest.rsplit_once(" ("));
    let counted = counted.and_then(|(command, count)| {
        let count = count.strip_suffix(" runs").or(count.strip_suffix(" run"))?;
        Some((command, count.parse().ok()?))
    });
    let (target, runs) = counted.map_or((target, None), |(target, runs)| (target, Some(runs)));
    let quoted = target.starts_with(QUOTES);
    let named = ["process id", "thread id", "CPU(s)", "BPF program"];
    if !closed || !quoted && !named.iter().any(|name| target.starts_with(name)) {
        let cut = quoted || target.is_empty();
        return cut.then(|| (Header::default(), 1));
    }
    let command = target.strip_prefix(QUOTES).unwrap_or(target);
    let command = command.strip_suffix(QUOTES).unwrap_or(command).trim();
    let whole = command == "system wide" || command.starts_with("CPU(s)") || command.is_empty();
    let command = (quoted && !whole).then(|| command.to_owned());
    Some((Header { command, runs }, used))
}

/// Reads a row, which a mailer may have wrapped; returns also its number of lines.
fn row(lines: &[Line<'_>]) -> Option<(Row, usize)> {
    let text = line_at(lines, 0)?;
    let next = line_at(lines, 1).filter(|next| text.len() + next.len() < 1000);
    let next = next.filter(|next| !next.trim().is_empty() && line::parse(next).is_none());
    let joined = next.map(|next| format!("{} {}", text.trim_end(), next.trim()));
    let below = |next: &str| text.contains('#') && is_rest(next) || next.trim().starts_with("( +-");
    match (line::parse(text), joined) {
        // What perf derives, and the uncertainty, stand on a line of their own.
        (Some(_), Some(joined)) if next.is_some_and(below) => Some((line::parse(&joined)?, 2)),
        (Some(row), _) => Some((row, 1)),
        (None, joined) => {
            let row = line::parse(&joined?).filter(|row| row.certain)?;
            Some((row, 2))
        }
    }
}

/// Whether a line is the rest of a wrapped one: `utilized`, `GHz   ( +- 1.00% )`.
fn is_rest(text: &str) -> bool {
    let words = text.split(['(', '[']).next().unwrap_or_default().trim();
    let mut units = "utilized|CPUs utilized|GHz|M/sec|K/sec|/sec|insn per cycle|".split('|');
    units.any(|unit| unit == words)
        || words.starts_with("of all ") && words.split(' ').count() <= 5
        || words.ends_with("cycles idle")
}

/// A block as it is read.
#[derive(Default)]
struct Text {
    header: Option<Header>,
    rows: Vec<(usize, Row)>,
    /// Single times of `--table`.
    single: Vec<(usize, f64)>,
    taken: Vec<Taken>,
    /// Blank lines since the last that was none.
    blanks: usize,
}

/// Reads a block with or without a header.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    let mut text = Text::default();
    let preamble = preamble(lines);
    let start = lines.get(preamble.len()..)?;
    let depth = start.first()?.depth;
    match header(start) {
        Some((header, used)) => {
            text.taken = preamble;
            let end = text.taken.len() + used;
            text.taken.resize(end, "perf stat header");
            text.header = Some(header);
        }
        None if !preamble.is_empty() || !is_block(start) => return None,
        None => {}
    }
    while line_at(lines, text.taken.len()).is_some()
        && lines[text.taken.len()].depth == depth
        && text.step(&lines[text.taken.len()..])
    {}
    while text.taken.last() == Some(&"perf stat blank") {
        text.taken.pop();
    }
    Some(text.finish())
}

/// Whether a block without a header begins here: with two consecutive counters that perf knows, one
/// of which cannot be prose, or with a time.
fn is_block(lines: &[Line<'_>]) -> bool {
    let Some((first, used)) = row(lines) else {
        return false;
    };
    if first.is_time {
        return true;
    }
    let same = |line: &Line<'_>| line.depth == lines[0].depth;
    let next = lines.get(used..);
    let next = next.filter(|rest| rest.first().is_some_and(same));
    let blanks = next.map_or(0, |rest| blanks(rest, 2));
    let next = next.and_then(|rest| row(rest.get(blanks..)?));
    let is_next = |(next, _): (Row, usize)| {
        next.is_time || blanks == 0 && next.known && (first.certain || next.certain)
    };
    first.time.is_none() && first.known && next.is_some_and(is_next)
}

impl Text {
    fn has(&self, name: &str) -> bool {
        self.rows.iter().any(|(_, row)| row.name == name)
    }

    /// Takes the first of these lines; returns false if the block has ended.
    fn step(&mut self, rest: &[Line<'_>]) -> bool {
        let (at, text) = (self.taken.len(), rest[0].text.trim());
        if text.is_empty() {
            self.blanks += 1;
            self.taken.push("perf stat blank");
            return self.blanks <= BLANKS;
        }
        let (what, used) = if let Some((row, used)) = row(rest).filter(|(row, _)| self.accepts(row))
        {
            let what = match () {
                () if row.is_time => "perf stat elapsed",
                () if row.is_missing() => "perf stat unsupported counter",
                () => "perf stat counter",
            };
            self.rows.push((at, row));
            (what, used)
        } else if let Some(value) = single(text) {
            self.single.push((at, value));
            ("perf stat note", 1)
        } else if self.is_note(text) {
            ("perf stat note", 1)
        } else {
            return false;
        };
        self.blanks = 0;
        self.taken.resize(at + used, what);
        true
    }

    /// Whether a row belongs to the block.
    fn accepts(&self, row: &Row) -> bool {
        let timed = self.has(ELAPSED);
        if row.is_time {
            return !self.has(&row.name);
        }
        let first = self.rows.first();
        let again = || first.is_some_and(|(_, first)| first.name == row.name);
        let headed = self.header.is_some() && (self.blanks == 0 || self.rows.is_empty());
        let goes_on = row.known && (self.blanks == 0 || !again());
        !timed && row.time.is_none() && (headed || goes_on)
    }

    /// Whether perf prints such a line among or below the counters.
    fn is_note(&self, text: &str) -> bool {
        let table = ["# Table of individual", "# Final result"];
        let mut known = table.iter().chain(&ADVICE);
        if known.any(|start| text.starts_with(start)) {
            return true;
        }
        let derived = text.split_once('#').is_some_and(|(head, rest)| {
            let number = rest.split_whitespace().next().unwrap_or_default();
            let plain = number.trim_end_matches('%').replace(',', ".");
            head.split_whitespace().count() <= 2
                && plain.parse::<f64>().is_ok()
                && plain.contains('.')
        });
        derived && self.blanks == 0 && !self.rows.is_empty() && !self.has(ELAPSED)
    }

    fn finish(self) -> Block {
        let mut block = Block::from(self.taken);
        if self.rows.is_empty() {
            let sentence = "a perf stat header without counters";
            block.doubt(0, "truncated-block", sentence);
        }
        let header = self.header.unwrap_or_default();
        let labels = Labels::new(None, header.command);
        let mut counters = counters(&mut block, self.rows);
        let all = self.single.len() > 1
            && header.runs.map(|runs| runs as usize) == Some(self.single.len());
        if all {
            counters.retain(|counter| counter.metric != ELAPSED);
            for ((at, value), repetition) in self.single.into_iter().zip(1..) {
                let figures = vec![Figure::new(ELAPSED, value, "s")];
                block.run(at, labels.repeated(repetition), figures);
            }
        }
        emit(&mut block, &labels, header.runs, 0, counters);
        block
    }
}

/// `0.051662 (+0.000208) #` below `# Table of individual measurements:`.
fn single(text: &str) -> Option<f64> {
    let (value, rest) = text.split_once(" (")?;
    let (difference, bar) = rest.split_once(')')?;
    let signed = difference.starts_with(['+', '-']);
    let drawn = bar.trim().starts_with('#') && bar.trim().bytes().all(|b| b == b'#');
    (signed && drawn).then(|| value.replace(',', ".").parse().ok())?
}

/// Converts rows to counters. Adds a doubt about a value that would be another number with the
/// other decimal mark, if nothing shows which one is meant.
fn counters(block: &mut Block, rows: Vec<(usize, Row)>) -> Vec<Counter> {
    let (at, rows): (Vec<usize>, Vec<Row>) = rows.into_iter().unzip();
    let locale = line::locale(&rows);
    let doubtful = at.iter().zip(&rows).find(|(_, row)| row.is_ambiguous());
    if let Some((at, row)) = doubtful.filter(|_| locale.is_none()) {
        let shown = row.described();
        let sentence = format!(
            "the comma or dot of {shown} may be a decimal mark or separate thousands; read as in \
             English"
        );
        block.doubt(*at, "locale-ambiguous", sentence);
    }
    let locale = locale.unwrap_or(Locale::English);
    let all = at.into_iter().zip(rows);
    all.map(|(at, row)| row.counter(at, locale)).collect()
}

/// Whether the line is the heading above intervals.
pub(super) fn is_heading(text: &str) -> bool {
    let rest = text.trim_start().strip_prefix('#').unwrap_or_default();
    let mut words = rest.split_whitespace().take(8);
    words.next() == Some("time") && words.any(|word| word == "counts")
}

/// Reads the intervals of one execution.
pub(super) fn read_intervals(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let mut taken: Vec<Taken> = Vec::new();
    let mut rows: Vec<(usize, Row)> = Vec::new();
    while let Some(line) = lines.get(taken.len()).filter(|line| line.depth == depth) {
        let at = taken.len();
        if is_heading(&line.text) {
            taken.push("perf stat interval heading");
            continue;
        }
        let last = rows.last().and_then(|(_, row)| row.time);
        let Some((row, used)) =
            row(&lines[at..]).filter(|(row, _)| row.time.is_some() && row.time >= last)
        else {
            break;
        };
        let what = match row.is_missing() {
            true => "perf stat unsupported counter",
            false => "perf stat interval",
        };
        rows.push((at, row));
        taken.resize(at + used, what);
    }
    if !rows.iter().any(|(_, row)| row.known) {
        return None;
    }
    let last = rows.last().and_then(|(_, row)| row.time);
    let mut block = Block::from(taken);
    let labels = summary(lines, &mut block, last.unwrap_or_default());
    let counters = counters(&mut block, rows);
    add_up(&mut block, &labels, 0, counters);
    Some(block)
}

/// Skips the totals that `--summary` prints below the intervals of the same execution; returns what
/// they say about the command.
fn summary(lines: &[Line<'_>], block: &mut Block, last: f64) -> Labels {
    let from = block.taken.len();
    let blanks = blanks(&lines[from..], BLANKS);
    let rest = &lines[from + blanks..];
    let totals = header(rest).and_then(|(header, _)| Some((header, read(rest)?)));
    let Some((header, totals)) = totals else {
        return Labels::default();
    };
    let mut found = totals.findings.iter();
    let elapsed = found.find_map(|(_, finding)| match finding {
        Finding::Run { figures, .. } => figures.iter().find(|figure| figure.metric == ELAPSED),
        _ => None,
    });
    if !elapsed.is_some_and(|elapsed| (last..=last * 1.05 + 0.1).contains(&elapsed.value)) {
        return Labels::default();
    }
    block.taken.resize(from + blanks, "perf stat blank");
    let end = from + blanks + totals.taken.len();
    block.taken.resize(end, "perf stat note");
    Labels::new(None, header.command)
}
