//! One line of the text of `perf stat`.

use regex::Captures;

use super::counters::{Counter, amount};
use crate::grammar::form::Form;
use crate::grammar::number::{Locale, parse as parse_number};
use crate::printed;

/// Longest line that perf prints.
const LONGEST: usize = 4096;

/// A counter, or one of the times, as it is printed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) time: Option<f64>,
    pub(super) name: String,
    /// Whether it is one of perf's events, or has a name like one.
    pub(super) known: bool,
    /// Whether the line cannot be prose.
    pub(super) certain: bool,
    pub(super) is_time: bool,
    unit: String,
    value: String,
    /// The number after `+-`, for means of times.
    error: Option<String>,
    percent: Option<String>,
    share: Option<String>,
    derived: Option<String>,
}

static COUNTER: Form = Form::new(concat!(
    r"^(?:(?<time>\d+[.,]\d{9})\s+)?",
    r"(?:(?<place>(?:CPU|S|D|N)\d[A-Z\d-]*)(?:\s+\d+)??\s+|(?<thread>[^\d\s<-][^<]*?-\d+)\s+)?",
    r"(?<value><not (?:supported|counted)>|-?\d[\w.,'\u{a0}\u{202f}]*(?: \d{3}(?:[.,]\d+)?\b)*|nan|inf)\s+",
    r"(?:(?<unit>%|'C|°C|[munKMG]?sec|[mun]?s|Joules|J|m?W|Watts|[KMG]i?B|[Bb]ytes|m?V|m?A|C|M?Hz|rpm)\s+)?",
    r"(?<event>[A-Za-z][^\s#(]*)(?<msec>\s*\(msec\))?(?:\s+(?<group>/\S*))?(?:\s+(?<tail>[#(\[<].*))?$",
));
static TIME: Form = Form::new(
    r"^(?<value>\d[\d.,]*)(?:\s+(?:\+-|±)\s+(?<error>[\d.,]+))?\s+seconds\s+(?<name>time\s+elapsed|user|sys)\s*(?<tail>[#(\[].*)?$",
);
static PERCENT: Form = Form::new(r"\(\s*(?:\+-|\+/-|±)\s*(?<percent>[\d.,]+|nan|-nan)\s*%\s*\)");
static SHARE: Form = Form::new(r"[\[(]\s*(?<share>\d+[.,]\d+)\s*%\s*[\])]");
static DERIVED: Form = Form::new(r"^#\s*(?<derived>\d[\d.,]*)");
static INTERVAL: Form = Form::new(r"^\s*(?<time>\d+[.,]\d{9})\s");

fn group<'t>(form: &Form, text: &'t str, name: &str) -> Option<&'t str> {
    let captures = form.captures(text)?;
    captures.name(name).map(|found| found.as_str())
}

/// The time at which an interval ended.
pub(super) fn time_stamp(text: &str) -> Option<f64> {
    let time = group(&INTERVAL, text, "time")?;
    time.replace(',', ".").parse().ok()
}

/// The CPU, socket or node that a line begins with.
pub(super) fn place(text: &str) -> Option<&str> {
    let word = text.split([' ', '\t', ',', ';', '|']).next()?;
    let cpu = word.strip_prefix("CPU");
    let rest = cpu.or_else(|| word.strip_prefix(['S', 'D', 'N']))?;
    let part = |b: u8| b.is_ascii_digit() || b.is_ascii_uppercase() || b == b'-';
    (rest.starts_with(|c: char| c.is_ascii_digit()) && rest.bytes().all(part)).then_some(word)
}

/// Reads a line.
pub(super) fn parse(text: &str) -> Option<Row> {
    let text = text.trim();
    let short = text.len() <= LONGEST;
    let read = |form: &Form| form.captures(text).map(|c| row(&c));
    short.then(|| read(&TIME).or_else(|| read(&COUNTER)))?
}

/// The row of a counter, or of a time, which has no event.
fn row(captures: &Captures<'_>) -> Row {
    let get = |name: &str| captures.name(name).map(|found| found.as_str());
    let owned = |name: &str| get(name).map(str::to_owned);
    let tail = get("tail").unwrap_or_default();
    let in_tail = |form, name| group(form, tail, name).map(str::to_owned);
    let is_time = get("event").is_none();
    let event = match get("name").unwrap_or_default() {
        name if name.ends_with("elapsed") => super::ELAPSED,
        name => get("event").unwrap_or(name),
    };
    let unit = match get("msec") {
        _ if is_time => "s",
        Some(_) => "msec",
        None => get("unit").unwrap_or_default(),
    };
    let parts = ["group", "place", "thread"].into_iter().filter_map(get);
    let value = get("value").unwrap_or_default();
    let known = is_time || is_event(event);
    let marked = tail.starts_with(['#', '(', '[']) || !unit.is_empty() || value.starts_with('<');
    Row {
        time: get("time").and_then(|time| time.replace(',', ".").parse().ok()),
        name: parts.fold(event.to_owned(), |name, part| format!("{name} {part}")),
        known,
        certain: known && (marked || event.contains(['-', '/', ':', '_'])),
        is_time,
        unit: unit.to_owned(),
        value: value.to_owned(),
        error: owned("error"),
        percent: in_tail(&PERCENT, "percent"),
        share: in_tail(&SHARE, "share").filter(|_| !is_time),
        derived: in_tail(&DERIVED, "derived").filter(|_| !is_time),
    }
}

/// Words in the names of perf's own events: `cpu-clock`, `L1-dcache-loads`.
const WORDS: &str = "branches|clock|cs|cycles|dummy|faults|instructions|loads|migrations|misses|\
                     output|prefetches|references|slots|stores|switches|topdown";

/// A name of a time, of an event of a PMU (`cpu_core/cycles/`), of a tracepoint
/// (`sched:sched_switch`), or a vendor's (`inst_retired.any`).
static OTHERS: Form = Form::new(concat!(
    r"^(?:(?:duration|user|system)_time|[[:word:]-]+/[^/]+/.{0,4}|[[:word:]-]+:[[:word:]-]*_[[:word:]-]*",
    r"|[a-z0-9_]*_[a-z0-9_]*(?:\.(?:[a-z0-9_]{2,})?|_[a-z0-9_]*))$",
));
/// A raw event: `r01c2`.
static RAW: Form = Form::new(r"^r[[:xdigit:]]*[0-9][[:xdigit:]]*$");

/// Whether a name is one of an event.
pub(super) fn is_event(name: &str) -> bool {
    let bare = name.split_once(':').filter(|(_, modifiers)| {
        modifiers.len() <= 4 && modifiers.bytes().all(|b| b"ukhGHIpPSDW".contains(&b))
    });
    let bare = bare.map_or(name, |(bare, _)| bare);
    let mut parts = bare.split('-');
    parts.any(|part| WORDS.split('|').any(|word| word == part))
        || OTHERS.is_match(bare)
        || RAW.is_match(bare) && (4..=17).contains(&bare.len())
}

/// Returns the decimal mark of the numbers with a fraction, `None` if there are none.
pub(super) fn locale(rows: &[Row]) -> Option<Locale> {
    let mut sorted: Vec<&Row> = rows.iter().collect();
    sorted.sort_by_key(|row| !row.is_time);
    let mut tokens = sorted.into_iter().flat_map(|row| {
        let own = Some(&row.value).filter(|_| row.is_time || row.unit == "msec");
        let others = [&row.derived, &row.percent, &row.share];
        own.into_iter().chain(others.into_iter().flatten())
    });
    tokens.find_map(|token| {
        let mark = token.rfind(['.', ','])?;
        match &token[mark..=mark] {
            "," => Some(Locale::CommaDecimal),
            _ => Some(Locale::English),
        }
    })
}

/// Reads a number whose groups blanks may separate.
pub(super) fn number(token: &str, locale: Locale) -> Option<f64> {
    let part = |c: char| !matches!(c, ' ' | '\'' | '\u{a0}' | '\u{202f}' | '\u{2009}');
    let plain: String = token.chars().filter(|c| part(*c)).collect();
    parse_number(&plain, locale)
}

impl Row {
    /// Whether the value reads differently with the other decimal mark: `1.466`.
    pub(super) fn is_ambiguous(&self) -> bool {
        let both =
            [Locale::English, Locale::CommaDecimal].map(|locale| number(&self.value, locale));
        let whole = self.unit.is_empty() && self.value.contains(',');
        matches!(both, [Some(a), Some(b)] if a != b) && !whole
    }

    /// Returns the value and name as printed, for a doubt.
    pub(super) fn described(&self) -> String {
        format!("`{}` ({})", self.value, self.name)
    }

    /// Whether perf has no value.
    pub(super) fn is_missing(&self) -> bool {
        self.value.starts_with('<')
    }

    /// Converts the row to a counter.
    pub(super) fn counter(self, at: usize, locale: Locale) -> Counter {
        let amount = amount(number(&self.value, locale), &self.value, &self.unit);
        let read = |token: &String| {
            let value = number(token, locale).filter(|value| *value >= 0.0)?;
            Some(printed::spread(value, token))
        };
        let percent = self.percent.as_ref().and_then(read);
        let counter = Counter {
            at,
            time: self.time,
            amount,
            error: None,
            share: self.share.as_ref().and_then(|share| number(share, locale)),
            metric: self.name,
            unit: self.unit,
        };
        match self.error.as_ref().and_then(read) {
            None => counter.with_percent(percent),
            error => Counter { error, ..counter },
        }
    }
}
