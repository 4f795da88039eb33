//! The tables `modules.dep` and `modules.alias`, for packages that leave them
//! to depmod.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::elf::modinfo;
use crate::fault::{io, list, read};
use crate::modules::{canonical, plain, stem};

struct Entry {
    path: String,
    depends: Vec<String>,
}

/// Reads every module below `directory` and writes both tables into it.
pub(super) fn write(directory: &Path) -> Result<(), Error> {
    let mut entries = BTreeMap::new();
    let mut aliases = String::new();
    let mut files = Vec::new();
    collect(directory, &mut files)?;
    for file in files {
        let bytes = plain(&file, read(&file)?)?;
        let path = file.strip_prefix(directory).unwrap_or(&file);
        let path = path.to_string_lossy().into_owned();
        let name = stem(&path);
        let mut depends = Vec::new();
        for (key, value) in modinfo(&file, &bytes)? {
            match key.as_str() {
                "depends" => depends.extend(
                    value
                        .split(',')
                        .filter(|name| !name.is_empty())
                        .map(canonical),
                ),
                "alias" => aliases += &format!("alias {value} {name}\n"),
                _ => {}
            }
        }
        entries.insert(name, Entry { path, depends });
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
        std::fs::write(&path, text).map_err(|error| io("write", &path, &error))?;
    }
    Ok(())
}

/// Names in an order in which they can be loaded, `name` last.
fn visit<'a>(entries: &'a BTreeMap<String, Entry>, name: &'a str, order: &mut Vec<&'a str>) {
    // What is being visited stands in the order already, so that a circle
    // ends; its place is then taken by the one after what it needs.
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
