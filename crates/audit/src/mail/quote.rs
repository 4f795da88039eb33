//! Recognises and counts the quote marks at the start of a line.
//!
//! Each line is examined by itself. Marks that are as common in ordinary text (`: `, `] `, initials
//! in lower case) do not count: no tool prints such lines, so no figure is read from them.

use std::borrow::Cow;

use memchr::memchr;

/// Length in bytes of the quote marks at the start of a line, and how many there are.
pub(super) fn marks(line: &[u8]) -> (usize, usize) {
    let mut at = 0;
    let mut depth = 0;
    let mut pipes = None;
    while let Some(next) = mark(line, at, &mut pipes) {
        at = next;
        depth += 1;
    }
    (at, depth)
}

/// The end of the mark at `at`, including the one blank that belongs to it. `pipes` caches whether
/// pipes are quote marks on this line.
#[inline]
fn mark(line: &[u8], at: usize, pipes: &mut Option<bool>) -> Option<usize> {
    match line.get(at)? {
        b'>' if is_prompt(line, at) => None,
        b'>' => angle(line, at),
        b'|' => pipe(line, at, pipes),
        b'A'..=b'Z' => initials(line, at),
        b' ' => match line.get(at + 1)? {
            b'>' => angle(line, at + 1),
            b'A'..=b'Z' => initials(line, at + 1),
            _ => None,
        },
        _ => None,
    }
}

/// `>>> %time load()`: Python's prompt and a command of IPython.
fn is_prompt(line: &[u8], at: usize) -> bool {
    line.get(at..)
        .is_some_and(|rest| rest.starts_with(b">>> %"))
}

/// `>`, unless it is a comparison or the end of a merge conflict.
fn angle(line: &[u8], at: usize) -> Option<usize> {
    let next = at + 1;
    match line.get(next) {
        Some(b'=') => {
            let compares = |b: &u8| *b == b' ' || b.is_ascii_digit();
            if line.get(next + 1).is_none_or(compares) {
                return None;
            }
        }
        Some(b'>') if ends_conflict(line, at) => return None,
        _ => {}
    }
    Some(blank(line, next))
}

/// Skips the one blank after a mark.
fn blank(line: &[u8], at: usize) -> usize {
    match line.get(at) {
        Some(b' ') => at + 1,
        Some(0xc2) if line.get(at + 1) == Some(&0xa0) => at + 2,
        _ => at,
    }
}

/// `>>>>>>> branch` or `>>>>>>> 1a2b3c4 (Subject)`: exactly seven and one word.
fn ends_conflict(line: &[u8], at: usize) -> bool {
    let first = at == 0 || line.get(at - 1) != Some(&b'>');
    let Some(rest) = line.get(at..).and_then(|r| r.strip_prefix(b">>>>>>> ")) else {
        return false;
    };
    if !first || matches!(rest.first(), None | Some(b' ' | b'>' | b'|')) {
        return false;
    }
    match memchr(b' ', rest) {
        None => true,
        Some(end) => rest.get(end + 1) == Some(&b'('),
    }
}

/// `| ` or `|>`, unless the line is a row of a table: one that has another pipe after its marks.
fn pipe(line: &[u8], at: usize, pipes: &mut Option<bool>) -> Option<usize> {
    let quotes = *pipes.get_or_insert_with(|| {
        let rest = line.get(at..).unwrap_or_default();
        let run = rest
            .iter()
            .position(|b| !matches!(b, b'|' | b'>' | b' '))
            .unwrap_or(rest.len());
        // `| depth=1  +-------+-------+` stands in a table, too.
        let drawn = rest.trim_ascii_end();
        if drawn.ends_with(b"-+") || drawn.ends_with(b"=+") {
            false
        } else if run == rest.len() {
            !rest.get(1..).unwrap_or_default().contains(&b'|')
        } else {
            memchr(b'|', rest.get(run..).unwrap_or_default()).is_none()
        }
    });
    let next = at + 1;
    let follows = matches!(line.get(next), None | Some(b' ' | b'>' | b'|' | 0xc2));
    (quotes && follows).then(|| blank(line, next))
}

/// `MB> `: up to four capital letters.
fn initials(line: &[u8], at: usize) -> Option<usize> {
    let rest = line.get(at..)?;
    let letters = rest
        .iter()
        .take(5)
        .take_while(|b| b.is_ascii_uppercase())
        .count();
    if letters > 4 || rest.get(letters) != Some(&b'>') {
        return None;
    }
    let next = letters + 1;
    matches!(rest.get(next), None | Some(b' ' | b'>' | b'|')).then(|| blank(line, at + next))
}

/// A depth as [`Line`](crate::line::Line) has it.
pub(super) fn saturated(depth: usize) -> u8 {
    u8::try_from(depth).unwrap_or(u8::MAX)
}

/// Removes the first `bytes` bytes of a text; they must end at a character boundary.
pub(super) fn cut(text: &mut Cow<'_, str>, bytes: usize) {
    match text {
        Cow::Borrowed(all) => *all = all.get(bytes..).unwrap_or_default(),
        Cow::Owned(all) => {
            if all.is_char_boundary(bytes) {
                all.drain(..bytes);
            }
        }
    }
}
