//! Tables between pipes whose header has rules over some of its columns only:
//!
//! ```text
//! |  bytes  |     cycles/op       | percent |     |box: one     |      P8       |      P1       |
//! |   per   |---------------------|  gain   |     |disk: fast   |---------------|---------------|
//! |  call   | with old | with new |         |     |             | base  | fixed | base  | fixed |
//! |---------|----------|----------|---------|     |-------------|-------|-------|-------|-------|
//! |    16   |      144 |      120 |    20.0 |     |mode=0       | 20043 | 20097 | 31433 | 31614 |
//! ```
//!
//! What stands above one column is its name, from top to bottom; what stands above several
//! is the name of a group, or what is measured in all of them.

use std::ops::Range;

use super::stacked::{append, expanded};
use super::{is_rule, is_unit, rewritten, row};
use crate::Line;
use crate::grammar::Block;
use crate::grammar::cells::line_at;
use crate::roles::words::names_measurement;

/// No header has more lines.
const DEEPEST: usize = 10;
/// A table has no more lines.
const MOST: usize = 400;

/// What stands between two pipes, and from which character to which.
struct Part {
    from: usize,
    to: usize,
    text: String,
}

/// The names above the columns of a table.
struct Names {
    columns: Vec<String>,
    /// What stands above several columns, from top to bottom and from left to right.
    groups: Vec<(Range<usize>, String)>,
    /// The first words above the names of rows.
    corner: String,
}

/// Reads such a table.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let begin = usize::from(is_rule(here(0)?));
    let is_row = |at: usize| row::data_row(here(at)?, row::Parting::Wide);
    let over_row = |at: &usize| here(*at).is_some_and(is_rule) && is_row(at + 1).is_some();
    let end = (begin..begin + DEEPEST).find(over_row)?;
    let head: Vec<&str> = (begin..end).map_while(here).collect();
    let piped = head.iter().all(|text| text.contains('|'));
    if head.len() < 3 || !piped || !head.iter().any(|text| is_partly_rule(text)) {
        return None;
    }
    let sample = parts(here(end + 1)?)?;
    let names = Names::of(&head, &sample)?;
    let mut right = names.header(begin, end)?;
    let count = sample.len();
    let wide = |text: &str| row::pipe_cells(text).is_some_and(|cells| cells.len() == count);
    let rest = (end..end + MOST).map_while(|at| Some((at, here(at)?)));
    let rest = rest.take_while(|(_, text)| is_rule(text) || wide(text));
    right.extend(rest.map(|(at, text)| (at, text.to_owned())));
    let mut block = rewritten::read(lines, right, "table header")?;
    rewritten::grid(&block)?;
    for (at, taken) in block.taken.iter_mut().enumerate() {
        if here(at).is_some_and(is_rule) {
            *taken = "table rule";
        }
    }
    Some(block)
}

/// Whether a cell is a piece of a rule.
fn is_piece_of_rule(cell: &str) -> bool {
    let cell = cell.trim();
    cell.len() >= 3 && cell.bytes().all(|b| matches!(b, b'-' | b'=' | b'+'))
}

/// Whether some of a line is a rule, and not all of it.
fn is_partly_rule(text: &str) -> bool {
    let cells = row::pipe_cells(text).unwrap_or_default();
    let pieces = cells.iter().filter(|cell| is_piece_of_rule(cell)).count();
    0 < pieces && pieces < cells.len() || rule_behind(text).is_some()
}

/// Where a rule with corners begins behind a cell: `| depth=1  +-------+-------+`.
fn rule_behind(text: &str) -> Option<usize> {
    let at = text.find("+-").or_else(|| text.find("+="))?;
    let (cell, rule) = text.split_at(at);
    let named = cell.trim_start().starts_with('|') && !is_rule(cell);
    let pieces = rule
        .split('|')
        .map(str::trim)
        .filter(|piece| !piece.is_empty());
    (named && pieces.into_iter().all(is_piece_of_rule)).then_some(at)
}

/// The cells of a line between pipes, without the rules among them.
fn parts(text: &str) -> Option<Vec<Part>> {
    let text = expanded(text);
    let text = rule_behind(&text)
        .and_then(|at| text.get(..at))
        .unwrap_or(&text);
    let bare = text.trim_end();
    let closed = bare.strip_suffix('|').unwrap_or(bare);
    let start = closed.len() - closed.trim_start().len();
    let opened = closed.get(start..)?.strip_prefix('|');
    let mut from = match opened {
        Some(_) => closed.get(..start)?.chars().count() + 1,
        None => 0,
    };
    let cells = opened.unwrap_or(closed).split('|').map(|cell| {
        let to = from + cell.chars().count();
        let part = Part {
            from,
            to,
            text: cell.trim().to_owned(),
        };
        from = to + 1;
        part
    });
    let cells: Vec<Part> = cells.collect();
    (!cells.is_empty()).then_some(cells)
}

impl Names {
    /// Puts what stands in the lines of a header to the columns of a row below.
    fn of(head: &[&str], sample: &[Part]) -> Option<Self> {
        let mut names = Names {
            columns: vec![String::new(); sample.len()],
            groups: Vec::new(),
            corner: String::new(),
        };
        for line in head {
            for part in parts(line)?.iter().filter(|part| !part.text.is_empty()) {
                if !is_piece_of_rule(&part.text) {
                    names.put(part, sample)?;
                }
            }
        }
        let whole = names.columns.iter().skip(1).all(|name| !name.is_empty());
        (whole && sample.len() >= 3 && !names.groups.is_empty()).then_some(names)
    }

    /// Puts one name to the column or the columns below it.
    fn put(&mut self, part: &Part, sample: &[Part]) -> Option<()> {
        let below = |column: &Part| {
            let middle = (column.from + column.to) / 2;
            (part.from..part.to).contains(&middle)
        };
        let first = sample.iter().position(below)?;
        let last = sample.iter().rposition(below)?;
        if first < last {
            let own = first..last + 1;
            match self.groups.iter_mut().find(|(columns, _)| *columns == own) {
                Some((_, name)) => append(name, &part.text),
                None => self.groups.push((own, part.text.clone())),
            }
            return Some(());
        }
        if first == 0 && self.corner.is_empty() {
            self.corner.clone_from(&part.text);
        }
        append(self.columns.get_mut(first)?, &part.text);
        Some(())
    }

    /// The header as other tables have it, in the lines from `begin` to `end`.
    fn header(&self, begin: usize, end: usize) -> Option<Vec<(usize, String)>> {
        let line = |names: &[String]| format!("| {} |", names.join(" | "));
        let last = end - 1;
        if let [(_, name)] = &self.groups[..]
            && let Some(measured) = measured(name)
        {
            let columns = line(&self.columns);
            return Some(vec![(begin, measured.to_owned()), (last, columns)]);
        }
        if self.in_even_groups() {
            let groups = self.groups.iter().map(|(_, name)| name.clone());
            let above: Vec<String> = std::iter::once(self.corner.clone()).chain(groups).collect();
            let mut columns = self.columns.clone();
            columns.first_mut()?.clear();
            return Some(vec![(begin, line(&above)), (last, line(&columns))]);
        }
        // The name of a group stands before those of its columns.
        let mut columns = self.columns.clone();
        for (range, name) in &self.groups {
            for column in columns.get_mut(range.clone())? {
                *column = format!("{name} {column}");
            }
        }
        Some(vec![(last, line(&columns))])
    }

    /// Whether all columns but the first stand in groups of one width.
    fn in_even_groups(&self) -> bool {
        let width = self.groups.first().map_or(0, |(columns, _)| columns.len());
        let mut next = 1;
        let even = self.groups.iter().all(|(columns, _)| {
            let fits = columns.start == next && columns.len() == width;
            next = columns.end;
            fits
        });
        even && next == self.columns.len() && self.groups.len() >= 2
    }
}

/// What is measured in all columns below a name, without what stands in brackets behind it:
/// `cycles/op (less is better)`.
fn measured(name: &str) -> Option<&str> {
    let bare = match name.split_once('(') {
        Some((bare, note)) if note.ends_with(')') => bare.trim(),
        _ => name,
    };
    (is_unit(bare) || names_measurement(bare) && super::is_caption(bare)).then_some(bare)
}

#[cfg(test)]
mod tests {
    use super::super::{Grid, Table, rewritten};
    use crate::grammar::testing;

    fn grid(text: &str) -> Option<(Grid, Vec<&'static str>)> {
        let block = testing::read(&Table, text)?;
        let grid = rewritten::grid(&block)?.clone();
        Some((grid, block.taken))
    }

    fn columns(grid: &Grid) -> Vec<&str> {
        let columns = grid.header.columns.iter();
        columns.map(|column| column.name.as_str()).collect()
    }

    const UNIT: &str = "\
-------------------------------------------------
|  bytes  |      cycles/op        |  percentage |
|   per   |   (less is better)    |             |
|  call   |-----------------------|     gain    |
|         |  hash     |  hash     |             |
|         |  with SSE |  with AVX |             |
|---------|-----------|-----------|-------------|
|     16  |    144.5  |    120.5  |       20.0  |
|     64  |    535.0  |    331.0  |       61.6  |
-------------------------------------------------
";

    const GROUPS: &str = "\
|box: one, 64 GB |       P8      |       P1      |
|disk: 100 GB    |---------------|---------------|
|                | base  | fixed | base  | fixed |
|----------------|-------|-------|-------|-------|
|mode=0          | 20043 | 20197 | 31433 | 31614 |
|mode=1          | 12043 | 18097 | 30433 | 31014 |
";

    #[test]
    fn what_stands_over_several_columns_is_what_they_measure() {
        let (grid, taken) = grid(UNIT).unwrap();
        assert_eq!(
            columns(&grid),
            [
                "bytes per call",
                "hash with SSE",
                "hash with AVX",
                "percentage gain"
            ]
        );
        assert_eq!(grid.caption, "cycles/op");
        assert_eq!((grid.at, taken.len()), (vec![7, 8], 10));
    }

    #[test]
    fn names_over_as_many_columns_each_are_groups() {
        let (grid, taken) = grid(GROUPS).unwrap();
        assert_eq!(grid.header.groups, ["P8", "P1"]);
        assert_eq!(columns(&grid), ["base", "fixed", "base", "fixed"]);
        assert_eq!((grid.at, taken.len()), (vec![4, 5], 6));
        // A rule with corners stands behind a cell, too.
        let corners = GROUPS.replace(
            "|disk: 100 GB    |---------------|---------------|",
            "|disk: 100 GB    +-------+-------+-------+-------+",
        );
        assert_eq!(
            super::super::rewritten::grid(&testing::read(&Table, &corners).unwrap())
                .unwrap()
                .header
                .groups,
            ["P8", "P1"]
        );
    }

    #[test]
    fn names_over_other_columns_stand_before_those() {
        let uneven = UNIT.replace("     cycles/op        ", "       first box      ");
        let (grid, _) =
            grid(&uneven.replace("|   (less is better)    |", "|                       |"))
                .unwrap();
        assert_eq!(
            columns(&grid)[1..3],
            ["first box hash with SSE", "first box hash with AVX"]
        );
    }

    #[test]
    fn a_header_that_does_not_stand_over_the_columns_is_left_alone() {
        // No line has a rule in it, or a column has no name.
        let unruled = UNIT.replace("|-----------------------|", "|                       |");
        let unnamed = GROUPS.replacen("| fixed |", "|       |", 1);
        for text in [unruled, unnamed] {
            let joined = grid(&text).is_some_and(|(grid, _)| {
                grid.caption == "cycles/op" || grid.header.groups.iter().any(|name| name == "P8")
            });
            assert!(!joined, "{text}");
        }
    }
}
