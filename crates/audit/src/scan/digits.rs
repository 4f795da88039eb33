//! Where digits stand: without one, next to nothing is read.

use crate::Line;
use crate::grammar::prose::says_without_digits;
use crate::scan::correspondence::{is_correspondence, is_version_of_git};

/// Whether anything that is read may stand in a text, as it is or unquoted: most mails have
/// neither a digit nor what is read without one.
pub(crate) fn may_hold(text: &[u8]) -> bool {
    // In parts, so that the first digit ends it.
    text.chunks(256).any(has_digit) || says_without_digits(text)
}

/// For each line, how many lines on the next one with a digit stands that may be of a
/// figure; far away for those that are none themselves.
pub(super) fn next_digit(lines: &[Line<'_>]) -> Vec<u32> {
    let mut next = vec![u32::MAX; lines.len()];
    let mut distance = u32::MAX;
    for (at, line) in lines.iter().enumerate().rev() {
        let text: &str = &line.text;
        let above = || at.checked_sub(1).map_or("", |above| &lines[above].text);
        next[at] = match has_digit(text.as_bytes()) {
            true if is_correspondence(text) || is_version_of_git(above(), text) => u32::MAX,
            true => 0,
            false => distance.saturating_add(1),
        };
        distance = next[at].min(distance.saturating_add(1));
    }
    next
}

pub(super) fn has_digit(text: &[u8]) -> bool {
    text.iter().fold(false, |any, b| any | b.is_ascii_digit())
}

/// How many numbers with digits before and behind a point a text has.
pub(super) fn fractions(text: &str) -> usize {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')));
    let is_fraction = |word: &str| {
        word.split_once('.').is_some_and(|(whole, rest)| {
            let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            digits(whole) && rest.bytes().next().is_some_and(|b| b.is_ascii_digit())
        })
    };
    words.filter(|word| is_fraction(word)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_a_point_are_counted_and_parts_of_words_are_not() {
        assert_eq!(fractions("read  12.5  13.75 MB/s (1.5%)"), 3);
        assert_eq!(fractions("on 6.12 it took 3 s"), 1);
        for text in ["x1.5 v2.3-rc1 a.b", "end. 3. Next", "a-1.5", "3.x"] {
            assert_eq!(fractions(text), 0, "{text}");
        }
    }
}
