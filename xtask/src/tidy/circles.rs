//! Finds cyclic dependencies between the files of a crate.

use std::collections::{BTreeMap, BTreeSet};

/// The names from the crate down to a module or an item.
type Path = Vec<String>;

/// The imports and uses of a file.
#[derive(Default)]
struct Module {
    defined: BTreeSet<String>,
    /// The path of each imported name, and whether it is re-exported.
    imports: BTreeMap<String, (Path, bool)>,
    globs: Vec<(Path, bool)>,
    /// Paths outside imports.
    paths: BTreeSet<Path>,
    words: BTreeSet<String>,
}

/// The longest cycle among the files of a crate, as names of modules; empty if there is none.
/// `files`: paths below `src`, and code.
pub(super) fn longest(files: &[(&str, &str)]) -> Vec<String> {
    let room = Room(
        files
            .iter()
            .map(|(f, code)| (module(f), read(code)))
            .collect(),
    );
    let uses: BTreeMap<&Path, BTreeSet<&Path>> =
        room.0.keys().map(|at| (at, room.uses(at))).collect();
    let mut longest = Vec::new();
    for first in uses.keys() {
        follow(&uses, &mut vec![*first], &mut longest);
    }
    let name = |path: &&Path| match path.as_slice() {
        [] => "lib".to_owned(),
        names => names.join("::"),
    };
    longest.iter().map(name).collect()
}

/// Extends `way` by each module that can still lead back to its first. Each cycle is found once,
/// from the first of its modules in the order of names.
fn follow<'a>(
    uses: &BTreeMap<&'a Path, BTreeSet<&'a Path>>,
    way: &mut Vec<&'a Path>,
    longest: &mut Vec<&'a Path>,
) {
    for next in &uses[way[way.len() - 1]] {
        if *next == way[0] && way.len() > longest.len() {
            longest.clone_from(way);
        }
        if *next > way[0] && !way.contains(next) && returns(uses, next, way) {
            way.push(next);
            follow(uses, way, longest);
            way.pop();
        }
    }
}

/// Whether a path leads from the module to the first of `way` without passing another of `way`.
fn returns(uses: &BTreeMap<&Path, BTreeSet<&Path>>, from: &Path, way: &[&Path]) -> bool {
    let mut seen: BTreeSet<&Path> = way.iter().copied().collect();
    let mut queue = vec![from];
    while let Some(at) = queue.pop() {
        if uses[at].contains(way[0]) {
            return true;
        }
        queue.extend(
            uses[at]
                .iter()
                .filter(|next| **next > way[0] && seen.insert(next)),
        );
    }
    false
}

/// The modules of a crate by path.
struct Room(BTreeMap<Path, Module>);

impl Room {
    /// The other modules that this one uses, apart from what it only re-exports.
    fn uses(&self, at: &Path) -> BTreeSet<&Path> {
        let module = &self.0[at];
        let imported = module.imports.iter();
        let imported =
            imported.filter(|(name, (_, public))| !public || module.words.contains(*name));
        let globs = module.globs.iter().filter(|(_, public)| !public);
        let paths = module
            .paths
            .iter()
            .filter(|path| self.starts_here(at, &path[0]));
        imported
            .map(|(_, (path, _))| path)
            .chain(globs.map(|(path, _)| path))
            .chain(paths)
            .filter_map(|path| self.resolve(at, path, 0))
            .filter(|found| *found != at)
            .collect()
    }

    fn starts_here(&self, at: &Path, name: &str) -> bool {
        matches!(name, "crate" | "self" | "super") || self.child(at, name).is_some()
    }

    fn child(&self, at: &Path, name: &str) -> Option<&Path> {
        let path = [at.as_slice(), &[name.to_owned()]].concat();
        self.0.get_key_value(&path).map(|(path, _)| path)
    }

    /// The module that defines the item at a path, as seen from module `at`; follows re-exports.
    fn resolve<'a>(&'a self, at: &Path, path: &[String], depth: usize) -> Option<&'a Path> {
        let mut at = self.0.get_key_value(at)?.0;
        let mut first = true;
        for (passed, name) in path.iter().enumerate() {
            let module = &self.0[at];
            let next = match name.as_str() {
                "crate" => self.0.get_key_value(&Vec::new())?.0,
                "self" => at,
                "super" => self.0.get_key_value(&at[..at.len().checked_sub(1)?])?.0,
                name => match self.child(at, name) {
                    Some(child) => child,
                    None if module.defined.contains(name) => return Some(at),
                    // Limits the depth, as imports may be cyclic.
                    None if depth > 9 => return None,
                    None => {
                        let rest = &path[passed + 1..];
                        if let Some((import, _)) = module.imports.get(name) {
                            return self.resolve(
                                at,
                                &[import.as_slice(), rest].concat(),
                                depth + 1,
                            );
                        }
                        let globs = module.globs.iter();
                        let mut globs =
                            globs.filter_map(|(glob, _)| self.resolve(at, glob, depth + 1));
                        let found = globs.find(|glob| self.0[*glob].defined.contains(name));
                        // The path is of another crate, or of a macro.
                        return found.or((!first).then_some(at));
                    }
                },
            };
            (at, first) = (next, false);
        }
        Some(at)
    }
}

/// The path of the module in a file.
fn module(file: &str) -> Path {
    let path = file.trim_end_matches(".rs").split('/').map(str::to_owned);
    let mut path: Path = path.collect();
    let last = path.last().map(String::as_str);
    if matches!(last, Some("mod" | "lib" | "main")) {
        path.pop();
    }
    path
}

fn read(code: &str) -> Module {
    let tokens = tokens(code);
    let mut module = Module::default();
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at] {
            "use" if tokens.get(at + 1) != Some(&"<") => {
                let public = at > 0 && matches!(tokens[at - 1], "pub" | ")");
                at += 1;
                tree(&tokens, &mut at, &Vec::new(), public, &mut module);
            }
            "mod" | "struct" | "enum" | "trait" | "type" | "fn" | "const" | "static" => {
                let name = tokens.get(at + 1).copied().unwrap_or_default();
                module.defined.insert(name.to_owned());
                at += 2;
            }
            _ => {
                let start = at;
                while tokens.get(at + 1) == Some(&"::") && tokens.get(at + 2).is_some_and(is_word) {
                    at += 2;
                }
                at += 1;
                let path = tokens[start..at].iter().filter(|token| is_word(token));
                let path: Path = path.map(|&name| name.to_owned()).collect();
                module.words.extend(path.first().cloned());
                if path.len() > 1 {
                    module.paths.insert(path);
                }
            }
        }
    }
    module
}

/// Parses one tree of a `use` item, up to the comma, brace or semicolon after it.
fn tree(tokens: &[&str], at: &mut usize, above: &Path, public: bool, module: &mut Module) {
    let mut path = above.clone();
    let (mut named, mut name) = (false, None);
    while let Some(&token) = tokens.get(*at) {
        match token {
            "," | "}" | ";" => break,
            "{" => {
                while !matches!(tokens.get(*at), None | Some(&"}")) {
                    *at += 1;
                    tree(tokens, at, &path, public, module);
                }
                *at += 1;
                return;
            }
            "*" => {
                module.globs.push((path, public));
                *at += 1;
                return;
            }
            "as" => name = tokens.get(*at + 1).map(|name| (*name).to_owned()),
            "self" if !path.is_empty() => named = true,
            token if is_word(&token) && name.is_none() => {
                path.push(token.to_owned());
                named = true;
            }
            _ => {}
        }
        *at += 1;
    }
    if let Some(last) = name.or_else(|| path.last().cloned())
        && named
    {
        module.imports.insert(last, (path, public));
    }
}

fn is_word(token: &&str) -> bool {
    token.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// The identifiers and punctuation of the code, with `::` as one token.
fn tokens(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        let len = match word.unwrap_or(rest.len()) {
            0 if rest.starts_with("::") => 2,
            0 => first.len_utf8(),
            len => len,
        };
        found.push(&rest[..len]);
        rest = rest[len..].trim_start();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_followed_through_re_exports() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c; pub use b::{self, Second};"),
            ("a.rs", "use crate::Second; struct First;"),
            (
                "b/mod.rs",
                "pub mod leaf; struct Second; fn f() { leaf::g() }",
            ),
            ("b/leaf.rs", "use super::super::a::First as F; fn g() {}"),
            (
                "c.rs",
                "use crate::a::First; use std::fmt; fn h() { b::g() }",
            ),
        ];
        assert_eq!(longest(&files), ["a", "b", "b::leaf"]);
        assert!(longest(&files[2..]).is_empty());
    }

    #[test]
    fn of_circles_that_meet_each_counts_alone() {
        let files = [
            ("a.rs", "use crate::b::B; use crate::c::C; fn a() {}"),
            ("b.rs", "use crate::a::a; struct B;"),
            ("c.rs", "use crate::a::a; struct C;"),
            ("lib.rs", ""),
        ];
        assert_eq!(longest(&files).len(), 2);
    }
}
