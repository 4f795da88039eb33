//! Metrics that are constant, duplicates of each other, or unsupported.

use std::collections::{BTreeMap, BTreeSet};

use assize_judge::lints::{are_aliased, equals_cpus_times_elapsed, is_constant};

use super::{UninformativeRows, first_names, lint};
use crate::cells::Cells;
use crate::document::Lint;
use crate::units::convert;
use crate::words::{count_of, plain};

/// Two counters are the same if they are closer than this in every run.
const ALIAS_TOLERANCE: f64 = 1e-4;
/// Counts below this may agree by chance.
const LARGE_COUNT: f64 = 1000.0;

/// Lints for metrics that equal CPUs times elapsed time, or do not vary at all.
pub(super) fn constant(cells: &Cells<'_>, faults: &mut UninformativeRows) -> Vec<Lint> {
    let elapsed = elapsed_by_run(cells);
    let mut clocks: BTreeMap<(usize, u32), Vec<usize>> = BTreeMap::new();
    let mut still: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (workload, metric) in cells.rows() {
        let readings = run_values(cells, workload, metric);
        let values: Vec<f64> = readings.iter().map(|r| r.1).collect();
        if let Some(cpus) = cpus_times_elapsed(cells, metric, &readings, &elapsed) {
            clocks.entry((metric, cpus)).or_default().push(workload);
        } else if values.len() >= 3 && is_constant(&values, 0.0) {
            still.entry(metric).or_default().push(workload);
        } else {
            continue;
        }
        faults.constant.insert((workload, metric));
    }
    let mut lints: Vec<Lint> = Vec::new();
    for ((metric, cpus), workloads) in clocks {
        let runs: usize = workloads
            .iter()
            .map(|&w| run_values(cells, w, metric).len())
            .sum();
        lints.push(lint(
            "constant-metric",
            location(cells, metric, &workloads),
            format!(
                "equals {cpus} CPUs x elapsed time within 0.5 % in {}: it is a clock, \
                 not a measure of work",
                all_runs(runs)
            ),
        ));
    }
    for (metric, workloads) in still {
        let runs = workloads
            .iter()
            .map(|&w| run_values(cells, w, metric).len())
            .sum();
        let first = run_values(cells, workloads[0], metric)
            .first()
            .map_or(0.0, |r| r.1);
        let value = if workloads.len() == 1 {
            format!(" ({})", plain(first))
        } else {
            String::new()
        };
        lints.push(lint(
            "constant-metric",
            location(cells, metric, &workloads),
            format!("does not vary{value} in {}", all_runs(runs)),
        ));
    }
    lints
}

fn all_runs(runs: usize) -> String {
    if runs == 1 {
        "the only run".into()
    } else {
        format!("all {runs} runs")
    }
}

/// The metric, and its workloads unless it covers all of them.
fn location(cells: &Cells<'_>, metric: usize, workloads: &[usize]) -> String {
    let name = &cells.metrics[metric].name;
    let everywhere = cells.rows().iter().filter(|row| row.1 == metric).count();
    if workloads.len() == everywhere {
        return name.clone();
    }
    let names: Vec<&str> = workloads
        .iter()
        .map(|&w| cells.workloads[w].as_str())
        .collect();
    format!("{name} on {}", first_names(&names, 4))
}

/// The runs and values of a metric on a workload, over all configurations.
pub(super) fn run_values(cells: &Cells<'_>, workload: usize, metric: usize) -> Vec<(usize, f64)> {
    let row = cells.row(workload, metric);
    row.flat_map(|(_, cell)| cell.runs.iter().map(|r| (r.run, r.value)))
        .collect()
}

/// Elapsed seconds of each run that recorded them.
fn elapsed_by_run(cells: &Cells<'_>) -> BTreeMap<usize, f64> {
    let mut elapsed = BTreeMap::new();
    for (key, cell) in cells.iter() {
        let metric = &cells.metrics[key.metric];
        let Some(scale) = seconds_per(&metric.unit).filter(|_| is_elapsed(&metric.name)) else {
            continue;
        };
        for reading in &cell.runs {
            elapsed.entry(reading.run).or_insert(reading.value * scale);
        }
    }
    elapsed
}

fn is_elapsed(name: &str) -> bool {
    let name = name.to_lowercase();
    name.contains("elapsed") || name.contains("wall") || name == "real"
}

/// How many seconds a unit of time is.
fn seconds_per(unit: &str) -> Option<f64> {
    convert(1.0, unit, "s")
}

/// The number of CPUs, at least two, that explains a metric in at least two
/// runs.
fn cpus_times_elapsed(
    cells: &Cells<'_>,
    metric: usize,
    readings: &[(usize, f64)],
    elapsed: &BTreeMap<usize, f64>,
) -> Option<u32> {
    let scale = seconds_per(&cells.metrics[metric].unit)?;
    if readings.len() < 2 || is_elapsed(&cells.metrics[metric].name) {
        return None;
    }
    let values: Vec<f64> = readings.iter().map(|r| r.1 * scale).collect();
    let seconds: Option<Vec<f64>> = readings
        .iter()
        .map(|r| elapsed.get(&r.0).copied())
        .collect();
    equals_cpus_times_elapsed(&values, &seconds?).filter(|&cpus| cpus >= 2)
}

/// Lints for pairs of metrics that count the same thing.
pub(super) fn aliased(cells: &Cells<'_>, faults: &mut UninformativeRows) -> Vec<Lint> {
    let mut by_metric: Vec<BTreeMap<usize, f64>> = vec![BTreeMap::new(); cells.metrics.len()];
    for (key, cell) in cells.iter() {
        by_metric[key.metric].extend(cell.runs.iter().map(|r| (r.run, r.value)));
    }
    let mut lints = Vec::new();
    for second in 0..by_metric.len() {
        for first in 0..second {
            let already = faults.aliased.iter().any(|pair| pair.1 == first);
            if already || cells.metrics[first].unit != cells.metrics[second].unit {
                continue;
            }
            if let Some(runs) = one_counter(&by_metric[first], &by_metric[second]) {
                faults.aliased.push((first, second));
                lints.push(lint(
                    "aliased-counters",
                    format!(
                        "{}, {}",
                        cells.metrics[first].name, cells.metrics[second].name
                    ),
                    format!(
                        "agree within 1 in 10,000 in all {runs} runs: they count the same \
                         events and are one observation, not two"
                    ),
                ));
                break;
            }
        }
    }
    lints
}

/// The number of runs in which two metrics agree, if they agree in all runs that
/// have both.
fn one_counter(a: &BTreeMap<usize, f64>, b: &BTreeMap<usize, f64>) -> Option<usize> {
    let both: (Vec<f64>, Vec<f64>) = a
        .iter()
        .filter_map(|(run, &value)| Some((value, *b.get(run)?)))
        .unzip();
    let large = |values: &[f64]| values.iter().all(|&v| v > LARGE_COUNT);
    let one = both.0.len() >= 2
        && large(&both.0)
        && large(&both.1)
        && !is_constant(&both.0, 0.0)
        && are_aliased(&both.0, &both.1, ALIAS_TOLERANCE);
    one.then_some(both.0.len())
}

/// Lints for counters that gave no number, one per metric.
pub(super) fn unsupported(cells: &Cells<'_>) -> Vec<Lint> {
    let mut order: Vec<&str> = Vec::new();
    let mut found: BTreeMap<&str, (usize, BTreeSet<&str>)> = BTreeMap::new();
    for record in &cells.records.unsupported {
        let entry = found.entry(&record.metric).or_default();
        if entry.0 == 0 {
            order.push(&record.metric);
        }
        entry.0 += 1;
        entry.1.insert(&record.reason);
    }
    let mut lints = Vec::new();
    for metric in order {
        if let Some((runs, reasons)) = found.get(metric) {
            let reasons: Vec<&str> = reasons.iter().copied().collect();
            lints.push(lint(
                "unsupported-counter",
                metric,
                format!("{} in {}", reasons.join(" or "), count_of(*runs, "run")),
            ));
        }
    }
    lints
}
