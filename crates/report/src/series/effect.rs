//! The effect of a patch.

use assize_verdict::Verdict;
use serde::{Deserialize, Serialize};

/// The effect on one primary metric on one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PatchEffect {
    /// The workload.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// The unit; empty for plain counts.
    pub unit: String,
    /// The effect in one word.
    pub reading: EffectReading,
    /// How certain it is.
    pub verdict: Verdict,
    /// `after / before`; `null` if differences were compared.
    pub ratio: Option<f64>,
    /// `after - before`, if differences were compared.
    pub difference: Option<f64>,
    /// The interval of the ratio or of the difference.
    pub interval: Option<[f64; 2]>,
    /// The sentence about runs with the ending that `metric` names; absent for metrics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// The `--fail-on` condition that was met, with the figures; absent if none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fails: Option<String>,
}

/// An effect in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectReading {
    /// Established or supported, in the bad direction.
    Worse,
    /// Established or supported, in the good direction.
    Better,
    /// The runs are not sufficient to decide.
    Undecided,
    /// The difference is within the margin.
    NoDifference,
}

impl PatchEffect {
    /// The wording used in the mail.
    pub(crate) fn word(&self) -> &'static str {
        let differs = matches!(self.verdict, Verdict::Established | Verdict::Supported);
        match self.reading {
            EffectReading::NoDifference if differs => "too small to matter",
            reading => reading.words(),
        }
    }
}

impl EffectReading {
    /// The wording used in the mail.
    pub(crate) fn words(self) -> &'static str {
        match self {
            EffectReading::Worse => "worse",
            EffectReading::Better => "better",
            EffectReading::Undecided => "undecided",
            EffectReading::NoDifference => "no difference",
        }
    }
}
