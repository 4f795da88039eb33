//! A number with its unit, as people write it: `12.5 s`, `1,234 MB/s`, `38k`.

use super::number::english;
use crate::listed::Listed;

/// A number with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Quantity<'t> {
    pub(crate) value: f64,
    /// As written; empty where there was none that is known.
    pub(crate) unit: &'t str,
    /// The place of the last digit.
    pub(crate) step: f64,
}

/// Times.
static TIMES: Listed = Listed::of(&[
    "s",
    "sec",
    "secs",
    "second",
    "seconds",
    "ms",
    "msec",
    "msecs",
    "millisecond",
    "milliseconds",
    "us",
    "usec",
    "usecs",
    "µs",
    "μs",
    "microsecond",
    "microseconds",
    "ns",
    "nsec",
    "nsecs",
    "nanosecond",
    "nanoseconds",
    "min",
    "mins",
    "minute",
    "minutes",
]);

/// Rates, energies and what else programs of measurement print. Sizes are not
/// among them: they are seldom measured and often configured.
static MEASURES: Listed = Listed::of(&[
    "B/s",
    "KB/s",
    "kB/s",
    "KiB/s",
    "MB/s",
    "MiB/s",
    "GB/s",
    "GiB/s",
    "KB/sec",
    "kB/sec",
    "MB/sec",
    "MiB/sec",
    "GB/sec",
    "MBps",
    "GBps",
    "bit/s",
    "Kbit/s",
    "Mbit/s",
    "Gbit/s",
    "kbps",
    "Kbps",
    "Mbps",
    "Gbps",
    "mbps",
    "gbps",
    "Kbits/sec",
    "Mbits/sec",
    "Gbits/sec",
    "IOPS",
    "iops",
    "KIOPS",
    "kIOPS",
    "MIOPS",
    "IOps",
    "ops",
    "op/s",
    "ops/s",
    "ops/sec",
    "Mops/s",
    "kops/s",
    "req/s",
    "reqs/s",
    "requests/s",
    "requests/sec",
    "tps",
    "TPS",
    "qps",
    "QPS",
    "rps",
    "RPS",
    "fps",
    "FPS",
    "pps",
    "Mpps",
    "frames/s",
    "files/sec",
    "loops/sec",
    "msg/s",
    "cycles",
    "J",
    "mJ",
    "Joules",
    "W",
    "mW",
    "Watts",
]);

/// The short names of times, with the power of ten that makes seconds of them.
const POWERS: [(&[&str], i32); 4] = [
    (&["ns", "nsec", "nsecs"], -9),
    (&["us", "µs", "μs", "usec", "usecs"], -6),
    (&["ms", "msec", "msecs"], -3),
    (&["s", "sec", "secs", "second", "seconds"], 0),
];

/// The power of ten that makes seconds of a time in this unit.
pub(crate) fn power_of_seconds(unit: &str) -> Option<i32> {
    let mut known = POWERS.iter();
    known.find_map(|(names, power)| names.contains(&unit).then_some(*power))
}

/// Whether a word is a unit of time.
pub(crate) fn is_time(word: &str) -> bool {
    TIMES.has_in_any_case(word)
}

/// Whether a word is a unit of what is measured: a time, a rate, an energy.
pub(crate) fn is_measure(word: &str) -> bool {
    is_time(word) || is_listed(&MEASURES, word) || is_quotient(word)
}

/// Whether a word is a time for something or something in a time: `ns/op`, `M/s`.
pub(crate) fn is_quotient(word: &str) -> bool {
    let plain = |part: &str, least: usize| {
        (least..=12).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphabetic())
    };
    word.split_once('/').is_some_and(|(a, b)| {
        let costs = is_time(a) || matches!(a, "cycles" | "instructions" | "insns");
        // `ms/s` is a share of time that is given, and seldom measured.
        let rate = plain(a, 1) && !is_time(a) && matches!(b, "s" | "sec" | "second" | "ms" | "us");
        costs && plain(b, 2) || rate
    })
}

/// Whether a word is one of these units; rates are written in any case (`Mib/s`).
pub(crate) fn is_listed(units: &Listed, word: &str) -> bool {
    units.has(word) || word.contains('/') && units.has_in_any_case(word)
}

/// What is measured in a unit, where nothing says it.
pub(crate) fn metric_of(unit: &str) -> &str {
    if is_time(unit) { "time" } else { unit }
}

/// Reads a number and its unit at the start of a text; gives what follows.
pub(crate) fn quantity(text: &str) -> Option<(Quantity<'_>, &str)> {
    let text = text.trim_start();
    if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-')) {
        return None;
    }
    if let Some(compound) = compound(text) {
        return Some(compound);
    }
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '+' | '\'')))
        .unwrap_or(text.len());
    // `1e9`, but not the `e` of a word.
    let end = exponent(text, end);
    let token = text[..end].trim_end_matches([',', '.', '-', '+', '\'']);
    let value = english(token)?;
    let rest = &text[token.len()..];
    let step = step(token);
    if let Some((factor, unit, rest)) = thousands(rest) {
        let (value, step) = (value * factor, step * factor);
        return Some((Quantity { value, unit, step }, rest));
    }
    let (unit, rest) = unit(rest)?;
    Some((Quantity { value, unit, step }, rest))
}

/// `1m 41s`, `2h 3m 12.5s`: a time in several units, in seconds.
fn compound(text: &str) -> Option<(Quantity<'_>, &str)> {
    const PARTS: [(char, f64); 3] = [('h', 3600.0), ('m', 60.0), ('s', 1.0)];
    let (mut rest, mut value, mut parts, mut last) = (text, 0.0, 0, 1.0);
    for (letter, seconds) in PARTS {
        let next = if parts > 0 {
            rest.strip_prefix(' ').unwrap_or(rest)
        } else {
            rest
        };
        let end = next.find(|c: char| !(c.is_ascii_digit() || c == '.'));
        let Some((digits, after)) = end.map(|end| next.split_at(end)) else {
            break;
        };
        let Some(after) = after.strip_prefix(letter) else {
            continue;
        };
        let number = english(digits)?;
        let whole = letter == 's' || !digits.contains('.');
        if after.starts_with(|c: char| c.is_ascii_alphabetic())
            || !whole
            || parts > 0 && number >= 60.0
        {
            return None;
        }
        value += number * seconds;
        last = step(digits) * seconds;
        parts += 1;
        rest = after;
    }
    // Sums of thousandths have no last digit of their own.
    let value = (value * 1e6).round() / 1e6;
    (parts >= 2).then_some((
        Quantity {
            value,
            unit: "s",
            step: last,
        },
        rest,
    ))
}

fn exponent(text: &str, end: usize) -> usize {
    let mut tail = text[end..].char_indices().skip(1);
    let (Some(b'e' | b'E'), Some((_, '0'..='9' | '+' | '-'))) =
        (text.as_bytes().get(end), tail.next())
    else {
        return end;
    };
    let digits = tail.take_while(|(_, c)| c.is_ascii_digit()).last();
    digits.map_or(end + 2, |(at, _)| end + at + 1)
}

/// What a number is counted in, and of what: `K IOPS`, ` million ops/s`. Units of sizes and
/// times have thousands of their own.
fn thousands(rest: &str) -> Option<(f64, &str, &str)> {
    const COUNTS: [(&str, f64); 7] = [
        ("k ", 1e3),
        ("K ", 1e3),
        ("M ", 1e6),
        (" M ", 1e6),
        (" million ", 1e6),
        (" Million ", 1e6),
        (" thousand ", 1e3),
    ];
    let mut counts = COUNTS.iter();
    let (behind, factor) =
        counts.find_map(|(word, factor)| Some((rest.strip_prefix(word)?, *factor)))?;
    let behind = behind.trim_start_matches(' ');
    let end = behind.find(|c: char| !(c.is_ascii_alphabetic() || c == '/'));
    let (unit, rest) = behind.split_at(end.unwrap_or(behind.len()));
    let plain = !unit.starts_with(['k', 'K', 'M', 'G', 'T']) && !unit.contains(['B', 'b']);
    let counted = is_measure(unit) && !is_time(unit) && unit.len() > 1;
    (plain && counted).then_some((factor, unit, rest))
}

/// The unit that is glued to a number or is the next word; no number goes on
/// with letters that are none.
fn unit(rest: &str) -> Option<(&str, &str)> {
    let word = |text: &str| {
        text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '/' | '%' | 'µ' | 'μ')))
            .unwrap_or(text.len())
    };
    let glued = word(rest);
    if glued > 0 {
        let unit = &rest[..glued];
        return (unit == "%" || is_measure(unit)).then_some((unit, &rest[glued..]));
    }
    let after = rest.trim_start_matches(' ');
    let next = word(after);
    // `max 39 min -42`: what is behind it is called so.
    let named = after[..next] == *"min" && {
        let behind = after[next..].trim_start_matches(' ');
        behind.starts_with(['-', '+'])
    };
    if named {
        return Some(("", rest));
    }
    if is_measure(&after[..next]) || after[..next] == *"%" {
        return Some((&after[..next], &after[next..]));
    }
    Some(("", rest))
}

/// The place of the last digit of a number.
fn step(token: &str) -> f64 {
    let (mantissa, power) = token.split_once(['e', 'E']).unwrap_or((token, "0"));
    let places = mantissa
        .split_once('.')
        .map_or(0, |(_, digits)| digits.len());
    let power: i32 = power.parse().unwrap_or(0);
    let places = i32::try_from(places).unwrap_or(0);
    10_f64.powi(
        power
            .clamp(-300, 300)
            .saturating_sub(places)
            .clamp(-300, 300),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_least_value_behind_the_most_is_no_time() {
        assert_eq!(of("39 min -42"), Some((39.0, "", " min -42")));
        assert_eq!(of("39 min"), Some((39.0, "min", "")));
    }

    fn of(text: &str) -> Option<(f64, &str, &str)> {
        quantity(text).map(|(q, rest)| (q.value, q.unit, rest))
    }

    #[test]
    fn units_are_glued_or_the_next_word() {
        assert_eq!(of("12.5s, then"), Some((12.5, "s", ", then")));
        assert_eq!(of(" 1,234 MB/s"), Some((1234.0, "MB/s", "")));
        assert_eq!(of("3.5% of"), Some((3.5, "%", " of")));
        assert_eq!(of("4474 uS, x"), Some((4474.0, "uS", ", x")));
        assert_eq!(of("1.5e+09 cycles"), Some((1.5e9, "cycles", "")));
        assert_eq!(of("7 of them"), Some((7.0, "", " of them")));
        assert_eq!(of("1m 41s"), Some((101.0, "s", "")));
        assert_eq!(of("2h3m12.5s, then"), Some((7392.5, "s", ", then")));
        assert_eq!(of("1h 30m"), Some((5400.0, "s", "")));
        assert_eq!(of("    12s"), Some((12.0, "s", "")));
        assert_eq!(of("5.86 ns/op"), Some((5.86, "ns/op", "")));
        assert_eq!(of("8.09M/s ("), Some((8.09, "M/s", " (")));
        assert_eq!(of("5.86 and/or"), Some((5.86, "", " and/or")));
        assert_eq!(of("562K IOPS, x"), Some((562e3, "IOPS", ", x")));
        assert_eq!(of("1.5 million ops/s"), Some((1.5e6, "ops/s", "")));
        assert_eq!(of("2 million pages"), Some((2.0, "", " million pages")));
        for text in [
            "12x",
            "0x10",
            "12MBs",
            "v5.4",
            "",
            "-",
            "12kB",
            "1m 75s",
            "1.5m 3s",
            "1m 41sec",
            "12K MB/s",
            "12k s",
            "12K files",
            "12K",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn the_step_is_the_place_of_the_last_digit() {
        for (text, step) in [("12.50", 0.01), ("7", 1.0), ("1.5e3", 100.0)] {
            let (read, _) = quantity(text).unwrap();
            assert!((read.step / step - 1.0).abs() < 1e-9, "{text}");
        }
    }
}
