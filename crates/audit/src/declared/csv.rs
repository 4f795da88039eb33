//! Tables with columns separated by commas, semicolons or tabs. Rows are read one at a time, so
//! memory is needed only for the figures, however many rows there are.

use std::io::Read;

use csv::{ByteRecord, ReaderBuilder};

use super::error::{self, Error, Fault, NOT_TEXT};
use super::header::{Column, Header};
use super::input::{Found, Input, WORKLOAD, is_comment};
use super::rows::Rows;
use super::sheet::Sheet;
use crate::grammar::number::{Locale, number};
use crate::group::item::UNNAMED;

/// The separator and the decimal mark.
#[derive(Debug)]
pub(super) struct Separated {
    by: u8,
    locale: Locale,
}

/// Returns the separator of a text whose first line is a known header.
pub(super) fn separated(text: &str, input: &Input<'_>) -> Result<Option<Separated>, Error> {
    let mut lines = text.lines().zip(1..).filter(|(line, _)| !is_comment(line));
    let Some((first, at)) = lines.next() else {
        return Ok(None);
    };
    let second = lines.next().map_or("", |(line, _)| line);
    // A comma within a number parts no columns where a tab or a semicolon does.
    for by in [b'\t', b';', b','] {
        let mut cells = cells(first, by);
        if !alike(cells.len(), second, by, input) {
            continue;
        }
        cells
            .iter_mut()
            .for_each(|cell| *cell = cell.trim().to_owned());
        if let Some(header) = Header::read(&cells, input.known).map_err(input.at(at))? {
            let locale = locale(text, by, &header);
            return Ok(Some(Separated { by, locale }));
        }
        undeclared(&cells, second, by).map_or(Ok(()), |fault| Err(input.at(at)(fault)))?;
    }
    Ok(None)
}

/// Whether the row below the header, if there is one, has as many cells as the header. That must
/// have at least two, or one if the file is a configuration.
fn alike(columns: usize, second: &str, by: u8, input: &Input<'_>) -> bool {
    let least = if input.known.is_configuration { 1 } else { 2 };
    columns >= least && (second.is_empty() || cells(second, by).len() == columns)
}

/// The fault to report if every column of a table holds numbers and neither its header nor an
/// option says what the columns are; `None` for any other table.
fn undeclared(header: &[String], second: &str, by: u8) -> Option<Fault> {
    let second = cells(second, by);
    let numeric = |cell: &String| number(cell.trim(), Locale::English).is_some();
    let words = header.iter().all(|cell| {
        let mut chars = cell.chars();
        chars.next().is_some_and(char::is_alphabetic) && cell.len() < 40 && !numeric(cell)
    });
    let numbers = second.iter().filter(|cell| numeric(cell)).count();
    let quoted: Vec<String> = header.iter().map(|name| format!("'{name}'")).collect();
    (words && header.len() >= 2 && numbers == header.len()).then(|| {
        format!(
            "nobody says what the columns {} are; add --columns-are configurations or \
             --columns-are metrics",
            quoted.join(", ")
        )
    })
}

fn cells(line: &str, by: u8) -> Vec<String> {
    let mut reader = ReaderBuilder::new()
        .delimiter(by)
        .has_headers(false)
        .from_reader(line.as_bytes());
    let record = reader.records().next().and_then(Result::ok);
    record.map_or_else(Vec::new, |record| {
        record.iter().map(str::to_owned).collect()
    })
}

/// The locale of the numbers: between semicolons, a comma in an early figure is the decimal mark.
fn locale(text: &str, by: u8, header: &Header) -> Locale {
    let figures = |column: &Column| {
        !matches!(
            column,
            Column::Configuration | Column::Workload | Column::Metric | Column::Unit
        ) && !matches!(column, Column::Run | Column::Parameter(_))
    };
    let comma = |line: &str| {
        let cells = cells(line, by);
        let mut all = cells.iter().zip(&header.columns);
        all.any(|(cell, column)| figures(column) && cell.contains(','))
    };
    let rows = text.lines().filter(|line| !is_comment(line)).skip(1);
    match by == b';' && rows.take(1000).any(comma) {
        true => Locale::CommaDecimal,
        false => Locale::English,
    }
}

/// Reads all rows.
pub(super) fn read<R: Read>(
    reader: R,
    separated: &Separated,
    input: &Input<'_>,
) -> Result<Found, Error> {
    let mut reader = ReaderBuilder::new()
        .delimiter(separated.by)
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .from_reader(reader);
    let mut record = ByteRecord::new();
    let mut sheet = Sheet::default();
    let mut rows: Option<Rows<'_>> = None;
    let mut columns = 0;
    while next(&mut reader, &mut record, input)? {
        let line = record.position().map_or(0, csv::Position::line);
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        let at = input.at(line);
        let cells: Result<Vec<&str>, _> = record.iter().map(std::str::from_utf8).collect();
        let cells = cells.map_err(|_| at(NOT_TEXT.to_owned()))?;
        if cells.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        let Some(rows) = &mut rows else {
            let mark = |cell: &&str| cell.trim_start_matches('\u{feff}').trim().to_owned();
            let names: Vec<String> = cells.iter().map(mark).collect();
            columns = names.len();
            let header = Header::read(&names, input.known).map_err(&at)?;
            let new =
                |header| Rows::new(header, separated.locale, input.options, [UNNAMED, WORKLOAD]);
            rows = header.map(new);
            continue;
        };
        if cells.len() != columns {
            return Err(at(error::cells(cells.len(), columns)));
        }
        rows.add(&cells, line, &mut sheet).map_err(at)?;
    }
    if let Some(rows) = rows {
        rows.end()
            .map_err(|fault| Error::whole(input.source, fault))?;
    }
    let form = if separated.by == b'\t' { "TSV" } else { "CSV" };
    Ok((sheet, form))
}

fn next<R: Read>(
    reader: &mut csv::Reader<R>,
    record: &mut ByteRecord,
    input: &Input<'_>,
) -> Result<bool, Error> {
    reader
        .read_byte_record(record)
        .map_err(|error| Error::io(input.source, error))
}
