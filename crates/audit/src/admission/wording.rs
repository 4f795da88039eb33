//! What the text around figures says of them.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::Line;
use crate::options::SpreadKind;
use crate::trigger::Trigger;

/// So much of a message's prose is looked at.
const MOST: usize = 64 << 10;

/// What the prose of one message says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wording {
    /// How many runs it says were made, if it names one number.
    pub(crate) runs: Option<u32>,
    /// What it says that a `±` is.
    pub(crate) spread: Option<SpreadKind>,
    /// The prose, in small letters.
    text: String,
    /// The subject, in small letters.
    subject: String,
}

struct Patterns {
    /// What there is wherever there is a number of runs, and seldom else.
    may_name_runs: Trigger,
    runs: Regex,
    /// What compares two names that stand beside it.
    between: Regex,
    sd: Regex,
    se: Regex,
    ci: Regex,
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| Patterns::new().ok());

const COUNT: &str = r"(\d{1,4}|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty)";

impl Patterns {
    fn new() -> Result<Self, Box<dyn std::error::Error>> {
        Ok(Patterns {
            may_name_runs: Trigger::new(MAY_NAME_RUNS)?,
            runs: Regex::new(&format!(
                r"(?:averages?|averaged|mean|means|median|avg)\.?\s+(?:value\s+)?(?:of|over|from|across|for)\s+(?:the\s+|a\s+|at least\s+)?{COUNT}\b|\b{COUNT}\s+(?:runs|iterations|repetitions|rounds|trials|repeats|measurements)\b|(?:ran|run|runs|repeated|executed|tested|measured)(?:\s+\S+){{0,4}}?\s+{COUNT}\s+times\b"
            ))?,
            between: Regex::new(
                r"\bvs\b|\bversus\b|compar|\bthan\b|outperform|\binstead of\b|\d ?(?:ns|us|µs|ms|s|x|%|ns/op)\b.*\d ?(?:ns|us|µs|ms|s|x|%|ns/op)\b",
            )?,
            sd: Regex::new(r"std\.?\s?dev|stddev|stdev|standard deviation|σ")?,
            se: Regex::new(r"std\.?\s?err|stderr|standard error|\bsem\b")?,
            ci: Regex::new(r"95\s?%\s*(?:ci\b|confidence)|confidence interval")?,
        })
    }
}

/// As [`Patterns::runs`], but blanks and digits may be any that are none of ASCII.
const MAY_NAME_RUNS: &str = r"(?x)
    (?:average|averages|averaged|mean|means|median|avg)[^a-z0-9]+(?:value[^a-z0-9]+)?
        (?:of|over|from|across|for)[^a-z0-9]
    | (?:[0-9\x80-\xff]|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty)[^a-z0-9]+
        (?:runs|iterations|repetitions|rounds|trials|repeats|measurements|times)";

fn count(word: &str) -> Option<u32> {
    const WORDS: &[(&str, u32)] = &[
        ("two", 2),
        ("three", 3),
        ("four", 4),
        ("five", 5),
        ("six", 6),
        ("seven", 7),
        ("eight", 8),
        ("nine", 9),
        ("ten", 10),
        ("twelve", 12),
        ("fifteen", 15),
        ("twenty", 20),
    ];
    let known = WORDS.iter().find(|(name, _)| *name == word);
    known.map(|(_, n)| *n).or_else(|| word.parse().ok())
}

impl Wording {
    /// Of the lines that no block has taken.
    pub(crate) fn of(lines: &[Line<'_>], free: &dyn Fn(usize) -> bool) -> Self {
        let mut text = String::new();
        for (at, line) in lines.iter().enumerate() {
            if text.len() > MOST {
                break;
            }
            if free(at) && !line.text.trim().is_empty() {
                text.push('\n');
                text.push_str(&line.text.trim().to_lowercase());
            }
        }
        let Some(patterns) = PATTERNS.as_ref() else {
            return Wording::default();
        };
        let spread = match (
            patterns.sd.is_match(&text),
            patterns.se.is_match(&text),
            patterns.ci.is_match(&text),
        ) {
            (true, false, false) => Some(SpreadKind::Sd),
            (false, true, false) => Some(SpreadKind::Se),
            (false, false, true) => Some(SpreadKind::Ci95),
            _ => None,
        };
        Wording {
            runs: runs(patterns, &text),
            spread,
            text,
            ..Wording::default()
        }
    }

    /// Adds what the subject says.
    pub(crate) fn note_subject(&mut self, subject: &str) {
        self.subject = subject.to_lowercase();
    }

    /// The sentences of subject and prose; an item of a list is one.
    fn sentences(&self) -> impl Iterator<Item = &str> {
        let text = self.text.as_str();
        let ends = (0..text.len()).filter(|at| ends_sentence(text, *at));
        let mut from = 0;
        let prose = ends.chain([text.len()]).map(move |end| {
            let sentence = &text[from..end];
            from = end;
            sentence
        });
        std::iter::once(self.subject.as_str()).chain(prose)
    }

    /// Whether subject or prose name a part of a benchmark's name.
    pub(crate) fn names_part(&self, before: &str, part: &str) -> bool {
        self.sentences()
            .any(|sentence| mentions_part(sentence, before, part))
    }

    /// Whether one sentence compares at least two of the parts in which names of benchmarks
    /// differ, or each of them is said to be an implementation.
    pub(crate) fn compares_parts(&self, before: &str, parts: &[&str]) -> bool {
        let Some(patterns) = PATTERNS.as_ref() else {
            return false;
        };
        let mut said: BTreeSet<&str> = BTreeSet::new();
        for sentence in self.sentences() {
            let mentioned = parts
                .iter()
                .filter(|part| mentions_part(sentence, before, part));
            let mentioned: Vec<&str> = mentioned.copied().collect();
            // `std` is no name of its own in `std+fast`.
            let longer = |part: &&str| {
                let mut others = mentioned.iter();
                others.any(|other| other != part && other.starts_with(part))
            };
            let named: Vec<&str> = mentioned
                .iter()
                .filter(|part| !longer(part))
                .copied()
                .collect();
            if named.len() >= 2 && patterns.between.is_match(sentence) {
                return true;
            }
            if named.len() == 1 && sentence.contains("implementation") {
                said.extend(named);
            }
        }
        said.len() == parts.len()
    }
}

/// Whether a sentence ends right before a mark of a text, or an item of a list begins behind
/// it; `glob vs. regex` goes on.
fn ends_sentence(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let blank = |b: Option<&u8>| matches!(b, Some(b' ' | b'\n'));
    match bytes[at] {
        b'.' => blank(bytes.get(at + 1)) && !text[..at].ends_with(" vs"),
        b'?' | b'!' => blank(bytes.get(at + 1)),
        b':' => bytes.get(at + 1) == Some(&b'\n'),
        b'\n' => {
            let line = &text[at + 1..];
            let number = line.bytes().take(4).take_while(u8::is_ascii_digit).count();
            let numbered = number > 0 && line[number..].starts_with([')', '.']);
            numbered || line.starts_with("- ") || line.starts_with("* ")
        }
        _ => false,
    }
}

/// Whether a sentence has a part of a benchmark's name, alone or behind what stands before
/// it there; its words may be parted otherwise: `hash trie` is `HashTrie`.
fn mentions_part(sentence: &str, before: &str, part: &str) -> bool {
    let squeezed = |text: &str| -> String {
        let kept = text.chars().filter(|c| !matches!(c, ' ' | '-' | '_'));
        kept.flat_map(char::to_lowercase).collect()
    };
    let (part, before) = (squeezed(part), squeezed(before));
    let whole = format!("{before}{part}");
    let begins = |rest: &str, name: &str| {
        let mut name = name.chars();
        let mut rest = rest.chars();
        let mut wanted = name.next();
        for c in rest.by_ref() {
            match wanted {
                None => return !c.is_alphanumeric(),
                Some(own) if own == c => wanted = name.next(),
                Some(_) if matches!(c, ' ' | '-' | '_' | '\n') => {}
                Some(_) => return false,
            }
        }
        wanted.is_none()
    };
    let starts = sentence.char_indices().filter(|(at, c)| {
        let joined = sentence[..*at]
            .chars()
            .next_back()
            .is_some_and(char::is_alphanumeric);
        c.is_alphanumeric() && !joined
    });
    part.chars().count() >= 3
        && starts.into_iter().any(|(at, _)| {
            begins(&sentence[at..], &part) || !before.is_empty() && begins(&sentence[at..], &whole)
        })
}

/// The number of runs, if the text names one and no other.
fn runs(patterns: &Patterns, text: &str) -> Option<u32> {
    if !patterns.may_name_runs.is_match(text) {
        return None;
    }
    let mut found = None;
    for captures in patterns.runs.captures_iter(text) {
        let word = captures.iter().skip(1).flatten().next()?.as_str();
        let n = count(word).filter(|n| (2..=1000).contains(n))?;
        if found.is_some_and(|other| other != n) {
            return None;
        }
        found = Some(n);
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(text: &str) -> Wording {
        let lines: Vec<Line<'_>> = text
            .lines()
            .enumerate()
            .map(|(at, line)| Line::plain(at as u32 + 1, line))
            .collect();
        Wording::of(&lines, &|_| true)
    }

    #[test]
    fn the_number_of_runs_is_read_where_one_is_named() {
        for text in [
            "Each value is the average of 5 runs.",
            "mean over five iterations",
            "I ran it 5 times.",
            "Results of 5 runs:",
        ] {
            assert_eq!(of(text).runs, Some(5), "{text}");
        }
        for text in [
            "5 runs, then 10 runs",
            "it runs on 5 machines",
            "in 5 files",
        ] {
            assert_eq!(of(text).runs, None, "{text}");
        }
    }

    #[test]
    fn what_a_spread_is_may_be_said() {
        assert_eq!(of("mean (stddev)").spread, Some(SpreadKind::Sd));
        assert_eq!(
            of("standard error in brackets").spread,
            Some(SpreadKind::Se)
        );
        assert_eq!(of("95% CI").spread, Some(SpreadKind::Ci95));
        assert_eq!(of("a +- b").spread, None);
    }

    proptest! {
        #[test]
        fn where_runs_are_named_they_are_looked_for(
            words in prop::collection::vec(
                prop::sample::select(vec![
                    "average", "averages.", "averaged", "mean", "median", "avg", "value", "of", "over", "for",
                    "the", "at least", "5", "five", "\u{663}", "12", "runs", "iterations", "times", "ran",
                    "measured", "it", "-", "\u{a0}", "\u{2003}", ".",
                ]),
                0..9,
            ),
            blank in prop::sample::select(vec![" ", "\n", "\u{a0}", ""]),
        ) {
            let text = words.join(blank);
            let patterns = PATTERNS.as_ref().unwrap();
            let named = patterns.runs.is_match(&text);
            prop_assert!(!named || patterns.may_name_runs.is_match(&text), "{text:?}");
        }
    }
}
