//! `perf stat -x` and `perf stat -j`: a counter a line.

use serde_json::{Map, Value};

use super::counters::{Amount, Counter, add_up, amount, emit, executions};
use super::{line, preamble};
use crate::grammar::number::{Locale, parse};
use crate::grammar::prelude::*;
use crate::printed;

/// Longest line that perf prints.
const LONGEST: usize = 16 << 10;

/// The contents of a line.
enum Read {
    Counter(Box<Counter>),
    /// What perf derived, or a total that `--summary` repeats.
    Note,
}

/// Reads the rows of `perf stat -x`.
pub(super) fn separated(lines: &[Line<'_>]) -> Option<Block> {
    read(lines, fields)
}

/// Reads the objects of `perf stat -j`.
pub(super) fn objects(lines: &[Line<'_>]) -> Option<Block> {
    read(lines, object)
}

/// Reads consecutive lines, each on its own.
fn read(lines: &[Line<'_>], of: fn(&str) -> Option<Read>) -> Option<Block> {
    let mut taken = preamble(lines);
    let depth = lines.get(taken.len())?.depth;
    let mut counters: Vec<Counter> = Vec::new();
    while let Some(text) = line_at(lines, taken.len()).filter(|text| text.len() <= LONGEST) {
        let at = taken.len();
        let read = of(text.trim()).filter(|_| lines[at].depth == depth);
        match read {
            Some(Read::Counter(counter)) => {
                let (time, last) = (counter.time, counters.last().map(|last| last.time));
                if last.is_some_and(|last| last.is_some() != time.is_some() || last > time) {
                    break;
                }
                taken.push(match counter.amount {
                    Amount::Missing(_) => "perf stat unsupported counter",
                    _ => "perf stat counter",
                });
                counters.push(Counter { at, ..*counter });
            }
            Some(Read::Note) => taken.push("perf stat note"),
            None => break,
        }
    }
    if counters.is_empty() {
        return None;
    }
    let mut block = Block::from(taken);
    let labels = Labels::default();
    if counters[0].time.is_some() {
        add_up(&mut block, &labels, counters[0].at, counters);
    } else {
        for counters in executions(counters) {
            emit(&mut block, &labels, None, counters[0].at, counters);
        }
    }
    Some(block)
}

/// Whether a line begins as a row of fields does.
pub(super) fn may_be_row(text: &str) -> bool {
    let mut fields = text.split([',', ';', '|', '\t']).map(str::trim);
    let first = fields.next().unwrap_or_default();
    is_value(first) || line::place(text).is_some() || time_stamp(first).is_some()
}

fn time_stamp(field: &str) -> Option<f64> {
    line::time_stamp(&format!("{field} "))
}

fn is_value(field: &str) -> bool {
    matches!(field, "<not supported>" | "<not counted>") || plain(field).is_some()
}

/// Parses a number with a decimal point or a decimal comma.
fn plain(field: &str) -> Option<f64> {
    parse(field, Locale::English).or_else(|| parse(field, Locale::CommaDecimal))
}

/// A row of fields: `[time,][place,[cpus,]]value,unit,event,[group,][x.xx%,]run time,share,…`.
fn fields(text: &str) -> Option<Read> {
    let mut separators = [';', '|', '\t', ','].into_iter();
    separators.find_map(|mark| {
        let fields: Vec<&str> = text.split(mark).map(str::trim).take(64).collect();
        let read = row(&fields).filter(|_| text.contains(mark));
        // The decimal comma of a value was taken for the separator: `0,62,msec`.
        let digits = |field: &str| !field.is_empty() && field.bytes().all(|b| b.is_ascii_digit());
        read.or_else(|| {
            let [whole, fraction, ..] = fields[..] else {
                return None;
            };
            let value = format!("{whole}.{fraction}");
            let fields = [&[value.as_str()], &fields[2..]].concat();
            row(&fields).filter(|_| digits(whole) && digits(fraction))
        })
    })
}

fn row(mut fields: &[&str]) -> Option<Read> {
    let time = fields.first().and_then(|first| time_stamp(first));
    if time.is_some() {
        fields = &fields[1..];
    }
    if fields.first() == Some(&"summary")
        || fields.len() >= 5 && fields[..3].iter().all(|field| field.is_empty())
    {
        return Some(Read::Note);
    }
    let mut place = None;
    let first = fields.first()?;
    let is_id = |(_, id): (&str, &str)| id.parse::<u32>().is_ok();
    let thread = || first.rsplit_once('-').is_some_and(is_id);
    if line::place(first).is_some() || !is_value(first) && thread() {
        let counted =
            !first.starts_with("CPU") && fields.get(2).is_some_and(|field| is_value(field));
        place = Some(*first);
        fields = &fields[1 + usize::from(counted && fields[1].parse::<u32>().is_ok())..];
    }
    let [value, unit, event, rest @ ..] = fields else {
        return None;
    };
    let group = rest
        .first()
        .filter(|field| !field.is_empty() && !is_value(field) && !field.ends_with('%'));
    let rest = &rest[usize::from(group.is_some())..];
    let error = rest.first().and_then(|field| field.strip_suffix('%'));
    let rest = &rest[usize::from(error.is_some())..];
    let run_time = |field: &&str| field.parse::<u64>().is_ok();
    let share = rest.get(1).and_then(|share| plain(share));
    let share = share.filter(|_| rest.first().is_some_and(run_time));
    let shared = share.is_some_and(|share| (0.0..=100.0).contains(&share));
    let certain = shared || line::is_event(event) && error.is_some();
    let unit_like = unit.len() <= 24 && plain(unit).is_none();
    let valued = is_value(value) || matches!(*value, "nan" | "inf");
    let name = name(event, [group.copied(), place]);
    let counter = || counter(time, name, unit, value, error, share);
    (valued && certain && unit_like && !event.is_empty()).then(counter)
}

fn name(event: &str, parts: [Option<&str>; 2]) -> String {
    let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
    parts.fold(event.to_owned(), |name, part| format!("{name} {part}"))
}

fn counter(
    time: Option<f64>,
    metric: String,
    unit: &str,
    value: &str,
    error: Option<&str>,
    share: Option<f64>,
) -> Read {
    let amount = amount(plain(value), value, unit);
    let error = error.and_then(|token| Some((plain(token).filter(|error| *error >= 0.0)?, token)));
    let error = error.map(|(error, token)| {
        // perf writes two digits, of which JSON keeps those that matter.
        let token = if error == 0.0 { "0.00" } else { token };
        printed::spread(error, token)
    });
    let counter = Counter {
        at: 0,
        time,
        metric,
        unit: unit.to_owned(),
        amount,
        error: None,
        share,
    };
    Read::Counter(Box::new(counter.with_percent(error)))
}

/// Keys that name the part of the machine that was counted.
const PLACES: [&str; 8] = [
    "cpu", "core", "socket", "die", "cluster", "cache", "node", "thread",
];

/// One object.
fn object(text: &str) -> Option<Read> {
    let body = text.trim_end_matches([',', ' ']);
    let map = serde_json::from_str::<Map<String, Value>>(body);
    let map = map.or_else(|_| serde_json::from_str(&with_points(body)));
    let map = map.ok()?;
    let get = |key: &str| match map.get(key)? {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let (Some(event), Some(value)) = (get("event"), get("counter-value")) else {
        return map.contains_key("metric-value").then_some(Read::Note);
    };
    let place = PLACES.iter().find_map(|key| {
        let place = get(key)?;
        let numbered = place.bytes().all(|b| b.is_ascii_digit());
        let key = if numbered { *key } else { "" };
        Some(key.to_uppercase() + &place)
    });
    let number = |key: &str| get(key).and_then(|text| plain(&text));
    let name = name(&event, [get("cgroup").as_deref(), place.as_deref()]);
    let unit = get("unit").unwrap_or_default();
    let (time, error) = (number("interval"), get("variance"));
    let share = number("pcnt-running");
    Some(counter(time, name, &unit, &value, error.as_deref(), share))
}

/// Replaces the decimal commas that perf prints in some locales by points: `"variance" : 1,34,`.
fn with_points(text: &str) -> String {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut quoted = false;
    let chars = text.char_indices().map(|(at, c)| {
        quoted ^= c == '"';
        let decimal = c == ',' && !quoted && at > 0 && digit(at - 1) && digit(at + 1);
        if decimal { '.' } else { c }
    });
    chars.collect()
}
