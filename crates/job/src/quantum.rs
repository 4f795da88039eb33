//! The quantum: how far one CPU of an exact machine may run ahead of another.

use crate::Machine;

/// The kernel parameter for the quantum.
const WORD: &str = "assize.quantum_ns=";
/// An obsolete parameter, for machines whose CPUs shared one clock.
const TURNS: &str = "assize.turns_us=";

/// Why a kernel parameter is invalid for an exact machine, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongQuantum {
    /// The defect.
    pub why: String,
    /// The correction.
    pub mend: String,
}

impl Machine {
    /// Default quantum in nanoseconds.
    pub const QUANTUM_NS: u32 = 100;
    /// Maximum quantum in nanoseconds.
    pub const QUANTUM_NS_MAX: u32 = 1_000_000;

    /// The quantum in a word of the command line, if it sets one.
    ///
    /// # Errors
    /// Its value is not a number of nanoseconds from 1 to [`Machine::QUANTUM_NS_MAX`], or
    /// it is the obsolete word.
    pub fn quantum_of(word: &str) -> Result<Option<u32>, WrongQuantum> {
        let most = Machine::QUANTUM_NS_MAX;
        if word.starts_with(TURNS) {
            return Err(WrongQuantum {
                why: format!("'{word}': there are no turns, because each CPU has its own clock"),
                mend: format!(
                    "remove it, or write {WORD}NS for how far one CPU may be ahead of another"
                ),
            });
        }
        let Some(text) = word.strip_prefix(WORD) else {
            return Ok(None);
        };
        match text.parse() {
            Ok(ns) if (1..=most).contains(&ns) => Ok(Some(ns)),
            _ => Err(WrongQuantum {
                why: format!("'{text}' is no whole number of nanoseconds from 1 to {most}"),
                mend: format!("write {WORD}{}, the default", Machine::QUANTUM_NS),
            }),
        }
    }

    /// The quantum in the whole command line; the last word counts.
    ///
    /// # Errors
    /// As [`Machine::quantum_of`], for the first invalid word.
    pub fn quantum_ns(&self) -> Result<u32, WrongQuantum> {
        let mut quantum = Machine::QUANTUM_NS;
        for word in &self.command_line {
            quantum = Machine::quantum_of(word)?.unwrap_or(quantum);
        }
        Ok(quantum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantum(words: &[&str]) -> Result<u32, WrongQuantum> {
        Machine {
            command_line: words.iter().map(ToString::to_string).collect(),
            ..Machine::default()
        }
        .quantum_ns()
    }

    #[test]
    fn the_last_word_says_how_far_a_cpu_may_be_ahead() {
        assert_eq!(quantum(&[]), Ok(Machine::QUANTUM_NS));
        assert_eq!(quantum(&["quiet", "assize.quantum_ns=2000"]), Ok(2000));
        assert_eq!(
            quantum(&["assize.quantum_ns=50", "assize.quantum_ns=7"]),
            Ok(7)
        );
    }

    #[test]
    fn what_is_no_quantum_is_refused_with_the_mend() {
        for text in ["0", "fast", "-1", "", "1000001", "99999999999"] {
            let error = quantum(&[&format!("assize.quantum_ns={text}")]).unwrap_err();
            assert!(error.why.contains("from 1 to 1000000"), "{error:?}");
            assert!(error.mend.contains("assize.quantum_ns=100"));
        }
        let error = quantum(&["assize.turns_us=2000"]).unwrap_err();
        assert!(error.why.contains("assize.turns_us=2000"), "{error:?}");
        assert!(error.mend.contains("assize.quantum_ns="));
    }
}
