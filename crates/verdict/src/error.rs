//! Errors in a request.

use std::fmt;

use crate::names::{NameError, NameKind};

/// Why records could not be judged as requested. Doubts about the data are not
/// errors; they are lints in the document.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The baseline's name matches no configuration, or several.
    #[error("baseline: {0}")]
    Baseline(NameError),
    /// A metric's name in an option matches no metric, or several.
    #[error("{option}: {name}")]
    Metric {
        /// The option: `primary` or `higher-is-better`.
        option: &'static str,
        /// What is wrong with the name.
        name: NameError,
    },
    /// A claim has a syntax error.
    #[error("claim {text:?}: character {position}: {fault}")]
    Claim {
        /// The claim as given.
        text: String,
        /// The position of the error in characters, from 1.
        position: usize,
        /// What is wrong, and the syntax expected.
        fault: String,
    },
    /// A name in a claim matches nothing, or several things.
    #[error("claim {text:?}: character {position}: {name}")]
    ClaimName {
        /// The claim as given.
        text: String,
        /// The position of the name in characters, from 1.
        position: usize,
        /// What is wrong with the name.
        name: NameError,
    },
    /// A claim can be read in several ways.
    #[error(
        "claim {text:?}: can be read in {} ways: {}; put names in quotes",
        readings.len(),
        readings.join("; ")
    )]
    ClaimAmbiguous {
        /// The claim as given.
        text: String,
        /// The possible readings, with their names in quotes.
        readings: Vec<String>,
    },
    /// A trade-off has a syntax error, or a name in it matches nothing.
    #[error("tradeoff {text:?}: {fault}")]
    Tradeoff {
        /// The trade-off as given.
        text: String,
        /// What is wrong, and how to fix it.
        fault: String,
    },
    /// An option has an invalid value.
    #[error("{option}: {value}: must be {expected}")]
    Option {
        /// The option.
        option: &'static str,
        /// Its value.
        value: String,
        /// What it must be.
        expected: &'static str,
    },
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            NameKind::Configuration => "configuration",
            NameKind::Workload => "workload",
            NameKind::Metric => "metric",
        };
        if self.ambiguous {
            return write!(
                f,
                "{:?} fits more than one {kind}: {}",
                self.given,
                self.candidates.join(", ")
            );
        }
        if self.candidates.is_empty() {
            return write!(f, "no {kind} {:?}: none was recorded", self.given);
        }
        write!(f, "no {kind} {:?}", self.given)?;
        if let Some(nearest) = &self.nearest {
            write!(f, "; did you mean {nearest:?}?")?;
        }
        write!(f, " (there are: {})", self.candidates.join(", "))
    }
}

impl std::error::Error for NameError {}
