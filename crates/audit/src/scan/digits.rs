//! Finds lines with digits: without one, almost nothing is read.

use crate::correspondence::is_correspondence;
use crate::line::Line;
use crate::unreached::may_say;

/// Whether a text, quoted or not, may have anything to read. Most mails have neither a digit nor
/// one of the few words that are read without one.
pub(crate) fn may_hold(text: &[u8]) -> bool {
    // In parts, so that the first digit ends it.
    text.chunks(256).any(has_digit) || may_say(text)
}

/// For each line, the distance to the next line with a digit that may belong to a figure; very
/// large for lines of correspondence.
pub(super) fn next_digit(lines: &[Line<'_>]) -> Vec<u32> {
    let mut next = vec![u32::MAX; lines.len()];
    let mut distance = u32::MAX;
    for (at, line) in lines.iter().enumerate().rev() {
        let text: &str = &line.text;
        next[at] = match has_digit(text.as_bytes()) {
            true if is_correspondence(text) => u32::MAX,
            true => 0,
            false => distance.saturating_add(1),
        };
        distance = next[at].min(distance.saturating_add(1));
    }
    next
}

fn has_digit(text: &[u8]) -> bool {
    text.iter().fold(false, |any, b| any | b.is_ascii_digit())
}
