//! Rules that the compiler does not check.

mod c;
mod circles;
mod measures;
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
    /// The line, from 1; 0 for the whole file.
    line: usize,
    what: String,
}

/// A Rust file without its tests.
struct Code {
    file: String,
    /// The code without comments and strings.
    code: String,
    lines: usize,
}

impl Code {
    fn of_file(file: String, text: &str) -> Self {
        let (code, lines) = source::without_tests(text);
        Code { file, code, lines }
    }
}

/// `cargo xtask tidy`.
pub(crate) fn run(_: &[String]) -> Result<(), Error> {
    let files = tree::files()?;
    let (mut findings, mut code) = (Vec::new(), Vec::new());
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
            code.push(Code::of_file(file.clone(), &text));
        }
    }
    findings.extend(code.iter().flat_map(sizes::check));
    findings.extend(measures::check(&code));
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
