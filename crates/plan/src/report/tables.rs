//! The report tables that an experiment asks for.

use indexmap::IndexMap;
use serde::Deserialize;

use crate::plan::{PlannedConfiguration, PlannedTable};
use crate::values::document::TomlDocument;
use crate::values::error::Error;
use crate::values::keys::{KeySection, List, OneOrMore, Text, key};

/// The keys of a report table.
pub(crate) static KEYS: KeySection = KeySection {
    name: "table",
    keys: &[
        key(
            "metric",
            OneOrMore(&Text).required(),
            "The metric; with several, each has its own table.",
        ),
        key(
            "workloads",
            List(&Text).optional(),
            "The columns; by default all workloads.",
        ),
        key(
            "normalised_to",
            Text.optional(),
            "The column to which the other columns of the same row are relative; without it medians are shown.",
        ),
        key(
            "factor",
            Text.optional(),
            "Compare each configuration with the one at this factor's first level, all else equal, instead of with the baseline.",
        ),
    ],
};

/// A report table as written in the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawTable {
    pub(crate) metric: Vec<String>,
    pub(crate) workloads: Option<Vec<String>>,
    pub(crate) normalised_to: Option<String>,
    pub(crate) factor: Option<String>,
}

/// The names that tables and trade-offs may use.
pub(crate) struct DeclaredNames<'a> {
    pub(crate) document: &'a TomlDocument,
    pub(crate) workloads: Vec<&'a str>,
    pub(crate) background: Vec<&'a str>,
    pub(crate) factors: Vec<&'a str>,
}

impl DeclaredNames<'_> {
    fn error(&self, path: &str, why: impl Into<String>) -> Error {
        self.document.error(path, why)
    }

    /// Checks that a workload of this name is measured.
    pub(crate) fn require_workload(&self, path: &str, name: &str) -> Result<(), Error> {
        if self.workloads.contains(&name) {
            return Ok(());
        }
        if self.background.contains(&name) {
            let why = format!("'{name}' runs in the background and is not measured");
            let error = self.error(path, why);
            return Err(error.mend(format!("move it to [workloads.{name}], or remove it here")));
        }
        let error = self.error(path, format!("no workload '{name}'"));
        Err(error.nearest(name, self.workloads.iter().copied()))
    }
}

impl RawTable {
    /// The names of its columns.
    pub(crate) fn columns<'a>(&'a self, names: &DeclaredNames<'a>) -> Vec<&'a str> {
        match &self.workloads {
            Some(columns) => columns.iter().map(String::as_str).collect(),
            None => names.workloads.clone(),
        }
    }
}

/// Checks the tables; the error is the first mistake.
pub(crate) fn check(names: &DeclaredNames<'_>, tables: &[RawTable]) -> Result<(), Error> {
    for (at, table) in tables.iter().enumerate() {
        let path = format!("tables[{at}]");
        check_metrics(names, &path, table)?;
        check_columns(names, &path, table)?;
        check_normalised(names, &path, table)?;
        check_factor(names, &path, table)?;
    }
    Ok(())
}

fn check_metrics(names: &DeclaredNames<'_>, path: &str, table: &RawTable) -> Result<(), Error> {
    let path = format!("{path}.metric");
    if table.metric.is_empty() {
        let error = names.error(&path, "names no metric");
        return Err(error.mend("name one, or remove the table"));
    }
    names.document.check_unique(&path, &table.metric)
}

fn check_columns(names: &DeclaredNames<'_>, path: &str, table: &RawTable) -> Result<(), Error> {
    let path = format!("{path}.workloads");
    let Some(columns) = &table.workloads else {
        return Ok(());
    };
    if columns.is_empty() {
        let error = names.error(&path, "names no workload");
        return Err(error.mend("name workloads, or remove the key to include all"));
    }
    for (at, name) in columns.iter().enumerate() {
        names.require_workload(&format!("{path}[{at}]"), name)?;
    }
    names.document.check_unique(&path, columns)
}

fn check_normalised(names: &DeclaredNames<'_>, path: &str, table: &RawTable) -> Result<(), Error> {
    let Some(name) = &table.normalised_to else {
        return Ok(());
    };
    let path = format!("{path}.normalised_to");
    names.require_workload(&path, name)?;
    let columns = table.columns(names);
    if !columns.contains(&name.as_str()) {
        let error = names.error(&path, format!("'{name}' is not a column of the table"));
        return Err(error.mend(format!("add '{name}' to its workloads")));
    }
    if columns.len() == 1 {
        let error = names.error(&path, format!("'{name}' is the only column"));
        return Err(error.mend("add other workloads, or remove it"));
    }
    Ok(())
}

fn check_factor(names: &DeclaredNames<'_>, path: &str, table: &RawTable) -> Result<(), Error> {
    let factors = &names.factors;
    match &table.factor {
        Some(name) if !factors.contains(&name.as_str()) => {
            let error = names.error(&format!("{path}.factor"), format!("no factor '{name}'"));
            Err(match factors.is_empty() {
                true => error.mend("remove it"),
                false => error.nearest(name, factors.iter().copied()),
            })
        }
        _ => Ok(()),
    }
}

/// The tables over these configurations, one for each metric. `levels` are the
/// kept levels of each factor.
pub(crate) fn tables(
    names: &DeclaredNames<'_>,
    tables: &[RawTable],
    levels: &IndexMap<String, Vec<String>>,
    configurations: &[PlannedConfiguration],
) -> Vec<PlannedTable> {
    let mut planned = Vec::new();
    for (at, asked) in tables.iter().enumerate() {
        let factor = asked.factor.clone();
        let baselines = factor.as_ref().and_then(|factor| {
            let first = levels.get(factor)?.first()?;
            Some(baselines(factor, first, configurations))
        });
        let baselines = baselines.unwrap_or_default();
        let columns = asked.columns(names);
        for (which, metric) in asked.metric.iter().enumerate() {
            planned.push(PlannedTable {
                metric: metric.clone(),
                workloads: columns.iter().map(|name| (*name).to_owned()).collect(),
                normalised_to: asked.normalised_to.clone(),
                factor: factor.clone(),
                baselines: baselines.clone(),
                place: names
                    .document
                    .place(&metric_path(names.document, at, which)),
            });
        }
    }
    planned
}

/// Maps each configuration to the one with the first level of the factor and
/// otherwise the same levels; configurations without a counterpart are left out.
fn baselines(
    factor: &str,
    first: &str,
    configurations: &[PlannedConfiguration],
) -> IndexMap<String, String> {
    let baseline = |configuration: &PlannedConfiguration| {
        let mut wanted = configuration.levels.clone();
        wanted.insert(factor.to_owned(), first.to_owned());
        let mut measured = configurations.iter().filter(|other| !other.aa);
        let baseline = measured.find(|other| other.levels == wanted)?;
        Some((configuration.name.clone(), baseline.name.clone()))
    };
    configurations.iter().filter_map(baseline).collect()
}

/// The path of the key that names a metric of a table.
pub(crate) fn metric_path(document: &TomlDocument, at: usize, which: usize) -> String {
    let path = format!("tables[{at}].metric");
    let element = format!("{path}[{which}]");
    match document.gives(&element) {
        true => element,
        false => path,
    }
}
