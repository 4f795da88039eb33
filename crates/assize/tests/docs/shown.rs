//! Checks blocks that are not executed: each names its file, or the reason why it is not executed.

use std::fs;
use std::process::Command;

use crate::page::{Block, Page};
use crate::root;

/// Reasons why a command is only shown.
const REASONS: [&str; 6] = ["root", "network", "ssh", "time", "build", "file"];

/// Checks that the block is of a known kind and has no obvious mistakes.
pub fn check(page: &Page, block: &Block) -> Result<(), String> {
    let text = block.text.join("\n");
    if let Some(runner) = block.attributes.get("run-by") {
        let test =
            fs::read_to_string(root().join(runner)).map_err(|why| format!("{runner}: {why}"))?;
        let name = page.name.trim_start_matches("docs/");
        let names = test.contains(name);
        return names
            .then_some(())
            .ok_or(format!("{runner} does not read {name}"));
    }
    match block.language.as_str() {
        "console" => Ok(()),
        "sh" => shell(block),
        "toml" => titled(block).and(toml(&text)),
        "json" => serde_json::from_str::<serde_json::Value>(&text)
            .map(|_| ())
            .map_err(|why| why.to_string()),
        "rust" | "c" => quoted(block),
        // The contents of the file are tested where it is used.
        "text" if block.attributes.contains_key("title") => titled(block),
        "text" => {
            let command = |line: &&String| line.starts_with("$ ") || line.starts_with("assize ");
            match block.text.iter().find(command) {
                Some(line) => Err(format!("a command in a text: {line}")),
                None => Ok(()),
            }
        }
        "" => Err("no language: what is it? CONTRIBUTING.md says what there is".into()),
        other => Err(format!(
            "{other}: no such kind of block; CONTRIBUTING.md says what there is"
        )),
    }
}

/// Checks that the text before a file names it.
fn titled(block: &Block) -> Result<(), String> {
    match block.attributes.get("title") {
        Some(title) if !block.before.contains(&format!("`{title}`")) => {
            Err(format!("the paragraph before does not name `{title}`"))
        }
        _ => Ok(()),
    }
}

fn toml(text: &str) -> Result<(), String> {
    text.parse::<toml::Table>()
        .map(|_| ())
        .map_err(|why| why.to_string())
}

/// Checks that the lines of an excerpt occur, in order, in a file of the tree.
fn quoted(block: &Block) -> Result<(), String> {
    let Some(from) = block.attributes.get("from") else {
        return Err("code without from=FILE".into());
    };
    let file = fs::read_to_string(root().join(from)).map_err(|why| format!("{from}: {why}"))?;
    let mut rest = file.lines();
    for line in &block.text {
        let line = line.trim();
        let skipped = line.is_empty() || line == "...";
        if !skipped && !rest.any(|other| other.trim() == line) {
            return Err(format!("{from} has no line, after those above: {line}"));
        }
    }
    Ok(())
}

/// Checks the syntax of commands that are not executed.
fn shell(block: &Block) -> Result<(), String> {
    let Some(needs) = block.attributes.get("needs") else {
        return Err("a shell without needs=REASON is a console, which is executed".into());
    };
    for reason in needs.split(',') {
        if !REASONS.contains(&reason) {
            return Err(format!("needs={reason}: not one of {}", REASONS.join(", ")));
        }
    }
    for line in block.text.join("\n").replace("\\\n", " ").lines() {
        let words = shlex::split(line).ok_or(format!("unbalanced quotes: {line}"))?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["assize", arguments @ ..] => understood(arguments)?,
            ["make", arguments @ ..] => {
                succeeds(Command::new("make").arg("--dry-run").args(arguments))?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Parses the arguments, and plans experiment files.
fn understood(arguments: &[&str]) -> Result<(), String> {
    let assize = || Command::new(env!("CARGO_BIN_EXE_assize"));
    // The words after `--` are the arguments of another program.
    let own = arguments.iter().position(|word| *word == "--");
    let (own, others) = arguments.split_at(own.unwrap_or(arguments.len()));
    succeeds(assize().args(own).arg("--help").args(others))?;
    let (Some(&"run"), Some(file)) = (
        arguments.first(),
        arguments.iter().find(|a| a.ends_with(".toml")),
    ) else {
        return Ok(());
    };
    if !root().join(file).exists() {
        return Ok(());
    }
    succeeds(assize().args(["plan", file]))
}

fn succeeds(command: &mut Command) -> Result<(), String> {
    let done = command
        .current_dir(root())
        .output()
        .map_err(|why| format!("{command:?}: {why}"))?;
    if done.status.success() {
        return Ok(());
    }
    Err(format!(
        "{command:?}: {}",
        String::from_utf8_lossy(&done.stderr)
    ))
}
