//! Printed changes and ratios, recomputed from the figures of the same table.

use std::collections::BTreeMap;

use assize_bundle::Records;

use super::arithmetic::{self, Check};
use super::error::{Fault, no_number};
use crate::grammar::number::{Locale, Number, number};

/// A change as printed.
#[derive(Debug, Clone)]
pub(crate) struct Printed {
    pub(crate) configuration: String,
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

/// By configuration, workload and metric: the sum of the figures, their number and their step.
type Means<'r> = BTreeMap<[&'r str; 3], (f64, f64, f64)>;

/// Recomputes each printed change against the first configuration.
pub(super) fn checked(printed: &[Printed], records: &Records) -> Vec<Check> {
    let (Some(baseline), false) = (records.configurations.first(), printed.is_empty()) else {
        return Vec::new();
    };
    let means = means(records);
    let mean = |configuration: &str, one: &Printed| {
        let key = [configuration, one.workload.as_str(), one.metric.as_str()];
        means.get(&key).map(|(sum, n, step)| (sum / n, step / 2.0))
    };
    let each = printed.iter().map(|one| {
        let both = mean(&one.configuration, one).zip(mean(&baseline.name, one));
        let what = format!(
            "{} / {}, {} on {}",
            one.configuration, baseline.name, one.metric, one.workload
        );
        let percent = one.kind == Some(Kind::Percent);
        let both = both.filter(|_| one.kind.is_some()).map(|(of, to)| [of, to]);
        arithmetic::change((one.line, what), one.number, percent, both)
    });
    each.collect()
}

fn means(records: &Records) -> Means<'_> {
    let mut means = Means::new();
    for run in &records.runs {
        for (metric, one) in &run.metrics {
            let key = [run.configuration.as_str(), &run.workload, metric];
            let sum = means.entry(key).or_default();
            (sum.0, sum.1) = (sum.0 + one.value, sum.1 + 1.0);
        }
    }
    for one in &records.summaries {
        let key = [one.configuration.as_str(), &one.workload, &one.metric];
        means.entry(key).or_insert((one.mean, 1.0, 0.0));
    }
    for one in &records.resolutions {
        let key = [one.configuration.as_str(), &one.workload, &one.metric];
        if let Some(mean) = means.get_mut(&key) {
            mean.2 = one.step;
        }
    }
    means
}
