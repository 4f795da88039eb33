//! Finds the compiler that a kernel's headers require.

use std::path::Path;
use std::process::Command;

use super::{KernelToBuildFor, what};
use crate::Error;
use crate::fault::{mend, wrong};
use crate::make;

/// The file in Debian's headers that names the kernel's compiler.
const VARIABLES: &str = ".kernelvariables";

/// A compiler's exact version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Compiler {
    /// The first line of its `--version`.
    pub(super) version: String,
}

impl Compiler {
    /// Finds make, and the compiler that it will call.
    pub(super) fn find(subject: &KernelToBuildFor<'_>) -> Result<Self, Error> {
        let host = subject.host();
        let variables = std::fs::read_to_string(subject.headers.join(VARIABLES));
        let variables = variables.unwrap_or_default();
        let package = crate::kernels::compiler_named(&variables).unwrap_or_else(|| "gcc".into());
        let name = format!("{}{package}", prefix(&variables));
        let needed = [("make", "make"), (name.as_str(), package.as_str())];
        let absent = |(program, _): &(&str, &str)| host.program(program).is_none();
        let missing = Vec::from_iter(needed.into_iter().filter(absent));
        if !missing.is_empty() {
            let (programs, packages): (Vec<&str>, Vec<&str>) = missing.into_iter().unzip();
            let why = format!("not found in PATH: {}", programs.join(", "));
            let how = get(subject.name, &packages);
            return Err(mend(wrong(what(subject.name), why), how));
        }
        let program = host.program(&name).unwrap_or_else(|| name.into());
        let version = version(&program).map_err(|why| wrong(what(subject.name), why))?;
        Ok(Compiler { version })
    }
}

/// The prefix that a package's variables make kbuild put before the compiler's name. A
/// value that refers to other variables is for cross-building and is ignored.
fn prefix(variables: &str) -> &str {
    let mut values = variables.lines().filter_map(|line| {
        let line = line.strip_prefix("override ").unwrap_or(line);
        let (name, value) = line.split_once('=')?;
        let name = name.trim_end_matches([':', '?', ' ']);
        let plain = name == "CROSS_COMPILE" && !value.contains('$');
        plain.then(|| value.trim())
    });
    values.next().unwrap_or_default()
}

/// How to get packages. The compiler of a Debian kernel can also be fetched where its
/// package cannot be installed.
fn get(kernel: &str, packages: &[&str]) -> String {
    let install = format!("run `apt install {}`", packages.join(" "));
    match kernel.starts_with("debian:") && packages.iter().any(|name| name.starts_with("gcc")) {
        true => format!("{install}, or `assize kernel fetch --compiler {kernel}`"),
        false => install,
    }
}

fn version(program: &Path) -> Result<String, String> {
    let name = program.display();
    let said = Command::new(program)
        .arg("--version")
        .env("LC_ALL", "C")
        .output();
    let said = said.map_err(|error| format!("{name}: {error}"))?;
    let text = String::from_utf8_lossy(&said.stdout);
    match text.lines().next().filter(|_| said.status.success()) {
        Some(line) => Ok(line.to_string()),
        None => Err(format!("{name} prints no version")),
    }
}

/// Fails if the headers are not those of the kernel.
pub(super) fn check_release(subject: &KernelToBuildFor<'_>) -> Result<(), Error> {
    let path = subject.headers.join("include/generated/utsrelease.h");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let said = text.split('"').nth(1).unwrap_or_default();
    // A tree without this file reports that itself when something is built in it.
    if said.is_empty() || said == subject.release {
        return Ok(());
    }
    let why = format!(
        "the kernel is {}, but the headers {} are of {}",
        subject.release,
        subject.headers.display(),
        said
    );
    Err(mend(
        wrong(what(subject.name), why),
        "fetch or add the kernel again with the headers it was built with",
    ))
}

/// Fails if make cannot work with this path.
pub(super) fn check_path(subject: &KernelToBuildFor<'_>, path: &Path) -> Result<(), Error> {
    match make::refused(path) {
        None => Ok(()),
        Some(why) => Err(mend(
            wrong(what(subject.name), why),
            "set ASSIZE_CACHE to a plain path",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiler_is_the_one_that_make_will_call() {
        let text = "override ARCH = x86\nCC = $(CROSS_COMPILE)gcc-12\n\
            override CROSS_COMPILE = x86_64-linux-gnu-\n";
        assert_eq!(prefix(text), "x86_64-linux-gnu-");
        assert_eq!(prefix("CROSS_COMPILE ?= a-\n"), "a-");
        assert_eq!(prefix("CC = gcc-12\n"), "");
        // From Linux 6.1 in Debian 12.
        let native = "ifneq ($(DEB_BUILD_ARCH),$(DEB_HOST_ARCH))\n\
            override CROSS_COMPILE = $(DEB_HOST_GNU_TYPE)-\nendif\n";
        assert_eq!(prefix(native), "");

        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join(VARIABLES), text.replace("x86_64", "none")).unwrap();
        let subject = KernelToBuildFor {
            name: "mine",
            release: "6.12",
            headers: place.path(),
            compiler: None,
            trusted: true,
        };
        let error = Compiler::find(&subject).unwrap_err();
        assert!(error.why.contains("none-linux-gnu-gcc-12"), "{error}");
        assert!(error.mend.unwrap().contains("gcc-12`"));
    }

    #[test]
    fn a_compiler_of_debian_that_is_missing_can_be_fetched_too() {
        assert_eq!(
            get("mine", &["make", "gcc-14"]),
            "run `apt install make gcc-14`"
        );
        assert_eq!(
            get("debian:7", &["gcc-14"]),
            "run `apt install gcc-14`, or `assize kernel fetch --compiler debian:7`"
        );
        assert_eq!(get("debian:7", &["make"]), "run `apt install make`");
    }
}
