//! Step sizes of a bundle's metrics, as declared by workloads and instruments.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use assize_bundle::{Error, Records, Resolution};
use assize_job::{METRICS, Metric, MetricSource};
use serde::Deserialize;

use crate::failure::Failure;

/// The relevant keys of a plan.
#[derive(Deserialize)]
struct PlanWorkloads {
    #[serde(default)]
    configurations: Vec<ConfigurationWorkloads>,
}

#[derive(Deserialize)]
struct ConfigurationWorkloads {
    name: String,
    #[serde(default)]
    workloads: Vec<NamedWorkload>,
}

#[derive(Deserialize)]
struct NamedWorkload {
    name: String,
    #[serde(default)]
    kind: String,
}

/// Metrics that a workload of this kind, or any instrument, reports in steps coarser than their
/// unit, each with its step.
fn coarse(kind: &str) -> impl Iterator<Item = (&'static Metric, f64)> {
    let given = move |metric: &&Metric| match metric.source {
        MetricSource::Workloads(kinds) => kinds.contains(&kind),
        MetricSource::Instrument(_) => true,
    };
    let all = METRICS.iter().filter(given);
    all.filter_map(|metric| Some((metric, metric.resolution?)))
}

/// Adds the step sizes to the records of a bundle of runs. Results read from text have them
/// already.
pub(crate) fn declare(bundle: &Path, records: &mut Records) -> Result<(), Failure> {
    let head = match assize_bundle::read_plan(bundle) {
        Ok(head) => head,
        Err(Error::NoSchedule(_)) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let planned = PlanWorkloads::deserialize(&head.plan).map_err(|error| {
        let file = bundle.join("bundle.json");
        Failure::Argument(format!("{}: the plan is damaged: {error}", file.display()))
    })?;
    let kinds: BTreeMap<(&str, &str), &str> = planned
        .configurations
        .iter()
        .flat_map(|of| {
            let workloads = of.workloads.iter();
            workloads.map(|on| ((of.name.as_str(), on.name.as_str()), on.kind.as_str()))
        })
        .collect();
    let cells: BTreeSet<(&str, &str)> = records
        .runs
        .iter()
        .map(|run| (run.configuration.as_str(), run.workload.as_str()))
        .collect();
    let declared: Vec<Resolution> = cells
        .into_iter()
        .filter_map(|cell| Some((cell, *kinds.get(&cell)?)))
        .flat_map(|((configuration, workload), kind)| {
            coarse(kind).map(|(of, step)| Resolution {
                configuration: configuration.to_owned(),
                workload: workload.to_owned(),
                metric: of.name.to_owned(),
                unit: of.unit.to_owned(),
                step,
            })
        })
        .collect();
    records.resolutions.extend(declared);
    Ok(())
}
