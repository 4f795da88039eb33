//! Tries records: from runs to comparisons, lints, claims and sentences.
//!
//! The [`Document`] is what every judging verb of the command prints or
//! writes, as JSON (`"schema": "assize.verdict/1"`) word for word.

mod document;

pub use assize_bundle::{Configuration, Measurement, Place, Run, Spread, Statement, Summary};
pub use document::{
    Claim, Comparison, Document, Effect, Factorial, Lint, Outcome, Rate, RateComparison, SCHEMA,
    Scale, Sentence, Verdict,
};
