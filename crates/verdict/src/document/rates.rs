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
    /// The event.
    pub event: String,
    /// Number of events.
    pub count: u64,
    /// Time during which events could have happened, if known.
    pub exposure_s: Option<f64>,
    /// `count` over `exposure_s`.
    pub rate_per_s: Option<f64>,
    /// Exact 95 % interval of `rate_per_s`, from 0 if there were no events.
    pub ci: Option<[f64; 2]>,
    /// A note, such as that the events are clustered.
    pub note: Option<String>,
}

/// One rate compared with the baseline's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RateComparison {
    /// The configuration that `configuration` is compared with.
    pub baseline: String,
    /// The configuration under test.
    pub configuration: String,
    /// The workload.
    pub workload: String,
    /// The event.
    pub event: String,
    /// Configuration over baseline; `null` if the baseline has no events.
    pub ratio: Option<f64>,
    /// How `p` was computed.
    #[serde(default)]
    pub test: Option<RateTest>,
    /// Uncorrected p.
    pub p: Option<f64>,
    /// `p` corrected for its family; `null` if it is in none.
    pub p_adjusted: Option<f64>,
    /// The verdict; never `equivalent`.
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
    /// One exposure each, by the scatter of the counts in time windows.
    Windows,
    /// One exposure each, assuming independent events.
    Poisson,
}
