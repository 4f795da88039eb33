//! Loads kernel modules.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use assize_job::Action;

use super::command::{self, CommandContext};
use super::module_order;
use crate::{elf, sys};

/// How a step of the set-up loads a module.
#[derive(Debug, Clone, Default)]
struct ModuleStep {
    /// Its file, if a step names one.
    file: Option<String>,
    parameters: BTreeMap<String, String>,
}

/// The modules of a run. A module named by a step is loaded as that step says,
/// even if another module needs it first.
#[derive(Debug, Default)]
pub(crate) struct RunModules {
    /// By name in the kernel.
    steps: BTreeMap<String, ModuleStep>,
    /// Names of the modules in each group of consecutive steps.
    groups: Vec<Vec<String>>,
    /// Seed of the random order inside each group; 0 keeps the order of the
    /// steps.
    order: u32,
    /// Modules loaded by this run, in order, with their files where known.
    loaded: Vec<(String, Option<String>)>,
}

impl RunModules {
    /// The modules of a set-up; none is loaded yet.
    pub(crate) fn from_setup(setup: &[Action]) -> RunModules {
        let mut modules = RunModules::default();
        let mut group = Vec::new();
        for action in setup {
            let Action::Module { module, parameters } = action else {
                modules.groups.push(std::mem::take(&mut group));
                continue;
            };
            let file = is_file(module).then(|| module.clone());
            let step = ModuleStep {
                file,
                parameters: parameters.clone(),
            };
            let name = real_name(module);
            group.push(name.clone());
            modules.steps.insert(name, step);
        }
        modules.groups.push(group);
        modules
    }

    /// Sets the seed of the random order; 0 keeps the order of the steps.
    pub(crate) fn in_order(mut self, order: u32) -> RunModules {
        self.order = order;
        self
    }

    /// Takes over the modules that `other` has loaded.
    pub(crate) fn with_loaded(mut self, other: RunModules) -> RunModules {
        self.loaded = other.loaded;
        self
    }

    /// Loads a module and its dependencies.
    pub(crate) fn load(
        &mut self,
        module: &str,
        parameters: &BTreeMap<String, String>,
        with: &CommandContext<'_>,
    ) -> Result<(), String> {
        let name = real_name(module);
        if is_loaded(&name) {
            return self.accept(module, &name, parameters);
        }
        if with.guest {
            let known = CarriedModules::read();
            self.load_group(&name, &known)?;
            self.load_in_guest(module, &name, parameters, &known, &mut BTreeSet::new())
        } else {
            self.load_on_host(module, &name, parameters, with)
        }
    }

    /// Checks that the module that is already loaded is the requested one.
    fn accept(
        &self,
        module: &str,
        name: &str,
        parameters: &BTreeMap<String, String>,
    ) -> Result<(), String> {
        let ours = self.loaded.iter().any(|(loaded, _)| loaded == name);
        let step = self.steps.get(name);
        // It was loaded as a dependency, with the parameters of its step.
        if ours && step.is_none_or(|step| step.parameters == *parameters) {
            return Ok(());
        }
        if !parameters.is_empty() {
            return Err(
                "it is loaded already, and parameters cannot be given again; \
                 remove it first (`rmmod`)"
                    .into(),
            );
        }
        if !is_file(module) {
            return Ok(());
        }
        let file = read(module)?;
        let (wanted, there) = (elf::module_build_id(&file), loaded_build_id(name));
        if wanted.is_some() && wanted == there {
            return Ok(());
        }
        let or_none = |id: Option<String>| id.unwrap_or_else(|| "none".into());
        Err(format!(
            "another module {name} is loaded already, of build id {}, not {}; \
             remove it first (`rmmod {name}`)",
            or_none(there),
            or_none(wanted)
        ))
    }

    /// Names of the modules that belong to this run: those that steps name, and
    /// their dependencies that it loaded.
    pub(crate) fn names(&self) -> BTreeSet<&str> {
        let loaded = self.loaded.iter().map(|(name, _)| name.as_str());
        let steps = self.steps.keys().map(String::as_str);
        steps.filter(|name| is_loaded(name)).chain(loaded).collect()
    }

    /// The file from which this run loaded a module.
    pub(crate) fn file(&self, name: &str) -> Option<&str> {
        let mut loaded = self.loaded.iter();
        let (_, file) = loaded.find(|(loaded, _)| loaded == name)?;
        let given = || self.steps.get(name)?.file.as_deref();
        file.as_deref().or_else(given)
    }

    /// Whether a step names this module.
    pub(crate) fn is_step(&self, name: &str) -> bool {
        self.steps.contains_key(name)
    }

    /// Unloads the modules that this run has loaded and that are still there,
    /// last first. Returns those that could not be unloaded, and why.
    pub(crate) fn unload(&self) -> Vec<(String, String)> {
        let mut failed = Vec::new();
        for (name, _) in self.loaded.iter().rev() {
            if is_loaded(name)
                && let Err(error) = sys::unload_module(name)
            {
                failed.push((name.clone(), sys::error_text(&error)));
            }
        }
        failed
    }

    /// Loads the modules of a step's group, and their dependencies, in random
    /// order. Does nothing if the order of the steps is to be kept.
    fn load_group(&mut self, name: &str, known: &CarriedModules) -> Result<(), String> {
        let of_step = |group: &&Vec<String>| group.iter().any(|one| one == name);
        let group = self.groups.iter().find(of_step);
        let Some(group) = group.filter(|_| self.order > 0) else {
            return Ok(());
        };
        let mut needs = BTreeMap::new();
        let mut open = group.clone();
        while let Some(name) = open.pop() {
            if is_loaded(&name) || needs.contains_key(&name) {
                continue;
            }
            let (_, needed) = known.find(&self.step(&name).0, &name)?;
            open.extend(needed.iter().cloned());
            needs.insert(name, needed);
        }
        for name in module_order::random_order(&needs, self.order) {
            let (module, parameters) = self.step(&name);
            self.load_in_guest(&module, &name, &parameters, known, &mut BTreeSet::new())?;
        }
        Ok(())
    }

    /// The file or name to load a module by, and its parameters.
    fn step(&self, name: &str) -> (String, BTreeMap<String, String>) {
        let step = self.steps.get(name).cloned().unwrap_or_default();
        (step.file.unwrap_or_else(|| name.into()), step.parameters)
    }

    /// Loads a module and its dependencies without modprobe, which guests lack.
    fn load_in_guest(
        &mut self,
        module: &str,
        name: &str,
        parameters: &BTreeMap<String, String>,
        known: &CarriedModules,
        begun: &mut BTreeSet<String>,
    ) -> Result<(), String> {
        if !begun.insert(name.to_string()) || is_loaded(name) {
            return Ok(());
        }
        let (path, needs) = known.find(module, name)?;
        for need in needs {
            let (module, parameters) = self.step(&need);
            self.load_in_guest(&module, &need, &parameters, known, begun)?;
        }
        let file = File::open(&path).map_err(sys::failure_of(&path))?;
        sys::load_module(&file, &parameter_text(parameters)).map_err(|error| {
            format!(
                "{path}: {}; the kernel's log has the details",
                sys::error_text(&error)
            )
        })?;
        self.loaded.push((name.to_string(), Some(path)));
        Ok(())
    }

    /// Loads a module and its dependencies with modprobe or insmod.
    fn load_on_host(
        &mut self,
        module: &str,
        name: &str,
        parameters: &BTreeMap<String, String>,
        with: &CommandContext<'_>,
    ) -> Result<(), String> {
        let needs = match is_file(module) {
            true => dependencies(&read(module)?),
            false => needs_on_host(module),
        };
        for need in needs.iter().map(|need| kernel_name(need)) {
            if is_loaded(&need) || need == name {
                continue;
            }
            match self.steps.get(&need).cloned() {
                Some(ModuleStep { file, parameters }) => {
                    let module = file.unwrap_or_else(|| need.clone());
                    self.load_on_host(&module, &need, &parameters, with)?;
                }
                // insmod loads no dependencies. This one is not a file of a step, so
                // modprobe can find it.
                None if is_file(module) => self.tool("modprobe", &need, &BTreeMap::new(), with)?,
                None => {}
            }
        }
        let tool = if is_file(module) {
            "insmod"
        } else {
            "modprobe"
        };
        self.tool(tool, module, parameters, with)
    }

    /// Runs a tool that loads a module, and records which modules are new.
    fn tool(
        &mut self,
        tool: &str,
        module: &str,
        parameters: &BTreeMap<String, String>,
        with: &CommandContext<'_>,
    ) -> Result<(), String> {
        let before: BTreeSet<String> = all_loaded().into_iter().collect();
        let mut argv = vec![tool.to_string(), module.to_string()];
        let words = parameters.iter();
        argv.extend(words.map(|(name, value)| format!("{name}={value}")));
        let done = command::run(&argv, with);
        // The kernel lists the newest first.
        let new = all_loaded().into_iter().rev();
        let new = new.filter(|name| !before.contains(name));
        self.loaded.extend(new.map(|name| (name, None)));
        done
    }
}

fn read(path: &str) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(sys::failure_of(&path))
}

fn is_loaded(name: &str) -> bool {
    Path::new("/sys/module").join(name).exists()
}

/// Every loaded module that is not built in, the newest first.
fn all_loaded() -> Vec<String> {
    let list = fs::read_to_string("/proc/modules").unwrap_or_default();
    let names = list.lines().filter_map(|line| line.split(' ').next());
    names.map(str::to_string).collect()
}

/// The build id of a loaded module.
pub(crate) fn loaded_build_id(name: &str) -> Option<String> {
    let notes = format!("/sys/module/{name}/notes/.note.gnu.build-id");
    elf::build_id(&fs::read(notes).ok()?)
}

/// Whether a module is given as the path of its file.
fn is_file(module: &str) -> bool {
    module.contains('/') || module.contains(".ko")
}

/// Kernel name of a module given by name or path.
fn kernel_name(module: &str) -> String {
    let file = module.rsplit('/').next().unwrap_or(module);
    let stem = file.find(".ko").map_or(file, |end| &file[..end]);
    stem.replace('-', "_")
}

/// The name recorded in a module's file; otherwise [`kernel_name`].
fn real_name(module: &str) -> String {
    let field = |file: Vec<u8>| elf::module_field(&file, "name");
    let recorded = match is_file(module) {
        true => fs::read(module).ok().and_then(field),
        false => None,
    };
    recorded.unwrap_or_else(|| kernel_name(module))
}

/// Parameters in the form the kernel expects.
fn parameter_text(parameters: &BTreeMap<String, String>) -> String {
    let words: Vec<String> = parameters
        .iter()
        .map(|(name, value)| {
            if value.contains(char::is_whitespace) {
                format!("{name}=\"{value}\"")
            } else {
                format!("{name}={value}")
            }
        })
        .collect();
    words.join(" ")
}

/// The dependencies recorded in a module's file.
fn dependencies(file: &[u8]) -> Vec<String> {
    let names = elf::module_field(file, "depends").unwrap_or_default();
    let names = names.split(',').filter(|name| !name.is_empty());
    names.map(str::to_string).collect()
}

/// The modules that modprobe would load for this one, including itself, last. modprobe
/// prints a line `insmod PATH …` for each.
fn needs_on_host(module: &str) -> Vec<String> {
    let output = Command::new("modprobe")
        .args(["--show-depends", module])
        .output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let text = text.unwrap_or_default();
    let paths = text.lines().filter_map(|line| {
        let path = line.strip_prefix("insmod ")?;
        path.split_whitespace().next()
    });
    paths.map(kernel_name).collect()
}

/// The modules carried to a virtual machine.
struct CarriedModules {
    directory: String,
    /// Kernel name of each module to its file and the files that it depends on.
    files: BTreeMap<String, (String, Vec<String>)>,
}

impl CarriedModules {
    fn read() -> CarriedModules {
        let directory = format!("/lib/modules/{}", sys::uname().0);
        // There is no modules.dep if all modules are given by path.
        let list = fs::read_to_string(format!("{directory}/modules.dep")).unwrap_or_default();
        CarriedModules {
            directory,
            files: read_dependencies(&list),
        }
    }

    /// The file of a module, and the names of its dependencies.
    fn find(&self, module: &str, name: &str) -> Result<(String, Vec<String>), String> {
        if module.starts_with('/') {
            let needs = dependencies(&read(module)?);
            return Ok((
                module.to_string(),
                needs.iter().map(|it| kernel_name(it)).collect(),
            ));
        }
        if let Some((path, needs)) = self.files.get(name) {
            let needs = needs.iter().map(|path| kernel_name(path));
            return Ok((self.uncompressed(path)?, needs.collect()));
        }
        Err(format!(
            "neither loaded nor in {}/modules.dep; add it to the payload's modules",
            self.directory
        ))
    }

    /// The uncompressed file of a path in modules.dep, which may name a
    /// compressed one.
    fn uncompressed(&self, path: &str) -> Result<String, String> {
        let path = if path.starts_with('/') {
            path.to_string()
        } else {
            format!("{}/{path}", self.directory)
        };
        let end = path.find(".ko").map_or(path.len(), |at| at + ".ko".len());
        if Path::new(&path[..end]).exists() {
            return Ok(path[..end].to_string());
        }
        Err(format!("{}: not in the payload", &path[..end]))
    }
}

/// Parses modules.dep: a line `FILE: FILE…` per module.
fn read_dependencies(list: &str) -> BTreeMap<String, (String, Vec<String>)> {
    list.lines()
        .filter_map(|line| {
            let (file, needs) = line.split_once(':')?;
            let needs = needs.split_ascii_whitespace().map(str::to_string);
            Some((kernel_name(file), (file.to_string(), needs.collect())))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_kernel() {
        assert_eq!(kernel_name("gpu-sched"), "gpu_sched");
        assert_eq!(kernel_name("/lib/x/gpu-sched.ko"), "gpu_sched");
        assert_eq!(kernel_name("kernel/drivers/gpu/drm/drm.ko.xz"), "drm");
    }

    #[test]
    fn dependencies_are_read_from_list_and_file() {
        let list = "kernel/a-b.ko.xz: kernel/c.ko.xz kernel/d.ko.xz\nkernel/c.ko.xz:\n";
        let known = read_dependencies(list);
        assert_eq!(known["a_b"].1, ["kernel/c.ko.xz", "kernel/d.ko.xz"]);
        assert!(known["c"].1.is_empty());
    }

    #[test]
    fn what_a_step_says_holds_whoever_needs_the_module_first() {
        let setup = [("simgpu", vec![]), ("/x/depq.ko", vec![("a", "1")])];
        let setup = setup.map(|(module, parameters)| Action::Module {
            module: module.into(),
            parameters: parameters
                .into_iter()
                .map(|(name, value)| (name.to_string(), value.to_string()))
                .collect(),
        });
        let modules = RunModules::from_setup(&setup);
        assert!(modules.is_step("depq") && modules.is_step("simgpu"));
        let step = &modules.steps["depq"];
        assert_eq!(step.file.as_deref(), Some("/x/depq.ko"));
        assert_eq!(step.parameters["a"], "1");
        assert_eq!(modules.groups, [["simgpu", "depq"]]);
        assert!(modules.names().is_empty() && modules.unload().is_empty());
    }

    #[test]
    fn parameters_with_spaces_are_quoted() {
        let parameters = [("a", "1"), ("b", "x y")];
        let parameters = parameters.map(|(name, value)| (name.to_string(), value.to_string()));
        assert_eq!(parameter_text(&parameters.into()), "a=1 b=\"x y\"");
    }
}
