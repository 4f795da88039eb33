//! Builds the testbed's modules.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::commands::BuildDirectories;
use super::compiler::{Compiler, check_path, check_release};
use super::inputs::{InputLookup, Inputs};
use super::sources::ModuleSources;
use super::variant::Variant;
use super::{KernelToBuildFor, what};
use crate::Error;
use crate::fault::{create, failed, files_below, io, list, mend, write};
use crate::make::MakeRun;
use crate::module_files::stem;
use crate::parts_hash::PartsHash;
use crate::prune::{prune, touch};
use crate::sandbox::{Folders, Limits, Sandbox};
use crate::scratch::{into_place, temporary_in};

/// Part of every key: increase it when the same sources are built differently.
const RECIPE: &[u8] = b"assize.testbed/2";
/// Limit in bytes for stored modules; the oldest are removed first.
const BUILT: u64 = 64 << 20;
/// How many times to build if the inputs change meanwhile.
const TRIES: usize = 3;
/// Name of make's log, next to the modules.
const LOG: &str = "build.log";
/// Name of the list of all files that a build read.
const INPUTS: &str = "inputs";

/// A request for a build of modules.
#[derive(Debug, Clone, Copy)]
pub(super) struct BuildRequest<'a> {
    /// The root directory of the store.
    pub(super) root: &'a Path,
    pub(super) sources: &'a ModuleSources<'a>,
    /// The code layout.
    pub(super) variant: Variant,
    pub(super) subject: &'a KernelToBuildFor<'a>,
    /// Whether to include modules that only tests use.
    pub(super) tests: bool,
    /// The sandbox for sources that are not ours; `None` for ours, for which the headers decide.
    pub(super) sandbox: Option<&'a Sandbox>,
}

/// Builds the modules of sources that are not ours, given as texts by path.
pub(super) fn ensure_in_sandbox(
    root: &Path,
    files: &BTreeMap<String, String>,
    subject: &KernelToBuildFor<'_>,
    sandbox: &Sandbox,
) -> Result<BTreeMap<String, PathBuf>, Error> {
    let files = files.iter().map(|(path, text)| (&**path, &**text));
    let files: Vec<(&str, &str)> = files.collect();
    ensure(&BuildRequest {
        root,
        sources: &ModuleSources::with_files(&files),
        variant: Variant::default(),
        subject,
        tests: false,
        sandbox: Some(sandbox),
    })
}

/// Returns the requested modules, by name, except those that the kernel's configuration leaves out.
/// Builds them unless there is a build of the current inputs.
pub(super) fn ensure(request: &BuildRequest<'_>) -> Result<BTreeMap<String, PathBuf>, Error> {
    let BuildRequest { root, subject, .. } = *request;
    check_path(subject, root)?;
    check_path(subject, subject.headers)?;
    check_release(subject)?;
    Compiler::find(subject)?;
    let wanted = WantedModules::for_request(request);
    let place = match wanted.find() {
        Some(place) => place,
        None => wanted.make()?,
    };
    touch(&place);
    let names = request.sources.names(request.tests).into_iter();
    Ok(names
        .map(|name| (name.clone(), place.join(format!("{name}.ko"))))
        .filter(|(_, path)| path.exists())
        .collect())
}

/// Whether there is a build of the current inputs.
pub(super) fn is_built(request: &BuildRequest<'_>) -> bool {
    WantedModules::for_request(request).find().is_some()
}

/// A hash of the inputs known before a build. The other files it reads are only known
/// afterwards.
fn key(request: &BuildRequest<'_>) -> String {
    let mut hash = PartsHash::default();
    hash.add(RECIPE);
    hash.add([u8::from(request.tests)]);
    hash.add(request.subject.release);
    for (path, text) in request.sources.files() {
        hash.add(path);
        hash.add(request.variant.laid_out(path, text).as_bytes());
    }
    if let Some(flag) = request.variant.flag() {
        hash.add(flag);
    }
    hash.hex(32)
}

/// The modules to find or build.
struct WantedModules<'a> {
    home: PathBuf,
    key: String,
    request: &'a BuildRequest<'a>,
}

impl<'a> WantedModules<'a> {
    fn for_request(request: &'a BuildRequest<'a>) -> Self {
        WantedModules {
            home: request.root.join("modules"),
            key: key(request),
            request,
        }
    }

    /// The directory of a build of the current inputs. There may be others with the same
    /// key, built from earlier inputs.
    fn find(&self) -> Option<PathBuf> {
        let host = self.request.subject.host();
        let headers = fs::canonicalize(self.request.subject.headers).ok()?;
        let around = InputLookup {
            host: &host,
            headers: &headers,
        };
        let of_key = |place: &PathBuf| {
            let name = place.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&self.key)
        };
        let holds = |place: &PathBuf| {
            let text = fs::read_to_string(place.join(INPUTS)).unwrap_or_default();
            Inputs::parse(&text).is_some_and(|inputs| inputs.changed(around).is_none())
        };
        let places = list(&self.home.join("built")).unwrap_or_default();
        places.into_iter().filter(of_key).find(holds)
    }

    fn make(&self) -> Result<PathBuf, Error> {
        let _lock = crate::lock::take(&self.home, &mut |_| ())?;
        // Another process may have built them in the meantime.
        if let Some(place) = self.find() {
            return Ok(place);
        }
        prune(&self.home.join("built"), BUILT);
        let mut moving = String::new();
        for _ in 0..TRIES {
            match self.build()? {
                Ok(place) => return Ok(place),
                Err(changed) => moving = changed,
            }
        }
        let why = format!("{moving} changed while make was reading it");
        Err(mend(
            failed(what(self.request.subject.name), why),
            "try again when nothing writes to the kernel's headers",
        ))
    }

    /// Builds once, and returns the directory; or names an input that changed meanwhile.
    fn build(&self) -> Result<Result<PathBuf, String>, Error> {
        let host = self.request.subject.host();
        let sandbox = match self.request.sandbox {
            Some(sandbox) => sandbox.clone(),
            None => self.request.subject.sandbox()?,
        };
        let work = temporary_in(&self.home)?;
        // make and the compiler get paths with links resolved, as kbuild resolves them.
        let real = |path: &Path| fs::canonicalize(path).map_err(|error| io("find", path, &error));
        let (directory, headers) = (real(work.path())?, real(self.request.subject.headers)?);
        check_path(self.request.subject, &directory)?;
        check_path(self.request.subject, &headers)?;
        let site = BuildDirectories {
            work: &directory,
            headers: &headers,
            compiler: self.request.subject.compiler,
        };
        let start = directory.join(".start");
        write(&start, "")?;
        write_sources(&directory, self.request.sources, self.request.variant)?;
        let log = self
            .home
            .join(format!("{}.log", self.request.subject.release));
        let what = what(self.request.subject.name);
        let hidden = format!("{}/", directory.display());
        let run = MakeRun {
            what: &what,
            directory: &directory,
            log: &log,
            shown: (&hidden, "kernel/"),
            sandbox: &sandbox,
            folders: Folders {
                readable: self.request.subject.readable(&headers),
                writable: directory.clone(),
            },
            limits: Limits::default(),
            unfinished: None,
        };
        run.run(command(
            site,
            self.request.subject,
            self.request.variant,
            self.request.tests,
        ))?;
        let inputs = Inputs::after_build(site, &host, (&sandbox, &run.folders))?;
        let around = InputLookup {
            host: &host,
            headers: &headers,
        };
        if let Some(changed) = inputs.changed_since(&start, around) {
            return Ok(Err(changed.into()));
        }
        self.store(&directory, &log, &inputs.text()).map(Ok)
    }

    /// Stores the modules found below a directory, with the log and the list of inputs.
    fn store(&self, directory: &Path, log: &Path, inputs: &str) -> Result<PathBuf, Error> {
        let is_module = |path: &PathBuf| path.extension().is_some_and(|it| it == "ko");
        let modules = files_below(directory)?.into_iter().filter(is_module);
        let made: BTreeMap<String, PathBuf> = modules
            .map(|path| (stem(&path.to_string_lossy()), path))
            .collect();
        let order = directory.join("modules.order");
        let order = fs::read_to_string(&order).map_err(|error| io("read", &order, &error))?;
        let result = temporary_in(&self.home)?;
        for name in self.request.sources.names(self.request.tests) {
            if !made.contains_key(&name)
                && !order
                    .lines()
                    .any(|line| stem(line.trim_end_matches(".o")) == name)
            {
                // Kbuild leaves out a module if the kernel lacks what it needs.
                continue;
            }
            let module = made.get(&name).ok_or_else(|| {
                let why = format!("make has not built {name}.ko; see {}", log.display());
                failed(what(self.request.subject.name), why)
            })?;
            let to = result.path().join(format!("{name}.ko"));
            fs::copy(module, &to).map_err(|error| io("write", &to, &error))?;
        }
        let to = result.path().join(INPUTS);
        write(&to, inputs)?;
        let to = result.path().join(LOG);
        fs::rename(log, &to).map_err(|error| io("write", &to, &error))?;
        let digest = blake3::hash(inputs.as_bytes()).to_hex();
        let name = format!("{}-{}", self.key, &digest[..16]);
        let place = self.home.join("built").join(name);
        into_place(result, &place)?;
        Ok(place)
    }
}

fn write_sources(
    directory: &Path,
    sources: &ModuleSources<'_>,
    variant: Variant,
) -> Result<(), Error> {
    for (path, text) in sources.files() {
        let to = directory.join(path);
        let parent = to.parent().unwrap_or(directory);
        create(parent)?;
        let text = variant.laid_out(path, text);
        write(&to, &*text)?;
        if path.ends_with(".sh") {
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(&to, mode).map_err(|error| io("change", &to, &error))?;
        }
    }
    Ok(())
}

/// The make command. The output must be the same in every directory, so no path of ours may
/// get into a module: debugging information, which is full of them, is left out, and other
/// paths are shortened. Nor may it depend on a tool that some machines lack, as BTF does on
/// pahole.
fn command(
    site: BuildDirectories<'_>,
    subject: &KernelToBuildFor<'_>,
    variant: Variant,
    tests: bool,
) -> Command {
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    // The compiler uses the last prefix that matches, and our directory may be below the
    // headers.
    let sources = source_tree(site.headers);
    let prefixes = [sources.as_deref(), Some(site.headers), Some(site.work)];
    let prefixes = prefixes.into_iter().flatten();
    let short = prefixes.map(|path| format!(" -ffile-prefix-map={}/=", path.display()));
    let flag = variant
        .flag()
        .map_or(String::new(), |flag| format!(" {flag}"));
    let mut command = Command::new("sh");
    command
        .args(["-c", "exec make \"$@\" >&2", "make", "-C"])
        .arg(site.headers)
        .arg(format!("M={}", site.work.display()))
        .arg(format!("-j{jobs}"))
        .arg(format!("KCFLAGS=-g0{}{flag}", short.collect::<String>()))
        .arg(if tests { "TESTS=y" } else { "TESTS=n" })
        .args(["CONFIG_DEBUG_INFO_BTF_MODULES=", "modules"])
        // kbuild reads many environment variables.
        .env_clear()
        .env("LC_ALL", "C");
    for name in ["HOME", "TMPDIR"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    if let Ok(path) = std::env::join_paths(subject.path()) {
        command.env("PATH", path);
    }
    command
}

/// The source tree that the headers' Makefile refers to, if it is elsewhere.
pub(super) fn source_tree(headers: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(headers.join("Makefile")).ok()?;
    let mut lines = text.lines();
    let makefile = lines.find_map(|line| line.strip_prefix("include "))?;
    let here = "$(dir $(abspath $(lastword $(MAKEFILE_LIST))))";
    let makefile = makefile.replace(here, "");
    let tree = headers.join(makefile.trim().strip_suffix("Makefile")?);
    fs::canonicalize(tree).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_changes_in_a_source_makes_other_modules() {
        type ModulePaths = [(&'static str, &'static str); 2];
        let files: ModulePaths = [("Kbuild", "obj-m += a.o\n"), ("a.c", "int a;\n")];
        let subject = KernelToBuildFor {
            name: "k",
            release: "6.12",
            headers: Path::new("/h"),
            compiler: None,
            trusted: true,
        };
        let key = |files: &ModulePaths, tests| {
            key(&BuildRequest {
                root: Path::new("/r"),
                sources: &ModuleSources::with_files(files),
                variant: Variant(0),
                subject: &subject,
                tests,
                sandbox: None,
            })
        };
        let plain = key(&files, false);
        assert_eq!(plain, key(&files, false));
        assert_ne!(plain, key(&files, true));
        for at in 0..files.len() {
            let (mut text, mut path) = (files, files);
            text[at].1 = "int b;\n";
            path[at].0 = "b.c";
            for changed in [text, path] {
                assert_ne!(plain, key(&changed, false), "{changed:?}");
            }
        }
    }

    #[test]
    fn sources_are_where_the_makefile_of_the_headers_includes_them_from() {
        let place = tempfile::tempdir().unwrap();
        let place = fs::canonicalize(place.path()).unwrap();
        let (headers, sources) = (place.join("h"), place.join("s"));
        for directory in [&headers, &sources] {
            fs::create_dir(directory).unwrap();
        }
        let found = |text: &str| {
            fs::write(headers.join("Makefile"), text).unwrap();
            source_tree(&headers)
        };
        let debian = "include $(dir $(abspath $(lastword $(MAKEFILE_LIST))))../s/Makefile\n";
        let kbuild = format!("# made\ninclude {}/Makefile\n", sources.display());
        for text in [debian, &kbuild, "include ../s/Makefile"] {
            assert_eq!(found(text).as_ref(), Some(&sources), "{text}");
        }
        assert_eq!(
            found("VERSION = 6\ninclude $(srctree)/scripts/Kbuild.include\n"),
            None
        );
        assert_eq!(found("include ../none/Makefile\n"), None);
    }
}
