//! Printed changes and ratios, recomputed from the figures of the same table.

use std::collections::BTreeMap;

use assize_bundle::{Records, Statement};

use super::arithmetic::{self, Check};
use super::error::{Fault, no_number};
use crate::grammar::number::{Locale, Number, number};

/// A change as printed.
#[derive(Debug, Clone)]
pub(crate) struct Printed {
    pub(crate) configuration: String,
    /// What it is compared with; the first configuration if the table does not tell.
    pub(crate) to: Option<String>,
    pub(crate) workload: String,
    pub(crate) metric: String,
    pub(crate) line: u32,
    pub(crate) number: Number,
    /// Percent or ratio; none if the table does not tell.
    pub(crate) kind: Option<Kind>,
}

/// The form of a printed change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Percent,
    Ratio,
}

/// Reads `-10.1 %`, `0.90x` or `0.90`.
pub(super) fn parse(
    cell: &str,
    locale: Locale,
    said: Option<Kind>,
) -> Result<(Number, Option<Kind>), Fault> {
    let (digits, kind) = match (cell.strip_suffix('%'), cell.strip_suffix(['x', '\u{d7}'])) {
        (Some(digits), _) => (digits, Some(Kind::Percent)),
        (_, Some(digits)) => (digits, Some(Kind::Ratio)),
        _ => (cell, said),
    };
    let number =
        number(digits.trim(), locale).ok_or_else(|| no_number("the column of changes", cell))?;
    Ok((number, kind))
}

/// By configuration, workload and metric, in small letters: the sum of the figures, their number and
/// their step.
type Means = BTreeMap<[String; 3], (f64, f64, f64)>;

fn key(names: [&str; 3]) -> [String; 3] {
    names.map(str::to_lowercase)
}

/// Recomputes each printed change. One of figures that are not there becomes a statement, if the text
/// says what it compares.
pub(super) fn checked(printed: Vec<Printed>, records: &mut Records) -> Vec<Check> {
    if printed.is_empty() {
        return Vec::new();
    }
    let means = means(records);
    let first = records.configurations.first().map(|one| one.name.clone());
    let mut checks = Vec::new();
    for one in printed {
        let Some(to) = one.to.as_ref().or(first.as_ref()) else {
            continue;
        };
        let mean = |configuration: &str| {
            let (sum, n, step) = means.get(&key([configuration, &one.workload, &one.metric]))?;
            Some((sum / n, step / 2.0))
        };
        let both = mean(&one.configuration).zip(mean(to));
        let (of, metric, workload) = (&one.configuration, &one.metric, &one.workload);
        let what = format!("{of} / {to}, {metric} on {workload}");
        let percent = one.kind == Some(Kind::Percent);
        let known = both.filter(|_| one.kind.is_some()).map(|(of, to)| [of, to]);
        checks.push(arithmetic::change(
            (one.line, what),
            one.number,
            percent,
            known,
        ));
        if both.is_none() && one.to.is_some() {
            records.statements.push(Statement {
                configuration: Some(one.configuration),
                workload: Some(one.workload),
                metric: one.metric,
                unit: if percent { "%" } else { "" }.to_owned(),
                value: one.number.value,
                normalised_to: one.to,
                not_admitted: false,
                place: super::sheet::place(one.line),
            });
        }
    }
    checks
}

fn means(records: &Records) -> Means {
    let mut means = Means::new();
    for run in &records.runs {
        for (metric, one) in &run.metrics {
            let key = key([&run.configuration, &run.workload, metric]);
            let sum = means.entry(key).or_default();
            (sum.0, sum.1) = (sum.0 + one.value, sum.1 + 1.0);
        }
    }
    for one in &records.summaries {
        let key = key([&one.configuration, &one.workload, &one.metric]);
        means.entry(key).or_insert((one.mean, 1.0, 0.0));
    }
    for one in &records.resolutions {
        let key = key([&one.configuration, &one.workload, &one.metric]);
        if let Some(mean) = means.get_mut(&key) {
            mean.2 = one.step;
        }
    }
    means
}
