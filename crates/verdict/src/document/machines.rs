//! Rows for runs on several machines.

use serde::{Deserialize, Serialize};

use super::{Scale, TTest, Verdict};

/// One configuration compared with its baseline on one machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MachineComparison {
    /// The workload.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// Its unit; empty for plain counts.
    pub unit: String,
    /// The reference configuration.
    pub baseline: String,
    /// The configuration under test.
    pub configuration: String,
    /// The machine, or whatever the document's `across` says instead.
    pub machine: String,
    /// Number of runs of the baseline on it.
    pub n_baseline: Option<u32>,
    /// Number of runs of the configuration on it.
    pub n: Option<u32>,
    /// Mean of the baseline: geometric on the log scale, otherwise arithmetic.
    pub mean_baseline: Option<f64>,
    /// Mean of the configuration: geometric on the log scale, otherwise
    /// arithmetic.
    pub mean: Option<f64>,
    /// The scale on which the values were compared; the same for all machines.
    pub scale: Scale,
    /// Configuration over baseline; `null` on the raw scale.
    pub ratio: Option<f64>,
    /// Configuration minus baseline, in the metric's unit; raw scale only.
    pub difference: Option<f64>,
    /// Interval of `ratio`, or of `difference` on the raw scale.
    pub ci: Option<[f64; 2]>,
    /// Standard error of ln `ratio`, or of `difference` on the raw scale.
    pub standard_error: Option<f64>,
    /// Its degrees of freedom.
    pub df: Option<f64>,
    /// The machine's weight in the pooled effect.
    pub weight: Option<f64>,
    /// p of the t test.
    pub p_t: Option<f64>,
    /// Which t test gave `p_t`; `null` if there is none.
    pub t_test: Option<TTest>,
    /// p of the permutation test.
    pub p: Option<f64>,
    /// The smallest p that the permutation test can reach with this many runs.
    pub p_attainable: Option<f64>,
    /// `p` corrected for its family; `null` if `p_attainable` is above alpha.
    pub p_adjusted: Option<f64>,
    /// `p_t` corrected for its family.
    pub p_t_adjusted: Option<f64>,
    /// The verdict on this machine alone.
    pub verdict: Verdict,
    /// Explains the row, if that is needed.
    pub because: Option<String>,
}

/// One configuration compared with its baseline over all machines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pooled {
    /// The workload.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// Its unit; empty for plain counts.
    pub unit: String,
    /// The reference configuration.
    pub baseline: String,
    /// The configuration under test.
    pub configuration: String,
    /// The number of machines that have runs of both.
    pub machines: u32,
    /// The number of machines on which the effect is established or supported by
    /// their own runs, in the direction of the pooled effect.
    pub shown_on: u32,
    /// The scale on which the values were compared.
    pub scale: Scale,
    /// The common ratio of the machines (fixed effect).
    pub ratio: Option<f64>,
    /// The common difference; raw scale only.
    pub difference: Option<f64>,
    /// Interval of `ratio` or `difference`. It covers these machines only.
    pub ci: Option<[f64; 2]>,
    /// The mean ratio over machines like these (random effects).
    pub ratio_random: Option<f64>,
    /// The mean difference over machines like these; raw scale only.
    pub difference_random: Option<f64>,
    /// 95 % interval of `ratio_random` or `difference_random`, by Hartung,
    /// Knapp, Sidik and Jonkman.
    pub ci_random: Option<[f64; 2]>,
    /// 95 % prediction interval for another machine; needs at least three
    /// machines.
    pub prediction: Option<[f64; 2]>,
    /// Cochran's Q.
    pub q: Option<f64>,
    /// Its p by chi-squared, which treats the standard errors as known.
    pub q_p: Option<f64>,
    /// p of Welch's test that the effects are equal, which does not treat the
    /// standard errors as known.
    pub q_p_welch: Option<f64>,
    /// I²: the share of the effects' variance that is between machines.
    pub i2: Option<f64>,
    /// 95 % interval of `i2`.
    pub i2_ci: Option<[f64; 2]>,
    /// The variance of the effect (of ln ratio) between machines.
    pub tau2: Option<f64>,
    /// 95 % interval of `tau2`.
    pub tau2_ci: Option<[f64; 2]>,
    /// p of the t test of the pooled effect.
    pub p_t: Option<f64>,
    /// p of the permutation test within the blocks of the machines.
    pub p: Option<f64>,
    /// The smallest p that it can reach with this many runs.
    pub p_attainable: Option<f64>,
    /// `p` corrected for its family.
    pub p_adjusted: Option<f64>,
    /// `p_t` corrected for its family.
    pub p_t_adjusted: Option<f64>,
    /// Whether the machines agree.
    pub agreement: Agreement,
    /// The verdict on all of them; `undecided` if they contradict each other.
    pub verdict: Verdict,
    /// Further notes, such as which machines contradict each other.
    pub because: Option<String>,
}

/// Whether machines agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// No difference between them was found.
    Agree,
    /// The effect has the same direction wherever it is shown, but differs in
    /// size.
    Differ,
    /// The effect is shown in one direction on some machines, in the other on
    /// others.
    Opposite,
}
