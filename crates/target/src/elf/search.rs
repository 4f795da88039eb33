//! Search paths for programs and libraries on a machine.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::plain;

/// Default library directories of loaders.
const DEFAULT: [&str; 4] = ["/lib64", "/usr/lib64", "/lib", "/usr/lib"];

/// Directories that are in every user's PATH, or in root's.
const USUAL_PATH: [&str; 6] = [
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
];

/// Whether a program is in one of these directories.
pub(crate) fn is_usual(path: &Path) -> bool {
    let parent = path.parent();
    USUAL_PATH
        .iter()
        .any(|usual| parent == Some(Path::new(usual)))
}

/// The machine that programs are copied from.
#[derive(Debug, Clone)]
pub(crate) struct ProgramHost {
    root: PathBuf,
    path: Vec<PathBuf>,
    configured: Vec<PathBuf>,
    default: Vec<PathBuf>,
}

impl ProgramHost {
    /// This machine, with the PATH of this process and root's directories.
    pub(crate) fn this() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        ProgramHost::at_root(Path::new("/"), std::env::split_paths(&path).collect())
    }

    /// A machine whose root directory is `root`.
    pub(crate) fn at_root(root: &Path, mut path: Vec<PathBuf>) -> Self {
        path.retain(|directory| directory.is_absolute());
        path.extend(USUAL_PATH.iter().map(PathBuf::from));
        let mut host = ProgramHost {
            root: root.to_path_buf(),
            path,
            configured: Vec::new(),
            default: DEFAULT.iter().map(PathBuf::from).collect(),
        };
        let mut seen = BTreeSet::new();
        host.configured = host.configuration(Path::new("/etc/ld.so.conf"), &mut seen);
        host
    }

    /// The path below the root directory for a path of that machine.
    pub(crate) fn path_below_root(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The path with links followed; unchanged if that fails.
    pub(crate) fn real(&self, path: &Path) -> PathBuf {
        let Ok(real) = std::fs::canonicalize(self.path_below_root(path)) else {
            return path.to_path_buf();
        };
        match (std::fs::canonicalize(&self.root), real) {
            (Ok(root), real) => match real.strip_prefix(&root) {
                Ok(rest) => Path::new("/").join(rest),
                Err(_) => path.to_path_buf(),
            },
            (Err(_), _) => path.to_path_buf(),
        }
    }

    /// Directories named in `/etc/ld.so.conf`.
    pub(super) fn configured(&self) -> &[PathBuf] {
        &self.configured
    }

    /// The loader's default directories.
    pub(super) fn default(&self) -> &[PathBuf] {
        &self.default
    }

    /// Finds a program by name or path.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        self.program_in(name, std::iter::empty())
    }

    /// Finds a program by path, or by name in these directories (in this machine's PATH if
    /// there are none).
    pub(crate) fn program_in<'d>(
        &self,
        name: &str,
        directories: impl Iterator<Item = &'d str>,
    ) -> Option<PathBuf> {
        use std::os::unix::fs::PermissionsExt as _;
        let runnable = |path: &Path| {
            self.path_below_root(path)
                .metadata()
                .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
        };
        if name.contains('/') {
            let path = plain(&std::path::absolute(name).ok()?);
            return runnable(&path).then_some(path);
        }
        let mut given = Vec::new();
        for directory in directories {
            given.push(plain(&std::path::absolute(directory).ok()?));
        }
        let searched = if given.is_empty() { &self.path } else { &given };
        searched
            .iter()
            .map(|directory| directory.join(name))
            .find(|path| runnable(path))
    }

    fn configuration(&self, file: &Path, seen: &mut BTreeSet<PathBuf>) -> Vec<PathBuf> {
        let mut directories = Vec::new();
        let text = std::fs::read_to_string(self.path_below_root(file)).unwrap_or_default();
        if !seen.insert(file.to_path_buf()) {
            return directories;
        }
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default().trim();
            match line.strip_prefix("include") {
                Some(patterns) if patterns.starts_with(char::is_whitespace) => {
                    for pattern in patterns.split_whitespace() {
                        let pattern = file.parent().unwrap_or(file).join(pattern);
                        for included in self.matching(&pattern) {
                            directories.extend(self.configuration(&included, seen));
                        }
                    }
                }
                _ if line.starts_with('/') => directories.push(PathBuf::from(line)),
                _ => {}
            }
        }
        directories
    }

    /// The files that match a pattern with a `*` in its last component, sorted by name.
    fn matching(&self, pattern: &Path) -> Vec<PathBuf> {
        let directory = pattern.parent().unwrap_or(Path::new("/"));
        let Some(last) = pattern.file_name().and_then(|name| name.to_str()) else {
            return Vec::new();
        };
        let Ok(entries) = crate::fault::list(&self.path_below_root(directory)) else {
            return Vec::new();
        };
        entries
            .iter()
            .filter_map(|path| path.file_name()?.to_str())
            .filter(|name| crate::module_files::glob(last, name))
            .map(|name| directory.join(name))
            .collect()
    }
}
