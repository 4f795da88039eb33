//! Quote marks at the start of a line: which there are, and how many.
//!
//! Each line decides for itself. Marks that are as common in ordinary text (`: `, `] `,
//! initials in small letters) are none: no tool prints such a line, so nothing is read of it.

use std::borrow::Cow;

use memchr::memchr;

/// Length in bytes of the quote marks at the start of a line, and their
/// number.
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

/// The end of the mark at `at`, with the one blank that belongs to it.
/// `pipes` remembers whether this line's pipes are marks.
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

/// `>>>>>>> branch` or `>>>>>>> 1a2b3c4 (Subject)`: exactly seven and one
/// word.
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

/// `| ` or `|>`, unless the line is a row of a table: one that has another
/// pipe after its marks.
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

/// Takes the first bytes from a text. They end at a character's end.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> (usize, &str) {
        let (bytes, depth) = marks(line.as_bytes());
        (depth, &line[bytes..])
    }

    #[test]
    fn angles_of_any_style_are_marks() {
        assert_eq!(split("> a"), (1, "a"));
        assert_eq!(split(">a"), (1, "a"));
        assert_eq!(split(">"), (1, ""));
        assert_eq!(split("> > > a"), (3, "a"));
        assert_eq!(split(">>> a"), (3, "a"));
        assert_eq!(split(">> >a"), (3, "a"));
        assert_eq!(split(" > a"), (1, "a"));
        assert_eq!(split(">  > a"), (2, "a"));
        assert_eq!(split(">\u{a0}a"), (1, "a"));
    }

    #[test]
    fn the_indentation_of_quoted_text_is_kept() {
        assert_eq!(split(">     52.67 Joules"), (1, "    52.67 Joules"));
        assert_eq!(split(">\t7"), (1, "\t7"));
    }

    #[test]
    fn pipes_and_mixtures_are_marks() {
        assert_eq!(split("| a"), (1, "a"));
        assert_eq!(split("|"), (1, ""));
        assert_eq!(split("|> a"), (2, "a"));
        assert_eq!(split("> | a"), (2, "a"));
        assert_eq!(split("| > | a"), (3, "a"));
        assert_eq!(split("> MB> > a"), (3, "a"));
    }

    #[test]
    fn a_row_of_a_table_is_not_a_quote() {
        for row in [
            "| a | b |",
            "| a | b",
            "| depth=1  +-------+-------+",
            "| a |",
            "| | 1 | 2 |",
            "|---|---|",
            "|-----+----|",
            "|  |",
            "||",
            "+---+---+",
        ] {
            assert_eq!(split(row), (0, row));
            assert_eq!(split(&format!("> {row}")), (1, row));
            assert_eq!(split(&format!(">> {row}")), (2, row));
        }
    }

    #[test]
    fn initials_are_marks() {
        assert_eq!(split("MB> a"), (1, "a"));
        assert_eq!(split(" MB> a"), (1, "a"));
        assert_eq!(split("MB>> a"), (2, "a"));
        assert_eq!(split("M> JD> a"), (2, "a"));
        assert_eq!(split("ABCDE> a"), (0, "ABCDE> a"));
        assert_eq!(split("A>B"), (0, "A>B"));
    }

    #[test]
    fn comparisons_redirections_and_arrows_are_not_quotes() {
        for text in [
            ">= 5%",
            ">=5%",
            ">=",
            "echo 1 > out",
            "a -> b",
            "=> 7",
            "-> x",
            "<5",
            "a > b",
        ] {
            assert_eq!(split(text), (0, text));
        }
        assert_eq!(split(">====="), (1, "====="));
    }

    #[test]
    fn the_end_of_a_merge_conflict_is_not_a_quote() {
        for text in [">>>>>>> topic/latency", ">>>>>>> 1a2b3c4 (Faster)"] {
            assert_eq!(split(text), (0, text));
            assert_eq!(split(&format!("> {text}")), (1, text));
        }
        assert_eq!(split(">>>>>>> seven words deep"), (7, "seven words deep"));
        assert_eq!(split(">>>>>> six"), (6, "six"));
        assert_eq!(split(">>>>>>>> eight"), (8, "eight"));
    }

    #[test]
    fn a_line_of_a_million_marks_takes_no_time() {
        for unit in [">", "> ", "| ", "|> ", ">>>>>>> ", "A> ", " >"] {
            let line = unit.repeat(1_000_000 / unit.len());
            let (bytes, _) = marks(line.as_bytes());
            assert!(bytes <= line.len());
        }
    }
}
