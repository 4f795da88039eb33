//! Builds the modules for developers, with extra warnings, all of which are errors.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::Headers;
use crate::command::works;
use crate::steps::Done;
use crate::{Error, tree};

/// Builds for one kernel with `W=1`; with `tests`, also the modules that are used only by tests.
pub(super) fn modules(kernel: &str, tests: bool) -> Result<Done, Error> {
    let headers = match super::headers(kernel) {
        Ok(headers) => headers,
        Err(why) => return Ok(Done::Skipped(why)),
    };
    let place = place(kernel)?;
    super::copy(&place)?;
    let tests = if tests { "TESTS=y" } else { "TESTS=n" };
    make(&headers, &place, &["W=1", tests])?;
    Ok(Done::Ok)
}

/// Runs sparse on the build for a kernel.
pub(super) fn sparse(kernel: &str) -> Result<Done, Error> {
    if !works("sparse", &["--version"]) {
        return Ok(Done::Skipped(
            "sparse is not installed; ./setup.sh test".into(),
        ));
    }
    let headers = match super::headers(kernel) {
        Ok(headers) => headers,
        Err(why) => return Ok(Done::Skipped(why)),
    };
    let place = place(kernel)?;
    if !place.join("modules.order").exists() {
        return Ok(Done::Skipped(format!("nothing is built for {kernel}")));
    }
    make(&headers, &place, &["W=1", "C=2"])?;
    Ok(Done::Ok)
}

/// The directory of the build for a kernel, outside the sources.
fn place(kernel: &str) -> Result<PathBuf, Error> {
    Ok(tree::target()?.join("kmod").join(kernel.replace(':', "_")))
}

/// Runs make; a warning is an error.
fn make(headers: &Headers, place: &Path, arguments: &[&str]) -> Result<(), Error> {
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let mut make = headers.make(place)?;
    make.arg(format!("-j{jobs}"))
        .args(arguments)
        .stderr(Stdio::piped());
    let output = make.output().map_err(|why| format!("make: {why}"))?;
    // make prints commands on standard output, and diagnostics on standard error.
    let said = String::from_utf8_lossy(&output.stderr);
    for line in said.lines() {
        eprintln!("{line}");
    }
    let warnings = said.lines().filter(|line| is_warning(line)).count();
    match (output.status.success(), warnings) {
        (true, 0) => Ok(()),
        (true, 1) => Err("1 warning".into()),
        (true, count) => Err(format!("{count} warnings")),
        (false, _) => Err(format!("make: {}", output.status)),
    }
}

fn is_warning(line: &str) -> bool {
    line.to_ascii_lowercase().contains("warning: ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_compiler_sparse_and_modpost_warn_of_is_seen() {
        assert!(is_warning("/b/a.c:3:5: warning: unused variable 'x'"));
        assert!(is_warning("WARNING: modpost: missing MODULE_DESCRIPTION()"));
        assert!(!is_warning("/b/a.c: In function 'f':"));
    }
}
