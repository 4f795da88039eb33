//! Names of kernel modules, and the steps that load them.

use std::collections::{BTreeMap, BTreeSet};

use assize_job::{Action, Workload};

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
