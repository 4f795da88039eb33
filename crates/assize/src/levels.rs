//! The settings requested by the levels of an experiment, and the configurations that request the
//! same.

use std::collections::{BTreeMap, BTreeSet};

use assize_bundle::LevelSettings;
use assize_job::{
    Action, IdentityKind, Machine, PlacementPolicy, PolicyForm, RunIdentityPart, Workload,
    WorkloadKind,
};
use assize_plan::{Plan, PlannedConfiguration, PlannedRun};
use assize_target::Target;
use serde_json::{Value, json};

use crate::failure::Failure;

use IdentityKind::{
    CommandLine, Environment, File, Kernel, Library, Module, ModuleBuildId, Parameter, Policy,
    Program, Scheduling, Setting, Sysctl,
};

/// The settings requested in each configuration.
pub(crate) fn level_settings(plan: &Plan) -> Vec<LevelSettings> {
    let first = plan.configurations.first();
    let of = |configuration: &PlannedConfiguration| LevelSettings {
        configuration: configuration.name.clone(),
        settings: settings(configuration)
            .into_iter()
            .map(|((kind, name), value)| assize_bundle::IdentityPart {
                kind: kind.into(),
                name,
                value: Some(value),
            })
            .collect(),
        varies: first.map_or_else(BTreeSet::new, |first| varies(first, configuration)),
    };
    plan.configurations.iter().map(of).collect()
}

/// Maps kind and name to the value.
type ComparedSettings = BTreeMap<(&'static str, String), String>;

/// All settings of a configuration except files: their contents count, not their paths.
fn settings(configuration: &PlannedConfiguration) -> ComparedSettings {
    let mut all = ComparedSettings::new();
    let machine = &configuration.machine;
    let mut add = |kind, name: String, value: &Value| {
        for (name, value) in leaves(&name, value) {
            all.insert((kind, name), value);
        }
    };
    add("kernel", "name".into(), &json!(machine.kernel));
    add("machine", "cpus".into(), &json!(machine.cpus));
    add("machine", "memory_mib".into(), &json!(machine.memory_mib));
    if let Some(display) = machine.display {
        add("machine", "display".into(), &json!(display));
    }
    add("command line", "words".into(), &json!(machine.command_line));
    for (kind, steps) in [
        ("set-up", &configuration.setup),
        ("tear-down", &configuration.teardown),
    ] {
        for (at, step) in steps.iter().enumerate() {
            add(kind, format!("{}", at + 1), &step_value(step));
        }
    }
    let background = configuration.background.iter().map(|one| (None, one));
    let beside = configuration.beside.iter().enumerate();
    let beside = beside.flat_map(|(at, all)| all.iter().map(move |one| (Some(at), one)));
    for (at, workload) in background.chain(beside) {
        let of = at.and_then(|at| configuration.workloads.get(at));
        let of = of.map_or(String::new(), |of| format!("{}: ", of.name));
        add(
            "background",
            format!("{of}{}", workload.name),
            &kind_value(&workload.kind),
        );
    }
    for workload in &configuration.workloads {
        add(
            "workload",
            workload.name.clone(),
            &kind_value(&workload.kind),
        );
    }
    if let Some(queue) = &configuration.queue {
        add("queue", String::new(), &json!(queue));
    }
    if let Some(idle) = &configuration.idle {
        add("idle states", String::new(), &json!(idle));
    }
    if let Some(frequency) = &configuration.frequency {
        add("frequencies", String::new(), &json!(frequency));
    }
    if let Some(stalls) = &configuration.stalls {
        add("stalls", String::new(), &json!(stalls));
    }
    if let Some(policy) = &configuration.policy {
        add("policy", String::new(), &policy_value(policy));
    }
    all
}

/// A policy without the directory of its object, whose contents are among the parts anyway.
fn policy_value(policy: &PlacementPolicy) -> Value {
    let mut value = json!(policy);
    if policy.form == PolicyForm::Object {
        value["name"] = file_name(&policy.name).into();
    }
    value
}

/// A step without the path of its module file.
fn step_value(step: &Action) -> Value {
    match step {
        Action::Module { module, parameters } if is_file(module) => {
            json!({ "module file": true, "parameters": parameters })
        }
        // The files that a command reads are not among the parts, so paths count.
        step => json!(step),
    }
}

/// A workload without the paths of its program and input.
fn kind_value(kind: &WorkloadKind) -> Value {
    let mut value = json!(kind);
    if let Some(argv) = value.get_mut("argv") {
        name_program(argv);
    }
    for key in ["rt_app", "file"] {
        if let Some(Value::String(path)) = value.get_mut(key) {
            *path = file_name(path).into();
        }
    }
    value
}

fn name_program(argv: &mut Value) {
    if let Some(Value::String(program)) = argv.get_mut(0) {
        *program = file_name(program).into();
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn is_file(module: &str) -> bool {
    module.contains('/') || module.contains(".ko")
}

/// All values below a name; nested tables give dotted keys.
fn leaves(name: &str, value: &Value) -> Vec<(String, String)> {
    match value {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(key, value)| {
                let name = match name {
                    "" => key.clone(),
                    name => format!("{name} {key}"),
                };
                leaves(&name, value)
            })
            .collect(),
        Value::Null => Vec::new(),
        Value::String(text) => vec![(name.into(), text.clone())],
        other => vec![(name.into(), other.to_string())],
    }
}

/// The kinds of identity parts that may differ because of a step that loads a module.
const MODULES: [IdentityKind; 3] = [Module, ModuleBuildId, Parameter];
/// The kinds of identity parts that may differ because of a step that writes a value.
const VALUES: [IdentityKind; 3] = [Sysctl, Setting, Parameter];
/// The kinds of identity parts that may differ because of a workload or its parameters.
const WORKLOADS: [IdentityKind; 5] = [Program, Library, File, Environment, Scheduling];

/// The kinds of parts in which the levels can make two configurations differ.
fn varies(one: &PlannedConfiguration, other: &PlannedConfiguration) -> BTreeSet<String> {
    let mut kinds = BTreeSet::new();
    let mut add = |differ: bool, more: &[IdentityKind]| {
        if differ {
            kinds.extend(more.iter().map(|kind| kind.noun().replace(' ', "-")));
        }
    };
    let (a, b) = (&one.machine, &other.machine);
    add(a.kernel != b.kernel, &[Kernel]);
    add(a.kernel != b.kernel, &MODULES);
    // Machine and command line can each set what the other sets, such as the memory.
    let of_machine = |of: &Machine| (of.cpus, of.memory_mib, of.command_line.clone());
    let machine = of_machine(a) != of_machine(b);
    add(machine, &[CommandLine, IdentityKind::Machine, Scheduling]);
    let differ = |wanted: fn(&Action) -> bool| {
        let steps = |of: &PlannedConfiguration| -> Vec<Action> {
            let steps = of.setup.iter().filter(|step| wanted(step));
            steps.cloned().collect()
        };
        steps(one) != steps(other)
    };
    add(
        differ(|step| matches!(step, Action::Module { .. })),
        &MODULES,
    );
    add(
        differ(|step| matches!(step, Action::Sysctl { .. })),
        &VALUES,
    );
    add(differ(|step| matches!(step, Action::Write { .. })), &VALUES);
    let declared =
        |of: &PlannedConfiguration| (of.idle.clone(), of.frequency.clone(), of.stalls.clone());
    add(declared(one) != declared(other), &VALUES);
    let commands = differ(|step| matches!(step, Action::Command { .. }));
    add(commands, &VALUES);
    add(commands, &MODULES);
    add(commands, &[Program, Library]);
    // The program that attaches a policy is itself a part.
    add(
        one.policy != other.policy,
        &[Policy, Program, Library, Scheduling],
    );
    let workloads =
        |of: &PlannedConfiguration| -> Vec<Workload> { of.every_workload().cloned().collect() };
    add(workloads(one) != workloads(other), &WORKLOADS);
    kinds
}

/// Configuration, workload, and build of the testbed's modules, whose bytes differ between builds.
type BuildCell = (usize, usize, u32);

/// The parts that the runs of each configuration and workload must consist of.
#[derive(Debug, Default)]
pub(crate) struct ExpectedParts {
    cells: BTreeMap<BuildCell, Vec<RunIdentityPart>>,
    builds: Vec<u32>,
}

impl ExpectedParts {
    /// The expected parts of these runs; the target must be prepared for them.
    pub(crate) fn for_runs(
        plan: &Plan,
        runs: &[PlannedRun],
        target: &dyn Target,
    ) -> Result<ExpectedParts, Failure> {
        let mut expected = ExpectedParts {
            builds: plan.images.iter().map(|image| image.build).collect(),
            ..ExpectedParts::default()
        };
        for run in runs {
            let cell = expected.cell(run);
            if expected.cells.contains_key(&cell) {
                continue;
            }
            if let Some(order) = plan.order(run.index) {
                expected.cells.insert(cell, target.expected(&order)?);
            }
        }
        Ok(expected)
    }

    /// The parts that this run must consist of.
    pub(crate) fn run(&self, run: &PlannedRun) -> &[RunIdentityPart] {
        self.cells.get(&self.cell(run)).map_or(&[], Vec::as_slice)
    }

    fn cell(&self, run: &PlannedRun) -> BuildCell {
        let image = run.image.and_then(|image| usize::try_from(image).ok());
        let build = image.and_then(|image| self.builds.get(image));
        let build = build.copied().unwrap_or_default();
        (run.configuration, run.workload, build)
    }
}

/// Everything requested of a run, in a form that can be compared: the settings that
/// matter for it, and its parts without their paths.
fn requested_run(
    configuration: &PlannedConfiguration,
    at: usize,
    parts: &[RunIdentityPart],
) -> RequestedRun {
    let proven = |name: &str| {
        let name = name.replace('-', "_");
        let mut modules = parts
            .iter()
            .filter(|part| part.kind == IdentityKind::Module);
        modules.any(|module| module.name == name)
    };
    let mut configuration = configuration.clone();
    for step in &mut configuration.setup {
        if let Action::Module { module, .. } = step
            && proven(module)
        {
            // The file is among the parts.
            *module = "file.ko".into();
        }
    }
    let programs = parts.iter().any(|part| part.kind == IdentityKind::Program);
    let libraries = parts.iter().any(|part| part.kind == IdentityKind::Library);
    // The libraries are parts themselves, so their paths do not matter.
    let parts = parts
        .iter()
        .filter(|part| !(libraries && places_libraries(part)));
    let name = |part: &RunIdentityPart| match part.kind {
        IdentityKind::Program | IdentityKind::Library | IdentityKind::File => {
            file_name(&part.name).to_string()
        }
        _ => part.name.clone(),
    };
    let settings = counting(&configuration, at, programs);
    RequestedRun {
        settings,
        parts: parts
            .map(|part| (part.kind, name(part), part.value.clone()))
            .collect(),
    }
}

/// The settings of a configuration that matter for one of its workloads. `programs`:
/// whether the parts identify its programs.
fn counting(configuration: &PlannedConfiguration, at: usize, programs: bool) -> ComparedSettings {
    let workload = &configuration.workloads[at].name;
    let counts = |(kind, name): &(&str, String)| {
        let own = name == workload || name.starts_with(&format!("{workload} "));
        match *kind {
            // The image is among the parts.
            "kernel" => false,
            "workload" => own && !name.ends_with(" environment"),
            "background" => {
                let of = name.split_once(": ").map_or(&**workload, |(of, _)| of);
                of == workload && !name.ends_with(" environment")
            }
            _ => true,
        }
    };
    // Background work counts once, whether a level or the workload requests it.
    let own = format!("{workload}: ");
    let beside = |(kind, name): (&'static str, String)| match name.strip_prefix(&own) {
        Some(rest) if kind == "background" => (kind, rest.to_owned()),
        _ => (kind, name),
    };
    let settings = settings(configuration).into_iter();
    let settings = settings.filter(|(key, _)| counts(key));
    let mut settings: ComparedSettings =
        settings.map(|(key, value)| (beside(key), value)).collect();
    if !programs {
        // The programs are not known here, so their paths count.
        let named =
            std::iter::once(&configuration.workloads[at]).chain(background_of(configuration, at));
        for (number, workload) in named.enumerate() {
            let program = workload.kind.program().unwrap_or_default().to_owned();
            settings.insert(("program", number.to_string()), program);
        }
    }
    settings
}

/// The background work of a workload.
fn background_of(
    configuration: &PlannedConfiguration,
    at: usize,
) -> impl Iterator<Item = &Workload> {
    let beside = configuration.beside.get(at).into_iter().flatten();
    configuration.background.iter().chain(beside)
}

/// Whether a part is only a search path of libraries.
fn places_libraries(part: &RunIdentityPart) -> bool {
    let variable = part.name.rsplit(' ').next().unwrap_or_default();
    part.kind == IdentityKind::Environment && matches!(variable, "LD_LIBRARY_PATH" | "LD_PRELOAD")
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct RequestedRun {
    settings: ComparedSettings,
    parts: BTreeSet<(IdentityKind, String, Option<String>)>,
}

/// The request of each workload and build.
type RequestsByCell = BTreeMap<(usize, u32), RequestedRun>;

/// The configurations that request the same as an earlier one: name and earlier name. Their runs
/// cannot differ.
pub(crate) fn same(plan: &Plan, expected: &ExpectedParts) -> BTreeMap<String, String> {
    let mut seen: Vec<(&str, RequestsByCell)> = Vec::new();
    let mut found = BTreeMap::new();
    let same = |one: &RequestsByCell, other: &RequestsByCell| {
        let common = || one.keys().filter(|cell| other.contains_key(*cell));
        let workloads: BTreeSet<usize> = common().map(|(workload, _)| *workload).collect();
        workloads.len() == plan.workloads.len() && common().all(|cell| one[cell] == other[cell])
    };
    for (at, configuration) in plan.configurations.iter().enumerate() {
        if configuration.aa {
            continue;
        }
        let cells = expected.cells.iter().filter(|((of, ..), _)| *of == at);
        let all: RequestsByCell = cells
            .map(|(&(_, workload, build), parts)| {
                (
                    (workload, build),
                    requested_run(configuration, workload, parts),
                )
            })
            .collect();
        match seen.iter().find(|(_, other)| same(other, &all)) {
            Some((one, _)) => drop(found.insert(configuration.name.clone(), (*one).to_owned())),
            None => seen.push((&configuration.name, all)),
        }
    }
    found
}

#[cfg(test)]
#[path = "levels_tests.rs"]
mod tests;
