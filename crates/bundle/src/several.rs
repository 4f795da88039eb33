//! Combines several bundles of one experiment into one set of records, with each
//! bundle as a block.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::difference::{FirstDifference, first_difference};
use crate::disk::read;
use crate::events::add_events;
use crate::{Across, Error, Head, Records};

/// How two bundles of runs are related.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BundleRelation {
    /// Parts of one schedule, which can be merged.
    OneSchedule,
    /// One experiment on two machines.
    Machines,
    /// One experiment on one machine, or on the exact target, with something
    /// different about the machine: its kernel, or another setting.
    Setting(Across, FirstDifference),
    /// One experiment repeated on one machine.
    Again,
    /// Different experiments: what differs, in a word or two, and the first
    /// difference.
    Strangers(&'static str, FirstDifference),
}

/// How the second of two bundles is related to the first.
///
/// Between machines, the number of runs, the seed, the number of retries and the
/// timeout may differ.
pub fn bundle_relation(first: &Head, second: &Head) -> BundleRelation {
    for (what, of) in ASKED {
        if let Some(difference) = first_difference(&of(first), &of(second)) {
            return BundleRelation::Strangers(what, difference);
        }
    }
    if first.target_kind() == "host" && first.machine != second.machine {
        return BundleRelation::Machines;
    }
    for (across, of) in SETTINGS {
        if let Some(difference) = first_difference(&of(first), &of(second)) {
            return BundleRelation::Setting(across, difference);
        }
    }
    if first.machine != second.machine && first.target != "exact" {
        return BundleRelation::Machines;
    }
    if first.difference(second).is_none() {
        BundleRelation::OneSchedule
    } else {
        BundleRelation::Again
    }
}

/// Extracts what is compared from a head.
type HeadExtract = fn(&Head) -> Value;

/// The fields in which bundles must agree to belong to the same experiment, in
/// the order in which they are checked.
const ASKED: [(&str, HeadExtract); 9] = [
    ("target", |head| json!({ "target": head.target_kind() })),
    ("experiment", |head| json!({ "title": head.title })),
    (
        "choice of primary metrics",
        |head| json!({ "primary": head.primary, "higher_is_better": head.higher_is_better }),
    ),
    ("set of claims", |head| json!({ "claims": head.claims })),
    (
        "set of workloads",
        |head| json!({ "workloads": head.workloads }),
    ),
    (
        "set of configurations",
        |head| json!({ "configurations": head.configurations, "factors": head.factors }),
    ),
    ("parameter of a workload", |head| {
        let of = |configuration: &Value| configuration.get("workloads").cloned();
        json!({ "workloads": head.plan.get("workloads"), "configurations": per_configuration(head, of) })
    }),
    (
        "definition of a configuration",
        |head| json!({ "configurations": per_configuration(head, |one| Some(without(one, &["machine", "workloads"]))) }),
    ),
    ("design", |head| {
        without(
            &head.plan,
            &[
                "schema",
                "source",
                // These are reflected in the rest of the plan.
                "overrides",
                "experiment",
                "title",
                "question",
                "target",
                "seed",
                "runs",
                "configurations",
                "workloads",
                "primary",
                "higher_is_better",
                "claims",
                "retries",
                "timeout_ms",
            ],
        )
    }),
];

/// Settings that may differ on one machine.
const SETTINGS: [(Across, HeadExtract); 3] = [
    (Across::Kernels, |head| {
        let of = |one: &Value| one.get("machine")?.get("kernel").cloned();
        json!({ "configurations": per_configuration(head, of) })
    }),
    (Across::Kernels, |head| json!(kernels(head))),
    (Across::Bundles, |head| {
        let facts: BTreeMap<_, _> = head
            .facts
            .iter()
            .filter(|(name, _)| !name.starts_with("host"))
            .collect();
        json!({ "configurations": per_configuration(head, |one| one.get("machine").cloned()), "facts": facts })
    }),
];

fn per_configuration(head: &Head, of: impl Fn(&Value) -> Option<Value>) -> Vec<Option<Value>> {
    let all = head.plan.get("configurations").and_then(Value::as_array);
    all.map_or_else(Vec::new, |all| all.iter().map(of).collect())
}

fn without(value: &Value, keys: &[&str]) -> Value {
    let mut value = value.clone();
    if let Some(map) = value.as_object_mut() {
        map.retain(|key, _| !keys.contains(&key.as_str()));
    }
    value
}

/// The versions of the kernels under test.
fn kernels(head: &Head) -> BTreeMap<&str, &str> {
    let on_host = head.target_kind() == "host";
    let under_test = |name: &str| {
        if on_host {
            name == "host_kernel"
        } else {
            name.starts_with("kernel ")
        }
    };
    let facts = head.facts.iter();
    facts
        .filter(|(name, _)| under_test(name))
        .map(|(name, version)| (name.strip_prefix("kernel ").unwrap_or(name), &**version))
        .collect()
}

/// A distinguishing name for each of several bundles: its machine, the name or else the version of
/// its kernel, otherwise its directory or, if two directories have one name, a number.
pub fn name_apart(heads: &[Head], directories: &[PathBuf], across: Across) -> Vec<String> {
    let machines = || heads.iter().map(|head| head.machine.clone()).collect();
    let list = |of: fn((&str, &str)) -> String| {
        let one = |head: &Head| -> String {
            let all: BTreeSet<String> = kernels(head).into_iter().map(of).collect();
            all.into_iter().collect::<Vec<_>>().join("+")
        };
        heads.iter().map(one).collect()
    };
    let directory = |path: &PathBuf| {
        let whole = path.canonicalize().unwrap_or_else(|_| path.clone());
        let name = whole.file_name().map(|name| name.to_string_lossy());
        name.map_or_else(|| path.display().to_string(), |name| name.into_owned())
    };
    let directories = || directories.iter().map(directory).collect();
    let ways: Vec<Vec<String>> = match across {
        Across::Machines => vec![machines(), directories()],
        Across::Kernels => vec![
            list(|(name, _)| name.to_owned()),
            list(|(_, version)| version.to_owned()),
            directories(),
        ],
        Across::Bundles => vec![directories()],
    };
    let apart = |names: &Vec<String>| {
        let distinct: BTreeSet<&String> = names.iter().collect();
        distinct.len() == names.len() && names.iter().all(|name| !name.is_empty())
    };
    ways.into_iter().find(apart).unwrap_or_else(|| {
        let numbered = (1..=heads.len()).map(|number| format!("bundle {number}"));
        numbered.collect()
    })
}

/// Reads several bundles of one experiment as one set of records, in which each run names its
/// bundle, and blocks and images of different bundles are distinct. [`bundle_relation`] decides
/// whether bundles are of one experiment.
///
/// The runs of a merged bundle keep their machines.
///
/// # Errors
/// As for [`crate::read`]; [`Error::Unit`] if two have a metric in different
/// units, [`Error::Twice`] if both hold runs of one machine.
pub fn stack(directories: &[PathBuf], names: &[String], across: Across) -> Result<Records, Error> {
    let mut all = Records::default();
    let mut units: BTreeMap<String, (String, &Path)> = BTreeMap::new();
    let mut machines: BTreeMap<String, &Path> = BTreeMap::new();
    let mut repetitions: BTreeMap<(String, String), u32> = BTreeMap::new();
    for (directory, name) in directories.iter().zip(names) {
        let mut records = read(directory)?;
        one_unit(&mut units, &records, directory)?;
        let here: BTreeSet<&str> = records
            .runs
            .iter()
            .map(|run| run.machine.as_deref().unwrap_or(name))
            .collect();
        for machine in here {
            if let Some(other) = machines.insert(machine.to_owned(), directory) {
                return Err(Error::Twice {
                    path: directory.clone(),
                    other: other.to_path_buf(),
                    machine: machine.to_owned(),
                });
            }
        }
        let next = NextNumbers::after(&all);
        records.follow(&all, directory);
        for run in &mut records.runs {
            run.machine.get_or_insert_with(|| name.clone());
            run.block = run.block.map(|block| block + next.block);
            run.image = run.image.map(|image| image + next.image);
            let cell = (run.configuration.clone(), run.workload.clone());
            let count = repetitions.entry(cell).or_default();
            *count += 1;
            run.repetition = *count;
        }
        for identity in &mut records.identities {
            identity.machine.get_or_insert_with(|| name.clone());
        }
        for failure in &mut records.failures {
            failure.block = failure.block.map(|block| block + next.block);
            failure.image = failure.image.map(|image| image + next.image);
            failure.machine.get_or_insert_with(|| name.clone());
        }
        for doubt in &mut records.doubts {
            doubt.detail = format!("{name}: {}", doubt.detail);
        }
        add(&mut all, records);
    }
    all.across = across;
    Ok(all)
}

/// The first block and image of the next bundle.
struct NextNumbers {
    block: u32,
    image: u32,
}

impl NextNumbers {
    fn after(all: &Records) -> NextNumbers {
        let blocks = all.runs.iter().map(|run| run.block);
        let blocks = blocks.chain(all.failures.iter().map(|run| run.block));
        let images = all.runs.iter().map(|run| run.image);
        let images = images.chain(all.failures.iter().map(|run| run.image));
        NextNumbers {
            block: blocks.flatten().max().map_or(0, |block| block + 1),
            image: images.flatten().max().map_or(0, |image| image + 1),
        }
    }
}

fn one_unit<'p>(
    units: &mut BTreeMap<String, (String, &'p Path)>,
    records: &Records,
    directory: &'p Path,
) -> Result<(), Error> {
    for run in &records.runs {
        for (metric, measurement) in &run.metrics {
            let known = units
                .entry(metric.clone())
                .or_insert_with(|| (measurement.unit.clone(), directory));
            if known.0 != measurement.unit && known.1 != directory {
                return Err(Error::Unit {
                    path: directory.to_path_buf(),
                    other: known.1.to_path_buf(),
                    metric: metric.clone(),
                    units: [measurement.unit.clone(), known.0.clone()],
                });
            }
        }
    }
    Ok(())
}

fn add(all: &mut Records, records: Records) {
    if all.configurations.is_empty() {
        all.configurations = records.configurations;
        all.level_settings = records.level_settings;
        all.same = records.same;
        all.factors = records.factors;
        all.workloads = records.workloads;
        all.higher_is_better = records.higher_is_better;
        all.primary = records.primary;
        all.claims = records.claims;
        all.tables = records.tables;
        all.tradeoffs = records.tradeoffs;
    }
    all.runs.extend(records.runs);
    all.identities.extend(records.identities);
    for events in &records.events {
        add_events(&mut all.events, events);
    }
    all.unsupported.extend(records.unsupported);
    all.resolutions.extend(records.resolutions);
    all.doubts.extend(records.doubts);
    all.failures.extend(records.failures);
    all.complained.extend(records.complained);
    all.unavailable.extend(records.unavailable);
    all.boots.join(records.boots);
    all.joined.extend(records.joined);
    for limit in records.limits {
        if !all.limits.contains(&limit) {
            all.limits.push(limit);
        }
    }
}
