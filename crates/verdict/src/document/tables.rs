//! The tables that an experiment asks for.

use serde::{Deserialize, Serialize};

use super::{TTest, Verdict};

/// One metric over several workloads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The metric.
    pub metric: String,
    /// Its unit; empty for a plain count, or if no run has the metric.
    pub unit: String,
    /// The columns.
    pub workloads: Vec<String>,
    /// The column that `normalised` is relative to, if there is one.
    pub normalised_to: Option<String>,
    /// The factor with whose first level each configuration is compared; `null` if with the
    /// baseline.
    pub factor: Option<String>,
    /// Confidence level of the intervals.
    pub level: f64,
    /// One for each configuration.
    pub rows: Vec<TableRow>,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableRow {
    /// The configuration under test.
    pub configuration: String,
    /// Baseline of `relative`; `null` for the baseline itself, or if there is none.
    pub baseline: Option<String>,
    /// An explanation, if needed.
    pub because: Option<String>,
    /// One for each column.
    pub cells: Vec<TableCell>,
}

/// One configuration on one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableCell {
    /// The workload.
    pub workload: String,
    /// Runs that have the metric.
    pub n: u32,
    /// Median of these runs; `null` without runs.
    pub median: Option<f64>,
    /// Compared with the same configuration on the workload `normalised_to`; `null` on that
    /// workload.
    pub normalised: Option<Relation>,
    /// Compared with the row's baseline on the same workload, as in `comparisons` if the pair is
    /// there.
    pub relative: Option<Relation>,
    /// Why figures are missing or cover only some of the runs.
    pub because: Option<String>,
}

/// One set of runs (below "the configuration") compared with another ("the baseline").
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Relation {
    /// Runs of the baseline, if known.
    pub n_baseline: Option<u32>,
    /// Runs of the configuration, if known.
    pub n: Option<u32>,
    /// Configuration over baseline; `null` on the raw scale.
    pub ratio: Option<f64>,
    /// Interval of `ratio`, or of `difference` on the raw scale.
    pub ci: Option<[f64; 2]>,
    /// p of the t test, uncorrected; `null` if nothing varies.
    pub p_t: Option<f64>,
    /// The t test that gave `p_t`.
    pub t_test: Option<TTest>,
    /// p of the permutation test, uncorrected; `null` if only summaries are known.
    pub p: Option<f64>,
    /// Configuration minus baseline, in `unit`; raw scale only.
    pub difference: Option<f64>,
    /// The verdict in `comparisons`; `null` if the pair is not there, and so in no family.
    pub verdict: Option<Verdict>,
    /// An explanation, if needed.
    pub because: Option<String>,
}
