//! Builds the sides of a change.

use std::collections::BTreeMap;
use std::path::PathBuf;

use assize_series::Commit;
use assize_target::Sandbox;
use assize_target::kernels::{Kernel, Kernels};
use assize_target::testbed::{KernelPart, SourceTexts};

use super::source::SourceChange;
use crate::failure::Failure;

/// The result of building a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CommitBuild {
    /// It is compared with the previous build.
    Compared {
        /// The name of its level.
        level: String,
        /// The level to compare it with.
        before: String,
    },
    /// It has the same bytes as the previous build.
    Same,
    /// It does not build, for this reason.
    NotBuilt(String),
}

/// The build of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BuildProduct {
    /// Module files in the order in which they are loaded.
    Modules(Vec<PathBuf>),
    /// A kernel with a name of its own.
    Kernel(Box<Kernel>),
}

impl BuildProduct {
    /// A digest of its bytes.
    pub(crate) fn bytes(&self) -> Result<String, Failure> {
        match self {
            BuildProduct::Modules(modules) => digest(modules),
            BuildProduct::Kernel(kernel) => Ok(kernel.bytes()?),
        }
    }
}

/// How the sides of a change are built.
pub(crate) trait BuildCommit {
    /// What is built, in words.
    fn what(&self) -> &str;
    /// Builds a commit, or returns why it does not build.
    fn build(&self, commit: &Commit)
    -> Result<Result<BuildProduct, assize_target::Error>, Failure>;
    /// The failure to report if the base does not build.
    fn of_base(&self, error: assize_target::Error) -> Failure;
    /// Explains why no commit differs from the base.
    fn same(&self) -> &'static str;
}

/// The builds of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommitBuilds {
    /// The distinct builds, the base first, each with the name of its level. A patch that
    /// reverts another one has the level of the earlier build.
    levels: Vec<(String, BuildProduct)>,
    /// Maps the index of a commit in the change to its result.
    sides: BTreeMap<usize, CommitBuild>,
}

/// The name of the base's level. It is not `base`, since a plan renames a level of that name to
/// `factor=base`.
pub(crate) const BASE: &str = "unpatched";

impl CommitBuilds {
    /// Builds the base and each commit; with `whole`, only the last commit.
    pub(crate) fn build_all(
        change: &SourceChange,
        builder: &dyn BuildCommit,
        whole: bool,
        say: &dyn Fn(&str),
    ) -> Result<CommitBuilds, Failure> {
        let skipped = if whole {
            change.commits.len().saturating_sub(1)
        } else {
            0
        };
        let wanted: Vec<(usize, &Commit)> =
            change.commits.iter().enumerate().skip(skipped).collect();
        let what = builder.what();
        say(&format!("building {what} of the base"));
        let base = builder.build(&change.base)?;
        let base = base.map_err(|error| builder.of_base(error))?;
        let mut builds = CommitBuilds {
            levels: vec![(BASE.to_owned(), base)],
            sides: BTreeMap::new(),
        };
        let mut before = BASE.to_owned();
        for (at, commit) in wanted {
            say(&format!("building {what} of {}", commit.subject));
            let side = match builder.build(commit)? {
                Err(error) if whole => return Err(error.into()),
                Err(error) => CommitBuild::NotBuilt(error.why),
                Ok(made) => builds.side((!whole).then_some(at), made, &mut before)?,
            };
            if let CommitBuild::NotBuilt(why) = &side {
                say(&format!(
                    "left out, it does not build: {}: {why}",
                    commit.subject
                ));
            }
            builds.sides.insert(at, side);
        }
        if builds.compared().next().is_none() {
            builds.none_failed(change)?;
            say(builder.same());
        }
        Ok(builds)
    }

    /// Adds a build that is compared with the level `before`, and updates `before` for
    /// the next one. `at` is the index of its commit, if there are several.
    fn side(
        &mut self,
        at: Option<usize>,
        made: BuildProduct,
        before: &mut String,
    ) -> Result<CommitBuild, Failure> {
        let mut known = None;
        for (name, other) in &self.levels {
            if made.bytes()? == other.bytes()? {
                known = Some(name.clone());
            }
        }
        let level = known.unwrap_or_else(|| {
            let name = at.map_or_else(|| "patched".into(), |at| format!("p{}", at + 1));
            self.levels.push((name.clone(), made));
            name
        });
        if level == *before {
            return Ok(CommitBuild::Same);
        }
        let before = std::mem::replace(before, level.clone());
        Ok(CommitBuild::Compared { level, before })
    }

    /// The result for a commit, if it was tried.
    pub(crate) fn of_commit(&self, at: usize) -> Option<&CommitBuild> {
        self.sides.get(&at)
    }

    pub(crate) fn base(&self) -> Option<&BuildProduct> {
        self.levels.first().map(|(_, made)| made)
    }

    /// The levels, the base first: name and build.
    pub(crate) fn levels(&self) -> impl Iterator<Item = (&str, &BuildProduct)> {
        let levels = self.levels.iter();
        levels.map(|(name, made)| (name.as_str(), made))
    }

    /// The comparisons: the index of a commit, its level, and the level before it.
    pub(crate) fn compared(&self) -> impl Iterator<Item = (usize, &str, &str)> {
        self.sides.iter().filter_map(|(at, side)| match side {
            CommitBuild::Compared { level, before } => Some((*at, level.as_str(), before.as_str())),
            _ => None,
        })
    }

    /// Fails if a commit does not build.
    fn none_failed(&self, change: &SourceChange) -> Result<(), Failure> {
        let mut failed = self.sides.values().filter_map(|side| match side {
            CommitBuild::NotBuilt(why) => Some(why),
            _ => None,
        });
        match failed.next() {
            Some(why) => Err(Failure::Argument(format!(
                "{}: no commit of it builds: {why}",
                change.title
            ))),
            None => Ok(()),
        }
    }
}

/// Builds a directory of the kernel at each commit, as modules for an installed kernel.
pub(crate) struct ModuleBuild<'a> {
    change: &'a SourceChange,
    builder: PartBuilder<'a>,
}

impl<'a> ModuleBuild<'a> {
    /// A builder for the commits of a change; with `whole`, for the last one only.
    pub(crate) fn for_change(
        change: &'a SourceChange,
        part: &'static KernelPart,
        kernel: &'a Kernel,
        sandbox: Sandbox,
        whole: bool,
    ) -> Result<Self, Failure> {
        let commits = match (whole, change.commits.last()) {
            (true, Some(last)) => std::slice::from_ref(last),
            _ => &change.commits[..],
        };
        let mut trees = Vec::new();
        for commit in std::iter::once(&change.base).chain(commits) {
            trees.push(change.tree(commit, part)?);
        }
        let users = needs_users(part, kernel, trees.iter())?;
        Ok(Self::new(change, part, kernel, sandbox, users))
    }

    /// The same with `users` given: whether to also build our modules that include the
    /// headers.
    pub(crate) fn new(
        change: &'a SourceChange,
        part: &'static KernelPart,
        kernel: &'a Kernel,
        sandbox: Sandbox,
        users: bool,
    ) -> Self {
        ModuleBuild {
            change,
            builder: PartBuilder {
                part,
                kernel,
                sandbox,
                users,
            },
        }
    }
}

impl BuildCommit for ModuleBuild<'_> {
    fn what(&self) -> &str {
        self.builder.part.module
    }

    fn build(
        &self,
        commit: &Commit,
    ) -> Result<Result<BuildProduct, assize_target::Error>, Failure> {
        let tree = self.change.tree(commit, self.builder.part)?;
        Ok(self.builder.build(&tree).map(BuildProduct::Modules))
    }

    fn of_base(&self, error: assize_target::Error) -> Failure {
        misfit(error, self.builder.kernel)
    }

    fn same(&self) -> &'static str {
        "the modules are identical with and without the change: nothing is run"
    }
}

/// Whether any side has a header that differs from the kernel's: then all modules that
/// include it are built too, on every side.
fn needs_users<'t>(
    part: &KernelPart,
    kernel: &Kernel,
    trees: impl Iterator<Item = &'t SourceTexts>,
) -> Result<bool, Failure> {
    for tree in trees {
        if !part.changed_headers(kernel, tree)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The failure for a base that does not build, usually because its version is not that of
/// the kernel.
fn misfit(error: assize_target::Error, kernel: &Kernel) -> Failure {
    let mend = format!(
        "the base does not build for {}; use a kernel of the base's version: --kernel NAME",
        kernel.release
    );
    let mend = match &error.mend {
        Some(before) => format!("{mend}; {before}"),
        None => mend,
    };
    Failure::Target(assize_target::Error {
        mend: Some(mend),
        ..error
    })
}

/// What to build of each side, and for which kernel.
#[derive(Debug)]
struct PartBuilder<'a> {
    part: &'static KernelPart,
    kernel: &'a Kernel,
    sandbox: Sandbox,
    /// Whether to also build our modules that include its headers.
    users: bool,
}

impl PartBuilder<'_> {
    /// Returns the modules in the order in which they are loaded.
    fn build(&self, tree: &SourceTexts) -> Result<Vec<PathBuf>, assize_target::Error> {
        let root = Kernels::default_root()?;
        let built = self
            .part
            .build(&root, self.kernel, tree, self.users, &self.sandbox)?;
        let users = self.part.users.iter().copied().filter(|_| self.users);
        let names = std::iter::once(self.part.module).chain(users);
        let path = |name: &str| built.get(&name.replace('-', "_")).cloned();
        Ok(names.filter_map(path).collect())
    }
}

/// A digest of the names and bytes of modules, in order.
fn digest(modules: &[PathBuf]) -> Result<String, Failure> {
    let mut hash = blake3::Hasher::new();
    for path in modules {
        let bytes = std::fs::read(path).map_err(|source| Failure::Read {
            path: path.clone(),
            source,
        })?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        for part in [name.as_bytes(), &bytes] {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    Ok(hash.finalize().to_hex()[..32].to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Modules with these bytes.
    fn product(place: &tempfile::TempDir, bytes: &str) -> BuildProduct {
        let directory = place.path().join(bytes);
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join("gpu_sched.ko");
        std::fs::write(&path, bytes).unwrap();
        BuildProduct::Modules(vec![path])
    }

    #[test]
    fn what_takes_a_patch_back_has_the_level_of_what_was_before_it() {
        let place = tempfile::tempdir().unwrap();
        let mut builds = CommitBuilds {
            levels: vec![(BASE.into(), product(&place, "a"))],
            sides: BTreeMap::new(),
        };
        let mut before = BASE.to_owned();
        let mut sides = Vec::new();
        for (at, bytes) in ["b", "b", "c", "b", "a"].into_iter().enumerate() {
            let side = builds.side(Some(at), product(&place, bytes), &mut before);
            sides.push(side.unwrap());
        }
        let compared = |level: &str, before: &str| CommitBuild::Compared {
            level: level.into(),
            before: before.into(),
        };
        assert_eq!(
            sides,
            [
                compared("p1", BASE),
                CommitBuild::Same,
                compared("p3", "p1"),
                compared("p1", "p3"),
                compared(BASE, "p1"),
            ]
        );
        let names: Vec<&str> = builds.levels().map(|(name, _)| name).collect();
        assert_eq!(names, [BASE, "p1", "p3"]);
    }
}
