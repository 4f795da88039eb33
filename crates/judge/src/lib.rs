//! The statistics of assize: pure functions on plain numbers.
//!
//! Every function takes slices of numbers and returns numbers. There is no input or output, no
//! clock and no global state; where randomness is needed, the seed is an argument, and the same
//! seed gives the same bits everywhere.
//!
//! The unit of replication is the run. One value per run goes into [`welch`], [`family`],
//! [`factorial`] and [`equivalence`]; the samples within a run go into [`quantile`] and [`jitter`],
//! which reduce them to one value per run first.
//!
//! ```
//! use assize_judge::family::{ContrastBlock, Contrast, step_down};
//! use assize_judge::{Decision, VerdictInput, decide, welch};
//!
//! let baseline = [10.2, 10.0, 10.1, 9.9];
//! let changed = [9.1, 9.0, 9.2, 9.1];
//! let estimate = welch::ratio(&baseline, &changed)?;
//! let logs = |v: &[f64]| v.iter().map(|x| x.ln()).collect::<Vec<_>>();
//! let contrast = Contrast {
//!     blocks: vec![ContrastBlock { site: 0, a: logs(&baseline), b: logs(&changed) }],
//!     resolution: 0.0,
//!     relative: true,
//! };
//! let family = step_down(&[contrast], 0)?;
//! let verdict = decide(VerdictInput {
//!     p_adjusted: Some(family.tested[0].p_adjusted),
//!     p_t_adjusted: Some(estimate.p_t),
//!     p_attainable: Some(family.tested[0].p_attainable),
//!     p_equivalence: None,
//!     alpha: 0.05,
//! });
//! assert_eq!(verdict, Decision::Established);
//! # Ok::<(), assize_judge::Error>(())
//! ```
//!
//! This crate does not read files, know what a metric means, choose which tests to correct for, or
//! return a figure for data that cannot support one. Such data are an [`Error`].
//!
//! Every figure is compared with scipy and statsmodels, to 1e-6 relative by `tests/oracle.rs` and
//! to 1e-9 by `tests/designs.rs`; `docs/validity.md` reports the error rates of the verdicts in
//! simulation.

pub mod adjust;
pub mod anytime;
pub mod beat;
pub mod counts;
mod dist;
pub mod equivalence;
mod error;
pub mod factorial;
pub mod family;
pub mod flips;
pub mod jitter;
pub mod lints;
mod moments;
pub use moments::{mean, variance};
pub mod paired;
pub mod permutation;
pub mod poisson;
pub mod pooled;
pub mod power;
mod prior;
mod qr;
pub mod quantile;
mod random;
pub mod spending;
pub mod step;
pub mod variance_components;
pub mod verdict;
pub mod weighted;
pub mod welch;

pub use adjust::{benjamini_hochberg, holm, share_alpha};
pub use beat::{Periodicity, beat};
pub use counts::RunShare;
pub use equivalence::{Equivalence, share_missed};
pub use error::{Error, Result};
pub use factorial::{FactorialEffect, FactorialFit};
pub use jitter::Jitter;
pub use lints::Drift;
pub use poisson::{ClusteredComparison, GapDispersion, PoissonComparison, garwood};
pub use quantile::{QuantileInterval, RunQuantiles};
pub use verdict::{Decision, VerdictInput, decide};
pub use welch::{Estimate, Interval, PublishedMean};
