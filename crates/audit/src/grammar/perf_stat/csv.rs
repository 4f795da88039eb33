//! `perf stat -x`: fields parted by a separator.

use super::emit::{self, Amount, Noise, Reading};
use super::event::{self, Class};
use super::interval::Intervals;
use super::row;
use super::tail;
use super::token::{self, all_digits, looks_numeric};
use crate::Line;
use crate::grammar::{Block, Labels, Taken};

/// Lines longer than this are no rows.
const LONGEST: usize = 4096;

/// One row.
#[derive(Debug, Clone, PartialEq)]
struct Fields {
    separator: char,
    time: Option<f64>,
    reading: Reading,
    /// Run time and share were there: no other CSV looks like this.
    certain: bool,
}

/// What a line is.
enum Kind {
    Row(Box<Fields>),
    Note,
    Other,
}

/// Reads a block of rows.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    let preamble = super::preamble(lines);
    let start = lines.get(preamble..)?;
    let depth = start.first()?.depth;
    let Kind::Row(first) = parse(&start.first()?.text) else {
        return None;
    };
    if !first.certain {
        let second = start.get(1).filter(|line| line.depth == depth)?;
        match parse(&second.text) {
            Kind::Row(second) if second.separator == first.separator => {}
            _ => return None,
        }
    }
    let mut taken = super::preamble_taken(preamble);
    let mut rows: Vec<(Option<f64>, Reading)> = Vec::new();
    while let Some(line) = lines.get(taken.len()).filter(|line| line.depth == depth) {
        let at = taken.len();
        match parse(&line.text) {
            Kind::Row(row) => {
                let last = rows.last().map(|(time, _)| *time);
                let ordered = last.is_none_or(|last| match (last, row.time) {
                    (Some(last), Some(time)) => time >= last,
                    (None, None) => true,
                    _ => false,
                });
                if row.separator != first.separator || !ordered {
                    break;
                }
                taken.push(what(&row.reading));
                rows.push((row.time, Reading { at, ..row.reading }));
            }
            Kind::Note => taken.push("perf stat note"),
            Kind::Other => break,
        }
    }
    Some(finish(taken, preamble, rows))
}

/// What a row is called.
pub(super) fn what(reading: &Reading) -> Taken {
    match reading.amount {
        Amount::Missing(_) => "perf stat unsupported counter",
        _ => "perf stat counter",
    }
}

/// Adds up intervals, or parts the executions.
pub(super) fn finish(taken: Vec<Taken>, first: usize, rows: Vec<(Option<f64>, Reading)>) -> Block {
    let mut block = Block {
        findings: Vec::new(),
        taken,
    };
    let labels = Labels::default();
    let mut intervals = Intervals::default();
    let mut readings = Vec::new();
    let mut timed = false;
    for (time, reading) in rows {
        match time {
            Some(time) => {
                timed = true;
                intervals.add(time, reading);
            }
            None => readings.push(reading),
        }
    }
    if timed {
        intervals.finish(&mut block, &labels, first);
    } else {
        for period in emit::periods(readings) {
            let at = period.first().map_or(first, |reading| reading.at);
            emit::emit(&mut block, &labels, None, at, period);
        }
    }
    emit::sort(&mut block);
    block
}

/// Parses a line with the first separator that fits.
fn parse(text: &str) -> Kind {
    let text = text.trim();
    if text.len() > LONGEST {
        return Kind::Other;
    }
    if tail::is_vocabulary_only(text) {
        return Kind::Note;
    }
    for separator in [';', '|', '\t', ','] {
        if !text.contains(separator) {
            continue;
        }
        let fields: Vec<&str> = text.split(separator).map(str::trim).take(64).collect();
        match row(&fields, separator) {
            Kind::Other => {}
            kind => return kind,
        }
    }
    Kind::Other
}

/// Reads the fields in the order perf prints them.
fn row(fields: &[&str], separator: char) -> Kind {
    let mut fields = fields;
    let mut time = None;
    if let [first, rest @ ..] = fields
        && let Some((seconds, end)) = token::timestamp(first)
        && end == first.len()
    {
        time = Some(seconds);
        fields = rest;
    }
    if let ["summary", ..] = fields {
        return Kind::Note;
    }
    let (place, fields) = split_place(fields);
    let metric_only = fields.len() >= 5 && fields.iter().take(3).all(|field| field.is_empty());
    if metric_only {
        return Kind::Note;
    }
    match counter(fields, separator, place) {
        Some((reading, certain)) => Kind::Row(Box::new(Fields {
            separator,
            time,
            reading,
            certain,
        })),
        None => Kind::Other,
    }
}

fn is_value(field: Option<&&str>) -> bool {
    field.is_some_and(|field| looks_numeric(field) || missing(field).is_some())
}

/// `not supported` or `not counted`.
pub(super) fn missing(field: &str) -> Option<&'static str> {
    match field {
        "<not supported>" => Some("not supported"),
        "<not counted>" => Some("not counted"),
        _ => None,
    }
}

/// CPU, socket or thread, with the number of CPUs that perf adds.
fn split_place<'f, 'a>(fields: &'f [&'a str]) -> (Option<&'a str>, &'f [&'a str]) {
    match *fields {
        [place, count, ref rest @ ..]
            if event::is_place(place)
                && !place.starts_with("CPU")
                && all_digits(count)
                && (is_value(rest.first()) || rest.first() == Some(&"")) =>
        {
            (Some(place), rest)
        }
        [place, ref rest @ ..]
            if event::is_place(place)
                || (event::is_thread(place) && !looks_numeric(place) && is_value(rest.first())) =>
        {
            (Some(place), rest)
        }
        _ => (None, fields),
    }
}

/// Value, unit, event, control group, variance, run time, share.
fn counter(fields: &[&str], separator: char, place: Option<&str>) -> Option<(Reading, bool)> {
    let (value, rest) = value(fields, separator)?;
    let (unit, event, rest) = names(rest, separator)?;
    let class = event::class(&event);
    let plain = |field: &&str| field.is_empty() || is_number(field) || field.ends_with('%');
    let cgroup = rest
        .first()
        .filter(|_| rest.len() >= 3)
        .filter(|f| !plain(f))
        .copied();
    let rest = rest
        .get(usize::from(cgroup.is_some())..)
        .unwrap_or_default();
    let variance = rest.first().and_then(|field| field.strip_suffix('%'));
    let rest = rest
        .get(usize::from(variance.is_some())..)
        .unwrap_or_default();
    let split_variance = rest.get(1).and_then(|field| field.strip_suffix('%'));
    let (variance, rest) = match (variance, split_variance, rest.first()) {
        (None, Some(fraction), Some(whole)) if all_digits(whole) && all_digits(fraction) => {
            let rest = rest.get(2..).unwrap_or_default();
            (Some(format!("{whole}.{fraction}")), rest)
        }
        _ => (variance.map(str::to_owned), rest),
    };
    let run_time = rest.first().is_some_and(|field| all_digits(field));
    let share = rest.get(1).and_then(|field| token::plain_decimal(field));
    let certain = run_time && share.is_some_and(|share| (0.0..=100.0).contains(&share));
    if class < Class::Plausible && !(certain && class == Class::Word) {
        return None;
    }
    let amount = match missing(&value) {
        Some(reason) => Amount::Missing(reason),
        None => emit::amount(token::plain_decimal(&value), &value, unit),
    };
    let reading = Reading {
        at: 0,
        metric: row::name(&event, cgroup, place),
        unit: unit.to_owned(),
        amount,
        noise: variance.as_deref().map(Noise::percent).unwrap_or_default(),
        share: share.filter(|_| certain),
    };
    Some((reading, certain))
}

/// The value; `0,62` that the separator has torn is mended.
fn value<'f, 'a>(fields: &'f [&'a str], separator: char) -> Option<(String, &'f [&'a str])> {
    let (first, rest) = fields.split_first()?;
    if !is_value(Some(first)) {
        return None;
    }
    if let [fraction, unit, event, more @ ..] = rest
        && separator == ','
        && all_digits(first)
        && all_digits(fraction)
        && more.len() >= 2
        && (event::is_unit(unit) || unit.is_empty())
        && event::class(event) >= Class::Word
    {
        let rest = rest.get(1..).unwrap_or_default();
        return Some((format!("{first}.{fraction}"), rest));
    }
    Some(((*first).to_owned(), rest))
}

/// Unit and event; an event whose own commas were torn is mended. Old perf
/// prints no unit.
fn names<'f, 'a>(
    fields: &'f [&'a str],
    separator: char,
) -> Option<(&'a str, String, &'f [&'a str])> {
    let (&first, rest) = fields.split_first()?;
    let next = rest.first().copied().unwrap_or_default();
    let no_unit = event::class(first) >= Class::Plausible
        && event::class(next) < Class::Plausible
        && separator != '\t';
    if no_unit {
        return Some(("", first.to_owned(), rest));
    }
    let unit_like = first.len() <= 24 && !looks_numeric(first);
    let (&event, mut rest) = rest.split_first().filter(|_| unit_like)?;
    let mut event = event.to_owned();
    while event.bytes().filter(|b| *b == b'/').count() == 1
        && event.len() < 512
        && let [more, after @ ..] = rest
    {
        event.push(separator);
        event.push_str(more);
        rest = after;
    }
    Some((first, event, rest))
}

fn is_number(field: &str) -> bool {
    token::plain_decimal(field).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Fields {
        match parse(text) {
            Kind::Row(row) => *row,
            _ => panic!("{text}"),
        }
    }

    #[test]
    fn the_fields_are_found_in_all_variants() {
        for (text, metric, unit, value) in [
            (
                "202.68,msec,cpu-clock,202678658,100.00,2.000,CPUs utilized",
                "cpu-clock",
                "msec",
                202.68,
            ),
            (
                "33;;context-switches;202680232;100.00;162.820;/sec",
                "context-switches",
                "",
                33.0,
            ),
            (
                "0,40;msec;task-clock;4,41%;401689;100,00;0;CPUs utilized",
                "task-clock",
                "msec",
                0.40,
            ),
            (
                "0,62,msec,task-clock,618634,100,00,0,CPUs utilized",
                "task-clock",
                "msec",
                0.62,
            ),
            (
                "CPU1,101.42,msec,cpu-clock,101425207,100.00,1.000,CPUs",
                "cpu-clock CPU1",
                "msec",
                101.42,
            ),
            (
                "S0,2,31,,context-switches,202943284,100.00,152.754,/sec",
                "context-switches S0",
                "",
                31.0,
            ),
            (
                "203.94,msec,cpu-clock,/,231719828,100.00,2.000,CPUs utilized",
                "cpu-clock /",
                "msec",
                203.94,
            ),
            (
                "12,,cpu/event=0x3c,umask=0x0/,202943284,100.00,,",
                "cpu/event=0x3c,umask=0x0/",
                "",
                12.0,
            ),
            ("7,,my_name,5,100.00,,", "my_name", "", 7.0),
        ] {
            let got = one(text);
            assert!(got.certain, "{text}");
            assert_eq!(got.reading.metric, metric, "{text}");
            assert_eq!(got.reading.unit, unit, "{text}");
            assert_eq!(got.reading.amount, Amount::Value(value), "{text}");
        }
    }

    #[test]
    fn the_variance_is_the_uncertainty() {
        let got = one("0.75,msec,task-clock,6.41%,754035,100.00,0.015,CPUs utilized");
        assert_eq!(got.reading.noise, Noise::Percent(6.41));
        assert!(got.certain);
        let got = one("0;msec;task-clock;4,41%;401689;83,20;0;CPUs utilized");
        assert_eq!(got.reading.noise, Noise::Percent(4.41));
        assert_eq!(got.reading.share, Some(83.2));
    }

    #[test]
    fn other_comma_separated_lines_are_not_rows() {
        for text in [
            "1,2,3",
            "12,34",
            "a,b,c",
            "2024,msec,foo",
            "1,234 cycles",
            "",
            ",,,",
            "5|6|7",
            "1, 2 and 3 cycles",
            "10,MB,file.txt",
        ] {
            assert!(!matches!(parse(text), Kind::Row(_)), "{text}");
        }
    }
}
