//! Rates of events.

use serde::{Deserialize, Serialize};

use super::Verdict;

/// Events per second of one configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// The configuration under test.
    pub configuration: String,
    /// The workload.
    pub workload: String,
    /// The event that was counted.
    pub event: String,
    /// The number of events.
    pub count: u64,
    /// Seconds during which they could have happened, if known.
    pub exposure_s: Option<f64>,
    /// `count` over `exposure_s`.
    pub rate_per_s: Option<f64>,
    /// Exact 95 % interval of `rate_per_s`; with zero events, from 0 to the
    /// upper bound.
    pub ci: Option<[f64; 2]>,
    /// Further notes, such as that the events are clustered.
    pub note: Option<String>,
}

/// One rate compared with the baseline's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RateComparison {
    /// The reference configuration.
    pub baseline: String,
    /// The configuration under test.
    pub configuration: String,
    /// The workload.
    pub workload: String,
    /// The event that was counted.
    pub event: String,
    /// Configuration over baseline; `null` if the baseline has no events.
    pub ratio: Option<f64>,
    /// How `p` was computed; `null` if it was not.
    #[serde(default)]
    pub test: Option<RateTest>,
    /// Its p.
    pub p: Option<f64>,
    /// `p` corrected for its family; `null` if the test belongs to no family.
    pub p_adjusted: Option<f64>,
    /// The verdict. Never `equivalent`.
    pub verdict: Verdict,
    /// What would decide the comparison, or why the rates cannot be tested.
    pub note: Option<String>,
}

/// How two rates are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RateTest {
    /// The rates of the runs, by the permutation test.
    Runs,
    /// One exposure of each, by the scatter of the counts in windows of time.
    Windows,
    /// One exposure of each, assuming independent events (Poisson).
    Poisson,
}
