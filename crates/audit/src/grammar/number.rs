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
        Locale::English => (b',', b'.'),
        Locale::CommaDecimal => (b'.', b','),
    };
    let bytes = token.as_bytes();
    if token.len() > LONGEST {
        return None;
    }
    let mut reader = Reader {
        bytes,
        at: 0,
        plain: [0; LONGEST],
        len: 0,
    };
    reader.sign();
    // `.52`, as `bc` prints it. A dot that parts thousands begins no number.
    if !(locale == Locale::English && reader.peek() == Some(decimal)) {
        reader.integer(thousands)?;
    }
    if reader.peek() == Some(decimal) {
        reader.at += 1;
        reader.push(b'.');
        reader.digits()?;
    }
    if matches!(reader.peek(), Some(b'e' | b'E')) {
        reader.at += 1;
        reader.push(b'e');
        reader.sign();
        reader.digits()?;
    }
    if reader.at != bytes.len() {
        return None;
    }
    let value: f64 = std::str::from_utf8(&reader.plain[..reader.len])
        .ok()?
        .parse()
        .ok()?;
    value.is_finite().then_some(value)
}

/// Longest token that is looked at.
const LONGEST: usize = 40;

/// Copies a token, without its separators, into a form that Rust reads.
struct Reader<'t> {
    bytes: &'t [u8],
    at: usize,
    plain: [u8; LONGEST],
    len: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// There is always room: every byte pushed comes from a byte read.
    fn push(&mut self, byte: u8) {
        self.plain[self.len] = byte;
        self.len += 1;
    }

    fn sign(&mut self) {
        if let Some(sign @ (b'+' | b'-')) = self.peek() {
            self.push(sign);
            self.at += 1;
        }
    }

    /// At least one digit.
    fn digits(&mut self) -> Option<()> {
        let from = self.at;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            self.push(digit);
            self.at += 1;
        }
        (self.at > from).then_some(())
    }

    /// Digits, in groups of three if a separator stands between any.
    fn integer(&mut self, thousands: u8) -> Option<()> {
        let from = self.at;
        self.digits()?;
        let first = self.at - from;
        let zero = self.bytes[from] == b'0';
        while let Some(width) = separator(&self.bytes[self.at..], thousands) {
            if first > 3 || zero {
                return None;
            }
            self.at += width;
            let from = self.at;
            self.digits()?;
            if self.at - from != 3 {
                return None;
            }
        }
        Some(())
    }
}

fn separator(bytes: &[u8], thousands: u8) -> Option<usize> {
    match bytes {
        [b, ..] if *b == thousands || *b == b'\'' => Some(1),
        [0xC2, 0xA0, ..] => Some(2),              // no-break space
        [0xE2, 0x80, 0x89 | 0xAF, ..] => Some(3), // thin, narrow no-break space
        _ => None,
    }
}

/// [`parse`] in the English locale.
pub fn english(token: &str) -> Option<f64> {
    parse(token, Locale::English)
}

/// A number and the place of its last digit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Number {
    pub(crate) value: f64,
    pub(crate) step: Option<f64>,
}

/// Reads a number and the place of its last digit.
pub(crate) fn number(text: &str, locale: Locale) -> Option<Number> {
    let plain = || {
        text.bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+'))
    };
    let value = match locale {
        // What Rust reads as well, and sooner.
        Locale::English if plain() => text.parse().ok().filter(|v: &f64| v.is_finite()),
        _ => None,
    };
    let value = value.or_else(|| parse(text, locale))?;
    Some(Number {
        value,
        step: step(text, locale),
    })
}

/// The value of one unit in the last digit; `None` if it is not a finite power of ten.
pub(crate) fn step(text: &str, locale: Locale) -> Option<f64> {
    let mark = match locale {
        Locale::English => '.',
        Locale::CommaDecimal => ',',
    };
    let (mantissa, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let places = mantissa
        .split_once(mark)
        .map_or(0, |(_, digits)| digits.len());
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
