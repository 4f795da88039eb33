//! The tables that an experiment asks for.

use serde::{Deserialize, Serialize};

use super::{TTest, Verdict};

/// One metric over several workloads: each configuration relative to itself on
/// one of them, and relative to another configuration on the same workload.
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
    /// The factor along which each configuration is compared with the first
    /// level; `null` if they are compared with the baseline.
    pub factor: Option<String>,
    /// The confidence level of the intervals.
    pub level: f64,
    /// One row for each configuration.
    pub rows: Vec<TableRow>,
}

/// One configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableRow {
    /// The configuration.
    pub configuration: String,
    /// The configuration that `relative` compares it with; `null` if it is the baseline itself or
    /// there is none.
    pub baseline: Option<String>,
    /// Why it is not compared, if that needs explaining.
    pub because: Option<String>,
    /// One cell for each column.
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
    /// Compared with the same configuration on the workload `normalised_to`;
    /// `null` on that workload.
    pub normalised: Option<Relation>,
    /// Compared with the row's baseline on the same workload. If `comparisons`
    /// has this pair, the figures are taken from there.
    pub relative: Option<Relation>,
    /// Why figures are missing, or are based on fewer runs than there are.
    pub because: Option<String>,
}

/// One set of runs compared with another; the fields have the same meaning as in a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Relation {
    /// Number of runs in the denominator of the ratio.
    pub n_baseline: Option<u32>,
    /// Number of runs of the cell.
    pub n: Option<u32>,
    /// The ratio; `null` on the raw scale.
    pub ratio: Option<f64>,
    /// Interval of `ratio`, or of `difference` on the raw scale.
    pub ci: Option<[f64; 2]>,
    /// p of the t test, not corrected.
    pub p_t: Option<f64>,
    /// Which t test gave `p_t`; `null` if there is none.
    pub t_test: Option<TTest>,
    /// p of the permutation test, not corrected.
    pub p: Option<f64>,
    /// The difference in the metric's unit; raw scale only.
    pub difference: Option<f64>,
    /// The verdict in `comparisons`; `null` if this pair is not there and so belongs to no family
    /// of tests.
    pub verdict: Option<Verdict>,
    /// Explains the relation, if that is needed.
    pub because: Option<String>,
}
