//! Words for the states of what is compared: before a change, and after it.

use std::collections::BTreeSet;

use assize_bundle::Configuration;

/// Names of the state before a change.
#[rustfmt::skip]
const BEFORE: [&str; 18] = [
    "baseline", "before", "mainline", "master", "unmodified", "unpatched", "upstream", "vanilla",
    "base", "control", "main", "old", "orig", "original", "plain", "reference", "stock", "trunk",
];
/// How many of them are for nothing else.
const SURE: usize = 8;
/// What others branch from, also behind the name of the project: `qemu master`.
const ROOTS: [&str; 4] = ["mainline", "master", "trunk", "upstream"];
/// Words for a change, and for code.
#[rustfmt::skip]
const CHANGES: [&str; 9] = [
    "branch", "change", "code", "commit", "fix", "patch", "patche", "pr", "version",
];
/// Names of the state after a change.
const AFTER: [&str; 7] = [
    "after", "latest", "modified", "new", "patch", "patched", "pr",
];
/// Other words for a state.
const OTHER: [&str; 12] = [
    "pre", "post", "with", "without", "w/o", "default", "reverted", "on", "off", "enabled",
    "disabled", "none",
];

/// Whether a name is a word for the state before a change.
pub(crate) fn is_before(name: &str) -> bool {
    BEFORE.contains(&name.to_lowercase().as_str())
}

/// Whether a word, in small letters, is one for a state.
pub(crate) fn is_state_word(word: &str) -> bool {
    [&BEFORE[..], &AFTER, &OTHER]
        .iter()
        .any(|words| words.contains(&word))
}

/// A side of a comparison, by a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    Before,
    After,
}

/// Whether names are those of one thing before a change and after it: one as `master`,
/// `baseline (n=10)` or `without the cache`, and all others as `patched`, `this PR` or `with the
/// cache`, each another one. Those of a switch, `GRO off` and `GRO on`, are of one switch. One name
/// may be the other with the change: `6.12` and `6.12+patch`.
pub(crate) fn are_before_and_after<S: AsRef<str>>(names: &[S]) -> bool {
    if let [before, after] = names {
        let (before, after) = (before.as_ref(), after.as_ref());
        if after.strip_prefix(before).is_some_and(adds_a_change) {
            return true;
        }
    }
    of_names(names).is_some_and(|sides| {
        let before = sides.iter().filter(|side| **side == Some(Side::Before));
        sides.len() > 1 && before.count() == 1 && !sides.contains(&None)
    })
}

/// Whether names are of states: of one thing before and after a change, or one is surely for one of
/// these states and the other names can only be for the other.
pub(crate) fn are_states<S: AsRef<str>>(names: &[S]) -> bool {
    let sides = of_names(names).unwrap_or_default();
    let count = |of: Option<Side>| sides.iter().filter(|side| **side == of).count();
    let (before, after) = (count(Some(Side::Before)), count(Some(Side::After)));
    let one = match (before, after) {
        (1, 0) => sides.len() > 1,
        (0, 1..) => after + 1 == sides.len(),
        _ => false,
    };
    are_before_and_after(names) || one && are_sure(names) || are_versions(names)
}

/// Whether names differ in a version only, which has a mark or three parts: `box v1.2` and `box v1.3`.
fn are_versions<S: AsRef<str>>(names: &[S]) -> bool {
    let is_version = |word: &&str| {
        let bare = word.strip_prefix('v').unwrap_or(word);
        let parts = bare.split('.');
        let numbers = parts.clone().all(|part| part.parse::<u32>().is_ok());
        numbers && parts.count() >= if bare == *word { 3 } else { 2 }
    };
    let all: BTreeSet<&str> = names.iter().map(S::as_ref).collect();
    let versions = |name: &&str| name.split(' ').filter(is_version).count() == 1;
    let others = |name: &&str| -> Vec<String> {
        let words = name.split(' ').filter(|word| !is_version(word));
        words.map(str::to_owned).collect()
    };
    let stems: BTreeSet<Vec<String>> = all.iter().map(others).collect();
    all.len() == names.len() && all.len() > 1 && all.iter().all(versions) && stems.len() == 1
}

/// Whether one of some names can be for nothing but a state.
pub(crate) fn are_sure<S: AsRef<str>>(names: &[S]) -> bool {
    names.iter().any(|name| is_sure(&plain(name.as_ref())))
}

/// The sides of names; none if two are one name or are of several switches.
fn of_names<S: AsRef<str>>(names: &[S]) -> Option<Vec<Option<Side>>> {
    let plain: BTreeSet<String> = names.iter().map(|name| plain(name.as_ref())).collect();
    let switched = |name: &String| {
        let (stem, last) = name.rsplit_once(' ').unwrap_or(("", name));
        switch(last).map(|_| stem.to_owned())
    };
    let stems: BTreeSet<Option<String>> = plain.iter().map(switched).collect();
    let one_switch = stems.len() == 1 || stems.iter().all(Option::is_none);
    let named = plain.len() == names.len() && !plain.contains("");
    (named && one_switch).then(|| plain.iter().map(|name| side(name)).collect())
}

/// Whether the rest of a name adds a change: `+patch`, `-patched`, ` + fix`.
fn adds_a_change(rest: &str) -> bool {
    let word = rest.trim_start_matches([' ', '+', '-', '_']).to_lowercase();
    let change = CHANGES.contains(&word.trim_end_matches('s')) || AFTER.contains(&&*word);
    change && word.len() < rest.len()
}

/// Whether a name, in small letters, can be for nothing but a state.
fn is_sure(name: &str) -> bool {
    let words: Vec<&str> = name.split(' ').collect();
    let change = |word: &&str| CHANGES.contains(&word.trim_end_matches('s'));
    match words[..] {
        [word] => BEFORE[..SURE].contains(&word) || matches!(word, "after" | "patched"),
        [_, word] if ROOTS.contains(&word) => true,
        [first, .., last] => {
            let told = side(first).is_some() || matches!(first, "this" | "my" | "with" | "without");
            told && (words[1..].iter().any(change) || last.starts_with('#'))
        }
        _ => false,
    }
}

/// The side of a word for a switch.
fn switch(word: &str) -> Option<Side> {
    match word {
        "off" | "disabled" => Some(Side::Before),
        "on" | "enabled" => Some(Side::After),
        _ => None,
    }
}

/// The side that a word alone is for.
pub(crate) fn side_of_word(word: &str) -> Option<Side> {
    // `pr1446`
    let is_request = |word: &str| {
        word.strip_prefix("pr")
            .is_some_and(|n| n.parse::<u32>().is_ok())
    };
    match word.to_lowercase() {
        word if is_before(&word) => Some(Side::Before),
        word if AFTER.contains(&word.as_str()) || is_request(&word) => Some(Side::After),
        _ => None,
    }
}

/// The side that a name is of; none if it is none for a state.
pub(crate) fn side(name: &str) -> Option<Side> {
    let plain = plain(name);
    let words: Vec<&str> = plain.split(' ').collect();
    match words[..] {
        [word] if side_of_word(word).is_some() => side_of_word(word),
        ["before" | "pre" | "prior" | "without" | "w/o", ..] => Some(Side::Before),
        [
            "after" | "post" | "with" | "w/" | "this" | "pr" | "patched",
            ..,
        ] => Some(Side::After),
        ["my", .., word] if CHANGES.contains(&word) || word == "fork" => Some(Side::After),
        [_, word] if ROOTS.contains(&word) => Some(Side::Before),
        ["current", "branch"] => Some(Side::After),
        [state, word] if CHANGES.contains(&word) => side(state),
        [.., word] => switch(word),
        [] => None,
    }
}

/// The state that a sentence ends with, if it speaks of no other: `here the times with this patch`.
pub(crate) fn state_at_end(text: &str) -> Option<&str> {
    const WORDS: usize = 6;
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.len() <= WORDS {
        return None;
    }
    let place = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
    let tells = |word: &&str| side(word.trim_matches(',')).is_some();
    let begin = words.iter().position(tells)?;
    let end = &text[place(words[begin])..];
    let compared =
        matches!(words[begin.saturating_sub(1)], "than" | "as" | "like") || end.contains(" and ");
    (begin > 0 && !compared && is_sure(&plain(end))).then_some(end)
}

/// Whether the first word of a text may begin the name of a state; false positives are fine.
pub(crate) fn may_begin(text: &str) -> bool {
    let text = text.as_bytes();
    let begin = text.iter().position(u8::is_ascii_alphanumeric);
    let text = &text[begin.unwrap_or(text.len())..];
    let end = text
        .iter()
        .position(|b| !(b.is_ascii_alphabetic() || *b == b'/'));
    let first = &text[..end.unwrap_or(text.len())];
    let all = BEFORE
        .iter()
        .chain(&AFTER)
        .chain(&OTHER[..5])
        .chain(&["current", "my", "the", "this"]);
    all.into_iter()
        .any(|word| word.as_bytes().eq_ignore_ascii_case(first))
}

/// Puts the configuration first that the others are compared with, if `names` say which it is.
pub(crate) fn baseline_first(configurations: &mut [Configuration], is_base: impl Fn(&str) -> bool) {
    let mut bases = (0..configurations.len()).filter(|at| is_base(&configurations[*at].name));
    if let (Some(at), None) = (bases.next(), bases.next()) {
        configurations[..=at].rotate_right(1);
    }
}

/// A name in small letters, without what stands in parentheses or between backticks: that says
/// more of it, a commit or a number of runs.
fn plain(name: &str) -> String {
    let mut plain = String::new();
    let (mut depth, mut code) = (0_u32, false);
    for sign in name.to_lowercase().chars() {
        match sign {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            '`' => code = !code,
            _ if depth == 0 && !code => plain.push(sign),
            _ => {}
        }
    }
    let words = plain.split(|c: char| c.is_whitespace() || matches!(c, '*' | ':'));
    let names = |word: &&str| !(matches!(*word, "" | "the") || is_commit(word));
    let words: Vec<&str> = words.filter(names).collect();
    words.join(" ")
}

/// Whether a word is the digest of a commit: `ba1a4b2c`.
fn is_commit(word: &str) -> bool {
    let hexadecimal = word.bytes().all(|b| b.is_ascii_hexdigit());
    word.len() >= 7 && hexadecimal && word.contains(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_known_by_whole_names() {
        #[rustfmt::skip]
        let cases = [
            &["before", "after"][..], &["Master", "This PR"],
            &["Baseline `ba1a4b2c` (n=10)", "PR rebased `4db925b2` (n=5)"],
            &["without builtin stash", "with builtin stash"],
            &["Baseline ba1a4b2c", "PR rebased 4db925b2"], &["**old**", "new:", "patched v2"],
            &["Before change", "After change"], &["The master", "Patched"],
            &["main branch", "Current Branch"], &["old version", "latest version"],
            &["6.12-rc1", "6.12-rc1+patch"], &["glibc", "glibc patched"],
        ];
        for names in cases {
            assert!(are_before_and_after(names), "{names:?}");
        }
        #[rustfmt::skip]
        let cases = [
            &["before"][..], &["before", "during", "after"], &["RSS before", "RSS after"],
            &["old gen", "new gen"], &["new", "patched"], &["main memory", "with"],
            &["before (debug)", "before (release)", "after"],
            &["before", "after (debug)", "after (release)"], &["base", "baseline", "patched"],
            &["", "after"], &["6.1", "6.12"], &["GRO off", "TSO on"], &["GRO off", "patched"],
            &["TCP v4", "TCP v6"], &["a v1.2", "b v1.3"], &["v1.2 v1.3", "v1.2 v1.4"], &["v1.2"],
        ];
        for names in cases {
            assert!(!are_states(names), "{names:?}");
        }
        assert!(are_states(&["box v1.2", "box v1.3"]) && are_states(&["1.16.4", "1.16.5"]));
    }
}
