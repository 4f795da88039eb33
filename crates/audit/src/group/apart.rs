//! Finds figures that have the names of an earlier cell but are not further runs of it.

use std::collections::{BTreeMap, BTreeSet};

use super::item::{Item, Stand};

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
