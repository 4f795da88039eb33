//! Headings that come again in several sections of a post.

use std::collections::{BTreeMap, BTreeSet};

use super::{Item, names};
use crate::roles::words::{REPETITION_KEYS, key_is};

/// Whether the same configurations stand below each of several outer headings, which are
/// no numbers of runs and say of nothing that it is the same, or above each of several inner ones if these were `swapped`: what
/// was measured in one section is no repetition of another.
pub(super) fn measured_in_sections(items: &[&mut Item], swapped: bool) -> bool {
    let mut below: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for item in items.iter() {
        let labels = item.labels();
        if labels.configuration.is_none()
            && (item.command.is_some() || labels.workload.is_some())
            && let (Some(outer), Some(inner)) = (&item.outer, &item.inner)
        {
            let (section, name) = match swapped {
                true => (inner, outer),
                false => (outer, inner),
            };
            below.entry(section).or_default().insert(name);
        }
    }
    let counted = |section: &str| {
        let words = section.split(|c: char| !c.is_alphabetic());
        words
            .into_iter()
            .any(|word| word == "same" || key_is(word, REPETITION_KEYS))
    };
    let mut sets = below.values();
    let first = sets.next().filter(|set| set.len() >= 2 && below.len() >= 2);
    first.is_some_and(|first| sets.all(|set| set == first))
        && !below.keys().any(|section| counted(section))
}

/// The heading of the section that an item stands in; a machine keeps it apart without.
pub(super) fn section_of(item: &Item, swapped: bool) -> Option<&str> {
    let machine = item.machine.as_deref();
    let is_machine = |section: &&str| machine.is_some_and(|machine| section.contains(machine));
    match swapped {
        true => item.inner.as_deref(),
        false => item.outer.as_deref().filter(|section| !is_machine(section)),
    }
}

/// What was measured again in another section, with the section's name.
pub(super) fn in_section(work: Option<String>, section: Option<&str>) -> Option<String> {
    let work = work?;
    Some(match section {
        Some(section) => format!("{work} [{}]", names::short(section)),
        None => work,
    })
}
