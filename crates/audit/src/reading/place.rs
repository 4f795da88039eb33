//! Places of figures in a text: `12-16`, `33.1 +- 33.2 sd n=8`, `table@41 col 3`.

use crate::options::SpreadKind;

/// One or several numbers of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    /// Of each of these lines its one number, the k-th, or all.
    Lines { from: u32, to: u32, nth: Nth },
    /// A column, counted from 1, of the table at a line.
    Column { line: u32, column: usize },
    /// The number that stands behind each of the others and a `±`.
    Behind,
}

/// Which number of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nth {
    Only,
    Th(usize),
    All,
}

/// A place, and what its numbers are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Place {
    pub(super) items: Vec<Item>,
    pub(super) spread: Option<(Item, SpreadKind)>,
    pub(super) n: Option<u32>,
    /// Whether its numbers are means of runs.
    pub(super) is_mean: bool,
    pub(super) order: Option<Item>,
    /// Whether they were made in the order of the text.
    pub(super) in_order: bool,
    /// The place of their printed mean.
    pub(super) mean: Option<Item>,
}

impl Place {
    /// Reads a place.
    pub(super) fn parse(text: &str) -> Result<Place, String> {
        let plain = text.replace('\u{b1}', " +- ").replace("+-", " +- ");
        let mut words: Vec<&str> = plain
            .split([' ', '\t', ','])
            .filter(|w| !w.is_empty())
            .collect();
        words.reverse();
        let mut place = Place::default();
        while let Some(word) = words.pop() {
            if word == "+-" {
                let spread = place.spread_item(&mut words)?;
                let kind = words.last().and_then(|word| SpreadKind::parse(word).ok());
                if kind.is_some() {
                    words.pop();
                }
                place.spread = Some((spread, kind.unwrap_or(SpreadKind::Sd)));
                place.is_mean = true;
            } else if let Some(n) = word.strip_prefix("n=") {
                let known = n.parse().ok().filter(|n| *n > 0);
                if known.is_none() && n != "?" {
                    return Err(expected(word, "n=8"));
                }
                (place.n, place.is_mean) = (known, true);
            } else if let Some(order) = word.strip_prefix("order=") {
                place.order = Some(item(order, &mut words)?);
            } else if word == "in" && words.last() == Some(&"order") {
                words.pop();
                place.in_order = true;
            } else if word == "mean" {
                let next = words.pop().ok_or_else(|| expected(word, "mean 17"))?;
                place.mean = Some(item(next, &mut words)?);
            } else {
                place.items.push(item(word, &mut words)?);
            }
        }
        if place.items.is_empty() {
            return Err(expected(text, "12-16"));
        }
        Ok(place)
    }

    /// Reads a spread: another place, or a column of the same table.
    fn spread_item(&self, words: &mut Vec<&str>) -> Result<Item, String> {
        if words
            .last()
            .is_some_and(|word| SpreadKind::parse(word).is_ok())
        {
            return Ok(Item::Behind);
        }
        let word = words.pop().ok_or_else(|| expected("+-", "33.1 +- 33.2"))?;
        match self.items.last() {
            Some(Item::Column { line, .. }) if word == "col" => Ok(Item::Column {
                line: *line,
                column: column(words)?,
            }),
            _ => item(word, words),
        }
    }
}

fn expected(word: &str, example: &str) -> String {
    format!("'{word}' is no place; write it as in '{example}'")
}

fn column(words: &mut Vec<&str>) -> Result<usize, String> {
    let number = words.pop().and_then(|word| word.parse().ok());
    let column = number.filter(|column| *column > 0);
    column.ok_or_else(|| expected("col", "table@41 col 3"))
}

/// Reads `12`, `12.3`, `12.*`, `12-16`, `12-16.2` or `table@41 col 3`.
fn item(word: &str, words: &mut Vec<&str>) -> Result<Item, String> {
    let wrong = || expected(word, "12, 12.3, 12-16 or table@41 col 3");
    let line = |text: &str| text.parse::<u32>().ok().filter(|line| *line > 0);
    if let Some(at) = word.strip_prefix("table@") {
        let at = line(at).ok_or_else(wrong)?;
        if words.pop() != Some("col") {
            return Err(wrong());
        }
        return Ok(Item::Column {
            line: at,
            column: column(words)?,
        });
    }
    let (lines, nth) = match word.split_once('.') {
        None => (word, Nth::Only),
        Some((lines, "*")) => (lines, Nth::All),
        Some((lines, nth)) => {
            let nth = nth.parse().ok().filter(|nth| *nth > 0);
            (lines, Nth::Th(nth.ok_or_else(wrong)?))
        }
    };
    let (from, to) = lines.split_once('-').unwrap_or((lines, lines));
    let (from, to) = line(from).zip(line(to)).ok_or_else(wrong)?;
    if from > to {
        return Err(format!("'{word}' ends before it begins; write {to}-{from}"));
    }
    Ok(Item::Lines { from, to, nth })
}

/// Whether a text parts a mean from its spread.
pub(super) fn is_spread(text: &str) -> bool {
    matches!(
        text.trim(),
        "\u{b1}" | "+-" | "+/-" | "(\u{b1}" | "(+-" | "(+/-"
    )
}

/// The name that stands in a line before the byte at `end`; where there is none, the line above, if
/// it ends with a colon.
pub(super) fn name_before<'t>(lines: &[&'t str], at: u32, end: usize) -> Option<&'t str> {
    let bare = |text: &'t str| {
        let text = text.trim_start_matches([' ', '\t', '-', '*', '|', '>', '#', '`']);
        text.trim_end_matches([
            ' ', '\t', ':', '=', '|', ',', '(', '`', '*', '-', '+', '\u{b1}',
        ])
    };
    let named = |text: &&str| text.contains(char::is_alphabetic);
    let at = (at as usize).checked_sub(1)?;
    let own = bare(lines.get(at)?.get(..end)?);
    let mut above = lines[..at].iter().rev().map(|text| text.trim_end());
    let titled = || above.next().filter(|text| text.ends_with(':')).map(bare);
    Some(own).filter(named).or_else(titled).filter(named)
}

/// Splits a row into cells at `|`, at tabs, at two blanks, or else at every blank.
pub(super) fn cells(text: &str) -> Vec<&str> {
    let bars = ['|', '\u{2502}', '\u{2503}', '\u{2551}'];
    let text = text.trim();
    if text.contains(bars) {
        let inner = text.strip_prefix(bars).unwrap_or(text);
        let inner = inner.strip_suffix(bars).unwrap_or(inner);
        return inner.split(bars).map(str::trim).collect();
    }
    let parted = |by: &str| {
        let all = text
            .split(by)
            .map(str::trim)
            .filter(|cell| !cell.is_empty());
        Some(all.collect::<Vec<_>>()).filter(|cells| cells.len() > 1)
    };
    parted("\t")
        .or_else(|| parted("  "))
        .unwrap_or_else(|| text.split_whitespace().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_lines_numbers_and_columns() {
        let lines = |from, to, nth| Item::Lines { from, to, nth };
        let place = Place::parse("12-16, 18 mean 17").unwrap();
        assert_eq!(
            place.items,
            [lines(12, 16, Nth::Only), lines(18, 18, Nth::Only)]
        );
        assert_eq!(place.mean, Some(lines(17, 17, Nth::Only)));
        assert!(Place::parse("12-16 in order").unwrap().in_order);
        let place = Place::parse("33.1 +- 33.2 n=8").unwrap();
        assert!(place.is_mean && place.n == Some(8));
        assert_eq!(
            place.spread,
            Some((lines(33, 33, Nth::Th(2)), SpreadKind::Sd))
        );
        let place = Place::parse("table@41 col 3 +- col 4 se n=5").unwrap();
        let column = |column| Item::Column { line: 41, column };
        assert_eq!(place.items, [column(3)]);
        assert_eq!(place.spread, Some((column(4), SpreadKind::Se)));
        let place = Place::parse("33.1 +- se n=8").unwrap();
        assert_eq!(place.spread, Some((Item::Behind, SpreadKind::Se)));
        let place = Place::parse("12 n=?").unwrap();
        assert!(place.is_mean && place.n.is_none());
        for bad in [
            "", "x", "0", "5-3", "12.0", "table@3", "12 +-", "12 n=0", "12-",
        ] {
            assert!(Place::parse(bad).is_err(), "{bad}");
        }
    }
}
