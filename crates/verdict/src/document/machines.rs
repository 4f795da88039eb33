//! Rows for runs on several machines.

use serde::{Deserialize, Serialize};

use super::{Scale, TTest, Verdict};

/// One configuration compared with its baseline on one machine alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MachineComparison {
    /// The workload.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// Its unit; empty for a plain count, or if no run has the metric.
    pub unit: String,
    /// The configuration that `configuration` is compared with.
    pub baseline: String,
    /// The configuration under test.
    pub configuration: String,
    /// The machine, kernel or bundle (see `across`).
    pub machine: String,
    /// Runs of the baseline, if known.
    pub n_baseline: Option<u32>,
    /// Runs of the configuration, if known.
    pub n: Option<u32>,
    /// Mean of the baseline: geometric on the log scale, else arithmetic.
    pub mean_baseline: Option<f64>,
    /// Mean of the configuration, of the same kind.
    pub mean: Option<f64>,
    /// The scale on which the values were compared.
    pub scale: Scale,
    /// Configuration over baseline; `null` on the raw scale.
    pub ratio: Option<f64>,
    /// Configuration minus baseline, in `unit`; raw scale only.
    pub difference: Option<f64>,
    /// Interval of `ratio`, or of `difference` on the raw scale.
    pub ci: Option<[f64; 2]>,
    /// Standard error of ln `ratio`, or of `difference` on the raw scale.
    pub standard_error: Option<f64>,
    /// Its degrees of freedom.
    pub df: Option<f64>,
    /// Weight in the pooled effect.
    pub weight: Option<f64>,
    /// p of the t test, uncorrected; `null` if nothing varies.
    pub p_t: Option<f64>,
    /// The t test that gave `p_t`.
    pub t_test: Option<TTest>,
    /// p of the permutation test, uncorrected; `null` if only summaries are known.
    pub p: Option<f64>,
    /// The smallest p that the permutation test can reach with this many runs.
    pub p_attainable: Option<f64>,
    /// `p` corrected for its family; `null` if `p_attainable` is above alpha.
    pub p_adjusted: Option<f64>,
    /// `p_t` corrected for its family.
    pub p_t_adjusted: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// An explanation, if needed.
    pub because: Option<String>,
}

/// One configuration compared with its baseline over all machines. Intervals other than `ci` are at
/// 95 %.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pooled {
    /// The workload.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// Its unit; empty for a plain count, or if no run has the metric.
    pub unit: String,
    /// The configuration that `configuration` is compared with.
    pub baseline: String,
    /// The configuration under test.
    pub configuration: String,
    /// Machines that have runs of both.
    pub machines: u32,
    /// Machines whose own runs establish or support the effect, in the pooled direction.
    pub shown_on: u32,
    /// The scale on which the values were compared.
    pub scale: Scale,
    /// Pooled ratio (fixed effect).
    pub ratio: Option<f64>,
    /// Pooled difference (fixed effect); raw scale only.
    pub difference: Option<f64>,
    /// Interval of `ratio` or `difference`; covers these machines only.
    pub ci: Option<[f64; 2]>,
    /// Mean ratio over machines like these (random effects).
    pub ratio_random: Option<f64>,
    /// Mean difference over machines like these; raw scale only.
    pub difference_random: Option<f64>,
    /// Interval of the random-effects mean, by Hartung, Knapp, Sidik and Jonkman.
    pub ci_random: Option<[f64; 2]>,
    /// Prediction interval for another machine; needs three machines.
    pub prediction: Option<[f64; 2]>,
    /// Cochran's Q.
    pub q: Option<f64>,
    /// p of Cochran's Q by chi-squared, with standard errors taken as known.
    pub q_p: Option<f64>,
    /// p of Welch's test that the effects are equal, with standard errors taken as estimates.
    pub q_p_welch: Option<f64>,
    /// I²: the share of the effects' variance that is between machines.
    pub i2: Option<f64>,
    /// Interval of `i2`.
    pub i2_ci: Option<[f64; 2]>,
    /// Variance of the effect (of ln ratio) between machines.
    pub tau2: Option<f64>,
    /// Interval of `tau2`.
    pub tau2_ci: Option<[f64; 2]>,
    /// p of the t test of the pooled effect.
    pub p_t: Option<f64>,
    /// p of the permutation test within the machines' blocks.
    pub p: Option<f64>,
    /// The smallest p that the permutation test can reach with this many runs.
    pub p_attainable: Option<f64>,
    /// `p` corrected for its family; `null` if `p_attainable` is above alpha.
    pub p_adjusted: Option<f64>,
    /// `p_t` corrected for its family.
    pub p_t_adjusted: Option<f64>,
    /// Whether the machines agree.
    pub agreement: Agreement,
    /// The verdict; `undecided` if machines contradict each other.
    pub verdict: Verdict,
    /// An explanation, if needed.
    pub because: Option<String>,
}

/// Whether machines agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// No difference between them was found.
    Agree,
    /// The effect differs in size, not in direction.
    Differ,
    /// Some machines show the effect in one direction, some in the opposite.
    Opposite,
}
