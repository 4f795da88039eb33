//! What readers of harnesses share.

use assize_bundle::Spread;
use serde_json::Value;

use crate::declared::error::{Fault, syntax};
use crate::declared::metric::{Better, Metric};
use crate::declared::sheet::{Mean, Of, Sheet};
use crate::grammar::number::Number;

/// A form of results.
pub(crate) struct Harness {
    pub(crate) name: &'static str,
    /// Whether a text with this beginning, without blanks before it, has this form.
    pub(crate) begins: fn(&str) -> bool,
    /// Reads the whole text; an error describes the mistake.
    pub(crate) read: fn(&str, &Context<'_>, &mut Sheet) -> Result<(), Fault>,
}

/// Settings for reading results.
pub(crate) struct Context<'c> {
    /// The configuration, if the text names none.
    pub(crate) configuration: &'c str,
    /// The number of runs of means that do not give it.
    pub(crate) runs_behind: Option<u32>,
}

/// Adds the samples of one process as a summary.
pub(super) fn samples(sheet: &mut Sheet, of: Of<'_>, metric: &str, unit: &str, values: &[f64]) {
    let n = values.len() as f64;
    if values.is_empty() {
        return;
    }
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|value| (value - mean).powi(2));
    let deviation = (squares.sum::<f64>() / (n - 1.0)).sqrt();
    let spread = (values.len() > 1).then_some(Spread::StandardDeviation(deviation));
    let mean = Mean {
        mean: exact(mean),
        spread,
        n: u32::try_from(values.len()).ok(),
    };
    sheet.mean(of, metric, unit, mean);
}

/// Adds the limit that samples of one process carry, once per file.
pub(super) fn of_one_process(sheet: &mut Sheet, what: &str) {
    let text = format!(
        "{what} are samples of one process: what differs from process to process is not in \
         their spread"
    );
    if !sheet.limits.contains(&text) {
        sheet.limits.push(text);
    }
}

/// A number with unlimited digits.
pub(super) fn exact(value: f64) -> Number {
    Number { value, step: None }
}

pub(super) fn better(sheet: &mut Sheet, metric: &str, way: Better) {
    sheet.better(&Metric {
        name: metric.to_owned(),
        unit: String::new(),
        better: Some(way),
    });
}

/// Parses JSON.
pub(super) fn json(text: &str, form: &'static str) -> Result<Value, Fault> {
    serde_json::from_str(text).map_err(|error| syntax(form, error))
}

/// Returns the number at a key.
pub(super) fn number(value: &Value, key: &str, of: &str) -> Result<f64, Fault> {
    let found = value.get(key).and_then(Value::as_f64);
    found.ok_or_else(|| missing(key, of))
}

/// Returns the text at a key.
pub(super) fn text<'v>(value: &'v Value, key: &str, of: &str) -> Result<&'v str, Fault> {
    let found = value.get(key).and_then(Value::as_str);
    found.ok_or_else(|| missing(key, of))
}

pub(super) fn missing(key: &str, of: &str) -> Fault {
    format!("{of} has no '{key}'; write the file anew with the harness")
}

/// Returns the list at a key.
pub(super) fn list<'v>(value: &'v Value, key: &str, of: &str) -> Result<&'v [Value], Fault> {
    let found = value.get(key).and_then(Value::as_array);
    found.map(Vec::as_slice).ok_or_else(|| missing(key, of))
}

/// Returns the numbers at a key.
pub(super) fn numbers(value: &Value, key: &str, of: &str) -> Result<Vec<f64>, Fault> {
    let all = list(value, key, of)?.iter().map(Value::as_f64);
    all.collect::<Option<Vec<f64>>>()
        .ok_or_else(|| missing(key, of))
}
