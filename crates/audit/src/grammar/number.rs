//! Numbers as people and tools print them.

/// Which character parts the integer from the fraction.
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
/// optional sign and exponent. `nan`, `inf`, `1,2,3`, `1.2.3` and the empty
/// string are `None`: they are not data.
pub fn parse(token: &str, locale: Locale) -> Option<f64> {
    let (thousands, decimal) = match locale {
        Locale::English => (b',', b'.'),
        Locale::CommaDecimal => (b'.', b','),
    };
    let bytes = token.as_bytes();
    let sign_len = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    if !bytes.get(sign_len)?.is_ascii_digit() || token.len() > 40 {
        return None;
    }
    let mut plain = [0u8; 48];
    let mut len = 0;
    let mut push = |b: u8| {
        plain[len] = b;
        len += 1;
    };
    if sign_len == 1 {
        push(bytes[0]);
    }
    let mut at = sign_len;
    let mut group = 0usize; // digits since the last separator
    let mut grouped = false;
    while let Some(&b) = bytes.get(at) {
        if b.is_ascii_digit() {
            group += 1;
            push(b);
        } else if let Some(width) = separator(&bytes[at..], thousands) {
            let leading_zero = !grouped && bytes[sign_len] == b'0';
            if (grouped && group != 3) || group == 0 || group > 3 || leading_zero {
                return None;
            }
            if !bytes.get(at + width).is_some_and(u8::is_ascii_digit) {
                return None;
            }
            grouped = true;
            group = 0;
            at += width;
            continue;
        } else {
            break;
        }
        at += 1;
    }
    if grouped && group != 3 {
        return None;
    }
    if bytes.get(at) == Some(&decimal) {
        push(b'.');
        at += 1;
        let from = at;
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            push(bytes[at]);
            at += 1;
        }
        if at == from {
            return None;
        }
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        push(b'e');
        at += 1;
        if matches!(bytes.get(at), Some(b'+' | b'-')) {
            push(bytes[at]);
            at += 1;
        }
        let from = at;
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            push(bytes[at]);
            at += 1;
        }
        if at == from {
            return None;
        }
    }
    if at != bytes.len() {
        return None;
    }
    let value: f64 = std::str::from_utf8(&plain[..len]).ok()?.parse().ok()?;
    value.is_finite().then_some(value)
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
