//! The trace of the ftrace hardware latency detector (`hwlat` tracer).
//!
//! Each event reports a time, longer than the threshold, during which the machine did not execute
//! the kernel. Mailers wrap the event lines, so an event may extend over several lines.

use super::latencies::blanks;
use super::prelude::*;

/// The hwlat tracer's output.
pub const HWLAT: Grammar = Grammar {
    holds: b"#[",
    ..Grammar::new(
        "hwlat",
        |line| is_title(line) || line.contains("inner/outer(us):") || is_head(line),
        read,
    )
};

/// Most lines of a wrapped event.
const WRAPPED: usize = 4;

static EVENT: Form = Form::new(
    r"^(?:\S.* \[\d+\]\s.*?(?<stamp>\d+\.\d+): +)?#(?<seq>\d{1,18}) +inner/outer\(us\): +(?<inner>\d+)/(?<outer>\d+)(?: +ts:(?<ts>\d+\.\d+))?(?: +[a-z-]+:\d+)*$",
);

/// One event.
#[derive(Debug)]
struct Event {
    seq: u64,
    inner: f64,
    outer: f64,
    /// Seconds of the wall clock (`ts:`).
    ts: Option<f64>,
    /// Seconds of the trace clock.
    stamp: Option<f64>,
}

fn read(lines: &[Line<'_>]) -> Option<Block> {
    let mut block = Block::default();
    let titled = is_title(line_at(lines, 0)?);
    let mut written = None;
    block.extend(lines, |_, _, text| {
        let rest = text.trim_start().strip_prefix('#')?;
        let rest = Some(rest).filter(|rest| titled && is_art(rest))?;
        written = written.or_else(|| entries(rest));
        Some("hwlat header")
    });
    let mut events: Vec<Event> = Vec::new();
    let (mut other, mut first) = (0, 0);
    loop {
        let at = block.taken.len();
        let gap = blanks(lines.get(at..).unwrap_or(&[]), 2);
        if let Some((event, used)) = event(lines, at + gap) {
            if events.last().is_some_and(|last| event.seq <= last.seq) {
                break;
            }
            first = if events.is_empty() { at + gap } else { first };
            block.taken.resize(at + gap, "blank");
            block.taken.resize(at + gap + used, "hwlat event");
            events.push(event);
        } else if titled && gap == 0 && line_at(lines, at).is_some_and(is_head) {
            other += 1;
            block.taken.push("trace event");
        } else {
            break;
        }
    }
    if block.taken.is_empty() {
        return None;
    }
    report(&mut block, written, &events, other, first);
    Some(block)
}

/// Whether a trace of this tracer begins here.
fn is_title(line: &str) -> bool {
    let rest = line.trim_start().strip_prefix('#');
    let name = rest.and_then(|rest| rest.trim_start().strip_prefix("tracer:"));
    name.is_some_and(|name| name.trim() == "hwlat")
}

/// Whether a comment is one of those the kernel writes above the events.
fn is_art(rest: &str) -> bool {
    let drawn = rest.trim_end_matches("delay");
    let mut parts = ["=> ", "TASK-PID", "tracer:", "entries-in-buffer/"].iter();
    drawn.bytes().all(|b| b" \t|/_-=>#".contains(&b)) || parts.any(|part| rest.contains(part))
}

/// How many events were written: the second number in `entries-written: 6/6   #P:56`.
fn entries(text: &str) -> Option<u64> {
    let rest = text.trim_start().strip_prefix("entries-in-buffer/")?;
    let (_, numbers) = rest.split_once(':')?;
    let (_, written) = numbers.split_whitespace().next()?.split_once('/')?;
    written.parse().ok()
}

/// Whether a line begins as an event of a trace does: `<...>-8795 [001] dn... 613.749741: `.
fn is_head(text: &str) -> bool {
    let (head, rest) = text.split_once(" [").unwrap_or_default();
    let (cpu, rest) = rest.split_once(']').unwrap_or_default();
    let (_, pid) = head.trim_end().rsplit_once('-').unwrap_or_default();
    let stamp = |word: &str| {
        let time = word.strip_suffix(':').filter(|time| time.contains('.'));
        time.is_some_and(|time| time.parse::<f64>().is_ok())
    };
    let numbers = pid.parse::<u32>().is_ok() && cpu.parse::<u32>().is_ok();
    numbers && rest.split_whitespace().take(3).any(stamp)
}

/// The event that begins at a line, and over how many lines it stands.
fn event(lines: &[Line<'_>], at: usize) -> Option<(Event, usize)> {
    let first = line_at(lines, at)?;
    if !is_head(first) && !first.contains("inner/outer(us):") {
        return None;
    }
    let mut text = first.trim().to_owned();
    let mut found = None;
    for used in 1..=WRAPPED {
        if let Some(captures) = EVENT.captures(&text) {
            let get = |name: &str| captures.name(name)?.as_str().parse().ok();
            let event = Event {
                seq: captures["seq"].parse().ok()?,
                inner: get("inner")?,
                outer: get("outer")?,
                ts: get("ts"),
                stamp: get("stamp"),
            };
            found = Some((event, used));
        }
        let next = line_at(lines, at + used).map(str::trim);
        match next.filter(|next| !next.is_empty() && !is_head(next)) {
            Some(next) => text = format!("{text} {next}"),
            None => break,
        }
    }
    found
}

/// Turns the events into findings.
fn report(block: &mut Block, written: Option<u64>, events: &[Event], other: u64, first: usize) {
    let count = events.len() as u64;
    let last = events.last().map_or(0, |event| event.seq);
    let expected = written.unwrap_or(0).saturating_sub(other).max(last);
    if events.is_empty() && written.is_none() {
        let what = "the trace has neither events nor a line that says how many were written";
        block.find(0, truncated(what));
        return;
    }
    if expected > count {
        let sentence = format!(
            "{expected} events were written but {count} are here, so the count is a lower bound"
        );
        block.doubt(0, "missing-events", sentence);
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
    let greatest = |of: fn(&Event) -> f64| events.iter().map(of).reduce(f64::max);
    let maxima = [
        ("hwlat inner max", greatest(|event| event.inner)),
        ("hwlat outer max", greatest(|event| event.outer)),
    ];
    let known = maxima.map(|(name, value)| Some(Figure::new(name, value?, "us")));
    let known = known.into_iter().flatten().collect();
    block.run(first, Labels::default(), known);
}

/// The times of all events on one clock that every event has: preferably the wall clock, else the
/// trace clock; empty if neither is complete.
fn times(events: &[Event]) -> Vec<f64> {
    let wall: Option<Vec<f64>> = events.iter().map(|event| event.ts).collect();
    let trace = || events.iter().map(|event| event.stamp).collect();
    let mut times: Vec<f64> = wall.or_else(trace).unwrap_or_default();
    times.sort_by(f64::total_cmp);
    times
}
