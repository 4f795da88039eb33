//! What `--fail-on` may name.

use assize_verdict::{LINTS, similar};

const LINT: &str = "lint";
const UNDECIDED: &str = "undecided";

/// What ends the command with status 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailOn {
    /// Any lint.
    Lint,
    /// A claim that is undecided.
    Undecided,
    /// Lints of this code.
    Code(&'static str),
}

impl FailOn {
    /// A word that is known; of another the error names those that are.
    pub(crate) fn parse(word: &str) -> Result<Self, String> {
        match word {
            LINT => return Ok(FailOn::Lint),
            UNDECIDED => return Ok(FailOn::Undecided),
            _ => {}
        }
        if let Some(code) = codes().find(|code| *code == word) {
            return Ok(FailOn::Code(code));
        }
        let known: Vec<&str> = [LINT, UNDECIDED].into_iter().chain(codes()).collect();
        let meant = similar(word, &known)
            .map(|near| format!("; did you mean '{near}'?"))
            .unwrap_or_default();
        Err(format!(
            "nothing is called so{meant} (there are: {})",
            known.join(", ")
        ))
    }

    /// The word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            FailOn::Lint => LINT,
            FailOn::Undecided => UNDECIDED,
            FailOn::Code(code) => code,
        }
    }
}

fn codes() -> impl Iterator<Item = &'static str> {
    LINTS.iter().map(|(code, _)| *code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_known_and_comes_back() {
        for word in ["lint", "undecided", "missing-cell", "unreached-code"] {
            assert_eq!(FailOn::parse(word).map(FailOn::word), Ok(word));
        }
        assert!(codes().all(|code| FailOn::parse(code) == Ok(FailOn::Code(code))));
    }

    #[test]
    fn another_word_is_refused_with_those_that_are_known() {
        let error = |word| FailOn::parse(word).unwrap_err();
        assert!(error("lnt").contains("did you mean 'lint'?"));
        assert!(error("missing-cel").contains("did you mean 'missing-cell'?"));
        assert!(error("Lint").contains("did you mean 'lint'?"));
        assert!(!error("regression>2%").contains("did you mean"));
        for word in ["", "regression>2%", "lint ", "lint,undecided"] {
            assert!(
                error(word).contains("lint, undecided, aliased-counters, "),
                "{word}"
            );
        }
    }
}
