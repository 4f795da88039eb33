//! The modules that a kernel has, by name and by alias.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::Error;
use crate::fault::{mend, read, wrong};
use crate::kernels::Kernel;
use crate::module_files::{canonical, glob, stem};

/// The tables that depmod writes.
pub(super) struct ModuleIndex {
    pub(super) directory: Option<PathBuf>,
    /// Name to path and dependencies, from `modules.dep`.
    pub(super) dep: BTreeMap<String, (String, Vec<String>)>,
    /// Name to path, from `modules.builtin`.
    pub(super) builtin: BTreeMap<String, String>,
    aliases: Vec<(String, String)>,
}

impl ModuleIndex {
    pub(super) fn read(kernel: &Kernel) -> Result<Self, Error> {
        let Some(directory) = kernel.modules.clone() else {
            return Ok(ModuleIndex {
                directory: None,
                dep: BTreeMap::new(),
                builtin: BTreeMap::new(),
                aliases: Vec::new(),
            });
        };
        let text = |name: &str| {
            let bytes = read(&directory.join(name))?;
            Ok::<_, Error>(String::from_utf8_lossy(&bytes).into_owned())
        };
        let dep = text("modules.dep")
            .map_err(|error| mend(error, format!("depmod -b PARENT {}", kernel.release)))?;
        let dep = dep.lines().filter_map(|line| {
            let (path, needs) = line.split_once(':')?;
            let needs = needs.split_whitespace().map(String::from).collect();
            Some((stem(path), (path.to_string(), needs)))
        });
        // A kernel without built-in modules has neither table.
        let builtin = text("modules.builtin").unwrap_or_default();
        let alias = text("modules.alias").unwrap_or_default();
        let aliases = alias.lines().filter_map(|line| {
            let mut words = line.strip_prefix("alias ")?.split_whitespace();
            Some((words.next()?.to_string(), canonical(words.next()?)))
        });
        Ok(ModuleIndex {
            dep: dep.collect(),
            builtin: builtin
                .lines()
                .map(|path| (stem(path), path.to_string()))
                .collect(),
            aliases: aliases.collect(),
            directory: Some(directory),
        })
    }

    /// Whether there is a module of this name (with `_` for `-`), built in or not.
    pub(super) fn has(&self, name: &str) -> bool {
        self.dep.contains_key(name) || self.builtin.contains_key(name)
    }

    /// The modules that an alias resolves to.
    pub(super) fn resolved_from(&self, alias: &str) -> Vec<String> {
        let alias = canonical(alias);
        let mut names: Vec<String> = self
            .aliases
            .iter()
            .filter(|(pattern, _)| glob(&canonical(pattern), &alias))
            .map(|(_, name)| name.clone())
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// The error for a module that this kernel does not have, and that another may need.
    pub(super) fn unknown(&self, kernel: &Kernel, name: &str, asked: &str) -> Error {
        let what = format!("copy the module {asked}");
        let (release, kernel) = (&kernel.release, &kernel.name);
        if self.directory.is_none() {
            return mend(
                wrong(
                    what,
                    format!("the kernel {kernel} is stored without modules"),
                ),
                "assize kernel add NAME --kernel IMAGE --modules DIR",
            );
        }
        if name == asked {
            let why = format!("the kernel {kernel} ({release}) has no such module");
            return mend(
                wrong(what, why),
                "give its name as lsmod shows it, or the path of its .ko file",
            );
        }
        let why = format!("it depends on {name}, which {kernel} ({release}) does not have");
        mend(
            wrong(what, why),
            format!("list {name}.ko in the payload too"),
        )
    }
}
