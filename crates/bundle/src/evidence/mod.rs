//! What the runs of a bundle measured, small enough to be shown.
//!
//! A run may hold a million samples; a page that shows a hundred runs can hold
//! a few values of each. What is kept is chosen so that nothing is misstated:
//! a thinned distribution is off by no more than it says, a thinned series
//! shows every extreme, and whatever was left out is said in a sentence.

mod curve;
mod gather;
mod grain;
mod read;
mod said;
mod series;

use std::path::Path;

use serde::Serialize;

use crate::Error;
use crate::disk::{get, known_schema};

/// The distribution of one metric in one run.
///
/// It is a staircase: from one value to the next the share is that of the
/// lower one, below the first it is 0. Each share is that of the samples up to
/// the value, to less than a hundredth of a sample.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// The run's index, that of `runs/NNNN.json`.
    pub run: u32,
    /// The metric, as its samples are called: `latency`, where the run's
    /// quantile is `latency_ns_p99`.
    pub metric: String,
    /// The unit of the values.
    pub unit: String,
    /// How many samples there are.
    pub count: u64,
    /// Ascending. The least and the greatest sample are among them, and p50,
    /// p90, p99 and p99.9 by the type 7 rule where ten samples on either side
    /// support them.
    pub values: Vec<f64>,
    /// For each value the share of the samples that are not greater.
    pub shares: Vec<f64>,
}

/// The samples of one metric in one run in the order of time, as the least
/// and the greatest of each stretch of time. Stretches are equally long; those
/// without a sample are not there.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// The run's index, that of `runs/NNNN.json`.
    pub run: u32,
    /// The metric.
    pub metric: String,
    /// The unit of the values.
    pub unit: String,
    /// How many samples there are.
    pub count: u64,
    /// When the first sample of each stretch was taken, ascending: nanoseconds
    /// since the workload's start.
    pub t_ns: Vec<f64>,
    /// The least sample of each stretch.
    pub low: Vec<f64>,
    /// The greatest sample of each stretch.
    pub high: Vec<f64>,
}

/// What the runs of a bundle measured, thinned.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Evidence {
    /// In the order of runs, of each run in the order in which its metrics
    /// were recorded.
    pub curves: Vec<Curve>,
    /// In the same order.
    pub series: Vec<Series>,
    /// What was thinned or left out, and why, in sentences.
    pub thinned: Vec<String>,
}

/// How much of it is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most values of a curve; at least 16.
    pub points: usize,
    /// The most stretches of a series; at least 2.
    pub stretches: usize,
    /// The most bytes that all curves and series take as JSON.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            points: 128,
            stretches: 256,
            bytes: 1_000_000,
        }
    }
}

/// What the completed runs of a bundle measured.
///
/// Curves come from single samples where there are any, else from histograms.
/// If all does not fit into the bytes, every curve and every series gets
/// coarser in the same way; only if the coarsest do not fit, some are left
/// out. The result is a function of the bundle and the limits.
///
/// One run at a time is read by each of a few threads, so the memory taken is
/// that of the largest runs and of what is kept.
///
/// # Errors
/// [`Error::Io`], [`Error::Malformed`], [`Error::Samples`] or
/// [`Error::Schema`], naming the file.
pub fn evidence(directory: &Path, limits: &Limits) -> Result<Evidence, Error> {
    let path = directory.join("bundle.json");
    let head: serde_json::Value = get(&path)?;
    known_schema(&path, &head)?;
    if head.get("head").is_none() {
        return Ok(Evidence {
            thinned: vec![said::POSTED.to_owned()],
            ..Evidence::default()
        });
    }
    let gathered = read::all(directory, limits)?;
    Ok(gathered.evidence(limits))
}
