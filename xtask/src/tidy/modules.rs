//! Finds Rust files that no crate includes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::Finding;
use super::source::blanked;
use crate::Error;
use crate::tree;

/// Whether the file is Rust code of this workspace.
pub(super) fn is_ours(file: &str) -> bool {
    file.ends_with(".rs")
        && ["crates/", "studies/", "xtask/", "fuzz/"]
            .iter()
            .any(|d| file.starts_with(d))
}

/// The included files, and whether each is for tests only.
pub(super) struct Modules {
    reached: BTreeMap<String, bool>,
}

impl Modules {
    /// Follows `mod` items from the root of every crate.
    pub(super) fn find(files: &[String]) -> Result<Self, Error> {
        let known: BTreeSet<&str> = files.iter().map(String::as_str).collect();
        let named = named_roots(files)?;
        let told = told_tests(files)?;
        let by_place = |file: &String| {
            let folder = file.split_once("/tests/").map_or("", |(folder, _)| folder);
            is_root(file) && !told.contains(folder)
        };
        let mut modules = Modules {
            reached: BTreeMap::new(),
        };
        let mut queue: Vec<(String, bool, bool)> = files
            .iter()
            .filter(|file| is_ours(file))
            .filter(|file| by_place(file) || named.contains(*file))
            .map(|file| (file.clone(), is_test_root(file), true))
            .collect();
        while let Some((file, test, root)) = queue.pop() {
            // A file that is included both ways counts as code.
            if modules.reached.get(&file).is_some_and(|&seen| seen <= test) {
                continue;
            }
            let text = tree::read(&file)?.unwrap_or_default();
            modules.reached.insert(file.clone(), test);
            for item in items(&text) {
                let candidates = places(&file, root, &item);
                if let Some(found) = candidates.iter().find(|c| known.contains(c.as_str())) {
                    // Submodules of a file included by path are in the directory of that file.
                    let root = item.path.is_some();
                    queue.push((found.clone(), test || item.test, root));
                }
            }
        }
        Ok(modules)
    }

    /// Whether the file is compiled for tests only.
    pub(super) fn is_test(&self, file: &str) -> bool {
        self.reached.get(file).copied().unwrap_or(false)
    }

    /// The files that no crate includes.
    pub(super) fn dead(&self, files: &[String]) -> Vec<Finding> {
        files
            .iter()
            .filter(|file| is_ours(file) && !tree::is_data(file))
            .filter(|file| !self.reached.contains_key(*file))
            .map(|file| Finding {
                file: file.clone(),
                line: 0,
                what: "is reached as a module from nowhere".into(),
            })
            .collect()
    }
}

/// Directories of crates with `autotests = false`, where cargo builds only the tests named in
/// `Cargo.toml`.
fn told_tests(files: &[String]) -> Result<BTreeSet<String>, Error> {
    let mut told = BTreeSet::new();
    for file in files {
        if let Some(folder) = file.strip_suffix("/Cargo.toml")
            && let Some(text) = tree::read(file)?
            && text.lines().any(|line| line == "autotests = false")
        {
            told.insert(folder.to_owned());
        }
    }
    Ok(told)
}

/// Whether cargo treats this file as the root of a crate.
fn is_root(file: &str) -> bool {
    let parts: Vec<&str> = file.split('/').collect();
    match parts.as_slice() {
        [.., "src", "lib.rs" | "main.rs"] | [.., "src", "bin", _] => true,
        [.., "tests" | "benches" | "examples", name, "main.rs"] => !name.is_empty(),
        ["crates", _, rest @ ..] | ["studies" | "xtask" | "fuzz", rest @ ..] => {
            matches!(rest, ["build.rs"] | ["tests" | "benches" | "examples", _])
        }
        _ => false,
    }
}

fn is_test_root(file: &str) -> bool {
    ["/tests/", "/benches/", "/examples/", "fuzz/"]
        .iter()
        .any(|place| file.contains(place))
}

/// Crate roots that a Cargo.toml names with `path = "….rs"`.
fn named_roots(files: &[String]) -> Result<BTreeSet<String>, Error> {
    let mut named = BTreeSet::new();
    for file in files {
        let Some(folder) = file.strip_suffix("Cargo.toml") else {
            continue;
        };
        for line in tree::read(file)?.unwrap_or_default().lines() {
            let value = line.strip_prefix("path").map(str::trim_start);
            let value = value.and_then(|v| v.strip_prefix('=')).map(str::trim);
            if let Some(path) = value.map(|v| v.trim_matches('"')) {
                named.insert(format!("{folder}{path}"));
            }
        }
    }
    Ok(named)
}

struct Item {
    name: String,
    path: Option<String>,
    test: bool,
}

/// The `mod name;` items of a file, with their relevant attributes.
fn items(text: &str) -> Vec<Item> {
    let mut found = Vec::new();
    let mut path = None;
    let mut test = false;
    for (code, line) in blanked(text).lines().zip(text.lines()) {
        let code = code.trim();
        if code.starts_with("#[path") {
            path = line.split('"').nth(1).map(str::to_owned);
        } else if code.starts_with("#[cfg(test)]") && !code.ends_with(';') {
            test = true;
        } else if !code.starts_with("#[") && !code.is_empty() {
            let item = code.strip_prefix("#[cfg(test)]").unwrap_or(code).trim();
            let item = item.strip_prefix("pub").map_or(item, |rest| {
                let rest = rest.trim_start();
                rest.strip_prefix('(')
                    .and_then(|inner| inner.split_once(')'))
                    .map_or(rest, |(_, rest)| rest.trim_start())
            });
            if let Some(name) = item.strip_prefix("mod ").and_then(|i| i.strip_suffix(';')) {
                found.push(Item {
                    name: name.trim().trim_start_matches("r#").to_owned(),
                    path: path.take(),
                    test,
                });
            }
            path = None;
            test = false;
        }
    }
    found
}

/// The possible paths of the module, given the file that declares it.
fn places(file: &str, root: bool, item: &Item) -> Vec<String> {
    let path = Path::new(file);
    let folder = path.parent().unwrap_or(Path::new(""));
    let stem = path.file_stem().unwrap_or_default();
    let below = if root || stem == "mod" {
        folder.to_path_buf()
    } else {
        folder.join(stem)
    };
    let candidates = match &item.path {
        Some(path) => vec![folder.join(path)],
        None => vec![
            below.join(format!("{}.rs", item.name)),
            below.join(&item.name).join("mod.rs"),
        ],
    };
    candidates
        .iter()
        .map(|path| path.to_string_lossy().into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_read_with_their_attributes() {
        let text = "pub(crate) mod a;\n#[cfg(test)]\nmod b;\n#[path = \"x.rs\"]\nmod c;\n\
                    mod d {}\n// mod e;\n";
        let found = items(text);
        let names: Vec<&str> = found.iter().map(|item| item.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert_eq!(
            found.iter().map(|item| item.test).collect::<Vec<_>>(),
            [false, true, false]
        );
        assert_eq!(found[2].path.as_deref(), Some("x.rs"));
    }

    #[test]
    fn a_module_lies_beside_or_below_its_parent() {
        let item = Item {
            name: "leaf".into(),
            path: None,
            test: false,
        };
        assert_eq!(
            places("crates/a/src/lib.rs", true, &item),
            ["crates/a/src/leaf.rs", "crates/a/src/leaf/mod.rs"]
        );
        assert_eq!(
            places("crates/a/src/b.rs", false, &item)[0],
            "crates/a/src/b/leaf.rs"
        );
    }

    #[test]
    fn cargo_finds_the_roots_that_we_find() {
        assert!(is_root("crates/a/src/main.rs"));
        assert!(is_root("crates/a/tests/claims.rs"));
        assert!(!is_root("crates/a/tests/common/mod.rs"));
        assert!(!is_root("crates/a/src/stray.rs"));
    }

    #[test]
    fn every_file_of_this_crate_is_reached() {
        let files = tree::files().unwrap();
        let modules = Modules::find(&files).unwrap();
        let dead = modules.dead(&files);
        assert!(
            !dead
                .iter()
                .any(|finding| finding.file.starts_with("xtask/"))
        );
    }
}
