//! Outlying runs and the order of runs.

use std::collections::{BTreeMap, BTreeSet};

use assize_judge::holm;
use assize_judge::lints::{drift as trend, grouped_order, outlier};

use super::{Faults, lint, some};
use crate::cells::Cells;
use crate::document::Lint;
use crate::weigh::arithmetic;
use crate::words::p_value;

/// Runs that lie apart from the others of their configuration, once per run.
/// Where metrics are declared primary only those are looked at: of many
/// metrics there is always one in which some run lies apart.
pub(super) fn outliers(cells: &Cells<'_>, faults: &Faults, primary: &BTreeSet<usize>) -> Vec<Lint> {
    let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (key, cell) in cells.iter() {
        let wanted = primary.is_empty() || primary.contains(&key.metric);
        if !wanted || faults.says_nothing(key.workload, key.metric) {
            continue;
        }
        for cell in cell.by_machine() {
            for index in outlier(&cell.values()) {
                found
                    .entry(cell.runs[index].run)
                    .or_default()
                    .push(key.metric);
            }
        }
    }
    found
        .into_iter()
        .map(|(run, metrics)| {
            let (workload, configuration) = cells.run_places[run];
            let names: Vec<&str> = metrics
                .iter()
                .map(|&m| cells.metrics[m].name.as_str())
                .collect();
            lint(
                "outlier-run",
                format!(
                    "{} on {}, run {}",
                    cells.configurations[configuration],
                    cells.workloads[workload],
                    cells.records.runs[run].repetition
                ),
                format!("lies apart from the other runs in {}", some(&names, 6)),
            )
        })
        .collect()
}

/// Whether all runs of a configuration stand together in the order of runs.
pub(super) fn unrandomised(cells: &Cells<'_>) -> Option<Lint> {
    if cells.records.runs.iter().any(|run| run.block.is_some()) {
        return None;
    }
    let mut runs: Vec<usize> = (0..cells.records.runs.len()).collect();
    runs.sort_by_key(|&run| cells.records.runs[run].order);
    let mut orders: Vec<Vec<usize>> = vec![Vec::new(); cells.workloads.len()];
    for run in runs {
        let (workload, configuration) = cells.run_places[run];
        orders[workload].push(configuration);
    }
    let mut grouped: Vec<&str> = Vec::new();
    for (order, name) in orders.iter().zip(&cells.workloads) {
        if grouped_order(order) {
            grouped.push(name);
        }
    }
    (!grouped.is_empty()).then(|| {
        lint(
            "unrandomised-order",
            grouped.join(", "),
            "the runs are given configuration by configuration; if they were made in that \
             order, a drift over time cannot be told from a difference",
        )
    })
}

/// Trends over the order of runs, after taking out the configurations' means,
/// corrected by Holm's method for the number of rows looked at.
pub(super) fn drift(cells: &Cells<'_>, faults: &Faults) -> Vec<Lint> {
    let mut found = Vec::new();
    for (workload, metric) in cells.rows() {
        if faults.says_nothing(workload, metric) {
            continue;
        }
        let residuals = residuals_in_order(cells, workload, metric);
        if let Some(drift) = trend(&residuals) {
            found.push((workload, metric, drift));
        }
    }
    let p: Vec<f64> = found.iter().map(|f| f.2.p).collect();
    found
        .iter()
        .zip(holm(&p))
        .filter(|(_, p)| *p <= 0.05)
        .map(|((workload, metric, drift), p)| {
            let way = if drift.tau > 0.0 { "rises" } else { "falls" };
            lint(
                "drift",
                format!(
                    "{} on {}",
                    cells.metrics[*metric].name, cells.workloads[*workload]
                ),
                format!(
                    "{way} over the order of runs, whatever the configuration \
                     (Kendall's tau {:.2}, corrected p {})",
                    drift.tau,
                    p_value(p)
                ),
            )
        })
        .collect()
}

/// Deviations from the configuration's mean on the run's machine, on logarithms where all values
/// are positive, in the order of runs; of configurations with three runs or
/// more.
fn residuals_in_order(cells: &Cells<'_>, workload: usize, metric: usize) -> Vec<f64> {
    let positive = cells
        .row(workload, metric)
        .all(|(_, cell)| cell.runs.iter().all(|r| r.value > 0.0));
    let mut residuals: Vec<(u32, f64)> = Vec::new();
    let row = cells.row(workload, metric);
    let groups = row.flat_map(|(_, cell)| cell.by_machine());
    for cell in groups.filter(|cell| cell.runs.len() >= 3) {
        let x: Vec<f64> = cell
            .runs
            .iter()
            .map(|r| if positive { r.value.ln() } else { r.value })
            .collect();
        let mean = arithmetic(&x).unwrap_or(0.0);
        let orders = cell.runs.iter().map(|r| cells.records.runs[r.run].order);
        residuals.extend(orders.zip(x.iter().map(|x| x - mean)));
    }
    residuals.sort_by_key(|r| r.0);
    residuals.into_iter().map(|r| r.1).collect()
}
