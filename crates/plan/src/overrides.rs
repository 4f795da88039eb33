//! Command-line options that replace keys of the file.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// Values from the command line that override the file's.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Overrides {
    /// Runs of each cell; with `until`, the maximum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<u32>,
    /// The seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Maps factors to the levels to keep; other factors keep all their levels.
    /// The baseline is the first level kept, in the order of the file.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub levels: IndexMap<String, Vec<String>>,
    /// Number of CPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// The kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The revision under test, by its version-control name. For information
    /// only: it changes no run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
}
