//! Derives short names from headings and command lines.

use crate::command;
use crate::states::{is_state_word, side};

/// Returns a short name for a heading, unless it is the last line of a script that only sets
/// something: `umount $MNT`.
pub(super) fn of_heading(heading: &str) -> Option<String> {
    let sets = heading.contains('$') && command::prepares(heading);
    (!sets).then(|| short(heading))
}

/// A short name for a heading: without a parenthesis at its end, unless only that names a
/// state (`reference (before)`), and without quote marks, at most 80 characters.
pub(crate) fn short(label: &str) -> String {
    let mut name = squeeze(label);
    for _ in 0..2 {
        let cut = match name.strip_suffix(')').and_then(|head| head.rfind(" (")) {
            Some(at) if at > 0 && !is_state(&name[at..]) => {
                name[..at].trim_end().trim_end_matches(':').to_string()
            }
            _ => break,
        };
        name = cut;
    }
    let name = name.trim_matches(|c| matches!(c, '"' | '\'' | '`' | '*' | ':' | ',' | ' '));
    let name: String = name.chars().take(80).collect();
    if name.is_empty() {
        squeeze(label)
    } else {
        name
    }
}

/// Whether a parenthesis holds nothing but a word for a state: `(before)`.
fn is_state(parenthesis: &str) -> bool {
    let inner = parenthesis.trim().trim_matches(['(', ')']);
    is_state_word(&inner.to_lowercase())
}

/// Runs of white space become one blank.
pub(crate) fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether the name of a workload may be a command line. `200ms/s` and `build-a/libc.so`
/// may not: a path begins with `/`, `.` or `~`.
pub(crate) fn is_command(workload: &str) -> bool {
    let first = workload.split_whitespace().next().unwrap_or_default();
    !first.contains('/') || first.starts_with(['/', '.', '~'])
}

/// The program that a command line executes: its name and its arguments.
pub(crate) fn program(command: &str) -> Option<(String, String)> {
    let words = command::under_test(command)?;
    let (first, rest) = words.split_first()?;
    Some((first.clone(), rest.join(" ")))
}

/// The one word of a command that names a state of a program, and the command without it: `sort-old`
/// of `seq 9 | sort-old`, `base/sort` of `/opt/base/sort`.
pub(super) fn state_of_program(command: &str) -> Option<(String, String)> {
    // The part of a path without its state, if it has one.
    let stateless = |part: &str| match part.rsplit_once(['-', '_', '.']) {
        Some((stem, state)) if side(state).is_some() => Some(stem.to_owned()),
        _ => side(part).map(|_| String::new()),
    };
    let split = |word: &str| -> Option<(String, String)> {
        let parts: Vec<&str> = word.split('/').collect();
        let at = parts.iter().position(|part| stateless(part).is_some())?;
        let below = parts[at + 1..].iter().map(|part| (*part).to_owned());
        let bare = std::iter::once(stateless(parts[at])?).chain(below);
        let bare: Vec<String> = bare.filter(|part| !part.is_empty()).collect();
        let named = !word.starts_with('-') && !bare.is_empty();
        named.then(|| (parts[at..].join("/"), bare.join("/")))
    };
    let words = command
        .split_whitespace()
        .skip_while(|word| *word == "time");
    let mut state = None;
    let mut rest = Vec::new();
    for word in words {
        match split(word) {
            Some(_) if state.is_some() => return None,
            Some((name, bare)) => {
                state = Some(name);
                rest.push(bare);
            }
            None => rest.push(word.to_owned()),
        }
    }
    Some((state?, rest.join(" ")))
}

/// The tool whose output a format is: `perf stat` for `perf stat -x`.
pub(super) fn tool(format: &str) -> &str {
    let name = format.split(" -").next().unwrap_or(format);
    name.trim_end_matches("-json").trim_end_matches("-export")
}

/// Words for what is measured, besides the names of tools.
#[rustfmt::skip]
const WORKLOADS: [&str; 33] = [
    "aim7", "audio", "bench", "benchmark", "compile", "filebench", "iozone", "kernbench",
    "messaging", "mysql", "pipe", "playback", "randread", "random", "randwrite", "read", "reaim",
    "redis", "reread", "rewrite", "sequential", "smp", "specjbb", "tcp", "test", "timerlat", "udp",
    "unixbench", "video", "vm-scalability", "will-it-scale", "workload", "write",
];

/// Whether a name is that of a workload and has no word for a state.
pub(crate) fn is_workload(name: &str) -> bool {
    let lower = name.to_lowercase();
    let mut words = lower.split(|c: char| !(c.is_alphanumeric() || c == '-'));
    let known = |word: &str| WORKLOADS.contains(&word) || command::is_tool(word);
    words.any(known) && !names_state(&lower)
}

/// Whether a word of a name is one for a state.
fn names_state(name: &str) -> bool {
    let mut words = name.split(|c: char| !(c.is_alphanumeric() || c == '/'));
    words.any(is_state_word)
}
