//! Messages in which too much speaks against how their figures were grouped.
//!
//! A comparison can have every sign of one and be put together wrong: a name
//! that is half a workload, two tables that became one, a heading that holds
//! for less than what stands below it. It shows in the message as a whole, in
//! what was compared and in what was left over. Each thing that shows it has
//! points, which stand in one table; at [`BAR`] of them nothing of the message
//! is judged but what a tool compares by itself. How the points were chosen is in `docs/corpus.md`.

use std::collections::{BTreeMap, BTreeSet};

use assize_bundle::{Doubt, Place};

use super::Item;
use super::assemble::name_of;
use crate::admission::candidates::Admission;
use crate::admission::contrast;
use crate::admission::wording::Wording;
use crate::grammar::Finding;
use crate::grammar::echoed::ECHOED;
use crate::grammar::lkp::LKP;
use crate::grammar::profile::PROFILE;
use crate::roles::NamedBy;

/// So many points and more leave a message unjudged.
const BAR: u32 = 3;
/// A name of more characters is seldom that of a configuration.
const LONG_NAME: usize = 25;
/// So many lines that look like data and were not understood are many.
const MANY_LINES: usize = 5;
/// So many lines of decimal fractions that were not read are many.
const MANY_ROWS: usize = 3;
/// So many rounds of two commands are no accident.
const ROUNDS: usize = 3;

/// What speaks against how the figures of a message were grouped, its points
/// and how `--explain` says it.
#[rustfmt::skip]
const WEIGHTS: [(Unclear, u32, &str); 13] = [
    (Unclear::NowhereAll,       2, "no workload that was measured with all configurations"),
    (Unclear::Chain,            1, "configurations that are compared by way of others only"),
    (Unclear::OftenAlone,       3, "workloads of which one configuration was measured"),
    (Unclear::SeveralBases,     3, "several names of what one change is compared with"),
    (Unclear::CommandsTakeTurns, 2, "two commands that take turns under one heading"),
    (Unclear::ManyNames,        1, "more than two configurations"),
    (Unclear::LongNames,        1, "long names of configurations"),
    (Unclear::UnknownNames,     1, "names that are not known for those of configurations"),
    (Unclear::SpelledTwice,     2, "names that differ in how they are spelled"),
    (Unclear::RefusedBeside,    1, "names beside them that were not taken for configurations"),
    (Unclear::ReadByLikeness,   1, "lines that were read because they are alike"),
    (Unclear::NotUnderstood,    1, "lines that look like data and were not understood"),
    (Unclear::UnreadFractions,  1, "lines of figures that were not read"),
];

/// What speaks against how the figures of a message were grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unclear {
    /// No metric of a workload has figures of all configurations.
    NowhereAll,
    /// A is compared with B and B with C, and nowhere all three with each
    /// other.
    Chain,
    /// Of more than three in ten metrics of workloads, the workload was measured
    /// with one configuration only.
    OftenAlone,
    /// What was before stands under several longer names and the change under a bare one,
    /// `after`, which is short for as many.
    SeveralBases,
    /// Under one heading two commands take turns, as those that are compared do.
    CommandsTakeTurns,
    ManyNames,
    LongNames,
    /// None of the names is that of a baseline, a change or a version, the
    /// opposite of another, or the value of a setting.
    UnknownNames,
    /// Two names differ in a plural or in hyphens only.
    SpelledTwice,
    /// Names were refused.
    RefusedBeside,
    /// Lines of no known format say the same but for their figures.
    ReadByLikeness,
    NotUnderstood,
    UnreadFractions,
}

/// What was read of a message.
#[derive(Default)]
struct Read<'a> {
    /// Configurations that have a figure, by workload and metric.
    cells: BTreeMap<(&'a str, &'a str), BTreeSet<String>>,
    /// Workloads whose runs follow each other below a heading, by the heading's name.
    turns: BTreeMap<String, Vec<&'a str>>,
    by_likeness: bool,
    first: Option<Place>,
}

impl<'a> Read<'a> {
    fn add(&mut self, item: &'a Item, name: &str) {
        // Which symbols take the time is not compared, and what a tool compares is clear.
        if item.format == PROFILE || is_compared_by_tool(item) {
            return;
        }
        let mut add = |metric: &'a str| {
            let workload = item.workload_name.as_deref().unwrap_or_default();
            let cell = self.cells.entry((workload, metric)).or_default();
            cell.insert(name.to_string());
        };
        match &item.finding {
            Finding::Run { figures, .. } => figures.iter().for_each(|f| add(&f.metric)),
            Finding::Summary { figure, .. } => add(&figure.metric),
            Finding::Events { event, .. } => add(event),
            _ => return,
        }
        if let (NamedBy::Heading, Some(workload)) = (item.named_by, &item.workload_name) {
            let turns = self.turns.entry(name.to_string()).or_default();
            if turns.last() != Some(&workload.as_str()) {
                turns.push(workload);
            }
        }
        self.by_likeness |= item.format == ECHOED;
        self.first.get_or_insert(item.place);
    }

    /// What speaks against it. Nothing, where nothing is compared.
    fn unclear(&self, admissions: &[&Admission], wording: &Wording) -> Vec<Unclear> {
        let sets = sets(self.cells.values());
        let compared: BTreeSet<&String> = sets.iter().flatten().copied().collect();
        if compared.is_empty() {
            return Vec::new();
        }
        let all: BTreeSet<&String> = self.cells.values().flatten().collect();
        let beside = |set: &BTreeSet<&String>| {
            let mut cells = self.cells.values();
            cells.any(|cell| set.iter().all(|name| cell.contains(*name)))
        };
        let mut workloads: BTreeMap<&str, BTreeSet<&String>> = BTreeMap::new();
        for ((workload, _), cell) in &self.cells {
            workloads.entry(workload).or_default().extend(cell);
        }
        let of_one = |workload: &str| workloads.get(workload).is_some_and(|w| w.len() == 1);
        let alone = self.cells.keys().filter(|(w, _)| of_one(w)).count();
        let there = |of: &Unclear| match of {
            Unclear::NowhereAll => !beside(&all),
            Unclear::Chain => !sets.iter().all(beside),
            Unclear::OftenAlone => alone > 1 && 10 * alone > 3 * self.cells.len(),
            Unclear::SeveralBases => several_bases(&compared),
            Unclear::CommandsTakeTurns => self.turns.values().any(|turns| take_turns(turns)),
            Unclear::ManyNames => compared.len() > 2,
            Unclear::LongNames => compared.iter().any(|n| n.chars().count() > LONG_NAME),
            Unclear::UnknownNames => !admissions.iter().any(|one| one.names_known),
            Unclear::SpelledTwice => {
                let spelled: BTreeSet<Vec<String>> = compared.iter().map(|n| stems(n)).collect();
                spelled.len() < compared.len()
            }
            Unclear::RefusedBeside => admissions.iter().any(|one| !one.refused.is_empty()),
            Unclear::ReadByLikeness => self.by_likeness,
            Unclear::NotUnderstood => wording.not_understood >= MANY_LINES,
            Unclear::UnreadFractions => wording.unread_fractions >= MANY_ROWS,
        };
        let known = WEIGHTS.iter().map(|(unclear, ..)| *unclear);
        known.filter(there).collect()
    }
}

/// Whether its tool compares configurations and says which one the item is of. A report of
/// the kernel test robot, which may hold figures of several commits and of others' reports,
/// is no output of one tool alone.
pub(super) fn is_compared_by_tool(item: &Item) -> bool {
    item.format != LKP && item.named_by.is_comparing_tool(item.format)
}

/// Whether one bare word names the change, and several longer names what was before it.
fn several_bases(names: &BTreeSet<&String>) -> bool {
    let parsed = || names.iter().map(|name| (*name, contrast::Name::of(name)));
    let bare = |name: &str| !name.contains(char::is_whitespace);
    let change = parsed().any(|(name, parsed)| bare(name) && parsed.is_change());
    let bases = parsed().filter(|(name, parsed)| !bare(name) && parsed.is_base());
    change && bases.count() >= 2
}

/// Whether two names take turns at least [`ROUNDS`] times.
fn take_turns(names: &[&str]) -> bool {
    let distinct: BTreeSet<&&str> = names.iter().collect();
    distinct.len() == 2 && names.len() >= 2 * ROUNDS
}

/// The words of a name, each without the `s` of a plural.
fn stems(name: &str) -> Vec<String> {
    let lower = name.to_lowercase();
    let words = lower.split(|c: char| c.is_whitespace() || c == '-');
    let stem = |word: &str| match word.strip_suffix('s') {
        Some(stem) if stem.len() >= 3 => stem.to_owned(),
        _ => word.to_owned(),
    };
    words.filter(|word| !word.is_empty()).map(stem).collect()
}

/// Configurations that are compared, each with those that it is compared with
/// directly or by way of others.
fn sets<'c>(cells: impl Iterator<Item = &'c BTreeSet<String>>) -> Vec<BTreeSet<&'c String>> {
    let mut sets: Vec<BTreeSet<&String>> = Vec::new();
    for cell in cells.filter(|cell| cell.len() > 1) {
        let mut joined: BTreeSet<&String> = cell.iter().collect();
        sets.retain(|set| {
            let apart = set.is_disjoint(&joined);
            if !apart {
                joined.extend(set);
            }
            apart
        });
        sets.push(joined);
    }
    sets
}

/// The messages of which nothing is judged but what a tool compares, and what `--explain`
/// says of each in which something speaks against it.
pub(super) fn unclear(
    items: &[Item],
    names: &BTreeMap<String, String>,
    admissions: &[Admission],
    wordings: &BTreeMap<u32, Wording>,
    doubts: &mut Vec<Doubt>,
) -> (BTreeSet<u32>, Vec<(Place, String)>) {
    let mut messages: BTreeMap<u32, Read<'_>> = BTreeMap::new();
    for item in items {
        let read = messages.entry(item.stand.0).or_default();
        read.add(item, &name_of(item, names));
    }
    let (mut unjudged, mut said) = (BTreeSet::new(), Vec::new());
    let nothing = Wording::default();
    for (message, read) in messages {
        let here = admissions.iter().filter(|one| one.place.message == message);
        let here: Vec<&Admission> = here.collect();
        let wording = wordings.get(&message).unwrap_or(&nothing);
        let found = read.unclear(&here, wording);
        let (Some(place), false) = (read.first, found.is_empty()) else {
            continue;
        };
        let (points, words) = weighed(&found);
        if points >= BAR {
            unjudged.insert(message);
            doubts.push(Doubt {
                code: "not-judged".to_string(),
                detail: format!(
                    "read, not judged: it is not clear what is compared in this message \
                     ({words}); --configuration 'REGEX=NAME' names it"
                ),
                place,
            });
        }
        said.push((
            place,
            format!("against judging the message: {points} of {BAR} points ({words})"),
        ));
    }
    (unjudged, said)
}

/// Points of all together, and each in words.
fn weighed(found: &[Unclear]) -> (u32, String) {
    let weights = WEIGHTS.iter().filter(|(one, ..)| found.contains(one));
    let points = weights.clone().map(|(_, points, _)| points).sum();
    let words: Vec<String> = weights
        .map(|(_, points, says)| format!("{says} +{points}"))
        .collect();
    (points, words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What speaks against a message in which these workloads have a figure of these
    /// configurations, of names that are known.
    fn against(cells: &[(&str, &[&str])]) -> Vec<Unclear> {
        against_with(cells, true, &Wording::default())
    }

    fn against_with(cells: &[(&str, &[&str])], known: bool, wording: &Wording) -> Vec<Unclear> {
        let mut read = Read::default();
        for (workload, names) in cells {
            let names = names.iter().map(|name| (*name).to_string());
            read.cells.insert((workload, "time"), names.collect());
        }
        read.unclear(&[&admission(known, &[])], wording)
    }

    fn admission(names_known: bool, refused: &[&str]) -> Admission {
        Admission {
            workload: "w".to_string(),
            place: Place::default(),
            refused: refused.iter().map(|name| (*name).to_string()).collect(),
            names_known,
            said: Vec::new(),
            missing: None,
        }
    }

    #[test]
    fn the_page_on_auditing_has_the_same_points() {
        let page = include_str!("../../../../docs/audit.md");
        let (_, table) = page.split_once("\n| against the grouping | |\n").unwrap();
        let rows = table.lines().skip(1).take_while(|row| row.starts_with('|'));
        let written: Vec<u32> = rows
            .filter_map(|row| row.trim_end_matches(" |").rsplit("| ").next())
            .map(|points| points.parse().unwrap())
            .collect();
        let weights: Vec<u32> = WEIGHTS.iter().map(|(_, points, _)| *points).collect();
        assert_eq!(written, weights);
        assert!(page.contains(&format!("if {BAR} points speak against how")));
    }

    #[test]
    fn nothing_speaks_against_two_names_over_all_workloads() {
        let cells: [(&str, &[&str]); 2] = [("v", &["base", "new"]), ("w", &["base", "new"])];
        assert_eq!(against(&cells), []);
        // One workload of three may lack one of them.
        assert_eq!(against(&[cells[0], cells[1], ("x", &["base"])]), []);
        // Nothing is compared.
        assert_eq!(against(&[("v", &["base"]), ("w", &["new"])]), []);
    }

    #[test]
    fn names_that_nowhere_stand_together_speak_against_it_and_more_so_a_chain() {
        let apart: [(&str, &[&str]); 2] = [("v", &["a", "b"]), ("w", &["c", "d"])];
        assert_eq!(against(&apart), [Unclear::NowhereAll, Unclear::ManyNames]);
        let chain: [(&str, &[&str]); 2] = [("v", &["a", "b"]), ("w", &["b", "c"])];
        let found = against(&chain);
        let all = [Unclear::NowhereAll, Unclear::Chain, Unclear::ManyNames];
        assert_eq!(found, all);
        assert!(weighed(&found).0 > BAR);
        let closed = [chain[0], chain[1], ("x", &["a", "b", "c"])];
        assert_eq!(against(&closed), [Unclear::ManyNames]);
        // The last cell joins what were two sets, and a name may stand alone.
        let joined = [apart[0], apart[1], ("x", &["b", "c"])];
        assert_eq!(against(&joined), all);
        let lone: [(&str, &[&str]); 3] = [apart[0], ("w", &["a", "b"]), ("x", &["c"])];
        assert_eq!(against(&lone), [Unclear::NowhereAll]);
    }

    #[test]
    fn workloads_of_one_name_speak_against_it_if_they_are_many() {
        let cells: [(&str, &[&str]); 5] = [
            ("v", &["base", "new"]),
            ("w", &["base"]),
            ("x", &["new"]),
            ("y", &["base", "new"]),
            ("z", &["base", "new"]),
        ];
        assert_eq!(against(&cells), [Unclear::OftenAlone]);
        let more: [(&str, &[&str]); 2] = [("s", &["base", "new"]), ("t", &["base", "new"])];
        assert_eq!(against(&[&cells[..], &more].concat()), []);
    }

    #[test]
    fn two_commands_that_take_turns_three_times_speak_against_it() {
        let found = |turns: &[&'static str]| {
            let mut read = Read::default();
            let names = ["base", "new"].map(str::to_string);
            read.cells.insert(("v", "time"), names.into());
            read.turns.insert("base".to_string(), turns.to_vec());
            read.unclear(&[&admission(true, &[])], &Wording::default())
        };
        let turns = ["v", "w", "v", "w", "v", "w"];
        assert_eq!(found(&turns), [Unclear::CommandsTakeTurns]);
        assert_eq!(found(&turns[..5]), []);
        assert_eq!(found(&["v", "w", "x", "v", "w", "x"]), []);
    }

    #[test]
    fn names_speak_against_it_by_length_and_by_what_is_not_known_of_them() {
        let long = "a new allocator, measured twice";
        let named: [(&str, &[&str]); 1] = [("v", &["base", long])];
        assert_eq!(against(&named), [Unclear::LongNames]);
        let nothing = Wording::default();
        let unknown = against_with(&[("v", &["x", "y"])], false, &nothing);
        assert_eq!(unknown, [Unclear::UnknownNames]);
    }

    #[test]
    fn one_bare_change_has_one_base() {
        let of = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_string()).collect();
            several_bases(&names.iter().collect())
        };
        assert!(of(&["x before the patch", "y before the patch", "after"]));
        assert!(!of(&["x before the patch", "after"]));
        assert!(!of(&["before", "after patch one", "after patch two"]));
    }

    #[test]
    fn what_was_refused_or_left_over_speaks_against_it() {
        let mut read = Read::default();
        let names = ["base", "new"].map(str::to_string);
        read.cells.insert(("v", "time"), names.into());
        read.by_likeness = true;
        let mut wording = Wording::default();
        wording.not_understood = MANY_LINES - 1;
        wording.unread_fractions = MANY_ROWS - 1;
        let known = admission(true, &[]);
        let found = read.unclear(&[&known], &wording);
        assert_eq!(found, [Unclear::ReadByLikeness]);
        wording.not_understood += 1;
        wording.unread_fractions += 1;
        let refused = admission(true, &["queue depth"]);
        let found = read.unclear(&[&known, &refused], &wording);
        assert_eq!(
            found,
            [
                Unclear::RefusedBeside,
                Unclear::ReadByLikeness,
                Unclear::NotUnderstood,
                Unclear::UnreadFractions,
            ]
        );
        assert!(weighed(&found).0 > BAR);
    }
}
