//! The report tables that an experiment asks for.

use indexmap::IndexMap;

use crate::experiment::Experiment;
use crate::plan::{PlannedConfiguration, PlannedTable};
use crate::raw;
use crate::values::error::Error;

/// Checks the tables; the error is the first mistake.
pub(crate) fn find(experiment: &Experiment) -> Result<(), Error> {
    for (at, table) in experiment.file.tables.iter().enumerate() {
        let path = format!("tables[{at}]");
        metrics(experiment, &path, table)?;
        columns(experiment, &path, table)?;
        normalised(experiment, &path, table)?;
        factor(experiment, &path, table)?;
    }
    Ok(())
}

fn metrics(experiment: &Experiment, path: &str, table: &raw::RawTable) -> Result<(), Error> {
    let path = format!("{path}.metric");
    if table.metric.is_empty() {
        let error = experiment.error(&path, "names no metric");
        return Err(error.mend("name one, or remove the table"));
    }
    check_unique(experiment, &path, &table.metric)
}

fn columns(experiment: &Experiment, path: &str, table: &raw::RawTable) -> Result<(), Error> {
    let path = format!("{path}.workloads");
    let Some(columns) = &table.workloads else {
        return Ok(());
    };
    if columns.is_empty() {
        let error = experiment.error(&path, "names no workload");
        return Err(error.mend("name some, or remove it for all"));
    }
    for (at, name) in columns.iter().enumerate() {
        workload(experiment, &format!("{path}[{at}]"), name)?;
    }
    check_unique(experiment, &path, columns)
}

pub(crate) fn workload(experiment: &Experiment, path: &str, name: &str) -> Result<(), Error> {
    let file = &experiment.file;
    if file.workloads.contains_key(name) {
        return Ok(());
    }
    if file.background.contains_key(name) {
        let why = format!("'{name}' runs in the background and is not measured");
        let error = experiment.error(path, why);
        return Err(error.mend(format!("move it to [workloads.{name}], or remove it here")));
    }
    let error = experiment.error(path, format!("no workload '{name}'"));
    Err(error.nearest(name, file.workloads.keys().map(String::as_str)))
}

pub(crate) fn check_unique(
    experiment: &Experiment,
    path: &str,
    names: &[String],
) -> Result<(), Error> {
    for (at, name) in names.iter().enumerate() {
        if names[..at].contains(name) {
            let path = format!("{path}[{at}]");
            let error = experiment.error(&path, format!("'{name}' is given twice"));
            return Err(error.mend("remove one"));
        }
    }
    Ok(())
}

fn normalised(experiment: &Experiment, path: &str, table: &raw::RawTable) -> Result<(), Error> {
    let Some(name) = &table.normalised_to else {
        return Ok(());
    };
    let path = format!("{path}.normalised_to");
    workload(experiment, &path, name)?;
    let columns = columns_of(experiment, table);
    if !columns.contains(name) {
        let error = experiment.error(&path, format!("'{name}' is no column of the table"));
        return Err(error.mend(format!("add '{name}' to its workloads")));
    }
    if columns.len() == 1 {
        let error = experiment.error(&path, format!("'{name}' is the only column"));
        return Err(error.mend("add other workloads, or remove it"));
    }
    Ok(())
}

fn factor(experiment: &Experiment, path: &str, table: &raw::RawTable) -> Result<(), Error> {
    let factors = &experiment.file.factors;
    match &table.factor {
        Some(name) if !factors.contains_key(name) => {
            let error = experiment.error(&format!("{path}.factor"), format!("no factor '{name}'"));
            Err(match factors.is_empty() {
                true => error.mend("remove it"),
                false => error.nearest(name, factors.keys().map(String::as_str)),
            })
        }
        _ => Ok(()),
    }
}

pub(crate) fn columns_of(experiment: &Experiment, table: &raw::RawTable) -> Vec<String> {
    let all = || experiment.file.workloads.keys().cloned().collect();
    table.workloads.clone().unwrap_or_else(all)
}

/// The tables over these configurations, one for each metric. `levels` are the
/// kept levels of each factor.
pub(crate) fn tables(
    experiment: &Experiment,
    levels: &IndexMap<String, Vec<String>>,
    configurations: &[PlannedConfiguration],
) -> Vec<PlannedTable> {
    let mut tables = Vec::new();
    for (at, asked) in experiment.file.tables.iter().enumerate() {
        let factor = asked.factor.clone();
        let baselines = factor.as_ref().and_then(|factor| {
            let first = levels.get(factor)?.first()?;
            Some(baselines(factor, first, configurations))
        });
        let baselines = baselines.unwrap_or_default();
        for (which, metric) in asked.metric.iter().enumerate() {
            tables.push(PlannedTable {
                metric: metric.clone(),
                workloads: columns_of(experiment, asked),
                normalised_to: asked.normalised_to.clone(),
                factor: factor.clone(),
                baselines: baselines.clone(),
                place: experiment.place(&metric_path(experiment, at, which)),
            });
        }
    }
    tables
}

/// Maps each configuration to the one with the first level of the factor and
/// otherwise the same levels; configurations without a counterpart are left out.
fn baselines(
    factor: &str,
    first: &str,
    configurations: &[PlannedConfiguration],
) -> IndexMap<String, String> {
    let of = |configuration: &PlannedConfiguration| {
        let mut wanted = configuration.levels.clone();
        wanted.insert(factor.to_owned(), first.to_owned());
        let mut measured = configurations.iter().filter(|other| !other.aa);
        let baseline = measured.find(|other| other.levels == wanted)?;
        Some((configuration.name.clone(), baseline.name.clone()))
    };
    configurations.iter().filter_map(of).collect()
}

/// The path of the key that names a metric of a table.
pub(crate) fn metric_path(experiment: &Experiment, at: usize, which: usize) -> String {
    let path = format!("tables[{at}].metric");
    let element = format!("{path}[{which}]");
    match experiment.gives(&element) {
        true => element,
        false => path,
    }
}
