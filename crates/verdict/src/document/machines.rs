//! The rows of runs on several machines.

use serde::{Deserialize, Serialize};

use super::{Scale, TTest, Verdict};

/// One configuration against its baseline on one machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MachineComparison {
    /// What was executed.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// Its unit; empty for plain counts.
    pub unit: String,
    /// The configuration compared with.
    pub baseline: String,
    /// The configuration under trial.
    pub configuration: String,
    /// The machine, or what else the document's `across` names.
    pub machine: String,
    /// Runs of the baseline there.
    pub n_baseline: Option<u32>,
    /// Runs of the configuration there.
    pub n: Option<u32>,
    /// Mean of the baseline: geometric on the log scale, else arithmetic.
    pub mean_baseline: Option<f64>,
    /// Mean of the configuration: geometric on the log scale, else arithmetic.
    pub mean: Option<f64>,
    /// On which scale the values were compared; one for all machines.
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
    /// The machine's share in the pooled effect.
    pub weight: Option<f64>,
    /// p of the t test.
    pub p_t: Option<f64>,
    /// Which t gave `p_t`; `null` where there is none.
    pub t_test: Option<TTest>,
    /// p of the permutation test.
    pub p: Option<f64>,
    /// The smallest p that so many runs allow the permutation test.
    pub p_attainable: Option<f64>,
    /// `p` corrected for its family; `null` where `p_attainable` is above alpha.
    pub p_adjusted: Option<f64>,
    /// `p_t` corrected for its family.
    pub p_t_adjusted: Option<f64>,
    /// What may be said of this machine alone.
    pub verdict: Verdict,
    /// Why the row is as it is, where that needs saying.
    pub because: Option<String>,
}

/// One configuration against its baseline over all machines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pooled {
    /// What was executed.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// Its unit; empty for plain counts.
    pub unit: String,
    /// The configuration compared with.
    pub baseline: String,
    /// The configuration under trial.
    pub configuration: String,
    /// How many machines have runs of both.
    pub machines: u32,
    /// On how many of them alone the effect is established or supported in the
    /// direction of the pooled one.
    pub shown_on: u32,
    /// On which scale the values were compared.
    pub scale: Scale,
    /// The ratio that the machines have in common (fixed effect).
    pub ratio: Option<f64>,
    /// The same of differences, on the raw scale only.
    pub difference: Option<f64>,
    /// Interval of `ratio` or `difference`. It speaks of these machines.
    pub ci: Option<[f64; 2]>,
    /// The mean ratio over machines like these (random effects).
    pub ratio_random: Option<f64>,
    /// The same of differences, on the raw scale only.
    pub difference_random: Option<f64>,
    /// 95 % interval of it, by Hartung, Knapp, Sidik and Jonkman.
    pub ci_random: Option<[f64; 2]>,
    /// Where 95 % of further machines would lie; from three machines on.
    pub prediction: Option<[f64; 2]>,
    /// Cochran's Q.
    pub q: Option<f64>,
    /// Its p by chi-squared, which takes standard errors for known.
    pub q_p: Option<f64>,
    /// p of Welch's test that the effects are one, which does not.
    pub q_p_welch: Option<f64>,
    /// The share of the effects' variance that is between machines.
    pub i2: Option<f64>,
    /// 95 % interval of `i2`.
    pub i2_ci: Option<[f64; 2]>,
    /// The variance of the effect (of ln ratio) between machines.
    pub tau2: Option<f64>,
    /// 95 % interval of `tau2`.
    pub tau2_ci: Option<[f64; 2]>,
    /// p of the t test of the pooled effect.
    pub p_t: Option<f64>,
    /// p of the permutation test inside the blocks of the machines.
    pub p: Option<f64>,
    /// The smallest p that so many runs allow it.
    pub p_attainable: Option<f64>,
    /// `p` corrected for its family.
    pub p_adjusted: Option<f64>,
    /// `p_t` corrected for its family.
    pub p_t_adjusted: Option<f64>,
    /// Whether the machines tell the same story.
    pub agreement: Agreement,
    /// What may be said of all of them; `undecided` if they contradict each
    /// other.
    pub verdict: Verdict,
    /// What there is to know, such as which machines contradict each other.
    pub because: Option<String>,
}

/// Whether machines tell the same story.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// Nothing says that they differ.
    Agree,
    /// The effect has one direction where it is shown, and differs in size.
    Differ,
    /// It is shown in one direction on some, in the other on others.
    Opposite,
}
