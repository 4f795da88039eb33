//! Tools and libraries that a build of QEMU needs.

use std::process::{Command, Stdio};

use super::recipe::Recipe;
use crate::elf::ProgramHost;

/// Programs, and the Debian packages that contain them.
const PROGRAMS: &[(&str, &str)] = &[
    ("cc", "gcc"),
    ("make", "make"),
    ("ninja", "ninja-build"),
    ("patch", "patch"),
    ("pkg-config", "pkg-config"),
    ("tar", "tar"),
    ("xz", "xz-utils"),
];

/// The Debian packages that a build of the patched QEMU needs and that are missing.
#[must_use]
pub fn missing() -> Vec<&'static str> {
    let host = ProgramHost::this();
    let mut missing = programs(|name| host.program(name).is_some());
    // Each of the others is checked with a program that may be missing itself.
    let python = ["-c", "import ensurepip, venv"];
    if !succeeds(Command::new("python3").args(python)) {
        missing.push("python3-venv");
    }
    let glib = ["--exists", "glib-2.0 >= 2.66"];
    if !succeeds(Command::new("pkg-config").args(glib)) {
        missing.push("libglib2.0-dev");
    }
    if !compiles("#include <stdlib.h>\n") {
        missing.push("libc6-dev");
    }
    let fdt = Recipe::ours().configure().contains(&"--enable-fdt=system");
    if fdt && !compiles("#include <libfdt.h>\n") {
        missing.push("libfdt-dev");
    }
    missing
}

fn programs(there: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let absent = PROGRAMS.iter().filter(|(program, _)| !there(program));
    absent.map(|(_, package)| *package).collect()
}

fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Whether the compiler finds the headers that a text includes.
fn compiles(text: &str) -> bool {
    let file = || {
        let file = tempfile::Builder::new().suffix(".c").tempfile()?;
        std::fs::write(file.path(), text)?;
        Ok::<_, std::io::Error>(file)
    };
    let Ok(file) = file() else {
        // The build itself will report the error.
        return true;
    };
    succeeds(Command::new("cc").arg("-fsyntax-only").arg(file.path()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_missing_is_told_by_its_package() {
        assert_eq!(
            programs(|name| name != "ninja" && name != "xz"),
            ["ninja-build", "xz-utils"]
        );
        assert!(programs(|_| true).is_empty());
    }

    #[test]
    fn what_includes_nothing_compiles_and_what_nobody_has_does_not() {
        if !succeeds(Command::new("cc").arg("--version")) {
            eprintln!("skipped: no cc");
            return;
        }
        assert!(compiles("int x;\n"));
        assert!(!compiles("#include <assize/there_is_no_such.h>\n"));
    }
}
