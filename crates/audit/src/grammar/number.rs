//! Numbers as people and tools print them.

/// Which character is the decimal mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Locale {
    /// `1,234.5`
    #[default]
    English,
    /// `1.234,5`
    CommaDecimal,
}

/// Reads a whole token as a number: digits with correctly placed thousands
/// separators (groups of three; comma, apostrophe, no-break or thin space in
/// [`Locale::English`]; dot in [`Locale::CommaDecimal`]), one decimal mark,
/// which may come first in [`Locale::English`], optional sign and exponent.
/// Returns `None` for `nan`, `inf`, `1,2,3`, `1.2.3` and the empty string.
pub fn parse(token: &str, locale: Locale) -> Option<f64> {
    let (thousands, decimal) = match locale {
        Locale::English => (',', '.'),
        Locale::CommaDecimal => ('.', ','),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if token.len() > LONGEST {
        return None;
    }
    let minus = token
        .strip_prefix('\u{2212}')
        .map(|rest| format!("-{rest}"));
    let token = minus.as_deref().unwrap_or(token);
    let (number, power) = token.split_once(['e', 'E']).unwrap_or((token, "0"));
    let unsigned = number.strip_prefix(['+', '-']).unwrap_or(number);
    let (whole, fraction) = unsigned.split_once(decimal).unwrap_or((unsigned, "0"));
    if !digits(fraction) || !digits(power.strip_prefix(['+', '-']).unwrap_or(power)) {
        return None;
    }
    let marks = [thousands, '\'', '\u{a0}', '\u{2009}', '\u{202f}'];
    let mut groups = whole.split(marks);
    let first = groups.next()?;
    let groups: Vec<&str> = groups.collect();
    let grouped = first.len() <= 3 && !first.starts_with('0');
    // `.52`, as `bc` prints it. A dot that parts thousands begins no number.
    let bare = locale == Locale::English && whole.is_empty() && unsigned.len() > 1;
    let is_group = |group: &&str| group.len() == 3 && digits(group);
    let proper = groups.is_empty() || grouped && groups.iter().all(is_group);
    if !proper || !(digits(first) || bare) {
        return None;
    }
    let sign = &number[..number.len() - unsigned.len()];
    let plain = format!("{sign}{first}{}.{fraction}e{power}", groups.concat());
    plain.parse().ok().filter(|value: &f64| value.is_finite())
}

/// Longest token that is looked at.
const LONGEST: usize = 40;

/// [`parse`] in the English locale.
pub fn english(token: &str) -> Option<f64> {
    // What Rust reads as well, and sooner.
    let plain = |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+');
    let value = || token.parse().ok().filter(|value: &f64| value.is_finite());
    let plain = token.bytes().all(plain) && !token.ends_with('.');
    let value = plain.then(value).flatten();
    value.or_else(|| parse(token, Locale::English))
}

/// A number and the place of its last digit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Number {
    pub(crate) value: f64,
    pub(crate) step: Option<f64>,
}

/// Reads a number and the place of its last digit.
pub(crate) fn number(text: &str, locale: Locale) -> Option<Number> {
    let value = match locale {
        Locale::English => english(text),
        _ => parse(text, locale),
    };
    let step = step(text, locale);
    value.map(|value| Number { value, step })
}

/// The value of one unit in the last digit; `None` if it is not a finite power of ten.
pub(crate) fn step(text: &str, locale: Locale) -> Option<f64> {
    let mark = match locale {
        Locale::English => '.',
        Locale::CommaDecimal => ',',
    };
    let (mantissa, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let places = mantissa.split_once(mark);
    let places = places.map_or(0, |(_, digits)| digits.len());
    let power: i32 = power.parse().ok()?;
    let step = 10_f64.powi(power.checked_sub(i32::try_from(places).ok()?)?);
    (step.is_finite() && step > 0.0).then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_must_part_groups_of_three() {
        assert_eq!(english("9,140,249,815"), Some(9_140_249_815.0));
        assert_eq!(english("320,440.96"), Some(320_440.96));
        assert_eq!(english("1'234"), Some(1234.0));
        assert_eq!(parse("320.440,96", Locale::CommaDecimal), Some(320_440.96));
        assert_eq!(parse("12,5", Locale::CommaDecimal), Some(12.5));
        for bad in [
            "0,123", "1,2,3", "1,23", "1234,567", ",5", "5,", "nan", "inf", "", "-", "1.2.3", "1e",
            "0x10", "1e999",
        ] {
            assert_eq!(english(bad), None, "{bad}");
        }
    }
}
