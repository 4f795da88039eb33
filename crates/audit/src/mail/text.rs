//! Decoded text, its lines, and the lines of the file that they come from.

use std::borrow::Cow;

use assize_bundle::Place;
use memchr::{memchr, memchr2};

use super::{entity, quote};
use crate::line::Line;

/// The lines of the file that the lines of a decoded text come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Places {
    /// Consecutive lines, starting with this one.
    From(u32),
    /// All from this line.
    At(u32),
    /// Each from its own line.
    Each(Vec<u32>),
}

impl Places {
    /// The file's line of a line of text, counted from 0.
    pub(super) fn line(&self, index: usize) -> u32 {
        match self {
            Places::From(first) => first.saturating_add(narrow(index)),
            Places::At(line) => *line,
            Places::Each(lines) => lines
                .get(index)
                .or(lines.last())
                .copied()
                .unwrap_or_default(),
        }
    }
}

/// A count as [`Place`] has it.
pub(super) fn narrow(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Number of line ends.
pub(super) fn line_ends(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

/// One part of a message: its text from byte `start` on.
#[derive(Debug, Clone)]
pub(super) struct Text {
    pub(super) text: String,
    pub(super) start: usize,
    pub(super) places: Places,
}

impl Text {
    /// Adds the lines to `out`.
    pub(super) fn lines<'a>(&'a self, message: u32, out: &mut Vec<Line<'a>>) {
        let text = self.text.get(self.start..).unwrap_or_default();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        out.reserve(text.len() / 48);
        let mut splitter = Splitter {
            text,
            places: &self.places,
            message,
            break_at: 0,
            entity_at: 0,
            out,
        };
        splitter.run();
    }
}

/// Cuts a text into lines.
struct Splitter<'a, 'o> {
    text: &'a str,
    places: &'o Places,
    message: u32,
    /// The offset of the next carriage return or form feed, searched for again once passed. So
    /// the whole text is searched for these only once, not for each of its lines.
    break_at: usize,
    /// The same for the next ampersand.
    entity_at: usize,
    out: &'o mut Vec<Line<'a>>,
}

impl<'a> Splitter<'a, '_> {
    fn run(&mut self) {
        let bytes = self.text.as_bytes();
        self.break_at = find(bytes, 0, |rest| memchr2(b'\r', b'\x0c', rest));
        self.entity_at = find(bytes, 0, |rest| memchr(b'&', rest));
        let mut start = 0;
        let mut index = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            self.physical(start, end, index);
            start = end + 1;
            index += 1;
        }
        if start < bytes.len() {
            self.physical(start, bytes.len(), index);
        }
    }

    /// Adds a line of the file, split at the carriage returns and form feeds in it.
    fn physical(&mut self, start: usize, end: usize, index: usize) {
        let text = trimmed(self.text.get(start..end).unwrap_or_default());
        let place = Place {
            message: self.message,
            line: self.places.line(index),
        };
        let bytes = self.text.as_bytes();
        let entity = self.entity_at < end;
        if entity {
            self.entity_at = find(bytes, end, |rest| memchr(b'&', rest));
        }
        let breaks = self.break_at < start + text.len();
        if self.break_at < end {
            self.break_at = find(bytes, end, |rest| memchr2(b'\r', b'\x0c', rest));
        }
        if !breaks {
            return self.push(text, place, entity);
        }
        let mut pieces = text
            .split(['\r', '\x0c'])
            .map(trimmed)
            .filter(|p| !p.is_empty());
        self.push(pieces.next().unwrap_or_default(), place, entity);
        for piece in pieces {
            self.push(piece, place, entity);
        }
    }

    #[inline]
    fn push(&mut self, text: &'a str, place: Place, entity: bool) {
        let mut text = if entity {
            match entity::decode(text) {
                Cow::Borrowed(same) => Cow::Borrowed(same),
                Cow::Owned(mut decoded) => {
                    decoded.truncate(trimmed(&decoded).len());
                    Cow::Owned(decoded)
                }
            }
        } else {
            Cow::Borrowed(text)
        };
        let (bytes, depth) = quote::marks(text.as_bytes());
        if bytes > 0 {
            quote::cut(&mut text, bytes);
        }
        if !text.is_ascii()
            && let Some(plain) = plain_blanks(&text)
        {
            text = Cow::Owned(plain);
        }
        self.out
            .push(Line::new(text, quote::saturated(depth), place));
    }
}

/// Replaces no-break spaces by plain blanks; `None` if there are none. One between two digits
/// separates thousands, and is kept.
fn plain_blanks(text: &str) -> Option<String> {
    const NO_BREAK: char = '\u{a0}';
    text.contains(NO_BREAK).then(|| {
        let mut plain = String::with_capacity(text.len());
        let mut rest = text.chars().peekable();
        let mut before = ' ';
        while let Some(c) = rest.next() {
            let digits = before.is_ascii_digit() && rest.peek().is_some_and(char::is_ascii_digit);
            before = c;
            plain.push(if c == NO_BREAK && !digits { ' ' } else { c });
        }
        plain.truncate(plain.trim_end().len());
        plain
    })
}

/// The offset of what `search` finds at or after `from`; the text's end if it finds nothing.
fn find(bytes: &[u8], from: usize, search: impl Fn(&[u8]) -> Option<usize>) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    search(rest).map_or(bytes.len(), |found| from + found)
}

/// The text without trailing white space.
#[inline]
fn trimmed(text: &str) -> &str {
    match text.as_bytes().last() {
        Some(last) if last.is_ascii_graphic() => text,
        _ => text.trim_end(),
    }
}
