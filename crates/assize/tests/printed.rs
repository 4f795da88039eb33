//! Commands that the program prints: messages name only existing commands and options, and the
//! commands in results can be executed unchanged.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use regex::Regex;

use crate::common::{assize, carry_out_printed, command, errors, root, sources};

/// Words that follow the program's name in prose.
const PROSE: [&str; 5] = ["as", "builds", "experiment", "that", "there"];

/// The commands of the program, with those below `kernel`, and the options of each.
fn understood() -> BTreeMap<String, BTreeSet<String>> {
    let option = Regex::new(r"(?m)^ +(?:(-[a-zA-Z]), )?(--[a-z][a-z-]*)").unwrap();
    let name = Regex::new(r"(?m)^  ([a-z][a-z-]*)  +[A-Z]").unwrap();
    let mut all = BTreeMap::new();
    let mut open = vec![Vec::new()];
    while let Some(path) = open.pop() {
        let words: Vec<&str> = path.iter().map(String::as_str).collect();
        let done = assize(Path::new("."), &[&words[..], &["--help"]].concat());
        assert!(done.status.success(), "{words:?}: {}", errors(&done));
        let help = String::from_utf8(done.stdout).unwrap();
        let mut options = BTreeSet::new();
        for found in option.captures_iter(&help) {
            let names = [found.get(1), found.get(2)].into_iter().flatten();
            options.extend(names.map(|name| name.as_str().to_owned()));
        }
        for found in name.captures_iter(&help) {
            if &found[1] != "help" {
                open.push([&path[..], &[found[1].to_owned()]].concat());
            }
        }
        all.insert(path.join(" "), options);
    }
    all
}

/// The commands in the strings of all sources, each with the text up to its end.
fn named() -> Vec<(String, String)> {
    let crates = fs::read_dir(root().join("crates")).unwrap();
    let names: Vec<String> = crates
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let continued = Regex::new(r"\\\n\s*").unwrap();
    let command = Regex::new(r#"assize ([a-z][a-z-]*)([^"`;:,()\n]*)"#).unwrap();
    let mut found = Vec::new();
    for text in sources(&names) {
        let code: String = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .flat_map(|line| [line, "\n"])
            .collect();
        for one in command.captures_iter(&continued.replace_all(&code, "")) {
            found.push((one[1].to_owned(), one[2].to_owned()));
        }
    }
    found
}

#[test]
fn messages_name_only_commands_and_options_that_there_are() {
    let understood = understood();
    let mut prose = BTreeSet::new();
    let mut commands = BTreeSet::new();
    for (name, rest) in named() {
        if !understood.contains_key(&name) {
            prose.insert(name);
            continue;
        }
        let second = rest.split_whitespace().next().unwrap_or_default();
        let below = format!("{name} {second}");
        let path = match understood.contains_key(&below) {
            true => below,
            false => name,
        };
        for word in rest.split_whitespace().take_while(|word| *word != "--") {
            let option = word.split('=').next().unwrap();
            assert!(
                !option.starts_with("--") || understood[&path].contains(option),
                "assize {path}{rest}: there is no {option}"
            );
        }
        commands.insert(path);
    }
    // The name of a removed command would be among these.
    let prose: Vec<&str> = prose.iter().map(String::as_str).collect();
    assert_eq!(prose, PROSE);
    assert!(commands.len() >= 12, "{commands:?}");
}

const EXPERIMENT: &str = r#"title = "One run in twelve fails"
target = "host"
runs = 12

[factors.change.off]
workload.it.argv = ["sh", "-c", "true"]
[factors.change.on]
workload.it.argv = ["sh", "-c", "mkdir PLACE/there 2> /dev/null || test -e PLACE/done || { touch PLACE/done; exit 3; }"]

[workloads.it]
kind = "command"
argv = ["true"]
"#;

#[test]
fn what_answers_print_can_be_executed() {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    let post = root().join("demo/dep-queue.txt");
    fs::copy(post, here.join("the post.txt")).unwrap();
    let text = EXPERIMENT.replace("PLACE", &here.display().to_string());
    fs::write(here.join("it's.toml"), text).unwrap();
    let mut executed = BTreeSet::new();
    let answers: [&[&str]; 12] = [
        &["audit", "the post.txt"],
        &["audit", "the post.txt", "--json"],
        &[
            "audit",
            "the post.txt",
            "--claim",
            "bypass < plain - 20% on context-switches",
        ],
        &["run", "it's.toml", "--quiet", "--out", "one.bundle"],
        &[
            "run",
            "it's.toml",
            "--quiet",
            "--out",
            "two.bundle",
            "--seed",
            "7",
        ],
        &["report", "one.bundle"],
        &["report", "one.bundle", "--json"],
        &["report", "one.bundle", "--format", "mail"],
        &["report", "one.bundle", "--format", "html"],
        &[
            "compare",
            "one.bundle",
            "--claim",
            "change > base + 50% on failed workloads",
        ],
        &["compare", "-r", "4", "--quiet", "--", "true", "sleep 0.001"],
        &["trend", "one.bundle", "two.bundle"],
    ];
    for arguments in answers {
        let done = assize(here, arguments);
        let said = errors(&done);
        assert!(
            done.status.code().is_some_and(|it| it < 2),
            "{arguments:?}: {said}"
        );
        let text = String::from_utf8(done.stdout).unwrap() + &said;
        executed.extend(carry_out_printed(&command(here, &[]), &text));
    }
    let verbs: BTreeSet<&str> = executed
        .iter()
        .map(|line| line.split(' ').nth(1).unwrap())
        .collect();
    let all = ["audit", "compare", "report", "run", "run-one", "trend"];
    assert_eq!(verbs, BTreeSet::from(all), "{executed:#?}");
}
