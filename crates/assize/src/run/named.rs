//! Checks that the kernels and modules of an experiment exist, before anything is fetched, built
//! or run.

use std::collections::BTreeSet;

use assize_plan::{Experiment, Plan, is_virtual};
use assize_target::check_modules;
use assize_target::kernels::{Kernel, Kernels, can_be_fetched};

use crate::failure::Failure;

/// Refuses a kernel or module that does not exist. Returns the Debian kernels that have to be
/// fetched first; their modules are not checked.
pub(super) fn check(experiment: &Experiment, plan: &Plan) -> Result<Vec<String>, Failure> {
    let mut missing = Vec::new();
    let mut stored: Vec<Option<Kernel>> = Vec::new();
    let configurations = plan.configurations.iter();
    let names: BTreeSet<&String> = configurations.map(|one| &one.machine.kernel).collect();
    let kernels = Kernels::new(Kernels::default_root()?);
    // The other targets use the kernel that they run.
    for name in names.into_iter().filter(|_| is_virtual(&plan.target)) {
        match kernels.resolve(name) {
            Ok(kernel) => stored.push(Some(kernel)),
            Err(_) if can_be_fetched(name) => missing.push(name.clone()),
            Err(error) => return Err(refused(kernel_place(experiment, plan, name), error)),
        }
    }
    if plan.target == "host" || !missing.is_empty() {
        stored.push(None);
    }
    let payload = &plan.payload;
    let asked = [&payload.modules[..], &payload.module_files[..]].concat();
    for kernel in &stored {
        check_modules(kernel.as_ref(), &asked)
            .map_err(|(name, error)| refused(experiment.place_of_module(name), error))?;
    }
    Ok(missing)
}

fn kernel_place(experiment: &Experiment, plan: &Plan, name: &str) -> Option<String> {
    match plan.overrides.kernel.as_deref() == Some(name) {
        true => Some(format!("--kernel {name}")),
        false => experiment.place_of_kernel(name),
    }
}

/// Attributes an error of a target to its place in the experiment.
fn refused(place: Option<String>, error: assize_target::Error) -> Failure {
    match place {
        Some(place) => Failure::Argument(format!("{place}: {error}")),
        None => Failure::Target(error),
    }
}
