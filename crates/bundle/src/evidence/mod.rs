//! The measurements of a bundle's runs, reduced to a size that can be shown.
//!
//! A run may hold a million samples; a page that shows a hundred runs can hold a
//! few values of each. The reduction never misleads: a thinned distribution
//! states its error bound and keeps within it, a thinned series shows every
//! extreme, and everything left out is reported in a sentence.

mod curve;
mod gather;
mod grain;
mod notes;
mod read;
mod series;

use std::path::Path;

use serde::Serialize;

pub use grain::EvidenceLimits;

use crate::Error;
use crate::layout::has_schedule;

/// The distribution of one metric in one run.
///
/// The distribution is a step function: between two values the share is that of the lower one,
/// and below the first it is 0. Each share is that of the samples up to the
/// value, accurate to less than a hundredth of a sample.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// The run's index, as in `runs/NNNN.json`.
    pub run: u32,
    /// The metric by the name of its samples: `latency`, if the run's quantile
    /// is `latency_ns_p99`.
    pub metric: String,
    /// The unit of the values.
    pub unit: String,
    /// The number of samples.
    pub count: u64,
    /// The values, ascending. They include the smallest and the largest sample,
    /// and p50, p90, p99 and p99.9 by the type 7 rule if at least ten samples on
    /// either side support them.
    pub values: Vec<f64>,
    /// For each value, the share of samples that are not greater.
    pub shares: Vec<f64>,
}

/// The samples of one metric in one run over time, as the smallest and the
/// largest of each stretch of time. Stretches are equally long; those without
/// samples are omitted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThinnedSeries {
    /// The run's index, as in `runs/NNNN.json`.
    pub run: u32,
    /// The metric.
    pub metric: String,
    /// The unit of the values.
    pub unit: String,
    /// The number of samples.
    pub count: u64,
    /// The time of the first sample of each stretch, ascending, in nanoseconds
    /// since the workload's start.
    pub t_ns: Vec<f64>,
    /// The smallest sample of each stretch.
    pub low: Vec<f64>,
    /// The largest sample of each stretch.
    pub high: Vec<f64>,
}

/// The thinned measurements of a bundle's runs.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ThinnedEvidence {
    /// The curves, ordered by run, and within a run in the order in which its
    /// metrics were recorded.
    pub curves: Vec<Curve>,
    /// The series, in the same order.
    pub series: Vec<ThinnedSeries>,
    /// What was thinned or left out, and why, in sentences.
    pub thinned: Vec<String>,
}

/// Reads the measurements of a bundle's completed runs, thinned to the limits.
///
/// Curves come from individual samples if there are any, otherwise from
/// histograms. If the data do not fit into the bytes, every curve and every
/// series is coarsened in the same way; some are left out only if the coarsest
/// do not fit. The result is a function of the bundle and the limits.
///
/// Each of a few threads reads one run at a time, so memory use is that of the
/// largest runs plus the data that are kept.
///
/// # Errors
/// [`Error::Io`], [`Error::Malformed`], [`Error::Samples`] or [`Error::Schema`],
/// naming the file.
pub fn evidence(directory: &Path, limits: &EvidenceLimits) -> Result<ThinnedEvidence, Error> {
    if !has_schedule(directory)? {
        return Ok(ThinnedEvidence {
            thinned: vec![notes::POSTED.to_owned()],
            ..ThinnedEvidence::default()
        });
    }
    let gathered = read::gather_all(directory, limits)?;
    Ok(gathered.evidence(limits))
}
