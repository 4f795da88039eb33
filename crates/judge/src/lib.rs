//! The statistics of assize: pure functions on plain numbers.
//!
//! Every function takes slices of numbers and gives back numbers. There is no
//! input or output, no clock and no global state; where chance is needed, the
//! seed is an argument, and the same seed gives the same bits everywhere.
//!
//! The unit of replication is the run. One value per run goes into [`welch`],
//! [`permutation`], [`factorial`] and [`equivalence`]; the samples inside a run
//! go into [`quantile`], [`jitter`] and [`bootstrap`], which reduce them to one
//! value per run first.
//!
//! ```
//! use assize_judge::{VerdictInput, Verdict, decide, permutation, welch};
//!
//! let baseline = [10.2, 10.0, 10.1, 9.9];
//! let changed = [9.1, 9.0, 9.2, 9.1];
//! let estimate = welch::ratio(&baseline, &changed)?;
//! let logs = |v: &[f64]| v.iter().map(|x| x.ln()).collect::<Vec<_>>();
//! let exact = permutation::two_sample(&logs(&baseline), &logs(&changed), 0)?;
//! let verdict = decide(VerdictInput {
//!     p_adjusted: Some(exact.p),
//!     p_t_adjusted: Some(estimate.p_t),
//!     p_attainable: Some(exact.p_attainable),
//!     ci90: Some(estimate.ci90),
//!     margin: 0.01,
//!     alpha: 0.05,
//! });
//! assert_eq!(verdict, Verdict::Established);
//! # Ok::<(), assize_judge::Error>(())
//! ```
//!
//! What it will not do: read files, know what a metric means, choose which tests
//! to correct for, or give a figure for data that cannot carry one. Such data
//! are an [`Error`].
//!
//! Every figure is compared with scipy and statsmodels to 1e-6 relative by
//! `tests/oracle.rs`; `docs/validity.md` reports how the verdicts hold their
//! error rates in simulation.

pub mod adjust;
pub mod bootstrap;
mod dist;
pub mod equivalence;
mod error;
pub mod factorial;
pub mod jitter;
pub mod lints;
mod moments;
pub mod paired;
pub mod permutation;
pub mod poisson;
pub mod pooled;
pub mod power;
mod qr;
pub mod quantile;
mod random;
pub mod step;
pub mod variance_components;
pub mod verdict;
pub mod weighted;
pub mod welch;

pub use adjust::{benjamini_hochberg, holm};
pub use bootstrap::{Bca, Bootstrap, bca_interval, quantile_ratio};
pub use equivalence::{Equivalence, tost};
pub use error::{Error, Result};
pub use factorial::{Effect, Factorial};
pub use jitter::Jitter;
pub use lints::Drift;
pub use permutation::Permutation;
pub use poisson::{Gaps, RateComparison, garwood};
pub use quantile::{PerRun, QuantileInterval};
pub use verdict::{Verdict, VerdictInput, decide};
pub use welch::{Estimate, Interval, Moments};
