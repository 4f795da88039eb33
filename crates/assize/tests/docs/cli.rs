//! docs/cli.md: the `help` text of each verb.

use std::fmt::Write;
use std::fs;
use std::process::Command;

use libtest_mimic::Failed;

use crate::{rewrites, root};

const PAGE: &str = "docs/cli.md";
const HEAD: &str = "\
# The command line

This page lists every option of every verb, as `assize help` prints it. The purpose of the
verbs, and the exit statuses, are in [run.md](run.md) and [audit.md](audit.md).
A test writes this page; do not edit it.
`assize man VERB` prints a manual page, `assize completions SHELL` completions.
";

/// Generates the page, and compares or writes it.
pub fn agrees() -> Result<(), Failed> {
    let mut text = HEAD.to_owned();
    describe(&[], &mut text);
    let path = root().join(PAGE);
    if rewrites() {
        fs::write(&path, &text).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    if found == text {
        return Ok(());
    }
    Err(format!("{PAGE} is out of date: cargo xtask golden").into())
}

/// Writes a section for this verb, and one for each of its subcommands.
fn describe(verb: &[&str], text: &mut String) {
    let done = Command::new(env!("CARGO_BIN_EXE_assize"))
        .args(verb)
        .arg("--help")
        .env_remove("COLUMNS")
        .output()
        .unwrap();
    assert!(done.status.success(), "{verb:?}");
    let help = String::from_utf8(done.stdout).unwrap();
    let name = ["assize"]
        .iter()
        .chain(verb)
        .copied()
        .collect::<Vec<_>>()
        .join(" ");
    write!(text, "\n## {name}\n\n```text\n").unwrap();
    for line in help.lines() {
        writeln!(text, "{}", line.trim_end()).unwrap();
    }
    text.push_str("```\n");
    for below in commands(&help) {
        describe(&[verb, &[below]].concat(), text);
    }
}

/// The verbs listed in a help text.
fn commands(help: &str) -> Vec<&str> {
    let lines = help.lines().take_while(|line| *line != "Options:");
    lines
        // Continuation lines are indented further.
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
        .filter(|name| *name != "help")
        .collect()
}
