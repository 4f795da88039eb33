//! Decided items to records: names made unique, repetitions counted.

use std::collections::{BTreeMap, BTreeSet};

use assize_bundle::{
    Configuration, Doubt, Events, Measurement, Place, Records, Run, Spread, Statement, Summary,
    Unsupported,
};

use super::repeat::Stand;
use super::{Item, factors, names};
use crate::grammar::Finding;
use crate::options::Options;

/// Name of a configuration that the post does not name.
const UNNAMED: &str = "unnamed";

/// Makes the records.
pub(super) fn assemble(
    source: &str,
    mut items: Vec<Item>,
    subjects: &[(u32, String)],
    options: &Options,
) -> Records {
    let mut records = Records {
        source: source.to_string(),
        ..Records::default()
    };
    // A post's own figures come before what it quotes.
    items.sort_by_key(|item| (item.stand.1, item.stand.0, item.place));
    name_workloads(&mut items);
    let names = name_configurations(&items, options);
    keep_apart(&mut items, &names, subjects, &mut records);
    adopt_summaries(&mut items, &names);
    for item in &items {
        if !matches!(item.finding, Finding::Statement { .. }) {
            note_configuration(&mut records, item, &names);
        }
    }
    for stand in items.iter().map(|item| item.stand).collect::<BTreeSet<_>>() {
        find_factors(&mut records, &items, &names, stand);
    }
    let mut runs = Runs::default();
    for item in items {
        record(&mut records, &mut runs, item, &names);
    }
    records.runs = runs.finish();
    records
}

/// Workloads get the program's name; its arguments only where one
/// configuration was measured with several.
fn name_workloads(items: &mut [Item]) {
    let mut arguments: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    let split = |name: &str| match name.split_once(" -") {
        Some((program, rest)) if !program.contains(' ') => {
            (program.to_string(), format!("-{rest}"))
        }
        _ => (name.to_string(), String::new()),
    };
    for item in items.iter() {
        if let Some(name) = &item.workload_name {
            let (program, rest) = split(name);
            let configuration = item.configuration_label.clone().unwrap_or_default();
            arguments
                .entry((program, configuration))
                .or_default()
                .insert(rest);
        }
    }
    let needs_arguments: BTreeSet<String> = arguments
        .into_iter()
        .filter(|(_, rest)| rest.len() > 1)
        .map(|((program, _), _)| program)
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
            None => item.format.to_string(),
        };
        item.workload_name = Some(name);
    }
}

/// Label to name: short where that stays unambiguous, and one spelling.
fn name_configurations(items: &[Item], options: &Options) -> BTreeMap<String, String> {
    let mut labels: Vec<&str> = Vec::new();
    for item in items {
        let label = item.configuration_label.as_deref().unwrap_or(UNNAMED);
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
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
        let mut name = if same || !label.ends_with(')') {
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

fn name_of(item: &Item, names: &BTreeMap<String, String>) -> String {
    names[item.configuration_label.as_deref().unwrap_or(UNNAMED)].clone()
}

/// Figures of one cell from different messages or quote depths are not
/// repetitions of each other: their workloads are told apart.
fn keep_apart(
    items: &mut [Item],
    names: &BTreeMap<String, String>,
    subjects: &[(u32, String)],
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
    for ((_, workload), stands) in &cells {
        for stand in stands.iter().skip(1) {
            apart.insert((workload.clone(), *stand));
        }
    }
    for item in items.iter_mut() {
        let workload = item.workload_name.clone().unwrap_or_default();
        let (message, depth) = item.stand;
        if let Some((_, subject)) = subjects.iter().find(|(m, _)| *m == message) {
            let subject: String = subject.chars().take(40).collect();
            item.workload_name = Some(format!("{workload} [{}]", subject.trim_end()));
        }
        if apart.contains(&(workload.clone(), (depth, message))) {
            let first = records
                .doubts
                .iter()
                .all(|d| d.code != "kept-apart" || d.place.message != message);
            if first {
                records.doubts.push(Doubt {
                    code: "kept-apart".into(),
                    detail: format!(
                        "{workload} was measured elsewhere in the post too; the two are not pooled"
                    ),
                    place: item.place,
                });
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

/// A summary of runs that stand in the same message belongs to them.
fn adopt_summaries(items: &mut [Item], names: &BTreeMap<String, String>) {
    let mut series: BTreeMap<(Stand, String, String, String), Vec<f64>> = BTreeMap::new();
    for item in items.iter() {
        if let Finding::Run { figures, .. } = &item.finding {
            for figure in figures {
                let workload = item.workload_name.clone().unwrap_or_default();
                let key = (
                    item.stand,
                    name_of(item, names).to_lowercase(),
                    workload,
                    figure.metric.clone(),
                );
                series.entry(key).or_default().push(figure.value);
            }
        }
    }
    for item in items.iter_mut() {
        let configuration = name_of(item, names).to_lowercase();
        let stand = item.stand;
        let Finding::Summary {
            figure, n: Some(n), ..
        } = &mut item.finding
        else {
            continue;
        };
        let twin = series.iter().find(|((s, c, ..), values)| {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            *s == stand
                && *c == configuration
                && values.len() == *n as usize
                && values.len() >= 2
                && (mean - figure.value).abs() <= 1e-4 * mean.abs()
        });
        if let Some(((_, _, workload, metric), _)) = twin {
            figure.metric.clone_from(metric);
            item.workload_name = Some(workload.clone());
        }
    }
}

fn note_configuration(records: &mut Records, item: &Item, names: &BTreeMap<String, String>) {
    let name = name_of(item, names);
    if records.configurations.iter().all(|c| c.name != name) {
        let label = names::squeeze(item.configuration_label.as_deref().unwrap_or(UNNAMED));
        records.configurations.push(Configuration {
            name,
            label,
            factors: BTreeMap::new(),
        });
    }
    let workload = item.workload_name.clone().unwrap_or_default();
    if !records.workloads.contains(&workload) {
        records.workloads.push(workload);
    }
}

fn find_factors(
    records: &mut Records,
    items: &[Item],
    names: &BTreeMap<String, String>,
    stand: Stand,
) {
    let here: BTreeSet<String> = items
        .iter()
        .filter(|item| item.stand == stand)
        .map(|item| name_of(item, names))
        .collect();
    let members: Vec<&Configuration> = records
        .configurations
        .iter()
        .filter(|c| here.contains(&c.name))
        .collect();
    let Some(grid) = factors::find(&members) else {
        return;
    };
    if !records.factors.is_empty() && records.factors != grid.factors {
        return;
    }
    let cells: Vec<(String, BTreeMap<String, bool>)> = grid
        .cells
        .into_iter()
        .map(|(at, levels)| (members[at].name.clone(), levels))
        .collect();
    records.factors = grid.factors;
    for (name, levels) in cells {
        if let Some(configuration) = records.configurations.iter_mut().find(|c| c.name == name) {
            configuration.factors = levels;
        }
    }
}

/// Runs as they are collected.
#[derive(Default)]
struct Runs {
    runs: Vec<(Run, Option<u32>, Option<Place>, Stand)>,
}

impl Runs {
    /// Adds a run, or joins its figures to the run they belong to: the same
    /// repetition by name, or the same execution of a command.
    fn add(&mut self, run: Run, repetition: Option<u32>, command: Option<Place>, stand: Stand) {
        let mate = self.runs.iter_mut().rev().take(256).find(
            |(other, other_repetition, other_command, other_stand)| {
                other.configuration == run.configuration
                    && other.workload == run.workload
                    && *other_stand == stand
                    && other
                        .metrics
                        .keys()
                        .all(|metric| !run.metrics.contains_key(metric))
                    && match (repetition, command) {
                        (Some(_), _) => *other_repetition == repetition,
                        (None, Some(_)) => *other_command == command && other_repetition.is_none(),
                        (None, None) => false,
                    }
            },
        );
        match mate {
            Some((other, ..)) => other.metrics.extend(run.metrics),
            None => self.runs.push((run, repetition, command, stand)),
        }
    }

    fn finish(self) -> Vec<Run> {
        let mut count: BTreeMap<(String, String), u32> = BTreeMap::new();
        let mut runs: Vec<Run> = self.runs.into_iter().map(|(run, ..)| run).collect();
        for (order, run) in runs.iter_mut().enumerate() {
            let repetition = count
                .entry((run.configuration.clone(), run.workload.clone()))
                .or_insert(0);
            *repetition += 1;
            run.repetition = *repetition;
            run.order = order as u32;
        }
        runs
    }
}

fn record(records: &mut Records, runs: &mut Runs, item: Item, names: &BTreeMap<String, String>) {
    let configuration = name_of(&item, names);
    let named = item.configuration_label.is_some();
    let workload = item.workload_name.clone().unwrap_or_default();
    let place = item.place;
    match item.finding {
        Finding::Run { labels, figures } => {
            let mut run = Run::new(configuration, workload, 1);
            run.place = place;
            for figure in figures {
                run.metrics
                    .insert(figure.metric, Measurement::new(figure.value, figure.unit));
            }
            runs.add(
                run,
                labels.repetition,
                item.command.map(|(place, _)| place),
                item.stand,
            );
        }
        Finding::Summary {
            figure, spread, n, ..
        } => {
            let spread = spread.filter(|s| match s {
                Spread::StandardError(v) | Spread::StandardDeviation(v) => {
                    v.is_finite() && *v >= 0.0
                }
            });
            records.summaries.push(Summary {
                configuration,
                workload,
                metric: figure.metric,
                unit: figure.unit,
                mean: figure.value,
                spread,
                n,
                place,
            });
        }
        Finding::Events {
            event,
            count,
            exposure_s,
            times_s,
            ..
        } => {
            records.events.push(Events {
                configuration,
                workload,
                event,
                count,
                exposure_s,
                times_s,
                place,
            });
        }
        Finding::Statement {
            figure,
            normalised_to,
            ..
        } => {
            records.statements.push(Statement {
                configuration: named.then_some(configuration),
                workload: Some(workload).filter(|name| name != item.format),
                metric: figure.metric,
                unit: figure.unit,
                value: figure.value,
                normalised_to,
                place,
            });
        }
        Finding::Unsupported { metric, reason, .. } => {
            records.unsupported.push(Unsupported {
                configuration,
                workload,
                metric,
                reason,
                place,
            });
        }
        Finding::Sample(_) | Finding::Command(_) | Finding::Doubt(..) => {}
    }
}
