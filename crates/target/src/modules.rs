//! Kernel modules: resolves names to files and orders them for loading.

mod index;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::Error;
use crate::elf::modinfo;
use crate::fault::{mend, read, wrong};
use crate::kernels::Kernel;
use crate::module_files::{canonical, plain, stem};
use crate::testbed::Testbed;
use index::ModuleIndex;

/// One module to carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Module {
    /// Its name in the kernel, with `_`.
    pub(crate) name: String,
    /// Its path below `lib/modules/RELEASE`, without a compression suffix.
    pub(crate) path: String,
    /// Its dependencies: paths as above, in reverse order of loading.
    pub(crate) needs: Vec<String>,
    /// The uncompressed file.
    pub(crate) bytes: Vec<u8>,
}

/// A module file that single runs load by path. There may be several of one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModuleFile {
    /// The path of the file on this machine, as requested.
    pub(crate) source: String,
    /// Its name in the kernel.
    pub(crate) name: String,
    /// Names of the modules it depends on.
    pub(crate) needs: Vec<String>,
    /// The uncompressed file.
    pub(crate) bytes: Vec<u8>,
}

/// The requested modules, with everything they depend on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    /// In an order in which they can be loaded.
    pub(crate) modules: Vec<Module>,
    /// Requested modules that are built in: paths as in `modules.builtin`.
    pub(crate) builtin: BTreeSet<String>,
    /// Requested aliases, with the module each resolves to.
    pub(crate) aliases: Vec<(String, String)>,
    /// Files that single steps load.
    pub(crate) beside: Vec<ModuleFile>,
}

/// Finds modules by name, alias or path of a `.ko` file, and reads the module `files` of single
/// steps. The name of one of the testbed's modules refers to that module, which is built if
/// necessary.
pub(crate) fn select(
    kernel: &Kernel,
    testbed: &Testbed,
    asked: &[String],
    files: &[String],
) -> Result<Selection, Error> {
    let mut selection = Selection::default();
    if asked.is_empty() && files.is_empty() {
        return Ok(selection);
    }
    let index = ModuleIndex::read(kernel)?;
    let (mut own, mut named) = (BTreeMap::new(), BTreeMap::new());
    for path in asked.iter().filter(|name| is_path(name)) {
        let module = OwnModule::read(kernel, Path::new(path))?;
        named.insert(path, module.name.clone());
        if let Some(other) = own.insert(module.name.clone(), module) {
            return Err(taken_twice(&other.name, asked, &named));
        }
    }
    let mut beside = Vec::new();
    for path in files {
        beside.push((path, OwnModule::read(kernel, Path::new(path))?));
    }
    let needed = own.values().chain(beside.iter().map(|(_, module)| module));
    let needed: Vec<String> = needed.flat_map(|module| module.depends.clone()).collect();
    add_testbed(kernel, testbed, asked, &needed, &mut own)?;
    let mut chosen = ModuleChooser {
        kernel,
        index: &index,
        own: &own,
        selection: &mut selection,
        open: Vec::new(),
    };
    for name in asked {
        let name = named.get(name).unwrap_or(name);
        chosen.choose(name, name)?;
    }
    for (path, module) in &beside {
        for need in &module.depends {
            // A run that loads this file also loads its dependency from a file.
            let given = beside.iter().any(|(_, other)| other.name == *need);
            match chosen.choose(need, path) {
                Err(_) if given => {}
                done => done?,
            }
        }
    }
    let take = |(source, module): (&String, OwnModule)| ModuleFile {
        source: source.clone(),
        name: module.name,
        needs: module.depends,
        bytes: module.bytes,
    };
    selection.beside = beside.into_iter().map(take).collect();
    Ok(selection)
}

/// Checks that modules exist, given by name, by alias or by the path of a `.ko` file, without
/// building any. For a kernel that is not stored, only files are checked.
///
/// # Errors
/// The first of them that the kernel does not have, or whose file is missing or for another
/// kernel; and why.
pub fn check<'a>(kernel: Option<&Kernel>, asked: &'a [String]) -> Result<(), (&'a str, Error)> {
    let mut own = BTreeSet::new();
    for name in asked.iter().filter(|name| is_path(name)) {
        let path = Path::new(name);
        let file = match kernel {
            Some(kernel) => OwnModule::read(kernel, path).map(|module| module.name),
            None => std::fs::metadata(path)
                .map(|_| stem(name))
                .map_err(|error| absent(path, error)),
        };
        own.insert(file.map_err(|error| (name.as_str(), error))?);
    }
    let Some(kernel) = kernel else { return Ok(()) };
    let testbed = Testbed::new(Path::new(""));
    let mut index = None;
    for name in asked.iter().filter(|name| !is_path(name)) {
        let short = canonical(name);
        if testbed.has(&short) || own.contains(&short) {
            continue;
        }
        let fail = |error| (name.as_str(), error);
        let index = match &mut index {
            Some(index) => index,
            None => index.insert(ModuleIndex::read(kernel).map_err(fail)?),
        };
        if !index.has(&short) && index.resolved_from(name).is_empty() {
            return Err(fail(index.unknown(kernel, name, name)));
        }
    }
    Ok(())
}

/// The error for a module file that is not there.
fn absent(path: &Path, error: std::io::Error) -> Error {
    let what = format!("read the module {}", path.display());
    mend(wrong(what, error), "check the path")
}

/// The error for two files of the payload that are the same module.
fn taken_twice(name: &str, asked: &[String], named: &BTreeMap<&String, String>) -> Error {
    let of_name = |path: &&String| named.get(*path).is_some_and(|other| other == name);
    let paths: Vec<&str> = asked.iter().filter(of_name).map(String::as_str).collect();
    let why = format!(
        "{} are both builds of the module {name}",
        paths.join(" and ")
    );
    mend(
        wrong("copy modules", why),
        "name one of them in the payload, or each in the set-up of its own level",
    )
}

/// Adds the testbed's modules, if one that is not given as a file is requested or needed.
fn add_testbed(
    kernel: &Kernel,
    testbed: &Testbed,
    asked: &[String],
    needed: &[String],
    own: &mut BTreeMap<String, OwnModule>,
) -> Result<(), Error> {
    let named = asked.iter().filter(|name| !is_path(name));
    let names = named.chain(needed).map(|name| canonical(name));
    let ours: Vec<String> = names
        .filter(|name| testbed.has(name) && !own.contains_key(name))
        .collect();
    if ours.is_empty() {
        return Ok(());
    }
    let tests = ours.iter().any(|name| testbed.is_test(name));
    let built = testbed.build(kernel, tests)?;
    if let Some(name) = ours.iter().find(|name| !built.contains_key(*name)) {
        let why = format!(
            "the configuration of {} ({}) lacks the subsystem that the module registers with",
            kernel.name, kernel.release
        );
        let what = format!("build the testbed's module {name}");
        return Err(mend(wrong(what, why), "use another kernel"));
    }
    for (name, path) in built {
        if let Entry::Vacant(free) = own.entry(name) {
            free.insert(OwnModule::read(kernel, &path)?);
        }
    }
    Ok(())
}

fn is_path(name: &str) -> bool {
    name.contains('/')
        || [".ko", ".ko.xz", ".ko.zst", ".ko.gz"]
            .iter()
            .any(|end| name.ends_with(end))
}

/// A module that does not come with the kernel.
struct OwnModule {
    name: String,
    depends: Vec<String>,
    bytes: Vec<u8>,
}

impl OwnModule {
    fn read(kernel: &Kernel, path: &Path) -> Result<Self, Error> {
        let bytes = std::fs::read(path).map_err(|error| absent(path, error))?;
        let bytes = plain(path, bytes)?;
        let facts = modinfo(path, &bytes)?;
        let fact = |key: &str| {
            let mut of_key = facts.iter().filter(|(name, _)| name == key);
            of_key.next().map(|(_, value)| value.as_str())
        };
        let magic = fact("vermagic").unwrap_or_default();
        let built_for = magic.split(' ').next().unwrap_or_default();
        if built_for != kernel.release {
            let what = format!("copy the module {}", path.display());
            let why = format!(
                "it was built for {built_for}, but {} is {}",
                kernel.name, kernel.release
            );
            let headers = kernel
                .headers
                .as_ref()
                .map(|path| path.display().to_string());
            let headers = headers.unwrap_or_else(|| "HEADERS".into());
            return Err(mend(
                wrong(what, why),
                format!("make -C {headers} M=DIR modules"),
            ));
        }
        let depends = fact("depends").unwrap_or_default();
        // The file's name does not matter.
        let name = fact("name").map_or_else(|| stem(&path.to_string_lossy()), canonical);
        Ok(OwnModule {
            name,
            depends: depends
                .split(',')
                .filter(|name| !name.is_empty())
                .map(canonical)
                .collect(),
            bytes,
        })
    }
}

struct ModuleChooser<'a> {
    kernel: &'a Kernel,
    index: &'a ModuleIndex,
    own: &'a BTreeMap<String, OwnModule>,
    selection: &'a mut Selection,
    /// Modules being chosen, to detect cycles.
    open: Vec<String>,
}

impl ModuleChooser<'_> {
    fn choose(&mut self, name: &str, asked: &str) -> Result<(), Error> {
        let short = canonical(name);
        let have = self
            .selection
            .modules
            .iter()
            .any(|module| module.name == short);
        if have || self.open.contains(&short) {
            return Ok(());
        }
        if let Some(own) = self.own.get(&short) {
            return self.take_own(own, asked);
        }
        if self.index.dep.contains_key(&short) {
            return self.take_in_tree(&short);
        }
        if let Some(path) = self.index.builtin.get(&short) {
            self.selection.builtin.insert(path.clone());
            return Ok(());
        }
        let behind = self.index.resolved_from(name);
        if behind.is_empty() {
            return Err(self.index.unknown(self.kernel, name, asked));
        }
        for real in behind {
            self.selection
                .aliases
                .push((name.to_string(), real.clone()));
            self.choose(&real, asked)?;
        }
        Ok(())
    }

    fn take_own(&mut self, own: &OwnModule, asked: &str) -> Result<(), Error> {
        self.open.push(own.name.clone());
        let mut needs: Vec<String> = Vec::new();
        for name in own.depends.iter().rev() {
            self.choose(name, asked)?;
            let chosen = self
                .selection
                .modules
                .iter()
                .find(|module| module.name == *name);
            for path in chosen
                .iter()
                .flat_map(|m| std::iter::once(&m.path).chain(&m.needs))
            {
                needs.retain(|known| known != path);
                needs.push(path.clone());
            }
        }
        self.open.pop();
        self.selection.modules.push(Module {
            name: own.name.clone(),
            path: format!("extra/{}.ko", own.name),
            needs,
            bytes: own.bytes.clone(),
        });
        Ok(())
    }

    fn take_in_tree(&mut self, name: &str) -> Result<(), Error> {
        let (Some((path, needs)), Some(directory)) =
            (self.index.dep.get(name), &self.index.directory)
        else {
            return Ok(());
        };
        self.open.push(name.to_string());
        for need in needs.iter().rev() {
            self.choose(&stem(need), name)?;
        }
        self.open.pop();
        let file = directory.join(path);
        self.selection.modules.push(Module {
            name: name.to_string(),
            path: without_suffix(path),
            needs: needs.iter().map(|need| without_suffix(need)).collect(),
            bytes: plain(&file, read(&file)?)?,
        });
        Ok(())
    }
}

fn without_suffix(path: &str) -> String {
    match path.rfind(".ko") {
        Some(at) => path[..at + 3].to_string(),
        None => path.to_string(),
    }
}

#[cfg(test)]
mod tests;
