//! The head of a bundle of runs, written before the first run.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::difference::{FirstDifference, first_difference};
use crate::layout::{SCHEMA, get, has_schedule, head_path};
use crate::{Configuration, DeclaredTable, DeclaredTradeoff, Error, LevelSettings};

/// The head of a bundle of runs. It is written before the first run and never
/// changed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Head {
    /// The experiment file's name.
    pub source: String,
    /// The experiment file's text.
    pub experiment: String,
    /// The whole schedule. This crate does not interpret it, except that its
    /// `overrides` are ignored when schedules are compared.
    pub plan: serde_json::Value,
    /// The target: `exact`, `live`, `host` or `ssh:HOST`.
    pub target: String,
    /// A stable name of the machine. When bundles are merged, runs of different
    /// machines go into different blocks, except on the exact target.
    pub machine: String,
    /// The experiment's title.
    pub title: String,
    /// The question that the experiment asks.
    pub question: String,
    /// The configurations, baseline first.
    pub configurations: Vec<Configuration>,
    /// The requested settings of each configuration; derived from the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub level_settings: Vec<LevelSettings>,
    /// Configurations that request the same files and settings as an earlier one, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub same: BTreeMap<String, String>,
    /// Names of the factors of a 2^k grid.
    pub factors: Vec<String>,
    /// The workloads, in the order of the experiment.
    pub workloads: Vec<String>,
    /// Metrics declared primary.
    pub primary: Vec<String>,
    /// Metrics for which more is better.
    pub higher_is_better: Vec<String>,
    /// Claims declared before the first run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<String>,
    /// Tables that the report shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<DeclaredTable>,
    /// Trade-offs declared before the first run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tradeoffs: Vec<DeclaredTradeoff>,
    /// The number of runs in the schedule.
    pub planned_runs: u32,
    /// Facts about the machine: `qemu`, `kernel`, …. Facts whose names begin
    /// with `host` may differ between the parts of one bundle; a change in any
    /// other makes it a different experiment.
    pub facts: BTreeMap<String, String>,
    /// Limits of what the target can show, in sentences that every report
    /// prints.
    pub limits: Vec<String>,
}

impl Head {
    /// Whether a run has the same result wherever it is executed.
    pub(crate) fn is_exact(&self) -> bool {
        self.target == "exact"
    }

    /// The kind of target. `host` and `ssh:HOST` measure in the same way; only the
    /// machine differs.
    pub(crate) fn target_kind(&self) -> &str {
        match self.target.starts_with("ssh:") {
            true => "host",
            false => &self.target,
        }
    }

    /// The fields that must be equal for two processes to work on the same
    /// schedule.
    fn identity(&self) -> Head {
        let exact = self.is_exact();
        let mut head = self.clone();
        head.source.clear();
        head.level_settings.clear();
        head.same.clear();
        if let Some(plan) = head.plan.as_object_mut() {
            plan.remove("overrides");
        }
        head.facts.retain(|name, _| !name.starts_with("host"));
        if exact {
            head.machine.clear();
        }
        head
    }

    /// The first field that shows two heads to be of different experiments.
    pub(crate) fn difference(&self, other: &Head) -> Option<FirstDifference> {
        let value = |head: &Head| serde_json::to_value(head.identity()).unwrap_or_default();
        first_difference(&value(self), &value(other))
    }
}

/// The runs of one machine in a merged bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MachinePart {
    pub(crate) machine: String,
    /// The index of its first run.
    pub(crate) offset: u32,
    /// The number of runs in its schedule.
    pub(crate) planned_runs: u32,
}

impl MachinePart {
    /// Whether the run with this index is one of the machine's.
    pub(crate) fn holds(&self, index: u32) -> bool {
        index
            .checked_sub(self.offset)
            .is_some_and(|within| within < self.planned_runs)
    }
}

/// `bundle.json` of a bundle of runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredHead {
    pub(crate) schema: String,
    /// The machines of a merged bundle; empty for a single machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) parts: Vec<MachinePart>,
    pub(crate) head: Head,
}

impl StoredHead {
    pub(crate) fn new(head: Head) -> Self {
        StoredHead {
            schema: SCHEMA.to_owned(),
            parts: Vec::new(),
            head,
        }
    }

    /// Reads the head of a bundle of runs.
    pub(crate) fn read(directory: &Path) -> Result<StoredHead, Error> {
        if !has_schedule(directory)? {
            return Err(Error::NoSchedule(directory.to_path_buf()));
        }
        get(&head_path(directory))
    }
}

/// Reads the head of a bundle of runs.
///
/// # Errors
/// [`Error::NoSchedule`] if it holds results read from a text; otherwise as
/// [`crate::read`].
pub fn read_plan(directory: &Path) -> Result<Head, Error> {
    Ok(StoredHead::read(directory)?.head)
}
