//! The trace of the ftrace hardware latency detector (`hwlat` tracer).
//!
//! Each event says when the machine was away from the kernel for longer than
//! the threshold. Mailers wrap the event lines, so an event is read from its
//! sequence number (`#6`) on, over as many lines as it takes.

use memchr::memchr_iter;

use super::begins::Begins;
use super::latencies::{
    Cell, blanks, cell, greatest, is_digits, leading_digits, run, take, truncated,
};
use super::number::english;
use super::{Block, Figure, Finding, Grammar, Labels};
use crate::Line;

/// The hwlat tracer's output.
#[derive(Debug, Clone, Copy)]
pub struct Hwlat;

/// What stands before the pair of latencies.
const LEGEND: &str = "inner/outer(us):";

/// One event.
#[derive(Debug, Default)]
struct Event {
    seq: u64,
    inner: Cell,
    outer: Cell,
    /// Seconds of the wall clock (`ts:`).
    ts: Option<f64>,
    /// Seconds of the trace clock.
    stamp: Option<f64>,
}

/// What the header says.
#[derive(Debug, Default)]
struct Header {
    present: bool,
    /// Events that were written, whether or not they are in the buffer.
    written: Option<u64>,
}

impl Grammar for Hwlat {
    fn name(&self) -> &'static str {
        "hwlat"
    }

    fn begins(&self) -> Begins {
        Begins::holding(b"#[")
    }

    fn starts(&self, line: &str) -> bool {
        if is_title(line) || (line.ends_with(':') && line.contains(" [") && stamp(line).is_some()) {
            return true;
        }
        marker(line)
            .is_some_and(|(head, _, rest)| rest.starts_with(LEGEND) || stamp(head).is_some())
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let mut block = Block::default();
        let header = read_header(lines, &mut block);
        let mut events: Vec<Event> = Vec::new();
        let mut other = 0u64;
        let mut first_event = 0;
        let mut lost = false;
        loop {
            let at = block.taken.len();
            let gap = blanks(lines.get(at..).unwrap_or(&[]), 2);
            let Some(line) = lines.get(at + gap) else {
                break;
            };
            if let Some(seq) = event_at(lines, at + gap) {
                if events.last().is_some_and(|last| seq <= last.seq) {
                    break;
                }
                if events.is_empty() {
                    first_event = at + gap;
                }
                take(&mut block, gap, "blank");
                let event = read_event(lines, &mut block, seq);
                events.push(event);
            } else if gap == 0 && header.present && is_lost(&line.text) {
                lost = true;
                take(&mut block, 1, "hwlat note");
            } else if header.present && is_trace_line(&line.text) {
                take(&mut block, gap, "blank");
                take(&mut block, 1, "trace event");
                other += 1;
            } else {
                break;
            }
        }
        if block.taken.is_empty() {
            return None;
        }
        report(&mut block, &header, &events, other, first_event, lost);
        Some(block)
    }
}

/// Whether a trace of this tracer begins here.
fn is_title(line: &str) -> bool {
    let rest = line.trim_start().strip_prefix('#').map(str::trim_start);
    let name = rest.and_then(|rest| rest.strip_prefix("tracer:"));
    name.is_some_and(|name| name.trim() == "hwlat")
}

/// Whether the kernel says here that events were lost.
fn is_lost(text: &str) -> bool {
    text.starts_with("CPU:") && text.ends_with("EVENTS]")
}

/// Parts a line at its sequence number: what stands before it, the number,
/// and what stands after it without leading blanks. Only a number that the
/// legend follows, or that ends the line, counts.
fn marker(text: &str) -> Option<(&str, u64, &str)> {
    for hash in memchr_iter(b'#', text.as_bytes()) {
        let (digits, rest) = leading_digits(&text[hash + 1..]);
        if digits.is_empty() || digits.len() > 18 {
            continue;
        }
        let rest = rest.trim_start();
        if rest.is_empty() || rest.starts_with(LEGEND) {
            return Some((&text[..hash], digits.parse().ok()?, rest));
        }
    }
    None
}

/// The time of the trace clock that ends `head` (`... 613.749741: `).
fn stamp(head: &str) -> Option<f64> {
    let time = head.trim_end().strip_suffix(':')?;
    let token = time.rsplit([' ', '\t']).next()?;
    token.contains('.').then(|| english(token)).flatten()
}

/// The sequence number of the event that begins at line `at`, wherever the
/// mailer has broken it.
fn event_at(lines: &[Line<'_>], at: usize) -> Option<u64> {
    let text = lines.get(at)?.text.as_ref();
    let next = lines.get(at + 1).map_or("", |line| line.text.trim_start());
    match marker(text) {
        Some((_, seq, rest)) if rest.starts_with(LEGEND) => Some(seq),
        Some((head, seq, _)) => (stamp(head).is_some() && next.starts_with(LEGEND)).then_some(seq),
        None if next.starts_with('#') && text.contains('[') && stamp(text).is_some() => {
            let (head, seq, rest) = marker(next)?;
            (head.is_empty() && rest.starts_with(LEGEND)).then_some(seq)
        }
        None => None,
    }
}

/// Reads the event that begins at the next line, for which [`event_at`] gave
/// a number.
fn read_event(lines: &[Line<'_>], block: &mut Block, seq: u64) -> Event {
    let mut event = Event {
        seq,
        ..Event::default()
    };
    let first = block.taken.len();
    let mut text = lines[first].text.as_ref();
    take(block, 1, "hwlat event");
    if marker(text).is_none() {
        // The line was broken before the sequence number.
        event.stamp = stamp(text);
        text = lines.get(first + 1).map_or("", |line| line.text.as_ref());
        take(block, 1, "hwlat event");
    }
    if let Some((head, _, rest)) = marker(text) {
        event.stamp = event.stamp.or_else(|| stamp(head));
        read_fields(block, &mut event, rest);
    }
    for _ in 0..4 {
        let Some(line) = lines.get(block.taken.len()) else {
            break;
        };
        if !continues(&event, &line.text) {
            break;
        }
        take(block, 1, "hwlat event");
        read_fields(block, &mut event, &line.text);
    }
    if event.inner == Cell::Absent {
        truncated(block, first, "the event ends before its latencies");
        event.inner = Cell::Bad;
        event.outer = Cell::Bad;
    }
    event
}

/// Whether a line goes on with an event that was broken.
fn continues(event: &Event, text: &str) -> bool {
    let mut any = false;
    for (index, token) in text.split_ascii_whitespace().enumerate() {
        any = true;
        let pair = index < 2 && event.inner == Cell::Absent && is_pair(token);
        let known = token == LEGEND
            || token.starts_with("ts:")
            || token.starts_with("count:")
            || token.starts_with("nmi-total:")
            || token.starts_with("nmi-count:");
        if !pair && !known {
            return false;
        }
    }
    any
}

/// Whether a token is two numbers with a stroke between.
fn is_pair(token: &str) -> bool {
    token
        .split_once('/')
        .is_some_and(|(inner, outer)| is_digits(inner) && is_digits(outer))
}

/// Reads the named fields of an event, and the pair of latencies if it is
/// still to come.
fn read_fields(block: &mut Block, event: &mut Event, text: &str) {
    let at = block.taken.len().saturating_sub(1);
    for token in text.split_ascii_whitespace() {
        if token == LEGEND {
            continue;
        }
        if let Some(value) = token.strip_prefix("ts:") {
            event.ts = cell(block, at, "the time of the event", value).value();
        } else if let Some((name, value)) = token.split_once(':') {
            if matches!(name, "count" | "nmi-total" | "nmi-count") {
                cell(block, at, name, value);
            }
        } else if event.inner == Cell::Absent {
            let (inner, outer) = token.split_once('/').unwrap_or((token, ""));
            event.inner = cell(block, at, "the inner latency", inner);
            event.outer = cell(block, at, "the outer latency", outer);
        }
    }
}

/// Whether a line looks like an event of another kind in the same trace.
fn is_trace_line(text: &str) -> bool {
    let Some((_, rest)) = text.split_once(" [") else {
        return false;
    };
    let Some((cpu, rest)) = rest.split_once(']') else {
        return false;
    };
    is_digits(cpu)
        && rest
            .split_ascii_whitespace()
            .take(4)
            .any(|token| token.contains('.') && stamp(token).is_some())
}

/// Reads the title and the column art under it, if the block has them.
fn read_header(lines: &[Line<'_>], block: &mut Block) -> Header {
    let mut header = Header::default();
    if !lines.first().is_some_and(|line| is_title(&line.text)) {
        return header;
    }
    header.present = true;
    take(block, 1, "hwlat header");
    for line in &lines[1..] {
        let Some(rest) = line.text.trim_start().strip_prefix('#') else {
            break;
        };
        if let Some(entries) = rest.trim_start().strip_prefix("entries-in-buffer/") {
            header.written = written(entries);
            if header.written.is_none() {
                let at = block.taken.len();
                let token = entries.split_ascii_whitespace().nth(1).unwrap_or("");
                super::latencies::bad_number(block, at, "the number of entries", token);
            }
        } else if !is_art(rest) {
            break;
        }
        take(block, 1, "hwlat header");
    }
    header
}

/// The second of the numbers in `entries-written: 6/6   #P:56`.
fn written(text: &str) -> Option<u64> {
    let (_, numbers) = text.split_once(':')?;
    let (_, written) = numbers.split_ascii_whitespace().next()?.split_once('/')?;
    if !is_digits(written) {
        return None;
    }
    written.parse().ok()
}

/// Whether a comment is one of those the kernel draws above the columns.
fn is_art(rest: &str) -> bool {
    let drawn = rest.trim_end_matches("delay");
    drawn.bytes().all(|b| b" \t|/_-=>#".contains(&b))
        || rest.contains("=> ")
        || rest.contains("TASK-PID")
        || (rest.contains("CPU") && rest.trim_end().ends_with("####"))
}

/// Turns the events into findings.
fn report(
    block: &mut Block,
    header: &Header,
    events: &[Event],
    other: u64,
    first_event: usize,
    lost: bool,
) {
    let count = events.len() as u64;
    let last = events.last().map_or(0, |event| event.seq);
    let written = header.written.unwrap_or(0).saturating_sub(other);
    let expected = written.max(last);
    if events.is_empty() && header.written.is_none() {
        let sentence = "the trace has neither events nor a line that says how many were written";
        truncated(block, 0, sentence);
        return;
    }
    if expected > count || lost {
        let sentence = format!(
            "{expected} events were written but {count} are here, so the count is a lower bound"
        );
        block.find(0, Finding::Doubt("missing-events", sentence));
        if events.is_empty() {
            return;
        }
    }
    let finding = Finding::Events {
        labels: Labels::default(),
        event: "hwlat".to_owned(),
        count,
        exposure_s: None,
        times_s: times(events),
    };
    block.find(0, finding);
    let maxima = [
        ("hwlat inner max", greatest(events.iter().map(|e| e.inner))),
        ("hwlat outer max", greatest(events.iter().map(|e| e.outer))),
    ];
    let figures: Vec<Figure> = maxima
        .into_iter()
        .filter_map(|(name, value)| Some(Figure::new(name, value?, "us")))
        .collect();
    if !figures.is_empty() {
        block.find(first_event, run(figures));
    }
}

/// The times of all events on the one clock that all of them have: the wall
/// clock rather than the trace clock; empty if neither is complete.
fn times(events: &[Event]) -> Vec<f64> {
    let wall: Option<Vec<f64>> = events.iter().map(|event| event.ts).collect();
    let trace = || events.iter().map(|event| event.stamp).collect();
    let mut times: Vec<f64> = wall.or_else(trace).unwrap_or_default();
    times.sort_by(f64::total_cmp);
    times
}
