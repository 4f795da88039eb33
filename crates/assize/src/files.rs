//! Files of results that are compared, each a configuration.

use std::collections::BTreeSet;
use std::path::Path;

use assize_audit::{UNNAMED, is_tool};
use assize_bundle::{Configuration, Records};

/// The configuration and workload names in all files. New names must not depend on the file, or the
/// files would have no cell in common.
#[derive(Debug, Default)]
pub(crate) struct NamesInFiles {
    /// The configurations named in the files.
    named: BTreeSet<String>,
    /// The workloads with a name.
    workloads: BTreeSet<String>,
    /// Whether any file has several configurations.
    several: bool,
}

impl NamesInFiles {
    /// Collects the configuration and workload names of a file.
    pub(crate) fn note(&mut self, records: &Records) {
        let names = records.configurations.iter().map(|c| &c.name);
        self.named
            .extend(names.filter(|name| *name != UNNAMED).cloned());
        let workloads = records.workloads.iter();
        self.workloads
            .extend(workloads.filter(|name| !is_tool(name)).cloned());
        self.several |= records.configurations.len() > 1;
    }

    /// The records of a file as one configuration, named after the file.
    pub(crate) fn as_configuration(&self, path: &Path, records: Records) -> Records {
        let stem = path.file_stem().unwrap_or_default();
        self.as_named(&stem.to_string_lossy(), records)
    }

    /// The records of a file as one configuration with this name.
    pub(crate) fn as_named(&self, name: &str, mut records: Records) -> Records {
        let stem = name.to_owned();
        let mut workloads: Vec<String> = Vec::new();
        self.rename(&stem, &mut records, &mut workloads);
        for statement in &mut records.statements {
            let of = (&statement.configuration, &statement.workload);
            if let (Some(configuration), Some(workload)) = of {
                statement.workload = Some(self.workload(configuration, workload));
            }
            statement.configuration = Some(stem.clone());
        }
        records.workloads = workloads;
        records.configurations = vec![Configuration {
            label: stem.clone(),
            name: stem,
            ..Configuration::default()
        }];
        records.factors.clear();
        records
    }

    /// Renames configurations and workloads in all records.
    fn rename(&self, stem: &str, records: &mut Records, workloads: &mut Vec<String>) {
        let runs = records.runs.iter_mut();
        let summaries = records.summaries.iter_mut();
        let events = records.events.iter_mut();
        let unsupported = records.unsupported.iter_mut();
        let resolutions = records.resolutions.iter_mut();
        let places = (runs.map(|one| (&mut one.configuration, &mut one.workload)))
            .chain(summaries.map(|one| (&mut one.configuration, &mut one.workload)))
            .chain(events.map(|one| (&mut one.configuration, &mut one.workload)))
            .chain(unsupported.map(|one| (&mut one.configuration, &mut one.workload)))
            .chain(resolutions.map(|one| (&mut one.configuration, &mut one.workload)));
        for (configuration, workload) in places {
            *workload = self.workload(configuration, workload);
            stem.clone_into(configuration);
            if !workloads.contains(workload) {
                workloads.push(workload.clone());
            }
        }
    }

    /// The new name of the workload for `configuration` on `workload` of a file.
    ///
    /// If a file has several configurations (for hyperfine, commands), each becomes part of the
    /// workload's name. If each file has one, it becomes part only if all files have the same one
    /// and the workload has merely the name of the tool; if they differ, that difference is
    /// compared.
    fn workload(&self, configuration: &str, workload: &str) -> String {
        let nothing_else = is_tool(workload);
        if configuration == UNNAMED {
            workload.to_owned()
        } else if self.several && (nothing_else || self.workloads.len() == 1) {
            configuration.to_owned()
        } else if self.several {
            format!("{workload}, {configuration}")
        } else if nothing_else && self.named.len() == 1 {
            configuration.to_owned()
        } else {
            workload.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(places: &[(&str, &str)]) -> Records {
        let mut records = Records::default();
        for (configuration, workload) in places {
            records
                .runs
                .push(assize_bundle::Run::new(*configuration, *workload, 1));
            let mut known = records.configurations.iter();
            if known.all(|other| other.name != *configuration) {
                records.configurations.push(Configuration {
                    name: (*configuration).to_owned(),
                    ..Configuration::default()
                });
            }
            if !records.workloads.contains(&(*workload).to_owned()) {
                records.workloads.push((*workload).to_owned());
            }
        }
        records
    }

    /// The resulting workload names of each file.
    fn called(files: &[&[(&str, &str)]]) -> Vec<Vec<String>> {
        let all: Vec<Records> = files.iter().map(|file| records(file)).collect();
        let mut together = NamesInFiles::default();
        for records in &all {
            together.note(records);
        }
        let name = |records: Records| together.as_configuration(Path::new("x/a.txt"), records);
        all.into_iter().map(|of| name(of).workloads).collect()
    }

    #[test]
    fn a_workload_is_called_alike_in_all_files() {
        // perf stat without a heading: the command names the workload.
        let (one, two) = (("unnamed", "w"), ("unnamed", "x"));
        assert_eq!(called(&[&[one], &[one]]), [["w"], ["w"]]);
        assert_eq!(
            called(&[&[one, two], &[one], &[two, one]]),
            [vec!["w", "x"], vec!["w"], vec!["x", "w"]]
        );
        // hyperfine: commands are configurations.
        let (make, more) = (("make", "hyperfine"), ("make -j", "hyperfine"));
        assert_eq!(called(&[&[make], &[make]]), [["make"], ["make"]]);
        assert_eq!(
            called(&[&[make, more], &[make]]),
            [vec!["make", "make -j"], vec!["make"]]
        );
        // perf stat of several commands, which are then configurations.
        assert_eq!(
            called(&[&[one], &[("w", "perf stat"), ("x", "perf stat")]]),
            [vec!["w"], vec!["w", "x"]]
        );
        // The difference between the files is what is compared.
        assert_eq!(
            called(&[&[("Before", "w")], &[("After", "w")]]),
            [["w"], ["w"]]
        );
        let (old, new) = (("./old", "hyperfine"), ("./new", "hyperfine"));
        assert_eq!(called(&[&[old], &[new]]), [["hyperfine"], ["hyperfine"]]);
        let grid = [("off", "w"), ("on", "w"), ("off", "x")];
        assert_eq!(
            called(&[&grid, &[("on", "x")]]),
            [vec!["w, off", "w, on", "x, off"], vec!["x, on"]]
        );
    }

    #[test]
    fn everything_that_was_read_gets_the_name_of_the_file() {
        let mut read = records(&[("unnamed", "w")]);
        read.unsupported.push(assize_bundle::Unsupported {
            configuration: "unnamed".into(),
            workload: "w".into(),
            metric: "cycles".into(),
            reason: "not supported".into(),
            place: assize_bundle::Place::default(),
        });
        let mut files = NamesInFiles::default();
        files.note(&read);
        let named = files.as_configuration(Path::new("x/a.txt"), read);
        assert_eq!(named.unsupported[0].configuration, "a");
        assert_eq!(named.unsupported[0].workload, "w");
        assert_eq!(named.runs[0].configuration, "a");
    }
}
