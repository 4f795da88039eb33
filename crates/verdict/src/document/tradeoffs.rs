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
    /// The word that the document uses.
    pub fn word(self) -> &'static str {
        match self {
            Better::Lower => "lower",
            Better::Higher => "higher",
        }
    }
}

/// Two metrics, and where each configuration stands between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tradeoff {
    /// When it was asked for.
    pub origin: ClaimOrigin,
    /// The first metric.
    pub x: TradeoffAxis,
    /// The second metric.
    pub y: TradeoffAxis,
    /// The level of the intervals.
    pub level: f64,
    /// One for each configuration that was run on both workloads.
    pub points: Vec<TradeoffPoint>,
    /// Why there are no points, where that needs saying.
    pub because: Option<String>,
}

/// One of the two metrics.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TradeoffAxis {
    /// What was executed.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// Its unit; empty for plain counts, and if no run has the metric.
    pub unit: String,
    /// Which direction is good.
    pub better: Better,
    /// What `relative` compares with; `null` if nothing is compared.
    pub baseline: Option<String>,
}

/// One configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TradeoffPoint {
    /// The configuration.
    pub configuration: String,
    /// What was measured of the first metric.
    pub x: TradeoffValue,
    /// What was measured of the second metric.
    pub y: TradeoffValue,
    /// Where it stands.
    pub standing: Standing,
    /// Whether it stands there by what is only `supported`.
    pub supported: bool,
    /// Those that dominate it.
    pub dominated_by: Vec<Domination>,
    /// Those of which it is not known whether they dominate it.
    pub not_told_from: Vec<String>,
    /// Those that are equivalent to it in both metrics.
    pub equivalent_to: Vec<String>,
    /// Why figures are missing.
    pub because: Option<String>,
}

/// What was measured of a metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TradeoffValue {
    /// Runs that have the metric, where known.
    pub n: Option<u32>,
    /// Their mean as comparisons take it: geometric if all values are positive,
    /// else arithmetic; `null` if there are none.
    pub mean: Option<f64>,
    /// Against the baseline: the figures of `comparisons`.
    pub relative: Option<Relation>,
}

/// Where a configuration stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It is shown of every other configuration that it does not dominate this one:
    /// this one is better in a metric, or equivalent in both.
    Front,
    /// Another one is shown to be better in one metric and, in the other, better or
    /// equivalent.
    Dominated,
    /// Neither.
    Undecided,
}

impl Standing {
    /// The word that the document uses.
    pub fn word(self) -> &'static str {
        match self {
            Standing::Front => "front",
            Standing::Dominated => "dominated",
            Standing::Undecided => "undecided",
        }
    }
}

/// A configuration that dominates another, with the figures that say so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Domination {
    /// The one that dominates.
    pub configuration: String,
    /// Whether one of its two grounds is only `supported`.
    pub supported: bool,
    /// The one that dominates against the other, in the first metric; `null` where both
    /// are one and the same on its workload.
    pub x: Option<Relation>,
    /// Likewise in the second metric.
    pub y: Option<Relation>,
}
