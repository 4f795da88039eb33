//! Turns decided items into records: makes names unique and counts repetitions.

use std::collections::{BTreeMap, BTreeSet};

use assize_bundle::{Configuration, Records};

use super::gate::Ruling;
use super::item::{Item, Stand, UNNAMED, doubt, name_of};
use super::names::tool;
use super::record::{Runs, record};
use super::{admit, apart, factors, given, names, units};
use crate::grammar::block::Finding;
use crate::grammar::{self, reports};
use crate::options::Options;
use crate::states::{Side, are_before_and_after, baseline_first, side};

/// Makes the records, and returns the rulings for `--explain`.
pub(super) fn assemble(
    source: &str,
    mut items: Vec<Item>,
    subjects: &BTreeMap<u32, String>,
    options: &Options,
) -> (Records, Vec<Ruling>) {
    let mut records = Records {
        source: source.to_string(),
        ..Records::default()
    };
    if items.is_empty() {
        return (records, Vec::new());
    }
    // A post's own figures come before what it quotes.
    items.sort_by_key(|item| (item.stand.1, item.stand.0, item.place));
    name_workloads(&mut items);
    keep_machines_apart(&mut items);
    apart::tell_blocks_apart(&mut items);
    let names = name_configurations(&items, options);
    keep_apart(&mut items, &names, subjects, &mut records);
    units::in_one_unit(&mut items);
    let items = given::stated(items);
    let (items, rulings) = admit::admit(items, &names, options, &mut records.doubts);
    note_names(&mut records, &items, &names);
    find_factors(&mut records, &items, &names);
    let order_unknown = hides_order(&items, &names);
    let all = &mut records.configurations;
    let configured: Vec<String> = all.iter().map(|one| one.name.clone()).collect();
    let states = are_before_and_after(&configured);
    let of_name = |name: &str| {
        let program = || names::state_of_program(name).map(|state| state.side);
        side(name).or_else(program)
    };
    let sides: Vec<Side> = (configured.iter())
        .filter_map(|name| of_name(name))
        .collect();
    // Beside the states may stand a yardstick.
    if all.len() == 2 || sides.contains(&Side::After) {
        // `current master` is older than a patch, and newer than a commit.
        let newest = |name: &str| !states && name.to_lowercase().starts_with("current ");
        baseline_first(all, |name| {
            of_name(name) == Some(Side::Before) && !newest(name)
        });
    }
    let mut runs = Runs::default();
    for item in items {
        record(&mut records, &mut runs, item, &names);
    }
    records.order_unknown = order_unknown;
    records.resolutions = runs.resolutions();
    records.runs = runs.finish();
    (records, rulings)
}

/// Names workloads after their program. Its arguments are part of the name only if one
/// configuration was measured with several sets of them, or two with one set and others with
/// another.
fn name_workloads(items: &mut [Item]) {
    // Sets of arguments by program, each with the configurations.
    let mut arguments: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    let split = |name: &str| match name.split_once(" -") {
        Some((program, rest)) if program.split(' ').count() <= 2 => {
            (program.to_string(), format!("-{rest}"))
        }
        _ => (name.to_string(), String::new()),
    };
    for item in items.iter() {
        if let Some(name) = &item.workload_name {
            let (program, rest) = split(name);
            let configuration = item.configuration_label.clone().unwrap_or_default();
            let sets = arguments.entry(program).or_default();
            sets.entry(rest).or_default().insert(configuration);
        }
    }
    let needs_arguments: BTreeSet<String> = arguments
        .into_iter()
        .filter(|(_, sets)| {
            let all = sets.values().flatten().collect::<BTreeSet<_>>().len();
            let each = sets.values().map(BTreeSet::len).sum::<usize>();
            let several = sets.len() > 1 && sets.values().any(|names| names.len() > 1);
            each > all || several
        })
        .map(|(program, _)| program)
        .collect();
    for item in items.iter_mut() {
        let name = match &item.workload_name {
            Some(name) => {
                let (program, _) = split(name);
                if needs_arguments.contains(&program) {
                    name.clone()
                } else {
                    program
                }
            }
            None => tool(item.format).to_string(),
        };
        item.workload_name = Some(name);
    }
}

/// Distinguishes workloads by machine where the text names several machines.
fn keep_machines_apart(items: &mut [Item]) {
    let machines: BTreeSet<&String> = items.iter().filter_map(|i| i.machine.as_ref()).collect();
    if machines.len() < 2 {
        return;
    }
    for item in items {
        if let (Some(name), Some(machine)) = (&item.workload_name, &item.machine)
            && !name.ends_with(machine.as_str())
        {
            item.workload_name = Some(format!("{name} on {machine}"));
        }
    }
}

/// Whether a workload is called after the tool that measured it, because the
/// post does not say what was executed.
pub fn is_tool(workload: &str) -> bool {
    let mut grammars = grammar::all().iter();
    grammars.any(|grammar| tool(grammar.name) == workload) || reports::is_tool(workload)
}

/// Maps labels to names, which are short where that is unambiguous, and spelt in one way.
fn name_configurations(items: &[Item], options: &Options) -> BTreeMap<String, String> {
    let all = items
        .iter()
        .map(|item| item.configuration_label.as_deref().unwrap_or(UNNAMED));
    let mut met = BTreeSet::new();
    let labels: Vec<&str> = all.filter(|label| met.insert(*label)).collect();
    let mut shorts: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for label in &labels {
        shorts
            .entry(names::short(label).to_lowercase())
            .or_default()
            .push(label);
    }
    let mut spelled: BTreeMap<String, String> = BTreeMap::new();
    let mut names = BTreeMap::new();
    for label in labels {
        let short = names::short(label);
        let twins = &shorts[&short.to_lowercase()];
        let same = twins
            .iter()
            .all(|t| t.to_lowercase() == label.to_lowercase());
        let noted = label.ends_with(')') && label[short.len().min(label.len())..].contains('%');
        let mut name = if same || noted || !label.ends_with(')') {
            short
        } else {
            names::squeeze(label)
        };
        if let Some(given) = options
            .configuration_of(label)
            .or_else(|| options.configuration_of(&name))
        {
            name = given.to_string();
        }
        let name = spelled.entry(name.to_lowercase()).or_insert(name).clone();
        names.insert(label.to_string(), name);
    }
    names
}

/// Figures of one cell from different messages or quote depths are not
/// repetitions of each other: their workloads are distinguished.
fn keep_apart(
    items: &mut [Item],
    names: &BTreeMap<String, String>,
    subjects: &BTreeMap<u32, String>,
    records: &mut Records,
) {
    let mut cells: BTreeMap<(String, String), BTreeSet<(u8, u32)>> = BTreeMap::new();
    for item in items.iter() {
        let workload = item.workload_name.clone().unwrap_or_default();
        cells
            .entry((name_of(item, names), workload))
            .or_default()
            .insert((item.stand.1, item.stand.0));
    }
    let mut apart: BTreeSet<(String, (u8, u32))> = BTreeSet::new();
    // What a message quotes more deeply than other figures of the same names is older.
    let mut older: BTreeSet<(String, (u8, u32))> = BTreeSet::new();
    for ((_, workload), stands) in &cells {
        let mut messages = BTreeSet::new();
        for (at, stand) in stands.iter().enumerate() {
            if at > 0 {
                apart.insert((workload.clone(), *stand));
            }
            if !messages.insert(stand.1) {
                older.insert((workload.clone(), *stand));
            }
        }
    }
    let mut noted = BTreeSet::new();
    for item in items.iter_mut() {
        let workload = item.workload_name.clone().unwrap_or_default();
        let (message, depth) = item.stand;
        if let Some(subject) = subjects.get(&message) {
            let subject: String = subject.chars().take(40).collect();
            item.workload_name = Some(format!("{workload} [{}]", subject.trim_end()));
        }
        if apart.contains(&(workload.clone(), (depth, message))) {
            if older.contains(&(workload.clone(), (depth, message))) {
                item.older = true;
            }
            if noted.insert(message) {
                let detail = format!(
                    "{workload} was measured elsewhere in the post too; the two are not pooled"
                );
                records.doubts.push(doubt("kept-apart", detail, item.place));
            }
            let name = item.workload_name.clone().unwrap_or_default();
            let origin = if depth > 0 {
                format!("quoted, message {message}")
            } else {
                format!("message {message}")
            };
            item.workload_name = Some(format!("{name} ({origin})"));
        }
    }
}

/// Whether the text hides the order of some runs. Reports of a tool follow each other in the order
/// in which they were printed, but the rows of a table, or the figures after a name, may have been
/// sorted. A single run has no order.
fn hides_order(items: &[Item], names: &BTreeMap<String, String>) -> bool {
    let mut cells: BTreeMap<(String, Option<&str>), (usize, bool)> = BTreeMap::new();
    for item in items {
        if matches!(item.finding, Finding::Run { .. }) {
            let cell = (name_of(item, names), item.workload_name.as_deref());
            let (runs, hidden) = cells.entry(cell).or_default();
            *runs += 1;
            *hidden |= !grammar::is_report(item.format);
        }
    }
    cells.values().any(|(runs, hidden)| *hidden && *runs > 1)
}

/// Lists configurations and workloads in order of appearance.
fn note_names(records: &mut Records, items: &[Item], names: &BTreeMap<String, String>) {
    let (mut configurations, mut workloads) = (BTreeSet::new(), BTreeSet::new());
    for item in items {
        if matches!(item.finding, Finding::Statement { .. }) {
            continue;
        }
        let name = name_of(item, names);
        if configurations.insert(name.clone()) {
            let label = names::squeeze(item.configuration_label.as_deref().unwrap_or(UNNAMED));
            records.configurations.push(Configuration {
                name,
                label,
                ..Configuration::default()
            });
        }
        let workload = item.workload_name.clone().unwrap_or_default();
        if workloads.insert(workload.clone()) {
            records.workloads.push(workload);
        }
    }
}

/// Looks for a grid among the configurations of each message and depth.
fn find_factors(records: &mut Records, items: &[Item], names: &BTreeMap<String, String>) {
    let stands: BTreeSet<Stand> = items.iter().map(|item| item.stand).collect();
    for stand in stands {
        let here = items.iter().filter(|item| item.stand == stand);
        let here: BTreeSet<String> = here.map(|item| name_of(item, names)).collect();
        let all = records.configurations.iter().enumerate();
        let members: Vec<(usize, &Configuration)> =
            all.filter(|(_, one)| here.contains(&one.name)).collect();
        if let Some(grid) = factors::find(&members)
            && (records.factors.is_empty() || records.factors == grid.factors)
        {
            records.factors = grid.factors;
            for (at, levels) in grid.cells {
                records.configurations[at].factors = levels;
            }
        }
    }
}
