//! One JSON object per line: `{"configuration": "base", "metric": "time", "value": 1.5}`.

use serde_json::{Map, Value};

use super::error::{Error, Fault, missing, no_number, syntax};
use super::header::{Column, Header, role_name};
use super::input::{Found, Input, WORKLOAD, is_comment};
use super::rows::Rows;
use super::sheet::Sheet;
use crate::grammar::number::Locale;
use crate::group::item::UNNAMED;

/// Whether a line is an object whose keys say what its values are.
pub(super) fn is_declared(line: &str, input: &Input<'_>) -> bool {
    let Ok(Value::Object(object)) = serde_json::from_str(line) else {
        return false;
    };
    let flat = object.values().all(|v| !v.is_object() && !v.is_array());
    match Header::read(&keys(&object), input.known) {
        Ok(header) => flat && header.is_some(),
        Err(_) => flat,
    }
}

fn keys(object: &Map<String, Value>) -> Vec<String> {
    object.keys().cloned().collect()
}

/// Reads all lines. They may have different keys, in any order.
pub(super) fn read(text: &str, input: &Input<'_>) -> Result<Found, Error> {
    let mut sheet = Sheet::default();
    let mut known: Vec<(Vec<String>, Rows<'_>)> = Vec::new();
    let lines = text.lines().zip(1..).filter(|(line, _)| !is_comment(line));
    for (line, number) in lines {
        let at = input.at(number);
        let object: Map<String, Value> = serde_json::from_str(line)
            .map_err(|error| at(syntax("a JSON object on one line", error)))?;
        let names = keys(&object);
        let rows = match known.iter().position(|(keys, _)| *keys == names) {
            Some(at) => &mut known[at].1,
            None => {
                let header = Header::read(&names, input.known).map_err(&at)?;
                let header = header.ok_or_else(|| at(undeclared(&names)))?;
                let names_of = [UNNAMED, WORKLOAD];
                let rows = Rows::new(header, Locale::English, input.options, names_of);
                known.push((names, rows));
                let last = known.len() - 1;
                &mut known[last].1
            }
        };
        let cells: Result<Vec<String>, Fault> = object.iter().map(cell).collect();
        let cells = cells.map_err(&at)?;
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        rows.add(&cells, number, &mut sheet).map_err(at)?;
    }
    for (_, rows) in &known {
        rows.end()
            .map_err(|fault| Error::whole(input.source, fault))?;
    }
    Ok((sheet, "JSON lines"))
}

fn undeclared(names: &[String]) -> Fault {
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    match has("configuration") {
        true => missing(
            role_name(&Column::Value(String::new())),
            "add a key 'value'",
        ),
        false => missing(
            role_name(&Column::Configuration),
            "add a key 'configuration'",
        ),
    }
}

/// A value as a cell.
fn cell((key, value): (&String, &Value)) -> Result<String, Fault> {
    match value {
        Value::Null => Ok(String::new()),
        Value::Bool(yes) => Ok(yes.to_string()),
        Value::Number(number) => Ok(number.to_string()),
        Value::String(text) => Ok(text.clone()),
        Value::Array(_) | Value::Object(_) => {
            let found: String = value.to_string().chars().take(40).collect();
            Err(no_number(&format!("key '{key}'"), &found))
        }
    }
}
