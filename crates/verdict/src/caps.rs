//! What a lint allows a verdict to be at best.

use std::collections::BTreeSet;

use crate::cells::{Cell, Cells, Key};
use crate::document::Verdict;
use crate::lints::order;
use crate::weigh::arithmetic;

/// A side with so many times the runs of the other has unequally many.
const UNEQUAL_RUNS: f64 = 2.0;
/// The side with fewer runs varies more if its standard deviation is so many times
/// the other's.
const UNEQUAL_SPREAD: f64 = 2.0;

/// The best verdict that a lint allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cap {
    pub(crate) verdict: Verdict,
    /// The lint's code.
    pub(crate) lint: &'static str,
}

/// What is wrong with whole workloads and metrics.
pub(crate) struct Caps {
    /// Workloads whose runs are given configuration by configuration.
    grouped: BTreeSet<usize>,
    /// Workload and metric of what drifts inside configurations there.
    drifting: BTreeSet<(usize, usize)>,
    /// Workload and metric whose consecutive runs resemble each other.
    serial: BTreeSet<(usize, usize)>,
}

impl Caps {
    pub(crate) fn new(cells: &Cells<'_>) -> Self {
        let grouped = order::grouped(cells);
        let drifting = order::drifting_inside(cells, &grouped)
            .into_iter()
            .map(|found| (found.workload, found.metric));
        Caps {
            drifting: drifting.collect(),
            serial: order::serial(cells)
                .into_iter()
                .map(|found| (found.workload, found.metric))
                .collect(),
            grouped,
        }
    }

    /// The strictest cap on what all configurations of a workload say together.
    pub(crate) fn of_all(&self, cells: &Cells<'_>, workload: usize, metric: usize) -> Option<Cap> {
        let row: Vec<(usize, &Cell<'_>)> = cells.row(workload, metric).collect();
        let (configuration, first) = *row.first()?;
        let key = Key {
            workload,
            metric,
            configuration,
        };
        let caps = row
            .iter()
            .filter_map(|(_, cell)| self.of(cells, key, (first, cell)));
        caps.max_by_key(|cap| cap.verdict == Verdict::Undecided)
    }

    /// The strictest cap on `b` against `a`, both at the workload and metric of
    /// `key`.
    pub(crate) fn of(
        &self,
        cells: &Cells<'_>,
        key: Key,
        (a, b): (&Cell<'_>, &Cell<'_>),
    ) -> Option<Cap> {
        let place = (key.workload, key.metric);
        let cap = |verdict, lint| Some(Cap { verdict, lint });
        if self.drifting.contains(&place) {
            cap(Verdict::Undecided, "drift")
        } else if self.serial.contains(&place) {
            cap(Verdict::Undecided, "dependent-runs")
        } else if shares_image(cells, a, b) {
            cap(Verdict::Supported, "shared-image")
        } else if self.grouped.contains(&key.workload) {
            cap(Verdict::Supported, "unrandomised-order")
        } else if spreads_unequally(a, b) {
            cap(Verdict::Supported, "unequal-spread")
        } else {
            None
        }
    }
}

/// Whether several runs of one side went on from the same memory image. Then what
/// the image adds to a configuration was drawn fewer times than there are runs.
pub(crate) fn shares_image(cells: &Cells<'_>, a: &Cell<'_>, b: &Cell<'_>) -> bool {
    let shared = |cell: &Cell<'_>| {
        let mut images = BTreeSet::new();
        cell.runs.iter().any(|reading| {
            let image = cells.records.runs[reading.run].image;
            image.is_some_and(|image| !images.insert((reading.machine, image)))
        })
    };
    shared(a) || shared(b)
}

/// Whether one side has far fewer runs than the other, and they vary far more.
pub(crate) fn spreads_unequally(a: &Cell<'_>, b: &Cell<'_>) -> bool {
    let (few, many) = if a.runs.len() < b.runs.len() {
        (a, b)
    } else {
        (b, a)
    };
    if (many.runs.len() as f64) < UNEQUAL_RUNS * few.runs.len() as f64 {
        return false;
    }
    match (deviation(few), deviation(many)) {
        (Some(of_few), Some(of_many)) => of_few > UNEQUAL_SPREAD * of_many,
        _ => false,
    }
}

/// The standard deviation of the runs, on logarithms where they are positive.
fn deviation(cell: &Cell<'_>) -> Option<f64> {
    let values = cell.values();
    let positive = values.iter().all(|&v| v > 0.0);
    let of = |v: f64| if positive { v.ln() } else { v };
    let x: Vec<f64> = values.into_iter().map(of).collect();
    let mean = arithmetic(&x).filter(|_| x.len() > 1)?;
    let squares: f64 = x.iter().map(|x| (x - mean).powi(2)).sum();
    Some((squares / (x.len() - 1) as f64).sqrt())
}
