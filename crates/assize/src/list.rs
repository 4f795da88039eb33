//! `assize list`: available experiments, workloads, instruments, targets and designs.

use std::fs;
use std::path::{Path, PathBuf};

use assize_job::{INSTRUMENTS, WORKLOADS};
use assize_target::testbed::{self, TestbedModule};
use serde::Serialize;

use crate::cli::{ListArguments, Listing};
use crate::failure::Failure;
use crate::{output, run};

const ALL: [Listing; 6] = [
    Listing::Experiments,
    Listing::Workloads,
    Listing::Instruments,
    Listing::Targets,
    Listing::Designs,
    Listing::Policies,
];

/// Default directory of experiment files.
const USUAL: &str = "experiments";

const TARGETS: &[(&str, &str)] = &[
    (
        "exact",
        "a virtual machine whose clock counts instructions: the same run gives the same numbers",
    ),
    (
        "live",
        "a virtual machine with the host's clock; KVM where it works",
    ),
    ("host", "this machine as it is"),
    ("ssh:HOST", "another machine, over ssh"),
];

/// One item of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct ListEntry {
    name: String,
    about: String,
    /// Further lines: label and text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    more: Vec<(String, String)>,
}

impl ListEntry {
    fn new(name: impl Into<String>, about: impl Into<String>) -> Self {
        ListEntry {
            name: name.into(),
            about: about.into(),
            more: Vec::new(),
        }
    }
}

/// Lists one kind of item, or all.
pub(crate) fn list(arguments: &ListArguments) -> Result<u8, Failure> {
    let wanted = match arguments.what {
        Some(what) => vec![what],
        None => ALL.to_vec(),
    };
    let mut found = Vec::new();
    for what in wanted {
        found.push((word(what), entries(what, &arguments.directories)?));
    }
    let text = if arguments.json {
        json(&found)?
    } else {
        text(&found, arguments.what.is_none())
    };
    output::print(text.as_bytes())?;
    Ok(0)
}

fn word(what: Listing) -> &'static str {
    match what {
        Listing::Experiments => "experiments",
        Listing::Workloads => "workloads",
        Listing::Instruments => "instruments",
        Listing::Targets => "targets",
        Listing::Designs => "designs",
        Listing::Policies => "policies",
    }
}

fn entries(what: Listing, directories: &[PathBuf]) -> Result<Vec<ListEntry>, Failure> {
    let pairs = |table: &[(&str, &str)]| {
        let entry = |(name, about): &(&str, &str)| ListEntry::new(*name, *about);
        table.iter().map(entry).collect()
    };
    Ok(match what {
        Listing::Experiments => experiments(directories)?,
        Listing::Workloads => pairs(WORKLOADS),
        Listing::Targets => pairs(TARGETS),
        Listing::Instruments => INSTRUMENTS.iter().map(instrument).collect(),
        Listing::Designs => testbed::modules().into_iter().map(module).collect(),
        // The policies in `policies/` are not listed yet.
        Listing::Policies => Vec::new(),
    })
}

fn instrument(instrument: &assize_job::Instrument) -> ListEntry {
    let mut entry = ListEntry::new(instrument.name, instrument.source);
    entry.more.push(("needs".into(), instrument.needs.into()));
    let metrics = assize_job::of_instrument(instrument.name).map(ToString::to_string);
    let metrics = match metrics.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => "none: its records are for `assize trace`".into(),
        some => some,
    };
    entry.more.push(("metrics".into(), metrics));
    entry
}

/// A kernel module of the testbed and its designs.
fn module(module: TestbedModule) -> ListEntry {
    let mut entry = ListEntry::new(module.name, module.about);
    for parameter in module.parameters {
        let what = format!("parameter {}", parameter.name);
        entry.more.push((what, parameter.about));
    }
    entry
}

/// Every experiment file below these directories. The default directory may be missing; a
/// named one must exist.
fn experiments(directories: &[PathBuf]) -> Result<Vec<ListEntry>, Failure> {
    let mut files = Vec::new();
    for directory in directories {
        let usual = directories.len() == 1 && directory.as_os_str() == USUAL;
        if usual && !directory.exists() {
            continue;
        }
        collect(directory, &mut files)?;
    }
    files.sort();
    files.dedup();
    Ok(files.iter().map(|file| described(file)).collect())
}

fn described(file: &Path) -> ListEntry {
    let name = file.display().to_string();
    match run::experiment(file) {
        Ok(experiment) => ListEntry::new(name, experiment.title()),
        Err(failure) => ListEntry::new(name, format!("cannot be read: {failure}")),
    }
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let failed = |source| Failure::Read {
        path: directory.to_path_buf(),
        source,
    };
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) => return Err(failed(error)),
    };
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        if entry.file_type().map_err(failed)?.is_dir() {
            collect(&path, files)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            files.push(path);
        }
    }
    Ok(())
}

fn json(found: &[(&str, Vec<ListEntry>)]) -> Result<String, Failure> {
    let mut map = serde_json::Map::new();
    for (word, entries) in found {
        let list: Vec<serde_json::Value> = entries.iter().map(value).collect();
        map.insert((*word).to_string(), list.into());
    }
    let text = serde_json::to_string_pretty(&map);
    let text = text.map_err(|error| Failure::Show(error.to_string()))?;
    Ok(format!("{text}\n"))
}

fn value(entry: &ListEntry) -> serde_json::Value {
    let mut map = serde_json::Map::new();
    map.insert("name".into(), entry.name.clone().into());
    map.insert("about".into(), entry.about.clone().into());
    for (what, text) in &entry.more {
        map.insert(what.clone(), text.clone().into());
    }
    map.into()
}

fn text(found: &[(&str, Vec<ListEntry>)], titles: bool) -> String {
    let mut text = String::new();
    for (word, entries) in found {
        let indent = if titles {
            text.push_str(&format!("{word}\n"));
            "  "
        } else {
            ""
        };
        if entries.is_empty() {
            text.push_str(&format!("{indent}none yet\n"));
        }
        let width = entries.iter().map(|entry| entry.name.chars().count()).max();
        let width = width.unwrap_or(0);
        for entry in entries {
            text.push_str(&format!("{indent}{:width$}  {}\n", entry.name, entry.about));
            for (what, more) in &entry.more {
                text.push_str(&format!("{indent}{:width$}  {what}: {more}\n", ""));
            }
        }
    }
    assize_report::printable(&text).into()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_listed_with_what_it_needs() {
        let found = [("instruments", entries(Listing::Instruments, &[]).unwrap())];
        let text = text(&found, false);
        for instrument in INSTRUMENTS {
            assert!(text.contains(instrument.name) && text.contains(instrument.needs));
        }
        let value: serde_json::Value = serde_json::from_str(&json(&found).unwrap()).unwrap();
        assert_eq!(
            value["instruments"].as_array().unwrap().len(),
            INSTRUMENTS.len()
        );
    }

    #[test]
    fn experiments_are_found_below_their_directories_and_mistakes_are_told() {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("deep")).unwrap();
        fs::write(place.path().join("deep/x.toml"), "nonsense = [").unwrap();
        fs::write(place.path().join("notes.txt"), "").unwrap();
        let found = experiments(&[place.path().into()]).unwrap();
        assert!(experiments(&[place.path().into(), "not-there".into()]).is_err());
        assert_eq!(found.len(), 1);
        assert!(found[0].name.ends_with("deep/x.toml"));
        assert!(found[0].about.starts_with("cannot be read: "));
    }
}
