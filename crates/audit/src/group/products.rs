//! Headings that each name what was done and the state it was done in:
//!
//! ```text
//! Reads without batching:        Reads, before:
//!   …                              …
//! Writes without batching:       Reads, after:
//!   …                              …
//! Reads with batching:           Writes, before:
//!   …                              …
//! Writes with batching:          Writes, after:
//!   …                              …
//! ```
//!
//! Each work stands once in each of two states that are the opposite of each other: the
//! states are the configurations, the works are none.

use std::collections::{BTreeMap, BTreeSet};

use crate::grammar::Finding;
use crate::roles::differing;
use crate::scan::Placed;
use crate::states;

/// A block with the headings above it, the nearest first.
type Headed = (Placed, Option<String>, Option<String>);

/// Names that say the opposite of each other have so many points.
const OPPOSITE: i32 = 4;
/// A heading has no more words.
const WORDS: usize = 12;

/// Puts the state in the place of headings that are a work in a state; gives back the work
/// of each block for which that was done.
pub(super) fn name_by_state(blocks: &mut [Headed]) -> Vec<Option<String>> {
    let mut works = vec![None; blocks.len()];
    let depths: BTreeSet<u8> = blocks.iter().map(|(placed, ..)| placed.depth).collect();
    for depth in depths {
        let here: Vec<usize> = (0..blocks.len())
            .filter(|&at| blocks[at].0.depth == depth && blocks[at].0.format != "prose")
            .filter(|&at| blocks[at].1.as_deref().and_then(parted).is_some())
            .collect();
        let outers: BTreeSet<&Option<String>> = here.iter().map(|&at| &blocks[at].2).collect();
        let headings: BTreeSet<&str> = here
            .iter()
            .filter_map(|&at| blocks[at].1.as_deref())
            .collect();
        let Some(parts) = product(&headings).filter(|_| outers.len() == 1) else {
            continue;
        };
        let parts: BTreeMap<String, (String, String)> = parts
            .into_iter()
            .map(|(heading, parts)| (heading.to_owned(), parts))
            .collect();
        for &at in &here {
            let heading = blocks[at].1.take();
            if let Some((work, state)) = heading.as_ref().and_then(|text| parts.get(text)) {
                (blocks[at].1, works[at]) = (Some(state.clone()), Some(work.clone()));
            } else {
                blocks[at].1 = heading;
            }
        }
        add_programs(blocks, &here, &mut works);
    }
    works
}

/// Where one work in one state was measured with several commands, each is a work of its own.
fn add_programs(blocks: &[Headed], here: &[usize], works: &mut [Option<String>]) {
    let program = |at: usize| {
        let (placed, ..) = &blocks[at];
        let (_, command) = placed
            .command
            .as_ref()
            .filter(|_| !placed.heading_is_nearer)?;
        super::names::program(command).map(super::joined)
    };
    let mut commands: BTreeMap<_, BTreeSet<Option<String>>> = BTreeMap::new();
    for &at in here {
        let cell = (works[at].as_ref(), blocks[at].1.as_ref());
        commands.entry(cell).or_default().insert(program(at));
    }
    if commands.values().all(|commands| commands.len() < 2) {
        return;
    }
    for &at in here {
        if let (Some(work), Some(program)) = (&mut works[at], program(at)) {
            *work = format!("{work} {program}");
        }
    }
}

/// Puts a work before those that the findings of a block name, where these name no
/// configuration.
pub(super) fn put_to_work(placed: &mut Placed, work: &str) {
    for (_, finding) in &mut placed.findings {
        let (Finding::Run { labels, .. }
        | Finding::Summary { labels, .. }
        | Finding::Events { labels, .. }
        | Finding::Statement { labels, .. }
        | Finding::Unsupported { labels, .. }) = finding
        else {
            continue;
        };
        if labels.configuration.is_none() {
            labels.workload = Some(match &labels.workload {
                Some(own) => format!("{work} {own}"),
                None => work.to_owned(),
            });
        }
    }
}

/// The work and the state that a heading names: the state stands behind it, or is one bare
/// word before it.
fn parted(heading: &str) -> Option<(String, String)> {
    let text = heading.trim().trim_end_matches([':', '.', ' ']);
    // What stands in brackets is taken apart where all else is known.
    if text.contains(['(', '[']) {
        return None;
    }
    let marks = |c: char| matches!(c, ',' | ':' | ';' | '-' | '=');
    let words: Vec<&str> = text
        .split_whitespace()
        .map(|word| word.trim_matches(marks))
        .filter(|word| !word.is_empty())
        .collect();
    if words.len() < 2 || words.len() > WORDS {
        return None;
    }
    let at = words
        .iter()
        .position(|word| states::opposed(&word.to_lowercase()))?;
    let (work, state) = match at {
        0 if states::begins_with_state(words.first()?) => (words.get(1..)?, words.get(..1)?),
        0 => return None,
        at => (words.get(..at)?, words.get(at..)?),
    };
    Some((work.join(" ").to_lowercase(), state.join(" ")))
}

/// The works and states of headings, by heading, if each work has each of two states once.
fn product<'t>(headings: &BTreeSet<&'t str>) -> Option<BTreeMap<&'t str, (String, String)>> {
    let mut parts: BTreeMap<&str, (String, String)> = headings
        .iter()
        .filter_map(|heading| Some((*heading, parted(heading)?)))
        .collect();
    let mut by_state: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (work, state) in parts.values() {
        let works = by_state.entry(state.to_lowercase()).or_default();
        if !works.insert(work.clone()) {
            return None;
        }
    }
    let [(first, ours), (second, theirs)] = &Vec::from_iter(&by_state)[..] else {
        return None;
    };
    if differing(&[first.as_str(), second.as_str()]) < OPPOSITE || ours.len() < 2 {
        return None;
    }
    let alone = |of: &BTreeSet<String>, other: &BTreeSet<String>| -> Vec<String> {
        of.difference(other).cloned().collect()
    };
    match (&alone(ours, theirs)[..], &alone(theirs, ours)[..]) {
        ([], []) => {}
        // One is called by a word more: `reads` and `random reads` beside nothing else.
        ([a], [b]) if ours.len() >= 2 && (within(a, b) || within(b, a)) => {
            let (short, long) = if within(a, b) { (a, b) } else { (b, a) };
            for (work, _) in parts.values_mut().filter(|(work, _)| work == short) {
                work.clone_from(long);
            }
        }
        _ => return None,
    }
    Some(parts)
}

/// Whether all words of a name stand in another one.
fn within(short: &str, long: &str) -> bool {
    let words: BTreeSet<&str> = long.split(' ').collect();
    short.split(' ').all(|word| words.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn post(headings: [&str; 4]) -> String {
        let tables = headings.iter().zip([30, 40, 50, 60]).map(|(heading, n)| {
            format!(
                "{heading}\nblock size | BW | 99th latency\n512B | {n}.5MB/s | {n}1 usec\n\
                 4k | {n}.7MB/s | {n}2 usec\n64k | {n}.9MB/s | {n}3 usec\n\n"
            )
        });
        format!(
            "The throughput with fio was measured without and with batching.\n\n{}",
            tables.collect::<String>()
        )
    }

    /// The names of configurations, and of workloads.
    fn read(text: &str) -> (Vec<String>, Vec<String>) {
        let audit = crate::read(text.as_bytes(), "post", &Default::default()).unwrap();
        let records = audit.records;
        let workloads: BTreeSet<String> = records
            .runs
            .iter()
            .map(|run| run.workload.clone())
            .collect();
        let names = records.configurations.into_iter().map(|one| one.name);
        (names.collect(), workloads.into_iter().collect())
    }

    #[test]
    fn works_in_each_of_two_states_are_compared_by_state() {
        let (names, workloads) = read(&post([
            "Loads without batching:",
            "Async stores without batching:",
            "Async loads with batching:",
            "Async stores with batching:",
        ]));
        assert_eq!(names, ["without batching", "with batching"]);
        assert_eq!(workloads.len(), 6, "{workloads:?}");
        assert!(workloads.contains(&"async loads block size=4k".to_owned()));
        let (names, _) = read(&post([
            "Before: loads",
            "Before: stores",
            "After: loads",
            "After: stores",
        ]));
        assert_eq!(names, ["Before", "After"]);
    }

    #[test]
    fn what_is_no_product_stays_as_it_is() {
        for headings in [
            // Two works that nothing relates.
            [
                "loads without batching",
                "stores without batching",
                "scans with batching",
                "walks with batching",
            ],
            // Three states, and a work twice in one.
            [
                "loads without batching",
                "stores without batching",
                "loads with batching",
                "stores with a timer",
            ],
        ] {
            assert!(product(&BTreeSet::from(headings)).is_none(), "{headings:?}");
        }
        assert!(parted("Without batching").is_none() && parted("loads").is_none());
        let after = parted("After: loads").map(|(work, state)| format!("{work}|{state}"));
        assert_eq!(after.as_deref(), Some("loads|After"));
    }
}
