//! The numbers of a line, and the units behind them.

use crate::grammar::form::Form;
use crate::grammar::number::{Locale, Number, number};
use crate::grammar::units::{is_measure, is_unit, power_of_seconds, thousands};

/// A number that a line prints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Printed<'t> {
    pub(crate) number: Number,
    /// The unit behind it, if that is a known one; `%` is among them.
    pub(crate) unit: &'t str,
    /// Where in the line it begins, and where it ends with its unit.
    pub(crate) at: usize,
    pub(crate) end: usize,
    /// The factor of its prefix: 1000 for `12K`.
    pub(crate) times: f64,
}

impl Printed<'_> {
    /// Whether it has a fraction or a unit of what is measured, as names and parameters seldom have.
    pub(crate) fn looks_measured(&self) -> bool {
        is_measure(self.unit) || self.unit == "%" || self.number.value.fract() != 0.0
    }
}

/// A number with what may stand between its digits.
static NUMBER: Form = Form::new("^[-+.]?[0-9]+(?:[.,'][0-9]+|[eE][-+]?[0-9]+)*");

/// Returns the numbers of a line in order; a comma that parts no thousands is a decimal mark. Parts of
/// names, versions, addresses and times of day do not count: `x86`, `fio-3.33`, `5.4.1`, `12:30`, `0x1f`.
pub(crate) fn find(line: &str) -> Vec<Printed<'_>> {
    let bytes = line.as_bytes();
    let decimal = has_decimal_comma(line);
    let mut found = Vec::new();
    let mut at = list_mark(line);
    while at < bytes.len() {
        if !begins(bytes, at) {
            at += 1;
            continue;
        }
        if let Some((number, length)) = duration(&line[at..]) {
            let (end, unit, times) = (at + length, "s", 1.0);
            found.push(Printed {
                number,
                unit,
                at,
                end,
                times,
            });
            at = end;
            continue;
        }
        if let Some(printed) = in_groups(line, at) {
            at = printed.end;
            found.push(printed);
            continue;
        }
        let digits = NUMBER.find(&line[at..]).map_or("", |found| found.as_str());
        let rest = &line[at + digits.len()..];
        let comma = || number(digits, Locale::CommaDecimal).filter(|_| digits.contains(','));
        let english = || number(digits, Locale::English);
        let number = match decimal {
            true => comma().or_else(english),
            false => english().or_else(comma),
        };
        match number.filter(|_| !goes_on(rest)) {
            Some(number) => {
                let (times, unit, length) = unit(rest);
                let is_least = unit == "min" && names_other_extreme(line);
                found.push(Printed {
                    number: Number {
                        value: number.value * times,
                        step: number.step.map(|step| step * times),
                    },
                    unit: if is_least { "" } else { unit },
                    at,
                    end: at + digits.len() + length,
                    times,
                });
                at += digits.len();
            }
            None => at = word_end(bytes, at),
        }
    }
    found
}

/// `1 200 843 ops/s`, whose thousands blanks part: first in the line or behind a sign, and before a
/// unit of what is measured.
fn in_groups(line: &str, at: usize) -> Option<Printed<'_>> {
    static GROUPS: Form = Form::new("^[0-9]{1,3}(?: [0-9]{3})+(?:[.,][0-9]+)? ?");
    let (before, rest) = (line[..at].trim_end(), &line[at..]);
    let parted = rest.as_bytes().iter().take(4).any(|b| *b == b' ');
    let first = before.is_empty() || before.ends_with([':', '=', '|']);
    let groups = (first && parted).then(|| GROUPS.find(rest))??;
    let unit = word_of(&rest[groups.end()..]);
    let digits = groups.as_str().replace(' ', "").replace(',', ".");
    Some(Printed {
        number: number(&digits, Locale::English)?,
        unit: Some(unit).filter(|unit| is_measure(unit))?,
        at,
        end: at + groups.end() + unit.len(),
        times: 1.0,
    })
}

/// Whether a comma of the line can only be a decimal mark: `2,10s`. So are the others then:
/// `2,905 total`.
fn has_decimal_comma(line: &str) -> bool {
    let bytes = line.as_bytes();
    memchr::memchr_iter(b',', bytes).any(|at| {
        let behind = &bytes[at + 1..];
        let digits = behind.iter().take_while(|b| b.is_ascii_digit()).count();
        let unit = behind.get(digits).is_some_and(u8::is_ascii_alphabetic);
        at > 0 && bytes[at - 1].is_ascii_digit() && unit && !matches!(digits, 0 | 3)
    })
}

/// Where the text of an item of a numbered list begins: behind `3. ` or `3) `; 0 if it is none.
pub(crate) fn list_mark(line: &str) -> usize {
    let text = line.trim_start();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
    let marked = text[digits..].starts_with(". ") || text[digits..].starts_with(") ");
    match (1..=2).contains(&digits) && marked {
        true => line.len() - text.len() + digits + 2,
        false => 0,
    }
}

/// The seconds of `1h02m03.5s`, `13m15s` or `7s 310ms` at the begin of a text, and its length. It
/// has two parts at least; fewer are a number with a unit.
fn duration(text: &str) -> Option<(Number, usize)> {
    const PARTS: [(&str, f64); 4] = [("h", 3600.0), ("m|min", 60.0), ("s|sec", 1.0), ("ms", 1e-3)];
    let (mut seconds, mut step, mut parts, mut at) = (0.0, 1.0, 0, 0);
    for (letters, times) in PARTS {
        let blank = usize::from(parts > 0 && text[at..].starts_with(' '));
        let rest = &text[at + blank..];
        let digits = rest.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',')));
        let length = digits.unwrap_or(rest.len());
        let mut word = rest[length..].split(|c: char| !c.is_ascii_alphabetic());
        let word = word.next().unwrap_or_default();
        if length == 0 || letters.split('|').all(|letters| letters != word) {
            continue;
        }
        // In `1m24,238s` the comma is the decimal mark.
        let part = match rest[..length].contains(',') {
            true if parts > 0 => number(&rest[..length], Locale::CommaDecimal)?,
            true => return None,
            false => number(&rest[..length], Locale::English)?,
        };
        seconds += times * part.value;
        step = times * part.step?;
        parts += 1;
        at += blank + length + word.len();
    }
    let ends = !text[at..].starts_with(|c: char| c.is_alphanumeric() || c == '.' || c == '_');
    let number = Number {
        value: (seconds * 1e9).round() / 1e9,
        step: Some(step),
    };
    (parts > 1 && ends).then_some((number, at))
}

/// Whether the line speaks of a maximum or a mean, so that `min` is the minimum.
fn names_other_extreme(line: &str) -> bool {
    let mut words = line.split(|c: char| !c.is_alphanumeric());
    words.any(|word| ["max", "avg", "mean", "maximum", "average"].contains(&&*word.to_lowercase()))
}

/// Whether a number may begin here.
fn begins(bytes: &[u8], at: usize) -> bool {
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let before = at.checked_sub(1).map(|at| bytes[at]);
    let free = before.is_none_or(|b| {
        !(b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':' | b'-' | b'+') || b >= 0x80)
    });
    // `+-1.2` and `±1.2` begin a number behind their mark.
    let spread = at >= 2 && matches!(&bytes[at - 2..at], b"+-" | b"/-" | b"\xc2\xb1");
    match bytes[at] {
        b'0'..=b'9' => free || spread,
        b'-' | b'+' | b'.' => free && digit(at + 1),
        _ => false,
    }
}

/// Whether what follows a number makes it part of something else.
fn goes_on(rest: &str) -> bool {
    let mut chars = rest.chars();
    let (first, second) = (chars.next(), chars.next());
    let digit = second.is_some_and(|c| c.is_ascii_digit());
    match first {
        Some('.' | ':' | '/' | '-') => digit,
        Some('x' | 'X' | '_' | '#') => true,
        // `13m15`, part of a name or of a time that is not understood.
        Some('a'..='z' | 'A'..='Z') => word_of(rest).contains(|c: char| c.is_ascii_digit()),
        _ => false,
    }
}

fn word_end(bytes: &[u8], from: usize) -> usize {
    let inside =
        |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b':' | b'_' | b'-' | b',');
    let rest = bytes[from + 1..].iter().position(|b| !inside(b));
    rest.map_or(bytes.len(), |rest| from + 1 + rest)
}

/// The unit at the beginning of a text, the factor of its prefix, and how long both are: `K` is a
/// thousand, `Miops` are a million `iops`. A word joined to the number is its unit, known or not,
/// so that `13m` and `59s` have different units.
fn unit(rest: &str) -> (f64, &str, usize) {
    let text = rest.trim_start_matches(' ');
    let (first, is_joined) = (word_of(text), text.len() == rest.len());
    let end = rest.len() - text.len() + first.len();
    if is_unit(first) {
        return (1.0, first, end);
    }
    if let Some((power, base)) = prefixed(first) {
        let thousands = 1000_f64.powi(power);
        if base.is_empty() && is_joined {
            let behind = rest[end..].trim_start_matches(' ');
            let word = Some(word_of(behind)).filter(|word| is_unit(word));
            let more = |word: &str| rest.len() - behind.len() + word.len();
            return (thousands, word.unwrap_or_default(), word.map_or(end, more));
        }
        // `Miops` are millions of `iops`, `TiB` are 1024 to the fourth of `B`.
        if is_unit(base) {
            return (thousands, base, end);
        }
        if let Some(base) = base.strip_prefix('i').filter(|base| is_unit(base)) {
            return (1024_f64.powi(power), base, end);
        }
    }
    match is_joined {
        true => (1.0, first, end),
        false => (1.0, "", 0),
    }
}

fn word_of(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '/' | '%')));
    &text[..end.unwrap_or(text.len())]
}

/// The power of thousands that a prefix stands for, and what follows it. `m` may be a minute.
fn prefixed(word: &str) -> Option<(i32, &str)> {
    let (prefix, rest) = word.split_at_checked(1)?;
    let power = thousands(prefix).filter(|power| (1..=4).contains(power))?;
    Some((power, rest))
}

/// Whether two units are one, however they are spelled.
pub(crate) fn same_unit(a: &str, b: &str) -> bool {
    let times = power_of_seconds(a).zip(power_of_seconds(b));
    let rates = a.split_once('/').zip(b.split_once('/'));
    let rate =
        |((a, per), (b, other)): ((&str, &str), (&str, &str))| a == b && same_unit(per, other);
    times.is_some_and(|(a, b)| a == b) || a.eq_ignore_ascii_case(b) || rates.is_some_and(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of a line with their units and steps.
    fn values(line: &str) -> Vec<(f64, &str, f64)> {
        let one = |one: Printed<'static>| (one.number.value, one.unit, one.number.step.unwrap());
        find(line.to_owned().leak()).into_iter().map(one).collect()
    }

    #[test]
    fn numbers_are_no_parts_of_names() {
        let lines = "fio-3.33 on x86 5.4.1 at 12:30 0x1f v6|..1 --2 1e999 \u{e9}1";
        assert!(lines.split('|').all(|line| values(line).is_empty()));
        for (line, wanted) in [
            ("real 12.5s, 1,234 MB/s", &[12.5, 1234.0][..]),
            ("-1.5e-3 | 7% +-0.2", &[-0.0015, 7.0, 0.2]),
            ("a: 3 \u{b1}4 (5.)", &[3.0, 4.0, 5.0]),
            ("100. 2.5 s", &[100.0, 2.5]),
            ("145,78s user 6,26s system", &[145.78, 6.26]),
            ("2,10s user 2,905 total", &[2.1, 2.905]),
            ("2.10s user 2,905 total on 1,2", &[2.1, 2905.0, 1.2]),
            ("13m15 13m15sx 1h2m3", &[]),
            (
                "12 345 678|a 12 345 ms|12 34 ms",
                &[12.0, 345.0, 678.0, 12.0, 345.0, 12.0, 34.0],
            ),
        ] {
            let found: Vec<f64> = values(line).iter().map(|(value, ..)| *value).collect();
            assert_eq!(found, wanted, "{line}");
        }
    }

    #[test]
    fn minutes_prefixes_and_joined_words_count() {
        #[rustfmt::skip]
        let cases = [
            ("stock: 1m27s", 87.0, "s", 1.0), ("1h02m03.5s,", 3723.5, "s", 0.1),
            ("real 1m24,238s", 84.238, "s", 1e-3), ("took 2h15m", 8100.0, "s", 60.0),
            ("1. 8s 310ms", 8.31, "s", 1e-3), ("1min 45sec", 105.0, "s", 1.0), (" 2) 7s787ms", 7.787, "s", 1e-3),
            ("1 200 843 ops/s", 1_200_843.0, "ops/s", 1.0),
            ("13m", 13.0, "m", 1.0), ("132.5K iops", 132_500.0, "iops", 100.0),
            ("1.5 Miops", 1_500_000.0, "iops", 100_000.0), ("183M", 183e6, "", 1e6),
            ("2KiB", 2.0, "KiB", 1.0), ("10Gbit", 10.0, "Gbit", 1.0),
            ("4 Patches", 4.0, "", 1.0), ("704 min", 704.0, "min", 1.0),
        ];
        for (line, value, unit, step) in cases {
            assert_eq!(values(line), [(value, unit, step)], "{line}");
        }
        // The minimum.
        assert_eq!(values("717 max, 704 min cycles")[1].1, "");
    }
}
