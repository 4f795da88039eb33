//! Lines that look like data although no grammar has read them.

use crate::grammar::number;

/// Whether a line consists of figures for the most part, or is one named
/// figure. Used to list what was not understood; never to read anything.
pub(crate) fn looks_like_data(text: &str) -> bool {
    let text = text.trim();
    if text.len() < 5 || text.len() > 500 || !text.bytes().any(|b| b.is_ascii_digit()) {
        return false;
    }
    let first = text.as_bytes()[0];
    if matches!(
        first,
        b'[' | b'/' | b'@' | b'<' | b'{' | b'}' | b'(' | b'&' | b'\\'
    ) || text.ends_with([';', '{', '}', '\\'])
        || text.contains("://")
    {
        return false;
    }
    may_be_mostly_numbers(text) && is_mostly_numbers(text) || is_named_figure(text)
}

/// Whether a line has three numbers, and as many as other words.
fn is_mostly_numbers(text: &str) -> bool {
    let (mut words, mut numbers) = (0, 0);
    for word in text.split_whitespace() {
        words += 1;
        numbers += usize::from(is_number(word));
    }
    numbers >= 3 && numbers * 2 >= words
}

/// The same as far as the first letters of words tell, which is enough to tell a sentence.
fn may_be_mostly_numbers(text: &str) -> bool {
    let (mut words, mut numbers, mut within) = (0, 0, false);
    for byte in text.bytes() {
        let part = !matches!(byte, b' ' | b'\t'..=b'\r');
        let begins = part && !within;
        within = part;
        let of_number = !byte.is_ascii_alphabetic() || matches!(byte, b'n' | b'N' | b'i');
        words += u32::from(begins);
        numbers += u32::from(begins && of_number);
    }
    !text.is_ascii() || numbers >= 3 && numbers * 2 >= words
}

/// Whether a word is a number, maybe in brackets.
fn is_number(word: &str) -> bool {
    let bare = || word.trim_matches(|c| matches!(c, '(' | ')' | '|' | '%' | ':' | '[' | ']'));
    match word.bytes().any(|b| b.is_ascii_digit()) {
        true => number::english(bare()).is_some(),
        // Each of these has that letter, and most words have not.
        false => word.contains(['n', 'N']) && matches!(bare(), "nan" | "inf" | "NaN"),
    }
}

/// `throughput: 1234 MB/s`, `total time = 12.5 s`.
fn is_named_figure(text: &str) -> bool {
    let Some((name, rest)) = text.split_once([':', '=']) else {
        return false;
    };
    let mut words = rest.split_whitespace();
    let mut has_unit = false;
    let value = words.next().is_some_and(|word| {
        let digits = word.trim_end_matches(|c: char| c.is_alphabetic() || matches!(c, '%' | '/'));
        has_unit = digits.len() < word.len();
        number::english(digits).is_some()
    });
    let name_ok = name.split_whitespace().count() <= 4
        && name.bytes().next().is_some_and(|b| b.is_ascii_alphabetic())
        && !name.contains(['(', '<', '"', '-', '>', '/', '\\']);
    value
        && name_ok
        && (words.next().is_some() || has_unit)
        && words.next().is_none()
        && rest.trim().len() >= 2
        && !text.ends_with([',', '.', ';'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_figures_and_named_figures_look_like_data() {
        assert!(looks_like_data("read 12.5 13.5 14.5"));
        assert!(looks_like_data("throughput: 1234 MB/s"));
        assert!(looks_like_data("1 2 3 nan"));
    }

    #[test]
    fn prose_code_and_logs_do_not() {
        for text in [
            "we tested 3 of 5 machines in 2026",
            "int a = 3;",
            "[   12.345678] usb 1-1: new device 12 13 14",
            "Kernel: 6.12",
            "Date: Tue Mar 24 2026 - 22:33:38 EST",
            "https://example.org/1/2/3",
        ] {
            assert!(!looks_like_data(text), "{text}");
        }
    }
}
