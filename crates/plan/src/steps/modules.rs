//! Resolves which file a kernel module's name means in each configuration.

use std::collections::{BTreeMap, BTreeSet};

use assize_job::{Action, Workload};

use crate::experiment::Experiment;
use crate::levels::combine::{Levels, level_path};
use crate::values::error::Error;
use crate::values::read::join;

/// One mention of a module: its place and its text.
struct ModuleMention<'a> {
    place: String,
    text: &'a str,
    /// Whether a step loads the module; otherwise only the payload carries it.
    step: bool,
}

/// Whether a module is given by the path of its file.
pub(crate) fn is_file(module: &str) -> bool {
    let ends = [".ko", ".ko.xz", ".ko.zst", ".ko.gz"];
    module.contains('/') || ends.iter().any(|end| module.ends_with(end))
}

/// The kernel's likely name for the module: the file name without its extension,
/// with `_` for `-`.
pub(crate) fn stem(module: &str) -> String {
    let file = module.rsplit('/').next().unwrap_or(module);
    let stem = file.split(".ko").next().unwrap_or(file);
    stem.replace('-', "_")
}

/// Whether two steps load the same module: the same name in any spelling, or the
/// same path.
pub(crate) fn are_same(one: &str, other: &str) -> bool {
    match (is_file(one), is_file(other)) {
        (false, false) => stem(one) == stem(other),
        _ => one == other,
    }
}

/// Whether a step loads the module that the kernel knows by this name.
pub(crate) fn is_loaded(steps: &[Action], name: &str) -> bool {
    steps.iter().any(|step| match step {
        Action::Module { module, .. } => stem(module) == stem(name),
        _ => false,
    })
}

/// Steps that load the modules which workloads need and no step loads yet.
pub(crate) fn missing_steps<'w>(
    steps: &[Action],
    workloads: impl Iterator<Item = &'w Workload>,
) -> Vec<Action> {
    let wanted: BTreeSet<&str> = workloads.filter_map(|one| one.kind.module()).collect();
    let missing = wanted.into_iter().filter(|name| !is_loaded(steps, name));
    missing
        .map(|name| Action::Module {
            module: name.to_owned(),
            parameters: BTreeMap::new(),
        })
        .collect()
}

/// Checks that each module name refers to one file per configuration: two steps,
/// or a step and the payload, must not mean different files.
pub(crate) fn check_agreement(experiment: &Experiment, levels: &Levels<'_>) -> Result<(), Error> {
    let named = module_mentions(experiment, levels);
    for (at, one) in named.iter().enumerate() {
        let stem = stem(one.text);
        let mut before = named[..at]
            .iter()
            .filter(|other| self::stem(other.text) == stem);
        if let Some(other) = before.find(|other| contradict(other, one)) {
            let why = format!(
                "{} and {} are both the module {stem}: {} names {}, {} names {}",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_a_file_if_it_has_a_path_or_an_ending() {
        for file in ["./a.ko", "a.ko", "a.ko.xz", "/x/a"] {
            assert!(is_file(file), "{file}");
        }
        assert!(!is_file("gpu-sched") && !is_file("a.kox"));
        assert_eq!(stem("/x/gpu-sched.ko.zst"), "gpu_sched");
    }
}
