//! Fetches the headers of a kernel from Debian's archive, with the parts of kbuild they
//! need.

use std::path::Path;

use super::fetch::ResolvedPackages;
use super::{DebianKernel, Kernels, launch, store};
use crate::Error;
use crate::apt::{Apt, AptPackage};
use crate::fault::{create, io, list, remove, rename, write};
use crate::scratch;

/// The oldest Debian release that kernels come from. Every machine on which assize runs has
/// the C library that its programs need.
const OLDEST: &str = "bookworm";
/// Programs of kbuild that sign modules and link another library. Nothing is signed here.
const SIGNING: &[&str] = &["extract-cert", "insert-sys-cert", "sign-file"];

impl Kernels {
    pub(super) fn store_headers(
        &self,
        apt: &Apt,
        kernel: &DebianKernel,
        wanted: &ResolvedPackages,
        progress: &mut dyn FnMut(&str),
    ) -> Result<(), Error> {
        let packages = apt.follow(&wanted.headers, &|name| {
            name.starts_with("linux-headers-") || name.starts_with("linux-kbuild-")
        })?;
        let temporary = scratch::temporary_in(&self.directory())?;
        let unpacked = temporary.path().join("unpacked");
        apt.unpack(&packages, &unpacked, progress)?;
        let headers = temporary.path().join("headers");
        create(&headers)?;
        // Links inside lead from src/A to ../../lib/B.
        rename(&unpacked.join("usr/src"), &headers.join("src"))?;
        rename(&unpacked.join("usr/lib"), &headers.join("lib"))?;
        if kernel.base() != OLDEST {
            self.bring_libraries(apt, kernel, &packages, &headers, progress)?;
        }
        for directory in list(&headers.join("src"))? {
            relocate(&directory.join("Makefile"))?;
            // kbuild would use it to add type data to modules, for which it demands pahole;
            // without it modules are the same on every machine.
            let vmlinux = directory.join("vmlinux");
            if vmlinux.is_file() {
                rename(&vmlinux, &directory.join("vmlinux.btf"))?;
            }
        }
        let place = self.place(kernel, wanted);
        let to = place.join("headers");
        if to.exists() {
            remove(&to)?;
        }
        rename(&headers, &to)?;
        store::describe_headers(&place, &Path::new("headers/src").join(&wanted.headers))
    }

    /// Stores the libraries that kbuild's programs link next to them.
    fn bring_libraries(
        &self,
        apt: &Apt,
        kernel: &DebianKernel,
        packages: &[AptPackage],
        headers: &Path,
        progress: &mut dyn FnMut(&str),
    ) -> Result<(), Error> {
        let what = format!("fetch libraries for the headers of {}", kernel.name);
        let base = self.apt(kernel.base(), &what, progress)?;
        let mut wanted: Vec<AptPackage> = Vec::new();
        for package in packages {
            let depends = apt.package(&package.name)?.depends();
            for library in depends.iter().filter(|name| is_library(name)) {
                wanted.extend(base.follow(library, &is_library)?);
            }
        }
        wanted.sort_by(|a, b| a.name.cmp(&b.name));
        wanted.dedup();
        let system = headers.join(".system");
        base.unpack(&wanted, &system, progress)?;
        let libraries = headers.join("lib/libraries");
        for path in list(&headers.join("lib"))? {
            launch_all(&path, &system, &libraries)?;
        }
        remove(&system)
    }
}

/// Whether a package contains a library that kbuild's programs link.
fn is_library(name: &str) -> bool {
    let is = name.starts_with("lib") || name == "zlib1g";
    is && !name.starts_with("libssl")
}

/// Replaces all programs below a directory with launcher scripts.
fn launch_all(directory: &Path, system: &Path, libraries: &Path) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt as _;
    for path in list(directory)? {
        let data = path.symlink_metadata();
        let data = data.map_err(|error| io("read", &path, &error))?;
        if data.is_dir() {
            launch_all(&path, system, libraries)?;
        } else if data.is_file() && data.permissions().mode() & 0o111 != 0 {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if !SIGNING.contains(&&*name) {
                launch::install(&path, system, libraries)?;
            }
        }
    }
    Ok(())
}

/// Makes a Makefile include its neighbour by relative path.
fn relocate(makefile: &Path) -> Result<(), Error> {
    let Ok(text) = std::fs::read_to_string(makefile) else {
        return Ok(());
    };
    let here = "$(dir $(abspath $(lastword $(MAKEFILE_LIST))))../";
    let text = text.replace("/usr/src/", here);
    write(makefile, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiler_is_the_one_that_the_package_names() {
        let text = "override ARCH = x86\nCCACHE = ccache\n\
            CC = $(if $(DEBIAN_KERNEL_USE_CCACHE),$(CCACHE)) $(CROSS_COMPILE)gcc-12\n";
        assert_eq!(store::compiler_named(text).as_deref(), Some("gcc-12"));
        assert_eq!(store::compiler_named("ARCH = x86\n"), None);
        assert_eq!(store::compiler_named(""), None);
    }

    #[test]
    fn a_makefile_finds_its_neighbour_wherever_both_lie() {
        let place = tempfile::tempdir().unwrap();
        for name in ["a", "b"] {
            create(&place.path().join("src").join(name)).unwrap();
        }
        let makefile = place.path().join("src/a/Makefile");
        std::fs::write(&makefile, "include /usr/src/b/Makefile\n").unwrap();
        std::fs::write(place.path().join("src/b/Makefile"), "all:\n\t@echo found\n").unwrap();
        relocate(&makefile).unwrap();
        let made = std::process::Command::new("make")
            .arg("-sC")
            .arg(place.path().join("src/a"))
            .env_remove("MAKEFLAGS")
            .output();
        match made {
            Ok(made) => assert_eq!(made.stdout, b"found\n"),
            Err(error) => eprintln!("skipped: no make: {error}"),
        }
    }

    #[test]
    fn libraries_of_kbuild_are_brought_but_those_that_sign() {
        let of = ["libc6", "libelf1t64", "zlib1g", "libssl3t64", "pahole"];
        let wanted = of.into_iter().filter(|name| is_library(name));
        assert_eq!(Vec::from_iter(wanted), ["libc6", "libelf1t64", "zlib1g"]);
    }
}
