//! The verdict grid: one table per workload, metrics by configurations.

use std::collections::HashMap;

use assize_verdict::{Comparison, Document, Scale};
use serde::Serialize;

use super::page::ReportPage;
use crate::contrasts::{RowOutcome, Wordings, came_out, fixed_outcome, fixed_values};
use crate::contrasts::{contradicted, describe_run_counts, verdict_mark};
use crate::number::{difference, ratio, significant};

/// The grid of one workload.
#[derive(Debug, Serialize)]
pub(super) struct MetricGrid {
    workload: String,
    /// The configuration that its rows are compared with.
    baseline: String,
    /// `6 runs against 6`, if all rows have the same numbers.
    runs: Option<String>,
    configurations: Vec<String>,
    rows: Vec<MetricRow>,
}

#[derive(Debug, Serialize)]
pub(super) struct MetricRow {
    metric: String,
    title: String,
    unit: String,
    primary: bool,
    /// Whether the metric is compared with the baseline that the page shows first.
    compared: bool,
    cells: Vec<MetricCell>,
}

/// One metric of one configuration.
#[derive(Debug, Default, Serialize)]
pub(super) struct MetricCell {
    pub(super) configuration: String,
    /// `verdict`, `baseline` or `none`.
    pub(super) kind: &'static str,
    /// The figure as in the JSON document.
    pub(super) ratio: Option<String>,
    pub(super) difference: Option<String>,
    pub(super) low: Option<String>,
    pub(super) high: Option<String>,
    pub(super) verdict: &'static str,
    pub(super) mark: &'static str,
    /// `falls`, `rises` or `level`.
    pub(super) way: &'static str,
    /// The colour class: `good`, `bad`, `differs`, `same` or `open`.
    pub(super) tone: &'static str,
    /// The colour class as a word, for `good` and `bad`.
    pub(super) tone_word: &'static str,
    /// The text shown in the cell.
    pub(super) value: String,
    pub(super) interval: String,
}

/// Rows of a document by workload, metric with unit, and configuration.
pub(super) type ComparisonIndex<'d> = HashMap<(&'d str, &'d str, &'d str, &'d str), &'d Comparison>;

/// Builds the index.
pub(super) fn index(document: &Document) -> ComparisonIndex<'_> {
    document
        .comparisons
        .iter()
        .map(|c| {
            let key = (
                c.workload.as_str(),
                c.metric.as_str(),
                c.unit.as_str(),
                c.configuration.as_str(),
            );
            (key, c)
        })
        .collect()
}

/// A grid for each workload that has rows.
pub(super) fn grids(page: &ReportPage<'_>) -> Vec<MetricGrid> {
    let document = page.document;
    let index = index(document);
    document
        .workloads
        .iter()
        .filter_map(|workload| grid(page, workload, &index))
        .collect()
}

fn grid(page: &ReportPage<'_>, workload: &str, index: &ComparisonIndex<'_>) -> Option<MetricGrid> {
    let document = page.document;
    let rows: Vec<&Comparison> = document
        .comparisons
        .iter()
        .filter(|row| row.workload == workload)
        .collect();
    let baseline = rows.first()?.baseline.clone();
    let mut metrics: Vec<(&str, &str)> = Vec::new();
    for row in &rows {
        let key = (row.metric.as_str(), row.unit.as_str());
        if !metrics.contains(&key) {
            metrics.push(key);
        }
    }
    // Repetitions of the baseline have no column.
    let configurations: Vec<String> = document
        .configurations
        .iter()
        .filter(|c| c.repeats.is_none())
        .map(|c| c.name.clone())
        .collect();
    // Metrics that are compared only with other baselines.
    let others = page.others.iter().flat_map(|other| &other.comparisons);
    for row in others.filter(|row| row.workload == workload) {
        let key = (row.metric.as_str(), row.unit.as_str());
        if !metrics.contains(&key) {
            metrics.push(key);
        }
    }
    let compared = |&(metric, unit): &(&str, &str)| {
        rows.iter()
            .any(|row| row.metric == metric && row.unit == unit)
    };
    let row = |key @ &(metric, unit): &(&str, &str)| MetricRow {
        compared: compared(key),
        metric: metric.to_owned(),
        title: Wordings(&page.about.metrics).capitalised(metric),
        unit: unit.to_owned(),
        primary: page.about.primary.iter().any(|name| name == metric),
        cells: configurations
            .iter()
            .map(|name| {
                let found = index.get(&(workload, metric, unit, name.as_str()));
                match found {
                    Some(row) => cell(document, row, Wordings(&page.about.metrics)),
                    None => empty(&rows, name, (metric, unit), &baseline),
                }
            })
            .collect(),
    };
    Some(MetricGrid {
        workload: workload.to_owned(),
        runs: describe_run_counts(rows.iter().copied(), "runs"),
        rows: metrics.iter().map(row).collect(),
        configurations: configurations.clone(),
        baseline,
    })
}

/// A cell without a comparison: the baseline itself, or a metric that was not measured.
fn empty(
    rows: &[&Comparison],
    name: &str,
    (metric, unit): (&str, &str),
    baseline: &str,
) -> MetricCell {
    let mut empty = MetricCell {
        configuration: name.to_owned(),
        kind: "none",
        ..MetricCell::default()
    };
    if name == baseline {
        let mut of_metric = rows
            .iter()
            .filter(|row| row.metric == metric && row.unit == unit);
        let mean = of_metric.find_map(|row| row.mean_baseline);
        empty.kind = "baseline";
        empty.value = mean.map_or_else(|| "1".to_owned(), |mean| with_unit(mean, unit));
    }
    empty
}

pub(super) fn with_unit(value: f64, unit: &str) -> String {
    let value = significant(value, 4);
    format!("{value} {unit}").trim_end().to_owned()
}

/// Converts a row of the document to a cell, without figures if machines contradict each other.
pub(super) fn cell(document: &Document, row: &Comparison, words: Wordings<'_>) -> MetricCell {
    let tone = tone(document, row, words);
    let cell = MetricCell {
        tone,
        tone_word: tone_word(tone),
        ..agreed(row)
    };
    if !contradicted(document, row) {
        return match fixed_outcome(document, row) {
            None if fixed_values(document, row).is_some() => MetricCell {
                interval: "in every run".to_owned(),
                ..cell
            },
            None => cell,
            Some(RowOutcome::Equal) => MetricCell {
                mark: "",
                value: "equal".to_owned(),
                interval: "in every run".to_owned(),
                ..cell
            },
            Some(_) => MetricCell {
                mark: "",
                interval: "in every run".to_owned(),
                ..cell
            },
        };
    }
    MetricCell {
        mark: "!",
        value: "disagree".to_owned(),
        interval: String::new(),
        ..cell
    }
}

/// The colour class of a row.
pub(super) fn tone(document: &Document, row: &Comparison, words: Wordings<'_>) -> &'static str {
    came_out(document, row, words.better(&row.metric)).tone()
}

/// The word shown next to a colour.
fn tone_word(tone: &str) -> &'static str {
    match tone {
        "good" => "better",
        "bad" => "worse",
        _ => "",
    }
}

fn agreed(row: &Comparison) -> MetricCell {
    let figure = |value: f64| format!("{value:?}");
    let show: fn(f64) -> String = match row.scale {
        Scale::Raw => |value| significant(value, 2),
        Scale::Log | Scale::Summary => ratio,
    };
    MetricCell {
        configuration: row.configuration.clone(),
        kind: "verdict",
        ratio: row.ratio.map(figure),
        difference: row.difference.map(figure),
        low: row.ci.map(|[low, _]| figure(low)),
        high: row.ci.map(|[_, high]| figure(high)),
        verdict: row.verdict.word(),
        mark: verdict_mark(row.verdict),
        way: direction_of_move(row.ratio, row.difference),
        value: value(row),
        interval: row
            .ci
            .map(|[low, high]| match row.scale {
                Scale::Raw => format!("{} to {}", show(low), show(high)),
                Scale::Log | Scale::Summary => {
                    format!("{}\u{2009}–\u{2009}{}", show(low), show(high))
                }
            })
            .unwrap_or_default(),
        tone: "",
        tone_word: "",
    }
}

fn value(row: &Comparison) -> String {
    match (row.ratio, row.difference) {
        (Some(value), _) => ratio(value),
        (None, Some(value)) => difference(value, &row.unit),
        (None, None) => "–".to_owned(),
    }
}

/// The direction in which the metric moves.
pub(super) fn direction_of_move(ratio: Option<f64>, difference: Option<f64>) -> &'static str {
    let sign = match (ratio, difference) {
        (Some(ratio), _) => ratio - 1.0,
        (None, Some(difference)) => difference,
        (None, None) => 0.0,
    };
    if sign < 0.0 {
        "falls"
    } else if sign > 0.0 {
        "rises"
    } else {
        "level"
    }
}
