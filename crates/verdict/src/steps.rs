//! The step size of the values of each cell.

use std::collections::BTreeMap;

use assize_judge::step;

use crate::cells::{Cell, CellKey, Cells};
use crate::units::is_measured;

/// Steps below this share of the values are ignored, as no margin is that narrow.
const FINEST: f64 = 1e-5;

/// The step of each cell, in the unit of its metric: the coarsest of the step
/// that its source declares, the step of its own values, and the step of all
/// values of the metric on the workload.
/// Plain counts have no step: 40 is exact although the next value is 41.
/// Plain counts have none: 40 is exact although the next value is 41.
pub(crate) fn of_all(cells: &Cells<'_>) -> BTreeMap<CellKey, f64> {
    let mut steps: BTreeMap<CellKey, f64> = BTreeMap::new();
    let mut coarser = |key: CellKey, step: f64| {
        let known = steps.entry(key).or_insert(step);
        *known = known.max(step);
    };
    let counts: Vec<bool> = (0..cells.metrics.len())
        .map(|metric| is_count(cells, metric))
        .collect();
    for (key, step) in declared(cells) {
        if !counts[key.metric] {
            coarser(key, step);
        }
    }
    for (workload, metric) in cells.rows() {
        if counts[metric] {
            continue;
        }
        let row: Vec<(usize, &Cell<'_>)> = cells.row(workload, metric).collect();
        let all: Vec<f64> = row.iter().flat_map(|(_, cell)| cell.values()).collect();
        let of_all = step::step(&all, FINEST);
        for (configuration, cell) in row {
            let key = CellKey {
                workload,
                metric,
                configuration,
            };
            let found = [of_all, step::step(&cell.values(), FINEST)];
            for step in found.into_iter().flatten() {
                coarser(key, step);
            }
        }
    }
    steps
}

/// Whether a metric is a plain count: all values are integers without a unit,
/// and its name does not indicate a measured quantity.
fn is_count(cells: &Cells<'_>, metric: usize) -> bool {
    let named = &cells.metrics[metric];
    let whole = |cell: &Cell<'_>| {
        let means = cell.summary.iter().map(|summary| summary.mean);
        let mut values = cell.runs.iter().map(|run| run.value).chain(means);
        values.all(|value| value.fract() == 0.0)
    };
    let mut of_metric = cells.iter().filter(|(key, _)| key.metric == metric);
    named.unit.is_empty() && !is_measured(&named.name) && of_metric.all(|(_, cell)| whole(cell))
}

/// The steps that the sources declare.
fn declared<'c>(cells: &'c Cells<'_>) -> impl Iterator<Item = (CellKey, f64)> + 'c {
    cells.records.resolutions.iter().filter_map(|one| {
        let metric = cells.metric_of(&one.metric, &one.unit)?;
        let key = CellKey {
            workload: cells.workload(&one.workload)?,
            metric,
            configuration: cells.configuration(&one.configuration)?,
        };
        let step = cells.converted(one.step, &one.unit, metric);
        (step > 0.0 && step.is_finite()).then_some((key, step))
    })
}
