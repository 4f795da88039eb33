//! Derives short names from headings and command lines.

use crate::command;
use crate::states::{Side, is_state_word, side_of_word};

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

/// A state of a program, as a word of a command names it.
pub(super) struct ProgramState {
    /// The program: `sort-old` of `seq 9 | sort-old`, `base/sort` of `/opt/base/sort`.
    pub(super) name: String,
    /// The command without the state.
    pub(super) command: String,
    pub(super) side: Side,
}

/// The state that one word of a command names; none if several words do.
pub(super) fn state_of_program(command: &str) -> Option<ProgramState> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let words = &words[usize::from(words.first() == Some(&"time"))..];
    let mut named = words.iter().enumerate().filter_map(|(at, word)| {
        let (name, bare, side) = state_of_word(word)?;
        Some((at, name, bare, side))
    });
    let (Some((at, name, bare, side)), None) = (named.next(), named.next()) else {
        return None;
    };
    let rest = [&words[..at], &[bare.as_str()], &words[at + 1..]].concat();
    Some(ProgramState {
        name,
        command: rest.join(" "),
        side,
    })
}

/// A path from the part on that names a state, this without the state, and the state's side.
fn state_of_word(word: &str) -> Option<(String, String, Side)> {
    const SIGNS: [char; 3] = ['-', '_', '.'];
    let stateless = |part: &str| {
        let whole = side_of_word(part).map(|side| (String::new(), side));
        let of = |(rest, word): (&str, &str)| Some((rest.to_owned(), side_of_word(word)?));
        let behind = || part.rsplit_once(SIGNS).and_then(of);
        let before = || {
            part.split_once(SIGNS)
                .and_then(|(word, rest)| of((rest, word)))
        };
        whole.or_else(behind).or_else(before)
    };
    let parts: Vec<&str> = word.split('/').collect();
    let (at, (bare, side)) =
        (parts.iter().enumerate()).find_map(|(at, part)| Some((at, stateless(part)?)))?;
    let bare = [&[bare.as_str()], &parts[at + 1..]].concat();
    let bare: Vec<&str> = bare.into_iter().filter(|part| !part.is_empty()).collect();
    let named = !word.starts_with('-') && !bare.is_empty();
    named.then(|| (parts[at..].join("/"), bare.join("/"), side))
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
