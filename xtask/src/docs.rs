//! The API documentation, and the links in the Markdown files.

use std::path::{Component, Path, PathBuf};

use crate::Error;
use crate::command::{cargo, command, run as run_command};
use crate::steps::Done;
use crate::tree;

/// `cargo xtask docs`.
pub(crate) fn run(_: &[String]) -> Result<(), Error> {
    links()?;
    rustdoc()
}

fn rustdoc() -> Result<(), Error> {
    let mut rustdoc = command(
        cargo(),
        &["doc", "--workspace", "--no-deps", "--locked", "--quiet"],
    )?;
    rustdoc.env("RUSTDOCFLAGS", "-D warnings");
    run_command(rustdoc)
}

/// The step of `check-more`; links are checked earlier.
pub(crate) fn step() -> Result<Done, Error> {
    rustdoc().map(|()| Done::Ok)
}

/// The step of `check`: only the links.
pub(crate) fn links_step() -> Result<Done, Error> {
    links().map(|()| Done::Ok)
}

/// Checks that every relative link in a Markdown file leads to a file of the tree and, if it has an
/// anchor, to a heading of that file.
fn links() -> Result<(), Error> {
    let mut broken = 0;
    for name in tree::files()? {
        if !name.ends_with(".md") || tree::is_data(&name) {
            continue;
        }
        let Some(text) = tree::read(&name)? else {
            continue;
        };
        for (number, target) in targets(&text) {
            if let Err(why) = follow(&name, target) {
                eprintln!("{name}:{number}: {target}: {why}");
                broken += 1;
            }
        }
    }
    match broken {
        0 => Ok(()),
        _ => Err(format!("{broken} broken links")),
    }
}

/// The targets of inline links into the tree, with line numbers.
fn targets(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        for piece in line.split("](").skip(1) {
            let target = piece.split([')', ' ']).next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:") {
                found.push((number, target));
            }
        }
    }
    found
}

/// The lines outside fenced blocks, numbered from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            return None;
        }
        (!fenced).then_some((at + 1, line))
    })
}

fn follow(from: &str, target: &str) -> Result<(), Error> {
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    let file = if path.is_empty() {
        from.to_owned()
    } else {
        let parent = Path::new(from).parent().unwrap_or(Path::new(""));
        normal(&parent.join(path)).ok_or("leads out of the tree")?
    };
    if !tree::root()?.join(&file).exists() {
        return Err("no such file".into());
    }
    if heading.is_empty() {
        return Ok(());
    }
    let text = tree::read(&file)?.ok_or("not a text")?;
    let found = prose(&text).any(|(_, line)| line.starts_with('#') && anchor(line) == heading);
    if found {
        Ok(())
    } else {
        Err("no such heading".into())
    }
}

/// The path without `.` and `..`; `None` if it leaves the tree.
fn normal(path: &Path) -> Option<String> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => plain.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !plain.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    plain.into_os_string().into_string().ok()
}

/// The anchor that GitHub gives a heading.
fn anchor(line: &str) -> String {
    line.trim_start_matches('#')
        .trim()
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_into_the_tree_are_found_and_others_left_alone() {
        let text = "See [a](docs/a.md#life-of-it) and [b](https://b).\n```\n[c](c.md)\n```\n";
        assert_eq!(targets(text), [(1, "docs/a.md#life-of-it")]);
    }

    #[test]
    fn anchors_are_lower_case_with_dashes() {
        assert_eq!(anchor("## The life of an `audit`"), "the-life-of-an-audit");
    }

    #[test]
    fn paths_may_climb_but_not_out() {
        assert_eq!(
            normal(Path::new("docs/../README.md")).as_deref(),
            Some("README.md")
        );
        assert_eq!(normal(Path::new("../README.md")), None);
    }
}
