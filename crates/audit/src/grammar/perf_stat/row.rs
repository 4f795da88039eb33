//! One line of `perf stat` text.

use super::ELAPSED;
use super::event::{self, Class};
use super::header::{self, Header};
use super::tail::{self, Tail};
use super::token::{self, all_digits, looks_numeric};

/// Lines longer than this are no counter lines.
const LONGEST: usize = 4096;

/// More words before the tail than perf ever prints.
const MOST_WORDS: usize = 14;

/// What one line, or several joined ones, is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// Nothing.
    Blank,
    /// `Performance counter stats for …:`.
    Header(Header),
    /// The beginning of one.
    HeaderOpen,
    /// A counter.
    Row(Row),
    /// A value whose counter must stand on the next line.
    RowOpen,
    /// A counter's name without a value.
    Bare(String),
    /// `… seconds time elapsed`, `user` or `sys`.
    Time(Time),
    /// The beginning of one.
    TimeOpen,
    /// `# Table of individual measurements:`.
    TableHead,
    /// One of these measurements.
    TableRow(String),
    /// Something that perf prints and that is no counter.
    Note(Tail),
    /// Anything else.
    Other,
}

/// A counter and its value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    /// The value.
    pub(super) value: Value,
    /// Its unit; empty for a count.
    pub(super) unit: String,
    /// The event's name.
    pub(super) event: String,
    /// Whether it is one.
    pub(super) class: Class,
    /// CPU, socket or thread, if the row has one.
    pub(super) place: Option<String>,
    /// The control group, if the row has one.
    pub(super) cgroup: Option<String>,
    /// The rest of the line.
    pub(super) tail: Tail,
}

/// What stands in the value column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// A number, good or bad.
    Token(String),
    /// `not supported` or `not counted`.
    Missing(&'static str),
}

/// One of the times below the counters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Time {
    /// `elapsed`, `user` or `sys`.
    pub(super) name: &'static str,
    /// The value.
    pub(super) value: String,
    /// What stands behind `+-`.
    pub(super) error: Option<String>,
    /// The rest of the line.
    pub(super) tail: Tail,
}

impl Row {
    /// The metric's name: event, control group, place.
    pub(super) fn metric(&self) -> String {
        name(&self.event, self.cgroup.as_deref(), self.place.as_deref())
    }

    /// Whether no prose looks like this.
    pub(super) fn strong(&self) -> bool {
        let long = match &self.value {
            Value::Missing(_) => return true,
            Value::Token(token) => token.len() >= 5,
        };
        self.tail.any()
            || event::is_unit(&self.unit)
            || (self.class == Class::Sure && (long || !event::is_english(&self.event)))
    }
}

/// A metric's name: event, control group, place.
pub(super) fn name(event: &str, cgroup: Option<&str>, place: Option<&str>) -> String {
    let mut name = event.to_owned();
    for part in [cgroup, place].into_iter().flatten() {
        name.push(' ');
        name.push_str(part);
    }
    name
}

/// What a line of `perf stat` text is.
pub(super) fn parse(text: &str) -> Kind {
    let text = text.trim();
    let Some(&first) = text.as_bytes().first() else {
        return Kind::Blank;
    };
    if text.starts_with(header::START) {
        return header::parse(text);
    }
    if text.len() > LONGEST {
        return Kind::Other;
    }
    if first == b'#' {
        return comment(text);
    }
    if footer(text) {
        return Kind::Note(Tail::default());
    }
    match Split::of(text) {
        Some(split) => numbers(&split)
            .or_else(|| split.row())
            .unwrap_or_else(|| split.bare()),
        None => Kind::Other,
    }
}

/// A line that starts with `#`.
fn comment(text: &str) -> Kind {
    let body = text.trim_start_matches('#').trim_start();
    if body.starts_with("Table of individual") {
        return Kind::TableHead;
    }
    let tail = tail::parse(text);
    // perf's figures always have a fraction; `# 8 threads` is a heading.
    let figure = token::words(body).next().is_some_and(|word| {
        word.contains(['.', ',']) && token::plain_decimal(word.trim_end_matches('%')).is_some()
    });
    if figure || body.starts_with("Final result") {
        Kind::Note(tail)
    } else {
        Kind::Other
    }
}

/// Whether perf prints this advice below the counters.
fn footer(text: &str) -> bool {
    text == "perf stat ..."
        || [
            "Some events weren't counted",
            "echo 0 > /proc/sys/kernel/nmi_watchdog",
            "echo 1 > /proc/sys/kernel/nmi_watchdog",
            "The events in group usually",
        ]
        .iter()
        .any(|start| text.starts_with(start))
}

/// Whether a word is the first of a tail: perf's, or a remark's.
fn starts_tail(word: &str) -> bool {
    word.starts_with(['#', '(', '[', '\u{2190}'])
        || ["<-", "<=", "--", "//"]
            .iter()
            .any(|arrow| word.starts_with(arrow))
}

/// A line parted where its tail begins.
struct Split<'a> {
    head: Vec<&'a str>,
    rest: &'a str,
}

impl<'a> Split<'a> {
    /// `None` if there are too many words.
    fn of(text: &'a str) -> Option<Self> {
        let mut words = token::words(text);
        let mut head = Vec::with_capacity(8);
        loop {
            let rest = words.rest();
            match words.next() {
                Some(word) if !starts_tail(word) || word == "(msec)" => {
                    if head.len() == MOST_WORDS {
                        return None;
                    }
                    head.push(word);
                }
                _ => {
                    return Some(Split {
                        head,
                        rest: rest.trim(),
                    });
                }
            }
        }
    }

    /// A counter's name, or a place, without a value.
    fn bare(&self) -> Kind {
        let rest = match self.rest.split_once(')') {
            Some((pmu, rest)) if pmu.starts_with('(') && !pmu.contains('#') => rest,
            _ => self.rest,
        };
        let tail = tail::parse(rest);
        match self.head.as_slice() {
            [name] if tail.comment && event::class(name) >= Class::Word => Kind::Note(tail),
            [name, rest @ ..] if tail.comment && event::is_place(name) && rest.len() <= 1 => {
                Kind::Note(tail)
            }
            [name] if self.rest.is_empty() && event::class(name) == Class::Sure => {
                Kind::Bare((*name).to_owned())
            }
            _ => Kind::Other,
        }
    }

    /// A counter and its value.
    fn row(&self) -> Option<Kind> {
        let (place, head) = split_place(&self.head);
        let (value, head) = split_value(head)?;
        let lone = self.rest.is_empty() && place.is_none();
        let (unit, event, cgroup) = match *head {
            [] => return lone.then_some(Kind::RowOpen),
            [unit] if event::is_unit(unit) => return lone.then_some(Kind::RowOpen),
            [event] => match event.strip_suffix("(msec)") {
                Some(event) => ("msec", event, None),
                None => ("", event, None),
            },
            [event, "(msec)"] => ("msec", event, None),
            [unit, event] if event::is_unit(unit) => (unit, event, None),
            [event, cgroup] if event::class(event) >= Class::Plausible => ("", event, Some(cgroup)),
            [unit, event]
                if unit.len() <= 12
                    && !looks_numeric(unit)
                    && event::class(event) >= Class::Plausible =>
            {
                (unit, event, None)
            }
            [unit, event, cgroup]
                if event::is_unit(unit) && event::class(event) >= Class::Plausible =>
            {
                (unit, event, Some(cgroup))
            }
            _ => return None,
        };
        let class = event::class(event);
        if class == Class::No {
            return None;
        }
        Some(Kind::Row(Row {
            value,
            unit: unit.to_owned(),
            event: event.to_owned(),
            class,
            place,
            cgroup: cgroup.map(str::to_owned),
            tail: tail::parse(self.rest),
        }))
    }
}

/// The times below the counters, and the table of them.
fn numbers(split: &Split<'_>) -> Option<Kind> {
    let (&value, head) = split.head.split_first()?;
    if !looks_numeric(value) {
        return None;
    }
    if head.is_empty() {
        return table_row(value, split.rest);
    }
    let (error, head) = match *head {
        [sign, error, ref head @ ..]
            if tail::plus_minus(sign) == Some("") && looks_numeric(error) =>
        {
            (Some(error.to_owned()), head)
        }
        [sign] if tail::plus_minus(sign) == Some("") => return Some(Kind::TimeOpen),
        _ => (None, head),
    };
    let name = match *head {
        ["seconds", "time", "elapsed"] => ELAPSED,
        ["seconds", "user"] => "user",
        ["seconds", "sys"] => "sys",
        ["seconds"] | ["seconds", "time"] if split.rest.is_empty() => {
            return Some(Kind::TimeOpen);
        }
        [] if error.is_some() && split.rest.is_empty() => return Some(Kind::TimeOpen),
        _ => return None,
    };
    Some(Kind::Time(Time {
        name,
        value: value.to_owned(),
        error,
        tail: tail::parse(split.rest),
    }))
}

/// `0.051662 (+0.000208) #`.
fn table_row(value: &str, rest: &str) -> Option<Kind> {
    let (difference, bar) = rest.strip_prefix('(')?.split_once(')')?;
    let signed = difference.starts_with(['+', '-']) && looks_numeric(difference);
    (signed && bar.trim().bytes().all(|b| b == b'#')).then(|| Kind::TableRow(value.to_owned()))
}

/// The place before the value, with the number of CPUs that perf adds.
fn split_place<'h, 'a>(head: &'h [&'a str]) -> (Option<String>, &'h [&'a str]) {
    let is_value = |at: usize| {
        head.get(at)
            .is_some_and(|word| looks_numeric(word) || *word == "<not")
    };
    let Some(first) = head.first() else {
        return (None, head);
    };
    if event::is_place(first) {
        let counted = head.get(1).is_some_and(|word| all_digits(word)) && is_value(2);
        let at = 1 + usize::from(counted && !first.starts_with("CPU"));
        return (
            Some((*first).to_owned()),
            head.get(at..).unwrap_or_default(),
        );
    }
    for at in 0..3 {
        let thread = head.get(at).is_some_and(|word| event::is_thread(word));
        if thread && is_value(at + 1) && !looks_numeric(first) {
            let name = head.get(..=at).unwrap_or_default().join(" ");
            return (Some(name), head.get(at + 1..).unwrap_or_default());
        }
    }
    (None, head)
}

/// The value at the start of `head`; groups that a blank parts are joined.
fn split_value<'h, 'a>(head: &'h [&'a str]) -> Option<(Value, &'h [&'a str])> {
    match *head {
        ["<not", "supported>", ref rest @ ..] => Some((Value::Missing("not supported"), rest)),
        ["<not", "counted>", ref rest @ ..] => Some((Value::Missing("not counted"), rest)),
        [first, ref rest @ ..] if looks_numeric(first) => {
            let mut token = first.to_owned();
            let mut rest = rest;
            if first.len() <= 3 && all_digits(first) {
                while let [group, ref more @ ..] = *rest
                    && is_group(group)
                    && !token.contains(['.', ','])
                {
                    token.push('\'');
                    token.push_str(group);
                    rest = more;
                }
            }
            Some((Value::Token(token), rest))
        }
        _ => None,
    }
}

/// Three digits, with or without a fraction.
fn is_group(word: &str) -> bool {
    let (digits, fraction) = word.split_once(['.', ',']).unwrap_or((word, "0"));
    digits.len() == 3 && all_digits(digits) && all_digits(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &str) -> Row {
        match parse(text) {
            Kind::Row(row) => row,
            other => panic!("{text:?} is {other:?}"),
        }
    }

    fn token(row: &Row) -> &str {
        match &row.value {
            Value::Token(token) => token,
            Value::Missing(reason) => reason,
        }
    }

    #[test]
    fn the_columns_of_a_counter_are_told_apart() {
        let got = row("   0.77 msec task-clock      #    0.015 CPUs utilized ");
        assert_eq!(
            (token(&got), &*got.unit, &*got.event),
            ("0.77", "msec", "task-clock")
        );
        let got = row("1.234567      task-clock (msec)   #  0.001 CPUs utilized");
        assert_eq!((&*got.unit, &*got.event), ("msec", "task-clock"));
        let got = row("1.234567      task-clock(msec)");
        assert_eq!((&*got.unit, &*got.event), ("msec", "task-clock"));
        let got = row("<not supported> cpu_atom/instructions/");
        assert_eq!(
            (token(&got), &*got.event),
            ("not supported", "cpu_atom/instructions/")
        );
        let got = row("1,234 cycles");
        assert_eq!((token(&got), &*got.unit), ("1,234", ""));
    }

    #[test]
    fn places_and_control_groups_are_part_of_the_name() {
        assert_eq!(row("CPU0  1,234 cycles").metric(), "cycles CPU0");
        assert_eq!(row("S0  8  1,234 cycles").metric(), "cycles S0");
        assert_eq!(
            row("S0-D0-C1  1  <not counted> cycles").metric(),
            "cycles S0-D0-C1"
        );
        assert_eq!(
            row("bash-8178 1.5 msec cpu-clock").metric(),
            "cpu-clock bash-8178"
        );
        assert_eq!(
            row("Web Content-12 1.5 msec cpu-clock").metric(),
            "cpu-clock Web Content-12"
        );
        assert_eq!(
            row("203.10 msec cpu-clock  / # 2.0 CPUs utilized").metric(),
            "cpu-clock /"
        );
    }

    #[test]
    fn groups_parted_by_blanks_are_one_number() {
        let got = row("1 466 cpu-migrations");
        assert_eq!(token(&got), "1'466");
        let got = row("320 440,96 msec task-clock");
        assert_eq!(token(&got), "320'440,96");
        assert_eq!(token(&row("S0 8 1 234 cycles")), "1'234");
    }

    #[test]
    fn times_are_read_with_and_without_an_error() {
        for (text, name, error) in [
            ("20.029126614 seconds time elapsed", "elapsed", None),
            ("0.001609000 seconds user", "user", None),
            ("0.000000000 seconds sys", "sys", None),
            (
                "34.922801 +- 0.000736 seconds time elapsed ( +-  0.00% )",
                "elapsed",
                Some("0.000736"),
            ),
        ] {
            let Kind::Time(time) = parse(text) else {
                panic!("{text}");
            };
            assert_eq!((time.name, time.error.as_deref()), (name, error));
        }
        assert_eq!(parse("34.9 +- 0.1"), Kind::TimeOpen);
        assert_eq!(parse("34.9 seconds time"), Kind::TimeOpen);
    }

    #[test]
    fn prose_that_starts_with_a_number_is_something_else() {
        for text in [
            "12 of the 34 patches are new",
            "3. cycles",
            "12: cycles",
            "8,449 context-switches per second and then some more",
            "12% cycles",
        ] {
            assert_eq!(parse(text), Kind::Other, "{text}");
        }
    }

    #[test]
    fn a_value_alone_waits_for_its_counter() {
        assert_eq!(parse("  2,531.43 msec"), Kind::RowOpen);
        assert_eq!(parse("1,234"), Kind::RowOpen);
        assert_eq!(parse("<not supported>"), Kind::RowOpen);
    }
}
