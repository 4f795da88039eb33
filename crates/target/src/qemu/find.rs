//! Finds QEMU, and what it can do.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::Error;
use crate::qemu_build::{self, MARK};

/// The oldest QEMU that the exact machine was tested with.
const OLDEST: (u32, u32) = (7, 2);
/// The environment variable that names the QEMU to use.
const VARIABLE: &str = "ASSIZE_QEMU";
/// The command that gets the best QEMU.
const FETCH: &str = "assize kernel fetch --qemu";

/// One QEMU for x86-64.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Qemu {
    /// The program.
    pub binary: PathBuf,
    /// Directories with its firmware; empty for the built-in default.
    pub data: Vec<PathBuf>,
    /// Its own version string: `10.0.2 (Debian 1:10.0.2+ds-2+deb13u1~bpo12+1)`;
    /// `10.0.13+assize.1a2b3c4d` for one that assize built.
    pub version: String,
    /// Whether each guest CPU can have its own instruction clock, which only the QEMU that
    /// assize builds supports.
    pub parallel: bool,
}

/// What a QEMU is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QemuPurpose {
    /// Machines whose clock counts instructions.
    Exact,
    /// Machines with the host's clock.
    Live,
}

impl Qemu {
    /// Finds the QEMU for exact machines: `$ASSIZE_QEMU` if set; else the patched one, if it
    /// is installed or was built below `root`; else the one in PATH.
    ///
    /// # Errors
    /// There is none, or it does not run, or it is too old.
    pub fn find(root: &Path) -> Result<Qemu, Error> {
        Qemu::find_for(QemuPurpose::Exact, root)
    }

    /// Finds the QEMU for live machines: as [`Qemu::find`], but the one assize built comes
    /// last, since it has no hardware virtualisation.
    ///
    /// # Errors
    /// Those of [`Qemu::find`].
    pub fn find_live(root: &Path) -> Result<Qemu, Error> {
        Qemu::find_for(QemuPurpose::Live, root)
    }

    fn find_for(purpose: QemuPurpose, root: &Path) -> Result<Qemu, Error> {
        if let Some(binary) = std::env::var_os(VARIABLE) {
            let named = |error: Error| Error {
                mend: Some(format!(
                    "unset {VARIABLE}, or set it to QEMU {}.{} or newer",
                    OLDEST.0, OLDEST.1
                )),
                wrong_use: true,
                ..error
            };
            let qemu = Qemu::at(PathBuf::from(binary), Vec::new()).map_err(named)?;
            return qemu.not_too_old().map_err(named);
        }
        let ours = qemu_build::stored(root).map(|files| Qemu {
            binary: files.binary,
            data: vec![files.data],
            version: files.version,
            parallel: true,
        });
        let system = in_path("qemu-system-x86_64").map(|binary| Qemu::at(binary, Vec::new()));
        match (purpose, ours, system) {
            (QemuPurpose::Exact, Some(ours), _) => Ok(ours),
            (_, _, Some(Ok(system))) => system.not_too_old(),
            (_, Some(ours), _) => Ok(ours),
            (_, None, Some(Err(broken))) => Err(broken),
            (_, None, None) => Err(missing()),
        }
    }

    /// The QEMU at a path. Version and capabilities are queried from the program.
    ///
    /// # Errors
    /// It does not run, or does not print its version.
    pub fn at(binary: PathBuf, data: Vec<PathBuf>) -> Result<Qemu, Error> {
        let what = format!("run {}", binary.display());
        let output = query(&binary, "--version", &[]).map_err(|error| Error {
            why: error.to_string(),
            what: what.clone(),
            ..missing()
        })?;
        let text = String::from_utf8_lossy(&output.stdout);
        let Some(version) = version_in(&text) else {
            return Err(Error {
                what,
                why: "it does not answer --version as QEMU does".into(),
                mend: Some(format!(
                    "name QEMU's qemu-system-x86_64 in {VARIABLE}, or unset it"
                )),
                wrong_use: true,
            });
        };
        Ok(Qemu {
            parallel: is_parallel(&binary),
            binary,
            data,
            version,
        })
    }

    /// Major and minor version.
    pub fn number(&self) -> (u32, u32) {
        let mut numbers = self
            .version
            .split(|c: char| !c.is_ascii_digit())
            .map(|digits| digits.parse().unwrap_or(0));
        (
            numbers.next().unwrap_or_default(),
            numbers.next().unwrap_or_default(),
        )
    }

    fn not_too_old(self) -> Result<Qemu, Error> {
        if self.number() >= OLDEST {
            return Ok(self);
        }
        Err(Error {
            what: format!("use QEMU {} at {}", self.version, self.binary.display()),
            why: format!("it is older than {}.{}", OLDEST.0, OLDEST.1),
            mend: Some(FETCH.into()),
            wrong_use: false,
        })
    }

    /// Fails if a machine with this many CPUs cannot be exact.
    ///
    /// # Errors
    /// Several CPUs need the QEMU that assize builds.
    pub fn fits(&self, cpus: u32) -> Result<(), Error> {
        if cpus <= 1 || self.parallel {
            return Ok(());
        }
        let named = std::env::var_os(VARIABLE).is_some();
        let packages = qemu_build::missing();
        Err(Error {
            what: format!(
                "run an exact machine with {cpus} CPUs on QEMU {}",
                self.version
            ),
            why: "its CPUs would share one clock; only the QEMU that assize builds gives each its \
                  own"
            .into(),
            mend: Some(mend_of(named, &packages)),
            wrong_use: false,
        })
    }
}

/// How to get a QEMU for several CPUs, if these packages are missing.
fn mend_of(named: bool, packages: &[&str]) -> String {
    let mut steps = Vec::new();
    if named {
        steps.push(format!("unset {VARIABLE}"));
    }
    if !packages.is_empty() {
        steps.push(format!("apt-get install {}", packages.join(" ")));
    }
    steps.push(FETCH.into());
    steps.join(", then ")
}

/// The version in the output of `--version`; for ours, in the form that names its
/// directory.
fn version_in(text: &str) -> Option<String> {
    let (_, version) = text.lines().next()?.split_once("version ")?;
    let version = version.trim();
    let mark = MARK.trim_start_matches('+');
    let ours = version
        .split_once(" (")
        .and_then(|(number, rest)| Some((number, rest.strip_prefix(mark)?.strip_suffix(')')?)));
    Some(match ours {
        Some((number, digest)) => format!("{number}{MARK}{digest}"),
        None => version.to_owned(),
    })
}

/// Whether a QEMU can give each CPU a clock: whether it lists the option. QEMU lists
/// options if `help` is in second place; in first place it is a shift.
pub(crate) fn is_parallel(binary: &Path) -> bool {
    let output = query(binary, "-icount", &["shift=0,help"]);
    output.is_ok_and(|output| {
        let text = String::from_utf8_lossy(&output.stdout);
        text.lines()
            .any(|line| line.trim_start().starts_with("parallel="))
    })
}

fn query(binary: &Path, option: &str, more: &[&str]) -> std::io::Result<Output> {
    let mut command = Command::new(binary);
    command.arg(option).args(more);
    command.stdin(std::process::Stdio::null()).output()
}

fn missing() -> Error {
    Error {
        what: "find QEMU".into(),
        why: "there is no qemu-system-x86_64 in PATH".into(),
        mend: Some(format!("apt-get install qemu-system-x86, or {FETCH}")),
        wrong_use: false,
    }
}

fn in_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|directory| directory.join(program))
        .find(|candidate| candidate.is_file())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail.

    use super::*;

    fn qemu(version: &str) -> Qemu {
        Qemu {
            binary: "qemu".into(),
            data: Vec::new(),
            version: version.into(),
            parallel: version.contains(MARK),
        }
    }

    #[test]
    fn versions_are_read_as_qemu_prints_them() {
        let debian = qemu("10.0.2 (Debian 1:10.0.2+ds-2+deb13u1~bpo12+1)");
        assert_eq!(debian.number(), (10, 0));
        assert_eq!(qemu("7.2.22 (Debian 1:7.2+dfsg-7)").number(), (7, 2));
        assert_eq!(qemu("10.0.13+assize.1a2b3c4d").number(), (10, 0));
        assert_eq!(qemu("").number(), (0, 0));
        for (text, version) in [
            ("QEMU emulator version 10.0.13\n", Some("10.0.13")),
            (
                "QEMU emulator version 7.2.22 (Debian 1:7.2)\nCopyright",
                Some("7.2.22 (Debian 1:7.2)"),
            ),
            (
                "QEMU emulator version 10.0.13 (assize.1a2b3c4d)\n",
                Some("10.0.13+assize.1a2b3c4d"),
            ),
            ("something else\n", None),
            ("", None),
        ] {
            assert_eq!(version_in(text).as_deref(), version);
        }
    }

    #[test]
    fn an_old_qemu_is_refused_with_the_mend() {
        let error = qemu("6.2.0").not_too_old();
        assert!(error.is_err_and(|e| e.to_string().contains("fetch --qemu")));
        assert!(qemu("7.2.0").not_too_old().is_ok());
    }

    #[test]
    fn several_cpus_want_a_clock_for_each() {
        for version in ["7.2.22", "10.0.2", "11.0.0"] {
            assert!(qemu(version).fits(1).is_ok());
            let error = qemu(version).fits(2).unwrap_err();
            assert!(error.mend.unwrap().contains(FETCH));
        }
        assert!(qemu("10.0.13+assize.1a2b3c4d").fits(8).is_ok());
    }

    #[test]
    fn the_mend_names_each_step_in_order() {
        assert_eq!(mend_of(false, &[]), FETCH);
        assert_eq!(
            mend_of(true, &["gcc", "patch"]),
            format!("unset {VARIABLE}, then apt-get install gcc patch, then {FETCH}")
        );
    }

    #[test]
    fn a_program_says_itself_whether_it_has_a_clock_for_each_cpu() {
        use std::os::unix::fs::PermissionsExt as _;
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("qemu");
        let says = |line: &str| {
            let text = format!(
                "#!/bin/sh\nif [ \"$1\" = --version ]; then\n\
                 echo 'QEMU emulator version 10.0.13 (assize.1a2b3c4d)'\nelif [ \"$2\" = shift=0,help ]; then echo '{line}'; fi\n"
            );
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            Qemu::at(path.clone(), Vec::new()).unwrap()
        };
        let ours = says("  parallel=<bool (on/off)>");
        assert!(ours.parallel);
        assert_eq!(ours.version, "10.0.13+assize.1a2b3c4d");
        assert!(!says("  shift=<string>").parallel);
    }
}
