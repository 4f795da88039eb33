//! The trade-offs that an experiment asks for: two metrics, each of one
//! workload.

use serde::Deserialize;

use super::primary::{BetterDirection, DeclaredDirections};
use super::tables::DeclaredNames;
use crate::plan::{PlannedTradeoff, PlannedTradeoffMetric};
use crate::values::document::TomlDocument;
use crate::values::error::Error;
use crate::values::keys::{KeySection, Table, Text, Word, key};

/// The keys of a trade-off.
pub(crate) static KEYS: KeySection = KeySection {
    name: "tradeoff",
    keys: &[
        key(
            "x",
            Table(&METRIC_KEYS).required(),
            "The metric on the horizontal axis.",
        ),
        key(
            "y",
            Table(&METRIC_KEYS).required(),
            "The metric on the vertical axis.",
        ),
    ],
};

/// The keys of one of its metrics.
pub(crate) static METRIC_KEYS: KeySection = KeySection {
    name: "tradeoff-metric",
    keys: &[
        key("metric", Text.required(), "Name of the metric."),
        key(
            "workload",
            Text.optional(),
            "Workload whose values are used. If neither metric names a workload, each workload \
             that gives both metrics has its own trade-off.",
        ),
        key(
            "better",
            Word(&["lower", "higher"]).optional(),
            "Which direction is good; required unless primary or higher_is_better says so.",
        ),
    ],
};

/// A trade-off as written in the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawTradeoff {
    pub(crate) x: RawTradeoffMetric,
    pub(crate) y: RawTradeoffMetric,
}

/// A metric of a trade-off as written in the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawTradeoffMetric {
    pub(crate) metric: String,
    pub(crate) workload: Option<String>,
    pub(crate) better: Option<BetterDirection>,
}

/// The two metrics of a trade-off with the paths of their keys.
pub(crate) fn sides(at: usize, tradeoff: &RawTradeoff) -> [(String, &RawTradeoffMetric); 2] {
    let path = |side: &str| format!("tradeoffs[{at}].{side}");
    [(path("x"), &tradeoff.x), (path("y"), &tradeoff.y)]
}

/// Checks the trade-offs, except whether their metrics are measured.
pub(crate) fn check(
    names: &DeclaredNames<'_>,
    directions: DeclaredDirections<'_>,
    tradeoffs: &[RawTradeoff],
) -> Result<(), Error> {
    let document = names.document;
    for (at, tradeoff) in tradeoffs.iter().enumerate() {
        let sides = sides(at, tradeoff);
        for (path, side) in &sides {
            if let Some(workload) = &side.workload {
                names.require_workload(&format!("{path}.workload"), workload)?;
            }
            better(document, directions, path, side)?;
        }
        let [(_, x), (path, y)] = &sides;
        if x.metric == y.metric && x.workload == y.workload {
            let why = format!("both metrics are '{}'", y.metric);
            let error = document.error(&format!("{path}.metric"), why);
            return Err(error.mend("name another one, or another workload"));
        }
        let without = match (&x.workload, &y.workload) {
            (Some(workload), None) => Some((1, workload)),
            (None, Some(workload)) => Some((0, workload)),
            _ => None,
        };
        if let Some((side, workload)) = without {
            let error = document.error(
                &sides[side].0,
                "names no workload, but the other metric does",
            );
            return Err(error.mend(format!("add workload = \"{workload}\"")));
        }
    }
    Ok(())
}

/// Which direction of a metric is good: as given here, or else at the top of the
/// file.
fn better(
    document: &TomlDocument,
    directions: DeclaredDirections<'_>,
    path: &str,
    side: &RawTradeoffMetric,
) -> Result<BetterDirection, Error> {
    match (side.better, directions.better(&side.metric)) {
        (Some(here), Some(declared)) if here != declared => {
            let why = format!("contradicts the direction declared for '{}'", side.metric);
            let error = document.error(&format!("{path}.better"), why);
            Err(error.mend("remove it"))
        }
        (Some(better), _) | (None, Some(better)) => Ok(better),
        (None, None) => {
            let why = format!("nothing says which direction of '{}' is good", side.metric);
            let error = document.error(&format!("{path}.metric"), why);
            Err(error.mend("add better = \"lower\" or \"higher\""))
        }
    }
}

/// All trade-offs. Where no workload is named, there is one for each workload that has both
/// metrics, which `workloads_with` finds.
pub(crate) fn tradeoffs(
    document: &TomlDocument,
    directions: DeclaredDirections<'_>,
    tradeoffs: &[RawTradeoff],
    workloads_with: impl Fn(&[&str]) -> Vec<String>,
) -> Result<Vec<PlannedTradeoff>, Error> {
    let mut all = Vec::new();
    for (at, tradeoff) in tradeoffs.iter().enumerate() {
        let sides = sides(at, tradeoff);
        let side = |which: usize, workload: &str| -> Result<PlannedTradeoffMetric, Error> {
            let (path, side) = &sides[which];
            Ok(PlannedTradeoffMetric {
                metric: side.metric.clone(),
                workload: side.workload.as_deref().unwrap_or(workload).to_owned(),
                better: better(document, directions, path, side)?,
            })
        };
        let named = tradeoff.x.workload.iter().cloned().collect::<Vec<_>>();
        let both = || {
            let [x, y] = [&tradeoff.x, &tradeoff.y].map(|side| side.metric.as_str());
            workloads_with(&[x, y])
        };
        let workloads = if named.is_empty() { both() } else { named };
        if workloads.is_empty() {
            let (path, y) = &sides[1];
            let why = format!(
                "no workload gives both '{}' and '{}'",
                tradeoff.x.metric, y.metric
            );
            let error = document.error(&format!("{path}.metric"), why);
            return Err(error.mend("name a workload for each"));
        }
        for workload in workloads {
            all.push(PlannedTradeoff {
                x: side(0, &workload)?,
                y: side(1, &workload)?,
                place: document.place(&format!("tradeoffs[{at}]")),
            });
        }
    }
    Ok(all)
}
