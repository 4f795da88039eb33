//! From an experiment file to a plan.

use std::fs;
use std::path::Path;

use assize_job::{Replay, WorkloadKind, replay};
use assize_plan::{Experiment, Overrides, Plan};

use super::{declared, named};
use crate::cli::OverrideArguments;
use crate::failure::Failure;
use crate::shell;

/// Reads an experiment file and plans it. Also returns the kernels that have to be fetched first.
pub(crate) fn plan(
    path: &Path,
    overriding: &OverrideArguments,
) -> Result<(Plan, Vec<String>), Failure> {
    let experiment = experiment(path)?;
    let overrides = Overrides {
        runs: overriding.runs,
        seed: overriding.seed,
        target: overriding.target.clone(),
        levels: overriding.levels.iter().cloned().collect(),
        cpus: overriding.cpus,
        kernel: overriding.kernel.clone(),
        revision: overriding.revision.clone(),
    };
    let plan = experiment.plan(&overrides)?;
    declared::check(&experiment)?;
    replays(&plan)?;
    let missing = named::check(&experiment, &plan)?;
    Ok((plan, missing))
}

/// Reads the input files of replay workloads, so that mistakes in them are reported before any run.
pub(super) fn replays(plan: &Plan) -> Result<(), Failure> {
    for configuration in &plan.configurations {
        for workload in configuration.every_workload() {
            let WorkloadKind::Replay(Replay {
                file: Some(there), ..
            }) = &workload.kind
            else {
                continue;
            };
            let mut files = plan.payload.files.iter();
            let Some((path, _)) = files.find(|(_, to)| to == there) else {
                continue;
            };
            let text = fs::read_to_string(path).map_err(|source| Failure::Read {
                path: path.clone(),
                source,
            })?;
            if let Err(why) = replay::parse(&text) {
                return Err(Failure::Argument(format!("{}: {why}", path.display())));
            }
        }
    }
    Ok(())
}

pub(crate) fn experiment(path: &Path) -> Result<Experiment, Failure> {
    let text = fs::read_to_string(path).map_err(|source| Failure::Read {
        path: path.to_path_buf(),
        source,
    })?;
    Ok(assize_plan::parse(&text, &shell::name_of(path))?)
}
