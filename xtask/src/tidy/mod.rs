//! Rules that the compiler does not check.

mod c;
mod modules;
mod sizes;
mod source;
mod text;

use crate::Error;
use crate::steps::Done;
use crate::tree;

/// A violation of a rule, and its place.
struct Finding {
    file: String,
    /// Counted from 1; 0 for the file as a whole.
    line: usize,
    what: String,
}

/// `cargo xtask tidy`.
pub(crate) fn run(_: &[String]) -> Result<(), Error> {
    let files = tree::files()?;
    let mut findings = Vec::new();
    let modules = modules::Modules::find(&files)?;
    findings.extend(modules.dead(&files));
    for file in &files {
        if tree::is_data(file) {
            continue;
        }
        let Some(text) = tree::read(file)? else {
            continue;
        };
        findings.extend(text::check(file, &text));
        findings.extend(c::check(file, &text));
        if modules::is_ours(file) && !modules.is_test(file) {
            findings.extend(sizes::check(file, &text));
        }
    }
    for finding in &findings {
        match finding.line {
            0 => eprintln!("{}: {}", finding.file, finding.what),
            line => eprintln!("{}:{line}: {}", finding.file, finding.what),
        }
    }
    match findings.len() {
        0 => Ok(()),
        1 => Err("1 finding".into()),
        count => Err(format!("{count} findings")),
    }
}

/// The step of `check`.
pub(crate) fn step() -> Result<Done, Error> {
    run(&[])?;
    Ok(Done::Ok)
}
