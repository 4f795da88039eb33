//! Groups the runs of each cell by their identity.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{IdentityPart, RunIdentity};

/// Kinds of parts that differ between builds of the testbed's modules.
const OF_A_BUILD: [&str; 2] = ["module", "module-build-id"];

/// The identity of one completed run.
#[derive(Debug, Clone)]
pub(crate) struct CompletedRun {
    pub(crate) configuration: String,
    pub(crate) workload: String,
    pub(crate) machine: Option<String>,
    pub(crate) image: Option<u32>,
    pub(crate) order: u32,
    pub(crate) parts: Vec<IdentityPart>,
}

type CellOnMachine = (String, String, Option<String>);
/// The kind and the name of a part.
type PartKey = (String, String);
/// The values of a part in each build.
type ValuesByBuild = BTreeMap<u64, BTreeSet<Option<String>>>;

/// Groups runs by identity, in the order of each group's first run.
///
/// As planned, images may contain different builds of the same modules. Such runs have the same
/// identity: if the bytes of a module depend only on the build, its value is the list of values
/// over all builds that every cell has.
pub(crate) fn identities(mut made: Vec<CompletedRun>, plan: &Value) -> Vec<RunIdentity> {
    same_for_all_builds(&mut made, &builds(plan));
    let mut all: Vec<RunIdentity> = Vec::new();
    for run in made {
        let same = |one: &&mut RunIdentity| {
            let cell = (&one.configuration, &one.workload, &one.machine);
            cell == (&run.configuration, &run.workload, &run.machine) && one.parts == run.parts
        };
        match all.iter_mut().find(same) {
            Some(known) => known.runs.push(run.order),
            None => all.push(RunIdentity {
                configuration: run.configuration,
                workload: run.workload,
                machine: run.machine,
                runs: vec![run.order],
                parts: run.parts,
            }),
        }
    }
    all
}

/// The build of each image.
fn builds(plan: &Value) -> Vec<u64> {
    let images = plan.get("images").and_then(Value::as_array);
    let build = |image: &Value| image.get("build").and_then(Value::as_u64).unwrap_or(0);
    images.map_or_else(Vec::new, |images| images.iter().map(build).collect())
}

fn same_for_all_builds(made: &mut [CompletedRun], builds: &[u64]) {
    let build_of = |run: &CompletedRun| {
        let image = usize::try_from(run.image?).ok()?;
        builds.get(image).copied()
    };
    let mut there: BTreeMap<CellOnMachine, BTreeSet<u64>> = BTreeMap::new();
    let mut values: BTreeMap<(CellOnMachine, PartKey), ValuesByBuild> = BTreeMap::new();
    for run in &*made {
        let Some(build) = build_of(run) else { return };
        there.entry(cell(run)).or_default().insert(build);
        for part in run.parts.iter().filter(|part| is_of_a_build(part)) {
            let key = (part.kind.clone(), part.name.clone());
            let of_part = values.entry((cell(run), key)).or_default();
            of_part.entry(build).or_default().insert(part.value.clone());
        }
    }
    let mut sets = there.values();
    let first = sets.next().cloned().unwrap_or_default();
    let common = sets.fold(first, |all, one| &all & one);
    for run in made {
        let cell = cell(run);
        for part in run.parts.iter_mut().filter(|part| is_of_a_build(part)) {
            let key = (cell.clone(), (part.kind.clone(), part.name.clone()));
            let Some(by_build) = values.get(&key) else {
                continue;
            };
            let always = by_build.len() == there.get(&cell).map_or(0, BTreeSet::len);
            if always && by_build.values().all(|values| values.len() == 1) {
                part.value = distinct_values(by_build, &common);
            }
        }
    }
}

/// The distinct values in the `common` builds, or in all builds if `common` is empty.
fn distinct_values(by_build: &ValuesByBuild, common: &BTreeSet<u64>) -> Option<String> {
    let counts = |build: &u64| common.is_empty() || common.contains(build);
    let all = by_build.iter().filter(|(build, _)| counts(build));
    let mut values: Vec<&String> = Vec::new();
    for value in all.flat_map(|(_, values)| values) {
        let value = value.as_ref()?;
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let values: Vec<&str> = values.into_iter().map(String::as_str).collect();
    Some(values.join(" "))
}

fn is_of_a_build(part: &IdentityPart) -> bool {
    OF_A_BUILD.contains(&part.kind.as_str())
}

fn cell(run: &CompletedRun) -> CellOnMachine {
    let (configuration, workload) = (run.configuration.clone(), run.workload.clone());
    (configuration, workload, run.machine.clone())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn completed_run(configuration: &str, image: u32, module: &str, library: &str) -> CompletedRun {
        let part = |kind: &str, value: &str| IdentityPart {
            kind: kind.into(),
            name: "x".into(),
            value: Some(value.into()),
        };
        CompletedRun {
            configuration: configuration.into(),
            workload: "w".into(),
            machine: None,
            image: Some(image),
            order: image,
            parts: vec![part("library", library), part("module", module)],
        }
    }

    /// The identities of runs on three images, of which the first and the last
    /// have the same build.
    fn identities_of(made: &[CompletedRun]) -> Vec<(Vec<u32>, String)> {
        let plan = json!({"images": [{"build": 0}, {"build": 1}, {"build": 0}]});
        let all = identities(made.to_vec(), &plan);
        let shown = |one: RunIdentity| (one.runs, one.parts[1].value.clone().unwrap());
        all.into_iter().map(shown).collect()
    }

    #[test]
    fn builds_of_the_same_module_are_one_identity() {
        let runs = [(0, "a"), (1, "b"), (2, "a")];
        let both = ["base", "other"].map(|name| runs.map(|(i, m)| completed_run(name, i, m, "l")));
        let all = (vec![0, 1, 2], "a b".to_string());
        assert_eq!(identities_of(both.as_flattened()), [all.clone(), all]);
        // A build that only one of the two has does not distinguish them.
        let some = [both[0][0].clone(), both[0][1].clone(), both[1][2].clone()];
        let shown = identities_of(&some);
        assert_eq!(shown, [(vec![0, 1], "a".into()), (vec![2], "a".into())]);
    }

    #[test]
    fn what_the_build_does_not_decide_stays_a_difference() {
        let swapped = [(0, "a", "l"), (1, "b", "l"), (2, "c", "l")];
        let library = [(0, "a", "l"), (1, "b", "m"), (2, "a", "l")];
        for runs in [swapped, library] {
            let runs =
                runs.map(|(image, module, library)| completed_run("base", image, module, library));
            assert!(identities_of(&runs).len() > 1, "{runs:?}");
        }
        // Without builds each value counts.
        let runs = [
            completed_run("base", 0, "a", "l"),
            completed_run("base", 1, "b", "l"),
        ];
        assert_eq!(identities(runs.to_vec(), &json!({})).len(), 2);
    }
}
