//! The rows below the head of a table.

use super::left_out::{clip, doubtful, spoiled};
use super::{Cell, Parting, Parts, Row, cell_value, row};
use crate::roles::words;

/// Takes the rows from a line on.
pub(super) fn take_rows<'t>(
    text: &impl Fn(usize) -> Option<&'t str>,
    from: usize,
    parts: &mut Parts,
) {
    let mut at = from;
    while let Some(line) = text(at) {
        let used = if row::is_rule(line) {
            parts.taken.push("table rule");
            1
        } else if row::is_empty_row(line) {
            parts.taken.push("table blank");
            1
        } else if line.trim().is_empty() {
            take_blank(text(at + 1), text(at + 2), parts)
        } else {
            let mut used = take_row(line, text(at + 1), parts);
            if used == 0 && spoiled(line, text(at + 1), parts) {
                used = 1;
            } else if used > 0 {
                used += take_name(at + used, text, parts);
            }
            used
        };
        if used == 0 {
            break;
        }
        at += used;
    }
    while parts.taken.last().is_some_and(|t| *t == "table blank") {
        parts.taken.pop();
    }
}

/// A name goes on for no more lines.
const GOES_ON: usize = 3;

/// Lines below a row that only go on with its name, up to a blank line behind which
/// the next row stands; says how many.
fn take_name<'t>(
    from: usize,
    text: &impl Fn(usize) -> Option<&'t str>,
    parts: &mut Parts,
) -> usize {
    let plain = |line: &&str| {
        !line.trim().is_empty()
            && line.len() <= 80
            && !row::is_rule(line)
            && !line.contains([';', '{', '}', '|'])
            && !line.trim_end().ends_with(['.', ':'])
            && row::data_row(line, Parting::Words).is_none()
    };
    let more: Vec<&str> = (from..=from + GOES_ON)
        .map_while(text)
        .take_while(plain)
        .collect();
    let end = from + more.len();
    let figures = parts.grid.header.columns.len();
    let row = |at: usize| row::data_row(text(at)?, parts.parting);
    let named = |row: &Row| row.cells.len() == figures && !row.labels.is_empty();
    let next = row(end + 1).is_some_and(|row| named(&row));
    // The last row has no other behind it; the one before it went on.
    let last = text(end).is_none_or(|line| line.trim().is_empty())
        && parts.taken.contains(&"table row, its name");
    let parted = text(end).is_none_or(|line| line.trim().is_empty());
    let Some(label) = parts
        .grid
        .rows
        .last_mut()
        .and_then(|row| row.labels.last_mut())
    else {
        return 0;
    };
    if more.is_empty() || more.len() > GOES_ON || !parted || !(next || last) {
        return 0;
    }
    for line in &more {
        label.push(' ');
        label.push_str(line.trim());
        parts.taken.push("table row, its name");
    }
    more.len()
}

/// A blank line belongs to the table if a row of the same shape follows.
fn take_blank(next: Option<&str>, after: Option<&str>, parts: &mut Parts) -> usize {
    let figures = parts.grid.header.columns.len();
    let same = next
        .and_then(|line| row::data_row(line, parts.parting))
        .is_some_and(|next| {
            let last = parts.grid.rows.last();
            // Of three figures and more that is no other table, however its names are parted.
            let named = |labels: usize| figures >= 3 && labels > 0 && !next.labels.is_empty();
            next.cells.len() == figures
                && last
                    .is_some_and(|r| r.labels.len() == next.labels.len() || named(r.labels.len()))
        });
    if !same || after.is_some_and(row::is_rule) {
        return 0;
    }
    parts.taken.push("table blank");
    1
}

/// Takes a row, with the line below if a mailer wrapped it; says how many
/// lines that were.
fn take_row(line: &str, next: Option<&str>, parts: &mut Parts) -> usize {
    let figures = parts.grid.header.columns.len();
    let keyed = parts.grid.header.keys.len() == 1
        && parts
            .grid
            .rows
            .first()
            .is_some_and(|row| row.labels.len() == 1);
    let read = row::data_row(line, parts.parting).map(|row| match keyed {
        true => row.named_by_number(line, figures),
        false => row,
    });
    if read.as_ref().is_none_or(|row| row.cells.len() != figures) && doubtful(line, parts, figures)
    {
        return 1;
    }
    let whole = match &read {
        Some(row) if row.cells.len() >= figures => None,
        short => crowded_row(line, short.as_ref(), parts),
    };
    let Some(mut read) = whole.or(read) else {
        return 0;
    };
    let mut used = 1;
    if read.cells.len() < figures {
        let rest = next.and_then(|line| row::data_row(line, parts.parting));
        if let Some(rest) =
            rest.filter(|r| r.labels.is_empty() && r.cells.len() + read.cells.len() == figures)
        {
            read.cells.extend(rest.cells);
            used = 2;
        }
    }
    if read.cells.len() + 1 == figures && ends_with_changes(parts) {
        read.cells.push(Cell::none());
    }
    if read.cells.len() == figures {
        parts.grid.at.push(parts.taken.len());
        parts.grid.rows.push(read);
        parts
            .taken
            .extend(["table row", "table row, continued"].iter().take(used));
    } else {
        let detail = format!(
            "a row has {} figures under {figures} columns and is left out: {}",
            read.cells.len(),
            clip(line)
        );
        parts.leave_out("ragged-row", detail, "table row, ragged");
    }
    used
}

/// A row with a name whose figures stand one blank behind it, or behind each other, as they
/// do in long rows. Parted at wide gaps, as `parted` is, it has too few figures or is no row.
fn crowded_row(line: &str, parted: Option<&Row>, parts: &Parts) -> Option<Row> {
    let figures = parts.grid.header.columns.len();
    let is_number = |word: &str| cell_value(word).is_some();
    let (labels, cells) = parted.map_or((&[][..], 0), |row| (&row.labels[..], row.cells.len()));
    let crowded = match labels {
        [name] => cells + 1 == figures && name.split(' ').next_back().is_some_and(is_number),
        [name, more @ ..] => {
            !name.contains(' ') && more.iter().all(|label| label.split(' ').all(is_number))
        }
        // Below rows with a name, one whose name is a word.
        [] => {
            let above = parts.grid.rows.last();
            figures >= 2 && above.is_some_and(|row| row.labels.len() == 1)
        }
    };
    let words = (parts.parting == Parting::Wide && crowded)
        .then(|| row::data_row(line, Parting::Words))
        .flatten()?;
    let name = matches!(&words.labels[..], [name] if !labels.is_empty() || !name.contains(' '));
    (words.cells.len() == figures && name).then_some(words)
}

/// Whether the last column is computed from others: some rows have nothing there.
fn ends_with_changes(parts: &Parts) -> bool {
    let last = parts.grid.header.columns.len().checked_sub(1);
    last.is_some_and(|at| {
        at >= 2 && words::is_derived(&parts.grid.header.columns[at].name, &parts.grid.rows, at)
    })
}
