//! Where digits stand: without one, next to nothing is read.

use crate::Line;
use crate::grammar::prose::says_without_digits;

/// Whether anything that is read may stand in a text, as it is or unquoted: most mails have
/// neither a digit nor what is read without one.
pub(crate) fn may_hold(text: &[u8]) -> bool {
    // In parts, so that the first digit ends it.
    text.chunks(256).any(has_digit) || says_without_digits(text)
}

/// For each line, how many lines on the next one with a digit stands.
pub(super) fn next_digit(lines: &[Line<'_>]) -> Vec<u32> {
    let mut next = vec![u32::MAX; lines.len()];
    let mut distance = u32::MAX;
    for (at, line) in lines.iter().enumerate().rev() {
        distance = match has_digit(line.text.as_bytes()) {
            true => 0,
            false => distance.saturating_add(1),
        };
        next[at] = distance;
    }
    next
}

pub(super) fn has_digit(text: &[u8]) -> bool {
    text.iter().fold(false, |any, b| any | b.is_ascii_digit())
}
