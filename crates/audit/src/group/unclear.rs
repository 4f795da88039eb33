//! Messages in which too much speaks against how their figures were grouped.
//!
//! A comparison can have every sign of one and be put together wrong: a name
//! that is half a workload, two tables that became one, a heading that holds
//! for less than what stands below it. It shows in all that a message has in one
//! form, in what was compared and in what was left over. Each thing that shows it, or
//! speaks against it, has points, which stand in one table; at [`GROUPING_BAR`] of them nothing of that
//! form is judged but what a tool compares by itself. How the points were chosen is in
//! `docs/corpus.md`.

use std::collections::{BTreeMap, BTreeSet};

use assize_bundle::{Doubt, Place};

use super::Item;
use super::assemble::name_of;
use crate::admission::candidates::Admission;
use crate::admission::wording::Wording;
use crate::admission::{Sign, contrast};
use crate::grammar::Finding;
use crate::grammar::echoed::ECHOED;
use crate::grammar::lkp::LKP;
use crate::grammar::profile::PROFILE;
use crate::grammar::sentence::SENTENCE;
use crate::roles::NamedBy;

/// So many points against how figures were grouped leave all of one form in a message
/// unjudged.
pub const GROUPING_BAR: i32 = 5;
/// A name of more characters is seldom that of a configuration or a metric.
const LONG_NAME: usize = 25;
/// So many lines that look like data and were not understood are many.
const MANY_LINES: usize = 5;
/// So many lines of decimal fractions that were not read are many.
const MANY_ROWS: usize = 3;
/// So many rounds of two commands are no accident.
const ROUNDS: usize = 3;
/// So many metrics of workloads have no figures of all configurations by accident.
const MANY_CELLS: usize = 8;
/// Figures that differ by a larger factor are seldom of one quantity.
const OTHER_SIZE: f64 = 10.0;

/// What speaks against how the figures of one form in a message were grouped, or for it, its
/// points and how `--explain` says it.
#[rustfmt::skip]
const WEIGHTS: [(Unclear, i32, &str); 28] = [
    (Unclear::NowhereAll,       4, "no workload that was measured with all configurations"),
    (Unclear::Chain,            2, "configurations that are compared by way of others only"),
    (Unclear::OftenAlone,       5, "workloads of which one configuration was measured"),
    (Unclear::SeveralBases,     5, "several names of what one change is compared with"),
    (Unclear::CommandsTakeTurns, 4, "two commands that take turns under one heading"),
    (Unclear::ManyNames,        3, "more than two configurations"),
    (Unclear::LongNames,        2, "long names of configurations"),
    (Unclear::UnknownNames,     2, "names that are not known for those of configurations"),
    (Unclear::NoState,          3, "no name of a baseline or a change"),
    (Unclear::Baselines,        2, "names of two baselines"),
    (Unclear::SpelledTwice,     4, "names that differ in how they are spelled"),
    (Unclear::RefusedBeside,    2, "names beside them that were not taken for configurations"),
    (Unclear::OtherSize,        3, "figures of another size under each name"),
    (Unclear::WholeNumbers,     2, "whole numbers without a unit"),
    (Unclear::UnequalRuns,      3, "more figures of one configuration than of another"),
    (Unclear::TablesAlike,      5, "tables that only their headings tell apart"),
    (Unclear::Guessed,          2, "roles of rows and columns that nothing confirms"),
    (Unclear::ReadByLikeness,   3, "lines that were read because they are alike"),
    (Unclear::OneMetricAlike,   2, "one metric of such lines"),
    (Unclear::LongMetricAlike,  2, "a long name of a metric of such lines"),
    (Unclear::WholeSentence,    5, "a sentence with whole numbers"),
    (Unclear::NotUnderstood,    1, "lines that look like data and were not understood"),
    (Unclear::UnreadFractions,  1, "lines of figures that were not read"),
    (Unclear::ChangesBeside,   -1, "a column of changes"),
    (Unclear::SpreadBeside,    -3, "a spread"),
    (Unclear::EqualRuns,       -3, "equally many runs of each configuration"),
    (Unclear::CountedEvents,   -2, "events that a tracer counted"),
    (Unclear::FullGrid,        -1, "many figures, each with one of every configuration"),
];

/// The points of a sign against how figures were grouped, or below zero for it, by the name
/// that the sign has in `corpus/readings.tsv`.
pub fn grouping_points(sign: &str) -> Option<i32> {
    let named = |(unclear, ..): &&(Unclear, i32, &str)| format!("{unclear:?}") == sign;
    WEIGHTS.iter().find(named).map(|(_, points, _)| *points)
}

/// What speaks for or against how the figures of one form in a message were grouped.
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
    /// None of the names is that of a baseline, a change or a version.
    NoState,
    /// Two names are of baselines.
    Baselines,
    /// Two names differ in a plural or in hyphens only.
    SpelledTwice,
    /// Names were refused.
    RefusedBeside,
    /// Half of the metrics and more have figures under two names of which one is more than
    /// [`OTHER_SIZE`] times the other.
    OtherSize,
    WholeNumbers,
    /// A metric has more figures of one configuration than of another.
    UnequalRuns,
    TablesAlike,
    Guessed,
    /// Lines of no known format say the same but for their figures.
    ReadByLikeness,
    OneMetricAlike,
    LongMetricAlike,
    /// Two whole numbers in a sentence, which may as well be of what was set.
    WholeSentence,
    NotUnderstood,
    UnreadFractions,
    ChangesBeside,
    SpreadBeside,
    /// Each metric has as many figures of one configuration as of another, and several.
    EqualRuns,
    /// A tracer whose header parts what it printed of each configuration has counted.
    CountedEvents,
    /// [`MANY_CELLS`] metrics of workloads and more have figures of all configurations, and no
    /// metric lacks one.
    FullGrid,
}

/// How figures stand in a message. What is read by a weaker rule has points of its own, which
/// do not speak against what is read by a stronger one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    /// In tables, lists and outputs of tools.
    Ordered,
    /// In lines that come again.
    Alike,
    /// In a sentence.
    Sentence,
}

/// What a message, by its number, has in one form.
pub(super) type Part = (u32, Form);

/// The part that an item is of.
pub(super) fn part_of(item: &Item) -> Part {
    let form = match item.format {
        ECHOED => Form::Alike,
        SENTENCE => Form::Sentence,
        _ => Form::Ordered,
    };
    (item.stand.0, form)
}

/// What a metric of a workload has under one name: how many figures, and their sum.
type Figures = (u32, f64);

/// What was read of a message in one form.
#[derive(Default)]
struct Read<'a> {
    /// Figures of configurations, by workload and metric.
    cells: BTreeMap<(&'a str, &'a str), BTreeMap<String, Figures>>,
    /// Workloads whose runs follow each other below a heading, by the heading's name.
    turns: BTreeMap<String, Vec<&'a str>>,
    /// Whether a tracer has counted events.
    events: bool,
    first: Option<Place>,
}

impl<'a> Read<'a> {
    fn add(&mut self, item: &'a Item, name: &str) {
        // Which symbols take the time is not compared, and what a tool compares is clear.
        if item.format == PROFILE || is_compared_by_tool(item) {
            return;
        }
        let mut add = |metric: &'a str, value: f64| {
            let workload = item.workload_name.as_deref().unwrap_or_default();
            let cell = self.cells.entry((workload, metric)).or_default();
            let (number, sum) = cell.entry(name.to_string()).or_default();
            *number += 1;
            *sum += value;
        };
        match &item.finding {
            Finding::Run { figures, .. } => figures.iter().for_each(|f| add(&f.metric, f.value)),
            Finding::Summary { figure, .. } => add(&figure.metric, figure.value),
            Finding::Events { event, count, .. } => add(event, *count as f64),
            _ => return,
        }
        if let (NamedBy::Heading, Some(workload)) = (item.named_by, &item.workload_name) {
            let turns = self.turns.entry(name.to_string()).or_default();
            if turns.last() != Some(&workload.as_str()) {
                turns.push(workload);
            }
        }
        self.events |= matches!(item.finding, Finding::Events { .. });
        self.first.get_or_insert(item.place);
    }

    /// Whether something was read on a workload.
    fn has(&self, workload: &str) -> bool {
        self.cells.keys().any(|(of, _)| *of == workload)
    }

    /// What speaks for or against it. Nothing, where nothing is compared.
    fn unclear(&self, form: Form, admissions: &[&Admission], wording: &Wording) -> Vec<Unclear> {
        let names = |cell: &BTreeMap<String, Figures>| cell.keys().cloned().collect();
        let cells: Vec<BTreeSet<String>> = self.cells.values().map(names).collect();
        let sets = sets(cells.iter());
        let compared: BTreeSet<&String> = sets.iter().flatten().copied().collect();
        if compared.is_empty() {
            return Vec::new();
        }
        let all: BTreeSet<&String> = cells.iter().flatten().collect();
        let beside = |set: &BTreeSet<&String>| {
            let mut cells = cells.iter();
            cells.any(|cell| set.iter().all(|name| cell.contains(*name)))
        };
        let mut workloads: BTreeMap<&str, BTreeSet<&String>> = BTreeMap::new();
        for ((workload, _), cell) in &self.cells {
            workloads.entry(workload).or_default().extend(cell.keys());
        }
        let of_one = |workload: &str| workloads.get(workload).is_some_and(|w| w.len() == 1);
        let alone = self.cells.keys().filter(|(w, _)| of_one(w)).count();
        let parsed = parsed(&compared);
        let signed = |sign: Sign| admissions.iter().any(|one| one.signs.contains(sign));
        let metrics: BTreeSet<&str> = self.compared().map(|((_, metric), _)| *metric).collect();
        let alike = form == Form::Alike;
        let there = |of: &Unclear| match of {
            Unclear::NowhereAll => !beside(&all),
            Unclear::Chain => !sets.iter().all(beside),
            Unclear::OftenAlone => alone > 1 && 10 * alone > 3 * self.cells.len(),
            Unclear::SeveralBases => several_bases(&parsed),
            Unclear::CommandsTakeTurns => self.turns.values().any(|turns| take_turns(turns)),
            Unclear::ManyNames => compared.len() > 2,
            Unclear::LongNames => compared.iter().any(|name| is_long(name)),
            Unclear::UnknownNames => !admissions.iter().any(|one| one.names_known),
            Unclear::NoState => !signed(Sign::Versions) && states(&parsed) == (0, 0),
            Unclear::Baselines => states(&parsed).0 > 1,
            Unclear::SpelledTwice => are_spelled_twice(&compared),
            Unclear::RefusedBeside => admissions.iter().any(|one| !one.refused.is_empty()),
            Unclear::OtherSize => self.is_of_other_size(),
            Unclear::WholeNumbers => !alike && signed(Sign::BareIntegers),
            Unclear::UnequalRuns => self.compared().any(|(_, cell)| runs(cell).is_none()),
            Unclear::TablesAlike => signed(Sign::SameTableUnderEach),
            Unclear::Guessed => signed(Sign::Guessed),
            Unclear::ReadByLikeness => alike,
            Unclear::OneMetricAlike => alike && metrics.len() == 1,
            Unclear::LongMetricAlike => alike && metrics.iter().any(|metric| is_long(metric)),
            Unclear::WholeSentence => form == Form::Sentence && !signed(Sign::Fractions),
            Unclear::NotUnderstood => wording.not_understood >= MANY_LINES,
            Unclear::UnreadFractions => wording.unread_fractions >= MANY_ROWS,
            Unclear::ChangesBeside => signed(Sign::ChangeColumn),
            Unclear::SpreadBeside => signed(Sign::SpreadGiven),
            Unclear::EqualRuns => self.compared().all(|(_, cell)| runs(cell) > Some(1)),
            Unclear::CountedEvents => self.events,
            Unclear::FullGrid => {
                let mut cells = self.compared();
                self.compared().count() >= MANY_CELLS
                    && cells.all(|(_, cell)| cell.len() == compared.len())
            }
        };
        let known = WEIGHTS.iter().map(|(unclear, ..)| *unclear);
        known.filter(there).collect()
    }

    /// The cells in which something is compared.
    fn compared(&self) -> impl Iterator<Item = (&(&'a str, &'a str), &BTreeMap<String, Figures>)> {
        self.cells.iter().filter(|(_, cell)| cell.len() > 1)
    }

    /// Whether the means under two names differ by more than [`OTHER_SIZE`] in half of the
    /// cells.
    fn is_of_other_size(&self) -> bool {
        let (mut other, mut all) = (0, 0);
        for (_, cell) in self.compared() {
            let means = || cell.values().map(|(number, sum)| sum / f64::from(*number));
            let least = means().fold(f64::INFINITY, f64::min);
            let most = means().fold(f64::NEG_INFINITY, f64::max);
            other += usize::from(most > OTHER_SIZE * least && most != least);
            all += 1;
        }
        other > 0 && 2 * other >= all
    }
}

/// How many figures each configuration has, if all have equally many.
fn runs(cell: &BTreeMap<String, Figures>) -> Option<u32> {
    let mut numbers = cell.values().map(|(number, _)| *number);
    let first = numbers.next()?;
    numbers.all(|number| number == first).then_some(first)
}

/// Whether a name is longer than those of configurations and metrics are.
fn is_long(name: &str) -> bool {
    name.chars().count() > LONG_NAME
}

/// A name, and what it says.
type Parsed<'n> = (&'n str, contrast::Name);

fn parsed<'n>(names: &BTreeSet<&'n String>) -> Vec<Parsed<'n>> {
    let each = names
        .iter()
        .map(|name| (name.as_str(), contrast::Name::of(name)));
    each.collect()
}

/// How many of the names are of a baseline, and how many of a change.
fn states(names: &[Parsed<'_>]) -> (usize, usize) {
    let of = |is: fn(&contrast::Name) -> bool| names.iter().filter(|(_, name)| is(name)).count();
    (of(contrast::Name::is_base), of(contrast::Name::is_change))
}

/// Whether its tool compares configurations and says which one the item is of. A report of
/// the kernel test robot, which may hold figures of several commits and of others' reports,
/// is no output of one tool alone.
pub(super) fn is_compared_by_tool(item: &Item) -> bool {
    item.format != LKP && item.named_by.is_comparing_tool(item.format)
}

/// Whether one bare word names the change, and several longer names what was before it.
fn several_bases(names: &[Parsed<'_>]) -> bool {
    let bare = |name: &str| !name.contains(char::is_whitespace);
    let change = |(name, parsed): &Parsed<'_>| bare(name) && parsed.is_change();
    let base = |(name, parsed): &&Parsed<'_>| !bare(name) && parsed.is_base();
    let bases = names.iter().filter(base);
    names.iter().any(change) && bases.count() >= 2
}

/// Whether two names take turns at least [`ROUNDS`] times.
fn take_turns(names: &[&str]) -> bool {
    let distinct: BTreeSet<&&str> = names.iter().collect();
    distinct.len() == 2 && names.len() >= 2 * ROUNDS
}

/// Whether names differ in a plural or in hyphens only.
fn are_spelled_twice(names: &BTreeSet<&String>) -> bool {
    let spelled: BTreeSet<Vec<String>> = names.iter().map(|name| stems(name)).collect();
    spelled.len() < names.len()
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

/// The forms in messages of which nothing is judged but what a tool compares, and what
/// `--explain` says of each in which something speaks against it.
pub(super) fn unclear(
    items: &[Item],
    names: &BTreeMap<String, String>,
    admissions: &[Admission],
    wordings: &BTreeMap<u32, Wording>,
    doubts: &mut Vec<Doubt>,
) -> (BTreeSet<Part>, Vec<(Place, String)>) {
    let mut parts: BTreeMap<Part, Read<'_>> = BTreeMap::new();
    for item in items {
        let read = parts.entry(part_of(item)).or_default();
        read.add(item, &name_of(item, names));
    }
    let (mut unjudged, mut said) = (BTreeSet::new(), Vec::new());
    let nothing = Wording::default();
    for ((message, form), read) in parts {
        let of_it = |one: &&Admission| one.place.message == message && read.has(&one.workload);
        let here: Vec<&Admission> = admissions.iter().filter(of_it).collect();
        let wording = wordings.get(&message).unwrap_or(&nothing);
        let found = read.unclear(form, &here, wording);
        let (points, words) = weighed(&found);
        let (Some(place), true) = (read.first, points > 0) else {
            continue;
        };
        if points >= GROUPING_BAR {
            unjudged.insert((message, form));
            doubts.push(Doubt {
                code: "not-judged".to_string(),
                detail: format!(
                    "read, not judged: it is not clear what is compared here ({words}); \
                     --configuration 'REGEX=NAME' names it"
                ),
                place,
            });
        }
        said.push((
            place,
            format!("against how it is grouped: {points} of {GROUPING_BAR} points ({words})"),
        ));
    }
    (unjudged, said)
}

/// Points of all together, and each in words.
fn weighed(found: &[Unclear]) -> (i32, String) {
    let weights = WEIGHTS.iter().filter(|(one, ..)| found.contains(one));
    let points = weights.clone().map(|(_, points, _)| points).sum();
    let words: Vec<String> = weights
        .map(|(_, points, says)| format!("{says} {points:+}"))
        .collect();
    (points, words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::Signs;

    /// What speaks against a message in which these workloads have a figure of these
    /// configurations, of names that are known.
    fn against(cells: &[(&str, &[&str])]) -> Vec<Unclear> {
        of_form(Form::Ordered, &read(cells), &[])
    }

    /// What speaks for or against what was read in one form, with these signs.
    fn of_form(form: Form, read: &Read<'_>, signs: &[Sign]) -> Vec<Unclear> {
        read.unclear(form, &[&admission(true, &[], signs)], &Wording::default())
    }

    /// A figure of each of these configurations on each workload, all the same.
    fn read<'a>(cells: &[(&'a str, &[&str])]) -> Read<'a> {
        let mut read = Read::default();
        for (workload, names) in cells {
            let names = names.iter().map(|name| ((*name).to_string(), (1, 2.5)));
            read.cells.insert((workload, "time"), names.collect());
        }
        read
    }

    /// One workload that was measured before and after something.
    fn pair() -> Read<'static> {
        read(&[("v", &["before", "after"])])
    }

    fn admission(names_known: bool, refused: &[&str], met: &[Sign]) -> Admission {
        let mut signs = Signs::default();
        met.iter().for_each(|sign| signs.note(*sign));
        Admission {
            workload: "w".to_string(),
            place: Place::default(),
            refused: refused.iter().map(|name| (*name).to_string()).collect(),
            names_known,
            signs,
            said: Vec::new(),
            missing: None,
        }
    }

    #[test]
    fn the_page_on_auditing_has_the_same_points() {
        let page = include_str!("../../../../docs/audit.md");
        let (_, table) = page.split_once("\n| against the grouping | |\n").unwrap();
        let rows = table.lines().skip(1).take_while(|row| row.starts_with('|'));
        let written: Vec<i32> = rows
            .filter_map(|row| row.trim_end_matches(" |").rsplit("| ").next())
            .map(|points| points.parse().unwrap())
            .collect();
        let weights: Vec<i32> = WEIGHTS.iter().map(|(_, points, _)| *points).collect();
        assert_eq!(written, weights);
        assert!(page.contains(&format!("if {GROUPING_BAR} points speak against how")));
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
        let apart: [(&str, &[&str]); 2] = [("v", &["base", "new"]), ("w", &["c", "d"])];
        assert_eq!(against(&apart), [Unclear::NowhereAll, Unclear::ManyNames]);
        let chain: [(&str, &[&str]); 2] = [("v", &["base", "b"]), ("w", &["b", "c"])];
        let found = against(&chain);
        let all = [Unclear::NowhereAll, Unclear::Chain, Unclear::ManyNames];
        assert_eq!(found, all);
        assert!(weighed(&found).0 > GROUPING_BAR);
        let closed = [chain[0], chain[1], ("x", &["base", "b", "c"])];
        assert_eq!(against(&closed), [Unclear::ManyNames]);
        // The last cell joins what were two sets, and a name may stand alone.
        let joined = [apart[0], apart[1], ("x", &["new", "c"])];
        assert_eq!(against(&joined), all);
        let lone: [(&str, &[&str]); 3] = [apart[0], ("w", &["base", "new"]), ("x", &["c"])];
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
            let mut read = pair();
            read.turns.insert("before".to_string(), turns.to_vec());
            of_form(Form::Ordered, &read, &[])
        };
        let turns = ["v", "w", "v", "w", "v", "w"];
        assert_eq!(found(&turns), [Unclear::CommandsTakeTurns]);
        assert_eq!(found(&turns[..5]), []);
        assert_eq!(found(&["v", "w", "x", "v", "w", "x"]), []);
    }

    #[test]
    fn names_speak_against_it_by_length_and_by_what_is_not_known_of_them() {
        let long = "a new allocator, measured twice";
        assert_eq!(against(&[("v", &["base", long])]), [Unclear::LongNames]);
        let unknown = admission(false, &[], &[]);
        let found = pair().unclear(Form::Ordered, &[&unknown], &Wording::default());
        assert_eq!(found, [Unclear::UnknownNames]);
        assert_eq!(against(&[("v", &["red", "blue"])]), [Unclear::NoState]);
        let versions = read(&[("v", &["red-6.1", "red-6.2"])]);
        assert_eq!(of_form(Form::Ordered, &versions, &[Sign::Versions]), []);
        let two = [Unclear::ManyNames, Unclear::Baselines];
        assert_eq!(against(&[("v", &["base", "baseline 2", "new"])]), two);
    }

    #[test]
    fn one_bare_change_has_one_base() {
        let of = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_string()).collect();
            several_bases(&parsed(&names.iter().collect()))
        };
        assert!(of(&["x before the patch", "y before the patch", "after"]));
        assert!(!of(&["x before the patch", "after"]));
        assert!(!of(&["before", "after patch one", "after patch two"]));
    }

    #[test]
    fn what_was_refused_or_left_over_speaks_against_it() {
        let read = pair();
        let mut wording = Wording::default();
        wording.not_understood = MANY_LINES - 1;
        wording.unread_fractions = MANY_ROWS - 1;
        let known = admission(true, &[], &[]);
        assert_eq!(read.unclear(Form::Ordered, &[&known], &wording), []);
        wording.not_understood += 1;
        wording.unread_fractions += 1;
        let refused = admission(true, &["queue depth"], &[]);
        let found = read.unclear(Form::Ordered, &[&known, &refused], &wording);
        assert_eq!(
            found,
            [
                Unclear::RefusedBeside,
                Unclear::NotUnderstood,
                Unclear::UnreadFractions,
            ]
        );
    }

    #[test]
    fn figures_of_another_size_and_of_unequal_number_speak_against_it() {
        let mut read = pair();
        let set = |read: &mut Read<'_>, metric: &'static str, figures: [Figures; 2]| {
            let names = ["before", "after"].map(str::to_string);
            let cell = names.into_iter().zip(figures).collect();
            read.cells.insert(("v", metric), cell);
        };
        set(&mut read, "time", [(1, 2.0), (1, 20.0)]);
        assert_eq!(of_form(Form::Ordered, &read, &[]), []);
        set(&mut read, "time", [(1, 2.0), (1, 20.1)]);
        assert_eq!(of_form(Form::Ordered, &read, &[]), [Unclear::OtherSize]);
        set(&mut read, "energy", [(1, 3.0), (1, 3.1)]);
        assert_eq!(of_form(Form::Ordered, &read, &[]), [Unclear::OtherSize]);
        set(&mut read, "runs", [(1, 7.0), (1, 7.0)]);
        assert_eq!(of_form(Form::Ordered, &read, &[]), []);
        // It is the mean that counts.
        set(&mut read, "energy", [(1, 3.0), (12, 36.0)]);
        assert_eq!(of_form(Form::Ordered, &read, &[]), [Unclear::UnequalRuns]);
    }

    #[test]
    fn equally_many_runs_and_a_full_grid_speak_for_it() {
        let mut read = pair();
        let set = |read: &mut Read<'_>, metric: &'static str, runs: [u32; 2]| {
            let figures = runs.map(|runs| (runs, f64::from(runs)));
            let names = ["before", "after"].map(str::to_string);
            let cell = names.into_iter().zip(figures).collect();
            read.cells.insert(("v", metric), cell);
        };
        let found = |read: &Read<'_>| of_form(Form::Ordered, read, &[]);
        set(&mut read, "time", [3, 3]);
        assert_eq!(found(&read), [Unclear::EqualRuns]);
        read.events = true;
        assert_eq!(found(&read), [Unclear::EqualRuns, Unclear::CountedEvents]);
        read.events = false;
        set(&mut read, "a", [1, 1]);
        assert_eq!(found(&read), []);
        for metric in ["b", "c", "d", "e", "f"] {
            set(&mut read, metric, [1, 1]);
        }
        assert_eq!(found(&read), []);
        set(&mut read, "g", [1, 1]);
        assert_eq!(found(&read), [Unclear::FullGrid]);
        set(&mut read, "g", [5, 5]);
        let third = read.cells.get_mut(&("v", "g")).unwrap();
        third.insert("third".to_string(), (5, 5.0));
        assert!(!found(&read).contains(&Unclear::FullGrid));
    }

    #[test]
    fn signs_of_the_comparison_speak_for_and_against_it() {
        let signs = [
            Sign::BareIntegers,
            Sign::SameTableUnderEach,
            Sign::Guessed,
            Sign::ChangeColumn,
            Sign::SpreadGiven,
        ];
        let found = of_form(Form::Ordered, &pair(), &signs);
        let all = [
            Unclear::WholeNumbers,
            Unclear::TablesAlike,
            Unclear::Guessed,
            Unclear::ChangesBeside,
            Unclear::SpreadBeside,
        ];
        assert_eq!(found, all);
        assert_eq!(weighed(&found).0, 2 + 5 + 2 - 1 - 3);
    }

    #[test]
    fn lines_that_come_again_need_two_metrics_of_short_names() {
        let mut two = pair();
        let alike = |read: &Read<'_>| of_form(Form::Alike, read, &[Sign::BareIntegers]);
        let one = [Unclear::ReadByLikeness, Unclear::OneMetricAlike];
        assert_eq!(alike(&two), one);
        assert!(weighed(&one).0 >= GROUPING_BAR);
        let cell = two.cells[&("v", "time")].clone();
        two.cells.insert(("v", "energy"), cell.clone());
        assert_eq!(alike(&two), [Unclear::ReadByLikeness]);
        two.cells
            .insert(("v", "seconds that the whole of it took"), cell);
        let long = [Unclear::ReadByLikeness, Unclear::LongMetricAlike];
        assert_eq!(alike(&two), long);
        assert!(weighed(&long).0 >= GROUPING_BAR);
    }

    #[test]
    fn whole_numbers_in_a_sentence_are_not_judged() {
        let said = |signs: &[Sign]| of_form(Form::Sentence, &pair(), signs);
        assert_eq!(said(&[]), [Unclear::WholeSentence]);
        assert!(weighed(&said(&[])).0 >= GROUPING_BAR);
        assert_eq!(said(&[Sign::Fractions]), []);
    }
}
