//! Trade-offs: what one metric costs in another.

use serde::{Deserialize, Serialize};

use super::{ClaimOrigin, Relation};

/// Which direction of a metric is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
}

impl Better {
    /// The word used in the document.
    pub fn word(self) -> &'static str {
        match self {
            Better::Lower => "lower",
            Better::Higher => "higher",
        }
    }
}

/// Two metrics, and where each configuration stands in their trade-off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tradeoff {
    /// Whether it was declared before the runs.
    pub origin: ClaimOrigin,
    /// The first metric.
    pub x: TradeoffAxis,
    /// The second metric.
    pub y: TradeoffAxis,
    /// Confidence level of the intervals.
    pub level: f64,
    /// One for each configuration that ran on both workloads.
    pub points: Vec<TradeoffPoint>,
    /// An explanation, if needed.
    pub because: Option<String>,
}

/// One of the two metrics.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TradeoffAxis {
    /// The workload.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// Its unit; empty for a plain count, or if no run has the metric.
    pub unit: String,
    /// Which direction is good.
    pub better: Better,
    /// Baseline of `relative`; `null` if nothing is compared.
    pub baseline: Option<String>,
}

/// One configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TradeoffPoint {
    /// The configuration under test.
    pub configuration: String,
    /// Its values of the first metric.
    pub x: TradeoffValue,
    /// Its values of the second metric.
    pub y: TradeoffValue,
    /// Its standing.
    pub standing: Standing,
    /// Whether the standing rests on a verdict that is only `supported`.
    pub supported: bool,
    /// Configurations that dominate it.
    pub dominated_by: Vec<Domination>,
    /// Configurations that may or may not dominate it.
    pub not_told_from: Vec<String>,
    /// Configurations equivalent to it in both metrics.
    pub equivalent_to: Vec<String>,
    /// An explanation, if needed.
    pub because: Option<String>,
}

/// The values of a metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TradeoffValue {
    /// Runs that have the metric, if known.
    pub n: Option<u32>,
    /// Mean of these runs: geometric if all are positive, else arithmetic; `null` without runs.
    pub mean: Option<f64>,
    /// Compared with the baseline, as in `comparisons`.
    pub relative: Option<Relation>,
}

/// The standing of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// On the Pareto front: shown to be better than each other configuration in a metric, or
    /// equivalent to it in both.
    Front,
    /// Another is shown to be better in one metric, and better or equivalent in the other.
    Dominated,
    /// Neither.
    Undecided,
}

impl Standing {
    /// The word used in the document.
    pub fn word(self) -> &'static str {
        match self {
            Standing::Front => "front",
            Standing::Dominated => "dominated",
            Standing::Undecided => "undecided",
        }
    }
}

/// A configuration that dominates another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Domination {
    /// The dominating configuration.
    pub configuration: String,
    /// Whether one of the two comparisons is only `supported`.
    pub supported: bool,
    /// Its comparison with the other in the first metric; `null` if the two are identical on that
    /// workload.
    pub x: Option<Relation>,
    /// Its comparison with the other in the second metric.
    pub y: Option<Relation>,
}
