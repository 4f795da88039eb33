//! Which QEMU is fetched: ours if it can be built here, else Debian's.
//!
//! Debian 12 has QEMU 7.2, and 10 in its backports, which is stored under
//! `<root>/qemu/VERSION/` and runs from there. With either an exact machine
//! has one CPU.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Error;
use crate::apt::{Apt, Package};
use crate::elf::{Host, Loading, closure};
use crate::fault::{failed, list, mend, read, wrong};
use crate::kernels::{compare_versions, into_place, temporary_in};
use crate::qemu_build::{self, MARK};

const NAMES: [&str; 4] = [
    "qemu-system-x86",
    "qemu-system-common",
    "qemu-system-data",
    "seabios",
];

/// A QEMU that is stored here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QemuFiles {
    /// The program `qemu-system-x86_64`.
    pub binary: PathBuf,
    /// What to give it by `-L`, each.
    pub data_dirs: Vec<PathBuf>,
    /// It begins with QEMU's own: the version of its package without the
    /// epoch, or `10.0.13+assize.1a2b3c4d` for one of ours.
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

/// The files of one place, if it is whole.
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

/// Gets the best QEMU that can be had: ours, built here unless it is there;
/// else, with the reason, the newest that the backports of this Debian have.
///
/// # Errors
/// What keeps ours from being built, where there is no other to fetch.
pub fn fetch(root: &Path, progress: &mut dyn FnMut(&str)) -> Result<QemuFiles, Error> {
    qemu_build::ensure(root, progress).or_else(|error| instead(error, root, progress))
}

/// What there is instead of ours.
fn instead(error: Error, root: &Path, progress: &mut dyn FnMut(&str)) -> Result<QemuFiles, Error> {
    let packaged = packaged(root, &mut |_| ());
    if let Ok(files) = &packaged {
        progress(&format!("{}: {}", error.what, error.why));
        if let Some(mend) = &error.mend {
            progress(&format!("to have it: {mend}"));
        }
        progress(&format!(
            "QEMU {} of Debian serves instead: exact machines have one CPU with it",
            files.version
        ));
    }
    // Of two reasons, that against the better one counts.
    packaged.map_err(|_| error)
}

/// Fetches the newest QEMU that the backports of this Debian have. One that
/// is stored already is not fetched again.
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
        packages.push(Package {
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
        false => Err("only the backports of Debian 12 are known to have one that runs here".into()),
    }
}

/// Whether everything that the program links is on this machine.
fn check(unpacked: &Path, needs: &[String]) -> Result<(), Error> {
    let binary = unpacked.join("usr/bin/qemu-system-x86_64");
    let Err(error) = closure(&Host::this(), &binary, &read(&binary)?, &Loading::default()) else {
        return Ok(());
    };
    let missing = not_installed(needs);
    let how = match missing.is_empty() {
        true => "apt-get install qemu-system-x86".into(),
        false => format!("apt-get install {}", missing.join(" ")),
    };
    Err(mend(failed("fetch QEMU", error.why), how))
}

/// Those of these packages that dpkg does not know as installed.
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
