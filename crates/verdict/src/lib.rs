//! Judges records: turns runs into comparisons, lints, claims and sentences.
//!
//! The [`Document`] is what every judging verb of the command prints or writes, as JSON with
//! `"schema": "assize.verdict/1"`.
//!
//! ```
//! use assize_bundle::{Measurement, Records, Run};
//! use assize_verdict::{Options, Verdict, try_records};
//!
//! let mut records = Records::default();
//! // Old and new alternate. If all old runs came first, a drift of the machine could
//! // pass for a difference, and nothing would be established.
//! for (repetition, old, new) in [(1, 10.2, 9.1), (2, 10.0, 9.0), (3, 10.1, 9.2), (4, 9.9, 9.1)] {
//!     for (configuration, time) in [("old", old), ("new", new)] {
//!         let mut run = Run::new(configuration, "build", repetition);
//!         run.order = records.runs.len() as u32;
//!         run.metrics.insert("time".into(), Measurement::new(time, "s"));
//!         records.runs.push(run);
//!     }
//! }
//! let document = try_records(&records, &Options::default())?;
//! assert_eq!(document.comparisons[0].verdict, Verdict::Established);
//! # Ok::<(), assize_verdict::Error>(())
//! ```
//!
//! It does not read or write files, does not know the source of the records, and shows nothing.
//! Statistics are in `assize-judge`; this crate decides what is compared with what, and which tests
//! are corrected together.

mod across;
mod across_rows;
mod arrivals;
mod baselines;
mod caps;
mod causes;
mod cells;
mod claims;
mod compare;
mod comparisons;
mod document;
mod enough;
mod error;
mod factorial;
mod failed;
mod family;
mod hidden;
mod identities;
mod image_clusters;
mod images;
mod interval;
mod lints;
mod lost;
mod means;
mod names;
mod noise;
mod options;
mod outcomes;
mod pairs;
mod rates;
mod rest;
mod row;
mod sentences;
mod slow;
mod steps;
mod summaries;
mod tables;
mod tradeoffs;
mod trial;
mod units;
mod words;

pub use assize_bundle::{
    Across, Configuration, Measurement, Place, Run, Spread, Statement, Summary,
};
pub use claims::{ClaimNames, NamedClaim};
pub use document::{
    Agreement, Better, Claim, ClaimOrigin, Comparison, DifferingPart, Document, Domination, Effect,
    Factorial, Family, IdentityDifference, Lint, MachineComparison, NoiseFloor, Outcome,
    OutcomeComparison, OutcomePairs, OutcomeRun, OutcomeSignature, OutcomeTest, Pooled, Rate,
    RateComparison, RateTest, Relation, RunEnd, SCHEMA, SameConfiguration, Scale, Sentence,
    Standing, TTest, Table, TableCell, TableRow, Tail, Tradeoff, TradeoffAxis, TradeoffPoint,
    TradeoffValue, Unassigned, Verdict,
};
pub use error::Error;
pub use failed::{FailedCell, failed_cells};
pub use family::{OUTCOME_SHARE, PRIMARY_SHARE};
pub use lints::LINTS;
pub use names::{NameError, NameKind, similar};
pub use options::{Against, Options};
pub use trial::{check, primary_directions, try_records};
pub use units::convert;
pub use words::{count_of, significant, without_zeros};
