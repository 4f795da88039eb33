//! Derives the payload: the programs, files, modules and packages that runs need on the target.

use std::collections::BTreeSet;
use std::path::PathBuf;

use assize_job::{
    Action, LinkedProgram, Package, Payload, PlacementPolicy, PolicyForm, WorkloadKind,
    below_experiment,
};
use serde::Deserialize;

use crate::plan::PlannedConfiguration;
use crate::steps::action::check_absolute;
use crate::steps::modules::{is_file, stem};
use crate::values::document::TomlDocument;
use crate::values::error::Error;
use crate::values::keys::{KeySection, List, Table, Text, key};
use crate::values::layers::Parameters;

/// The keys of the payload.
pub(crate) static KEYS: KeySection = KeySection {
    name: "payload",
    keys: &[
        key(
            "programs",
            List(&Text).or("[]"),
            "Programs by name (in PATH) or path, with the libraries they link.",
        ),
        key(
            "files",
            List(&Table(&FILE_KEYS)).or("[]"),
            "Files and directories.",
        ),
        key(
            "modules",
            List(&Text).or("[]"),
            "Kernel modules by name or path, with their dependencies.",
        ),
        key(
            "packages",
            List(&Text).or("[]"),
            "Debian packages installed here, with the files they depend on.",
        ),
    ],
};

/// The keys of a file in the payload.
pub(crate) static FILE_KEYS: KeySection = KeySection {
    name: "file",
    keys: &[
        key("from", Text.required(), "File or directory here."),
        key("to", Text.required(), "Absolute path on the target."),
    ],
};

/// The payload as written in the file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawPayload {
    pub(crate) programs: Vec<String>,
    pub(crate) files: Vec<RawCarried>,
    pub(crate) modules: Vec<String>,
    pub(crate) packages: Vec<String>,
}

/// A file or directory of the payload, as written in the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawCarried {
    pub(crate) from: String,
    pub(crate) to: String,
}

/// Checks that each file has an absolute path on the target.
pub(crate) fn check(document: &TomlDocument, payload: &RawPayload) -> Result<(), Error> {
    for (at, file) in payload.files.iter().enumerate() {
        check_absolute(document, &format!("payload.files[{at}].to"), &file.to)?;
    }
    Ok(())
}

/// Everything that the file names and the configurations need, sorted and
/// without duplicates. `parameters`: those of all workloads, and the changes that
/// levels make to them.
pub(crate) fn derive<'a>(
    document: &TomlDocument,
    given: &RawPayload,
    parameters: impl Iterator<Item = &'a Parameters>,
    configurations: &[PlannedConfiguration],
) -> Result<Payload, Error> {
    let mut programs: BTreeSet<&str> = given.programs.iter().map(String::as_str).collect();
    let mut modules: BTreeSet<&str> = given.modules.iter().map(String::as_str).collect();
    let mut module_files: BTreeSet<&str> = BTreeSet::new();
    let mut linked: BTreeSet<LinkedProgram> = BTreeSet::new();
    let mut policies: BTreeSet<&PlacementPolicy> = BTreeSet::new();
    for configuration in configurations {
        if let Some(policy) = &configuration.policy {
            policies.insert(policy);
            if policy.form == PolicyForm::Program {
                programs.extend(policy.argv.first().map(String::as_str));
            }
        }
        for action in configuration.setup.iter().chain(&configuration.teardown) {
            match action {
                Action::Module { module, .. } => {
                    match is_file(module) {
                        true => module_files.insert(module),
                        false => modules.insert(module),
                    };
                }
                Action::Command { argv } => programs.extend(argv.first().map(String::as_str)),
                Action::Sysctl { .. } | Action::Write { .. } => {}
            }
        }
        for workload in configuration.every_workload() {
            match linking(&workload.kind) {
                Some(program) => {
                    linked.insert(program);
                }
                None => programs.extend(workload.kind.program()),
            }
        }
    }
    let first = first(configurations);
    let owned = |names: BTreeSet<&str>| names.into_iter().map(str::to_owned).collect();
    Ok(Payload {
        programs: owned(programs),
        files: files(document, given, parameters)?,
        modules: owned(modules),
        module_files: owned(module_files),
        linked: linked.into_iter().collect(),
        packages: packages(given, configurations),
        always: modules_loaded_first(configurations),
        varied: varied(configurations, first.len()),
        first,
        policies: policies.into_iter().cloned().collect(),
    })
}

/// The packages that the file names, entirely, and others that workloads need.
fn packages(given: &RawPayload, configurations: &[PlannedConfiguration]) -> Vec<Package> {
    let given = given.packages.iter();
    let whole = given.map(|name| Package {
        name: name.clone(),
        only: Vec::new(),
    });
    let mut packages: BTreeSet<Package> = whole.collect();
    for workload in configurations.iter().flat_map(|one| one.every_workload()) {
        let wanted = workload.kind.packages().into_iter();
        let others: Vec<Package> = wanted
            .filter(|one| packages.iter().all(|other| other.name != one.name))
            .collect();
        packages.extend(others);
    }
    packages.into_iter().collect()
}

/// The first steps that all set-ups have in common and that load modules by name.
fn first(configurations: &[PlannedConfiguration]) -> Vec<Action> {
    let mut set_ups = configurations.iter().map(|one| one.setup.as_slice());
    let is_named =
        |step: &&Action| matches!(step, Action::Module { module, .. } if !is_file(module));
    let one = set_ups.next().unwrap_or_default();
    let mut first = &one[..one.iter().take_while(is_named).count()];
    for other in set_ups {
        let same = first.iter().zip(other).take_while(|(a, b)| a == b);
        first = &first[..same.count()];
    }
    first.to_vec()
}

/// Names of the modules that every set-up loads before its other steps.
fn modules_loaded_first(configurations: &[PlannedConfiguration]) -> Vec<String> {
    let loaded = configurations.iter().map(|one| {
        let loaded = one.setup.iter().map_while(|step| match step {
            Action::Module { module, .. } => Some(stem(module)),
            _ => None,
        });
        loaded.collect::<BTreeSet<_>>()
    });
    let common = loaded.reduce(|a, b| &a & &b);
    common.into_iter().flatten().collect()
}

/// Names of the modules to which steps after the first `first` give parameters.
fn varied(configurations: &[PlannedConfiguration], first: usize) -> Vec<String> {
    let steps = configurations.iter().flat_map(|one| &one.setup[first..]);
    let varied: BTreeSet<String> = steps
        .filter_map(|step| match step {
            Action::Module { module, parameters } if !parameters.is_empty() => Some(stem(module)),
            _ => None,
        })
        .collect();
    varied.into_iter().collect()
}

/// The program of a workload whose environment can change which libraries are loaded; `None` for
/// other workloads.
fn linking(kind: &WorkloadKind) -> Option<LinkedProgram> {
    let WorkloadKind::Command(command) = kind else {
        return None;
    };
    let linked = LinkedProgram::new(command.argv.first()?, &command.environment);
    (!linked.environment.is_empty()).then_some(linked)
}

/// The path on the target of a file that a workload names. An absolute path is
/// kept; others are mapped below the experiment's directory, so that files of
/// the same name from several directories do not collide.
pub(crate) fn target_path(path: &str) -> String {
    match path.starts_with('/') {
        true => path.to_owned(),
        false => below_experiment(path),
    }
}

/// Every file to copy to the target, with its path there. No two files may have the same path.
fn files<'a>(
    document: &TomlDocument,
    given: &RawPayload,
    parameters: impl Iterator<Item = &'a Parameters>,
) -> Result<Vec<(PathBuf, String)>, Error> {
    let given = given.files.iter();
    let given = given.map(|file| (PathBuf::from(&file.from), file.to.clone()));
    let read = parameters.filter_map(file_of);
    let all: BTreeSet<_> = given
        .chain(read.map(|path| (PathBuf::from(path), target_path(path))))
        .collect();
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    for (from, to) in all {
        if let Some((other, _)) = files.iter().find(|(_, taken)| *taken == to) {
            let why = format!(
                "{} and {} would both be {to} on the target",
                other.display(),
                from.display()
            );
            let error = document.error("payload.files", why);
            return Err(error.mend("rename one of the files"));
        }
        files.push((from, to));
    }
    Ok(files)
}

/// The file that a workload reads.
fn file_of(parameters: &Parameters) -> Option<&str> {
    let mut keys = ["rt_app", "file"].into_iter();
    keys.find_map(|key| parameters.get(key)?.as_str())
}
