//! Golden files: a directory with a command and its expected output.

use crate::Error;
use crate::command::{cargo, command, output, run as run_command};

/// The variable that makes golden tests rewrite their files instead of
/// comparing with them.
const VARIABLE: &str = "ASSIZE_GOLDEN";

/// The files and directories that tests may rewrite.
const PLACES: [&str; 4] = ["crates", "docs", "schema", "README.md"];

/// `cargo xtask golden`: runs the tests so that they rewrite the files, then shows the
/// changes for a human to review.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    // A failing page must not keep the others from being rewritten.
    let mut all = vec![
        "test",
        "--workspace",
        "--locked",
        "--quiet",
        "--no-fail-fast",
    ];
    all.extend(arguments.iter().map(String::as_str));
    let mut tests = command(cargo(), &all)?;
    tests.env(VARIABLE, "1");
    run_command(tests)?;

    let diff = [&["diff", "--stat", "--"], &PLACES[..]].concat();
    let changed = output("git", &diff)?;
    let others = [
        &["ls-files", "--others", "--exclude-standard", "--"],
        &PLACES[..],
    ]
    .concat();
    let new = output("git", &others)?;
    if changed.is_empty() && new.is_empty() {
        println!("golden files: nothing changed");
        return Ok(());
    }
    print!("{changed}");
    for name in new.lines() {
        println!(" {name} (new)");
    }
    let places = PLACES.join(" ");
    println!("read the difference before you commit it: git diff -- {places}");
    Ok(())
}
