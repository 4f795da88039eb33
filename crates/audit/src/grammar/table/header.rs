//! The line above the rows: which name stands over which column.

use super::cell::{cell_value, is_unit, split_number};
use super::row::{self, Row};
use crate::roles::words;

/// A metric column: its name and unit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    /// Its name, with the words of the corner where the column is one of
    /// several numbered ones (`non-idle cpu 0`).
    pub(crate) name: String,
    /// Its unit; may be empty.
    pub(crate) unit: String,
    /// Whether it is one of several numbered columns of the same thing.
    pub(crate) numbered: bool,
}

/// What the header says.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Header {
    /// Names over the label columns; empty where there are none.
    pub(crate) keys: Vec<String>,
    /// One entry for each figure of a row.
    pub(crate) columns: Vec<Column>,
    /// What numbered columns have in common (`non-idle`); may be empty.
    pub(crate) corner: String,
}

/// Fits a header line to rows; `None` if it cannot be one.
pub(super) fn fit(text: &str, first: &Row) -> Option<Header> {
    let (labels, figures) = (first.labels.len(), first.cells.len());
    if text.trim().len() > 400 {
        return None;
    }
    if first.is_marked_as(text) {
        let words = text.split_whitespace().map(str::to_string);
        return by_count(words.collect(), labels, figures);
    }
    if let Some(mut cells) = row::pipe_cells(text) {
        // A last column of ratios often has no name.
        let ratios = first
            .cells
            .last()
            .is_some_and(|cell| matches!(cell.unit.as_str(), "x" | "%"));
        if let Some(last) = cells.last_mut().filter(|last| last.is_empty() && ratios) {
            *last = "ratio";
        }
        return by_count(
            cells.into_iter().map(str::to_string).collect(),
            labels,
            figures,
        );
    }
    let wide: Vec<String> = row::wide_cells(text)
        .into_iter()
        .map(str::to_string)
        .collect();
    // Names of which some stand one blank apart: `size type   old new   change`.
    let words = || merge_units(text.split_whitespace().map(str::to_string).collect());
    // `Title   Before   After Change`: a change is no part of another one's name.
    let is_change = |name: &str| words::is_derived(name, &[], 0);
    let two_in_one = wide.last().and_then(|name| name.rsplit_once(' '));
    let two_in_one = two_in_one.is_some_and(|(name, change)| {
        is_change(change) && !is_change(name) && name.bytes().any(|b| b.is_ascii_alphabetic())
    });
    let keyed = |header: &Header| header.keys.len() == labels && (labels >= 2 || two_in_one);
    let narrow = || by_count(words(), labels, figures).filter(keyed);
    if wide.len() >= 2
        && let Some(header) = by_count(wide, labels, figures)
    {
        let unkeyed = header.keys.is_empty();
        return narrow().filter(|_| unkeyed).or(Some(header));
    }
    let words = words();
    if let Some(header) = by_numbered(&words, figures) {
        return Some(header);
    }
    by_count(words, labels, figures)
}

/// Prose above two numbers must not become a table.
pub(super) fn plausible(head: &str) -> bool {
    // `*git add -A*` is printed bold above rows.
    let bold = head.trim().starts_with('*') && head.trim().ends_with('*');
    let fence = head.trim_start().starts_with("```");
    let both = names_both_sides(head);
    if bold
        || fence
        || both
        || has_duration(head)
        || head.trim_end().ends_with(['.', ',', '?', '!'])
    {
        return false;
    }
    let (mut words, mut numbers) = (0, 0);
    for word in head.split_whitespace() {
        words += 1;
        numbers += usize::from(split_number(word).is_some());
    }
    numbers * 2 < words.max(1)
}

/// `IOPS (old->new)`: a cell has two figures of its own, and no row is a configuration.
fn names_both_sides(head: &str) -> bool {
    memchr::memmem::find(head.as_bytes(), b"->").is_some() && {
        let words: String = head.to_lowercase().split_whitespace().collect();
        ["old->new", "before->after"]
            .iter()
            .any(|both| words.contains(both))
    }
}

/// `Duration:   2:37:35`: a name and its value.
fn has_duration(head: &str) -> bool {
    let value = head.split_once(": ").map_or("", |(_, value)| value.trim());
    let mut parts = value.split(' ').next().unwrap_or_default().split(':');
    parts.clone().count() >= 2 && parts.all(|part| part.len() <= 2 && part.parse::<u8>().is_ok())
}

/// Whether the last name in a line is that of changes.
pub(super) fn ends_with_change(text: &str) -> bool {
    let cells = row::pipe_cells(text).unwrap_or_else(|| row::wide_cells(text));
    cells.len() >= 3
        && cells
            .last()
            .is_some_and(|name| words::is_derived(name, &[], 0))
}

/// Whether a header has a name for each figure of a row and one for what the rows are
/// called, none of them for changes.
pub(crate) fn names_all(text: &str, row: &Row) -> bool {
    let fits = |cells: &[String]| {
        let figures = &cells[1.min(cells.len())..];
        figures.len() == row.cells.len()
            && !row.labels.is_empty()
            && figures.iter().all(|name| !words::is_derived(name, &[], 0))
    };
    let wide: Vec<String> = row::wide_cells(text)
        .into_iter()
        .map(str::to_string)
        .collect();
    fits(&wide)
        || fits(&merge_units(
            text.split_whitespace().map(str::to_string).collect(),
        ))
}

/// Whether a header that stands right of the names of the rows below has a name for each
/// figure, none of them for changes.
pub(super) fn names_figures(text: &str, below: &str, row: &Row) -> bool {
    let names = row::wide_cells(text);
    let indent = |text: &str| text.len() - text.trim_start().len();
    names.len() >= 2
        && names.len() == row.cells.len()
        && !row.labels.is_empty()
        && row::pipe_cells(text).is_none()
        && indent(text) > indent(below)
        && names.iter().all(|name| !words::is_derived(name, &[], 0))
}

fn by_count(cells: Vec<String>, labels: usize, figures: usize) -> Option<Header> {
    let keys = cells.len().checked_sub(figures)?;
    if keys > labels && !(keys == 1 && labels == 0) || (keys > 1 && keys != labels) {
        return None;
    }
    if cells[keys..]
        .iter()
        .any(|cell| cell_value(cell).is_some_and(|c| c.unit.is_empty() && figures < 2))
    {
        return None;
    }
    let columns = cells[keys..]
        .iter()
        .map(|cell| column(cell))
        .collect::<Option<Vec<_>>>()?;
    let mut header = Header {
        keys: cells[..keys].to_vec(),
        columns,
        ..Header::default()
    };
    mark_numbered(&mut header);
    Some(header)
}

/// Columns `cpu 0`, `cpu 1` … under a corner `non-idle %` are `non-idle cpu 0`
/// in percent.
fn mark_numbered(header: &mut Header) {
    let stem = |name: &str| {
        let (stem, number) = name.rsplit_once(' ')?;
        number.parse::<u32>().is_ok().then(|| stem.to_string())
    };
    let stems: Vec<Option<String>> = header.columns.iter().map(|c| stem(&c.name)).collect();
    let Some(first) = stems.iter().flatten().next().cloned() else {
        return;
    };
    // `Run 1`, `Run 2` are not different things.
    if words::key_is(&first, words::REPETITION_KEYS) {
        return;
    }
    if stems.iter().filter(|s| s.as_ref() == Some(&first)).count() < 2 {
        return;
    }
    let (corner, unit) = match header.keys.as_slice() {
        [key] => split_unit(key),
        _ => Default::default(),
    };
    for (column, stem) in header.columns.iter_mut().zip(&stems) {
        if stem.as_ref() == Some(&first) {
            column.numbered = true;
            if !unit.is_empty() {
                column.name = format!("{corner} {}", column.name);
                column.unit.clone_from(&unit);
            }
        }
    }
    if !unit.is_empty() {
        header.corner = corner;
    }
}

fn column(cell: &str) -> Option<Column> {
    let cell = cell.trim();
    // `Thr.` is a word cut short, the last word of a sentence is not.
    let cut = cell.len() <= 5 && !cell.contains(' ');
    let cell = cell.strip_suffix('.').filter(|_| cut).unwrap_or(cell);
    if cell.is_empty() || cell.len() > 60 || cell.ends_with(['.', ',', ';']) {
        return None;
    }
    let (name, unit) = split_unit(cell);
    Some(Column {
        name,
        unit,
        numbered: false,
    })
}

/// `latency (us)`, `time [s]`, `time/s`, `non-idle %` → name and unit.
pub(crate) fn split_unit(cell: &str) -> (String, String) {
    for (open, close) in [('(', ')'), ('[', ']')] {
        if let Some(inner) = cell
            .strip_suffix(close)
            .and_then(|head| head.rfind(open).map(|at| (at, head)))
        {
            let (name, unit) = (inner.1[..inner.0].trim(), inner.1[inner.0 + 1..].trim());
            if is_unit(unit) && !name.is_empty() {
                return (name.to_string(), unit.to_string());
            }
        }
    }
    if let Some(name) = cell.strip_suffix(" %") {
        return (name.to_string(), "%".to_string());
    }
    (cell.to_string(), String::new())
}

/// Joins `latency (us)`, `util %` and `IOPS(with it)`, which stand as several words.
fn merge_units(words: Vec<String>) -> Vec<String> {
    let mut merged: Vec<String> = Vec::with_capacity(words.len());
    let open = |text: &str| text.matches('(').count() > text.matches(')').count();
    for word in words {
        let unit = word
            .strip_prefix(['(', '['])
            .and_then(|w| w.strip_suffix([')', ']']));
        match merged.last_mut() {
            Some(last) if word == "%" || unit.is_some_and(is_unit) || open(last) => {
                last.push(' ');
                last.push_str(&word);
            }
            _ => merged.push(word),
        }
    }
    merged
}

/// Headers such as `non-idle % cpu 0 cpu 1 cpu 2 render time`, in which a
/// word with a running number names several columns.
fn by_numbered(words: &[String], figures: usize) -> Option<Header> {
    let start =
        (0..words.len().saturating_sub(3)).find(|&at| numbered_pair(words, at, 0).is_some())?;
    let stem = &words[start];
    let base: u32 = words[start + 1].parse().ok()?;
    let mut count = 0;
    while words.get(start + 2 * count) == Some(stem)
        && words
            .get(start + 2 * count + 1)
            .and_then(|w| w.parse::<u32>().ok())
            == Some(base + count as u32)
    {
        count += 1;
    }
    if count < 2 || count > figures {
        return None;
    }
    let (corner, unit) = split_unit(&words[..start].join(" "));
    let mut columns: Vec<Column> = (0..count)
        .map(|i| Column {
            name: [corner.as_str(), stem, &words[start + 2 * i + 1]]
                .join(" ")
                .trim()
                .to_string(),
            unit: unit.clone(),
            numbered: true,
        })
        .collect();
    let rest = &words[start + 2 * count..];
    match figures - count {
        0 if rest.is_empty() => {}
        1 if !rest.is_empty() => columns.push(column(&rest.join(" "))?),
        more if more == rest.len() => {
            columns.extend(
                rest.iter()
                    .map(|word| column(word))
                    .collect::<Option<Vec<_>>>()?,
            );
        }
        _ => return None,
    }
    Some(Header {
        columns,
        corner,
        ..Header::default()
    })
}

fn numbered_pair(words: &[String], at: usize, step: u32) -> Option<u32> {
    let number: u32 = words.get(at + 1)?.parse().ok()?;
    let next: u32 = words.get(at + 3)?.parse().ok()?;
    (words.get(at)? == words.get(at + 2)? && next == number + 1 && step == 0).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(header: &str, sample: &str) -> Option<Vec<String>> {
        let row = row::data_row(sample, row::Parting::Words)?;
        Some(
            fit(header, &row)?
                .columns
                .into_iter()
                .map(|c| c.name)
                .collect(),
        )
    }

    #[test]
    fn numbered_columns_share_the_words_of_the_corner() {
        assert_eq!(
            names(
                "non-idle % cpu 0 cpu 1 cpu 2 render time",
                "3.9_1 25.00 20.73 21.22 812"
            ),
            Some(
                [
                    "non-idle cpu 0",
                    "non-idle cpu 1",
                    "non-idle cpu 2",
                    "render time"
                ]
                .map(String::from)
                .to_vec()
            )
        );
    }

    #[test]
    fn a_header_has_as_many_names_as_the_rows_have_figures() {
        assert_eq!(
            names("normal nice FIFO", "wq 100% 76% 1%").map(|n| n.len()),
            Some(3)
        );
        assert_eq!(
            names("gov iter iops", "teo-0 0 2331").map(|n| n.len()),
            Some(2)
        );
        assert_eq!(names("This is a sentence about it", "wq 100% 76% 1%"), None);
    }

    #[test]
    fn what_stands_before_the_header_and_each_row_names_no_column() {
        let row = "Average:       eth0   842324.00 42310.40 0.00    38.32";
        let of = |header: &str| names(header, row).unwrap_or_default();
        let four = ["rx/s", "tx/s", "drop/s", "%util"];
        assert_eq!(of("Average:      IFACE   rx/s   tx/s   drop/s %util"), four);
        // Before the header alone it is a name.
        assert_eq!(of("Interface   rx/s   tx/s   drop/s   %util"), four);
    }

    #[test]
    fn a_word_cut_short_may_be_a_name_and_the_end_of_a_sentence_is_none() {
        let name = |cell: &str| column(cell).map(|column| column.name);
        assert_eq!(name("Thr."), Some("Thr".to_owned()));
        assert_eq!(name("measured here."), None);
        assert_eq!(name("kernels."), None);
    }
}
