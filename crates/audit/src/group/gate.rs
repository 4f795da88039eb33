//! The gate: which of the figures that were read are compared.
//!
//! Figures of one workload are compared if one of these holds:
//!
//! 1. The user says what is compared.
//! 2. The tool that printed them compares by itself, as benchstat does.
//! 3. They are reports of one tool below headings, each of which names one configuration.
//! 4. A table declares its configurations: a column is headed `kernel` or the like, or the rows
//!    number the runs of each name.
//!
//! Nothing is weighed. Names that are no configurations' (of machines, boots, passes, amounts,
//! workloads) and figures of several messages are not compared, unless the user says so.

use std::collections::{BTreeMap, BTreeSet};

use assize_bundle::Place;

use super::Item;
use crate::admission::{Sign, alone, amounts, contrast};
use crate::grammar::quantity::is_quotient;
use crate::grammar::{Figure, Finding, is_report};
use crate::options::Options;
use crate::roles::NamedBy;
use crate::roles::words::names_measurement;

/// What was decided of one workload, and why.
pub(crate) struct Ruling {
    pub(crate) workload: String,
    pub(crate) place: Place,
    pub(crate) judged: bool,
    /// The rule that lets it through, or what is missing.
    pub(crate) why: &'static str,
}

/// A figure's item with the name of its configuration.
pub(super) type Member<'a> = (&'a Item, &'a str);

/// Decides on one workload; nothing, if there is nothing to compare.
pub(super) fn rule(workload: &str, members: &[Member<'_>], options: &Options) -> Option<Ruling> {
    let (first, _) = members.first()?;
    let mut met = BTreeSet::new();
    let all = members.iter().map(|(_, name)| *name);
    let names: Vec<&str> = all.filter(|name| met.insert(*name)).collect();
    if names.len() < 2 {
        return None;
    }
    let ruled = if is_asked_for(members, &names, options) {
        Ok("the user says what is compared")
    } else {
        declared(members, &names)
    };
    let (Ok(why) | Err(why)) = ruled;
    Some(Ruling {
        workload: workload.to_string(),
        place: first.place,
        judged: ruled.is_ok(),
        why,
    })
}

/// Whether the user names a configuration, or says what rows or columns are.
fn is_asked_for(members: &[Member<'_>], names: &[&str], options: &Options) -> bool {
    let given = |name: &&str| {
        let mut given = options.configurations.iter();
        given.any(|(_, given)| given.to_lowercase() == name.to_lowercase())
    };
    let by_table = |(item, _): &Member<'_>| item.named_by.is_table();
    names.iter().any(given) || options.says_roles() && members.iter().any(by_table)
}

/// The rule by which figures that nobody asked for are compared, or why they are not.
fn declared(members: &[Member<'_>], names: &[&str]) -> Result<&'static str, &'static str> {
    let items = || members.iter().map(|(item, _)| *item);
    if items().all(|item| item.named_by.is_comparing_tool(item.format)) {
        return Ok("the tool compares by itself");
    }
    let signs: BTreeSet<Sign> = items()
        .flat_map(|item| item.signs.iter().copied())
        .collect();
    if let Some(why) = signs.iter().find_map(|sign| sign.forbids()) {
        return Err(why);
    }
    let stands: BTreeSet<_> = items().map(|item| item.stand).collect();
    if stands.len() > 1 {
        return Err("the figures are of several messages or quotations");
    }
    if let Some(why) = no_configurations(names) {
        return Err(why);
    }
    let formats: BTreeSet<&str> = items().map(|item| item.format).collect();
    let headed = |item: &Item| item.named_by == NamedBy::Heading && is_report(item.format);
    if formats.len() == 1 && items().all(headed) && share_a_metric(members, names) {
        return Ok("reports of one tool below a heading for each configuration");
    }
    if !are_measured(members, names) {
        return Err("whole numbers without a unit may be settings");
    }
    if !are_in_one_unit(members) {
        return Err("figures of one metric are in several units");
    }
    if let Some(why) = signs.iter().find_map(|sign| sign.declares()) {
        return Ok(why);
    }
    Err("nothing declares what is compared")
}

/// Why names are none of configurations, if they are not.
fn no_configurations(names: &[&str]) -> Option<&'static str> {
    let nothing = |name: &&str| {
        let none = matches!(
            alone::no_name(name),
            Some(Sign::EmptyName | Sign::FigureName)
        );
        *name == super::UNNAMED || none || alone::is_told(name) || alone::is_setting_name(name)
    };
    if names.iter().any(nothing) {
        return Some("figures stand below no name of a configuration");
    }
    let is_option = |word: &str| word.starts_with("--") && word.len() > 2;
    if names.iter().any(|name| name.split(' ').any(is_option)) {
        return Some("the names are those of commands");
    }
    if names.iter().any(|name| alone::names_circumstance(name)) {
        return Some("the names are of machines, boots or passes");
    }
    let apart = contrast::of_several_workloads(names) || contrast::of_several_devices(names);
    (apart || amounts::differ_in_amounts(names))
        .then_some("the names are of several workloads or devices")
}

/// Whether one metric was measured under each name.
fn share_a_metric(members: &[Member<'_>], names: &[&str]) -> bool {
    let mut under: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (item, name) in members {
        for metric in metrics(item) {
            under.entry(metric).or_default().insert(name);
        }
    }
    under.values().any(|these| these.len() == names.len())
}

/// The metrics that an item has figures of.
pub(super) fn metrics(item: &Item) -> Vec<&str> {
    match &item.finding {
        Finding::Run { figures, .. } => figures.iter().map(|f| f.metric.as_str()).collect(),
        Finding::Summary { figure, .. } => vec![&figure.metric],
        Finding::Events { event, .. } => vec![event],
        _ => Vec::new(),
    }
}

/// Whether all figures of a metric have the same unit.
fn are_in_one_unit(members: &[Member<'_>]) -> bool {
    let mut units: BTreeMap<&str, &str> = BTreeMap::new();
    let figures = members.iter().flat_map(|(item, _)| match &item.finding {
        Finding::Run { figures, .. } => figures.as_slice(),
        Finding::Summary { figure, .. } => std::slice::from_ref(figure),
        _ => &[],
    });
    for figure in figures {
        let known = units.entry(&figure.metric).or_insert(&figure.unit);
        if *known != figure.unit {
            return false;
        }
    }
    true
}

/// Whether figures have a unit or digits behind the point, or are called as measurements are.
fn are_measured(members: &[Member<'_>], names: &[&str]) -> bool {
    let measured = |figure: &Figure| {
        let unit = !figure.unit.is_empty() || is_quotient(&figure.metric);
        unit || figure.value.fract() != 0.0 || names_measurement(&figure.metric)
    };
    let any = |item: &Item| match &item.finding {
        Finding::Run { figures, .. } => figures.iter().any(measured),
        Finding::Summary { figure, .. } => measured(figure),
        _ => true,
    };
    names.iter().any(|name| names_measurement(name)) || members.iter().any(|(item, _)| any(item))
}
