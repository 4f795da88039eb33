//! Caps: the best verdict that a lint allows.

use std::collections::BTreeSet;

use crate::cells::{Cell, CellKey, Cells};
use crate::document::Verdict;
use crate::lints::order::{OrderFinding, OrderFindings};
use crate::lost::LostRuns;
use crate::means::arithmetic;
use crate::outcomes::RunEndings;
use crate::rest;

/// Numbers of runs are unequal if one side has at least this many times as many as the other.
const UNEQUAL_RUNS: f64 = 2.0;
/// With unequal numbers of runs, the side with fewer varies far more if its standard deviation is
/// more than this many times the other's.
const UNEQUAL_SPREAD: f64 = 2.0;
/// With similar numbers of runs, the spreads differ if either standard deviation is more than this
/// many times the other's.
const UNEQUAL_SPREAD_OF_EQUALLY_MANY: f64 = 3.0;
/// With this many runs of each side, the test has enough information on both
/// variances.
const ENOUGH_RUNS: usize = 20;
/// With fewer runs of each side, the permutation test cannot reach alpha anyway.
const FEWEST_RUNS: usize = 4;

/// The best verdict that a lint allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cap {
    pub(crate) verdict: Verdict,
    /// The lint's code.
    pub(crate) lint: &'static str,
}

impl Cap {
    /// The cap in words.
    pub(crate) fn sentence(self) -> String {
        let (verdict, lint) = (self.verdict.word(), self.lint);
        match self.verdict {
            Verdict::Undecided => format!("{verdict} because of the lint {lint}"),
            _ => format!("at most {verdict}, because of the lint {lint}"),
        }
    }
}

/// Caps on whole workloads and metrics that follow from the order of the runs.
pub(crate) struct Caps<'o> {
    order: &'o OrderFindings,
    ends: &'o RunEndings<'o>,
    /// Workload and metric of cells that drift within a configuration.
    drifting: BTreeSet<(usize, usize)>,
    /// Workload and metric whose consecutive runs are correlated.
    serial: BTreeSet<(usize, usize)>,
}

impl<'o> Caps<'o> {
    pub(crate) fn new(order: &'o OrderFindings, ends: &'o RunEndings<'o>) -> Self {
        let places = |found: &[OrderFinding]| found.iter().map(OrderFinding::place).collect();
        Caps {
            order,
            ends,
            drifting: places(&order.drifting),
            serial: places(&order.serial),
        }
    }

    /// The runs that two configurations lost on a workload.
    pub(crate) fn lost(&self, workload: usize, configurations: [usize; 2]) -> LostRuns {
        LostRuns(configurations.map(|one| self.ends.lost(workload, one)))
    }

    /// The strictest cap on a result that combines all configurations of a workload.
    pub(crate) fn of_all(&self, cells: &Cells<'_>, workload: usize, metric: usize) -> Option<Cap> {
        let row: Vec<(usize, &Cell<'_>)> = cells.row(workload, metric).collect();
        let (configuration, first) = *row.first()?;
        let key = CellKey {
            workload,
            metric,
            configuration,
        };
        let caps = row
            .iter()
            .filter_map(|(_, cell)| self.cap_for(cells, key, (first, cell)));
        caps.max_by_key(|cap| cap.verdict == Verdict::Undecided)
    }

    /// The strictest cap on the comparison of `b` with `a`, both at the workload
    /// and metric of `key`.
    pub(crate) fn cap_for(
        &self,
        cells: &Cells<'_>,
        key: CellKey,
        (a, b): (&Cell<'_>, &Cell<'_>),
    ) -> Option<Cap> {
        let place = (key.workload, key.metric);
        let cap = |verdict, lint| Some(Cap { verdict, lint });
        if self.drifting.contains(&place) {
            cap(Verdict::Undecided, "drift")
        } else if self.serial.contains(&place) {
            cap(Verdict::Undecided, "dependent-runs")
        } else if rest::is_too_often(cells, &cells.metrics[key.metric].name) {
            Some(rest::CAP)
        } else {
            self.of_runs(cells, key.workload, (a, b))
        }
    }

    /// The strictest cap on any comparison of the runs of `b` and `a`, for any metric.
    pub(crate) fn of_runs(
        &self,
        cells: &Cells<'_>,
        workload: usize,
        (a, b): (&Cell<'_>, &Cell<'_>),
    ) -> Option<Cap> {
        let cap = |verdict, lint| Some(Cap { verdict, lint });
        if shares_image(cells, a, b) {
            cap(Verdict::Supported, "shared-image")
        } else if self.order.grouped.contains(&workload) {
            cap(Verdict::Supported, "unrandomised-order")
        } else {
            cap(unequal_spread(a, b)?, "unequal-spread")
        }
    }
}

/// Whether several runs of one side start from the same memory image and still count as replicates,
/// because there is only one image. Any effect of that image on a configuration is then in all of
/// its runs.
pub(crate) fn shares_image(cells: &Cells<'_>, a: &Cell<'_>, b: &Cell<'_>) -> bool {
    let shared = |cell: &Cell<'_>| {
        let mut images = BTreeSet::new();
        cell.runs.iter().any(|reading| {
            let image = cells.records.runs[reading.run].image;
            let image = image.filter(|_| reading.image.is_none());
            image.is_some_and(|image| !images.insert((reading.machine, image)))
        })
    };
    shared(a) || shared(b)
}

/// The best verdict if spreads differ so much that exchanging labels is not a fair test of the
/// means; `None` if there are many runs or blocks, or spreads are similar. With equal numbers of
/// runs the t test is robust to this, so a difference that it confirms may be established.
pub(crate) fn unequal_spread(a: &Cell<'_>, b: &Cell<'_>) -> Option<Verdict> {
    let (few, many) = if a.runs.len() < b.runs.len() {
        (a, b)
    } else {
        (b, a)
    };
    let in_blocks = a.runs.iter().chain(&b.runs).all(|run| run.block.is_some());
    let (of_few, of_many) = (deviation(few)?, deviation(many)?);
    if in_blocks || few.runs.len() >= ENOUGH_RUNS {
        return None;
    }
    if many.runs.len() as f64 >= UNEQUAL_RUNS * few.runs.len() as f64 {
        return (of_few > UNEQUAL_SPREAD * of_many).then_some(Verdict::Supported);
    }
    let differ = of_few.max(of_many) > UNEQUAL_SPREAD_OF_EQUALLY_MANY * of_few.min(of_many);
    (differ && few.runs.len() >= FEWEST_RUNS).then_some(Verdict::Established)
}

/// The standard deviation of the runs, on the log scale if all values are
/// positive.
fn deviation(cell: &Cell<'_>) -> Option<f64> {
    let values = cell.values();
    let positive = values.iter().all(|&v| v > 0.0);
    let of = |v: f64| if positive { v.ln() } else { v };
    let x: Vec<f64> = values.into_iter().map(of).collect();
    let mean = arithmetic(&x).filter(|_| x.len() > 1)?;
    let squares: f64 = x.iter().map(|x| (x - mean).powi(2)).sum();
    Some((squares / (x.len() - 1) as f64).sqrt())
}
