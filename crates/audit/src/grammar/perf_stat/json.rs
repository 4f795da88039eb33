//! `perf stat -j`: one JSON object a line.

use serde_json::{Map, Value};

use super::csv;
use super::emit::{self, Amount, Noise, Reading};
use super::row;
use super::token;
use crate::Line;
use crate::grammar::{Block, Taken};

/// Longer objects are not looked at.
const LONGEST: usize = 16 * 1024;

/// More lines than a mailer breaks one object into.
const MOST_LINES: usize = 8;

/// Keys that one of perf's objects may start with.
const FIRST_KEYS: &[&str] = &[
    "\"cache\"",
    "\"cgroup\"",
    "\"cluster\"",
    "\"core\"",
    "\"counter-value\"",
    "\"cpu\"",
    "\"die\"",
    "\"event\"",
    "\"interval\"",
    "\"metric-value\"",
    "\"node\"",
    "\"socket\"",
    "\"thread\"",
];

/// Keys that say which part of the machine a counter is about.
const PLACES: &[&str] = &[
    "cpu", "core", "socket", "die", "cluster", "cache", "node", "thread",
];

/// Whether the line may be an object of perf's.
pub(super) fn starts(line: &str) -> bool {
    line.trim_start()
        .strip_prefix('{')
        .map(str::trim_start)
        .is_some_and(|rest| FIRST_KEYS.iter().any(|key| rest.starts_with(key)))
}

/// What starts at a line.
enum Object {
    Counter(Option<f64>, Reading),
    Broken,
    Note,
    Other,
}

/// Reads a block of objects.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    let preamble = super::preamble(lines);
    let depth = lines.get(preamble)?.depth;
    let mut taken = super::preamble_taken(preamble);
    let mut rows: Vec<(Option<f64>, Reading)> = Vec::new();
    let mut broken = Vec::new();
    while let Some(rest) = lines.get(taken.len()..)
        && rest.first().is_some_and(|line| line.depth == depth)
    {
        let at = taken.len();
        let (object, used) = object(rest);
        let what: Taken = match object {
            Object::Counter(time, reading) => {
                if let Some((last, _)) = rows.last()
                    && !ordered(*last, time)
                {
                    break;
                }
                let what = csv::what(&reading);
                rows.push((time, Reading { at, ..reading }));
                what
            }
            Object::Broken => {
                broken.push(at);
                "perf stat counter"
            }
            Object::Note => "perf stat note",
            Object::Other => break,
        };
        taken.extend(std::iter::repeat_n(what, used));
    }
    if rows.is_empty() && broken.is_empty() {
        return None;
    }
    let mut block = csv::finish(taken, preamble, rows);
    for at in broken {
        emit::bad_number(&mut block, at, "the counter", "the object is not JSON");
    }
    emit::sort(&mut block);
    Some(block)
}

/// Whether an interval may follow another.
fn ordered(last: Option<f64>, time: Option<f64>) -> bool {
    match (last, time) {
        (Some(last), Some(time)) => time >= last,
        (None, None) => true,
        _ => false,
    }
}

/// Reads the object that starts at `lines[0]`, joined if it was wrapped.
fn object(lines: &[Line<'_>]) -> (Object, usize) {
    let Some(first) = lines.first().map(|line| line.text.trim()) else {
        return (Object::Other, 1);
    };
    let headless = first.starts_with("\"metric-value\"") && first.ends_with('}');
    if headless {
        return (Object::Note, 1);
    }
    if !starts(first) || first.len() > LONGEST {
        return (Object::Other, 1);
    }
    let mut text = first.to_owned();
    let mut used = 1;
    while !is_closed(&text) {
        let next = lines.get(used).filter(|_| used < MOST_LINES);
        let Some(next) = next.map(|line| line.text.trim()) else {
            break;
        };
        if next.is_empty() || next.starts_with('{') || next.len() + text.len() > LONGEST {
            break;
        }
        text.push(' ');
        text.push_str(next);
        used += 1;
    }
    let body = text.trim_end_matches([',', ' ']);
    let parsed = serde_json::from_str::<Map<String, Value>>(body)
        .or_else(|_| serde_json::from_str(&with_points(body)));
    match parsed {
        Ok(map) => (counter(&map), used),
        Err(_) if first.contains("\"counter-value\"") => {
            let used = if is_closed(&text) { used } else { 1 };
            (Object::Broken, used)
        }
        Err(_) => (Object::Other, 1),
    }
}

fn is_closed(text: &str) -> bool {
    text.trim_end_matches([',', ' ']).ends_with('}')
}

/// The object with decimal points for the commas that perf prints in some
/// locales (`"variance" : 1,34,`).
fn with_points(text: &str) -> String {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut quoted = false;
    text.char_indices()
        .map(|(at, c)| {
            quoted ^= c == '"';
            if c == ',' && !quoted && at > 0 && digit(at - 1) && digit(at + 1) {
                '.'
            } else {
                c
            }
        })
        .collect()
}

/// A string or a number, as text.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// perf writes two digits here as well, of which a reader of JSON keeps those
/// that matter to the value.
fn noise(variance: &str) -> Noise {
    match token::plain_decimal(variance) {
        Some(0.0) => Noise::percent("0.00"),
        _ => Noise::percent(variance),
    }
}

/// Reads the keys of one object.
fn counter(map: &Map<String, Value>) -> Object {
    let get = |key: &str| map.get(key).and_then(text);
    let (Some(event), Some(value)) = (get("event"), get("counter-value")) else {
        let note = map.contains_key("metric-value") || map.contains_key("metric-unit");
        return if note { Object::Note } else { Object::Other };
    };
    if event.is_empty() || event.len() > 512 {
        return Object::Note;
    }
    let place = PLACES.iter().find_map(|key| {
        let place = get(key)?;
        Some(if token::all_digits(&place) {
            format!("{}{place}", key.to_uppercase())
        } else {
            place
        })
    });
    let unit = get("unit").unwrap_or_default();
    let amount = match csv::missing(&value) {
        Some(reason) => Amount::Missing(reason),
        None => emit::amount(token::plain_decimal(&value), &value, &unit),
    };
    let cgroup = get("cgroup").filter(|cgroup| !cgroup.is_empty());
    let reading = Reading {
        at: 0,
        metric: row::name(&event, cgroup.as_deref(), place.as_deref()),
        unit,
        amount,
        noise: get("variance").map(|v| noise(&v)).unwrap_or_default(),
        share: get("pcnt-running").and_then(|share| token::plain_decimal(&share)),
    };
    let time = get("interval").and_then(|time| token::plain_decimal(&time));
    Object::Counter(time, reading)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_commas_are_mended_only_outside_strings() {
        assert_eq!(
            with_points(r#"{"a" : "1,5", "b" : 1,34, "c" : 2}"#),
            r#"{"a" : "1,5", "b" : 1.34, "c" : 2}"#
        );
    }

    #[test]
    fn only_objects_with_keys_of_perf_start_a_block() {
        assert!(starts(r#"  {"counter-value" : "1.0""#));
        assert!(starts(r#"{ "interval" : 0.1"#));
        assert!(!starts(r#"{"name": "x"}"#));
        assert!(!starts("{"));
    }
}
