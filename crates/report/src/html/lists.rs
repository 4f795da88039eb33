//! Data problems, rates, and figures without runs.

use assize_verdict::{Document, IdentityDifference, Lint, Rate, RateComparison, Statement};
use serde::Serialize;

use super::page::ReportPage;
use crate::number::{p, ratio, significant};

/// The lints with one code.
#[derive(Debug, Serialize)]
pub(super) struct LintGroup {
    code: String,
    found: Vec<LintLine>,
}

#[derive(Debug, Serialize)]
struct LintLine {
    place: String,
    detail: String,
    command: Option<String>,
    /// The command that stops an outlying run at its worst sample.
    debug: Option<String>,
}

/// How each configuration differs from the baseline, one sentence each.
pub(super) fn identities(document: &Document) -> Vec<String> {
    let differences = document.identity_differences.iter();
    differences.map(IdentityDifference::sentence).collect()
}

/// The lints grouped by code, in the order of the document.
pub(super) fn lints(page: &ReportPage<'_>) -> Vec<LintGroup> {
    let mut all: Vec<LintGroup> = Vec::new();
    for lint in &page.document.lints {
        let found = LintLine {
            place: lint.location.clone(),
            detail: lint.detail.clone(),
            command: lint.command.clone(),
            debug: debug(page, lint),
        };
        match all.iter_mut().find(|lints| lints.code == lint.code) {
            Some(lints) => lints.found.push(found),
            None => all.push(LintGroup {
                code: lint.code.clone(),
                found: vec![found],
            }),
        }
    }
    all
}

fn debug(page: &ReportPage<'_>, lint: &Lint) -> Option<String> {
    let run = lint.run.filter(|_| lint.bundle.is_none())?;
    let is_apart = lint.code == "outlier-run";
    let shell = page.attributions.shell.as_ref().filter(|_| is_apart)?;
    let has_samples = page.evidence.series.iter().any(|one| one.run == run);
    Some(shell.debug(run, has_samples.then_some("worst")))
}

/// The events of one configuration on one workload, and their test.
#[derive(Debug, Serialize)]
pub(super) struct EventRate {
    workload: String,
    event: String,
    configuration: String,
    count: u64,
    exposure: String,
    rate: String,
    interval: String,
    against: String,
    verdict: &'static str,
    note: String,
}

/// The rates with their tests.
pub(super) fn rates(document: &Document) -> Vec<EventRate> {
    let tested = |rate: &Rate| {
        document.rate_comparisons.iter().find(|row| {
            row.workload == rate.workload
                && row.event == rate.event
                && row.configuration == rate.configuration
        })
    };
    let events = |rate: &Rate| {
        let test = tested(rate);
        let notes = [
            rate.note.as_deref(),
            test.and_then(|test| test.note.as_deref()),
        ];
        let notes: Vec<&str> = notes.into_iter().flatten().collect();
        EventRate {
            workload: rate.workload.clone(),
            event: rate.event.clone(),
            configuration: rate.configuration.clone(),
            count: rate.count,
            exposure: rate.exposure_s.map(short).unwrap_or_default(),
            rate: rate.rate_per_s.map(short).unwrap_or_default(),
            interval: rate
                .ci
                .map(|[low, high]| format!("{} – {}", short(low), short(high)))
                .unwrap_or_default(),
            against: test.map(rate_comparison_text).unwrap_or_default(),
            verdict: test.map_or("", |test| test.verdict.word()),
            note: notes.join("; "),
        }
    };
    document.rates.iter().map(events).collect()
}

fn rate_comparison_text(test: &RateComparison) -> String {
    let times = test.ratio.map(|value| format!("{} to ", ratio(value)));
    let p = test.p.map(|value| format!(", p {}", p(value)));
    let (times, p) = (times.unwrap_or_default(), p.unwrap_or_default());
    format!("{times}{}{p}", test.baseline)
}

fn short(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e9 {
        format!("{value:.0}")
    } else {
        significant(value, 4)
    }
}

/// A figure without a number of runs.
#[derive(Debug, Serialize)]
pub(super) struct StatedFigure {
    workload: String,
    configuration: String,
    metric: String,
    value: String,
    normalised_to: String,
    line: u32,
}

/// The figures without replication.
pub(super) fn statements(document: &Document) -> Vec<StatedFigure> {
    let stated = |statement: &Statement| StatedFigure {
        workload: statement.workload.clone().unwrap_or_default(),
        configuration: statement.configuration.clone().unwrap_or_default(),
        metric: statement.metric.clone(),
        value: format!("{} {}", statement.value, statement.unit)
            .trim_end()
            .to_owned(),
        normalised_to: statement.normalised_to.clone().unwrap_or_default(),
        line: statement.place.line,
    };
    document.statements.iter().map(stated).collect()
}
