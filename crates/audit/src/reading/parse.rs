//! The text of a reading.

use super::place::Place;
use crate::declared::error::{Error, Fault, nothing};
use crate::declared::metric::Metric;

/// A reading: rows of places.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading {
    pub(super) rows: Vec<Row>,
    /// Its name in error messages.
    pub(super) source: String,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) of: Subject,
    pub(super) workload: String,
    pub(super) metric: Metric,
    pub(super) place: Place,
    /// Its line in the reading; none on the command line.
    pub(super) line: Option<u32>,
}

/// The subject of a row's figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Subject {
    Configuration(String),
    /// Named by the rows of its table.
    RowsOfTable,
    /// The printed change or ratio of one to another.
    Change(String, String),
}

/// The fields of a row.
const FIELDS: [&str; 4] = ["configuration", "workload", "metric", "place"];

/// Reads the text of a reading; `source` is its name for messages.
///
/// # Errors
/// The first row that is wrong, and how to mend it.
pub fn parse(text: &str, source: &str) -> Result<Reading, Error> {
    let mut reading = Reading {
        rows: Vec::new(),
        source: source.to_owned(),
    };
    for (line, at) in text.lines().zip(1..) {
        let line = without_comment(line).trim();
        if !line.is_empty() {
            let row = row(line, at).map_err(|fault| Error::at(source, at, fault))?;
            reading.rows.push(row);
        }
    }
    if reading.rows.is_empty() {
        let what = "row; write configuration | workload | metric | place";
        return Err(Error::whole(source, nothing(what)));
    }
    Ok(reading)
}

/// Reads `PLACE=CONFIGURATION`s, all of one metric.
///
/// # Errors
/// A sentence that describes the expected form.
pub fn take(takes: &[String], metric: Option<&Metric>) -> Result<Reading, Error> {
    let mut rows = Vec::new();
    for text in takes {
        let fault = |why: String| Error::whole(&format!("--take '{text}'"), why);
        let (place, name) = text
            .rsplit_once('=')
            .filter(|(place, name)| !place.is_empty() && !name.trim().is_empty())
            .ok_or_else(|| fault("is not PLACE=CONFIGURATION, as in '12-16=stock'".into()))?;
        let of = Subject::Configuration(name.trim().to_owned());
        if rows.iter().any(|row: &Row| row.of == of) {
            return Err(fault(format!(
                "takes {} again; give the places of all its runs in one, as in '2-5,8-11=stock', \
                 and write a reading if they are of several workloads",
                name.trim()
            )));
        }
        rows.push(Row {
            of,
            workload: "workload".to_owned(),
            metric: metric
                .map_or_else(|| Metric::parse("value"), |one| Ok(one.clone()))
                .map_err(fault)?,
            place: Place::parse(place).map_err(fault)?,
            line: None,
        });
    }
    Ok(Reading {
        rows,
        source: "--take".to_owned(),
    })
}

/// A `#` at the begin or behind a blank begins a comment.
fn without_comment(line: &str) -> &str {
    let begins = |(at, _): &(usize, &str)| *at == 0 || line[..*at].ends_with([' ', '\t']);
    let comment = line.match_indices('#').find(begins);
    comment.map_or(line, |(at, _)| &line[..at])
}

fn row(line: &str, at: u32) -> Result<Row, Fault> {
    let fields: Vec<&str> = line.split('|').map(str::trim).collect();
    let Ok([configuration, workload, metric, place]) = <[&str; 4]>::try_from(fields.as_slice())
    else {
        return Err(format!(
            "has {} fields and not 4; write configuration | workload | metric | place",
            fields.len()
        ));
    };
    for (name, field) in FIELDS.iter().zip(&fields) {
        if field.is_empty() || field.split([' ', '\t']).any(|word| word == "?") {
            let field = if field.is_empty() { "empty" } else { "'?'" };
            return Err(format!(
                "the {name} is still {field}; fill it in, or delete the row"
            ));
        }
    }
    let of = match (configuration, configuration.split_once(" / ")) {
        ("*", _) => Subject::RowsOfTable,
        (_, Some((of, to))) => Subject::Change(of.trim().to_owned(), to.trim().to_owned()),
        (name, None) => Subject::Configuration(name.to_owned()),
    };
    Ok(Row {
        of,
        workload: workload.to_owned(),
        metric: Metric::parse(metric)?,
        place: Place::parse(place)?,
        line: Some(at),
    })
}
