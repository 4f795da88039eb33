//! The numbers of a line, and the units behind them.

use crate::grammar::number::{Locale, Number, number};
use crate::grammar::units::{is_unit, power_of_seconds};

/// A number that a line prints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Printed<'t> {
    pub(crate) number: Number,
    /// The unit behind it, if that is a known one; `%` is among them.
    pub(crate) unit: &'t str,
    /// Where in the line it begins.
    pub(crate) at: usize,
}

/// The numbers of a line in order. Parts of names, versions, addresses and times of day
/// are none: `x86`, `fio-3.33`, `5.4.1`, `12:30`, `0x1f`.
pub(crate) fn of(line: &str) -> Vec<Printed<'_>> {
    let bytes = line.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !begins(bytes, at) {
            at += 1;
            continue;
        }
        let end = end(bytes, at);
        let token = &line[at..end];
        let digits = token.trim_end_matches(['.', ',', '\'']);
        let rest = &line[at + digits.len()..];
        match number(digits, Locale::English).filter(|_| !goes_on(rest)) {
            Some(number) => {
                found.push(Printed {
                    number,
                    unit: unit(rest),
                    at,
                });
                at += digits.len();
            }
            None => at = word_end(bytes, at),
        }
    }
    found
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

fn end(bytes: &[u8], from: usize) -> usize {
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut at = from + 1;
    while let Some(byte) = bytes.get(at) {
        let inside = byte.is_ascii_digit()
            || matches!(byte, b'.' | b',' | b'\'') && digit(at + 1)
            || matches!(byte, b'e' | b'E') && (digit(at + 1) || signed(bytes, at + 1));
        let signed_power =
            matches!(byte, b'-' | b'+') && matches!(bytes[at - 1], b'e' | b'E') && digit(at + 1);
        if !inside && !signed_power {
            break;
        }
        at += 1;
    }
    at
}

fn signed(bytes: &[u8], at: usize) -> bool {
    let sign = bytes.get(at).is_some_and(|b| matches!(b, b'-' | b'+'));
    sign && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
}

/// Whether what follows a number makes it part of something else.
fn goes_on(rest: &str) -> bool {
    let mut chars = rest.chars();
    let (first, second) = (chars.next(), chars.next());
    let digit = second.is_some_and(|c| c.is_ascii_digit());
    match first {
        Some('.' | ':' | '/' | '-') => digit,
        Some('x' | 'X' | '_') => true,
        _ => false,
    }
}

fn word_end(bytes: &[u8], from: usize) -> usize {
    let inside =
        |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b':' | b'_' | b'-' | b',');
    let rest = bytes[from + 1..].iter().position(|b| !inside(b));
    rest.map_or(bytes.len(), |rest| from + 1 + rest)
}

/// The unit at the begin of a text.
fn unit(rest: &str) -> &str {
    let text = rest.trim_start_matches(' ');
    let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '/' | '%')));
    let word = &text[..end.unwrap_or(text.len())];
    if is_unit(word) { word } else { "" }
}

/// Whether two units are one, however they are spelled.
pub(crate) fn same_unit(a: &str, b: &str) -> bool {
    let times = power_of_seconds(a).zip(power_of_seconds(b));
    times.is_some_and(|(a, b)| a == b) || a.eq_ignore_ascii_case(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_no_parts_of_names() {
        let values = |line| {
            let all = of(line).into_iter();
            all.map(|one| (one.number.value, one.unit))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            values("real 12.5s, 1,234 MB/s"),
            [(12.5, "s"), (1234.0, "MB/s")]
        );
        assert_eq!(values("fio-3.33 on x86 5.4.1 at 12:30 0x1f v6"), []);
        assert_eq!(
            values("-1.5e-3 | 7% +-0.2"),
            [(-0.0015, ""), (7.0, "%"), (0.2, "")]
        );
        assert_eq!(
            values("a: 3 \u{b1}4 (5.)"),
            [(3.0, ""), (4.0, ""), (5.0, "")]
        );
        assert_eq!(values("..1 --2 1e999 \u{e9}1"), []);
    }
}
