//! `assize compare` and `assize report`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use assize_audit::{Judged, Options};
use assize_bundle::{Records, nothing_differs};

use crate::cli::{BundleJoining, CompareArguments, ReportArguments, ShowArguments};
use crate::failure::Failure;
use crate::files::NamesInFiles;
use crate::page::{PageInputs, RecordsOrigin};
use crate::terms::JudgingTerms;
use crate::{audit, declared, failure, joining, output, rerun, resolutions};

/// Judges several bundles and files of results together.
pub(crate) fn compare(arguments: &CompareArguments) -> Result<u8, Failure> {
    let (records, terms, blocks) = gather(&arguments.inputs, arguments.bundles)?;
    let from = match &arguments.inputs[..] {
        [one] if one.is_dir() => RecordsOrigin::Bundle(one),
        inputs if blocks => RecordsOrigin::Blocks(inputs),
        inputs => RecordsOrigin::Several(inputs),
    };
    let material = PageInputs {
        records: &records,
        trial: &arguments.trial,
        terms: &terms,
        from,
    };
    judge(&material, &arguments.showing)
}

/// Shows one bundle.
pub(crate) fn report(arguments: &ReportArguments) -> Result<u8, Failure> {
    let mut records = assize_bundle::read(&arguments.bundle)?;
    resolutions::declare(&arguments.bundle, &mut records)?;
    let terms = JudgingTerms::of_bundle(&arguments.bundle)?;
    let material = PageInputs {
        records: &records,
        trial: &arguments.trial,
        terms: &terms,
        from: RecordsOrigin::Bundle(&arguments.bundle),
    };
    judge(&material, &arguments.showing)
}

fn judge(material: &PageInputs<'_>, showing: &ShowArguments) -> Result<u8, Failure> {
    require_runs(material)?;
    let mut document = output::judge(material.records, material.trial, material.terms)?;
    match material.from {
        RecordsOrigin::Bundle(directory) => {
            document.rerun = rerun::command(directory)?;
            rerun::add_run_commands(directory, &mut document);
        }
        RecordsOrigin::Blocks(_) | RecordsOrigin::Several(_) => {
            rerun::add_commands(None, &mut document);
        }
        RecordsOrigin::Post(_) => {}
    }
    output::show(&document, material, showing)
}

/// Fails if no run was recorded, not even one that failed.
fn require_runs(material: &PageInputs<'_>) -> Result<(), Failure> {
    let records = material.records;
    let is_answered = nothing_differs(&records.configurations, &records.same);
    if is_answered || !records.failures.is_empty() || audit::is_something(records) {
        return Ok(());
    }
    let because = match material.from {
        RecordsOrigin::Bundle(directory) => format!(
            "no run is recorded; continue with: {}",
            failure::resuming(directory)
        ),
        RecordsOrigin::Blocks(_) | RecordsOrigin::Several(_) | RecordsOrigin::Post(_) => {
            "no run is recorded".to_owned()
        }
    };
    Err(Failure::NothingFound {
        place: records.source.clone(),
        because,
    })
}

/// The records of all inputs, the terms for judging them, and whether the inputs are
/// blocks.
pub(crate) fn gather(
    inputs: &[PathBuf],
    asked: Option<BundleJoining>,
) -> Result<(Records, JudgingTerms, bool), Failure> {
    let mut terms: Option<JudgingTerms> = None;
    let mut all = Vec::new();
    for path in inputs {
        let records = match path.is_file() {
            true => declared::of_file(path, inputs.len() > 1)?,
            false => read(path)?,
        };
        let these = JudgingTerms::of_bundle(path)?;
        terms = Some(match terms {
            None => these,
            Some(before) => before.and(these),
        });
        all.push(records);
    }
    if inputs.len() > 1 {
        all = files_are_configurations(inputs, all);
    }
    let are_blocks = match asked {
        Some(joining) => joining == BundleJoining::Blocks,
        None => joining::overlap(inputs, &all),
    };
    let mut records = if are_blocks {
        joining::blocks(inputs, asked.is_some())?
    } else if asked.is_some() {
        united(inputs, joining::sides(inputs, all)?)?
    } else {
        joining::confounded(inputs, &mut all);
        united(inputs, all)?
    };
    let sources: Vec<String> = inputs
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    records.source = sources.join(", ");
    // It is unknown how the runs in a file are ordered relative to those of other inputs.
    records.order_unknown |= inputs.len() > 1 && inputs.iter().any(|path| path.is_file());
    Ok((records, terms.unwrap_or_default(), are_blocks))
}

/// Merges the records of inputs that have no cell in common.
pub(crate) fn united(inputs: &[PathBuf], all: Vec<Records>) -> Result<Records, Failure> {
    let mut united = Records::default();
    for (path, records) in inputs.iter().zip(all) {
        join(&mut united, records, path)?;
    }
    Ok(united)
}

pub(crate) fn read(path: &Path) -> Result<Records, Failure> {
    if path.is_dir() {
        let mut records = assize_bundle::read(path)?;
        resolutions::declare(path, &mut records)?;
        return Ok(records);
    }
    // The user who compares files decides what is compared.
    let options = Options {
        judged: Judged::All,
        ..Options::default()
    };
    let found = audit::read(path, &options)?;
    audit::require_something(&found)?;
    Ok(found.records)
}

/// If there are several inputs, makes each file a configuration.
fn files_are_configurations(inputs: &[PathBuf], all: Vec<Records>) -> Vec<Records> {
    let mut files = NamesInFiles::default();
    let read = inputs.iter().zip(&all).filter(|(path, _)| !path.is_dir());
    read.for_each(|(_, records)| files.note(records));
    let named = inputs.iter().zip(all).map(|(path, records)| {
        if path.is_dir() {
            records
        } else {
            files.as_configuration(path, records)
        }
    });
    named.collect()
}

/// The pairs of configuration and workload that have figures. Names match without regard
/// to case, as in a verdict.
fn cells(records: &Records) -> BTreeSet<(String, String)> {
    let runs = records.runs.iter();
    let summaries = records.summaries.iter();
    let events = records.events.iter();
    runs.map(|one| (&one.configuration, &one.workload))
        .chain(summaries.map(|one| (&one.configuration, &one.workload)))
        .chain(events.map(|one| (&one.configuration, &one.workload)))
        .map(|(configuration, workload)| (configuration.to_lowercase(), workload.to_lowercase()))
        .collect()
}

/// Adds records to those of other inputs; refuses to pool runs of one cell.
pub(crate) fn join(all: &mut Records, mut records: Records, path: &Path) -> Result<(), Failure> {
    if let Some((configuration, workload)) = cells(all).intersection(&cells(&records)).next() {
        let text = format!(
            "{}: holds runs of '{configuration}' on '{workload}', and so does an earlier input; \
             runs of different bundles are not pooled: rename one configuration, or compare the \
             bundles one by one",
            path.display()
        );
        return Err(Failure::Argument(text));
    }
    records.follow(all, path);
    for configuration in records.configurations {
        let mut known = all.configurations.iter();
        if known.all(|other| other.name != configuration.name) {
            all.configurations.push(configuration);
        }
    }
    add_new(&mut all.workloads, records.workloads);
    if all.factors.is_empty() {
        all.factors = records.factors;
    }
    all.runs.extend(records.runs);
    all.order_unknown |= records.order_unknown;
    all.identities.extend(records.identities);
    all.level_settings.extend(records.level_settings);
    all.same.extend(records.same);
    all.summaries.extend(records.summaries);
    all.events.extend(records.events);
    all.statements.extend(records.statements);
    all.unsupported.extend(records.unsupported);
    all.resolutions.extend(records.resolutions);
    all.doubts.extend(records.doubts);
    all.failures.extend(records.failures);
    all.complained.extend(records.complained);
    all.unavailable.extend(records.unavailable);
    add_new(&mut all.tables, records.tables);
    add_new(&mut all.tradeoffs, records.tradeoffs);
    add_new(&mut all.limits, records.limits);
    all.boots.join(records.boots);
    all.joined.extend(records.joined);
    add_new(&mut all.primary, records.primary);
    add_new(&mut all.higher_is_better, records.higher_is_better);
    add_new(&mut all.claims, records.claims);
    Ok(())
}

/// Adds the items that are not in the list yet.
fn add_new<T: PartialEq>(all: &mut Vec<T>, more: Vec<T>) {
    for one in more {
        if !all.contains(&one) {
            all.push(one);
        }
    }
}
