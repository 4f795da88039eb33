//! The tables declared in the experiment.

use assize_verdict::{Document, Relation, Table, TableCell, TableRow};
use serde::Serialize;

use super::grid::{direction_of_move, with_unit};
use crate::contrasts::verdict_mark;
use crate::number::{difference, ratio, significant};

#[derive(Debug, Serialize)]
pub(super) struct DeclaredTableView {
    metric: String,
    unit: String,
    normalised_to: Option<String>,
    factor: Option<String>,
    workloads: Vec<String>,
    rows: Vec<DeclaredRow>,
}

/// One configuration.
#[derive(Debug, Serialize)]
struct DeclaredRow {
    configuration: String,
    baseline: Option<String>,
    because: Option<String>,
    cells: Vec<DeclaredCell>,
}

/// One configuration on one workload.
#[derive(Debug, Serialize)]
struct DeclaredCell {
    n: u32,
    median: String,
    normalised: Option<RelatedRuns>,
    relative: Option<RelatedRuns>,
    because: Option<String>,
}

/// One set of runs against another.
#[derive(Debug, Serialize)]
pub(super) struct RelatedRuns {
    value: String,
    interval: String,
    mark: &'static str,
    verdict: &'static str,
    /// `falls`, `rises` or `level`.
    way: &'static str,
}

impl RelatedRuns {
    /// The ratio or the difference.
    pub(super) fn value(&self) -> &str {
        &self.value
    }
}

pub(super) fn tables(document: &Document) -> Vec<DeclaredTableView> {
    document.tables.iter().map(declared_view).collect()
}

fn declared_view(table: &Table) -> DeclaredTableView {
    DeclaredTableView {
        metric: table.metric.clone(),
        unit: table.unit.clone(),
        normalised_to: table.normalised_to.clone(),
        factor: table.factor.clone(),
        workloads: table.workloads.clone(),
        rows: table.rows.iter().map(|r| row(table, r)).collect(),
    }
}

fn row(table: &Table, row: &TableRow) -> DeclaredRow {
    DeclaredRow {
        configuration: row.configuration.clone(),
        baseline: row.baseline.clone(),
        because: row.because.clone(),
        cells: row.cells.iter().map(|c| cell(table, c)).collect(),
    }
}

fn cell(table: &Table, cell: &TableCell) -> DeclaredCell {
    let of = |relation: &Relation| related_runs(relation, &table.unit);
    DeclaredCell {
        n: cell.n,
        median: cell
            .median
            .map_or_else(|| "–".to_owned(), |median| with_unit(median, &table.unit)),
        normalised: cell.normalised.as_ref().map(of),
        relative: cell.relative.as_ref().map(of),
        because: cell.because.clone(),
    }
}

pub(super) fn related_runs(relation: &Relation, unit: &str) -> RelatedRuns {
    let show = |value: f64| match relation.ratio {
        Some(_) => ratio(value),
        None => significant(value, 3),
    };
    let value = match (relation.ratio, relation.difference) {
        (Some(value), _) => ratio(value),
        (None, Some(value)) => difference(value, unit),
        (None, None) => "–".to_owned(),
    };
    RelatedRuns {
        value,
        interval: relation
            .ci
            .map(|[low, high]| format!("{} to {}", show(low), show(high)))
            .unwrap_or_default(),
        mark: relation.verdict.map_or("", verdict_mark),
        verdict: relation.verdict.map_or("", |verdict| verdict.word()),
        way: direction_of_move(relation.ratio, relation.difference),
    }
}
