//! The trade-offs that an experiment asks for: two metrics, each of one
//! workload.

use crate::experiment::Experiment;
use crate::plan::{BetterDirection, PlannedConfiguration, PlannedTradeoff, PlannedTradeoffMetric};
use crate::raw;
use crate::report::metrics::workloads_with;
use crate::report::tables;
use crate::values::error::Error;

/// The two metrics of a trade-off with the paths of their keys.
pub(crate) fn sides(
    at: usize,
    tradeoff: &raw::RawTradeoff,
) -> [(String, &raw::RawTradeoffMetric); 2] {
    let path = |side: &str| format!("tradeoffs[{at}].{side}");
    [(path("x"), &tradeoff.x), (path("y"), &tradeoff.y)]
}

/// Checks the trade-offs, except whether their metrics are measured.
pub(crate) fn find(experiment: &Experiment) -> Result<(), Error> {
    for (at, tradeoff) in experiment.file.tradeoffs.iter().enumerate() {
        let sides = sides(at, tradeoff);
        for (path, side) in &sides {
            if let Some(workload) = &side.workload {
                tables::workload(experiment, &format!("{path}.workload"), workload)?;
            }
            better(experiment, path, side)?;
        }
        let [(_, x), (path, y)] = &sides;
        if x.metric == y.metric && x.workload == y.workload {
            let why = format!("'{}' is both metrics", y.metric);
            let error = experiment.error(&format!("{path}.metric"), why);
            return Err(error.mend("name another one, or another workload"));
        }
        let without = match (&x.workload, &y.workload) {
            (Some(workload), None) => Some((1, workload)),
            (None, Some(workload)) => Some((0, workload)),
            _ => None,
        };
        if let Some((side, workload)) = without {
            let error = experiment.error(&sides[side].0, "names no workload, and the other does");
            return Err(error.mend(format!("add workload = \"{workload}\"")));
        }
    }
    Ok(())
}

/// Which direction of a metric is good: as given here, or else at the top of the
/// file.
fn better(
    experiment: &Experiment,
    path: &str,
    side: &raw::RawTradeoffMetric,
) -> Result<BetterDirection, Error> {
    let file = &experiment.file;
    let primary = file.primary.iter().find(|one| one.metric == side.metric);
    let more = file.higher_is_better.contains(&side.metric);
    let said = primary
        .map(|one| one.better)
        .or(more.then_some(BetterDirection::Higher));
    match (side.better, said) {
        (Some(here), Some(said)) if here != said => {
            let why = format!("of '{}' the other is declared to be better", side.metric);
            let error = experiment.error(&format!("{path}.better"), why);
            Err(error.mend("remove it"))
        }
        (Some(better), _) | (None, Some(better)) => Ok(better),
        (None, None) => {
            let why = format!("nothing says which direction of '{}' is good", side.metric);
            let error = experiment.error(&format!("{path}.metric"), why);
            Err(error.mend("add better = \"lower\" or \"higher\""))
        }
    }
}

/// All trade-offs. Where no workload is named, there is one for each workload that has both
/// metrics.
pub(crate) fn tradeoffs(
    experiment: &Experiment,
    configurations: &[PlannedConfiguration],
) -> Result<Vec<PlannedTradeoff>, Error> {
    let mut all = Vec::new();
    for (at, tradeoff) in experiment.file.tradeoffs.iter().enumerate() {
        let sides = sides(at, tradeoff);
        let side = |which: usize, workload: &str| -> Result<PlannedTradeoffMetric, Error> {
            let (path, side) = &sides[which];
            Ok(PlannedTradeoffMetric {
                metric: side.metric.clone(),
                workload: side.workload.as_deref().unwrap_or(workload).to_owned(),
                better: better(experiment, path, side)?,
            })
        };
        let named = tradeoff.x.workload.iter().cloned().collect::<Vec<_>>();
        let both = || {
            let [x, y] = [&tradeoff.x, &tradeoff.y].map(|side| side.metric.as_str());
            workloads_with(experiment, configurations, &[x, y])
        };
        let workloads = if named.is_empty() { both() } else { named };
        if workloads.is_empty() {
            let (path, y) = &sides[1];
            let why = format!(
                "no workload gives both '{}' and '{}'",
                tradeoff.x.metric, y.metric
            );
            let error = experiment.error(&format!("{path}.metric"), why);
            return Err(error.mend("name a workload for each"));
        }
        for workload in workloads {
            all.push(PlannedTradeoff {
                x: side(0, &workload)?,
                y: side(1, &workload)?,
                place: experiment.place(&format!("tradeoffs[{at}]")),
            });
        }
    }
    Ok(all)
}
