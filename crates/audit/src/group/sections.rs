//! Headings that come again in several sections of a post.
//!
//! ```text
//! before the change          read:               read:
//! =================            old: …              base
//! iostat output:               new: …              …
//!   …                        write:              write:
//! fio output:                  old: …              base
//!   …                          new: …              …
//! after the change
//! =================
//! iostat output:
//!   …
//! ```
//!
//! On the left what comes again says what was measured, and the sections are the
//! configurations. In the middle it is the other way about: what comes again in the
//! same order below other headings are configurations, though nothing in their names
//! says so.

use std::collections::{BTreeMap, BTreeSet};

use super::names::workload_score;
use super::{Item, names};
use crate::roles::differing;
use crate::roles::words::{REPETITION_KEYS, key_is};
use crate::scan::Placed;

/// A block with the headings above it, the nearest first.
type Headed = (Placed, Option<String>, Option<String>);

/// So many points make names those of configurations.
const CONTRAST: i32 = 3;
/// Names that say the opposite of each other have so many.
const OPPOSITE: i32 = 4;

/// Puts sections in the place of headings that come again in each of them.
pub(super) fn name_by_section(blocks: &mut [Headed]) {
    let depths: BTreeSet<u8> = blocks.iter().map(|(placed, ..)| placed.depth).collect();
    for depth in depths {
        let here: Vec<usize> = (0..blocks.len())
            .filter(|&at| blocks[at].0.depth == depth && blocks[at].0.format != "prose")
            .collect();
        let own: Vec<Vec<String>> = here
            .iter()
            .map(|&at| {
                blocks[at]
                    .0
                    .headings
                    .iter()
                    .map(|h| h.text.clone())
                    .collect()
            })
            .collect();
        let formats: Vec<&str> = here.iter().map(|&at| blocks[at].0.format).collect();
        let Some(sections) = sections(&own, &formats) else {
            continue;
        };
        for (&at, section) in here.iter().zip(sections) {
            if let Some((section, again)) = section {
                (blocks[at].1, blocks[at].2) = (Some(section), Some(again));
            }
        }
    }
}

/// For each block whose nearest heading comes again in several sections, its section
/// and that heading.
fn sections(own: &[Vec<String>], formats: &[&str]) -> Option<Vec<Option<(String, String)>>> {
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for heading in own.iter().flatten() {
        *count.entry(heading).or_default() += 1;
    }
    let again: Vec<&str> = count
        .iter()
        .filter(|(_, n)| **n >= 2)
        .map(|(name, _)| *name)
        .collect();
    let mut last: Option<&String> = None;
    let mut nearest: Option<&String> = None;
    let mut found = Vec::new();
    let mut met: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut printed: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (headings, format) in own.iter().zip(formats) {
        for heading in headings {
            if again.contains(&heading.as_str()) {
                nearest = Some(heading);
            } else {
                (last, nearest) = (Some(heading), None);
            }
        }
        let named = last.zip(nearest);
        if let Some((section, name)) = named.filter(|_| !headings.is_empty()) {
            met.entry(section).or_default().push(name);
            printed.insert((name, format));
        }
        found.push(named.map(|(section, name)| (section.clone(), name.clone())));
    }
    // Each stands below each, once.
    let mut below = met.values();
    let first = below.next()?;
    let distinct: BTreeSet<&&str> = first.iter().collect();
    let same = met.len() >= 2 && distinct.len() == first.len() && below.all(|names| names == first);
    let sections: Vec<&str> = met.keys().copied().collect();
    let (across, within) = (differing(&sections), differing(first));
    // `after` below `before, with a pool` is no part of it.
    let opposed = |(section, names): (&&str, &Vec<&str>)| {
        let mut names = names.iter();
        names.any(|name| differing(&[*section, *name]) >= OPPOSITE)
    };
    if met.iter().any(opposed) {
        return None;
    }
    // What different tools printed is not compared with each other.
    let tools: BTreeSet<&str> = printed.iter().map(|(_, format)| *format).collect();
    let apart = tools.len() == first.len() && printed.len() == first.len();
    let by_section = apart || within < CONTRAST && across >= CONTRAST;
    (same && by_section).then_some(found)
}

/// Notes headings that come again in the same order below others.
pub(super) fn note_recurring(blocks: &mut [Headed]) -> Vec<bool> {
    let mut recurring = vec![false; blocks.len()];
    let depths: BTreeSet<u8> = blocks.iter().map(|(placed, ..)| placed.depth).collect();
    for depth in depths {
        let here: Vec<usize> = (0..blocks.len())
            .filter(|&at| blocks[at].0.depth == depth && blocks[at].0.format != "prose")
            .collect();
        let names: Vec<(&str, &str)> = here
            .iter()
            .filter_map(|&at| Some((blocks[at].2.as_deref()?, blocks[at].1.as_deref()?)))
            .collect();
        let formats: BTreeSet<&str> = here.iter().map(|&at| blocks[at].0.format).collect();
        if names.len() == here.len() && formats.len() == 1 && is_recurring(&names) {
            for at in here {
                recurring[at] = true;
            }
        }
    }
    recurring
}

/// Whether below each of several outer headings the same inner ones stand, in one
/// order, and nothing says that the outer ones are the configurations.
fn is_recurring(names: &[(&str, &str)]) -> bool {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for (outer, inner) in names {
        match groups.last_mut() {
            Some((last, inners)) if last == outer => {
                if inners.last() != Some(inner) {
                    inners.push(inner);
                }
            }
            _ => groups.push((outer, vec![inner])),
        }
    }
    let outers: Vec<&str> = groups.iter().map(|(outer, _)| *outer).collect();
    let distinct = |names: &[&str]| names.iter().collect::<BTreeSet<_>>().len() == names.len();
    let Some((_, first)) = groups.first() else {
        return false;
    };
    groups.len() >= 2
        && first.len() >= 2
        && distinct(&outers)
        && distinct(first)
        && groups.iter().all(|(_, inners)| inners == first)
        && differing(&outers) < CONTRAST
        && first.iter().all(|name| workload_score(name) == 0)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn own(blocks: &[&[&str]]) -> Vec<Vec<String>> {
        let owned = |names: &&[&str]| names.iter().map(|name| (*name).to_string()).collect();
        blocks.iter().map(owned).collect()
    }

    #[test]
    fn what_comes_again_in_each_section_was_measured_in_each() {
        let blocks: &[&[&str]] = &[
            &["before the change", "iostat output"],
            &["fio output"],
            &["after the change", "iostat output"],
            &["fio output"],
        ];
        let found = sections(&own(blocks), &["table"; 4]);
        let names: Vec<(String, String)> = found.unwrap().into_iter().flatten().collect();
        assert_eq!(names[1], ("before the change".into(), "fio output".into()));
        assert_eq!(names[3], ("after the change".into(), "fio output".into()));
    }

    #[test]
    fn configurations_that_come_again_stay_configurations() {
        assert_eq!(
            sections(
                &own(&[
                    &["hackbench", "base"],
                    &["patched"],
                    &["netperf", "base"],
                    &["patched"]
                ]),
                &["table"; 4]
            ),
            None
        );
        // Two runs of each.
        assert_eq!(
            sections(
                &own(&[&["base"], &["patched"], &["base"], &["patched"]]),
                &["table"; 4]
            ),
            None
        );
    }

    #[test]
    fn a_heading_that_says_the_opposite_of_a_section_is_no_part_of_it() {
        let blocks: &[&[&str]] = &[
            &["fixed width, before"],
            &["after"],
            &["variable width, before"],
            &["after"],
        ];
        assert_eq!(sections(&own(blocks), &["table"; 4]), None);
    }

    #[test]
    fn the_same_two_headings_below_others_recur() {
        let names = [
            ("read", "alpha"),
            ("read", "beta"),
            ("write", "alpha"),
            ("write", "beta"),
        ];
        assert!(!is_recurring(&names[..2]));
        assert!(is_recurring(&names));
        let turned = [
            ("before", "alpha"),
            ("before", "beta"),
            ("after", "alpha"),
            ("after", "beta"),
        ];
        assert!(!is_recurring(&turned));
        let workloads = [("x", "read"), ("x", "write"), ("y", "read"), ("y", "write")];
        assert!(!is_recurring(&workloads));
    }
}
