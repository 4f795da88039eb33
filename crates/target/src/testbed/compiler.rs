//! The compiler that a kernel's headers ask for.

use std::path::Path;
use std::process::Command;

use super::{Subject, what};
use crate::Error;
use crate::elf::Host;
use crate::fault::{mend, wrong};

/// What says in Debian's headers which compiler the kernel was built with.
const VARIABLES: &str = ".kernelvariables";

/// A compiler and which one exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Compiler {
    /// Its first line of `--version`.
    pub(super) version: String,
}

impl Compiler {
    /// Looks for the compiler, and for make.
    pub(super) fn find(host: &Host, subject: &Subject<'_>) -> Result<Self, Error> {
        let variables = std::fs::read_to_string(subject.headers.join(VARIABLES));
        let name = crate::kernels::compiler(&variables.unwrap_or_default());
        let name = name.unwrap_or_else(|| "gcc".into());
        let needed = ["make", name.as_str()];
        let missing = Vec::from_iter(needed.into_iter().filter(|it| host.program(it).is_none()));
        if !missing.is_empty() {
            let why = format!("not found in PATH: {}", missing.join(", "));
            return Err(mend(
                wrong(what(subject.name), why),
                format!("run `apt install {}`", missing.join(" ")),
            ));
        }
        let version = version(&name).map_err(|why| wrong(what(subject.name), why))?;
        Ok(Compiler { version })
    }
}

fn version(name: &str) -> Result<String, String> {
    let said = Command::new(name)
        .arg("--version")
        .env("LC_ALL", "C")
        .output();
    let said = said.map_err(|error| format!("{name}: {error}"))?;
    let text = String::from_utf8_lossy(&said.stdout);
    match text.lines().next().filter(|_| said.status.success()) {
        Some(line) => Ok(line.to_string()),
        None => Err(format!("{name} does not say its version")),
    }
}

/// Whether the headers are those of the kernel.
pub(super) fn check_release(subject: &Subject<'_>) -> Result<(), Error> {
    let path = subject.headers.join("include/generated/utsrelease.h");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let said = text.split('"').nth(1).unwrap_or_default();
    // A tree without this file says so itself when something is built in it.
    if said.is_empty() || said == subject.release {
        return Ok(());
    }
    let why = format!(
        "the kernel is {}, but {} are headers of {}",
        subject.release,
        subject.headers.display(),
        said
    );
    Err(mend(
        wrong(what(subject.name), why),
        "fetch or add the kernel again with the headers it was built with",
    ))
}

/// Whether make can work with this path, which it would take for several.
pub(super) fn check_path(subject: &Subject<'_>, path: &Path) -> Result<(), Error> {
    let text = path.to_string_lossy();
    if !text.contains([' ', '\t', '\n', ':', '#', '$', '\'', '"', '%', '=']) {
        return Ok(());
    }
    let why = format!("make cannot work in {text}, because of the signs in its path");
    Err(mend(
        wrong(what(subject.name), why),
        "set ASSIZE_CACHE to a plain path",
    ))
}
