//! Fetches a QEMU: the patched one if it can be built here, else Debian's.
//!
//! Debian 12 has QEMU 7.2, and QEMU 10 in its backports, which is stored under
//! `<root>/qemu/VERSION/` and runs from there. With either of these an exact machine has
//! one CPU.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Error;
use crate::apt::{Apt, AptPackage};
use crate::elf::{LoaderEnvironment, ProgramHost, closure};
use crate::fault::{failed, list, mend, read, wrong};
use crate::kernels::compare_versions;
use crate::qemu_build::{self, MARK};
use crate::scratch::{into_place, temporary_in};

const NAMES: [&str; 4] = [
    "qemu-system-x86",
    "qemu-system-common",
    "qemu-system-data",
    "seabios",
];

/// A stored QEMU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QemuFiles {
    /// The program `qemu-system-x86_64`.
    pub binary: PathBuf,
    /// Directories to pass with `-L`.
    pub data_dirs: Vec<PathBuf>,
    /// The version of its package without the epoch, or `10.0.13+assize.1a2b3c4d` for one
    /// that assize built. It begins with QEMU's own version.
    pub version: String,
}

/// The newest of Debian's QEMUs stored below `root`.
#[must_use]
pub fn stored(root: &Path) -> Option<QemuFiles> {
    let mut all: Vec<QemuFiles> = list(&root.join("qemu"))
        .ok()?
        .iter()
        .filter_map(|place| files(place))
        .collect();
    all.sort_by(|a, b| compare_versions(&a.version, &b.version));
    all.pop()
}

/// The files in a directory, if it is complete.
fn files(place: &Path) -> Option<QemuFiles> {
    let version = place.file_name()?.to_str()?;
    let binary = place.join("usr/bin/qemu-system-x86_64");
    let ours = version.contains(MARK);
    (!version.starts_with('.') && !ours && binary.is_file()).then(|| QemuFiles {
        binary,
        data_dirs: ["usr/share/qemu", "usr/share/seabios"]
            .iter()
            .map(|directory| place.join(directory))
            .collect(),
        version: version.to_string(),
    })
}

/// Gets the best QEMU available: the patched one, built here if necessary; else, reporting
/// the reason, the newest in the backports of this Debian release.
///
/// # Errors
/// Why the patched one cannot be built, if there is no other to fetch.
pub fn fetch(root: &Path, progress: &mut dyn FnMut(&str)) -> Result<QemuFiles, Error> {
    qemu_build::ensure(root, progress).or_else(|error| instead(error, root, progress))
}

/// Fetches Debian's QEMU, after a build failed with `error`.
fn instead(error: Error, root: &Path, progress: &mut dyn FnMut(&str)) -> Result<QemuFiles, Error> {
    let packaged = packaged(root, &mut |_| ());
    if let Ok(files) = &packaged {
        progress(&format!("{}: {}", error.what, error.why));
        if let Some(mend) = &error.mend {
            progress(&format!("to have it: {mend}"));
        }
        progress(&format!(
            "QEMU {} of Debian is used instead: exact machines then have one CPU",
            files.version
        ));
    }
    // Of two errors, report the one about the better QEMU.
    packaged.map_err(|_| error)
}

/// Fetches the newest QEMU from the backports of this Debian release, unless it is stored
/// already.
fn packaged(root: &Path, progress: &mut dyn FnMut(&str)) -> Result<QemuFiles, Error> {
    let what = "fetch QEMU";
    let suite =
        suite(&std::fs::read_to_string("/etc/os-release").unwrap_or_default()).map_err(|why| {
            mend(
                wrong(what, why),
                "install QEMU 10 or newer: qemu-system-x86_64",
            )
        })?;
    let directory = root.join("qemu");
    let _lock = crate::lock::take(&directory, progress)?;
    let apt = Apt::open(&directory.join(".apt"), &[suite], what, progress)?;
    let mut packages = Vec::new();
    let mut needs = Vec::new();
    for name in NAMES {
        let stanza = apt.package(name)?;
        needs.extend(stanza.depends());
        packages.push(AptPackage {
            name: name.into(),
            version: stanza.version().into(),
        });
    }
    let place = directory.join(without_epoch(&packages[0].version));
    if files(&place).is_none() {
        let temporary = temporary_in(&directory)?;
        apt.unpack(&packages, temporary.path(), progress)?;
        check(temporary.path(), &needs)?;
        into_place(temporary, &place)?;
    }
    files(&place).ok_or_else(|| failed(what, "the packages have no qemu-system-x86_64"))
}

fn without_epoch(version: &str) -> &str {
    version.split_once(':').map_or(version, |(_, rest)| rest)
}

fn suite(release: &str) -> Result<&'static str, String> {
    let has = |line: &str| release.lines().any(|each| each.trim() == line);
    match has("ID=debian") && has("VERSION_CODENAME=bookworm") {
        true => Ok("bookworm-backports"),
        false => {
            Err("only the backports of Debian 12 are known to have a QEMU that runs here".into())
        }
    }
}

/// Fails unless all libraries that the program links are on this machine.
fn check(unpacked: &Path, needs: &[String]) -> Result<(), Error> {
    let binary = unpacked.join("usr/bin/qemu-system-x86_64");
    let Err(error) = closure(
        &ProgramHost::this(),
        &binary,
        &read(&binary)?,
        &LoaderEnvironment::default(),
    ) else {
        return Ok(());
    };
    let missing = not_installed(needs);
    let how = match missing.is_empty() {
        true => "apt-get install qemu-system-x86".into(),
        false => format!("apt-get install {}", missing.join(" ")),
    };
    Err(mend(failed("fetch QEMU", error.why), how))
}

/// Those of these packages that dpkg does not list as installed.
fn not_installed(names: &[String]) -> Vec<String> {
    let mut missing = Vec::new();
    for name in names {
        if NAMES.contains(&name.as_str()) || missing.contains(name) {
            continue;
        }
        let output = Command::new("dpkg-query")
            .args(["-W", "-f", "${db:Status-Status}", name])
            .stdin(Stdio::null())
            .output();
        let installed = output.is_ok_and(|output| output.stdout.starts_with(b"installed"));
        if !installed {
            missing.push(name.clone());
        }
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_whole_one_is_found() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(stored(root.path()), None);
        for version in [
            "7.2-1",
            "10.0.2+ds-2",
            "9.2-1",
            ".tmp-x",
            "10.0.13+assize.1a2b3c4d",
        ] {
            let bin = root.path().join("qemu").join(version).join("usr/bin");
            std::fs::create_dir_all(&bin).unwrap();
            std::fs::write(bin.join("qemu-system-x86_64"), "").unwrap();
        }
        std::fs::create_dir_all(root.path().join("qemu/11.0-1/usr")).unwrap();
        let found = stored(root.path()).unwrap();
        assert_eq!(found.version, "10.0.2+ds-2");
        assert!(found.binary.is_file());
        assert_eq!(found.data_dirs.len(), 2);
    }

    #[test]
    fn a_version_begins_with_qemus_own() {
        assert_eq!(without_epoch("1:10.0.2+ds-2"), "10.0.2+ds-2");
        assert_eq!(without_epoch("10.0.2"), "10.0.2");
    }

    #[test]
    fn only_debian_12_has_backports_that_fit() {
        assert!(suite("ID=debian\nVERSION_CODENAME=bookworm\n").is_ok());
        assert!(suite("ID=debian\nVERSION_CODENAME=trixie\n").is_err());
        assert!(suite("ID=ubuntu\nVERSION_CODENAME=bookworm\n").is_err());
        assert!(suite("").is_err());
    }

    #[test]
    fn a_package_that_nobody_has_is_not_installed() {
        let name = "assize-there-is-no-such-package".to_string();
        assert_eq!(not_installed(&[name.clone(), name.clone()]), [name]);
    }
}
