//! The tables that an experiment asks for.

use serde::{Deserialize, Serialize};

use super::{TTest, Verdict};

/// One metric over several workloads: each configuration beside itself in one
/// of them, and beside another configuration in the same one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The metric.
    pub metric: String,
    /// Its unit; empty for plain counts, and if no run has the metric.
    pub unit: String,
    /// The columns.
    pub workloads: Vec<String>,
    /// The column that `normalised` is relative to, if there is one.
    pub normalised_to: Option<String>,
    /// The factor with whose first level each configuration is compared;
    /// `null` where the baseline is what they are compared with.
    pub factor: Option<String>,
    /// The level of the intervals.
    pub level: f64,
    /// One for each configuration.
    pub rows: Vec<TableRow>,
}

/// One configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableRow {
    /// The configuration.
    pub configuration: String,
    /// What `relative` compares it with; `null` where that is itself, or
    /// nothing.
    pub baseline: Option<String>,
    /// Why it is compared with nothing, where that needs saying.
    pub because: Option<String>,
    /// One for each column.
    pub cells: Vec<TableCell>,
}

/// One configuration on one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableCell {
    /// The column.
    pub workload: String,
    /// Runs that have the metric.
    pub n: u32,
    /// Their median; `null` if there are none.
    pub median: Option<f64>,
    /// Against the same configuration on the workload `normalised_to`; `null`
    /// on that workload.
    pub normalised: Option<Relation>,
    /// Against the row's baseline on the same workload. Where `comparisons`
    /// has the two, the figures are those.
    pub relative: Option<Relation>,
    /// Why figures are missing, or rest on fewer runs than there are.
    pub because: Option<String>,
}

/// One set of runs against another; the fields mean what they do in a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Relation {
    /// Runs that the ratio is to.
    pub n_baseline: Option<u32>,
    /// Runs of the cell.
    pub n: Option<u32>,
    /// The ratio; `null` on the raw scale.
    pub ratio: Option<f64>,
    /// Interval of `ratio`, or of `difference` on the raw scale.
    pub ci: Option<[f64; 2]>,
    /// p of the t test, not corrected.
    pub p_t: Option<f64>,
    /// Which t gave `p_t`; `null` where there is none.
    pub t_test: Option<TTest>,
    /// p of the permutation test, not corrected.
    pub p: Option<f64>,
    /// The difference in the metric's unit; raw scale only.
    pub difference: Option<f64>,
    /// The verdict in `comparisons`; `null` for what is not there and so in no
    /// family of tests.
    pub verdict: Option<Verdict>,
    /// Why it is as it is, where that needs saying.
    pub because: Option<String>,
}
