//! What the text around figures says of them.

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
}

struct Patterns {
    /// What there is wherever there is a number of runs, and seldom else.
    may_name_runs: Trigger,
    runs: Regex,
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
        }
    }
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
