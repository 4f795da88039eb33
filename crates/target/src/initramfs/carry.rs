//! Copies a payload into the initramfs tree.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use assize_job::{LinkedProgram, below_experiment};

use super::tree::ArchiveTree;
use crate::Error;
use crate::carried::{CarriedProgram, EXPERIMENT};
use crate::elf::{self, Closure, LoaderEnvironment, ProgramHost};
use crate::fault::{io, list, mend, read, wrong};
use crate::packages;

/// Collects programs with the libraries and interpreters they need.
pub(super) struct Carrier<'a> {
    pub(super) host: &'a ProgramHost,
    pub(super) tree: ArchiveTree,
    /// Libraries in directories that the guest's loader does not search.
    configured: BTreeSet<PathBuf>,
    /// The path of the C library; every loader searches its directory.
    c_library: Option<PathBuf>,
    /// Loader variables of the current program.
    loading: LoaderEnvironment,
    /// Guest paths of the current program's libraries.
    libraries: BTreeSet<String>,
    /// The directory that becomes [`EXPERIMENT`] in the guest, if the current program is
    /// named by a relative path.
    home: Option<PathBuf>,
    programs: Vec<CarriedProgram>,
    /// Where the loader finds each carried library, by its path on this machine with links
    /// followed.
    pub(super) carried_libraries: BTreeMap<PathBuf, PathBuf>,
}

impl<'a> Carrier<'a> {
    pub(super) fn new(host: &'a ProgramHost, tree: ArchiveTree) -> Self {
        Carrier {
            host,
            tree,
            configured: BTreeSet::new(),
            c_library: None,
            loading: LoaderEnvironment::default(),
            libraries: BTreeSet::new(),
            home: None,
            programs: Vec::new(),
            carried_libraries: BTreeMap::new(),
        }
    }

    /// Links the libraries that the guest's loader would not find, and returns the tree and
    /// the programs in it.
    pub(super) fn finish(mut self) -> Result<(ArchiveTree, Vec<CarriedProgram>), Error> {
        if let Some(directory) = self.c_library.as_deref().and_then(Path::parent) {
            for library in &self.configured {
                let Some(name) = library.file_name() else {
                    continue;
                };
                let link = text(&directory.join(name))?;
                let library = text(library)?;
                if !ArchiveTree::same(&link, &library) {
                    self.tree.comes_from(format!("the library {library}"));
                    self.tree.link(&link, &library)?;
                }
            }
        }
        Ok((self.tree, self.programs))
    }

    /// Adds the agent as the first process.
    pub(super) fn init(&mut self, agent: &Path) -> Result<(), Error> {
        self.tree.comes_from("the agent");
        let bytes = elf::read_at(self.host, agent)?;
        self.with_needs("the agent", agent, &bytes, 0)?;
        self.tree.file("init", bytes, 0o755)
    }

    /// Adds a program built by assize at the path `place`.
    pub(super) fn ours(&mut self, what: &str, from: &Path, place: &str) -> Result<(), Error> {
        self.tree.comes_from(what);
        let bytes = elf::read_at(self.host, from)?;
        self.with_needs(what, from, &bytes, 0)?;
        self.libraries.clear();
        self.tree.file(place, bytes, 0o755)
    }

    /// Adds a program, given by name or path, that is started with these variables.
    pub(super) fn program(&mut self, linked: &LinkedProgram) -> Result<(), Error> {
        let name = &linked.program;
        let path = self.host.program_in(name, linked.directories("PATH"));
        let path = path.ok_or_else(|| not_here(name))?;
        let relative = name.contains('/') && !name.starts_with('/');
        self.home = relative.then(|| std::env::current_dir().ok()).flatten();
        self.loading = LoaderEnvironment {
            library_path: linked
                .directories("LD_LIBRARY_PATH")
                .map(PathBuf::from)
                .collect(),
            preload: linked
                .directories("LD_PRELOAD")
                .flat_map(str::split_whitespace)
                .map(String::from)
                .collect(),
        };
        self.libraries.clear();
        self.tree.comes_from(format!("the program {name}"));
        self.at_its_path(name, &path, 0)?;
        let usual = elf::is_usual(&path) || linked.directories("PATH").next().is_some();
        if let (false, false, Some(short)) = (usual, name.contains('/'), path.file_name()) {
            let link = text(&Path::new("/usr/bin").join(short))?;
            self.tree.link(&link, &self.place(&path)?)?;
        }
        let asked = self.place(&path)?;
        self.programs.push(CarriedProgram {
            linked: linked.clone(),
            path: self.tree.resolve(&asked).unwrap_or(asked),
            libraries: std::mem::take(&mut self.libraries),
        });
        self.loading = LoaderEnvironment::default();
        self.home = None;
        Ok(())
    }

    /// The guest path for a file of this machine.
    fn place(&self, path: &Path) -> Result<String, Error> {
        let inside = self.home.as_deref().and_then(|home| {
            let real = std::fs::canonicalize(home).ok();
            let below = |home: &Path| path.strip_prefix(home).ok();
            below(home).or_else(|| real.as_deref().and_then(below))
        });
        match inside {
            Some(below) => text(&Path::new(EXPERIMENT).join(below)),
            None if path.is_relative() => Ok(below_experiment(&text(path)?)),
            None => text(path),
        }
    }

    /// Adds a program at its path with links followed, so that `$ORIGIN` keeps its meaning;
    /// the requested path becomes a link to it.
    fn at_its_path(&mut self, name: &str, path: &Path, depth: u32) -> Result<(), Error> {
        let asked = self.place(path)?;
        let bytes = elf::read_at(self.host, path)?;
        let real = self.host.real(path);
        let place = self.place(&real)?;
        ArchiveTree::check_visible(&asked)?;
        ArchiveTree::check_visible(&place)?;
        self.with_needs(name, &real, &bytes, depth)?;
        self.tree.file(&place, bytes, 0o755)?;
        if !ArchiveTree::same(&place, &asked) {
            self.tree.link(&asked, &place)?;
        }
        Ok(())
    }

    pub(super) fn with_needs(
        &mut self,
        name: &str,
        path: &Path,
        bytes: &[u8],
        depth: u32,
    ) -> Result<(), Error> {
        if let Some(closure) = elf::closure(self.host, path, bytes, &self.loading)? {
            return self.closure(&closure);
        }
        let what = format!("copy {name}");
        let Some(words) = interpreter(bytes) else {
            let why = format!("{} is neither an ELF program nor a script", path.display());
            return Err(mend(wrong(what, why), "check the path"));
        };
        // Linux allows four nested script interpreters.
        if depth > 4 {
            return Err(wrong(
                what,
                "its interpreters are scripts, nested too deeply",
            ));
        }
        for word in words {
            let found = self.host.program(&word).ok_or_else(|| {
                let why = format!("its interpreter {word} is not here");
                mend(wrong(&*what, why), format!("install {word}"))
            })?;
            self.at_its_path(&word, &found, depth + 1)?;
        }
        Ok(())
    }

    pub(super) fn closure(&mut self, closure: &Closure) -> Result<(), Error> {
        if let Some(path) = &closure.interpreter {
            self.library(path)?;
        }
        for (name, library) in &closure.libraries {
            self.library(&library.path)?;
            if name == "libc.so.6" {
                self.c_library = Some(library.path.clone());
            }
            if library.configured {
                self.configured.insert(library.path.clone());
            }
        }
        Ok(())
    }

    fn library(&mut self, path: &Path) -> Result<(), Error> {
        let place = self.place(path)?;
        let bytes = elf::read_at(self.host, path)?;
        // A package may contain it behind a link.
        if !self.tree.leads_to(&place, &bytes) {
            self.tree.file(&place, bytes, 0o755)?;
        }
        let real = self.host.real(path);
        self.carried_libraries.entry(real).or_insert(path.into());
        if self.is_always_mapped(path) {
            let place = self.tree.resolve(&place).unwrap_or(place);
            self.libraries.insert(place);
        }
        Ok(())
    }

    /// Whether the loader always maps this library: glibc opens its unwinder only if a
    /// thread ends early.
    fn is_always_mapped(&self, path: &Path) -> bool {
        path.file_name().is_none_or(|name| name != "libgcc_s.so.1")
    }
}

/// The programs that a script's `#!` line names: the interpreter and, with `env`, the
/// program that it looks up.
pub(super) fn interpreter(bytes: &[u8]) -> Option<Vec<String>> {
    let line = bytes.strip_prefix(b"#!")?;
    let line = line.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line.get(..line.len().min(254))?).ok()?;
    let mut words = line.split_whitespace();
    let first = words.next()?.to_string();
    let mut programs = vec![first];
    if programs[0].ends_with("/env") {
        let set = |word: &&str| !word.starts_with('-') && !word.contains('=');
        programs.extend(words.find(set).map(String::from));
    }
    Some(programs)
}

fn not_here(name: &str) -> Error {
    let what = format!("copy the program {name}");
    if name.contains('/') {
        return mend(
            wrong(what, "there is no such file that can be executed"),
            "check the path, or chmod +x",
        );
    }
    mend(wrong(what, "it is not in PATH"), packages::get(name))
}

/// Adds a file or directory of the payload.
pub(super) fn files(tree: &mut ArchiveTree, from: &Path, to: &str) -> Result<(), Error> {
    let data = from.metadata().map_err(|error| io("copy", from, &error))?;
    if data.is_dir() {
        tree.directory(to, 0o755)?;
        for path in list(from)? {
            let name = path.file_name().unwrap_or_default();
            add_entry(tree, &path, &text(&Path::new(to).join(name))?)?;
        }
        return Ok(());
    }
    one_file(tree, from, to, &data)
}

/// Adds an entry of a payload directory; links stay links.
fn add_entry(tree: &mut ArchiveTree, from: &Path, to: &str) -> Result<(), Error> {
    let data = from
        .symlink_metadata()
        .map_err(|error| io("copy", from, &error))?;
    if data.is_symlink() {
        let target = std::fs::read_link(from).map_err(|error| io("copy", from, &error))?;
        return tree.link(to, &text(&target)?);
    }
    match data.is_dir() {
        true => files(tree, from, to),
        false => one_file(tree, from, to, &data),
    }
}

fn one_file(
    tree: &mut ArchiveTree,
    from: &Path,
    to: &str,
    data: &std::fs::Metadata,
) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt as _;
    if !data.is_file() {
        let why = "it is neither a file nor a directory";
        return Err(wrong(format!("copy {}", from.display()), why));
    }
    // The other mode bits depend on the umask of whoever checked the file out.
    let mode = match data.permissions().mode() & 0o100 {
        0 => 0o644,
        _ => 0o755,
    };
    let bytes = read(from)?;
    // A program, its libraries and its links are there already.
    match tree.leads_to(to, &bytes) {
        true => Ok(()),
        false => tree.file(to, bytes, mode),
    }
}

pub(super) fn text(path: &Path) -> Result<String, Error> {
    path.to_str().map(String::from).ok_or_else(|| {
        mend(
            wrong(format!("copy {}", path.display()), "its path is not UTF-8"),
            "rename it",
        )
    })
}
