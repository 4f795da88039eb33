//! Outlying runs and the order of runs.

use std::collections::{BTreeMap, BTreeSet};

use assize_judge::holm;
use assize_judge::lints::{
    Drift, drift as trend, drift_inside, grouped_order, outlier, serial_likeness,
};

use super::{UninformativeRows, first_names, lint};
use crate::caps::unequal_spread;
use crate::cells::{Cell, Cells};
use crate::document::Lint;
use crate::means::arithmetic;
use crate::slow::RARE;
use crate::words::p_value;

/// Lints for runs that are outliers of their configuration, one per run. If there are primary
/// metrics, only those are checked: with many metrics, some run is always an outlier in one of
/// them. If more than a fifth of the runs lie apart, the values form groups, as with ticks of a
/// clock, and no run is an outlier.
pub(super) fn outliers(
    cells: &Cells<'_>,
    faults: &UninformativeRows,
    primary: &BTreeSet<usize>,
) -> Vec<Lint> {
    let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (key, cell) in cells.iter() {
        let wanted = primary.is_empty() || primary.contains(&key.metric);
        if !wanted || faults.says_nothing(key.workload, key.metric) {
            continue;
        }
        for cell in cell.by_machine() {
            let apart = outlier(&cell.values());
            if apart.len() as f64 > RARE * cell.runs.len() as f64 {
                continue;
            }
            for index in apart {
                found
                    .entry(cell.runs[index].run)
                    .or_default()
                    .push(key.metric);
            }
        }
    }
    found
        .into_iter()
        .map(|(run, metrics)| {
            let (workload, configuration) = cells.run_places[run];
            let names: Vec<&str> = metrics
                .iter()
                .map(|&m| cells.metrics[m].name.as_str())
                .collect();
            let run = &cells.records.runs[run];
            let (bundle, index) = cells.records.run_in_bundle(run.order);
            let scheduled = run.block.map(|_| index);
            Lint {
                run: scheduled,
                bundle: scheduled.and(bundle).map(str::to_owned),
                ..lint(
                    "outlier-run",
                    format!(
                        "{} on {}, run {}{}",
                        cells.configurations[configuration],
                        cells.workloads[workload],
                        scheduled.unwrap_or(run.repetition),
                        bundle.map_or(String::new(), |bundle| match scheduled {
                            Some(_) => format!(" of {bundle}"),
                            None => format!(" ({bundle})"),
                        })
                    ),
                    format!("is far from the other runs in {}", first_names(&names, 6)),
                )
            }
        })
        .collect()
}

/// The workloads on which, on some machine, all runs of a configuration are consecutive. Runs in
/// blocks are exempt.
fn grouped(cells: &Cells<'_>) -> BTreeSet<usize> {
    let records = &cells.records.runs;
    let mut runs: Vec<usize> = (0..records.len()).collect();
    runs.sort_by_key(|&run| records[run].order);
    let mut orders: BTreeMap<(usize, Option<&str>), Vec<usize>> = BTreeMap::new();
    for run in runs {
        let (workload, configuration) = cells.run_places[run];
        if records[run].block.is_none() {
            let place = (workload, records[run].machine.as_deref());
            orders.entry(place).or_default().push(configuration);
        }
    }
    let grouped = orders.iter().filter(|(_, order)| grouped_order(order));
    grouped.map(|((workload, _), _)| *workload).collect()
}

/// The findings on the order of the runs, shared by lints and verdicts; empty if the order is
/// unknown.
#[derive(Default)]
pub(crate) struct OrderFindings {
    /// Workloads whose runs are grouped by configuration.
    pub(crate) grouped: BTreeSet<usize>,
    /// Trends within configurations on those workloads.
    pub(crate) drifting: Vec<OrderFinding>,
    /// Metrics whose consecutive runs are correlated.
    pub(crate) serial: Vec<OrderFinding>,
}

impl OrderFindings {
    pub(crate) fn new(cells: &Cells<'_>) -> Self {
        if cells.records.order_unknown {
            return OrderFindings::default();
        }
        let grouped = grouped(cells);
        OrderFindings {
            drifting: drifting_inside(cells, &grouped),
            serial: serial(cells),
            grouped,
        }
    }
}

/// A lint for workloads where all runs of a configuration are consecutive.
pub(super) fn unrandomised(cells: &Cells<'_>, order: &OrderFindings) -> Option<Lint> {
    let grouped: Vec<&str> = order
        .grouped
        .iter()
        .map(|&workload| cells.workloads[workload].as_str())
        .collect();
    (!grouped.is_empty()).then(|| {
        lint(
            "unrandomised-order",
            grouped.join(", "),
            "the runs are given configuration by configuration; if they were made in that \
             order, a drift over time cannot be distinguished from a difference",
        )
    })
}

/// A finding on the order of the runs of one metric on one workload.
pub(crate) struct OrderFinding {
    workload: usize,
    metric: usize,
    /// The effect size.
    size: f64,
    /// Its p, Holm-corrected for the number of rows examined.
    p: f64,
}

impl OrderFinding {
    fn drift((workload, metric): (usize, usize), Drift { tau, p }: Drift) -> Self {
        OrderFinding {
            workload,
            metric,
            size: tau,
            p,
        }
    }

    /// Its workload and metric.
    pub(crate) fn place(&self) -> (usize, usize) {
        (self.workload, self.metric)
    }
}

/// Trends within configurations, on workloads whose runs are grouped.
fn drifting_inside(cells: &Cells<'_>, grouped: &BTreeSet<usize>) -> Vec<OrderFinding> {
    let mut found = Vec::new();
    for (workload, metric) in cells.rows() {
        if !grouped.contains(&workload) {
            continue;
        }
        let groups: Vec<Vec<f64>> = cells
            .row(workload, metric)
            .flat_map(|(_, cell)| cell.by_machine())
            .map(|cell| in_order(cells, &cell))
            .collect();
        let groups: Vec<&[f64]> = groups.iter().map(Vec::as_slice).collect();
        if let Some(drift) = drift_inside(&groups) {
            found.push(OrderFinding::drift((workload, metric), drift));
        }
    }
    significant(found)
}

/// Metrics whose consecutive runs of a configuration are correlated, as samples of a single run
/// are. Empty if there are blocks, as effects common to a block cancel in comparisons.
fn serial(cells: &Cells<'_>) -> Vec<OrderFinding> {
    let mut found = Vec::new();
    if cells.records.runs.iter().any(|run| run.block.is_some()) {
        return found;
    }
    for (workload, metric) in cells.rows() {
        for (_, cell) in cells.row(workload, metric) {
            for cell in cell.by_machine() {
                if let Some(likeness) = serial_likeness(&in_order(cells, &cell)) {
                    found.push(OrderFinding {
                        workload,
                        metric,
                        size: likeness.ratio,
                        p: likeness.p,
                    });
                }
            }
        }
    }
    significant(found)
}

fn significant(mut found: Vec<OrderFinding>) -> Vec<OrderFinding> {
    let p: Vec<f64> = found.iter().map(|found| found.p).collect();
    for (found, p) in found.iter_mut().zip(holm(&p)) {
        found.p = p;
    }
    found.retain(|found| found.p <= 0.05);
    found
}

/// The values of a cell in the order of their runs.
fn in_order(cells: &Cells<'_>, cell: &Cell<'_>) -> Vec<f64> {
    let mut runs = cell.runs.clone();
    runs.sort_by_key(|reading| cells.records.runs[reading.run].order);
    runs.iter().map(|reading| reading.value).collect()
}

/// Lints for metrics that drift within configurations whose runs are grouped.
pub(super) fn drift_inside_groups(cells: &Cells<'_>, order: &OrderFindings) -> Vec<Lint> {
    let over = "from run to run of each configuration, and the runs are given configuration by \
                configuration";
    drift_lints(cells, &order.drifting, over)
}

/// The lints for metrics that drift; `over` names the range.
fn drift_lints(cells: &Cells<'_>, drifting: &[OrderFinding], over: &str) -> Vec<Lint> {
    let lints = drifting.iter().map(|found| {
        let way = match found.size > 0.0 {
            true => "increases",
            false => "decreases",
        };
        let (tau, p) = (found.size, p_value(found.p));
        let detail = format!("{way} {over} (Kendall's tau {tau:.2}, corrected p {p})");
        lint("drift", place(cells, found.place()), detail)
    });
    lints.collect()
}

/// Lints for metrics whose runs depend on each other.
pub(super) fn dependent(cells: &Cells<'_>, order: &OrderFindings) -> Vec<Lint> {
    let mut told = BTreeSet::new();
    let serial = order.serial.iter();
    serial
        .filter(|found| told.insert(found.place()))
        .map(|found| {
            lint(
                "dependent-runs",
                place(cells, found.place()),
                format!(
                    "consecutive runs resemble each other as samples of one run do (rank \
                     version of von Neumann's ratio {:.2} instead of 2, corrected p {})",
                    found.size,
                    p_value(found.p)
                ),
            )
        })
        .collect()
}

/// A lint if a configuration has fewer memory images than runs.
pub(super) fn shared_images(cells: &Cells<'_>) -> Option<Lint> {
    let repeated = &cells.repeated_images;
    let images: usize = repeated.values().map(BTreeSet::len).sum();
    let mut most: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (run, &place) in cells.records.runs.iter().zip(&cells.run_places) {
        if run.image.is_some() && repeated.contains_key(&run.machine.as_deref()) {
            *most.entry(place).or_default() += 1;
        }
    }
    most.into_values().max().map(|most| {
        let detail = match images == repeated.len() {
            true => format!(
                "all {most} runs of a configuration start from one memory image{}: findings hold \
                 for that image alone, since an effect of its layout of memory and code looks like \
                 an effect of the configuration",
                if images == 1 { "" } else { " on each machine" }
            ),
            false => format!(
                "{most} runs of a configuration start from {images} memory images: each image \
                 counts once, since its layout of memory and code affects all its runs alike"
            ),
        };
        lint("shared-image", cells.workloads.join(", "), detail)
    })
}

/// Lints for workloads on which configurations with few runs have very different spreads, one per
/// workload.
pub(super) fn unequal_spreads(cells: &Cells<'_>) -> Vec<Lint> {
    let differ = |&(workload, metric): &(usize, usize)| {
        let row: Vec<&Cell<'_>> = cells.row(workload, metric).map(|(_, cell)| cell).collect();
        let mut firsts = row.iter().enumerate();
        firsts.any(|(at, one)| {
            row[at + 1..]
                .iter()
                .any(|two| unequal_spread(one, two).is_some())
        })
    };
    let mut found: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for (workload, metric) in cells.rows().into_iter().filter(differ) {
        let metrics = found.entry(workload).or_default();
        metrics.push(&cells.metrics[metric].name);
    }
    let written = found.into_iter().map(|(workload, metrics)| {
        lint(
            "unequal-spread",
            &cells.workloads[workload],
            format!(
                "configurations with few runs differ greatly in the spread of {}: permuting their \
                 runs is no valid test of the means",
                first_names(&metrics, 6)
            ),
        )
    });
    written.collect()
}

fn place(cells: &Cells<'_>, (workload, metric): (usize, usize)) -> String {
    format!(
        "{} on {}",
        cells.metrics[metric].name, cells.workloads[workload]
    )
}

/// Lints for trends over the order of runs where configurations alternate, after subtracting each
/// configuration's mean, Holm-corrected for the number of rows. The runs of one block are one
/// point. If every machine starts from an image, the order cannot affect the runs.
pub(super) fn drift(
    cells: &Cells<'_>,
    faults: &UninformativeRows,
    order: &OrderFindings,
) -> Vec<Lint> {
    if cells.records.order_unknown {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (workload, metric) in cells.rows() {
        if faults.says_nothing(workload, metric)
            || order.grouped.contains(&workload)
            || all_from_images(cells, workload)
        {
            continue;
        }
        let residuals = residuals_in_order(cells, workload, metric);
        if let Some(drift) = trend(&residuals) {
            found.push(OrderFinding::drift((workload, metric), drift));
        }
    }
    let over = "over the order of runs, whatever the configuration";
    drift_lints(cells, &significant(found), over)
}

/// Whether every run on a workload started from a memory image.
fn all_from_images(cells: &Cells<'_>, workload: usize) -> bool {
    let runs = cells.records.runs.iter().zip(&cells.run_places);
    let mut here = runs.filter(|(_, (at, _))| *at == workload);
    here.all(|(run, _)| run.image.is_some())
}

/// Deviations from the configuration's mean on the run's machine, in the order of runs; on the log
/// scale if all values are positive. Only configurations with three runs or more count, and the
/// runs of a block are one deviation, their mean.
fn residuals_in_order(cells: &Cells<'_>, workload: usize, metric: usize) -> Vec<f64> {
    let positive = cells
        .row(workload, metric)
        .all(|(_, cell)| cell.runs.iter().all(|r| r.value > 0.0));
    let mut residuals: Vec<RunDeviation> = Vec::new();
    let row = cells.row(workload, metric);
    let groups = row.flat_map(|(_, cell)| cell.by_machine());
    for cell in groups.filter(|cell| cell.runs.len() >= 3) {
        let x: Vec<f64> = cell
            .runs
            .iter()
            .map(|r| if positive { r.value.ln() } else { r.value })
            .collect();
        let mean = arithmetic(&x).unwrap_or(0.0);
        for (reading, x) in cell.runs.iter().zip(&x) {
            let order = cells.records.runs[reading.run].order;
            let block = reading.block.map(|block| (reading.machine, block));
            residuals.push((order, block, x - mean));
        }
    }
    residuals.sort_by_key(|r| r.0);
    by_block(&residuals)
}

/// The order of a run, its block on its machine, and its deviation.
type RunDeviation = (u32, Option<(Option<usize>, u32)>, f64);

/// The deviations in order; those of a block are averaged at the position of the first.
fn by_block(residuals: &[RunDeviation]) -> Vec<f64> {
    let mut all: Vec<Vec<f64>> = Vec::new();
    let mut places = BTreeMap::new();
    for &(_, block, residual) in residuals {
        let at = match block {
            Some(block) => *places.entry(block).or_insert(all.len()),
            None => all.len(),
        };
        match all.get_mut(at) {
            Some(of_block) => of_block.push(residual),
            None => all.push(vec![residual]),
        }
    }
    all.iter()
        .filter_map(|of_block| arithmetic(of_block))
        .collect()
}
