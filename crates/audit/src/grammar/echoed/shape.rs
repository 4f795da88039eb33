//! A line as words and numbers.

use std::sync::LazyLock;

use crate::grammar::number::english;
use crate::grammar::pairs::amount;
use crate::grammar::quantity::{is_measure, is_time, quantity};
use crate::roles::words::names_measurement;
use crate::trigger::Trigger;

/// A longer line is none of a mail.
pub(super) const LONGEST: usize = 220;

/// A number in a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Field<'t> {
    /// The words before it, from the last number on.
    pub(super) label: &'t str,
    pub(super) value: f64,
    /// The place of its last digit.
    pub(super) step: f64,
    /// As written; may be empty.
    pub(super) unit: &'t str,
    /// The word behind it.
    pub(super) behind: &'t str,
    /// Whether a colon or an equals sign parts it from its label.
    pub(super) named: bool,
}

/// What a line says, and the numbers in it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape<'t> {
    /// The line, each number replaced by a mark.
    pub(super) words: String,
    pub(super) fields: Vec<Field<'t>>,
    /// Words that only look like numbers, and stand as `?` in the line.
    pub(super) odd: Vec<&'t str>,
}

impl Shape<'_> {
    /// The words from the first number on.
    pub(super) fn rest(&self) -> &str {
        self.words.find('#').map_or("", |at| &self.words[at..])
    }
}

pub(super) fn has_digit(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_digit())
}

/// Parts a line; `None` if it has no figure, or is code or a command.
pub(super) fn of(text: &str) -> Option<Shape<'_>> {
    let text = unstamped(text).trim();
    let text = without_semicolon(text);
    let other = |text| is_code(text) || is_bar(text) || is_calculation(text);
    if text.len() > LONGEST || !has_digit(text) || other(text) {
        return None;
    }
    let mut shape = Shape {
        words: String::new(),
        fields: Vec::new(),
        odd: Vec::new(),
    };
    let (mut at, mut from, mut copied) = (0, 0, 0);
    while let Some(digit) = text[at..].find(|c: char| c.is_ascii_digit()) {
        at += digit;
        let rest = &text[at..];
        if !is_free(text[..at].chars().next_back(), &text[..at]) {
            at += 1;
            continue;
        }
        // `189 % of a frame @ 60FPS`: at what the others were measured.
        let given = text[..at].trim_end().ends_with('@');
        let figure = || {
            let whole = number(rest).or_else(|| clock(&text[..at], rest));
            whole.or_else(|| thousands(&text[from..at], rest))
        };
        match figure().filter(|_| !given) {
            Some((mut field, used)) => {
                let used = used + deviation(&rest[used..]);
                let before = text[from..at].trim_end();
                field.named = before.ends_with([':', '=']);
                field.label = label_of(before, shape.fields.last_mut());
                push_words(&mut shape.words, &text[copied..at]);
                shape.words.push('#');
                push_words(&mut shape.words, common_unit(field.unit));
                shape.fields.push(field);
                at += used;
                (from, copied) = (at, at);
            }
            None => {
                // What only looks like a number stays a word, if the same everywhere.
                let word = |c: char| c.is_alphanumeric() || matches!(c, '.' | ':' | '_' | '-');
                let used = rest.find(|c| !word(c)).unwrap_or(rest.len());
                push_words(&mut shape.words, &text[copied..at]);
                shape.words.push('?');
                shape.odd.push(&rest[..used]);
                at += used;
                copied = at;
            }
        }
    }
    push_words(&mut shape.words, &text[copied..]);
    (!shape.fields.is_empty()).then_some(shape)
}

/// Of the words between two numbers those that are of the second; the others are put behind
/// the first.
fn label_of<'t>(before: &'t str, last: Option<&mut Field<'t>>) -> &'t str {
    // `41 ms lat | 7,506 calls`: what ends there belongs to the number before.
    // `392 skipped, 2364 seconds`: nor is it of the next one if it is one word.
    if let Some(own) = before.strip_suffix(['|', ','])
        && let Some(last) = last
        && (last.behind.is_empty() || last.behind == own.trim_matches(is_mark))
    {
        last.behind = own.trim_matches(is_mark);
        return "";
    }
    before.trim_matches(is_mark)
}

/// Whether a line is a calculation: `1 / (1 / 50 + max(1 / 45, 1 / 8)) = 6.9 GiB/s`.
fn is_calculation(text: &str) -> bool {
    if !text.contains('=') {
        return false;
    }
    let Some((left, _)) = text.split_once(" = ") else {
        return false;
    };
    let mut words = left.split(|c: char| !(c.is_alphanumeric() || c == '.'));
    let number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let known = |word: &str| matches!(word, "" | "max" | "min") || number(word);
    let operator = left.contains(" / ") || left.contains(" * ") || left.contains(" + ");
    operator && words.all(known)
}

/// `1:31:03` behind a name for how long something took, in seconds, and its length.
fn clock<'t>(before: &str, text: &'t str) -> Option<(Field<'t>, usize)> {
    let name = before.trim_end().strip_suffix(':')?.to_ascii_lowercase();
    let takes = ["duration", "elapsed", "elapsed time"];
    let used = text
        .find(|c: char| !(c.is_ascii_digit() || c == ':'))
        .unwrap_or(text.len());
    let parts: Option<Vec<f64>> = text[..used].split(':').map(|p| p.parse().ok()).collect();
    let [hours, minutes, seconds] = parts?[..] else {
        return None;
    };
    let within = minutes < 60.0 && seconds < 60.0 && is_end(&text[used..]);
    let named = takes.iter().any(|word| name.ends_with(word));
    (within && named).then(|| {
        let total = hours * 3600.0 + minutes * 60.0 + seconds;
        (unnamed(total, 1.0, "s"), used)
    })
}

/// A unit in which lines are compared: what takes seconds here may take milliseconds
/// there, and so with sizes.
fn common_unit(unit: &str) -> &str {
    match unit {
        unit if is_time(unit) => "s",
        unit if is_size(unit) => "B",
        unit => unit,
    }
}

/// An item that ends with a semicolon, without that: `time spent: 32.1 s;`.
fn without_semicolon(text: &str) -> &str {
    match text.strip_suffix(';') {
        Some(item) if item.contains(": ") && !item.contains(['(', '=', ';']) => item,
        _ => text,
    }
}

/// What stands around labels.
fn is_mark(c: char) -> bool {
    matches!(
        c,
        ' ' | '\t'
            | ':'
            | '='
            | '('
            | ')'
            | '['
            | ']'
            | ','
            | '|'
            | '-'
            | '~'
            | '+'
            | '/'
            | '*'
            | '.'
            | '@'
    )
}

/// Whether a number may begin behind what stands before it.
fn is_free(before: Option<char>, all: &str) -> bool {
    match before {
        None => true,
        Some('-' | '+') => all[..all.len() - 1].ends_with([' ', '\t', '(', '=', ':']),
        Some(c) => {
            c.is_whitespace() || matches!(c, '(' | '[' | '=' | ':' | ',' | '~' | '|' | '/' | '<')
        }
    }
}

/// A number with its unit at the start of a text, and its length.
fn number(text: &str) -> Option<(Field<'_>, usize)> {
    let digits = |c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','));
    let end = text.find(digits).unwrap_or(text.len());
    let token = text[..end].trim_end_matches(['.', ',']);
    let rest = &text[token.len()..];
    if rest.starts_with(['m', 'h'])
        && let Some((quantity, behind)) = quantity(text).filter(|(q, _)| q.unit == "s")
    {
        let field = unnamed(quantity.value, quantity.step, quantity.unit);
        return Some((field, text.len() - behind.len()));
    }
    let value = english(token)?;
    if let Some((seconds, used)) = minutes(text) {
        return Some((unnamed(seconds, 1.0, "s"), used));
    }
    let places = token.rsplit_once('.').map_or(0, |(_, d)| d.len().min(9));
    let step = 10_f64.powi(-i32::try_from(places).unwrap_or(0));
    let spread = bracketed_deviation(rest);
    let (unit, behind, used) = unit(&rest[spread..])?;
    let field = Field {
        behind,
        named: false,
        ..unnamed(value, step, unit)
    };
    Some((field, token.len() + spread + used))
}

/// `75.4k` behind the name of something measured, or before its unit, and its length:
/// `IOPS=75.4k`, `602K IOPS`, and not `bs=4k`.
fn thousands<'t>(before: &str, text: &'t str) -> Option<(Field<'t>, usize)> {
    let (amount, rest) = amount(text)?;
    let digits = |c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','));
    let suffix = text[text.find(digits)?..].starts_with(['k', 'K', 'M', 'G']);
    let name = before.trim_end().strip_suffix(['=', ':']);
    let told = is_measure(amount.unit) || name.is_some_and(names_measurement);
    (suffix && told && is_end(rest)).then(|| {
        let field = unnamed(amount.value, amount.step, amount.unit);
        (field, text.len() - rest.len())
    })
}

fn unnamed(value: f64, step: f64, unit: &str) -> Field<'_> {
    Field {
        label: "",
        value,
        step,
        unit,
        behind: "",
        named: false,
    }
}

/// The unit behind a number or else the word there, and the length of the unit with what
/// stands before it; `None` if it was no number.
fn unit(rest: &str) -> Option<(&str, &str, usize)> {
    let letters = |text: &str| {
        let unit = |c: char| c.is_alphabetic() || matches!(c, '/' | '%');
        text.find(|c| !unit(c)).unwrap_or(text.len())
    };
    let glued = letters(rest);
    if !is_end(&rest[glued..]) {
        return None;
    }
    if glued > 0 {
        return is_unit(&rest[..glued]).then_some((&rest[..glued], "", glued));
    }
    let gap = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let word = letters(&rest[gap..]);
    let next = &rest[gap..gap + word];
    let whole =
        !rest[gap + word..].starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-');
    // `max 39 min -42`: what stands behind it is called so.
    let named = next == "min" && rest[gap + word..].trim_start().starts_with(['-', '+']);
    if gap <= 2
        && whole
        && !named
        && (is_measure(next) || is_rate(next) || is_size(next) || next == "%")
    {
        return Some((next, "", gap + word));
    }
    Some(("", if gap <= 2 { next } else { "" }, 0))
}

/// Whether a number with its unit may end where a text goes on.
fn is_end(text: &str) -> bool {
    let open = |c: char| c.is_whitespace() || matches!(c, ')' | ']' | ';' | '|' | '*' | '.' | ',');
    let next = text.chars().next();
    let more = text.trim_start_matches(['.', ',']).chars().next();
    next.is_none_or(open) && more.is_none_or(open)
}

/// `16 min 25 s`, `1 hr 9 min 29 sec`, in seconds, and its length.
fn minutes(text: &str) -> Option<(f64, usize)> {
    const UNITS: [(&[&str], f64); 3] = [
        (&["h", "hr", "hrs", "hour", "hours"], 3600.0),
        (&["min", "mins", "minute", "minutes"], 60.0),
        (&["s", "sec", "secs", "second", "seconds"], 1.0),
    ];
    let (mut total, mut used, mut parts, mut next) = (0.0, 0, 0, 0);
    while let Some((number, rest)) = text[used..].trim_start_matches(' ').split_once(' ') {
        let Some(value) = english(number) else { break };
        let end = rest
            .find(|c: char| !c.is_alphabetic())
            .unwrap_or(rest.len());
        let known = |(words, _): &(&[&str], f64)| words.contains(&&rest[..end]);
        let Some(at) = UNITS.iter().position(known).filter(|at| *at >= next) else {
            break;
        };
        if value < 0.0 || parts > 0 && value >= 60.0 {
            return None;
        }
        total += value * UNITS[at].1;
        used = text.len() - rest.len() + end;
        (parts, next) = (parts + 1, at + 1);
        if next == UNITS.len() {
            break;
        }
    }
    (parts >= 2).then_some((total, used))
}

/// How long a `± 0.12%` behind a figure is: no figure of its own.
fn deviation(text: &str) -> usize {
    let bare = text.trim_start_matches([' ', '\t']);
    let marks = ["±", "+-", "+/-"];
    let Some(rest) = marks.iter().find_map(|mark| bare.strip_prefix(mark)) else {
        return 0;
    };
    let rest = rest.trim_start_matches(' ');
    let end = rest.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '%')));
    text.len() - rest.len() + end.unwrap_or(rest.len())
}

/// How long a ` (± 1108)` between a figure and its unit is.
fn bracketed_deviation(text: &str) -> usize {
    let bare = text.trim_start_matches([' ', '\t']);
    let inner = bare.strip_prefix('(').filter(|rest| deviation(rest) > 0);
    let end = inner.map(|rest| &rest[deviation(rest)..]);
    let closed = end.and_then(|rest| rest.trim_start_matches(' ').strip_prefix(')'));
    closed.map_or(0, |rest| text.len() - rest.len())
}

fn is_rate(word: &str) -> bool {
    if matches!(word, "/s" | "/sec") {
        return true;
    }
    let parts = word.split_once('/');
    parts.is_some_and(|(a, b)| {
        a.len() >= 2 && !b.is_empty() && b.len() <= 8 && !b.contains('/') && word.len() <= 20
    })
}

pub(super) fn is_size(word: &str) -> bool {
    matches!(
        word,
        "B" | "bytes" | "kB" | "KB" | "MB" | "GB" | "KiB" | "MiB" | "GiB"
    )
}

fn is_unit(word: &str) -> bool {
    word == "%" || word == "x" || is_measure(word) || is_rate(word) || is_size(word)
}

/// Adds words without regard to how many blanks or rules part them. `#` stands for a
/// number, and so for nothing else.
fn push_words(words: &mut String, text: &str) {
    let mut last = words.chars().next_back();
    for c in text.chars() {
        let c = match c {
            '#' => '?',
            c if c.is_whitespace() => ' ',
            c => c,
        };
        let again = matches!(c, ' ' | '-' | '=' | '.' | '*') && last == Some(c);
        // `[ 1467]` is padded.
        let leads = c == ' ' && matches!(last, None | Some('#' | '[' | '('));
        if !again && !leads {
            words.push(c);
            last = Some(c);
        }
    }
}

/// Whether a line ends with a bar, as rows of a histogram do: `0.045 [8914] |****`.
pub(super) fn is_bar(text: &str) -> bool {
    let drawn = |c: char| {
        matches!(c, '#' | '*' | '|' | '=' | '@')
            || ('\u{2580}'..='\u{259f}').contains(&c)
            || c == '∎'
    };
    let bar = text.trim_end_matches(drawn);
    let (length, last) = (text[bar.len()..].chars().count(), text.chars().next_back());
    let block = last.is_some_and(|c| !c.is_ascii());
    bar.ends_with(' ') && (length >= 2 || length == 1 && (block || last == Some('|')))
}

/// Whether a line is code, a command, how far something has come or a row of a profile.
pub(super) fn is_code(text: &str) -> bool {
    text.starts_with(['$', '@', '>', '<', '/', '|'])
        || text.starts_with("diff ")
        || text.starts_with("./")
        || text.starts_with("echo ")
        || is_job_setting(text)
        || text.ends_with(';')
        // `Receiving objects: 100% (98489/98489), 59.23 MiB | 21.26 MiB/s, done.`
        || text.ends_with(", done.")
        || CODE.as_ref().is_some_and(|code| code.is_match(text))
}

/// `runtime=60s` of a file that tells fio what to do.
fn is_job_setting(text: &str) -> bool {
    const KEYS: [&str; 12] = [
        "bs",
        "filesize",
        "io_size",
        "iodepth",
        "loops",
        "nice",
        "numjobs",
        "ramp_time",
        "rate",
        "runtime",
        "size",
        "startdelay",
    ];
    let setting = text.split_once('=').filter(|_| !text.contains(' '));
    setting.is_some_and(|(key, _)| KEYS.contains(&key))
}

/// What a line of code or of a profile holds, or an option of a command.
static CODE: LazyLock<Option<Trigger>> = LazyLock::new(|| {
    Trigger::new(r#"[{}"\\`]|://|0x|&&|\(\)|\[[.k]\]|--\|| --[A-Za-z]| -[a-z_]+="#).ok()
});

/// A line without the stamp that a log puts before it: `I0604 11:26:31.217825 19719
/// file.cc:385] `, `[   12.345678] `, `==4711== `, `2024-01-31 10:11:12,345 `.
fn unstamped(text: &str) -> &str {
    let text = text.trim_start().trim_start_matches("- ");
    if text.starts_with(['[', 'I', 'W', 'E', 'F'])
        && let Some((stamp, rest)) = text.split_once("] ")
        && (stamp.starts_with('[') || is_stamp(stamp))
        && stamp.len() <= 80
        && stamp.bytes().filter(u8::is_ascii_digit).count() >= 4
    {
        return rest;
    }
    let marked = text
        .strip_prefix("==")
        .and_then(|rest| rest.split_once("== "));
    if let Some((number, rest)) = marked
        && number.bytes().all(|b| b.is_ascii_digit())
    {
        return rest;
    }
    let mut rest = text;
    while let Some((word, more)) = rest.split_once(' ')
        && is_clock(word)
    {
        rest = more.trim_start();
    }
    rest
}

/// `I0604 11:26:31.217825 19719 file.cc:385`.
fn is_stamp(stamp: &str) -> bool {
    let mut words = stamp.split_whitespace();
    let level = words.next().is_some_and(|word| {
        word.len() == 5
            && word.starts_with(['I', 'W', 'E', 'F'])
            && word[1..].bytes().all(|b| b.is_ascii_digit())
    });
    level && words.next().is_some_and(is_clock)
}

/// `2024-01-31`, `10:11:12,345`.
fn is_clock(word: &str) -> bool {
    let bytes = word.as_bytes();
    let digits = bytes.iter().filter(|b| b.is_ascii_digit()).count();
    let marks = bytes.iter().filter(|b| matches!(b, b':' | b'-')).count();
    digits >= 6
        && marks == 2
        && bytes.first().is_some_and(u8::is_ascii_digit)
        && bytes
            .iter()
            .all(|b| b.is_ascii_digit() || matches!(b, b':' | b'-' | b'.' | b',' | b'Z'))
}
