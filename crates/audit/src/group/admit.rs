//! Applies the gate: figures that it does not admit become statements.

use std::collections::{BTreeMap, BTreeSet};

use assize_bundle::Doubt;

use super::gate::{Ruling, rule, under};
use super::item::{Item, NamedBy, doubt, name_of};
use crate::grammar::block::{Figure, Finding, Labels};
use crate::grammar::list::LIST;
use crate::grammar::runs::RUNS;
use crate::options::{Judged, Options};

/// Items of one workload.
type Group = Vec<usize>;

/// Turns the figures of each workload that the gate does not let through into statements; the
/// rulings say why.
pub(super) fn admit(
    items: Vec<Item>,
    names: &BTreeMap<String, String>,
    options: &Options,
    doubts: &mut Vec<Doubt>,
) -> (Vec<Item>, Vec<Ruling>) {
    let mut rulings = Vec::new();
    if options.judged == Judged::All {
        return (items, rulings);
    }
    let mut refused: BTreeSet<usize> = BTreeSet::new();
    let mut told: BTreeSet<usize> = BTreeSet::new();
    // Runs in a row and lists below states that are not compared were no figures to begin with.
    let mut prose: BTreeSet<usize> = BTreeSet::new();
    let items = without_lone_metrics(items, names);
    let written = |item: &Item| item.format == RUNS || is_list(item);
    for (workload, group) in groups(&items) {
        let labels: Vec<String> = group.iter().map(|&at| name_of(&items[at], names)).collect();
        let own = group.iter().zip(&labels);
        let members: Vec<_> = own.map(|(&at, name)| (&items[at], name.as_str())).collect();
        let is_written = members.iter().all(|(item, _)| written(item));
        let ruling = rule(&workload, &members, options);
        if is_written && !ruling.as_ref().is_some_and(|ruling| ruling.judged) {
            prose.extend(group);
            continue;
        }
        let Some(ruling) = ruling else {
            let undeclared = |at: &usize| items[*at].named_by == NamedBy::Table(None);
            let tables: Vec<usize> = group.iter().copied().filter(undeclared).collect();
            let first = tables.first().map(|at| &items[*at]);
            let first = first.filter(|item| told.insert(item.block));
            doubts.extend(first.map(unconfirmed));
            refused.extend(tables);
            continue;
        };
        if !ruling.judged {
            doubts.push(not_judged(&ruling, &labels));
            refused.extend(group);
        }
        rulings.push(ruling);
    }
    (stated(items, &refused, &prose), rulings)
}

/// Whether an item is of the list below a state.
fn is_list(item: &Item) -> bool {
    item.format == LIST && item.named_by == NamedBy::Block
}

/// Drops what lists have for one state only: anyone may write a list.
fn without_lone_metrics(mut items: Vec<Item>, names: &BTreeMap<String, String>) -> Vec<Item> {
    let mut lone: Vec<(usize, BTreeSet<String>)> = Vec::new();
    for (_, group) in groups(&items) {
        let labels: Vec<String> = group.iter().map(|&at| name_of(&items[at], names)).collect();
        let own = group.iter().zip(&labels);
        let members: Vec<_> = own.map(|(&at, name)| (&items[at], name.as_str())).collect();
        let under = under(&members);
        for (&at, (item, _)) in group
            .iter()
            .zip(&members)
            .filter(|(_, (item, _))| is_list(item))
        {
            let metrics = item.metrics().into_iter();
            let metrics = metrics.filter(|metric| under[metric].len() < 2);
            lone.push((at, metrics.map(str::to_owned).collect()));
        }
    }
    let mut prose = BTreeSet::new();
    for (at, metrics) in lone {
        let left = items[at]
            .metrics()
            .into_iter()
            .any(|metric| !metrics.contains(metric));
        prose.extend((!left).then_some(at));
        if let Finding::Run { figures, .. } = &mut items[at].finding {
            figures.retain(|figure| !metrics.contains(&figure.metric));
        }
    }
    stated(items, &BTreeSet::new(), &prose)
}

/// What makes figures comparable.
const COMPLETE: &str = "complete the reading that --draft writes";

/// Says why figures are not compared.
fn not_judged(ruling: &Ruling, labels: &[String]) -> Doubt {
    let distinct: BTreeSet<&str> = labels.iter().map(String::as_str).collect();
    let some: Vec<&str> = distinct.iter().take(3).copied().collect();
    let more = match distinct.len() > some.len() {
        true => " and others",
        false => "",
    };
    let (some, why) = (some.join(", "), ruling.why);
    let detail = format!("read, not judged: {some}{more}: {why}; {COMPLETE}");
    doubt("not-judged", detail, ruling.place)
}

/// Why the figures of a table are stated only.
fn unconfirmed(item: &Item) -> Doubt {
    let what = "nothing says what rows and columns of this table stand for";
    let detail = format!("read, not judged: {what}; {COMPLETE}");
    doubt("not-judged", detail, item.place)
}

/// Groups the findings that could be compared by workload, in order of appearance. Runs in a row
/// are kept apart from the reports of tools.
fn groups(items: &[Item]) -> Vec<(String, Group)> {
    let mut groups: Vec<(String, Group)> = Vec::new();
    let mut index: BTreeMap<(&str, bool), usize> = BTreeMap::new();
    for (at, item) in items.iter().enumerate() {
        if !matches!(
            item.finding,
            Finding::Run { .. } | Finding::Summary { .. } | Finding::Events { .. }
        ) {
            continue;
        }
        let workload = item.workload_name.as_deref().unwrap_or_default();
        let group = *index
            .entry((workload, item.format == RUNS))
            .or_insert_with(|| {
                groups.push((workload.to_string(), Vec::new()));
                groups.len() - 1
            });
        groups[group].1.push(at);
    }
    groups
}

/// Converts the items at `refused` to statements and drops those at `prose`.
fn stated(items: Vec<Item>, refused: &BTreeSet<usize>, prose: &BTreeSet<usize>) -> Vec<Item> {
    let mut all = Vec::with_capacity(items.len());
    for (at, item) in items.into_iter().enumerate() {
        if refused.contains(&at) {
            all.extend(statements(item));
        } else if !prose.contains(&at) {
            all.push(item);
        }
    }
    all
}

/// Converts the figures of an item to statements.
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
