//! Merges the levels of one configuration with the experiment's general
//! settings.

use std::iter;

use assize_job::{
    Action, Frequency, Idle, Machine, PlacementPolicy, PolicyForm, Queue, Stalls, Workload,
    WorkloadKind,
};
use indexmap::IndexMap;
use serde_json::Value;

use super::agreement;
use crate::experiment::{Experiment, background_names};
use crate::levels::{Levels, RawLevel, level_path};
use crate::overrides::Overrides;
use crate::payload;
use crate::plan::PlannedConfiguration;
use crate::settings::{frequency, idle, queue, stalls};
use crate::steps::modules;
use crate::values::document::join;
use crate::values::error::Error;
use crate::values::layers::{Parameters, SettingLayers, merge};
use crate::values::read::BACKGROUND;
use crate::workloads::kinds;

/// Combines levels with the experiment's general settings, to a configuration of this name.
pub(crate) fn combine(
    experiment: &Experiment,
    name: String,
    levels: &Levels<'_>,
    overrides: &Overrides,
) -> Result<PlannedConfiguration, Error> {
    agreement::check_settings(experiment, levels)?;
    agreement::check_modules(experiment, levels)?;
    let file = &experiment.file;
    let machine = machine(experiment, levels, overrides);
    let (background, beside, workloads) = all_workloads(experiment, levels, machine.cpus)?;
    let background_or_beside = background.iter().chain(beside.iter().flatten());
    let every = || workloads.iter().chain(background_or_beside.clone());
    let layers = |key, top, of_level| setting_layers(experiment, levels, key, top, of_level);
    let queue = queue::queue(&layers("queue", &file.queue, |level| &level.queue), every())?;
    let (frequency, idle) = power(experiment, levels)?;
    let target = overrides.target.as_ref().unwrap_or(&file.target);
    let stalls = layers("stalls", &file.stalls, |level| &level.stalls);
    let stalls = stalls::stalls(&stalls, target, machine.cpus)?;
    let power = idle.iter().map(Idle::module);
    let power = power.chain(frequency.iter().flat_map(Frequency::modules));
    let declared = power.chain(stalls.iter().map(Stalls::module));
    let mut setup = setup(experiment, levels, queue.as_ref(), declared);
    setup.splice(0..0, modules::missing_steps(&setup, every()));
    let label = levels
        .iter()
        .map(|(factor, level, _)| format!("{factor}={level}"));
    let label: Vec<String> = label.collect();
    let names = levels
        .iter()
        .map(|(factor, level, _)| ((*factor).into(), (*level).into()));
    Ok(PlannedConfiguration {
        name,
        label: label.join(", "),
        levels: names.collect(),
        switches: IndexMap::new(),
        aa: false,
        setup,
        teardown: teardown(experiment, levels),
        background,
        workloads,
        beside: unless_empty(beside),
        policy: policy(experiment, levels),
        queue,
        idle,
        frequency,
        stalls,
        machine,
    })
}

/// The background workloads of all workloads, those of each workload, and the workloads.
type AllWorkloads = (Vec<Workload>, Vec<Vec<Workload>>, Vec<Workload>);

fn all_workloads(
    experiment: &Experiment,
    levels: &Levels<'_>,
    cpus: u32,
) -> Result<AllWorkloads, Error> {
    let file = &experiment.file;
    let running = running(levels);
    let workload = |section: &str, name: &String, base: &Parameters| {
        let base_path = join(section, name);
        let workload = workload(experiment, levels, name, base, &base_path)?;
        let path = last_given(experiment, levels, name).unwrap_or(base_path);
        kinds::check(&experiment.document, &path, &workload.kind, cpus)?;
        Ok(workload)
    };
    let of_background = |names: Vec<&str>| -> Result<Vec<Workload>, Error> {
        let names = names.into_iter();
        let named = names.filter_map(|name| file.background.get_key_value(name));
        named
            .map(|(name, base)| workload(BACKGROUND, name, base))
            .collect()
    };
    let background = of_background(running.clone())?;
    let beside = file.workloads.values().map(|base| {
        let names = background_names(base).filter(|name| !running.contains(name));
        of_background(names.collect())
    });
    let beside = beside.collect::<Result<Vec<Vec<Workload>>, Error>>()?;
    let bases = file.workloads.iter();
    let workloads = bases.map(|(name, base)| workload("workloads", name, base));
    let workloads = workloads.collect::<Result<Vec<Workload>, Error>>()?;
    Ok((background, beside, workloads))
}

fn power(
    experiment: &Experiment,
    levels: &Levels<'_>,
) -> Result<(Option<Frequency>, Option<Idle>), Error> {
    let file = &experiment.file;
    let layers = |key, top, of_level| setting_layers(experiment, levels, key, top, of_level);
    let frequency = layers("frequency", &file.frequency, |level| &level.frequency);
    let frequency = frequency::frequency(&frequency)?;
    let idle = layers("idle", &file.idle, |level| &level.idle);
    let idle = idle::idle(&idle, frequency.is_some())?;
    Ok((frequency, idle))
}

/// The settings under a key at the top of the file and in the levels.
fn setting_layers<'a>(
    experiment: &'a Experiment,
    levels: &Levels<'_>,
    key: &str,
    top: &Parameters,
    of_level: fn(&RawLevel) -> &Parameters,
) -> SettingLayers<'a> {
    let of_levels = levels
        .iter()
        .map(|(factor, name, level)| (join(&level_path(factor, name), key), of_level(level)));
    let layers = iter::once((key.to_owned(), top)).chain(of_levels);
    SettingLayers::new(&experiment.document, layers)
}

/// The policy of the last level that has one, else the experiment's; `None` for the kernel's
/// scheduler.
fn policy(experiment: &Experiment, levels: &Levels<'_>) -> Option<PlacementPolicy> {
    let levels = levels.iter().rev();
    let mut of_levels = levels.filter_map(|(_, _, level)| level.policy.as_ref());
    let policy = of_levels.next().or(experiment.file.policy.as_ref())?;
    (policy.form != PolicyForm::Kernel).then(|| policy.clone())
}

/// The path of the last level's changes to this workload; `None` if no level
/// changes it.
fn last_given(experiment: &Experiment, levels: &Levels<'_>, name: &str) -> Option<String> {
    let paths = levels
        .iter()
        .map(|(factor, level, _)| level_path(factor, level));
    paths
        .map(|path| join(&join(&path, "workload"), name))
        .rfind(|path| experiment.gives(path))
}

/// Returns the lists; if all are empty, no list at all.
fn unless_empty(lists: Vec<Vec<Workload>>) -> Vec<Vec<Workload>> {
    match lists.iter().all(Vec::is_empty) {
        true => Vec::new(),
        false => lists,
    }
}

/// The background workloads that the levels name, without duplicates.
fn running<'a>(levels: &Levels<'a>) -> Vec<&'a str> {
    let mut running: Vec<&str> = Vec::new();
    for name in levels.iter().flat_map(|(_, _, level)| &level.background) {
        if !running.contains(&name.as_str()) {
            running.push(name);
        }
    }
    running
}

/// The workloads as the top of the file defines them, without the levels'
/// changes.
pub(crate) fn unchanged(experiment: &Experiment) -> Result<Vec<Workload>, Error> {
    let bases = experiment.file.workloads.iter();
    bases
        .map(|(name, base)| {
            let path = join("workloads", name);
            workload(experiment, &Levels::new(), name, base, &path)
        })
        .collect()
}

/// Inserts the steps that load declared modules after the first steps, which load modules by name,
/// so that a memory image can include them all.
fn add_modules(steps: &mut Vec<Action>, declared: impl Iterator<Item = Action>) {
    let is_named =
        |step: &&Action| matches!(step, Action::Module { module, .. } if !modules::is_file(module));
    let at = steps.iter().take_while(is_named).count();
    let declared: Vec<Action> = declared.collect();
    steps.splice(at..at, declared);
}

fn machine(experiment: &Experiment, levels: &Levels<'_>, overrides: &Overrides) -> Machine {
    let file = &experiment.file;
    let mut machine = Machine {
        kernel: overrides.kernel.as_ref().unwrap_or(&file.kernel).clone(),
        command_line: Vec::new(),
        cpus: overrides.cpus.unwrap_or(file.cpus),
        memory_mib: file.memory_mib,
        display: file.display,
        ..Machine::default()
    };
    let mut added: Vec<String> = Vec::new();
    for (_, _, level) in levels {
        if let Some(kernel) = &level.kernel {
            machine.kernel.clone_from(kernel);
        }
        machine.cpus = level.cpus.unwrap_or(machine.cpus);
        machine.memory_mib = level.memory_mib.unwrap_or(machine.memory_mib);
        let new: Vec<&String> = level
            .command_line
            .iter()
            .filter(|word| !added.contains(word))
            .collect();
        added.extend(new.into_iter().cloned());
    }
    let replaced = |word: &&String| {
        added
            .iter()
            .any(|new| agreement::parameter(new) == agreement::parameter(word))
    };
    let general = file.command_line.iter().filter(|word| !replaced(word));
    machine.command_line = general.chain(&added).cloned().collect();
    machine
}

/// The set-up steps of the experiment, followed by those of the levels. A module is loaded once,
/// with the parameters of all steps; a sysctl is set once, by a level's value rather than the
/// experiment's. Modules that queues and workloads need come first, unless a step loads them.
/// `declared`: the steps for what the file declares outside of steps (idle states, frequencies,
/// stalls).
fn setup(
    experiment: &Experiment,
    levels: &Levels<'_>,
    queue: Option<&Queue>,
    declared: impl Iterator<Item = Action>,
) -> Vec<Action> {
    let mut steps = experiment.file.setup.clone();
    let general = steps.len();
    for action in levels.iter().flat_map(|(_, _, level)| &level.setup) {
        add(&mut steps, general, action);
    }
    if let Some(step) = queue::missing_step(&steps, queue) {
        steps.insert(0, step);
    }
    add_modules(&mut steps, declared);
    steps
}

/// The tear-down steps of the levels, last factor first, followed by those of
/// the experiment.
fn teardown(experiment: &Experiment, levels: &Levels<'_>) -> Vec<Action> {
    let mut steps = Vec::new();
    for action in levels
        .iter()
        .rev()
        .flat_map(|(_, _, level)| &level.teardown)
    {
        add(&mut steps, 0, action);
    }
    steps.extend(experiment.file.teardown.iter().cloned());
    steps
}

/// Adds a level's step to `steps`, of which the first `general` come from the
/// experiment and the rest from other levels.
fn add(steps: &mut Vec<Action>, general: usize, action: &Action) {
    for (at, step) in steps.iter_mut().enumerate() {
        match (step, action) {
            (
                Action::Module { module, parameters },
                Action::Module {
                    module: same,
                    parameters: more,
                },
            ) if modules::are_same(module, same) => {
                parameters.extend(more.clone());
                return;
            }
            (
                Action::Sysctl { name, value },
                Action::Sysctl {
                    name: same,
                    value: new,
                },
            ) if name == same => {
                value.clone_from(new);
                return;
            }
            (step @ Action::Write { .. }, Action::Write { .. })
                if at >= general && step == action =>
            {
                return;
            }
            _ => {}
        }
    }
    steps.push(action.clone());
}

/// A workload with the parameter changes of the levels applied.
fn workload(
    experiment: &Experiment,
    levels: &Levels<'_>,
    name: &String,
    base: &Parameters,
    path: &str,
) -> Result<Workload, Error> {
    let mut parameters = base.clone();
    parameters.remove(BACKGROUND);
    let kind = base.get("kind").and_then(Value::as_str).unwrap_or_default();
    let lasts = kinds::find(kind).is_some_and(|kind| kind.key("duration").is_some());
    if let (true, Some(duration)) = (lasts, experiment.file.duration_ns) {
        let given = parameters.entry("duration_ns");
        given.or_insert(duration.into());
    }
    for (_, _, level) in levels {
        if let Some(changes) = level.workload.get(name) {
            merge(&mut parameters, changes);
        }
        if kind == "command" && !level.environment.is_empty() {
            let pairs = pairs(&level.environment);
            merge(
                &mut parameters,
                &Parameters::from_iter([("environment".to_owned(), pairs)]),
            );
        }
    }
    let mut kind: WorkloadKind = serde_json::from_value(Value::Object(parameters))
        .map_err(|why| experiment.error(path, format!("cannot be read: {why}")))?;
    match &mut kind {
        WorkloadKind::Periodic(one) => one.rt_app = one.rt_app.as_deref().map(payload::target_path),
        WorkloadKind::Replay(one) => one.file = one.file.as_deref().map(payload::target_path),
        _ => {}
    }
    Ok(Workload {
        name: name.clone(),
        kind,
    })
}

fn pairs(environment: &IndexMap<String, String>) -> Value {
    environment
        .iter()
        .map(|(name, value)| Value::from(vec![name.as_str(), value.as_str()]))
        .collect()
}
