//! Words for the states of what is compared: before a change, and after it.

use std::collections::BTreeSet;

use assize_bundle::Configuration;

/// Names of the state before a change.
#[rustfmt::skip]
const BEFORE: [&str; 18] = [
    "base", "baseline", "before", "control", "main", "mainline", "master", "old", "orig",
    "original", "plain", "reference", "stock", "trunk", "unmodified", "unpatched", "upstream",
    "vanilla",
];
/// Names of the state after a change.
const AFTER: [&str; 6] = ["after", "modified", "new", "patch", "patched", "pr"];
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
/// cache`, each another one.
pub(crate) fn are_before_and_after<S: AsRef<str>>(names: &[S]) -> bool {
    let plain: BTreeSet<String> = names.iter().map(|name| plain(name.as_ref())).collect();
    let sides: Option<Vec<Side>> = plain.iter().map(|name| side(name)).collect();
    let mut sides = sides.unwrap_or_default();
    sides.sort_unstable();
    let one_before = matches!(sides[..], [Side::Before, Side::After, ..]);
    one_before && plain.len() == names.len()
}

/// The side that a name is of; none if it is none for a state.
pub(crate) fn side(name: &str) -> Option<Side> {
    let plain = plain(name);
    let words: Vec<&str> = plain.split(' ').collect();
    match words[..] {
        [word] if is_before(word) => Some(Side::Before),
        [word] if AFTER.contains(&word) => Some(Side::After),
        ["before" | "pre" | "without" | "w/o", ..] => Some(Side::Before),
        ["after" | "post" | "with" | "this" | "pr" | "patched", ..] => Some(Side::After),
        _ => None,
    }
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
        .chain(&["the", "this"]);
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
            &["", "after"],
        ];
        for names in cases {
            assert!(!are_before_and_after(names), "{names:?}");
        }
    }
}
