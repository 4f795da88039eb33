//! Finds what a program needs to run elsewhere: its interpreter and the libraries it links,
//! resolved as the dynamic loader resolves them.

mod search;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use goblin::elf::Elf;
use goblin::elf::dynamic::{DT_RPATH, DT_RUNPATH};

use crate::Error;
use crate::fault::{failed, mend, read, wrong};

pub(crate) use search::{ProgramHost, is_usual};

/// Facts about one ELF file.
#[derive(Debug, Clone, Default)]
struct ElfFile {
    machine: (bool, u16),
    interpreter: Option<String>,
    needed: Vec<String>,
    rpath: Vec<String>,
    runpath: Vec<String>,
    /// Whether it may end a thread early, for which glibc opens `libgcc_s.so.1` by name.
    unwinds: bool,
}

/// A library, and how it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundLibrary {
    /// The path at which the loader opens it.
    pub(crate) path: PathBuf,
    /// Whether it was found in a directory that only this machine's `ld.so.conf` names.
    pub(crate) configured: bool,
}

/// The interpreter and libraries that a program needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Closure {
    /// The dynamic loader, if the program is linked dynamically.
    pub(crate) interpreter: Option<PathBuf>,
    /// The libraries, by the name under which they are requested.
    pub(crate) libraries: BTreeMap<String, FoundLibrary>,
}

/// The loader variables in a program's environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LoaderEnvironment {
    /// `LD_LIBRARY_PATH`: searched before the RUNPATH, after the RPATH.
    pub(crate) library_path: Vec<PathBuf>,
    /// `LD_PRELOAD`: names or paths of libraries that are loaded before all others.
    pub(crate) preload: Vec<String>,
}

/// Returns the closure of a program, `None` if the file is not ELF.
pub(crate) fn closure(
    host: &ProgramHost,
    program: &Path,
    bytes: &[u8],
    loading: &LoaderEnvironment,
) -> Result<Option<Closure>, Error> {
    if !bytes.starts_with(b"\x7fELF") {
        return Ok(None);
    }
    let main = parse(program, bytes)?;
    let mut closure = Closure {
        interpreter: main.interpreter.clone().map(PathBuf::from),
        ..Closure::default()
    };
    if closure.interpreter.is_none() && main.needed.is_empty() {
        return Ok(Some(closure));
    }
    // The loader searches the RPATH of the requesting object and of the objects that loaded
    // it, but only the requesting object's RUNPATH.
    let mut first = main.clone();
    first.needed.splice(0..0, loading.preload.iter().cloned());
    let mut queue = vec![(program.to_path_buf(), first, Vec::new())];
    while let Some((path, object, inherited)) = queue.pop() {
        let mut rpath = expand(&object.rpath, &path);
        rpath.extend(inherited);
        let told = loading.library_path.iter().cloned();
        let searched: Vec<PathBuf> = match object.runpath.is_empty() {
            true => rpath.iter().cloned().chain(told).collect(),
            false => told.chain(expand(&object.runpath, &path)).collect(),
        };
        let mut needed = object.needed.clone();
        if object.unwinds {
            needed.push("libgcc_s.so.1".into());
        }
        for name in needed {
            if closure.libraries.contains_key(&name) || is_loader(&closure, &name) {
                continue;
            }
            let Some((library, found)) = find(host, &name, &searched, &main) else {
                if name == "libgcc_s.so.1" && !object.needed.contains(&name) {
                    continue;
                }
                return Err(missing(program, &path, &name));
            };
            queue.push((library.path.clone(), found, rpath.clone()));
            closure.libraries.insert(name, library);
        }
    }
    Ok(Some(closure))
}

fn is_loader(closure: &Closure, name: &str) -> bool {
    closure
        .interpreter
        .as_deref()
        .and_then(Path::file_name)
        .is_some_and(|loader| loader == name)
}

fn missing(program: &Path, asker: &Path, name: &str) -> Error {
    mend(
        failed(
            format!("copy {}", program.display()),
            format!("{} links {name}, which is not installed", asker.display()),
        ),
        format!("install the package that has {name}"),
    )
}

/// Finds the first file of that name that is built for the same architecture.
fn find(
    host: &ProgramHost,
    name: &str,
    searched: &[PathBuf],
    main: &ElfFile,
) -> Option<(FoundLibrary, ElfFile)> {
    let open = |path: PathBuf, configured| {
        let bytes = std::fs::read(host.path_below_root(&path)).ok()?;
        let object = parse(&path, &bytes).ok()?;
        (object.machine == main.machine).then_some((FoundLibrary { path, configured }, object))
    };
    if name.contains('/') {
        return open(PathBuf::from(name), false);
    }
    let named = searched.iter().map(|directory| (directory, false));
    let configured = host.configured().iter().map(|directory| (directory, true));
    let default = host.default().iter().map(|directory| (directory, false));
    named
        .chain(configured)
        .chain(default)
        .find_map(|(directory, configured)| open(directory.join(name), configured))
}

fn parse(path: &Path, bytes: &[u8]) -> Result<ElfFile, Error> {
    let elf = Elf::parse(bytes).map_err(|error| {
        failed(
            format!("read {}", path.display()),
            format!("it is a damaged ELF file: {error}"),
        )
    })?;
    let paths = |tag| {
        let mut found = Vec::new();
        for entry in elf.dynamic.iter().flat_map(|dynamic| &dynamic.dyns) {
            if entry.d_tag == tag {
                let text = usize::try_from(entry.d_val)
                    .ok()
                    .and_then(|at| elf.dynstrtab.get_at(at));
                found.extend(text.unwrap_or_default().split(':').map(String::from));
            }
        }
        found.retain(|path| !path.is_empty());
        found
    };
    let unwinds = elf.dynsyms.iter().any(|symbol| {
        symbol.is_import()
            && matches!(
                elf.dynstrtab.get_at(symbol.st_name),
                Some("pthread_exit" | "pthread_cancel")
            )
    });
    Ok(ElfFile {
        machine: (elf.is_64, elf.header.e_machine),
        interpreter: elf.interpreter.map(String::from),
        needed: elf.libraries.iter().map(ToString::to_string).collect(),
        rpath: paths(DT_RPATH),
        runpath: paths(DT_RUNPATH),
        unwinds,
    })
}

/// Replaces `$ORIGIN` with the directory of the requesting file.
fn expand(paths: &[String], asker: &Path) -> Vec<PathBuf> {
    let origin = asker.parent().unwrap_or(Path::new("/")).to_string_lossy();
    paths
        .iter()
        .map(|path| {
            path.replace("${ORIGIN}", &origin)
                .replace("$ORIGIN", &origin)
        })
        .map(|path| plain(Path::new(&path)))
        .collect()
}

/// Removes `.` and `..` from a path lexically.
pub(crate) fn plain(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut out = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => out.push(name),
            Component::ParentDir => {
                out.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    out
}

/// The build id of an ELF file, in hexadecimal.
pub(crate) fn build_id(bytes: &[u8]) -> Option<String> {
    const NT_GNU_BUILD_ID: u32 = 3;
    let elf = Elf::parse(bytes).ok()?;
    let mut notes = elf.iter_note_sections(bytes, None)?.flatten();
    let note = notes.find(|note| note.n_type == NT_GNU_BUILD_ID && note.name == "GNU")?;
    Some(note.desc.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Parses the `.modinfo` section of a kernel module into keys and values.
pub(crate) fn modinfo(path: &Path, bytes: &[u8]) -> Result<Vec<(String, String)>, Error> {
    let damaged = |why: String| {
        let error = wrong(format!("read the module {}", path.display()), why);
        mend(error, "give the .ko file that `make modules` leaves")
    };
    let elf =
        Elf::parse(bytes).map_err(|error| damaged(format!("it is not an ELF file: {error}")))?;
    let section = elf
        .section_headers
        .iter()
        .find(|section| elf.shdr_strtab.get_at(section.sh_name) == Some(".modinfo"))
        .and_then(|section| bytes.get(section.file_range()?))
        .ok_or_else(|| {
            damaged("it has no section .modinfo, so it is not a kernel module".into())
        })?;
    Ok(section
        .split(|byte| *byte == 0)
        .filter_map(|line| std::str::from_utf8(line).ok()?.split_once('='))
        .map(|(key, value)| (key.into(), value.into()))
        .collect())
}

/// Reads a file below the host's root.
pub(crate) fn read_at(host: &ProgramHost, path: &Path) -> Result<Vec<u8>, Error> {
    read(&host.path_below_root(path))
}

#[cfg(test)]
pub(crate) mod tests;
