//! The inputs of a build of modules besides their sources.
//!
//! A header, a Makefile or the compiler may change while the kernel's image does not. So
//! each build leaves a list of everything it read, and before its modules are reused all of
//! that is checked. Contents are compared, never times; and because a new file may take
//! precedence over one that was read, the names of all files in the header directories are
//! compared as well.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::commands::{BuildDirectories, Commands};
use crate::Error;
use crate::elf::{ProgramHost, plain};
use crate::sandbox::{Folders, Sandbox};

/// Files next to a directory `include` that determine how modules are built. If one is
/// missing, it must stay missing: make prefers GNUmakefile, for example.
const MAKING: &[&str] = &[
    ".config",
    ".kernelvariables",
    "GNUmakefile",
    "Makefile",
    "Module.symvers",
    "include/config/auto.conf",
    "include/config/kernel.release",
    // Every compiler run reads it, but kbuild does not list it.
    "include/generated/autoconf.h",
    "makefile",
    "module.lds",
];
/// Directories whose programs kbuild runs.
const TOOLS: &[&str] = &["scripts", "tools/objtool"];
/// Programs that a compiler calls; the compiler is asked for their paths.
const CALLED: &[&str] = &["cc1", "as", "ld"];
/// Maximum number of compilers of a build that are queried; usually there is one.
const COMPILERS: usize = 4;
/// Asks a compiler for the paths of programs, one on each line.
const ASK: &str = "for name; do \"$0\" -print-prog-name=\"$name\"; done";
/// The state of an input that is missing or cannot be read.
const ABSENT: &str = "-";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum InputKind {
    /// A file.
    File,
    /// The names of all files below a directory.
    Names,
    /// All files below a directory, with their names.
    Tree,
    /// A program found through PATH.
    Program,
}

const KINDS: &[(&str, InputKind)] = &[
    ("file", InputKind::File),
    ("names", InputKind::Names),
    ("tree", InputKind::Tree),
    ("program", InputKind::Program),
];

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct BuildInput {
    kind: InputKind,
    /// The name of a program, or a path, which is relative to the headers if it is near
    /// them, so that headers can be moved together with everything they belong to.
    name: String,
}

/// The machine and the headers by which inputs are looked up.
#[derive(Debug, Clone, Copy)]
pub(super) struct InputLookup<'a> {
    /// The machine to find programs on.
    pub(super) host: &'a ProgramHost,
    /// The directory for `make -C`, with links resolved.
    pub(super) headers: &'a Path,
}

/// Everything that a build read, with its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Inputs(Vec<(BuildInput, String)>);

impl Inputs {
    /// The inputs of a build that has just ended. Its command files may be forged: programs that
    /// they name run in the sandbox, and files that the build could not see are no inputs.
    pub(super) fn after_build(
        site: BuildDirectories<'_>,
        host: &ProgramHost,
        (sandbox, folders): (&Sandbox, &Folders),
    ) -> Result<Self, Error> {
        let around = InputLookup {
            host,
            headers: site.headers,
        };
        let mut commands = Commands::read(site)?;
        let seen = |path: &PathBuf| sandbox.shows(&plain(path), folders);
        commands.read.retain(seen);
        commands.searched.retain(seen);
        let ask = |command: Command| sandbox.answer(command, folders);
        let mut names = programs(&commands, host, &ask)?;
        names.retain(|name| !name.contains('/') || seen(&name.into()));
        let mut inputs = BTreeSet::new();
        for name in names {
            inputs.insert(match name.contains('/') {
                true => around.input(InputKind::File, Path::new(&name)),
                false => BuildInput {
                    kind: InputKind::Program,
                    name,
                },
            });
        }
        inputs.extend(files(&commands, around));
        if let Some(compiler) = site.compiler.and_then(store_of) {
            inputs.insert(around.input(InputKind::Tree, compiler));
        }
        let state = |input: BuildInput| {
            let state = around.state(&input);
            (input, state)
        };
        Ok(Inputs(inputs.into_iter().map(state).collect()))
    }

    /// Parses the output of [`Inputs::text`].
    pub(super) fn parse(text: &str) -> Option<Self> {
        let line = |line: &str| {
            let mut parts = line.splitn(3, ' ');
            let word = parts.next()?;
            let (_, kind) = KINDS.iter().find(|(name, _)| *name == word)?;
            let state = parts.next()?.to_string();
            let name = parts.next()?.to_string();
            Some((BuildInput { kind: *kind, name }, state))
        };
        let inputs: Vec<_> = text.lines().map(line).collect::<Option<_>>()?;
        (!inputs.is_empty()).then_some(Inputs(inputs))
    }

    /// One input per line: kind, state and name.
    pub(super) fn text(&self) -> String {
        let line = |(input, state): &(BuildInput, String)| {
            let word = KINDS.iter().find(|(_, kind)| *kind == input.kind);
            let word = word.map_or("", |(word, _)| word);
            format!("{word} {state} {}\n", input.name)
        };
        self.0.iter().map(line).collect()
    }

    /// The first input whose state has changed.
    pub(super) fn changed(&self, around: InputLookup<'_>) -> Option<&str> {
        let as_it_was = |(input, state): &&(BuildInput, String)| around.state(input) == *state;
        let (input, _) = self.0.iter().find(|pair| !as_it_was(pair))?;
        Some(&input.name)
    }

    /// The first input file that was changed after `file` was written, so that the state in
    /// which it was read is unknown.
    pub(super) fn changed_since(&self, file: &Path, around: InputLookup<'_>) -> Option<&str> {
        let changed = |path: &Path| {
            let data = fs::metadata(path).ok()?;
            Some((data.ctime(), data.ctime_nsec()))
        };
        let start = changed(file)?;
        let late = |(input, _): &&(BuildInput, String)| {
            let is_file = input.kind == InputKind::File;
            is_file && changed(&around.headers.join(&input.name)) > Some(start)
        };
        let (input, _) = self.0.iter().find(late)?;
        Some(&input.name)
    }
}

impl InputLookup<'_> {
    fn input(self, kind: InputKind, path: &Path) -> BuildInput {
        let near = self.headers.parent().filter(|near| near.parent().is_some());
        let relative = match (path.strip_prefix(self.headers), near) {
            (Ok(inside), _) => Some(inside.to_path_buf()),
            (Err(_), Some(near)) => path
                .strip_prefix(near)
                .ok()
                .map(|beside| Path::new("..").join(beside)),
            (Err(_), None) => None,
        };
        let name = relative.as_deref().unwrap_or(path);
        BuildInput {
            kind,
            name: name.to_string_lossy().into_owned(),
        }
    }

    /// A digest of the current state.
    fn state(self, input: &BuildInput) -> String {
        let path = self.headers.join(&input.name);
        let digest = match input.kind {
            InputKind::File => file(&path),
            InputKind::Names => below(&path, false),
            InputKind::Tree => below(&path, true),
            InputKind::Program => program(self.host, &input.name),
        };
        let short = |digest: blake3::Hash| digest.to_hex()[..32].to_string();
        digest.map_or_else(|| ABSENT.into(), short)
    }
}

/// The directory of a stored compiler, whose programs are in `usr/bin` below it.
pub(super) fn store_of(programs: &Path) -> Option<&Path> {
    programs.parent()?.parent()
}

fn file(path: &Path) -> Option<blake3::Hash> {
    // Reading a device might never end.
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some(blake3::hash(&fs::read(path).ok()?))
}

/// Digest of a program: of its contents and its path, since it may look for others next to
/// it.
fn program(host: &ProgramHost, name: &str) -> Option<blake3::Hash> {
    let path = fs::canonicalize(host.program(name)?).ok()?;
    let mut hash = blake3::Hasher::new();
    hash.update(file(&path)?.as_bytes());
    hash.update(path.as_os_str().as_encoded_bytes());
    Some(hash.finalize())
}

/// Digest of all names below a directory, with the contents if requested. Links to
/// directories are followed for names only, because some distributions link whole
/// directories of headers; among the kernel's scripts such a link leads elsewhere, so with
/// contents only its name counts.
fn below(directory: &Path, contents: bool) -> Option<blake3::Hash> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(inside) = open.pop() {
        // Links may form a cycle.
        if !seen.insert(fs::canonicalize(&inside).ok()?) {
            continue;
        }
        let entries = fs::read_dir(&inside).ok()?;
        let mut entries: Vec<_> = entries.collect::<Result<_, _>>().ok()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let kind = entry.file_type().ok()?;
            let linked = kind.is_symlink() && !contents && entry.path().is_dir();
            match kind.is_dir() || linked {
                true => open.push(entry.path()),
                false => found.push(entry.path()),
            }
        }
    }
    found.sort();
    let mut hash = blake3::Hasher::new();
    for path in found {
        let name = path.strip_prefix(directory).unwrap_or(&path);
        let name = name.as_os_str().as_encoded_bytes();
        hash.update(&(name.len() as u64).to_le_bytes());
        hash.update(name);
        if let Some(digest) = contents.then(|| file(&path)).flatten() {
            hash.update(digest.as_bytes());
        }
    }
    Some(hash.finalize())
}

/// The programs that produced the objects, as names for PATH or as paths.
fn programs(
    commands: &Commands,
    host: &ProgramHost,
    ask: &dyn Fn(Command) -> Result<String, Error>,
) -> Result<BTreeSet<String>, Error> {
    let mut names = commands.programs.clone();
    for compiler in commands.compilers.iter().take(COMPILERS) {
        let Some(path) = host.program(compiler) else {
            continue;
        };
        let mut command = Command::new("sh");
        command.args(["-c", ASK]).arg(&path).args(CALLED);
        command.env("LC_ALL", "C");
        names.extend(ask(command)?.lines().map(|line| line.trim().to_owned()));
    }
    // Programs inside the headers are covered by their directory.
    names.retain(|name| !name.is_empty() && (name.starts_with('/') || !name.contains('/')));
    Ok(names)
}

/// Headers, Makefiles and the kernel's own tools.
fn files(commands: &Commands, around: InputLookup<'_>) -> BTreeSet<BuildInput> {
    let real = |path: &PathBuf| fs::canonicalize(path).unwrap_or_else(|_| plain(path));
    let searched: BTreeSet<PathBuf> = commands.searched.iter().map(real).collect();
    let outermost = |path: &&PathBuf| {
        let mut above = path.ancestors().skip(1);
        !above.any(|directory| searched.contains(directory))
    };
    let mut inputs = BTreeSet::new();
    for directory in searched.iter().filter(outermost) {
        inputs.insert(around.input(InputKind::Names, directory));
    }
    let beside = searched.iter().filter_map(|path| {
        let mut above = path.ancestors();
        above.find(|path| path.ends_with("include"))?.parent()
    });
    for directory in beside {
        for name in MAKING {
            inputs.insert(around.input(InputKind::File, &directory.join(name)));
        }
        for name in TOOLS {
            inputs.insert(around.input(InputKind::Tree, &directory.join(name)));
        }
    }
    for path in &commands.read {
        inputs.insert(around.input(InputKind::File, &plain(path)));
    }
    inputs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Headers laid out as in packages, and a program.
    struct HeadersFixture(tempfile::TempDir);

    impl HeadersFixture {
        fn new() -> Self {
            let place = HeadersFixture(tempfile::tempdir().unwrap());
            for (path, text) in [
                ("src/h/Makefile", "all:\n"),
                ("src/h/Module.symvers", "0x1 f vmlinux\n"),
                ("src/h/include/generated/a.h", "a\n"),
                ("src/h/include/generated/autoconf.h", "c\n"),
                ("src/h/arch/x86/include/generated/b.h", "b\n"),
                ("src/h/arch/x86/module.lds", "l\n"),
                ("src/h/include/unused.h", "u\n"),
                ("src/h/scripts/basic/fixdep", "f\n"),
                ("src/common/include/linux/k.h", "k\n"),
                ("bin/gcc", "#!/bin/sh\necho as\n"),
                ("bin/as", "#!/bin/sh\n"),
                (
                    "w/.a.o.cmd",
                    "savedcmd_/w/a.o := gcc -I../common/include -I./include \
                     -I./arch/x86/include/generated -c -o /w/a.o /w/a.c\n\
                     deps_/w/a.o := \\\n  ../common/include/linux/k.h \\\n  \
                     include/generated/a.h \\\n\n",
                ),
            ] {
                place.write(path, text);
            }
            place
        }

        fn at(&self, path: &str) -> PathBuf {
            self.0.path().join(path)
        }

        fn write(&self, path: &str, text: &str) {
            use std::os::unix::fs::PermissionsExt as _;
            let path = self.at(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            if text.starts_with("#!") {
                fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
            }
        }

        fn host(&self) -> ProgramHost {
            ProgramHost::at_root(Path::new("/"), vec![self.at("bin")])
        }

        fn inputs(&self) -> Inputs {
            let (work, headers) = (self.at("w"), self.at("src/h"));
            let site = BuildDirectories {
                work: &work,
                headers: &headers,
                compiler: None,
            };
            let folders = Folders::default();
            Inputs::after_build(site, &self.host(), (&Sandbox::Off, &folders)).unwrap()
        }

        fn changed(&self, inputs: &Inputs) -> Option<String> {
            let (host, headers) = (self.host(), self.at("src/h"));
            let around = InputLookup {
                host: &host,
                headers: &headers,
            };
            inputs.changed(around).map(String::from)
        }
    }

    #[test]
    fn whatever_was_read_and_changes_is_named_and_nothing_else() {
        for (path, text, named) in [
            ("src/h/Makefile", "all: x\n", Some("Makefile")),
            ("src/h/Module.symvers", "0x2 f\n", Some("Module.symvers")),
            ("src/h/GNUmakefile", "all:\n", Some("GNUmakefile")),
            ("src/h/.config", "CONFIG_A=y\n", Some(".config")),
            (
                "src/h/include/generated/a.h",
                "b\n",
                Some("include/generated/a.h"),
            ),
            (
                "src/h/include/generated/autoconf.h",
                "d\n",
                Some("include/generated/autoconf.h"),
            ),
            (
                "src/h/arch/x86/module.lds",
                "m\n",
                Some("arch/x86/module.lds"),
            ),
            ("src/h/scripts/basic/fixdep", "g\n", Some("scripts")),
            ("src/h/scripts/new", "", Some("scripts")),
            (
                "src/common/include/linux/k.h",
                "l\n",
                Some("../common/include/linux/k.h"),
            ),
            ("bin/gcc", "#!/bin/sh\necho as #\n", Some("gcc")),
            ("bin/as", "#!/bin/sh\n#\n", Some("as")),
            // It takes precedence over the header that was read.
            ("src/h/include/linux/k.h", "k\n", Some("include")),
            ("src/h/include/unused.h", "v\n", None),
            ("src/h/README", "r\n", None),
        ] {
            let place = HeadersFixture::new();
            let inputs = place.inputs();
            assert_eq!(place.changed(&inputs), None, "{path}");
            place.write(path, text);
            assert_eq!(place.changed(&inputs).as_deref(), named, "{path}");
        }
    }

    #[test]
    fn new_headers_are_noticed_behind_links_that_lead_back_too() {
        let place = HeadersFixture::new();
        place.write("src/common/include/asm/old.h", "o\n");
        for (from, to) in [("asm", "../../common/include/asm"), ("again", "..")] {
            let link = place.at("src/h/include").join(from);
            std::os::unix::fs::symlink(to, link).unwrap();
        }
        let inputs = place.inputs();
        assert_eq!(place.changed(&inputs), None);
        let names = "../common/include\ninclude\n";
        place.write("src/common/include/asm/new.h", "n\n");
        let (host, headers) = (place.host(), place.at("src/h"));
        let around = InputLookup {
            host: &host,
            headers: &headers,
        };
        let changed = inputs
            .0
            .iter()
            .filter(|(input, state)| around.state(input) != *state);
        let changed: String = changed
            .map(|(input, _)| format!("{}\n", input.name))
            .collect();
        assert_eq!(changed, names);
    }

    #[test]
    fn inputs_are_read_as_they_were_written_and_hold_for_headers_that_moved() {
        let place = HeadersFixture::new();
        let inputs = place.inputs();
        let text = inputs.text();
        assert!(
            !text.contains(&*place.at("src").to_string_lossy()),
            "{text}"
        );
        assert_eq!(Inputs::parse(&text), Some(inputs.clone()));
        for bad in [
            "",
            "file",
            "file 0",
            "nonsense 0 a\n",
            &text.replace("tree ", "trees "),
        ] {
            assert_eq!(Inputs::parse(bad), None, "{bad}");
        }
        fs::rename(place.at("src"), place.at("moved")).unwrap();
        let (host, headers) = (place.host(), place.at("moved/h"));
        let around = InputLookup {
            host: &host,
            headers: &headers,
        };
        assert_eq!(inputs.changed(around), None);
    }

    #[test]
    fn a_file_that_changed_during_the_build_is_noticed() {
        let place = HeadersFixture::new();
        let inputs = place.inputs();
        let (host, headers) = (place.host(), place.at("src/h"));
        let around = InputLookup {
            host: &host,
            headers: &headers,
        };
        let late = || {
            let start = place.at("w/.a.o.cmd");
            inputs.changed_since(&start, around)
        };
        place.write("w/.a.o.cmd", "");
        let changed = |path: &str| {
            let data = fs::metadata(place.at(path)).unwrap();
            (data.ctime(), data.ctime_nsec())
        };
        let started = changed("w/.a.o.cmd");
        assert_eq!(late(), None);
        // Timestamps of a file system advance by some milliseconds at a time.
        while changed("src/h/Makefile") <= started {
            place.write("src/h/Makefile", "all:\n");
        }
        assert_eq!(late(), Some("Makefile"));
    }
}
