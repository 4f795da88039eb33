//! Loading kernel modules.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::Path;

use crate::actions::{self, Circumstances};
use crate::sys;

/// Loads a module and what it depends on.
pub(crate) fn load(
    module: &str,
    parameters: &BTreeMap<String, String>,
    with: &Circumstances<'_>,
) -> Result<(), String> {
    let name = name_of(module);
    if Path::new("/sys/module").join(&name).exists() {
        return if parameters.is_empty() {
            Ok(())
        } else {
            Err(
                "it is loaded already, and parameters cannot be given again; \
                 remove it first (`rmmod`)"
                    .into(),
            )
        };
    }
    if with.guest {
        Loader::new()?.load(module, &name, &text_of(parameters))
    } else {
        load_on_host(module, parameters, with)
    }
}

/// Name in the kernel of a module that is given by name or path.
fn name_of(module: &str) -> String {
    let file = module.rsplit('/').next().unwrap_or(module);
    let stem = file.find(".ko").map_or(file, |end| &file[..end]);
    stem.replace('-', "_")
}

/// Parameters as the kernel takes them.
fn text_of(parameters: &BTreeMap<String, String>) -> String {
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

/// On a machine that is set up, its own tools know best.
fn load_on_host(
    module: &str,
    parameters: &BTreeMap<String, String>,
    with: &Circumstances<'_>,
) -> Result<(), String> {
    let run = |tool: &str, module: &str, parameters: &BTreeMap<String, String>| {
        let mut argv = vec![tool.to_string(), module.to_string()];
        argv.extend(
            parameters
                .iter()
                .map(|(name, value)| format!("{name}={value}")),
        );
        actions::command(&argv, with)
    };
    if !module.contains('/') {
        return run("modprobe", module, parameters);
    }
    let file = fs::read(module).map_err(|error| format!("{module}: {}", sys::words(&error)))?;
    let loaded = |name: &str| Path::new("/sys/module").join(name_of(name)).exists();
    // What comes from a file too, as this one does, modprobe does not know.
    for dependency in dependencies(&file).iter().filter(|name| !loaded(name)) {
        run("modprobe", dependency, &BTreeMap::new())?;
    }
    run("insmod", module, parameters)
}

/// What a module's file says it depends on.
fn dependencies(file: &[u8]) -> Vec<String> {
    let mark = b"\0depends=";
    let Some(at) = file.windows(mark.len()).position(|window| window == mark) else {
        return Vec::new();
    };
    let rest = &file[at + mark.len()..];
    let end = rest.iter().position(|byte| *byte == 0).unwrap_or(0);
    let names = String::from_utf8_lossy(&rest[..end]).into_owned();
    names
        .split(',')
        .filter(|name| !name.is_empty())
        .map(str::to_string)
        .collect()
}

/// Loads modules where no tool for that is at hand.
struct Loader {
    directory: String,
    /// Module name to file and to the files it depends on.
    known: BTreeMap<String, (String, Vec<String>)>,
    /// Names that are loaded or being loaded.
    begun: BTreeSet<String>,
}

impl Loader {
    fn new() -> Result<Loader, String> {
        let directory = format!("/lib/modules/{}", sys::uname().0);
        // A machine may carry nothing but modules given by path.
        let list = fs::read_to_string(format!("{directory}/modules.dep")).unwrap_or_default();
        Ok(Loader {
            directory,
            known: read_dependencies(&list),
            begun: BTreeSet::new(),
        })
    }

    fn load(&mut self, module: &str, name: &str, parameters: &str) -> Result<(), String> {
        if !self.begun.insert(name.to_string()) || Path::new("/sys/module").join(name).exists() {
            return Ok(());
        }
        let (path, needs) = self.find(module, name)?;
        for need in needs {
            self.load(&need, &name_of(&need), "")?;
        }
        let file = File::open(&path).map_err(|error| format!("{path}: {}", sys::words(&error)))?;
        sys::load_module(&file, parameters).map_err(|error| {
            format!(
                "{path}: {}; the kernel's log has the details",
                sys::words(&error)
            )
        })
    }

    /// File of a module, and names or files of what it depends on.
    fn find(&self, module: &str, name: &str) -> Result<(String, Vec<String>), String> {
        let exact = |path: String| {
            let file =
                fs::read(&path).map_err(|error| format!("{path}: {}", sys::words(&error)))?;
            Ok((path, dependencies(&file)))
        };
        if module.starts_with('/') && Path::new(module).exists() {
            return exact(module.to_string());
        }
        if let Some((path, needs)) = self.known.get(name) {
            return Ok((self.uncompressed(path)?, needs.clone()));
        }
        Err(format!(
            "neither loaded nor in {}/modules.dep; add it to the payload's modules",
            self.directory
        ))
    }

    /// The file of a path in modules.dep, which may name the compressed one.
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

/// Reads modules.dep: `FILE: FILE…` a line.
fn read_dependencies(list: &str) -> BTreeMap<String, (String, Vec<String>)> {
    list.lines()
        .filter_map(|line| {
            let (file, needs) = line.split_once(':')?;
            let needs = needs.split_ascii_whitespace().map(str::to_string);
            Some((name_of(file), (file.to_string(), needs.collect())))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_kernel() {
        assert_eq!(name_of("gpu-sched"), "gpu_sched");
        assert_eq!(name_of("/lib/x/gpu-sched.ko"), "gpu_sched");
        assert_eq!(name_of("kernel/drivers/gpu/drm/drm.ko.xz"), "drm");
    }

    #[test]
    fn dependencies_are_read_from_list_and_file() {
        let list = "kernel/a-b.ko.xz: kernel/c.ko.xz kernel/d.ko.xz\nkernel/c.ko.xz:\n";
        let known = read_dependencies(list);
        assert_eq!(known["a_b"].1, ["kernel/c.ko.xz", "kernel/d.ko.xz"]);
        assert!(known["c"].1.is_empty());
        assert_eq!(
            dependencies(b"x\0license=GPL\0depends=c,d\0name=e\0"),
            ["c", "d"]
        );
        assert!(dependencies(b"\0depends=\0").is_empty());
        assert!(dependencies(b"none").is_empty());
    }

    #[test]
    fn parameters_with_spaces_are_quoted() {
        let parameters = [("a", "1"), ("b", "x y")];
        let parameters = parameters.map(|(name, value)| (name.to_string(), value.to_string()));
        assert_eq!(text_of(&parameters.into()), "a=1 b=\"x y\"");
    }
}
