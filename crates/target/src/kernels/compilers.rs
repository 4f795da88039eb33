//! Fetches compilers from Debian's archive into `<root>/compilers/NAME/VERSION`, so that
//! modules can be built where the kernel's compiler is not installed or not available.

use std::fs;
use std::path::{Path, PathBuf};

use super::{DebianKernel, Kernel, Kernels, launch, store};
use crate::Error;
use crate::fault::{create, failed, io, list, remove, rename};
use crate::scratch;

/// Prefix of program names.
const PREFIX: &str = "x86_64-linux-gnu-";
/// Programs that kbuild and the compiler call, without the prefix.
const PROGRAMS: &[&str] = &[
    "ar", "as", "ld", "nm", "objcopy", "objdump", "ranlib", "readelf", "strip",
];
/// Directories with the compiler's internal programs.
const PARTS: &[&str] = &["usr/libexec/gcc", "usr/lib/gcc"];
/// Runtime libraries of compiled programs, which modules do not link.
const RUNTIME: &[&str] = &[
    "libasan",
    "libatomic",
    "libcc1",
    "libgomp",
    "libgprofng",
    "libhwasan",
    "libitm",
    "liblsan",
    "libquadmath",
    "libtsan",
    "libubsan",
];

impl Kernels {
    /// Fetches the compiler named by the headers of a stored kernel.
    pub(super) fn store_compiler(
        &self,
        kernel: &DebianKernel,
        of: &Kernel,
        progress: &mut dyn FnMut(&str),
    ) -> Result<(), Error> {
        let what = format!("fetch the compiler of {}", kernel.name);
        let named = of.headers.as_deref().and_then(store::named_compiler);
        let named = named.ok_or_else(|| failed(&*what, "its headers name no compiler"))?;
        let apt = self.apt(kernel.base(), &what, progress)?;
        let packages = apt.follow(&named, &is_wanted)?;
        let version = |start: &str| {
            let mut found = packages.iter();
            let found = found.find(|package| package.name.starts_with(start));
            found.map_or("", |package| package.version.as_str())
        };
        let name = format!("{}+binutils{}", version(&named), version("binutils"));
        let directory = self.root.join("compilers");
        let temporary = scratch::temporary_in(&directory)?;
        let unpacked = temporary.path().join(".unpacked");
        apt.unpack(&packages, &unpacked, progress)?;
        keep(&named, &unpacked, temporary.path(), &what)?;
        remove(&unpacked)?;
        let place = directory.join(&named).join(name.replace([':', '/'], "_"));
        scratch::into_place(temporary, &place)?;
        progress(&format!("{named} {name} is in {}", place.display()));
        Ok(())
    }
}

/// Whether this dependency of a compiler is needed to build modules.
fn is_wanted(name: &str) -> bool {
    let part = ["binutils", "cpp-", "gcc-", "lib", "zlib1g"];
    part.iter().any(|start| name.starts_with(start))
        && !RUNTIME.iter().any(|start| name.starts_with(start))
}

/// Moves what is needed to build modules from unpacked packages to `to`, keeping the paths,
/// by which the compiler finds its internal programs.
fn keep(compiler: &str, unpacked: &Path, to: &Path, what: &str) -> Result<(), Error> {
    let libraries = to.join("usr/lib/x86_64-linux-gnu");
    let bin = to.join("usr/bin");
    create(&bin)?;
    for name in PROGRAMS.iter().chain([&compiler]) {
        let from = unpacked.join("usr/bin").join(format!("{PREFIX}{name}"));
        let from = fs::canonicalize(&from).map_err(|error| io("find", &from, &error))?;
        let program = bin.join(format!("{PREFIX}{name}"));
        fs::copy(&from, &program).map_err(|error| io("copy", &from, &error))?;
        launch::install(&program, unpacked, &libraries)?;
        link(Path::new(&format!("{PREFIX}{name}")), &bin.join(name))?;
    }
    for name in ["cc1", "include"] {
        let found = PARTS
            .iter()
            .find_map(|place| find(&unpacked.join(place), name));
        let from = found.ok_or_else(|| failed(what, format!("the packages have no {name}")))?;
        let inside = from.strip_prefix(unpacked).unwrap_or(&from);
        create(to.join(inside).parent().unwrap_or(to))?;
        rename(&from, &to.join(inside))?;
        if name == "cc1" {
            launch::install(&to.join(inside), unpacked, &libraries)?;
        }
    }
    Ok(())
}

/// Finds a file or directory of this name below a directory.
fn find(directory: &Path, name: &str) -> Option<PathBuf> {
    let inside = list(directory).ok()?;
    let named = |path: &&PathBuf| path.file_name().is_some_and(|found| found == name);
    if let Some(found) = inside.iter().find(named) {
        return Some(found.clone());
    }
    let mut directories = inside
        .iter()
        .filter(|path| path.is_dir() && !path.is_symlink());
    directories.find_map(|path| find(path, name))
}

fn link(to: &Path, at: &Path) -> Result<(), Error> {
    std::os::unix::fs::symlink(to, at).map_err(|error| io("create", at, &error))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn what_builds_modules_is_kept_with_its_paths_and_nothing_else() {
        // The layouts of Debian 13 and Debian 12.
        for parts in ["usr/libexec/gcc/x/14", "usr/lib/gcc/x/14"] {
            let place = tempfile::tempdir().unwrap();
            let unpacked = place.path().join("unpacked");
            for name in PROGRAMS.iter().chain([&"gcc-14", &"gcov-14"]) {
                let name = format!("usr/bin/{PREFIX}{name}");
                write(&unpacked.join(&name), &format!("#!/bin/sh\necho {name}\n"));
            }
            for name in ["cc1", "lto1"] {
                write(&unpacked.join(parts).join(name), "#!/bin/sh\n");
            }
            write(&unpacked.join("usr/lib/gcc/x/14/include/stddef.h"), "");
            let to = place.path().join("to");
            keep("gcc-14", &unpacked, &to, "try").unwrap();
            for kept in [
                "usr/bin/gcc-14",
                "usr/bin/x86_64-linux-gnu-gcc-14",
                "usr/bin/as",
                "usr/lib/gcc/x/14/include/stddef.h",
                &format!("{parts}/cc1"),
            ] {
                assert!(to.join(kept).is_file(), "{kept}");
            }
            assert!(!to.join("usr/bin/gcov-14").exists());
            assert!(!to.join(parts).join("lto1").exists());
            let error = keep("gcc-15", &unpacked, &place.path().join("other"), "try");
            assert!(error.unwrap_err().what.contains("gcc-15"));
        }
    }

    #[test]
    fn of_libraries_those_are_wanted_that_the_compiler_runs_with() {
        for name in [
            "cpp-14-x86-64-linux-gnu",
            "libgcc-14-dev",
            "libisl23",
            "libc6",
        ] {
            assert!(is_wanted(name), "{name}");
        }
        for name in ["libasan8", "libcc1-0", "libgomp1", "pahole", "debconf"] {
            assert!(!is_wanted(name), "{name}");
        }
    }

    #[test]
    fn headers_get_the_newest_stored_compiler_of_the_name_they_give() {
        let root = tempfile::tempdir().unwrap();
        let headers = root.path().join("headers");
        let variables = headers.join(".kernelvariables");
        write(&variables, "CC = $(CROSS_COMPILE)gcc-14\n");
        assert_eq!(store::stored_compiler(root.path(), &headers), None);
        for version in ["14.2.0-9", "14.2.0-19", ".tmp-x"] {
            let bin = format!("compilers/gcc-14/{version}/usr/bin/gcc-14");
            write(&root.path().join(bin), "");
        }
        let newest = root.path().join("compilers/gcc-14/14.2.0-19/usr/bin");
        assert_eq!(store::stored_compiler(root.path(), &headers), Some(newest));
        write(&variables, "CC = gcc-12\n");
        assert_eq!(store::stored_compiler(root.path(), &headers), None);
    }
}
