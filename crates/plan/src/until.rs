//! When to stop early.

use serde::Deserialize;

use crate::report::primary::PrimaryMetric;
use crate::values::document::TomlDocument;
use crate::values::error::Error;
use crate::values::keys::{KeySection, KeyType, Share, Text, Whole, key};

/// Maximum number of runs of one cell.
pub(crate) const RUNS_MAX: u32 = 10_000;
/// The number of runs of one cell.
pub(crate) const RUNS: KeyType = Whole(1, RUNS_MAX as i64);

/// The keys of `until`.
pub(crate) static KEYS: KeySection = KeySection {
    name: "until",
    keys: &[
        key(
            "within",
            Share.required(),
            "Stop when all comparisons of primary metrics are established or equivalent, with intervals between ratio / (1 + within) and ratio × (1 + within).",
        ),
        key("metric", Text.optional(), "Watch only this primary metric."),
        key(
            "first_look",
            Whole(2, RUNS_MAX as i64).or("5"),
            "Blocks before the first look.",
        ),
        key("every", RUNS.or("5"), "Blocks between later looks."),
        key(
            "max_runs",
            Whole(2, RUNS_MAX as i64).or("30"),
            "Upper limit of the runs of each cell.",
        ),
    ],
};

/// `until` as written in the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawStopRule {
    pub(crate) within: f64,
    pub(crate) metric: Option<String>,
    pub(crate) first_look: u32,
    pub(crate) every: u32,
    pub(crate) max_runs: u32,
}

/// Checks the rule against other keys of the file.
pub(crate) fn check(
    document: &TomlDocument,
    until: Option<&RawStopRule>,
    primary: &[PrimaryMetric],
) -> Result<(), Error> {
    let Some(until) = until else {
        return Ok(());
    };
    if document.gives("runs") {
        let error = document.error("runs", "[until] already has max_runs");
        return Err(error.mend("remove either runs or [until]"));
    }
    if primary.is_empty() {
        let error = document.error("until", "watches the primary metrics, but there are none");
        return Err(error.mend("declare primary = [{ metric = \"NAME\", better = \"lower\" }]"));
    }
    let is_primary = |metric: &String| primary.iter().any(|one| one.metric == *metric);
    if let Some(metric) = until.metric.as_ref().filter(|metric| !is_primary(metric)) {
        let error = document.error("until.metric", format!("'{metric}' is not primary"));
        return Err(error.mend("use a primary metric, or add this one to primary"));
    }
    if until.first_look > until.max_runs {
        let why = format!(
            "{} is more than max_runs = {}",
            until.first_look, until.max_runs
        );
        let error = document.error("until.first_look", why);
        return Err(error.mend("look earlier, or allow more runs"));
    }
    Ok(())
}
