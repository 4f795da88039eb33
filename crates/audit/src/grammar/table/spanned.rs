//! Tables between pipes with a line above the header that names some of the columns
//! together:
//!
//! ```text
//! |          |        | Reads of     |
//! |          | Time   | disk1 | disk2|
//! |----------|--------|-------|------|
//! | by pid   | 18.5 s | 3800  | 0    |
//! | by turns |  8.5 s | 1900  | 1901 |
//! ```
//!
//! The name of a group is put before those of the columns below it. Where each group is
//! as wide as the others and all columns stand in one, the groups may be configurations,
//! and nothing is put.

use super::{cell_value, is_rule, rewritten, row};
use crate::Line;
use crate::grammar::Block;
use crate::grammar::cells::line_at;

/// A table has no more lines.
const MOST: usize = 400;

/// Reads such a table.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let groups = cells(here(0)?)?;
    let columns = cells(here(1)?)?;
    let names = groups.iter().chain(&columns);
    let count = columns.len();
    let worded = names.clone().all(|(_, _, name)| cell_value(name).is_none());
    if !worded || groups.len() >= count || is_rule(here(1)?) {
        return None;
    }
    let below = if is_rule(here(2)?) { 3 } else { 2 };
    let wide = |text: &str| row::pipe_cells(text).is_some_and(|cells| cells.len() == count);
    if !wide(here(below)?) || row::data_row(here(below)?, row::Parting::Wide).is_none() {
        return None;
    }
    let joined = joined(&groups, &columns)?;
    let mut right = vec![(1, format!("| {} |", joined.join(" | ")))];
    let rest = (2..MOST).map_while(|at| Some((at, here(at)?)));
    let rest = rest.take_while(|(_, text)| is_rule(text) || wide(text));
    right.extend(rest.map(|(at, text)| (at, text.to_owned())));
    let block = rewritten::read(lines, right, "table header")?;
    rewritten::grid(&block).is_some().then_some(block)
}

/// Where the cells of a line between pipes begin and end, and what is in them.
fn cells(text: &str) -> Option<Vec<(usize, usize, &str)>> {
    let end = text.trim_end().len();
    let inner = text.trim().strip_prefix('|')?.strip_suffix('|')?;
    let mut from = end - inner.len() - 1;
    let parts = inner.split('|').map(|part| {
        let place = text[..from].chars().count();
        let to = place + part.chars().count();
        from += part.len() + 1;
        (place, to, part.trim())
    });
    let cells: Vec<_> = parts.collect();
    (cells.len() >= 2).then_some(cells)
}

/// The names of columns with those of their groups before them; `None` if each group but
/// that of the names of rows is as wide as the others.
fn joined(
    groups: &[(usize, usize, &str)],
    columns: &[(usize, usize, &str)],
) -> Option<Vec<String>> {
    let mut widths = vec![0; groups.len()];
    let mut names = Vec::with_capacity(columns.len());
    for (from, to, name) in columns {
        // A border may be one off.
        let over = |group: &(usize, usize, &str)| group.0 <= from + 1 && *to <= group.1 + 1;
        let at = groups.iter().position(over)?;
        widths[at] += 1;
        names.push(format!("{} {name}", groups[at].2).trim().to_owned());
    }
    let named = |at: &usize| !groups[*at].2.is_empty();
    let even = (1..groups.len()).all(|at| widths[at] == widths[1] && named(&at));
    let any = (1..groups.len()).any(|at| named(&at) && widths[at] >= 2);
    let whole = names[1..].iter().all(|name| !name.is_empty());
    (!even && any && whole).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::super::{Table, rewritten};
    use crate::grammar::testing;

    fn columns(text: &str) -> Vec<String> {
        let block = testing::read(&Table, text);
        let grid = block.as_ref().and_then(rewritten::grid);
        let columns = grid.map(|grid| grid.header.columns.iter());
        columns
            .into_iter()
            .flatten()
            .map(|c| c.name.clone())
            .collect()
    }

    const POST: &str = "|          |        | Reads of     |\n|          | Time   | disk1 | disk2|\n\
                        |----------|--------|-------|------|\n| by pid   | 18.5 s | 3800  | 0    |\n\
                        | by turns |  8.5 s | 1900  | 1901 |\n";

    #[test]
    fn the_name_of_a_group_stands_before_those_of_its_columns() {
        assert_eq!(columns(POST), ["Time", "Reads of disk1", "Reads of disk2"]);
        let over = POST.replacen("|        | Reads", "| Real   | Reads", 1);
        assert_eq!(
            columns(&over),
            ["Real Time", "Reads of disk1", "Reads of disk2"]
        );
    }

    #[test]
    fn groups_of_one_width_and_names_over_no_columns_are_left_alone() {
        let even = "| test | before         | after          |\n|      | avg   | max    | avg   | max    |\n\
                    |------|-------|--------|-------|--------|\n| read | 11 us | 120 us | 10 us | 118 us |\n\
                    | scan | 21 us | 150 us | 20 us | 148 us |\n";
        assert_eq!(columns(even), ["avg", "max", "avg", "max"]);
        let aside = POST.replacen(
            "|          |        | Reads of     |",
            "|    | Reads of |",
            1,
        );
        assert!(!columns(&aside).iter().any(|name| name.contains("Reads")));
    }
}
