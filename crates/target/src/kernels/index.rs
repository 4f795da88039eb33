//! Writes the tables `modules.dep` and `modules.alias` for packages that leave this to
//! depmod.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::elf::modinfo;
use crate::fault::{self, failed, list, read};
use crate::module_files::{canonical, plain, stem};

/// The `.modinfo` of a module.
struct ModinfoEntry {
    name: String,
    path: String,
    depends: Vec<String>,
    aliases: Vec<String>,
}

impl ModinfoEntry {
    fn read(directory: &Path, file: &Path) -> Result<Self, Error> {
        let bytes = plain(file, read(file)?)?;
        let path = file.strip_prefix(directory).unwrap_or(file);
        let path = path.to_string_lossy().into_owned();
        let (mut depends, mut aliases) = (Vec::new(), Vec::new());
        for (key, value) in modinfo(file, &bytes)? {
            match key.as_str() {
                "depends" => {
                    let names = value.split(',').filter(|name| !name.is_empty());
                    depends.extend(names.map(canonical));
                }
                "alias" => aliases.push(value),
                _ => {}
            }
        }
        Ok(ModinfoEntry {
            name: stem(&path),
            path,
            depends,
            aliases,
        })
    }
}

/// Reads every module below `directory` and writes both tables into it.
pub(super) fn write(directory: &Path) -> Result<(), Error> {
    let mut files = Vec::new();
    collect(directory, &mut files)?;
    let mut entries = BTreeMap::new();
    let mut aliases = String::new();
    for entry in read_all(directory, &files)? {
        for alias in &entry.aliases {
            aliases += &format!("alias {alias} {}\n", entry.name);
        }
        entries.insert(entry.name.clone(), entry);
    }
    let mut dep = String::new();
    for (name, entry) in &entries {
        let mut order = Vec::new();
        visit(&entries, name, &mut order);
        let needs: Vec<String> = order
            .iter()
            .rev()
            .filter(|need| *need != name)
            .filter_map(|need| Some(format!(" {}", entries.get(*need)?.path)))
            .collect();
        dep += &format!("{}:{}\n", entry.path, needs.concat());
    }
    for (name, text) in [("modules.dep", dep), ("modules.alias", aliases)] {
        let path = directory.join(name);
        fault::write(&path, text)?;
    }
    Ok(())
}

/// Reads modules on all CPUs, because decompressing thousands takes long.
fn read_all(directory: &Path, files: &[PathBuf]) -> Result<Vec<ModinfoEntry>, Error> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = files.len().div_ceil(threads).max(1);
    let work = |part: &[PathBuf]| -> Result<Vec<ModinfoEntry>, Error> {
        part.iter()
            .map(|file| ModinfoEntry::read(directory, file))
            .collect()
    };
    let parts: Vec<_> = std::thread::scope(|scope| {
        let started: Vec<_> = files
            .chunks(share)
            .map(|part| scope.spawn(move || work(part)))
            .collect();
        started.into_iter().map(|thread| thread.join()).collect()
    });
    let mut entries = Vec::with_capacity(files.len());
    for part in parts {
        let died = || failed("read the modules", "an internal thread has died");
        entries.extend(part.map_err(|_| died())??);
    }
    Ok(entries)
}

/// Appends names in an order in which they can be loaded, `name` last.
fn visit<'a>(entries: &'a BTreeMap<String, ModinfoEntry>, name: &'a str, order: &mut Vec<&'a str>) {
    // A name being visited is already in the order, so that a cycle ends; at the end it
    // moves behind its dependencies.
    if order.contains(&name) {
        return;
    }
    order.push(name);
    for need in entries.get(name).iter().flat_map(|entry| &entry.depends) {
        visit(entries, need, order);
    }
    order.retain(|known| *known != name);
    order.push(name);
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), Error> {
    for path in list(directory)? {
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            collect(&path, files)?;
        } else if path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().contains(".ko"))
        {
            files.push(path);
        }
    }
    Ok(())
}
