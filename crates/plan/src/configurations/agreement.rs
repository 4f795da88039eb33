//! Checks that the levels of a configuration do not contradict each other.

use assize_job::Action;
use indexmap::IndexMap;
use serde_json::Value;

use crate::experiment::Experiment;
use crate::levels::{Levels, RawLevel, level_path};
use crate::steps::modules::{is_file, stem};
use crate::values::document::join;
use crate::values::error::Error;
use crate::values::layers::Parameters;

/// Maps each setting of a level to its path and values.
type LevelValues = IndexMap<String, (String, Vec<String>)>;

/// Checks that no two levels give the same setting different values.
pub(crate) fn check_settings(experiment: &Experiment, levels: &Levels<'_>) -> Result<(), Error> {
    let mut seen: IndexMap<String, (String, Vec<String>)> = IndexMap::new();
    for (factor, name, level) in levels {
        for (thing, (path, values)) in settings(&level_path(factor, name), level) {
            match seen.get(&thing) {
                Some((other, before)) if *before != values => {
                    let why = format!(
                        "sets {thing} to '{}', but {other} sets it to '{}'",
                        values.join(" "),
                        before.join(" ")
                    );
                    let mend = "let one factor set it, or exclude the combination";
                    return Err(experiment.error(&path, why).mend(mend));
                }
                Some(_) => {}
                None => {
                    seen.insert(thing, (path, values));
                }
            }
        }
    }
    Ok(())
}

/// The name of a kernel command-line parameter: what is before `=`.
pub(crate) fn parameter(word: &str) -> &str {
    word.split_once('=').map_or(word, |(name, _)| name)
}

fn settings(path: &str, level: &RawLevel) -> LevelValues {
    let mut settings = LevelValues::new();
    let mut set = |thing: String, path: String, value: String| {
        let (_, values) = settings.entry(thing).or_insert((path, Vec::new()));
        values.push(value);
    };
    if let Some(kernel) = &level.kernel {
        set("the kernel".into(), join(path, "kernel"), kernel.clone());
    }
    if let Some(cpus) = level.cpus {
        set(
            "the number of CPUs".into(),
            join(path, "cpus"),
            cpus.to_string(),
        );
    }
    if let Some(mib) = level.memory_mib {
        set("the memory".into(), join(path, "memory"), format!("{mib}M"));
    }
    for (at, word) in level.command_line.iter().enumerate() {
        let thing = format!("{} on the command line", parameter(word));
        set(
            thing,
            format!("{}[{at}]", join(path, "command_line")),
            word.clone(),
        );
    }
    for (steps, key, when) in [
        (&level.setup, "setup", ""),
        (&level.teardown, "teardown", " at the end"),
    ] {
        for (at, action) in steps.iter().enumerate() {
            let path = format!("{}[{at}]", join(path, key));
            for (thing, value) in action_settings(action) {
                set(format!("{thing}{when}"), path.clone(), value);
            }
        }
    }
    for (name, changes) in &level.workload {
        let path = join(&join(path, "workload"), name);
        for (thing, value) in leaves("", changes, name) {
            set(thing, path.clone(), value);
        }
    }
    for (thing, path, value) in table_settings(path, level) {
        set(thing, path, value);
    }
    for (name, value) in &level.environment {
        let path = join(&join(path, "environment"), name);
        set(format!("the variable {name}"), path, value.clone());
    }
    settings
}

/// The settings of a level's tables, such as `queue` or `idle`: setting, path and value.
fn table_settings(path: &str, level: &RawLevel) -> Vec<(String, String, String)> {
    let mut all = Vec::new();
    for (table, what, of_table) in [
        ("queue", "queues", &level.queue),
        ("idle", "idle states", &level.idle),
        ("frequency", "frequencies", &level.frequency),
        ("stalls", "stalls", &level.stalls),
    ] {
        for (name, value) in of_table {
            let path = join(&join(path, table), name);
            let value = value.as_str().map_or_else(|| value.to_string(), Into::into);
            all.push((format!("{name} of the {what}"), path, value));
        }
    }
    if let Some(policy) = &level.policy {
        let words = std::iter::once(policy.name.clone()).chain(policy.settings());
        let value = words.collect::<Vec<_>>().join(" ");
        all.push(("the placement policy".into(), join(path, "policy"), value));
    }
    all
}

fn action_settings(action: &Action) -> Vec<(String, String)> {
    match action {
        Action::Module { module, parameters } => parameters
            .iter()
            .map(|(name, value)| (format!("{name} of the module {module}"), value.clone()))
            .collect(),
        Action::Sysctl { name, value } => vec![(format!("the sysctl {name}"), value.clone())],
        Action::Write { path, value } => vec![(path.clone(), value.clone())],
        Action::Command { .. } => Vec::new(),
    }
}

/// The parameters of a workload, with nested tables flattened to one setting per value.
fn leaves(prefix: &str, parameters: &Parameters, workload: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (name, value) in parameters {
        let path = join(prefix, name);
        match value {
            Value::Object(inner) => found.extend(leaves(&path, inner, workload)),
            Value::Array(pairs) if name == "environment" => {
                for pair in pairs {
                    let text = |at| pair.get(at).and_then(Value::as_str).unwrap_or_default();
                    found.push((format!("the variable {}", text(0)), text(1).to_owned()));
                }
            }
            Value::String(text) => found.push((format!("{path} of {workload}"), text.clone())),
            other => found.push((format!("{path} of {workload}"), other.to_string())),
        }
    }
    found
}

/// A module that a level or the experiment mentions: its place and its text.
struct ModuleMention<'a> {
    place: String,
    text: &'a str,
    /// Whether a step loads the module; otherwise it is only in the payload.
    step: bool,
}

/// Checks that each module name refers to one file per configuration: two steps,
/// or a step and the payload, must not mean different files.
pub(crate) fn check_modules(experiment: &Experiment, levels: &Levels<'_>) -> Result<(), Error> {
    let named = module_mentions(experiment, levels);
    for (at, one) in named.iter().enumerate() {
        let stem = stem(one.text);
        let mut before = named[..at]
            .iter()
            .filter(|other| self::stem(other.text) == stem);
        if let Some(other) = before.find(|other| contradict(other, one)) {
            let why = format!(
                "{} and {} are both builds of the module {stem}: {} names {}, {} names {}",
                other.text, one.text, other.place, other.text, one.place, one.text
            );
            let mend = "name the module in one of them, or exclude the combination";
            return Err(experiment.error(&one.place, why).mend(mend));
        }
    }
    Ok(())
}

/// Whether two mentions of a module mean different files. A plain name means the
/// payload's file of that name, if there is one.
fn contradict(one: &ModuleMention<'_>, other: &ModuleMention<'_>) -> bool {
    match (is_file(one.text), is_file(other.text)) {
        (true, true) => one.text != other.text,
        (false, false) => false,
        (true, false) | (false, true) => one.step == other.step,
    }
}

fn module_mentions<'a>(experiment: &'a Experiment, levels: &Levels<'a>) -> Vec<ModuleMention<'a>> {
    let file = &experiment.file;
    let carried = file.payload.modules.iter().enumerate();
    let mut named: Vec<ModuleMention<'a>> = carried
        .map(|(at, text)| ModuleMention {
            place: format!("payload.modules[{at}]"),
            text,
            step: false,
        })
        .collect();
    let mut steps = |place: String, steps: &'a [Action]| {
        for (at, action) in steps.iter().enumerate() {
            if let Action::Module { module, .. } = action {
                named.push(ModuleMention {
                    place: format!("{place}[{at}]"),
                    text: module,
                    step: true,
                });
            }
        }
    };
    steps("setup".into(), &file.setup);
    for (factor, name, level) in levels {
        steps(join(&level_path(factor, name), "setup"), &level.setup);
    }
    named
}
