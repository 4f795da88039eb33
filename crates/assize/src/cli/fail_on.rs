//! The conditions that `--fail-on` accepts.

use std::fmt;

use assize_verdict::{LINTS, similar};

const LINT: &str = "lint";
const UNDECIDED: &str = "undecided";

/// Codes of lints, for messages.
const EXAMPLES: [&str; 2] = ["failed-run", "n-too-small"];
/// The forms of gates, for messages.
const GATES: [&str; 2] = ["worse>2%", "unproven>2%"];

/// The condition that every primary metric with a direction must meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gate {
    /// Fails if an interval lies wholly beyond the margin on the worse side.
    Worse,
    /// Fails unless the interval lies wholly on the good side of the margin.
    Unproven,
}

impl Gate {
    const ALL: [Gate; 2] = [Gate::Worse, Gate::Unproven];

    /// The word before the `>`.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Gate::Worse => "worse",
            Gate::Unproven => "unproven",
        }
    }
}

/// A percentage from 0 to below 100, as the user wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Percent(String);

impl Percent {
    fn parse(text: &str) -> Option<Percent> {
        let number = text.strip_suffix('%')?.trim();
        let plain = number.starts_with(|c: char| c.is_ascii_digit())
            && number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let value: f64 = number.parse().ok().filter(|_| plain)?;
        (value < 100.0).then(|| Percent(number.to_owned()))
    }

    /// The percentage as a fraction of 1.
    pub(crate) fn share(&self) -> f64 {
        self.0.parse().unwrap_or(0.0) / 100.0
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0)
    }
}

/// A condition that makes the command exit with status 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FailOn {
    /// Any lint.
    Lint,
    /// An undecided claim.
    Undecided,
    /// Lints with this code.
    Code(&'static str),
    /// A primary metric that is worse by more than this, or may be.
    Gate(Gate, Percent),
}

impl FailOn {
    /// Parses a word; the error for an unknown one says what is accepted.
    pub(crate) fn parse(word: &str) -> Result<Self, String> {
        match word {
            LINT => return Ok(FailOn::Lint),
            UNDECIDED => return Ok(FailOn::Undecided),
            _ => {}
        }
        if let Some(code) = codes().find(|code| *code == word) {
            return Ok(FailOn::Code(code));
        }
        if let Some(gate) = gate(word) {
            return gate;
        }
        let words = [LINT, UNDECIDED].into_iter().chain(GATES);
        let known: Vec<&str> = words.clone().chain(codes()).collect();
        let meant = similar(word, &known)
            .map(|near| format!("; did you mean '{near}'?"))
            .unwrap_or_default();
        let words: Vec<&str> = words.collect();
        Err(format!(
            "no such condition{meant}; valid: {}, and the codes of lints in docs/lints.md, such as \
             {}",
            words.join(", "),
            EXAMPLES.join(" and ")
        ))
    }

    /// The word on the command line.
    pub(crate) fn word(&self) -> String {
        match self {
            FailOn::Lint => LINT.into(),
            FailOn::Undecided => UNDECIDED.into(),
            FailOn::Code(code) => (*code).into(),
            FailOn::Gate(gate, percent) => format!("{}>{percent}", gate.word()),
        }
    }
}

/// Parses a gate, if the word starts like one.
fn gate(word: &str) -> Option<Result<FailOn, String>> {
    let begins = |gate: &Gate| word.trim_end().strip_prefix(gate.word());
    let (gate, rest) = Gate::ALL
        .into_iter()
        .find_map(|gate| begins(&gate).map(|rest| (gate, rest.trim_start())))?;
    let percent = rest.strip_prefix('>').map(str::trim);
    Some(match percent.and_then(Percent::parse) {
        Some(percent) => Ok(FailOn::Gate(gate, percent)),
        None => Err(format!(
            "needs a percentage from 0 to below 100: write '{}>2%'",
            gate.word()
        )),
    })
}

fn codes() -> impl Iterator<Item = &'static str> {
    LINTS.iter().map(|(code, _)| *code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_known_and_comes_back() {
        for word in [
            "lint",
            "undecided",
            "missing-cell",
            "unreached-code",
            "worse>2%",
            "unproven>0.5%",
            "worse>0%",
        ] {
            assert_eq!(FailOn::parse(word).map(|on| on.word()), Ok(word.into()));
        }
        assert!(codes().all(|code| FailOn::parse(code) == Ok(FailOn::Code(code))));
    }

    #[test]
    fn a_gate_wants_a_percentage() {
        let on = FailOn::parse("worse > 2.5 %");
        assert_eq!(on, FailOn::parse("worse>2.5%"));
        let Ok(FailOn::Gate(Gate::Worse, percent)) = on else {
            panic!("{on:?}");
        };
        assert_eq!(percent.share(), 0.025);
        for word in [
            "worse",
            "worse>",
            "worse>2",
            "worse<2%",
            "worse>-1%",
            "worse>100%",
            "worse>1e1%",
            "worse>x%",
            "worse>%",
            "worse>1.2.3%",
            "worse>2,5%",
            "worse>NaN%",
        ] {
            let error = FailOn::parse(word).unwrap_err();
            assert!(
                error.ends_with("below 100: write 'worse>2%'"),
                "{word}: {error}"
            );
        }
        let error = FailOn::parse("unproven").unwrap_err();
        assert!(error.ends_with("write 'unproven>2%'"), "{error}");
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
                error(word).contains("lint, undecided, worse>2%, unproven>2%, and the codes"),
                "{word}"
            );
        }
        assert!(
            EXAMPLES
                .iter()
                .all(|code| codes().any(|known| known == *code))
        );
    }
}
