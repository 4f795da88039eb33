//! Finds figures that have the names of an earlier cell but are not further runs of it.

use std::collections::{BTreeMap, BTreeSet};

use super::item::{Item, NamedBy, Stand};
use crate::grammar::block::Finding;

/// A cell in a place of the post: configuration and workload in a message, at a quote depth.
type Cell = (Stand, String, String);

fn cell(item: &Item) -> Cell {
    let name = |name: &Option<String>| name.clone().unwrap_or_default();
    (
        item.stand,
        name(&item.configuration_label),
        name(&item.workload_name),
    )
}

/// Distinguishes the workloads of two blocks that have figures for the same cells, if one of them
/// names its configurations itself (a table, or one call of hyperfine): such a block is complete.
pub(super) fn tell_blocks_apart(items: &mut [Item]) {
    let mut named: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for item in items.iter() {
        let own = item.labels().configuration.is_some();
        let label = item.configuration_label.as_deref().filter(|_| own);
        named.entry(item.block).or_default().extend(label);
    }
    named.retain(|_, names| names.len() >= 2);
    let whole: BTreeSet<usize> = named.into_keys().collect();
    let mut owners: BTreeMap<(Cell, String), usize> = BTreeMap::new();
    let mut apart: BTreeMap<usize, u32> = BTreeMap::new();
    for item in items.iter() {
        for metric in item.metrics() {
            // Of whole blocks it does not matter which configurations they name.
            let (stand, configuration, workload) = cell(item);
            let is_whole = whole.contains(&item.block);
            let any = (stand, String::new(), workload.clone());
            let own = (stand, configuration, workload);
            let any = Some(any).filter(|_| is_whole);
            for cell in any.into_iter().chain([own]) {
                let owner = owners.entry((cell, metric.to_owned()));
                let owner = *owner.or_insert(item.block);
                if owner != item.block && (whole.contains(&owner) || is_whole) {
                    apart.entry(item.block).or_insert(item.place.line);
                }
            }
        }
    }
    for item in items.iter_mut() {
        if let Some(line) = apart.get(&item.block) {
            let name = item.workload_name.take().unwrap_or_default();
            item.workload_name = Some(format!("{name} (line {line})"));
        }
    }
}

/// Distinguishes the workloads of reports that differ widely, and in the same order below each of
/// several headings: they are not repetitions, but workloads that the text does not name.
pub(super) fn tell_steps_apart(items: &mut [Item]) {
    let mut groups: BTreeMap<(Stand, String), BTreeMap<String, Vec<usize>>> = BTreeMap::new();
    for (at, item) in items.iter().enumerate() {
        let report = item.named_by == NamedBy::Heading && item.labels().repetition.is_none();
        if report && matches!(item.finding, Finding::Run { .. }) {
            let (stand, configuration, workload) = cell(item);
            let group = groups.entry((stand, workload)).or_default();
            group.entry(configuration).or_default().push(at);
        }
    }
    let mut steps: Vec<(usize, usize)> = Vec::new();
    for cells in groups.values() {
        let runs: Vec<&Vec<usize>> = cells.values().collect();
        let count = runs[0].len();
        if runs.len() >= 2 && count >= 2 && runs.iter().all(|runs| runs.len() == count) {
            let metrics = items[runs[0][0]].metrics();
            let values = |metric: &str, runs: &[usize]| -> Option<Vec<f64>> {
                runs.iter().map(|at| value(&items[*at], metric)).collect()
            };
            let stepped = |metric: &&str| {
                let columns: Option<Vec<Vec<f64>>> =
                    runs.iter().map(|runs| values(metric, runs)).collect();
                columns.is_some_and(|columns| are_steps(&columns))
            };
            if metrics.iter().any(stepped) {
                steps.extend(runs.iter().flat_map(|runs| runs.iter().copied().zip(1..)));
            }
        }
    }
    for (at, number) in steps {
        if let Some(name) = &mut items[at].workload_name {
            name.push_str(&format!(" #{number}"));
        }
    }
}

/// The value of a run for a metric, if it has one.
fn value(item: &Item, metric: &str) -> Option<f64> {
    let Finding::Run { figures, .. } = &item.finding else {
        return None;
    };
    let own = figures.iter().find(|figure| figure.metric == metric)?;
    Some(own.value)
}

/// Whether all columns have their figures in the same order of size, and any two neighbours in that
/// order differ by at least the factor `STEP`.
fn are_steps(columns: &[Vec<f64>]) -> bool {
    /// Repetitions seldom differ by more.
    const STEP: f64 = 1.2;
    let first = columns
        .first()
        .map_or_else(Vec::new, |column| ranked(column));
    columns.iter().all(|column| {
        let apart =
            |pair: &[usize]| column[pair[0]] > 0.0 && column[pair[1]] >= STEP * column[pair[0]];
        ranked(column) == first && first.windows(2).all(apart)
    })
}

/// The places of values, the least first.
fn ranked(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    order
}
