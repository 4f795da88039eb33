//! The kernel modules: builds for every supported kernel, and checks of the sources with
//! the kernel's own tools.

mod build;
mod lint;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use assize_target::kernels::Kernels;
use assize_target::testbed;

use crate::command::command;
use crate::steps::{Done, Step, close, take_each};
use crate::{Error, files, lab, tree};

/// Kernels for which the modules must build without a warning.
const WANTED: &[&str] = &["debian:6.12", "debian:6.12-rt", "debian:6.1", "debian:7"];
/// Kernels for which a build without the tests is tried; a failure is only reported.
const TRIED: &[&str] = &["debian:sid"];

/// Checks of the sources, independent of the kernel.
const LINTS: &[Step] = &[
    Step::new("sparse", &[], sparse),
    Step::new("checkpatch", &[], lint::checkpatch),
    Step::new("kernel-doc", &[], lint::kernel_doc),
];

/// `cargo xtask kmod [KERNEL...]`: named kernels must all build.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let mut given: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if given.first() == Some(&"--fetch") {
        given.remove(0);
        lab::fetch_sources()?;
    }
    let wanted = if given.is_empty() { WANTED } else { &given[..] };
    let mut failed = Vec::new();
    for kernel in wanted {
        match build::modules(kernel, true) {
            Ok(Done::Ok | Done::Counted(_)) => println!("{kernel}: built without a warning"),
            Ok(Done::Skipped(why)) => failed.push(format!("{kernel}: {why}")),
            Err(why) => failed.push(format!("{kernel}: {why}")),
        }
    }
    for kernel in TRIED.iter().filter(|_| given.is_empty()) {
        match build::modules(kernel, false) {
            Ok(Done::Ok | Done::Counted(_)) => {
                println!("{kernel}: built without a warning, but for the tests")
            }
            Ok(Done::Skipped(why)) => println!("{kernel}: not tried: {why}"),
            Err(why) => println!("{kernel}: does not build: {why}"),
        }
    }
    let linted = close(&take_each(LINTS));
    if !failed.is_empty() {
        return Err(failed.join("; "));
    }
    linted
}

/// The step of `check`: the modules for one kernel, with their tests.
pub(crate) fn newest() -> Result<Done, Error> {
    build::modules(WANTED[0], true)
}

/// The step of `check-more` that builds.
pub(crate) fn step() -> Result<Done, Error> {
    let mut skipped = Vec::new();
    for kernel in WANTED {
        if let Done::Skipped(why) = build::modules(kernel, true)? {
            skipped.push(format!("{kernel}: {why}"));
        }
    }
    match skipped.is_empty() {
        true => Ok(Done::Ok),
        false => Ok(Done::Skipped(skipped.join("; "))),
    }
}

/// The step of `check` for sparse, after [`step`].
pub(crate) fn sparse() -> Result<Done, Error> {
    build::sparse(WANTED[0])
}

pub(crate) use lint::{checkpatch, kernel_doc};

/// The requirements for building modules for a kernel.
pub struct Headers {
    /// The directory for `make -C`.
    pub(crate) directory: PathBuf,
    /// PATH with the fetched compiler first.
    pub(crate) path: OsString,
}

/// The headers of a kernel, or the reason why there are none.
pub fn headers(kernel: &str) -> Result<Headers, String> {
    let kernels = Kernels::new(Kernels::default_root().map_err(|error| error.to_string())?);
    let found = kernels.resolve(kernel).map_err(|error| error.to_string())?;
    testbed::compiler(&found).map_err(|error| error.to_string())?;
    let path = testbed::path(&found).map_err(|error| error.to_string())?;
    let directory = found.headers.ok_or("no headers")?;
    Ok(Headers { directory, path })
}

impl Headers {
    /// The command that builds the modules of a directory.
    pub fn make(&self, modules: &Path) -> Result<Command, Error> {
        let mut make = command("make", &["-s", "-C"])?;
        make.arg(&self.directory)
            .arg(format!("M={}", modules.display()))
            .args(["CONFIG_DEBUG_INFO_BTF_MODULES=", "modules"])
            // No BTF is generated, so the version of pahole does not matter.
            .arg("PAHOLE_VERSION=$(CONFIG_PAHOLE_VERSION)")
            .env("PATH", &self.path)
            .env_remove("MAKEFLAGS")
            .env_remove("MAKELEVEL");
        Ok(make)
    }
}

/// Copies the sources of the modules to an empty directory, so that nothing of an earlier build
/// remains.
pub fn copy(place: &Path) -> Result<(), Error> {
    files::remove(place)?;
    let root = tree::root()?;
    for file in tree::files()? {
        if let Some(path) = file.strip_prefix("kernel/") {
            files::copy(&root.join(&file), &place.join(path))?;
        }
    }
    Ok(())
}
