//! Names that hold both the workload and the configuration.

use std::collections::{BTreeMap, BTreeSet};

use super::Item;

/// Names such as `small (old)`, `small (new)`, `large (old)`, `large (new)`: in
/// front of the parenthesis stands the workload. Only where every workload has
/// the same two configurations or more.
pub(super) fn part_names(items: &mut [Item]) {
    let mut stems: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for item in items.iter() {
        if let Some((stem, inner)) = item.configuration_label.as_deref().and_then(parted) {
            stems.entry(stem).or_default().insert(inner);
        }
    }
    let mut sets = stems.values();
    let Some(first) = sets.next().filter(|set| set.len() >= 2 && stems.len() >= 2) else {
        return;
    };
    if !sets.all(|set| set == first) {
        return;
    }
    for item in items.iter_mut() {
        let Some((stem, inner)) = item.configuration_label.as_deref().and_then(parted) else {
            continue;
        };
        let workload = item.workload_name.take();
        item.workload_name = Some(workload.map_or(stem.clone(), |name| format!("{name} {stem}")));
        item.configuration_label = Some(inner);
    }
}

/// What stands in front of a parenthesis at the end, and in it.
fn parted(label: &str) -> Option<(String, String)> {
    let head = label.trim().strip_suffix(')')?;
    let (stem, inner) = head.rsplit_once(" (")?;
    let named = |text: &str| text.bytes().any(|b| b.is_ascii_alphabetic());
    (named(stem) && named(inner) && !inner.contains(['(', ')']))
        .then(|| (stem.trim().to_string(), inner.trim().to_string()))
}
