//! What is built, and what it says of itself.

use std::collections::BTreeSet;

use crate::modules::canonical;

/// Path below `kernel/` and text of every file that a build reads.
const OURS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/testbed.rs"));

/// A module of the testbed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestbedModule {
    /// Its name, as an experiment gives it.
    pub name: String,
    /// What it is: its `MODULE_DESCRIPTION`.
    pub about: String,
    /// What can be set when it is loaded.
    pub parameters: Vec<Parameter>,
}

/// A parameter of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// What it does: its `MODULE_PARM_DESC`.
    pub about: String,
}

/// A tree of sources.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sources<'a> {
    files: &'a [(&'a str, &'a str)],
}

impl<'a> Sources<'a> {
    /// Those of this project.
    pub(super) fn ours() -> Sources<'static> {
        Sources { files: OURS }
    }

    #[cfg(test)]
    pub(super) fn of(files: &'a [(&'a str, &'a str)]) -> Self {
        Sources { files }
    }

    /// Path and text of each file, sorted by path.
    pub(super) fn files(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.files.iter().copied()
    }

    /// What its Kbuild files make, with `_` for `-`.
    pub(super) fn names(&self) -> BTreeSet<String> {
        self.made().map(|(_, name)| canonical(name)).collect()
    }

    /// What can be asked for.
    pub(super) fn modules(&self) -> Vec<TestbedModule> {
        let mut modules: Vec<TestbedModule> = self
            .made()
            .map(|(folder, name)| TestbedModule {
                name: name.into(),
                about: strings(&self.calls(folder, "MODULE_DESCRIPTION")).concat(),
                parameters: self.parameters(folder),
            })
            .collect();
        modules.sort_by(|a, b| a.name.cmp(&b.name));
        modules
    }

    /// Folder and name of each module.
    fn made(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.files().flat_map(|(path, text)| {
            let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
            let lines = text.lines().filter(move |_| file == "Kbuild");
            let values = lines.filter_map(|line| line.strip_prefix("obj-m"));
            let values = values
                .filter_map(|rest| rest.split_once('='))
                .map(|it| it.1);
            values
                .flat_map(str::split_whitespace)
                .filter_map(move |object| Some((folder, object.strip_suffix(".o")?)))
        })
    }

    fn parameters(&self, folder: &str) -> Vec<Parameter> {
        let calls = self.calls(folder, "MODULE_PARM_DESC");
        let found = calls.iter().filter_map(|call| {
            let (name, about) = call.split_once(',')?;
            Some(Parameter {
                name: name.trim().into(),
                about: strings(&[about]).concat(),
            })
        });
        found.collect()
    }

    /// What stands between the brackets of a macro in a folder's files.
    fn calls(&self, folder: &str, name: &str) -> Vec<&'a str> {
        let files = self.files().filter(|(path, _)| {
            path.strip_suffix(".c")
                .is_some_and(|path| path.rsplit_once('/').map_or("", |it| it.0) == folder)
        });
        let start = format!("\n{name}(");
        let calls = files.flat_map(|(_, text)| {
            let after = text.split(start.as_str()).skip(1);
            after.filter_map(|rest| Some(rest.split_once(");")?.0))
        });
        calls.collect()
    }
}

/// The insides of C strings, as they stand.
fn strings<'a>(texts: &[&'a str]) -> Vec<&'a str> {
    let of = |text: &&'a str| text.split('"').skip(1).step_by(2);
    texts.iter().flat_map(of).collect()
}
