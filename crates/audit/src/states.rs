//! Words for the states of what is compared: what it was, and what became of it.
//!
//! Everything that asks whether a word is that of a configuration asks here, so that a
//! word which is known in one place is known in all.

use crate::listed::Lengths;

/// Words of which one configuration has one and the other its opposite.
pub(crate) const OPPOSITES: &[(&str, &str)] = &[
    ("before", "after"),
    ("bef", "after"),
    ("bef", "aft"),
    ("old", "new"),
    ("without", "with"),
    ("w/o", "w/"),
    ("w/o", "with"),
    ("wo", "w"),
    ("wo", "with"),
    ("off", "on"),
    ("disabled", "enabled"),
    ("disable", "enable"),
    ("unpatched", "patched"),
    ("false", "true"),
    ("n", "y"),
    ("no", "yes"),
    ("bad", "good"),
    ("pre", "post"),
    ("slow", "fast"),
    ("buggy", "fixed"),
    ("broken", "fixed"),
    ("unfixed", "fixed"),
    ("current", "proposed"),
    ("current", "new"),
    ("original", "new"),
    ("orig", "new"),
    ("base", "new"),
    ("stock", "new"),
    ("vanilla", "patched"),
    ("stock", "patched"),
    ("original", "patched"),
    ("base", "patched"),
    ("mainline", "patched"),
    ("parent", "commit"),
];

/// Whether a word, in small letters, is the opposite of another one, whatever it stands beside.
pub(crate) fn opposed(word: &str) -> bool {
    const VAGUE: [&str; 9] = ["n", "y", "no", "yes", "w", "fast", "slow", "true", "false"];
    let mut pairs = OPPOSITES.iter();
    pairs.any(|(low, high)| *low == word || *high == word) && !VAGUE.contains(&word)
}

/// What a state is of.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    /// What a change is compared with.
    Base,
    /// What was changed.
    Change,
}
use Side::{Base, Change};

/// It says nothing but a state, and so may stand beside the name of a metric or in
/// parentheses behind any: `old latency`, `latency (patched)`.
const BARE: u8 = 1;
/// A name with it is of one side, whatever else the name says: `mainline, 8 CPUs`.
/// `id pool new` is none: there it may be what is done.
const SIDE: u8 = 2;
/// It makes a name one of a configuration, in a line of which nothing else is known:
/// `series` and `commit` may stand in any.
const NAME: u8 = 4;

/// The words, with what may be concluded from each.
const STATES: &[(Side, u8, &[&str])] = &[
    (
        Base,
        BARE | SIDE | NAME,
        &[
            "base",
            "baseline",
            "before",
            "orig",
            "original",
            "unpatched",
            "vanilla",
            "master",
            "reference",
        ],
    ),
    (Base, BARE | NAME, &["old", "ref"]),
    (
        Base,
        SIDE | NAME,
        &[
            "default",
            "mainline",
            "upstream",
            "stock",
            "control",
            "unmodified",
            "w/o",
            "without",
        ],
    ),
    (Base, SIDE, &["unstable", "previous", "unfixed"]),
    (Change, BARE | SIDE | NAME, &["after", "patched"]),
    (Change, BARE | NAME, &["new"]),
    (Change, BARE, &["now"]),
    (
        Change,
        SIDE | NAME,
        &[
            "patch",
            "modified",
            "optimized",
            "optimised",
            "revert",
            "reverted",
        ],
    ),
    (
        Change,
        SIDE,
        &[
            "patches", "patchset", "series", "fix", "fixed", "fixes", "improved", "rfc", "commit",
            "proposed",
        ],
    ),
];

/// Whether a word is listed for a use.
fn has(word: &str, of: u8, side: Option<Side>) -> bool {
    let mut lists = STATES.iter();
    LENGTHS.allow(word)
        && lists.any(|(own, uses, words)| {
            uses & of != 0 && side.is_none_or(|side| side == *own) && words.contains(&word)
        })
}

/// Whether a word says nothing but the state of something.
pub(crate) fn is_bare(word: &str) -> bool {
    has(word, BARE, None)
}

/// The first word of a name, in lower case.
pub(crate) fn first_word(name: &str) -> String {
    let first = name.split(|c: char| !c.is_alphanumeric()).next();
    first.unwrap_or_default().to_lowercase()
}

/// Whether a name begins with a word that says nothing but a state: `Before`,
/// `after this change`.
pub(crate) fn begins_with_state(name: &str) -> bool {
    is_bare(&first_word(name))
}

/// Whether a name with this word is of what a change is compared with.
pub(crate) fn is_base(word: &str) -> bool {
    has(word, SIDE, Some(Base))
}

/// Whether a name with this word is of what was changed.
pub(crate) fn is_change(word: &str) -> bool {
    has(word, SIDE, Some(Change))
}

/// Of all words, and of those that make a name one of a configuration: each word of most
/// lines is asked.
static LENGTHS: Lengths = lengths(BARE | SIDE | NAME);
static NAME_LENGTHS: Lengths = lengths(NAME);

const fn lengths(uses: u8) -> Lengths {
    let mut lengths = Lengths::NONE;
    let mut at = 0;
    while at < STATES.len() {
        if STATES[at].1 & uses != 0 {
            lengths = lengths.and(STATES[at].2);
        }
        at += 1;
    }
    lengths
}

/// Whether a word makes a name one of a configuration.
pub(crate) fn names(word: &str) -> bool {
    NAME_LENGTHS.allow(word) && has(word, NAME, None)
}

/// Whether a name has a word for a state: `after`, `unstable`, `this PR`, and not `fast path`.
pub(crate) fn in_name(name: &str) -> bool {
    let lower = name.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    let stated = |word: &String| is_bare(word) || is_base(word) || is_change(word);
    words.iter().any(stated)
}

/// Whether a heading says nothing but the state of what stands below it: `Before this
/// patch`, and neither `Before and after` nor `After a long boot of the old machine`.
pub(crate) fn is_state_of_all(heading: &str) -> bool {
    const STATES: [&str; 3] = ["before", "after", "without"];
    let lower = heading.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let stated = |word: &&&str| STATES.contains(*word);
    words.len() <= 6
        && words.first().is_some_and(|word| STATES.contains(word))
        && words.iter().filter(stated).count() == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_listed_once() {
        let words: Vec<&str> = STATES
            .iter()
            .flat_map(|(.., words)| *words)
            .copied()
            .collect();
        for (at, word) in words.iter().enumerate() {
            assert!(!words[..at].contains(word), "{word}");
        }
    }

    #[test]
    fn what_is_concluded_from_a_word_depends_on_where_it_stands() {
        assert!(is_bare("new") && !is_change("new") && names("new"));
        assert!(!is_bare("commit") && is_change("commit") && !names("commit"));
        assert!(is_bare("base") && is_base("base") && names("base"));
        assert!(!is_bare("page") && !is_base("page") && !is_change("page") && !names("page"));
    }

    #[test]
    fn a_heading_that_begins_with_a_state_is_one_of_all_below_it() {
        for heading in ["Before", "Before this patchset", "without the patch:"] {
            assert!(is_state_of_all(heading), "{heading}");
        }
        for heading in [
            "",
            "Before and after",
            "Results before",
            "After a long boot of the old machine",
        ] {
            assert!(!is_state_of_all(heading), "{heading}");
        }
    }

    #[test]
    fn no_pair_of_opposites_is_turned_about() {
        for (low, high) in OPPOSITES {
            assert!(!is_change(low) && !is_base(high), "{low} {high}");
        }
    }
}
