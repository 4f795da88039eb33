//! An overview: a few metrics over all workloads and configurations.

use assize_verdict::Document;
use serde::Serialize;

use super::grid::{ComparisonIndex, MetricCell, cell, index};
use super::page::ReportPage;
use crate::contrasts::Wordings;

/// The maximum number of metrics in an overview.
const MOST: usize = 4;

/// One metric, configurations by workloads.
#[derive(Debug, Serialize)]
pub(super) struct Overview {
    metric: String,
    title: String,
    unit: String,
    primary: bool,
    workloads: Vec<String>,
    rows: Vec<OverviewRow>,
}

/// One configuration.
#[derive(Debug, Serialize)]
pub(super) struct OverviewRow {
    configuration: String,
    cells: Vec<OverviewCell>,
}

/// One configuration on one workload.
#[derive(Debug, Serialize)]
struct OverviewCell {
    workload: String,
    cell: MetricCell,
}

/// Overviews of the primary metrics, or of those named in the sentences if none is
/// primary.
pub(super) fn overviews(page: &ReportPage<'_>) -> Vec<Overview> {
    let document = page.document;
    let index = index(document);
    let mut all: Vec<Overview> = Vec::new();
    for (metric, unit) in chosen_metrics(page) {
        let primary = page.about.primary.contains(&metric);
        let words = Wordings(&page.about.metrics);
        all.push(overview(document, &index, words, (metric, unit), primary));
    }
    all
}

fn chosen_metrics(page: &ReportPage<'_>) -> Vec<(String, String)> {
    let rows = &page.document.comparisons;
    let mut metrics: Vec<(String, String)> = Vec::new();
    let mut add = |metric: &str, unit: &str| {
        let key = (metric.to_owned(), unit.to_owned());
        if metrics.len() < MOST && !metrics.contains(&key) {
            metrics.push(key);
        }
    };
    for name in &page.about.primary {
        for row in rows.iter().filter(|row| row.metric == *name) {
            add(&row.metric, &row.unit);
        }
    }
    if page.about.primary.is_empty() {
        let said = page.document.sentences.iter().flat_map(|s| &s.rows);
        for name in said {
            let named = rows.iter().find(|row| {
                *name == format!("{} {} {}", row.workload, row.metric, row.configuration)
            });
            if let Some(row) = named {
                add(&row.metric, &row.unit);
            }
        }
        for row in rows {
            add(&row.metric, &row.unit);
        }
    }
    metrics
}

fn overview(
    document: &Document,
    index: &ComparisonIndex<'_>,
    words: Wordings<'_>,
    (metric, unit): (String, String),
    primary: bool,
) -> Overview {
    let get = |workload: &str, name: &str| {
        index
            .get(&(workload, metric.as_str(), unit.as_str(), name))
            .copied()
    };
    let names = || document.configurations.iter().map(|c| c.name.as_str());
    let workloads: Vec<String> = document
        .workloads
        .iter()
        .filter(|workload| names().any(|name| get(workload, name).is_some()))
        .cloned()
        .collect();
    let row = |name: &str| OverviewRow {
        configuration: name.to_owned(),
        cells: workloads
            .iter()
            .map(|workload| OverviewCell {
                workload: workload.clone(),
                cell: get(workload, name)
                    .map(|row| cell(document, row, words))
                    .unwrap_or_else(|| MetricCell {
                        configuration: name.to_owned(),
                        kind: "none",
                        ..MetricCell::default()
                    }),
            })
            .collect(),
    };
    let rows = names()
        .filter(|name| workloads.iter().any(|w| get(w, name).is_some()))
        .map(row)
        .collect();
    Overview {
        rows,
        workloads,
        title: words.capitalised(&metric),
        metric,
        unit,
        primary,
    }
}
