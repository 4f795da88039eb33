//! Tables in Markdown, or with borders of `+---+` or of box-drawing characters.

use super::error::{self, Error};
use super::header::{Column, Header};
use super::input::{Found, Input, WORKLOAD};
use super::rows::Rows;
use super::sheet::Sheet;
use crate::grammar::hyperfine::starts_export;
use crate::grammar::number::Locale;
use crate::grammar::table::are_parameters;
use crate::group::item::UNNAMED;

/// Characters between cells.
const BARS: [char; 4] = ['|', '\u{2502}', '\u{2503}', '\u{2551}'];

/// A table of a text: its rows with their lines, the header first.
struct Table {
    rows: Vec<(Vec<String>, u32)>,
}

/// Whether a text has tables that can be judged by what their headers say. In a post one that
/// cannot is left to be read as others are.
pub(super) fn is_judged(text: &str, input: &Input<'_>) -> Result<bool, Error> {
    let drawn = |line: &str| line.trim().is_empty() || is_rule(line.trim()) || line.contains(BARS);
    match text.lines().all(drawn) {
        true => is_declared(text, input),
        false => Ok(is_declared(text, input) == Ok(true) && read(text, input).is_ok()),
    }
}

/// Whether a text has a table whose header gives the roles of its columns.
fn is_declared(text: &str, input: &Input<'_>) -> Result<bool, Error> {
    for table in tables(text) {
        if header(&table, input)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn header(table: &Table, input: &Input<'_>) -> Result<Option<Header>, Error> {
    let Some((cells, line)) = table.rows.first() else {
        return Ok(None);
    };
    // What hyperfine and BenchmarkDotNet export other formats read.
    let exported = starts_export(&format!("| {}", cells.join(" | ")));
    if exported || cells[0] == "Method" && cells.iter().any(|cell| cell == "Error") {
        return Ok(None);
    }
    let header = Header::read(cells, input.known).map_err(input.at(*line))?;
    // What it calls figures may be parameters.
    let column = |at: usize| {
        let rows = table.rows[1..].iter();
        rows.map(move |(cells, _)| cells.get(at).map_or("", String::as_str))
    };
    let hides_parameters = |header: &Header| {
        let named = header.find(&Column::Configuration)?;
        let figures = (0..header.columns.len())
            .filter(|at| matches!(header.columns[*at], Column::FiguresOf(_)));
        let numbers = |at: usize| column(at).map(|cell| cell.parse().ok());
        let set = |at: usize| are_parameters(column(named).zip(numbers(at)));
        Some(figures.clone().count() > 1 && figures.clone().any(set))
    };
    Ok(header.filter(|header| hides_parameters(header) != Some(true)))
}

/// Reads all tables of a text that say what their columns are.
pub(super) fn read(text: &str, input: &Input<'_>) -> Result<Found, Error> {
    let mut sheet = Sheet::default();
    for table in tables(text) {
        let Some(header) = header(&table, input)? else {
            continue;
        };
        let columns = header.columns.len();
        let names = [UNNAMED, WORKLOAD];
        let mut rows = Rows::new(header, Locale::English, input.options, names);
        for (cells, line) in &table.rows[1..] {
            let at = input.at(*line);
            if cells.len() != columns {
                return Err(at(error::cells(cells.len(), columns)));
            }
            let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
            rows.add(&cells, *line, &mut sheet).map_err(at)?;
        }
        rows.end()
            .map_err(|fault| Error::whole(input.source, fault))?;
    }
    Ok((sheet, "Markdown"))
}

/// Finds the tables of a text: consecutive rows with a rule below the first.
fn tables(text: &str) -> Vec<Table> {
    let mut tables = Vec::new();
    let mut rows: Vec<(Vec<String>, u32)> = Vec::new();
    let mut ruled = false;
    for (line, at) in text.lines().chain([""]).zip(1..) {
        let line = line.trim();
        let rule = is_rule(line);
        if rule {
            // The rule above a boxed header is none below it.
            ruled |= rows.len() == 1;
        } else if line.contains(BARS) {
            rows.push((cells(line), at));
        }
        let ends = !rule && !line.contains(BARS) || rows.len() == 2 && !ruled;
        if ends {
            if ruled && rows.len() > 1 {
                let rows = std::mem::take(&mut rows);
                tables.push(Table { rows });
            }
            // The line above may have been mistaken for the header.
            let keep = rows.len().saturating_sub(usize::from(line.contains(BARS)));
            rows.drain(..keep);
            ruled = false;
        }
    }
    tables
}

/// Whether a line only parts others: `|---|:-:|`, `+---+---+`, `├──┼──┤`.
fn is_rule(line: &str) -> bool {
    let drawn = |c: char| ('\u{2500}'..='\u{257f}').contains(&c) && !BARS.contains(&c);
    let part = |c: char| matches!(c, '-' | '=' | '+' | ':' | ' ') || BARS.contains(&c) || drawn(c);
    let dashes = line.chars().filter(|c| matches!(c, '-' | '=') || drawn(*c));
    dashes.count() >= 2 && line.chars().all(part)
}

/// Splits a row into cells, without the outer bars and the Markdown marks of code and emphasis.
fn cells(line: &str) -> Vec<String> {
    let line = line.replace("\\|", "\u{1}");
    let inner = line.strip_prefix(BARS).unwrap_or(&line);
    let inner = inner.strip_suffix(BARS).unwrap_or(inner);
    let plain = |cell: &str| {
        let cell = cell.trim();
        let cell = cell.trim_matches('`').trim_matches('*').trim();
        cell.replace('\u{1}', "|")
    };
    inner.split(BARS).map(plain).collect()
}
