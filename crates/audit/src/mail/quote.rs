//! Quote marks at the start of a line: which there are, and how many.
//!
//! A single line decides most cases ([`marks`]). Marks that are too common as
//! ordinary text (`: `, `] `, an indented `>`, initials in small letters)
//! count only where several lines in a row have them ([`unquote_runs`]).

use std::borrow::Cow;

use memchr::memchr;

use crate::Line;

/// How many lines in a row must have a weak mark for it to count.
const RUN: usize = 3;

/// How many kinds of weak marks may lie inside each other.
const NESTED_RUNS: usize = 8;

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

/// A mark that counts only in company.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weak {
    Colon,
    Bracket,
    /// `>` after more than one blank.
    Indented,
    Initials([u8; 4]),
}

/// Whether a line that has lost its marks may begin with a weak one.
#[inline]
pub(super) fn may_be_weak(text: &[u8]) -> bool {
    match text {
        [b':' | b']', ..] => true,
        [b' ', b' ', ..] => weak(text).is_some(),
        [first, rest @ ..] if first.is_ascii_alphabetic() => {
            rest.iter().take(4).any(|b| *b == b'>')
        }
        _ => false,
    }
}

/// The weak mark at the start of a text and its end.
fn weak(text: &[u8]) -> Option<(Weak, usize)> {
    let (kind, end) = match text.first()? {
        b':' => (Weak::Colon, 1),
        b']' => (Weak::Bracket, 1),
        b' ' => {
            let blanks = text.iter().take(9).take_while(|b| **b == b' ').count();
            if text.get(blanks) != Some(&b'>') {
                return None;
            }
            (Weak::Indented, blanks + 1)
        }
        first if first.is_ascii_alphabetic() => {
            let letters = text
                .iter()
                .take(5)
                .take_while(|b| b.is_ascii_alphabetic())
                .count();
            if letters > 4 || text.get(letters) != Some(&b'>') {
                return None;
            }
            let mut name = [0; 4];
            for (to, from) in name.iter_mut().zip(text.iter().take(letters)) {
                *to = *from;
            }
            (Weak::Initials(name), letters + 1)
        }
        _ => return None,
    };
    match text.get(end) {
        None => Some((kind, end)),
        Some(b' ') => Some((kind, end + 1)),
        Some(b'>') if matches!(kind, Weak::Indented | Weak::Initials(_)) => Some((kind, end)),
        Some(_) => None,
    }
}

/// Takes away weak marks where [`RUN`] or more lines of the same depth in a
/// row have the same one.
pub(super) fn unquote_runs(lines: &mut [Line<'_>]) {
    for _ in 0..NESTED_RUNS {
        let mut changed = false;
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            let Some((kind, _)) = weak(line.text.as_bytes()) else {
                at += 1;
                continue;
            };
            let depth = line.depth;
            let same = |l: &&Line<'_>| {
                l.depth == depth && weak(l.text.as_bytes()).is_some_and(|(k, _)| k == kind)
            };
            let length = lines.iter().skip(at).take_while(same).count();
            if length >= RUN {
                changed = true;
                lines.iter_mut().skip(at).take(length).for_each(strip_weak);
            }
            at += length.max(1);
        }
        if !changed {
            break;
        }
    }
}

/// Takes a weak mark and the marks behind it from a line.
fn strip_weak(line: &mut Line<'_>) {
    let Some((_, end)) = weak(line.text.as_bytes()) else {
        return;
    };
    let (more, depth) = marks(line.text.as_bytes().get(end..).unwrap_or_default());
    line.depth = saturated(usize::from(line.depth) + 1 + depth);
    cut(&mut line.text, end + more);
}

/// A depth as [`Line`] has it.
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

    fn run(texts: &[&str]) -> Vec<(u8, String)> {
        let mut lines: Vec<_> = (1..).zip(texts).map(|(n, t)| Line::plain(n, t)).collect();
        unquote_runs(&mut lines);
        lines
            .into_iter()
            .map(|l| (l.depth, l.text.into_owned()))
            .collect()
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
    fn weak_marks_count_from_three_lines_on() {
        let quoted = run(&[": a", ":", ": > c", "end"]);
        let depths: Vec<u8> = quoted.iter().map(|l| l.0).collect();
        assert_eq!(depths, [1, 1, 2, 0]);
        assert_eq!(quoted[2].1, "c");
        assert_eq!(run(&[": a", ": b", "c"])[0], (0, ": a".into()));
        assert_eq!(run(&["] a", "] b", "] c"])[2], (1, "c".into()));
        assert_eq!(run(&["   > a", "   > b", "   > c"])[0], (1, "a".into()));
        assert_eq!(run(&["jd> a", "jd> b", "jd> c"])[1], (1, "b".into()));
        assert_eq!(run(&["jd> a", "mb> b", "jd> c"])[1], (0, "mb> b".into()));
    }

    #[test]
    fn closing_brackets_of_json_are_kept() {
        assert_eq!(run(&["[", "]", "],"])[1], (0, "]".into()));
    }

    #[test]
    fn weak_marks_may_lie_in_each_other() {
        let lines = run(&[": jd> a", ": jd> b", ": jd> c"]);
        assert_eq!(lines[2], (2, "c".into()));
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
