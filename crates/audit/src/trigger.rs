//! Whether a line holds one of many words, as fast as its bytes can be read.

use regex_automata::dfa::Automaton;
use regex_automata::dfa::dense::{BuildError, Builder, Config, DFA};
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, dfa::StartKind};

/// A pattern of ASCII that is only asked whether it matches somewhere: an automaton that
/// was made as a whole, which takes one step for each byte whatever the pattern is.
pub(crate) struct Trigger(DFA<Vec<u32>>);

impl Trigger {
    /// Of a pattern whose classes and borders of words are those of ASCII.
    pub(crate) fn new(pattern: &str) -> Result<Trigger, Box<BuildError>> {
        let syntax = syntax::Config::new().unicode(false).utf8(false);
        let config = Config::new().start_kind(StartKind::Unanchored);
        let automaton = Builder::new()
            .syntax(syntax)
            .configure(config)
            .build(pattern);
        Ok(Trigger(automaton?))
    }

    /// Whether the pattern matches anywhere in a text.
    pub(crate) fn is_match(&self, text: impl AsRef<[u8]>) -> bool {
        let input = Input::new(&text).anchored(Anchored::No).earliest(true);
        // No byte makes this automaton give up.
        self.0.try_search_fwd(&input).is_ok_and(|end| end.is_some())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::Regex;

    use super::*;

    const PATTERN: &str = r"(?i)\b(?:from|with)\b|\boriginal|[0-9] ?x |by$|://";

    #[test]
    fn words_are_found_at_borders_of_ascii() {
        let trigger = Trigger::new(PATTERN).unwrap();
        for text in [
            "from",
            "(FROM)",
            "éwithé",
            "originally",
            "by 3 x by",
            "12x ",
            "a by",
        ] {
            assert!(trigger.is_match(text), "{text}");
        }
        for text in ["", "fromx", "_with", "aboriginal", "x ", "by ", ":/ /"] {
            assert!(!trigger.is_match(text), "{text}");
        }
    }

    #[test]
    fn a_pattern_that_is_none_is_an_error() {
        assert!(Trigger::new("(").is_err());
    }

    proptest! {
        #[test]
        fn what_is_found_is_what_regex_finds(
            parts in prop::collection::vec(
                prop_oneof![
                    prop::sample::select(vec!["from", "With", "original", "1", "x", " ", "by", ":/", "/", "é"])
                        .prop_map(str::to_owned),
                    "\\PC{0,2}",
                ],
                0..8,
            ),
        ) {
            let text = parts.concat();
            let pattern = PATTERN.replace(r"\b", r"(?-u:\b)");
            let expected = Regex::new(&pattern).unwrap().is_match(&text);
            prop_assert_eq!(Trigger::new(PATTERN).unwrap().is_match(&text), expected);
        }
    }
}
