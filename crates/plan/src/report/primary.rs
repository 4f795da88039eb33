//! Primary metrics, and which direction of a metric is good.

use indexmap::IndexSet;
use serde::{Deserialize, Serialize};

use crate::values::keys::{KeySection, Text, Word, key};

/// The keys of a primary metric.
pub(crate) static KEYS: KeySection = KeySection {
    name: "primary",
    keys: &[
        key("metric", Text.required(), "Name of the metric."),
        key(
            "better",
            Word(&["lower", "higher"]).required(),
            "Which direction is good.",
        ),
    ],
};

/// A metric declared primary before the data were seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrimaryMetric {
    /// Its name.
    pub metric: String,
    /// Which direction is good.
    pub better: BetterDirection,
}

/// Which direction is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BetterDirection {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
}

/// The good directions of metrics given at the top of the file.
#[derive(Clone, Copy)]
pub(crate) struct DeclaredDirections<'a> {
    pub(crate) primary: &'a [PrimaryMetric],
    pub(crate) higher_is_better: &'a [String],
}

impl DeclaredDirections<'_> {
    /// The good direction of a metric; `None` if the top of the file does not give it.
    pub(crate) fn better(&self, metric: &str) -> Option<BetterDirection> {
        let primary = self.primary.iter().find(|one| one.metric == metric);
        let higher = self.higher_is_better.iter().any(|name| name == metric);
        primary
            .map(|one| one.better)
            .or(higher.then_some(BetterDirection::Higher))
    }

    /// Metrics for which more is better: those listed in the file, and primary metrics with `better
    /// = "higher"`.
    pub(crate) fn all_higher(&self) -> Vec<String> {
        let primary = self.primary.iter();
        let primary = primary.filter(|primary| primary.better == BetterDirection::Higher);
        let names = primary.map(|primary| &primary.metric);
        let names: IndexSet<&String> = names.chain(self.higher_is_better).collect();
        names.into_iter().cloned().collect()
    }
}
