//! Tables whose figures have a comma before the fraction:
//!
//! ```text
//! size   total (s)   system (s)
//! 16     2,518       0,961
//! 48     4,4         1,25
//! ```
//!
//! `2,518` alone may be two thousand. It is not where other figures of the table can only
//! have a fraction behind the comma, and none has a point. The commas become points, and
//! then it is a table like others.

use super::{rewritten, start};
use crate::Line;
use crate::grammar::cells::line_at;
use crate::grammar::{Block, Grammar, REACH};

/// A table has no more lines.
const MOST: usize = 400;
/// The first row stands at most so many lines below the header.
const HEAD: usize = 4;
/// So many figures must have nothing but a fraction behind their comma.
const CERTAIN: usize = 2;

/// Such tables. They are a format of their own because their rows are none as they stand.
pub(crate) struct Commas;

impl Grammar for Commas {
    fn name(&self) -> &'static str {
        super::TABLE
    }

    fn is_report(&self) -> bool {
        false
    }

    fn starts(&self, line: &str) -> bool {
        start::may_start(line) && !has_figure(line)
    }

    fn reach(&self) -> usize {
        HEAD
    }

    fn rows_within(&self) -> Option<usize> {
        Some(REACH)
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        read(lines)
    }
}

/// Reads such a table.
fn read(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    if !(1..=HEAD).any(|at| here(at).is_some_and(has_figure)) || start::is_of_another(lines) {
        return None;
    }
    let table = (0..MOST).map_while(|at| Some((at, here(at)?)));
    let table = table.take_while(|(_, text)| !text.trim().is_empty());
    let table: Vec<(usize, &str)> = table.collect();
    let all = || table.iter().flat_map(|(_, text)| text.split_whitespace());
    let certain = all().filter(|word| comma(word) == Some(true)).count();
    if certain < CERTAIN || all().any(has_point) {
        return None;
    }
    let right = table.into_iter().map(|(at, text)| (at, pointed(text)));
    rewritten::read(lines, right.collect(), "table row")
}

/// Where the only comma of a word that is a figure stands, and whether what is behind it can
/// only be a fraction.
fn parted(word: &str) -> Option<(usize, bool)> {
    let at = word.find(',')?;
    let (whole, rest) = (word.get(..at)?, word.get(at + 1..)?);
    let whole = whole.trim_start_matches(['+', '-', '~']);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let unit = rest.get(digits..)?;
    let plain = !whole.is_empty() && whole.bytes().all(|b| b.is_ascii_digit());
    let ends = unit.is_empty() || super::is_unit(unit);
    let fraction = digits != 3 || whole == "0";
    (plain && digits > 0 && ends).then_some((at, fraction))
}

/// Whether a line has a figure with a comma in it.
fn has_figure(text: &str) -> bool {
    let digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let parts = |at: usize| at > 0 && digit(at - 1) && digit(at + 1);
    memchr::memchr_iter(b',', text.as_bytes()).any(parts)
        && text.split_whitespace().any(|word| comma(word).is_some())
}

/// Whether a word is a figure with a comma in it, and whether that can only be a fraction's.
fn comma(word: &str) -> Option<bool> {
    parted(word).map(|(_, fraction)| fraction)
}

/// `2.518`: whether a word is a figure with a point in it.
fn has_point(word: &str) -> bool {
    word.contains('.') && super::split_number(word).is_some()
}

/// A line with points for the commas of its figures.
fn pointed(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    for part in text.split_inclusive(char::is_whitespace) {
        let word = part.trim_end();
        match parted(word) {
            Some((at, _)) => {
                whole.push_str(&part[..at]);
                whole.push('.');
                whole.push_str(&part[at + 1..]);
            }
            None => whole.push_str(part),
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::super::Table;
    use super::Commas;
    use super::rewritten;
    use crate::grammar::testing;

    fn values(text: &str) -> Option<Vec<Vec<f64>>> {
        let block = testing::read(&Commas, text).or_else(|| testing::read(&Table, text))?;
        let rows = rewritten::grid(&block)?.rows.iter();
        let row = |cells: &[super::super::Cell]| cells.iter().map(|cell| cell.value).collect();
        Some(rows.map(|row_| row(&row_.cells)).collect())
    }

    #[test]
    fn a_comma_before_three_digits_is_what_the_others_are() {
        let text =
            "size   total (s)   system (s)\n16     2,518       0,961\n48     4,4         1,25\n";
        let read = values(text).unwrap();
        assert_eq!(read, [[16.0, 2.518, 0.961], [48.0, 4.4, 1.25]]);
    }

    #[test]
    fn thousands_remain_what_they_are() {
        let text = "size   total (s)   pages\n16     2,518       1,961\n48     4,400       1,250\n";
        let read = values(text).unwrap();
        assert_eq!(read, [[16.0, 2518.0, 1961.0], [48.0, 4400.0, 1250.0]]);
        // Beside a point a comma parts no fraction.
        let text = "size   total (s)   pages\n16     2.518       1,961\n48     4,4         1,25\n";
        assert!(values(text).is_none_or(|read| read.iter().flatten().all(|v| *v != 4.4)));
        // One such figure may be a list of two numbers.
        let text = "pair   total   pages\n1,2     2,518       1,961\n48      4,400       1,250\n";
        assert!(values(text).is_none_or(|read| read.iter().flatten().all(|v| *v != 1.2)));
    }
}
