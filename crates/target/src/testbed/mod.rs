//! The testbed: the kernel modules that come with assize.
//!
//! Their sources are embedded in this crate. A request for one builds it for the kernel it
//! is wanted on, once: the result is stored below `<root>/modules/built` under a hash of
//! the sources, with a list of all other files that were read, and is reused until one of
//! these changes. The same inputs give the same bytes in any directory, because exact runs
//! are cached under a hash of them.

mod build;
mod commands;
mod compiler;
mod inputs;
mod jobs;
mod offsets;
mod part;
mod sources;
mod variant;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub(crate) use jobs::BuiltModules;
pub use offsets::offsets;
pub use part::{KernelPart, PARTS, SourceTexts};
pub use sources::{ModuleParameter, TestbedModule};

use crate::Error;
use crate::elf::ProgramHost;
use crate::fault::{mend, wrong};
use crate::kernels::Kernel;
use crate::sandbox::Sandbox;
use sources::ModuleSources;
use variant::Variant;

/// The list of loaded modules; missing in a kernel without module support.
const LOADED: &str = "/proc/modules";

/// The modules that experiments can request by name in addition to the kernel's own.
#[must_use]
pub fn modules() -> Vec<TestbedModule> {
    ModuleSources::ours().modules()
}

/// Checks that modules can be built for this kernel, and returns the compiler's version.
///
/// # Errors
/// Something is missing; the error says what, and how to get it.
pub fn compiler(kernel: &Kernel) -> Result<String, Error> {
    let subject = KernelToBuildFor::new(kernel)?;
    compiler::check_release(&subject)?;
    Ok(compiler::Compiler::find(&subject)?.version)
}

/// The directory for `make -C`.
///
/// # Errors
/// The headers are not stored; the error says how to get them.
pub(crate) fn headers(kernel: &Kernel) -> Result<&Path, Error> {
    kernel.headers.as_deref().ok_or_else(|| {
        let why = "its headers have not been fetched or added";
        mend(wrong(what(&kernel.name), why), fetch_headers(kernel))
    })
}

/// The PATH for building modules for this kernel: a compiler fetched for it comes first.
///
/// # Errors
/// Its headers are not stored; a directory name that PATH cannot hold.
pub fn path(kernel: &Kernel) -> Result<OsString, Error> {
    let subject = KernelToBuildFor::new(kernel)?;
    std::env::join_paths(subject.path()).map_err(|error| wrong(what(&kernel.name), error))
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct KernelToBuildFor<'a> {
    name: &'a str,
    /// What `uname -r` prints on it.
    release: &'a str,
    /// The directory for `make -C`.
    headers: &'a Path,
    /// A directory of programs to search before PATH.
    compiler: Option<&'a Path>,
    /// Whether a build for it runs only what the distribution or the user provides.
    trusted: bool,
}

impl<'a> KernelToBuildFor<'a> {
    fn new(kernel: &'a Kernel) -> Result<Self, Error> {
        Ok(KernelToBuildFor {
            name: &kernel.name,
            release: &kernel.release,
            headers: headers(kernel)?,
            compiler: kernel.compiler.as_deref(),
            trusted: kernel.trusted,
        })
    }

    /// The paths that a build reads besides its sources; `headers` is the directory of headers with
    /// links resolved.
    fn readable(&self, headers: &Path) -> Vec<PathBuf> {
        let stored = |path: &&Path| path.join("kernel.json").is_file();
        let compiler = self.compiler.and_then(inputs::store_of);
        let paths = [
            Some(headers),
            Some(self.headers),
            headers.ancestors().find(stored),
            compiler,
        ];
        let mut paths: Vec<PathBuf> = paths.into_iter().flatten().map(Path::to_path_buf).collect();
        paths.extend(build::source_tree(headers));
        paths
    }

    /// The sandbox for building our own sources: kbuild runs programs of the headers.
    fn sandbox(&self) -> Result<Sandbox, Error> {
        match self.trusted {
            true => Ok(Sandbox::Off),
            false => Sandbox::find().map_err(|error| {
                let how = format!(
                    "run `apt install bubblewrap` and allow user namespaces; or build {} again \
                     with --no-sandbox, if you trust its sources",
                    self.name
                );
                mend(error, how)
            }),
        }
    }

    /// The directories in which its build looks for programs.
    fn path(&self) -> Vec<PathBuf> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let first = self.compiler.map(Path::to_path_buf);
        first
            .into_iter()
            .chain(std::env::split_paths(&path))
            .collect()
    }

    /// This machine with the build's PATH.
    fn host(&self) -> ProgramHost {
        ProgramHost::at_root(Path::new("/"), self.path())
    }
}

/// Builds the testbed's modules on request.
#[derive(Debug, Clone)]
pub(crate) struct Testbed {
    root: PathBuf,
    sources: ModuleSources<'static>,
    variant: Variant,
}

impl Testbed {
    /// A testbed that stores its builds below `root`.
    pub(crate) fn new(root: &Path) -> Self {
        Testbed {
            root: root.to_path_buf(),
            sources: ModuleSources::ours(),
            variant: Variant::default(),
        }
    }

    /// A testbed of the same sources with another code layout; 0 is the order of the source.
    pub(crate) fn laid_out(&self, variant: u32) -> Self {
        Testbed {
            variant: Variant(variant),
            ..self.clone()
        }
    }

    /// The request to build the modules for this kernel.
    fn order<'a>(
        &'a self,
        subject: &'a KernelToBuildFor<'a>,
        tests: bool,
    ) -> build::BuildRequest<'a> {
        build::BuildRequest {
            root: &self.root,
            sources: &self.sources,
            variant: self.variant,
            subject,
            tests,
            sandbox: None,
        }
    }

    /// A testbed with other sources.
    #[cfg(test)]
    pub(crate) fn with_files(root: &Path, files: &'static [(&'static str, &'static str)]) -> Self {
        Testbed {
            root: root.to_path_buf(),
            sources: ModuleSources::with_files(files),
            variant: Variant::default(),
        }
    }

    /// Whether the testbed has a module of this name (with `_` for `-`).
    pub(crate) fn has(&self, name: &str) -> bool {
        self.sources.names(true).contains(name)
    }

    /// Whether the module serves tests only. Such modules are built only on request, since
    /// not every kernel has what they need.
    pub(crate) fn is_test(&self, name: &str) -> bool {
        self.has(name) && !self.sources.names(false).contains(name)
    }

    /// Builds the modules for this kernel and returns their files by name; with `tests`,
    /// including those that serve tests only.
    ///
    /// # Errors
    /// No headers, no compiler, or a build that failed.
    pub(crate) fn build(
        &self,
        kernel: &Kernel,
        tests: bool,
    ) -> Result<BTreeMap<String, PathBuf>, Error> {
        build::ensure(&self.order(&KernelToBuildFor::new(kernel)?, tests))
    }

    /// Like [`Testbed::build`], for the running kernel, whose image need not be readable.
    ///
    /// # Errors
    /// Those of [`Testbed::build`].
    pub(crate) fn build_here(&self, tests: bool) -> Result<BTreeMap<String, PathBuf>, Error> {
        if !Path::new(LOADED).exists() {
            let why = format!("it loads no modules: there is no {LOADED}");
            return Err(mend(wrong(what("running"), why), "use `--target exact`"));
        }
        let name = rustix::system::uname();
        let release = name.release().to_string_lossy();
        self.build_for_release(Path::new("/lib/modules"), &release, tests)
    }

    /// Whether a request for these modules requires a build for this kernel.
    pub(crate) fn would_build(&self, kernel: &Kernel, asked: &[String]) -> bool {
        let names = asked
            .iter()
            .map(|name| crate::module_files::canonical(name));
        let ours: Vec<String> = names.filter(|name| self.has(name)).collect();
        let tests = ours.iter().any(|name| self.is_test(name));
        let there = KernelToBuildFor::new(kernel)
            .map(|subject| build::is_built(&self.order(&subject, tests)));
        // Errors are left for the build to report.
        !ours.is_empty() && !there.unwrap_or(true)
    }

    fn build_for_release(
        &self,
        modules: &Path,
        release: &str,
        tests: bool,
    ) -> Result<BTreeMap<String, PathBuf>, Error> {
        let headers = modules.join(release).join("build");
        if !headers.join("Makefile").exists() {
            let why = format!("its headers are not at {}", headers.display());
            return Err(mend(
                wrong(what("running"), why),
                format!("run `apt install linux-headers-{release}`, or use `--target exact`"),
            ));
        }
        let subject = KernelToBuildFor {
            name: "running",
            release,
            headers: &headers,
            compiler: None,
            trusted: true,
        };
        build::ensure(&self.order(&subject, tests))
    }
}

fn what(kernel: &str) -> String {
    format!("build modules for the kernel {kernel}")
}

fn fetch_headers(kernel: &Kernel) -> String {
    match kernel.name.as_str() {
        "running" => format!("run `apt install linux-headers-{}`", kernel.release),
        name if name.starts_with("debian:") => format!("assize kernel fetch --headers {name}"),
        name => format!("assize kernel add {name} --kernel IMAGE --modules DIR --headers TREE"),
    }
}

#[cfg(test)]
mod tests;
