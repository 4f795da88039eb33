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

/// Two metrics, and the standing of each configuration between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tradeoff {
    /// Whether it was declared before the runs.
    pub origin: ClaimOrigin,
    /// The first metric.
    pub x: TradeoffAxis,
    /// The second metric.
    pub y: TradeoffAxis,
    /// The confidence level of the intervals.
    pub level: f64,
    /// One point for each configuration that was run on both workloads.
    pub points: Vec<TradeoffPoint>,
    /// Why there are no points, if that needs explaining.
    pub because: Option<String>,
}

/// One of the two metrics.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TradeoffAxis {
    /// The workload.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// Its unit; empty for plain counts, and if no run has the metric.
    pub unit: String,
    /// Which direction is good.
    pub better: Better,
    /// The configuration that `relative` compares with; `null` if nothing is
    /// compared.
    pub baseline: Option<String>,
}

/// One configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TradeoffPoint {
    /// The configuration.
    pub configuration: String,
    /// Its values of the first metric.
    pub x: TradeoffValue,
    /// Its values of the second metric.
    pub y: TradeoffValue,
    /// Its standing.
    pub standing: Standing,
    /// Whether that standing is based on a verdict that is only `supported`.
    pub supported: bool,
    /// The configurations that dominate it.
    pub dominated_by: Vec<Domination>,
    /// The configurations that may or may not dominate it.
    pub not_told_from: Vec<String>,
    /// The configurations that are equivalent to it in both metrics.
    pub equivalent_to: Vec<String>,
    /// Why figures are missing.
    pub because: Option<String>,
}

/// The measured values of a metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TradeoffValue {
    /// Number of runs that have the metric, if known.
    pub n: Option<u32>,
    /// Their mean as in comparisons: geometric if all values are positive,
    /// otherwise arithmetic; `null` if there are none.
    pub mean: Option<f64>,
    /// Compared with the baseline: the figures of `comparisons`.
    pub relative: Option<Relation>,
}

/// The standing of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// On the Pareto front: shown not to be dominated by any other configuration, because it is
    /// better in a metric, or equivalent in both.
    Front,
    /// Another configuration is shown to be better in one metric and better or equivalent in the
    /// other.
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

/// A configuration that dominates another, with the figures that show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Domination {
    /// The dominating configuration.
    pub configuration: String,
    /// Whether one of the two comparisons is only `supported`.
    pub supported: bool,
    /// The dominating configuration compared with the other in the first metric; `null` if the two
    /// are identical on its workload.
    pub x: Option<Relation>,
    /// Likewise in the second metric.
    pub y: Option<Relation>,
}
