//! Merges several bundles into one.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::difference::{FirstDifference, first_difference};
use crate::head::{Head, MachinePart, StoredHead};
use crate::layout::{FOLDERS, get, head_path, raw_path, recorded, run_path, samples_path};
use crate::recorded::StoredRun;
use crate::whole::{self, IfExists, UNFINISHED};
use crate::{Error, samples};

/// The result of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeSummary {
    /// The number of runs in the new bundle, including failed ones.
    pub runs: u32,
    /// The number of runs in the schedule, over all machines.
    pub planned_runs: u32,
    /// The number of runs that were in several bundles, with the same bytes.
    pub duplicates: u32,
    /// The machines, in the order of their blocks; one for the exact target,
    /// which is the same everywhere.
    pub machines: Vec<String>,
}

/// The runs of one machine in one bundle.
struct MergeInput<'p> {
    directory: &'p Path,
    head: Head,
    part: MachinePart,
}

/// The input from which a run of the new bundle is taken.
#[derive(Clone, Copy)]
struct RunOrigin<'i> {
    directory: &'i Path,
    /// Its index in that directory.
    index: u32,
    /// The number added to its index, order and block.
    shift: i64,
}

/// Joins bundles of one experiment into a new one.
///
/// Bundles of the exact target, or of one machine, are parts of one schedule:
/// their runs are put together by index. A run that several hold must have the
/// same bytes in all. On other targets each machine has run a separate schedule:
/// its runs are kept in separate blocks, and the bundles must agree in target,
/// configurations, factors, workloads, claims and primary metrics.
///
/// The new bundle appears complete or not at all; the inputs are not changed.
///
/// # Errors
/// [`Error::Incomparable`] if bundles of one machine have different schedules,
/// or those of several cannot be compared; [`Error::Conflict`] if two hold
/// different results of one run; [`Error::NotEmpty`] if `out` holds anything;
/// [`Error::NoSchedule`], [`Error::Nothing`], [`Error::Io`],
/// [`Error::Malformed`].
pub fn merge(inputs: &[PathBuf], out: &Path) -> Result<MergeSummary, Error> {
    let mut all = Vec::new();
    for directory in inputs {
        all.extend(parts_of(directory)?);
    }
    let Some(first) = all.first() else {
        return Err(Error::Nothing);
    };
    if !whole::names(out)?.is_empty() {
        return Err(Error::NotEmpty(out.to_path_buf()));
    }
    let exact = first.head.is_exact();
    let mut parts: Vec<(MachinePart, &MergeInput<'_>)> = Vec::new();
    let mut runs: BTreeMap<u32, RunOrigin<'_>> = BTreeMap::new();
    let mut duplicates = 0;
    for input in &all {
        let part = part_for(&mut parts, input, exact)?;
        for index in recorded(input.directory)? {
            let (from, new) = match origin_and_index(input, &part, index) {
                Some(shifted) => shifted,
                None => continue,
            };
            match runs.get(&new) {
                Some(there) => {
                    same_run(*there, from, new, exact)?;
                    duplicates += 1;
                }
                None => drop(runs.insert(new, from)),
            }
        }
    }
    let stored = head_of(&parts);
    let merged = MergeSummary {
        runs: u32::try_from(runs.len()).unwrap_or(u32::MAX),
        planned_runs: stored.head.planned_runs,
        duplicates,
        machines: parts.into_iter().map(|(part, _)| part.machine).collect(),
    };
    write(out, &stored, &runs)?;
    Ok(merged)
}

/// Splits a bundle into the machines that it holds.
fn parts_of(directory: &Path) -> Result<Vec<MergeInput<'_>>, Error> {
    let stored = StoredHead::read(directory)?;
    let parts = if stored.parts.is_empty() {
        vec![MachinePart {
            machine: stored.head.machine.clone(),
            offset: 0,
            planned_runs: stored.head.planned_runs,
        }]
    } else {
        stored.parts
    };
    Ok(parts
        .into_iter()
        .map(|part| MergeInput {
            directory,
            head: Head {
                machine: part.machine.clone(),
                planned_runs: part.planned_runs,
                ..stored.head.clone()
            },
            part,
        })
        .collect())
}

/// The part that the runs of an input belong to: that of their machine, or a new
/// one.
fn part_for<'i>(
    parts: &mut Vec<(MachinePart, &'i MergeInput<'i>)>,
    input: &'i MergeInput<'i>,
    exact: bool,
) -> Result<MachinePart, Error> {
    let of_machine = parts
        .iter()
        .find(|(part, _)| exact || part.machine == input.part.machine);
    if let Some((part, other)) = of_machine {
        return match other.head.difference(&input.head) {
            None => Ok(part.clone()),
            Some(difference) => Err(incomparable(input, other, difference)),
        };
    }
    if let Some((_, first)) = parts.first()
        && let Some(difference) =
            first_difference(&agreed_fields(&first.head), &agreed_fields(&input.head))
    {
        return Err(incomparable(input, first, difference));
    }
    let offset = parts
        .last()
        .map_or(0, |(part, _)| part.offset.saturating_add(part.planned_runs));
    let part = MachinePart {
        offset,
        ..input.part.clone()
    };
    parts.push((part.clone(), input));
    Ok(part)
}

/// The fields in which machines must agree for their runs to be judged together.
fn agreed_fields(head: &Head) -> Value {
    json!({
        "target": head.target_kind(),
        "primary": head.primary,
        "higher_is_better": head.higher_is_better,
        "claims": head.claims,
        "workloads": head.workloads,
        "configurations": head.configurations,
        "factors": head.factors,
    })
}

fn incomparable(
    input: &MergeInput<'_>,
    other: &MergeInput<'_>,
    difference: FirstDifference,
) -> Error {
    Error::Incomparable {
        path: input.directory.to_path_buf(),
        other: other.directory.to_path_buf(),
        difference: Box::new(difference),
    }
}

/// The input of a run, and its new index; `None` if it belongs to another part.
fn origin_and_index<'i>(
    input: &MergeInput<'i>,
    part: &MachinePart,
    index: u32,
) -> Option<(RunOrigin<'i>, u32)> {
    let within = index.checked_sub(input.part.offset)?;
    if within >= input.part.planned_runs {
        return None;
    }
    let new = part.offset.checked_add(within)?;
    let from = RunOrigin {
        directory: input.directory,
        index,
        shift: i64::from(new) - i64::from(index),
    };
    Some((from, new))
}

/// The run as it appears in the new bundle.
fn renumbered_run(from: RunOrigin<'_>) -> Result<StoredRun, Error> {
    let mut run: StoredRun = get(&run_path(from.directory, from.index))?;
    // No schedule has more blocks than runs, so blocks do not collide either.
    let by = |value: u32| u32::try_from(i64::from(value) + from.shift).unwrap_or(u32::MAX);
    let old = format!("{:04}-", run.index);
    run.index = by(run.index);
    run.order = by(run.order);
    run.block = run.block.map(by);
    let new = format!("{:04}-", run.index);
    for name in &mut run.raw {
        if let Some(rest) = name.strip_prefix(&old) {
            *name = format!("{new}{rest}");
        }
    }
    Ok(run)
}

/// The files of a run other than `runs/NNNN.json`, in an order that does not
/// depend on their names in the new bundle.
fn files(from: RunOrigin<'_>, run: &StoredRun) -> Vec<PathBuf> {
    let mut files = Vec::new();
    if !run.samples.is_empty() {
        files.push(samples_path(from.directory, from.index));
    }
    files.extend(run.raw.iter().map(|name| raw_path(from.directory, name)));
    files
}

/// Checks that two results of one run have the same bytes.
fn same_run(
    there: RunOrigin<'_>,
    here: RunOrigin<'_>,
    index: u32,
    exact: bool,
) -> Result<(), Error> {
    let (first, second) = (renumbered_run(there)?, renumbered_run(here)?);
    let value = |run: &StoredRun| serde_json::to_value(run).unwrap_or_default();
    let mut difference = first_difference(&value(&first), &value(&second));
    if difference.is_none() {
        let original = |from: RunOrigin<'_>| -> Result<StoredRun, Error> {
            get(&run_path(from.directory, from.index))
        };
        let files = [
            files(there, &original(there)?),
            files(here, &original(here)?),
        ];
        for (a, b) in files[0].iter().zip(&files[1]) {
            difference = different_file(a, b, (&first, there), (&second, here))?;
            if difference.is_some() {
                break;
            }
        }
    }
    match difference {
        None => Ok(()),
        Some(difference) => Err(Error::Conflict {
            path: run_path(here.directory, here.index),
            other: run_path(there.directory, there.index),
            index,
            difference: Box::new(difference),
            exact,
        }),
    }
}

fn different_file(
    a: &Path,
    b: &Path,
    first: (&StoredRun, RunOrigin<'_>),
    second: (&StoredRun, RunOrigin<'_>),
) -> Result<Option<FirstDifference>, Error> {
    let read = |path: &Path| fs::read(path).map_err(Error::io(path));
    let (bytes_a, bytes_b) = (read(a)?, read(b)?);
    if bytes_a == bytes_b {
        return Ok(None);
    }
    if a.extension().is_some_and(|end| end == "parquet") {
        let samples = |run: &StoredRun, path: &Path| -> Result<Value, Error> {
            let all = samples::decoded(path, &run.samples)?;
            let by_metric = all.into_iter().map(|one| {
                let pairs: Vec<Value> = one
                    .t_ns
                    .iter()
                    .zip(&one.values)
                    .map(|(t_ns, value)| json!({"t_ns": t_ns, "value": value}))
                    .collect();
                (one.metric, Value::Array(pairs))
            });
            Ok(json!({ "samples": Value::Object(by_metric.collect()) }))
        };
        let found = first_difference(&samples(first.0, a)?, &samples(second.0, b)?);
        // The samples are equal but the bytes differ: another version wrote
        // them.
        return Ok(found);
    }
    let text = |bytes: &[u8]| json!({ "raw": String::from_utf8_lossy(bytes) });
    Ok(first_difference(&text(&bytes_a), &text(&bytes_b)))
}

/// The head of the new bundle.
fn head_of(parts: &[(MachinePart, &MergeInput<'_>)]) -> StoredHead {
    let Some(((_, first), others)) = parts.split_first() else {
        return StoredHead::new(Head::default());
    };
    let mut head = first.head.clone();
    if others.is_empty() {
        return StoredHead::new(head);
    }
    let names: Vec<&str> = parts
        .iter()
        .map(|(part, _)| part.machine.as_str())
        .collect();
    head.machine = names.join(", ");
    if parts
        .iter()
        .any(|(_, input)| input.head.target != head.target)
    {
        head.target = head.target_kind().to_owned();
    }
    head.planned_runs = parts
        .iter()
        .map(|(part, _)| part.planned_runs)
        .fold(0, u32::saturating_add);
    let mut facts = BTreeMap::new();
    for (part, input) in parts {
        for (name, value) in &input.head.facts {
            let everywhere = parts
                .iter()
                .all(|(_, other)| other.head.facts.get(name) == Some(value));
            let name = if everywhere || name.ends_with(')') {
                name.clone()
            } else {
                format!("{name} ({})", part.machine)
            };
            facts.insert(name, value.clone());
        }
        for limit in &input.head.limits {
            if !head.limits.contains(limit) {
                head.limits.push(limit.clone());
            }
        }
    }
    head.facts = facts;
    StoredHead {
        parts: parts.iter().map(|(part, _)| part.clone()).collect(),
        ..StoredHead::new(head)
    }
}

/// Writes to a temporary directory and renames it.
fn write(
    out: &Path,
    stored: &StoredHead,
    runs: &BTreeMap<u32, RunOrigin<'_>>,
) -> Result<(), Error> {
    let parent = match out.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    whole::create_folder(parent)?;
    let beside = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .permissions(everybody())
        .tempdir_in(parent)
        .map_err(Error::io(parent))?;
    let at = beside.path();
    for folder in FOLDERS {
        whole::create_folder(&at.join(folder))?;
    }
    for (&index, &from) in runs {
        let original: StoredRun = get(&run_path(from.directory, from.index))?;
        let run = renumbered_run(from)?;
        let to = RunOrigin {
            directory: at,
            index,
            shift: 0,
        };
        for (source, target) in files(from, &original).iter().zip(files(to, &run)) {
            let bytes = fs::read(source).map_err(Error::io(source))?;
            whole::put(&target, &bytes, IfExists::Refuse)?;
        }
        whole::put_json(&run_path(at, index), &run, IfExists::Refuse)?;
    }
    whole::put_json(&head_path(at), stored, IfExists::Refuse)?;
    // The destination is an empty directory, or does not exist.
    fs::rename(at, out).map_err(Error::io(out))
}

fn everybody() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    fs::Permissions::from_mode(0o777)
}
