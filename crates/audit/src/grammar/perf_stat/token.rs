//! Words and numbers of a `perf stat` line.

use crate::grammar::number::{self, Locale};

/// The words of a line. Blanks of any kind part them, save a no-break or thin
/// space that stands inside a number (`1 466` as French locales print it).
#[derive(Debug, Clone)]
pub(super) struct Words<'a> {
    rest: &'a str,
}

/// The words of `text`.
pub(super) fn words(text: &str) -> Words<'_> {
    Words { rest: text }
}

impl<'a> Words<'a> {
    /// What has not been read yet.
    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let text = self.rest.trim_start();
        if text.is_empty() {
            self.rest = text;
            return None;
        }
        let end = text
            .char_indices()
            .find(|&(at, c)| c.is_whitespace() && !inside_number(text, at, c))
            .map_or(text.len(), |(at, _)| at);
        let (word, rest) = text.split_at(end);
        self.rest = rest;
        Some(word)
    }
}

/// Whether the blank `c` at `at` parts two groups of one number.
fn inside_number(text: &str, at: usize, c: char) -> bool {
    if !matches!(c, '\u{a0}' | '\u{2009}' | '\u{202f}') {
        return false;
    }
    let bytes = text.as_bytes();
    let before = at.checked_sub(1).and_then(|at| bytes.get(at));
    let after = bytes.get(at + c.len_utf8()..).unwrap_or_default();
    before.is_some_and(u8::is_ascii_digit)
        && after.len() >= 3
        && after.iter().take(3).all(u8::is_ascii_digit)
        && !after.get(3).is_some_and(u8::is_ascii_digit)
}

/// Whether a token stands where a value is meant, be it a good number or not
/// (`1,234`, `1,2,3`, `nan`, `-12.3`, `12abc`).
pub(super) fn looks_numeric(token: &str) -> bool {
    let body = token.strip_prefix(['+', '-']).unwrap_or(token);
    let bytes = body.as_bytes();
    match bytes {
        [b'0'..=b'9', ..] => {
            token.len() <= 256
                && !matches!(bytes.last(), Some(b'%' | b':' | b')' | b';' | b']' | b'.'))
                && !bytes
                    .iter()
                    .any(|b| matches!(b, b'/' | b'=' | b'(' | b':' | b'"'))
        }
        [b'.', b'0'..=b'9', ..] => true,
        _ => ["nan", "inf", "infinity"]
            .iter()
            .any(|word| body.eq_ignore_ascii_case(word)),
    }
}

/// Whether a token is nothing but ASCII digits.
pub(super) fn all_digits(token: &str) -> bool {
    !token.is_empty() && token.bytes().all(|b| b.is_ascii_digit())
}

/// Reads a number that perf never groups (times, percentages, everything in
/// CSV and JSON): whichever mark it has is the decimal mark.
pub(super) fn plain_decimal(token: &str) -> Option<f64> {
    let mut marks = token.bytes().filter(|b| matches!(b, b'.' | b','));
    match (marks.next(), marks.next()) {
        (Some(b','), None) => number::english(&token.replace(',', ".")),
        (_, None) => number::english(token),
        _ => None,
    }
}

/// [`number::parse`], save that a grouped number does not start with a zero:
/// `0,123` is no English number and `0.123` no comma-decimal one.
pub(super) fn read(token: &str, locale: Locale) -> Option<f64> {
    let thousands = match locale {
        Locale::English => b',',
        Locale::CommaDecimal => b'.',
    };
    let body = token.strip_prefix(['+', '-']).unwrap_or(token);
    match body.as_bytes() {
        [b'0', mark, ..] if *mark == thousands => None,
        _ => number::parse(token, locale),
    }
}

/// How firmly a token speaks for a locale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// The elapsed time: perf prints it without groups.
    Time,
    /// A percentage or a derived figure: without groups too.
    Derived,
    /// A counter's value, which may be grouped.
    Value,
}

/// What the tokens of a block say about its locale.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Votes([i64; 3]);

impl Votes {
    /// A token whose last mark is its decimal mark.
    pub(super) fn decimal(&mut self, token: &str, weight: Weight) {
        match token.bytes().rev().find(|b| matches!(b, b'.' | b',')) {
            Some(b'.') => self.vote(weight, 1),
            Some(_) => self.vote(weight, -1),
            None => {}
        }
    }

    /// A counter's value: speaks only if it can be read in one way only.
    pub(super) fn value(&mut self, token: &str) {
        match (
            read(token, Locale::English),
            read(token, Locale::CommaDecimal),
        ) {
            (Some(_), None) => self.vote(Weight::Value, 1),
            (None, Some(_)) => self.vote(Weight::Value, -1),
            _ => {}
        }
    }

    fn vote(&mut self, weight: Weight, by: i64) {
        self.0[weight as usize] += by;
    }

    /// The locale that the firmest tokens speak for, if any does.
    pub(super) fn decide(&self) -> Option<Locale> {
        self.0.iter().find(|&&votes| votes != 0).map(|&votes| {
            if votes > 0 {
                Locale::English
            } else {
                Locale::CommaDecimal
            }
        })
    }
}

/// A timestamp as `perf stat -I` prints it (`1.000123456`): the seconds and
/// the byte after it.
pub(super) fn timestamp(text: &str) -> Option<(f64, usize)> {
    let bytes = text.as_bytes();
    let start = bytes.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let whole = digits_from(bytes, start);
    if whole == 0 || whole > 9 || !matches!(bytes.get(start + whole), Some(b'.' | b',')) {
        return None;
    }
    if digits_from(bytes, start + whole + 1) != 9 {
        return None;
    }
    let end = start + whole + 10;
    if bytes.get(end).is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    Some((plain_decimal(text.get(start..end)?)?, end))
}

/// How many digits stand at `from`, counted to ten.
fn digits_from(bytes: &[u8], from: usize) -> usize {
    bytes
        .iter()
        .skip(from)
        .take(10)
        .take_while(|b| b.is_ascii_digit())
        .count()
}

/// The first 40 characters of a token, for a message.
pub(super) fn shown(token: &str) -> String {
    token.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_no_break_space_parts_words_only_outside_numbers() {
        let text = "\u{a0}\u{a0}1\u{202f}466\u{a0}cpu-migrations\u{a0}";
        let got: Vec<_> = words(text).collect();
        assert_eq!(got, ["1\u{202f}466", "cpu-migrations"]);
    }

    #[test]
    fn a_leading_zero_is_never_a_group() {
        assert_eq!(read("0,123", Locale::English), None);
        assert_eq!(read("0,123", Locale::CommaDecimal), Some(0.123));
        assert_eq!(read("0.123", Locale::CommaDecimal), None);
        assert_eq!(read("0.123", Locale::English), Some(0.123));
    }

    #[test]
    fn the_elapsed_time_outvotes_all_values() {
        let mut votes = Votes::default();
        votes.value("1,234,567");
        votes.value("1,234,567");
        assert_eq!(votes.decide(), Some(Locale::English));
        votes.decimal("0,5", Weight::Time);
        assert_eq!(votes.decide(), Some(Locale::CommaDecimal));
        assert_eq!(Votes::default().decide(), None);
    }

    #[test]
    fn a_timestamp_has_nine_decimals() {
        assert_eq!(
            timestamp("     1.000123456   12 x"),
            Some((1.000123456, 16))
        );
        for other in [
            "1.5 seconds",
            "1.0001234567 x",
            "x",
            "",
            "1234567890.123456789",
        ] {
            assert_eq!(timestamp(other), None, "{other}");
        }
    }
}
