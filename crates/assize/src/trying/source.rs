//! Sources of a change: a range of commits, or posted patches.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use assize_series::{Commit, GitRepository, PostedSeries};
use assize_target::kernels::{Kernel, Kernels, WorkTree};
use assize_target::testbed::{KernelPart, SourceTexts};

use super::touched::{self, BuildScope};
use crate::failure::Failure;

/// A change, with the repository that holds its commits.
#[derive(Debug)]
pub(crate) struct SourceChange {
    /// The subject of its cover letter, its range, or its only subject.
    pub(crate) title: String,
    /// The parent of the first commit.
    pub(crate) base: Commit,
    /// From old to new; not empty.
    pub(crate) commits: Vec<Commit>,
    repository: GitRepository,
    /// The user's git tree that contains or precedes the commits, or else the repository.
    home: PathBuf,
    /// Deletes the repository on drop, if it is temporary.
    _scratch: Option<Scratch>,
}

/// The options that select a change.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ChangeOptions<'a> {
    /// A range of commits in the current git tree.
    pub(crate) range: Option<&'a str>,
    /// A file with posted patches.
    pub(crate) patch: Option<&'a Path>,
    /// The commit or kernel to apply the patches to.
    pub(crate) base: Option<&'a str>,
}

impl SourceChange {
    /// The change that the command line names.
    pub(crate) fn from_options(
        asked: &ChangeOptions<'_>,
        kernels: &Kernels,
        say: &dyn Fn(&str),
    ) -> Result<SourceChange, Failure> {
        match asked.patch {
            Some(file) => posted(file, asked.base, kernels, say),
            None => committed(asked.range.unwrap_or("HEAD")),
        }
    }

    /// Two commits of the current git tree, whatever lies between: the base, and one
    /// commit with all the differences.
    pub(crate) fn as_one(base: &str, end: &str) -> Result<SourceChange, Failure> {
        let repository = GitRepository::open(Path::new("."))?;
        let named = |name: &str| {
            let id = repository.resolve(name).ok_or_else(|| {
                Failure::Argument(format!("there is no commit {name} in this git tree"))
            })?;
            Ok::<Commit, Failure>(repository.describe(&id)?)
        };
        let (base, mut end) = (named(base)?, named(end)?);
        end.paths = repository.differing(&base.id, &end.id)?;
        Ok(SourceChange {
            title: end.subject.clone(),
            base,
            commits: vec![end],
            home: repository.directory().to_path_buf(),
            repository,
            _scratch: None,
        })
    }

    /// The full hash of a commit.
    pub(crate) fn resolve(&self, name: &str) -> Option<String> {
        self.repository.resolve(name)
    }

    /// The git tree, which is the same for all changes of the same sources.
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// Checks out all files of a commit into a work tree.
    pub(crate) fn check_out(&self, commit: &Commit, to: &WorkTree) -> Result<(), Failure> {
        Ok(self.repository.check_out(&commit.id, &to.tree, &to.index)?)
    }

    /// The files of a part at a commit.
    pub(crate) fn tree(&self, commit: &Commit, part: &KernelPart) -> Result<SourceTexts, Failure> {
        Ok(self.repository.files(&commit.id, part.paths())?)
    }
}

fn committed(range: &str) -> Result<SourceChange, Failure> {
    let repository = GitRepository::open(Path::new("."))?;
    let (base, commits) = repository.range(range)?;
    let title = match &commits[..] {
        [one] => one.subject.clone(),
        _ => range.to_owned(),
    };
    Ok(SourceChange {
        title,
        base,
        commits,
        home: repository.directory().to_path_buf(),
        repository,
        _scratch: None,
    })
}

/// Whether a base is a kernel of Debian rather than a commit.
pub(crate) fn is_debian(base: &str) -> bool {
    base.starts_with("debian:")
}

/// The kernel to run on, if one is named: the one whose sources the patches apply to, or
/// another.
pub(crate) fn kernel<'a>(
    base: Option<&'a str>,
    kernel: Option<&'a str>,
) -> Result<Option<&'a str>, Failure> {
    match (base.filter(|base| is_debian(base)), kernel) {
        (Some(base), Some(kernel)) => Err(Failure::Argument(format!(
            "--kernel {kernel}: with --base {base}, the patches run on {base}; omit --base or \
             --kernel"
        ))),
        (base, kernel) => Ok(base.or(kernel)),
    }
}

/// Applies posted patches in a temporary repository. Its tree contains only what is built
/// as modules or, for a whole kernel, the files that the patches name: the sources of a
/// kernel are large, and the user's tree stays untouched.
fn posted(
    file: &Path,
    base: Option<&str>,
    kernels: &Kernels,
    say: &dyn Fn(&str),
) -> Result<SourceChange, Failure> {
    let (bytes, name) = read(file)?;
    let posted = assize_series::read(&bytes, &name)?;
    let paths: Vec<&str> = paths_of(&posted).collect();
    let scope = touched::touched(&paths).map_err(Failure::Argument)?.scope;
    let scratch = Scratch::new()?;
    let (repository, home, only) = match (scope, base.filter(|base| is_debian(base))) {
        (BuildScope::Modules(part), debian) => {
            let (files, subject) = match debian {
                Some(name) => of_package(name, part, kernels, say)?,
                None => of_tree(&posted, base, part)?,
            };
            let repository = GitRepository::create(&scratch.0, &files, &subject)?;
            let home = repository.directory().to_path_buf();
            (repository, home, only(part))
        }
        (BuildScope::Kernel(_), Some(name)) => {
            let sources = all_of_package(name, kernels, say)?;
            let repository = sources.beside(&scratch.0, "HEAD", &paths)?;
            (repository, sources.directory().to_path_buf(), Vec::new())
        }
        (BuildScope::Kernel(_), None) => {
            let (tree, commit) = base_in_tree(&posted, base)?;
            let repository = tree.beside(&scratch.0, &commit, &paths)?;
            (repository, tree.directory().to_path_buf(), Vec::new())
        }
    };
    let base = repository.describe("HEAD")?;
    let mut commits = repository.apply(&posted.patches, &only)?;
    for (commit, patch) in commits.iter_mut().zip(&posted.patches) {
        // Keep the paths that git left out, as they were posted too.
        commit.paths.clone_from(&patch.paths);
    }
    let title = posted.title.clone().or_else(|| match &commits[..] {
        [one] => Some(one.subject.clone()),
        _ => None,
    });
    Ok(SourceChange {
        title: title.unwrap_or(name),
        base,
        commits,
        repository,
        home,
        _scratch: Some(scratch),
    })
}

/// A directory that is deleted on drop.
#[derive(Debug)]
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self, Failure> {
        let name = format!("series-{}", std::process::id());
        let directory = Kernels::default_root()?.join("try").join(name);
        let failed = |source| Failure::Write {
            what: directory.display().to_string(),
            source,
        };
        if directory.exists() {
            // Left by a process that was killed and had the same PID.
            std::fs::remove_dir_all(&directory).map_err(failed)?;
        }
        std::fs::create_dir_all(&directory).map_err(failed)?;
        Ok(Scratch(directory))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The bytes of a file and its name for messages; `-` reads standard input.
pub(crate) fn read(file: &Path) -> Result<(Vec<u8>, String), Failure> {
    let failed = |source| Failure::Read {
        path: file.to_path_buf(),
        source,
    };
    if file == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin()
            .lock()
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        return Ok((bytes, "standard input".into()));
    }
    let bytes = std::fs::read(file).map_err(failed)?;
    Ok((bytes, file.display().to_string()))
}

fn paths_of(posted: &PostedSeries) -> impl Iterator<Item = &str> {
    let paths = posted.patches.iter().flat_map(|patch| &patch.paths);
    paths.map(String::as_str)
}

/// Path patterns of the files in the repository.
fn only(part: &KernelPart) -> Vec<String> {
    let below = format!("{}/*", part.directory);
    std::iter::once(below)
        .chain(part.headers.iter().map(|path| (*path).to_owned()))
        .collect()
}

type SourceFiles = (BTreeMap<String, String>, String);

/// The files of a part from the source package of a kernel's version, and its headers.
fn of_package(
    name: &str,
    part: &KernelPart,
    kernels: &Kernels,
    say: &dyn Fn(&str),
) -> Result<SourceFiles, Failure> {
    // Kernels of the same version share a source package.
    let series = series_of(name);
    let series = series.strip_suffix("-rt").unwrap_or(series);
    let kernel = kernels.resolve(name)?;
    let wanted = [part.directory];
    let source = match kernels.stored_source_parts(series, &kernel.version, &wanted) {
        Some(source) => source,
        None => kernels.fetch_source_parts(series, &wanted, &mut |line| say(line))?,
    };
    same_version(&kernel, &source.version)?;
    let mut files = part.kernel_headers(&kernel)?;
    let directory = source.tree.join(part.directory);
    collect(&directory, part.directory, &mut files)?;
    Ok((files, format!("{name} {}", source.version)))
}

/// `6.12` of `debian:6.12@6.12.117-1`.
fn series_of(name: &str) -> &str {
    let series = name.strip_prefix("debian:").unwrap_or(name);
    series.split('@').next().unwrap_or(series)
}

/// All source files of a kernel of Debian, as a repository with one commit. They take 300
/// MB and are fetched once.
fn all_of_package(
    name: &str,
    kernels: &Kernels,
    say: &dyn Fn(&str),
) -> Result<GitRepository, Failure> {
    let series = series_of(name);
    if name.contains('@') || series.ends_with("-rt") {
        let series = series.trim_end_matches("-rt");
        return Err(Failure::Argument(format!(
            "--base {name}: for a change outside of modules the kernel is built from the newest \
             sources of a series, with the configuration of assize kernel config; write \
             debian:{series}"
        )));
    }
    let pack = |tree: &Path, version: &str| {
        let subject = format!("debian:{series} {version}");
        GitRepository::pack(tree, &subject)?;
        Ok::<(), Failure>(())
    };
    let source = kernels.packed_source(series, pack, &mut |line| say(line))?;
    Ok(GitRepository::open(&source.tree)?)
}

fn same_version(kernel: &Kernel, version: &str) -> Result<(), Failure> {
    if kernel.version == version {
        return Ok(());
    }
    Err(Failure::Argument(format!(
        "{}: the fetched kernel is {}, but the sources are of {version}; assize kernel fetch \
         --headers {}",
        kernel.name, kernel.version, kernel.name
    )))
}

/// Collects the text files below a directory, by their paths in the kernel tree.
fn collect(
    directory: &Path,
    path: &str,
    files: &mut BTreeMap<String, String>,
) -> Result<(), Failure> {
    let failed = |at: &Path| {
        let path = at.to_path_buf();
        move |source| Failure::Read { path, source }
    };
    for entry in std::fs::read_dir(directory).map_err(failed(directory))? {
        let entry = entry.map_err(failed(directory))?;
        let (here, name) = (entry.path(), entry.file_name());
        let inside = format!("{path}/{}", name.to_string_lossy());
        if here.is_dir() {
            collect(&here, &inside, files)?;
        } else {
            let text = std::fs::read_to_string(&here).map_err(failed(&here))?;
            files.insert(inside, text);
        }
    }
    Ok(())
}

/// The current git tree, and the commit to apply a series to: the requested one, the one
/// the series names, or HEAD.
fn base_in_tree(
    posted: &PostedSeries,
    asked: Option<&str>,
) -> Result<(GitRepository, String), Failure> {
    let repository = GitRepository::open(Path::new(".")).map_err(|error| {
        Failure::Argument(format!(
            "{error}; go to a git tree of the kernel, or give --base debian:6.12"
        ))
    })?;
    let name = asked.or(posted.base.as_deref()).unwrap_or("HEAD");
    let commit = repository.resolve(name).ok_or_else(|| {
        Failure::Argument(match asked {
            Some(name) => format!(
                "--base {name}: is not a commit of this git tree; name one, or a Debian kernel: \
                 debian:6.12"
            ),
            None => format!(
                "the series is based on {name}, which is not in this tree; fetch it, or give \
                 --base REV or --base debian:6.12"
            ),
        })
    })?;
    Ok((repository, commit))
}

/// The files of a part in the current git tree.
fn of_tree(
    posted: &PostedSeries,
    asked: Option<&str>,
    part: &KernelPart,
) -> Result<SourceFiles, Failure> {
    let (repository, base) = base_in_tree(posted, asked)?;
    let commit = repository.describe(&base)?;
    let files = repository.files(&commit.id, part.paths())?;
    Ok((files, format!("{} {}", commit.short(), commit.subject)))
}
