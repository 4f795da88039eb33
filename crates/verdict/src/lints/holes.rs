//! Holes in the grid of configurations, workloads and metrics.

use std::collections::{BTreeMap, BTreeSet};

use assize_bundle::nothing_differs;

use super::{first_names, lint};
use crate::cells::{CellKey, Cells};
use crate::document::Lint;
use crate::names::folded;

/// Lints for configurations that were not run on a workload that others ran.
///
/// A configuration that shares no workload with the others belongs to another experiment (an
/// earlier, quoted one), and a workload with one configuration has no grid.
pub(super) fn configurations(cells: &Cells<'_>) -> Vec<Lint> {
    let present: Vec<BTreeSet<usize>> = (0..cells.workloads.len())
        .map(|workload| cells.present(workload).into_iter().collect())
        .collect();
    let mut lints = Vec::new();
    for (workload, here) in present.iter().enumerate().filter(|p| p.1.len() > 1) {
        let missing: Vec<&str> = (0..cells.configurations.len())
            .filter(|c| !here.contains(c))
            .filter(|c| {
                present
                    .iter()
                    .any(|other| other.contains(c) && !other.is_disjoint(here))
            })
            .map(|c| cells.configurations[c].as_str())
            .collect();
        if !missing.is_empty() {
            lints.push(lint(
                "missing-cell",
                cells.workloads[workload].clone(),
                format!("no runs of {}", first_names(&missing, 8)),
            ));
        }
    }
    lints
}

/// Lints for metrics that a configuration lacks on a workload although two other
/// configurations have them there, or one with which it shares another metric.
/// Metrics that were reported as unsupported are skipped.
pub(super) fn metrics(cells: &Cells<'_>) -> Vec<Lint> {
    let excused: BTreeSet<(String, String, &str)> = cells
        .records
        .unsupported
        .iter()
        .map(|u| {
            (
                folded(&u.workload),
                folded(&u.configuration),
                u.metric.as_str(),
            )
        })
        .collect();
    let mut missing: BTreeMap<(usize, usize), Vec<&str>> = BTreeMap::new();
    for (workload, metric) in cells.rows() {
        let having: Vec<usize> = cells.row(workload, metric).map(|row| row.0).collect();
        let name = cells.metrics[metric].name.as_str();
        for configuration in cells.present(workload) {
            let key = CellKey {
                workload,
                metric,
                configuration,
            };
            let place = (
                folded(&cells.workloads[workload]),
                folded(&cells.configurations[configuration]),
                name,
            );
            let expected = having.len() > 1
                || having
                    .iter()
                    .any(|&other| share_a_metric(cells, workload, configuration, other));
            if expected && !has_by_name(cells, key) && !excused.contains(&place) {
                missing
                    .entry((workload, configuration))
                    .or_default()
                    .push(name);
            }
        }
    }
    missing
        .into_iter()
        .map(|((workload, configuration), metrics)| {
            lint(
                "missing-cell",
                format!(
                    "{} on {}",
                    cells.configurations[configuration], cells.workloads[workload]
                ),
                format!("no value of {}", first_names(&metrics, 6)),
            )
        })
        .collect()
}

/// Whether there is a value of a metric of this name, in any unit.
fn has_by_name(cells: &Cells<'_>, key: CellKey) -> bool {
    let name = &cells.metrics[key.metric].name;
    let metrics = cells.metrics.iter().enumerate();
    metrics
        .filter(|(_, metric)| metric.name == *name)
        .any(|(metric, _)| cells.get(CellKey { metric, ..key }).is_some())
}

/// Whether two configurations have a metric in common on a workload.
fn share_a_metric(cells: &Cells<'_>, workload: usize, a: usize, b: usize) -> bool {
    let has = |metric, configuration| cells.has((workload, metric), configuration);
    (0..cells.metrics.len()).any(|metric| has(metric, a) && has(metric, b))
}

/// Lints for metrics that are declared primary but not in the records.
pub(super) fn primary(cells: &Cells<'_>, primary: &[String]) -> Vec<Lint> {
    let records = cells.records;
    if nothing_differs(&records.configurations, &records.same) {
        return Vec::new();
    }
    primary
        .iter()
        .map(|name| {
            lint(
                "missing-cell",
                name.clone(),
                format!(
                    "declared primary, but not among the {} metrics recorded",
                    cells.metrics.len()
                ),
            )
        })
        .collect()
}
