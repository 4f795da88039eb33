//! The testbed's sources, and the descriptions in them.

use std::collections::BTreeSet;

use crate::module_files::canonical;

/// Every file that a build reads: path below `kernel/` and text.
const OURS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/testbed.rs"));

/// A module of the testbed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestbedModule {
    /// Its name, as an experiment gives it.
    pub name: String,
    /// A description: its `MODULE_DESCRIPTION`.
    pub about: String,
    /// Its parameters, set at load time.
    pub parameters: Vec<ModuleParameter>,
}

/// A parameter of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleParameter {
    /// Its name.
    pub name: String,
    /// A description: its `MODULE_PARM_DESC`.
    pub about: String,
}

/// A tree of sources.
#[derive(Debug, Clone, Copy)]
pub(super) struct ModuleSources<'a> {
    files: &'a [(&'a str, &'a str)],
}

impl<'a> ModuleSources<'a> {
    /// The testbed's own sources.
    pub(super) fn ours() -> ModuleSources<'static> {
        ModuleSources { files: OURS }
    }

    /// Other sources, sorted by path.
    pub(super) fn with_files(files: &'a [(&'a str, &'a str)]) -> Self {
        ModuleSources { files }
    }

    /// Path and text of each file, sorted by path.
    pub(super) fn files(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.files.iter().copied()
    }

    /// Names of the modules that the Kbuild files build, with `_` for `-`: all, or those
    /// that are not only for tests.
    pub(super) fn names(&self, tests: bool) -> BTreeSet<String> {
        let made = self.built_modules().into_iter();
        made.filter(|(folder, _)| tests || !is_test(folder))
            .map(|(_, name)| canonical(name))
            .collect()
    }

    /// The modules for experiments; those only for tests are left out.
    pub(super) fn modules(&self) -> Vec<TestbedModule> {
        let made = self.built_modules().into_iter();
        let mut modules: Vec<TestbedModule> = made
            .filter(|(folder, _)| !is_test(folder))
            .map(|(folder, name)| TestbedModule {
                name: name.into(),
                about: strings(&self.calls(&folder, "MODULE_DESCRIPTION")).concat(),
                parameters: self.parameters(&folder),
            })
            .collect();
        modules.sort_by(|a, b| a.name.cmp(&b.name));
        modules
    }

    /// Folder, with a trailing slash, and name of each module that the top Kbuild file
    /// builds, directly or through folders.
    fn built_modules(&self) -> Vec<(String, &'a str)> {
        let mut made = Vec::new();
        let mut folders = vec![String::new()];
        while let Some(folder) = folders.pop() {
            let path = format!("{folder}Kbuild");
            let text = self.files().find(|(name, _)| *name == path);
            for object in text.iter().flat_map(|(_, text)| objects(text)) {
                if let Some(name) = object.strip_suffix(".o") {
                    made.push((folder.clone(), name));
                } else if object.ends_with('/') {
                    folders.push(format!("{folder}{object}"));
                }
            }
        }
        made
    }

    fn parameters(&self, folder: &str) -> Vec<ModuleParameter> {
        let calls = self.calls(folder, "MODULE_PARM_DESC");
        let found = calls.iter().filter_map(|call| {
            let (name, about) = call.split_once(',')?;
            Some(ModuleParameter {
                name: name.trim().into(),
                about: strings(&[about]).concat(),
            })
        });
        found.collect()
    }

    /// The arguments of a macro's uses in a folder's files.
    fn calls(&self, folder: &str, name: &str) -> Vec<&'a str> {
        let files = self.files().filter(|(path, _)| {
            let name = path.strip_prefix(folder);
            name.is_some_and(|name| name.ends_with(".c") && !name.contains('/'))
        });
        let start = format!("\n{name}(");
        let calls = files.flat_map(|(_, text)| {
            let after = text.split(start.as_str()).skip(1);
            after.filter_map(|rest| Some(rest.split_once(");")?.0))
        });
        calls.collect()
    }
}

/// Whether modules from this folder serve tests only.
fn is_test(folder: &str) -> bool {
    folder.starts_with("tests/")
}

/// The objects that a Kbuild file builds and the folders it descends into.
fn objects(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("obj-m"));
    let values = lines.filter_map(|rest| Some(rest.split_once('=')?.1));
    values.flat_map(str::split_whitespace)
}

/// The contents of C string literals, with escapes unchanged.
fn strings<'a>(texts: &[&'a str]) -> Vec<&'a str> {
    let of = |text: &&'a str| text.split('"').skip(1).step_by(2);
    texts.iter().flat_map(of).collect()
}
