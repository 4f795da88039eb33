//! Lines that may stand above lists, and what they say.

use std::borrow::Cow;
use std::ops::Range;

use crate::Line;
use crate::admission::contrast::Name;
use crate::admission::families::is_of_family;
use crate::headings::is_generic;
use crate::line::Known;
use crate::roles::configuration_name;
use crate::roles::words::{REPETITION_KEYS, key_is, names_configuration};

/// A heading of more words is a sentence, which may introduce anything.
const WORDS: usize = 7;
/// Nor has the name in it.
const NAME: usize = 4;
/// A name without a colon is no longer, also as an item of a list.
const ITEM: usize = 48;

/// Whether a heading says more than what was measured; what it says in parentheses apart.
pub(super) fn is_sentence(name: &str) -> bool {
    let mut open = 0;
    let outside = name.split_whitespace().filter(|word| {
        let within = open > 0 || word.starts_with('(');
        open += word.matches('(').count();
        open = open.saturating_sub(word.matches(')').count());
        !within
    });
    outside.count() > WORDS
}

/// What a line that may stand above figures says.
#[derive(Clone)]
pub(crate) struct Heading {
    /// Where in the line its name stands.
    range: Range<usize>,
    /// Whether it may be the first.
    first: bool,
    name: Known<Name>,
}

/// A line that may stand above figures by its name.
#[derive(Clone, Copy)]
pub(super) struct Named<'t> {
    pub(super) name: &'t str,
    /// What is kept of it, if it is a [`heading`].
    heading: Option<&'t Heading>,
}

impl<'t> Named<'t> {
    /// One that is a [`heading`].
    pub(super) fn of(line: &'t Line<'_>) -> Option<Self> {
        let text: &str = &line.text;
        let heading = line.heading.get(|| {
            let name = heading(text)?;
            let start = name.as_ptr().addr() - text.as_ptr().addr();
            Some(Heading {
                range: start..start + name.len(),
                first: first_name(name),
                name: Known::default(),
            })
        })?;
        let name = &text[heading.range.clone()];
        let heading = Some(heading);
        Some(Named { name, heading })
    }

    /// One that is only an item of a list.
    pub(super) fn item(text: &'t str) -> Self {
        let (name, heading) = (bare(text), None);
        Named { name, heading }
    }

    /// Whether it is one that a first heading may have.
    pub(super) fn is_first(self) -> bool {
        let known = self.heading.map(|heading| heading.first);
        known.unwrap_or_else(|| first_name(self.name))
    }

    /// The name, if nothing of itself rules out that it is a configuration's.
    pub(super) fn configuration(self) -> Option<Cow<'t, Name>> {
        let find = || configuration_name(self.name);
        match self.heading {
            Some(heading) => heading.name.get(find).map(Cow::Borrowed),
            None => find().map(Cow::Owned),
        }
    }
}

/// A line that may stand above figures: a name alone, or a sentence that ends with a colon.
fn heading(text: &str) -> Option<&str> {
    match is_surely_none(text.trim()) {
        true => None,
        false => name_of(text),
    }
}

/// The name that a heading is, or ends with.
fn name_of(text: &str) -> Option<&str> {
    let marks = |c: char| matches!(c, '#' | '*' | '=' | '~' | '_' | '-' | ' ' | '•' | '`');
    let item = marked(text).is_some();
    let text = unnumbered(text.trim()).trim_matches(marks);
    let (name, colon) = match text.strip_suffix(':') {
        Some(text) => (last_sentence(text), true),
        None => (text, false),
    };
    let name = without_remark(name.trim()).trim_matches(marks);
    let name = opening(name).filter(|_| colon).unwrap_or(name);
    let (words, length) = match colon || is_switches(name) {
        true => (12, 90),
        false if item => (6, ITEM),
        false => (4, 32),
    };
    let fits = name.len() >= 2
        && name.len() <= length
        && name.split_whitespace().count() <= words
        && name.starts_with(|c: char| c.is_alphanumeric() || c == '(' || c == '[')
        && !name.contains(['|', '\t', ';', '{', '}', '"', '<', '>', '$'])
        && !name.contains("  ")
        && !name.contains(": ")
        && !name.ends_with([',', '.', '/'])
        && !is_generic(name);
    (fits && (colon || names_configuration(name) || denies(name))).then_some(name)
}

/// Whether a line is no heading, as its ends and its length tell of most: it ends as code
/// and sentences do, or is longer than a name alone may be and has no settings.
fn is_surely_none(text: &str) -> bool {
    let (Some(first), Some(last)) = (text.bytes().next(), text.bytes().next_back()) else {
        return true;
    };
    match last {
        b';' | b'{' | b'}' | b'"' | b'<' | b'>' | b'$' | b'|' | b',' | b'.' | b'/' => true,
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => {
            first.is_ascii_alphabetic() && text.len() > ITEM && !text.contains('=')
        }
        _ => false,
    }
}

/// What a sentence is about that goes on behind it: `5.10`, of `For 5.10, where all of it
/// is done at once`.
fn opening(sentence: &str) -> Option<&str> {
    let rest = ["For ", "On ", "With ", "Using "]
        .iter()
        .find_map(|word| sentence.strip_prefix(word))?;
    let (name, _) = rest.split_once(", ")?;
    let few = name.split_whitespace().count() <= NAME;
    (few && is_sentence(sentence) && names_configuration(name)).then_some(name)
}

/// What stands behind the last sentence that ends in a text.
fn last_sentence(text: &str) -> &str {
    let ends = text.rmatch_indices(['.', '!', '?']);
    let mut ends = ends.filter(|(at, _)| text[at + 1..].starts_with(' '));
    ends.next().map_or(text, |(at, _)| &text[at + 1..])
}

/// An item of a list without its number: `1. `, `(2) `.
fn unnumbered(text: &str) -> &str {
    let bare = text.strip_prefix('(').unwrap_or(text);
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    let rest = bare[digits..].strip_prefix(['.', ')']);
    match rest.and_then(|rest| rest.strip_prefix(' ')) {
        Some(rest) if (1..=2).contains(&digits) => rest,
        _ => text,
    }
}

/// A name without figures in parentheses behind it: `main (hit rate: 95.4%)`.
fn without_remark(name: &str) -> &str {
    let parted = name
        .strip_suffix(')')
        .and_then(|name| name.split_once(" ("));
    match parted {
        Some((name, remark)) if remark.contains(['%', ':']) => name,
        _ => name,
    }
}

/// Whether a name is nothing but settings: `step=minute --stream=false`.
fn is_switches(name: &str) -> bool {
    name.split_whitespace().all(|word| {
        let parted = word.trim_start_matches('-').split_once('=');
        parted.is_some_and(|(key, value)| {
            key.starts_with(|c: char| c.is_ascii_alphabetic()) && !value.is_empty()
        })
    })
}

/// Whether a name is one that a first heading may have.
pub(super) fn first_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    names_configuration(name)
        || is_of_family(name)
        || name == "HEAD"
        || lower.starts_with("current")
        || words.any(|word| word == "no")
}

/// Whether a name says that something is not there: `No compression`.
fn denies(name: &str) -> bool {
    name.get(..3)
        .is_some_and(|no| no.eq_ignore_ascii_case("no "))
}

/// What stands before a heading with figures below, and before those beside it: `- `, `## `.
pub(super) fn marked(text: &str) -> Option<&str> {
    let name = text.trim_start().trim_start_matches(['#', '*', '-', '•']);
    let mark = &text[..text.len() - name.len()];
    (!mark.trim().is_empty() && name.starts_with(' ')).then_some(mark)
}

/// A line without what marks it as a heading.
fn bare(text: &str) -> &str {
    text.trim_matches(|c| matches!(c, '#' | '*' | '-' | '•' | ':' | ' '))
}

/// Whether two names are of one form: `Testing 6.29 on 7.0`, `Testing 7.0 on fixed`.
pub(super) fn alike(a: &str, b: &str) -> bool {
    let words = |name: &str| name.split_whitespace().count();
    // Whatever parts words is one of these bytes.
    let parts = a.bytes().filter(|b| *b <= b' ' || !b.is_ascii());
    let first = |name: &str| name.split_whitespace().next().map(str::to_ascii_lowercase);
    parts.count() >= 2 && words(a) >= 3 && words(a) == words(b) && first(a) == first(b)
}

/// Whether two names differ in nothing but their last number, which counts no runs:
/// `Test 1`, `Test 2`.
pub(super) fn differ_in_number(a: &str, b: &str) -> bool {
    let parted = |name: &str| {
        let (words, number) = name.rsplit_once(' ')?;
        let counted = number.bytes().all(|b| b.is_ascii_digit());
        counted.then(|| words.to_ascii_lowercase())
    };
    let (a, b) = (parted(a), parted(b));
    a.is_some_and(|words| {
        let last = words.rsplit(' ').next().unwrap_or_default();
        !key_is(last, REPETITION_KEYS) && b == Some(words.clone())
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::grammar::testing::texts;

    #[test]
    fn names_alone_are_headings_and_sentences_are_none() {
        for name in ["before the whole series", "with the second patch"] {
            assert_eq!(heading(name), Some(name));
        }
        for text in [
            "before the whole series;",
            "before the whole series.",
            "with the second patch of the series, as it was posted",
        ] {
            assert_eq!(heading(text), None);
        }
    }

    #[test]
    fn what_is_surely_none_is_none() {
        let found = texts(&["tests", "../../demo"]);
        let found: Vec<_> = found
            .iter()
            .map(|text| String::from_utf8_lossy(text))
            .collect();
        let lines: BTreeSet<&str> = found.iter().flat_map(|text| text.lines()).collect();
        let soon = |line: &&&str| is_surely_none(line.trim());
        let passed_over = lines.iter().filter(soon);
        let wrong: Vec<&&str> = passed_over
            .clone()
            .filter(|l| name_of(l).is_some())
            .collect();
        assert!(wrong.is_empty(), "{wrong:?}");
        assert!(passed_over.count() * 4 > lines.len());
    }
}
