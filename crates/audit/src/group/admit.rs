//! Which comparisons may be judged: the others become statements.

use std::collections::{BTreeMap, BTreeSet};

use assize_bundle::{Doubt, Place};

use super::Item;
use super::assemble::name_of;
use super::repeat::Stand;
use super::samples::{is_constant, is_sweep};
use super::unclear::{is_compared_by_tool, part_of, unclear};
use crate::admission::Sign;
use crate::admission::candidates::{Admission, Member, weigh};
use crate::admission::wording::Wording;
use crate::grammar::{Figure, Finding, Labels};
use crate::options::{Judged, Options};

/// Items of one workload.
type Group = Vec<usize>;
/// The values of one metric by configuration, each with its item.
type Series = BTreeMap<String, Vec<(usize, f64)>>;

/// What is compared and what is stated only, and for `--explain` what was weighed.
pub(super) struct Admitted {
    pub(super) items: Vec<Item>,
    pub(super) admissions: Vec<Admission>,
    /// What speaks against judging messages.
    pub(super) against: Vec<(Place, String)>,
}

impl Admitted {
    /// Nothing speaks against any message.
    fn by_workloads(items: Vec<Item>, admissions: Vec<Admission>) -> Self {
        Self {
            items,
            admissions,
            against: Vec::new(),
        }
    }
}

/// Weighs the configurations of every workload, and turns the figures of those
/// that are not admitted into statements; also all of one form in a message of which
/// it is not clear what it compares.
pub(super) fn admit(
    items: Vec<Item>,
    names: &BTreeMap<String, String>,
    wordings: &BTreeMap<u32, Wording>,
    options: &Options,
    doubts: &mut Vec<Doubt>,
) -> Admitted {
    if options.judged == Judged::All {
        return Admitted::by_workloads(items, Vec::new());
    }
    let nothing = Wording::default();
    let mut admissions = Vec::new();
    let mut refused: BTreeSet<usize> = BTreeSet::new();
    for (workload, group) in groups(&items) {
        let labels: Vec<String> = group.iter().map(|&at| name_of(&items[at], names)).collect();
        let members: Vec<Member<'_>> = group
            .iter()
            .zip(&labels)
            .map(|(&at, name)| member(&items[at], name))
            .collect();
        let message = items[group[0]].stand.0;
        let wording = wordings.get(&message).unwrap_or(&nothing);
        let Some(admission) = weigh(&workload, &members, wording, options) else {
            let guessed = |at: &usize| items[*at].signs.contains(&Sign::Guessed);
            let guesses: Vec<usize> = group.iter().copied().filter(guessed).collect();
            if let Some(&at) = guesses.first() {
                doubts.push(unconfirmed(&items[at]));
            }
            refused.extend(guesses);
            continue;
        };
        for (&at, name) in group.iter().zip(&labels) {
            if admission.refused.contains(name) {
                refused.insert(at);
            }
        }
        if let Some(detail) = &admission.missing {
            doubts.push(Doubt {
                code: "not-judged".to_string(),
                detail: detail.clone(),
                place: admission.place,
            });
        }
        admissions.push(admission);
    }
    let items = without_sweeps(stated(items, &refused), names, doubts);
    let said = !options.configurations.is_empty() || options.says_roles();
    if said || options.judged == Judged::Admitted {
        return Admitted::by_workloads(items, admissions);
    }
    let (unjudged, against) = unclear(&items, names, &admissions, wordings, doubts);
    let is_unjudged = |item: &Item| unjudged.contains(&part_of(item)) && !is_compared_by_tool(item);
    let refused = (0..items.len())
        .filter(|&at| is_unjudged(&items[at]))
        .collect();
    Admitted {
        against,
        ..Admitted::by_workloads(stated(items, &refused), admissions)
    }
}

/// Why the figures of a table are stated only.
fn unconfirmed(item: &Item) -> Doubt {
    Doubt {
        code: "not-judged".to_string(),
        detail: "read, not judged: nothing says what rows and columns of this table stand \
                 for; --columns-are or --rows-are says it"
            .to_string(),
        place: item.place,
    }
}

/// Findings that would be compared, by workload in order of appearance.
fn groups(items: &[Item]) -> Vec<(String, Group)> {
    let mut groups: Vec<(String, Group)> = Vec::new();
    let mut index: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, item) in items.iter().enumerate() {
        if !matches!(
            item.finding,
            Finding::Run { .. } | Finding::Summary { .. } | Finding::Events { .. }
        ) {
            continue;
        }
        let workload = item.workload_name.as_deref().unwrap_or_default();
        let group = *index.entry(workload).or_insert_with(|| {
            groups.push((workload.to_string(), Vec::new()));
            groups.len() - 1
        });
        groups[group].1.push(at);
    }
    let parted = |(name, group): (String, Group)| {
        parted(items, group)
            .into_iter()
            .map(move |part| (name.clone(), part))
    };
    groups.into_iter().flat_map(parted).collect()
}

/// Figures of several authors or messages that have no metric in common are
/// compared apart.
fn parted(items: &[Item], group: Group) -> Vec<Group> {
    let mut stands: BTreeMap<Stand, (Group, BTreeSet<&str>)> = BTreeMap::new();
    for &at in &group {
        let (members, metrics) = stands.entry(items[at].stand).or_default();
        members.push(at);
        match &items[at].finding {
            Finding::Run { figures, .. } => {
                metrics.extend(figures.iter().map(|f| f.metric.as_str()))
            }
            Finding::Summary { figure, .. } => {
                metrics.insert(&figure.metric);
            }
            Finding::Events { event, .. } => {
                metrics.insert(event);
            }
            _ => {}
        }
    }
    let mut met = BTreeSet::new();
    let apart = stands
        .values()
        .flat_map(|(_, metrics)| metrics)
        .all(|metric| met.insert(*metric));
    if stands.len() < 2 || !apart {
        return vec![group];
    }
    stands.into_values().map(|(members, _)| members).collect()
}

fn member<'a>(item: &'a Item, name: &'a str) -> Member<'a> {
    let (figures, has_spread): (Vec<&Figure>, bool) = match &item.finding {
        Finding::Run { figures, .. } => (figures.iter().collect(), false),
        Finding::Summary { figure, spread, .. } => (vec![figure], spread.is_some()),
        _ => (Vec::new(), false),
    };
    Member {
        configuration: name,
        label: item.configuration_label.as_deref().unwrap_or(name),
        figures,
        has_spread,
        format: item.format,
        named_by: item.named_by,
        signs: &item.signs,
        command: item.command.as_ref().map(|(_, text)| text.as_str()),
        headings: [item.inner.as_deref(), item.outer.as_deref()],
        stand: item.stand,
        place: item.place,
    }
}

/// Items with those at `refused` as statements.
fn stated(items: Vec<Item>, refused: &BTreeSet<usize>) -> Vec<Item> {
    let mut all = Vec::with_capacity(items.len());
    for (at, item) in items.into_iter().enumerate() {
        if refused.contains(&at) {
            all.extend(statements(item));
        } else {
            all.push(item);
        }
    }
    all
}

/// The figures of one item as statements.
pub(super) fn statements(item: Item) -> Vec<Item> {
    let figures = match &item.finding {
        Finding::Run { figures, .. } => figures.clone(),
        Finding::Summary { figure, .. } => vec![figure.clone()],
        Finding::Events { event, count, .. } => vec![Figure::new(event.clone(), *count as f64, "")],
        _ => return vec![item],
    };
    let labels: Labels = item.labels();
    let one = |figure: Figure| Item {
        finding: Finding::Statement {
            labels: labels.clone(),
            figure,
            normalised_to: None,
        },
        not_admitted: true,
        ..item.clone()
    };
    figures.into_iter().map(one).collect()
}

/// The values that tables give, by workload and metric.
fn series_of(
    items: &[Item],
    names: &BTreeMap<String, String>,
) -> BTreeMap<(String, String), Series> {
    let mut series: BTreeMap<(String, String), Series> = BTreeMap::new();
    for (at, item) in items.iter().enumerate() {
        let Finding::Run { figures, .. } = &item.finding else {
            continue;
        };
        if item.format != "table" {
            continue;
        }
        for figure in figures {
            let key = (
                item.workload_name.clone().unwrap_or_default(),
                figure.metric.clone(),
            );
            let cells = series.entry(key).or_default();
            cells
                .entry(name_of(item, names))
                .or_default()
                .push((at, figure.value));
        }
    }
    series
}

/// A metric of a table whose runs stand in the same order in all configurations
/// was not measured again and again, but step by step: its figures are samples.
fn without_sweeps(
    mut items: Vec<Item>,
    names: &BTreeMap<String, String>,
    doubts: &mut Vec<Doubt>,
) -> Vec<Item> {
    let mut out: BTreeSet<(usize, String)> = BTreeSet::new();
    for ((workload, metric), cells) in series_of(&items, names) {
        let columns: Vec<Vec<f64>> = cells
            .values()
            .map(|cell| cell.iter().map(|(_, value)| *value).collect())
            .collect();
        if is_constant(&columns) {
            let places = cells.values().flatten();
            out.extend(places.map(|(at, _)| (*at, metric.clone())));
            continue;
        }
        if !is_sweep(&columns) {
            continue;
        }
        let places = cells.values().flatten();
        if let Some(&(at, _)) = places.clone().next() {
            doubts.push(Doubt {
                code: "samples-not-runs".to_string(),
                detail: format!(
                    "{metric} on {workload} goes up and down alike in all configurations: rows are \
                     steps or samples, not runs, and their figures are not judged"
                ),
                place: items[at].place,
            });
        }
        out.extend(places.map(|(at, _)| (*at, metric.clone())));
    }
    for (at, item) in items.iter_mut().enumerate() {
        if let Finding::Run { figures, .. } = &mut item.finding {
            figures.retain(|figure| !out.contains(&(at, figure.metric.clone())));
        }
    }
    items.retain(
        |item| !matches!(&item.finding, Finding::Run { figures, .. } if figures.is_empty()),
    );
    items
}
