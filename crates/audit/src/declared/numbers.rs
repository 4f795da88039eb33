//! A file of numbers and nothing else: the runs of one configuration.

use super::error::{Error, no_number, one_configuration};
use super::input::{Found, Input, WORKLOAD, is_comment};
use super::rows::VALUE;
use super::sheet::{Of, Sheet};
use crate::grammar::number::{Locale, number};
use crate::group::item::UNNAMED;

/// Whether a text is one number a line, apart from comments and blank lines.
pub(super) fn are_all(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !is_comment(line)).peekable();
    lines.peek().is_some() && lines.all(|line| number(line.trim(), Locale::English).is_some())
}

/// Reads the numbers.
pub(super) fn read(text: &str, input: &Input<'_>) -> Result<Found, Error> {
    if !input.known.is_configuration {
        let fault = one_configuration("plain numbers");
        return Err(Error::whole(input.source, fault));
    }
    let mut sheet = Sheet::default();
    let (metric, unit) = match &input.options.metric {
        Some(metric) => (metric.name.as_str(), metric.unit.as_str()),
        None => (VALUE, ""),
    };
    if let Some(metric) = &input.options.metric {
        sheet.better(metric);
    }
    let lines = text.trim_start_matches('\u{feff}').lines().zip(1..);
    for (line, at) in lines.filter(|(line, _)| !is_comment(line)) {
        let found = number(line.trim(), Locale::English).ok_or_else(|| {
            let found: String = line.trim().chars().take(40).collect();
            input.at(at)(no_number("the line", &found))
        })?;
        let of = Of {
            configuration: UNNAMED,
            workload: WORKLOAD,
            line: at,
            ..Of::default()
        };
        sheet.single(of, metric, unit, found);
    }
    Ok((sheet, "numbers"))
}
