//! Stored kernels, and how they are fetched, built and added.
//!
//! A kernel has a name: `debian:6.12` for a Debian package, `running` for the one this
//! machine runs, or a name given by the user. Kernels are stored under
//! `<root>/kernels/NAME/VERSION/`, with `_` for the `:` in a name: `vmlinuz`, `config`,
//! `lib/modules/RELEASE`, `headers` and `kernel.json`. Compilers fetched for them are under
//! `<root>/compilers/NAME/VERSION/`. Everything appears in the store by rename and is not
//! changed afterwards.

mod add;
mod build;
mod compilers;
pub mod config;
mod fetch;
mod headers;
mod image;
mod index;
mod kernel;
mod launch;
mod names;
mod source;
mod store;
mod tried;
mod version;

use std::ffi::OsString;
use std::path::PathBuf;

pub use build::{BuiltKernel, WorkTree};
pub use fetch::FetchAmount;
pub use kernel::Kernel;
pub use names::{DEBIAN, DebianKernel};
pub use source::Source;
pub(crate) use store::compiler_named;

pub(crate) use version::compare as compare_versions;

pub(crate) use crate::scratch::temporary_in;

use crate::Error;
use crate::fault::{mend, wrong};

/// The kernels stored below one directory.
#[derive(Debug, Clone)]
pub struct Kernels {
    root: PathBuf,
}

impl Kernels {
    /// The kernels in `root/kernels`, which need not exist yet.
    #[must_use]
    pub fn new(root: PathBuf) -> Self {
        Kernels { root }
    }

    /// `$ASSIZE_CACHE`, else `$XDG_CACHE_HOME/assize`, else
    /// `$HOME/.cache/assize`.
    ///
    /// # Errors
    /// None of them is set.
    pub fn default_root() -> Result<PathBuf, Error> {
        root_by(|name| std::env::var_os(name))
    }

    /// The directory in which they are stored.
    #[must_use]
    pub fn directory(&self) -> PathBuf {
        self.root.join("kernels")
    }

    /// Every stored kernel, by name and from old to new, then `running` if its image is
    /// readable.
    ///
    /// # Errors
    /// A directory or description cannot be read.
    pub fn list(&self) -> Result<Vec<Kernel>, Error> {
        let mut kernels = store::stored(&self.directory())?;
        kernels.extend(store::running(&PathBuf::from("/"), None).ok());
        Ok(kernels)
    }

    /// Finds a kernel by name: the newest stored one for `debian:6.12`, exactly this one
    /// for `debian:6.12@6.12.117+deb12`, the running one for `running`.
    ///
    /// # Errors
    /// There is none; the error says how to get it.
    pub fn resolve(&self, name: &str) -> Result<Kernel, Error> {
        if name == "running" {
            return store::running(&PathBuf::from("/"), None);
        }
        let (base, version) = match name.split_once('@') {
            Some((base, version)) => (base, Some(version)),
            None => (name, None),
        };
        let stored = store::stored(&self.directory())?;
        let mut of_name = stored.iter().filter(|kernel| kernel.name == base);
        let found = match version {
            None => of_name.next_back(),
            Some(version) => of_name.rfind(|kernel| names::is_version(kernel, version)),
        };
        found
            .cloned()
            .ok_or_else(|| unknown(name, base, version, &stored))
    }

    /// The directory to give to `make -C` when building a module for a kernel.
    ///
    /// # Errors
    /// There is no such kernel, or its headers are not here; the error says how to get them.
    pub fn headers(&self, name: &str) -> Result<PathBuf, Error> {
        let found = self.resolve(name);
        let kernel = found.map_err(|error| match can_be_fetched(name) && !name.contains('@') {
            true => mend(error, format!("assize kernel fetch --headers {name}")),
            false => error,
        })?;
        crate::testbed::headers(&kernel).map(PathBuf::from)
    }
}

/// Whether `assize kernel fetch` knows a kernel by this name.
#[must_use]
pub fn can_be_fetched(name: &str) -> bool {
    let base = name.split_once('@').map_or(name, |(base, _)| base);
    names::debian(base).is_some()
}

fn unknown(name: &str, base: &str, version: Option<&str>, stored: &[Kernel]) -> Error {
    let what = format!("find the kernel {name}");
    let versions: Vec<&str> = stored
        .iter()
        .filter(|kernel| kernel.name == base)
        .map(|kernel| kernel.version.as_str())
        .collect();
    if let (Some(version), false) = (version, versions.is_empty()) {
        let why = format!(
            "version {version} has not been fetched, only {}",
            versions.join(", ")
        );
        return mend(
            wrong(what, why),
            format!("use {base}@{}", versions[versions.len() - 1]),
        );
    }
    if names::debian(base).is_some() {
        let why = "it has not been fetched or added";
        return mend(wrong(what, why), format!("assize kernel fetch {base}"));
    }
    let stored = stored.iter().map(|kernel| kernel.name.as_str());
    let known = stored.chain(DEBIAN.iter().map(|kernel| kernel.name));
    match names::nearest(base, known.chain(["running"])) {
        Some(near) => {
            let get = match names::debian(near) {
                Some(_) => format!("; assize kernel fetch {near}"),
                None => String::new(),
            };
            let why = "no kernel has this name";
            mend(wrong(what, why), format!("did you mean {near}?{get}"))
        }
        None => mend(
            wrong(what, "no kernel has this name"),
            "assize kernel fetch debian:6.12, or assize kernel add NAME --kernel IMAGE",
        ),
    }
}

/// The cache directory that these variables name.
fn root_by(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, Error> {
    let of = |name: &str| {
        let value = variable(name).filter(|value| !value.is_empty());
        value.map(PathBuf::from)
    };
    of("ASSIZE_CACHE")
        .or_else(|| Some(of("XDG_CACHE_HOME")?.join("assize")))
        .or_else(|| Some(of("HOME")?.join(".cache/assize")))
        .ok_or_else(|| {
            let what = "find the directory for kernels, images and the cache";
            let why = "none of ASSIZE_CACHE, XDG_CACHE_HOME and HOME is set";
            mend(wrong(what, why), "set ASSIZE_CACHE to a directory")
        })
}

#[cfg(test)]
mod tests;
