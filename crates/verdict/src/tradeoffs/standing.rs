//! The standing of each configuration of a trade-off.

use std::cmp::Ordering;

use super::reading::{RequestedAxis, RequestedTradeoff};
use super::{OwnComparison, TradeoffContrast, TradeoffEvaluator};
use crate::baselines::repeated;
use crate::cells::{Cell, CellKey};
use crate::compare::counted;
use crate::document::{
    Better, Domination, Relation, Standing, TradeoffPoint, TradeoffValue, Verdict,
};
use crate::identities::are_same;
use crate::row::ComparisonRow;
use crate::summaries::moments;
use crate::tables::{relation, row_relation};

/// How one configuration compares with another in one metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MetricStanding {
    /// Better, and whether that is only supported.
    Better {
        supported: bool,
    },
    /// Worse.
    Worse {
        supported: bool,
    },
    /// Equivalent, or identical.
    Alike,
    Unknown,
}

/// All points. `there`: the configurations that have both metrics; those with only one are shown
/// without a standing.
pub(super) fn points(
    evaluator: &TradeoffEvaluator<'_, '_>,
    own: &[OwnComparison],
    asked: &RequestedTradeoff,
    there: &[usize],
) -> Vec<TradeoffPoint> {
    let cells = evaluator.cells;
    let among = TradeoffConfigurations {
        evaluator,
        own,
        axes: &asked.axes,
        there,
    };
    let is_partly_there = |&at: &usize| {
        let values = asked.axes.iter().map(|axis| among.value(axis, at));
        values.filter(|value| value.mean.is_some()).count() == 1
    };
    let all = 0..cells.configurations.len();
    let shown = all.filter(|at| there.contains(at) || is_partly_there(at));
    shown
        .filter(|&at| repeated(cells, at).is_none())
        .map(|at| among.point(at))
        .collect()
}

/// The configurations of one trade-off, with their data.
struct TradeoffConfigurations<'t, 'c, 'a> {
    evaluator: &'t TradeoffEvaluator<'c, 'a>,
    own: &'t [OwnComparison],
    axes: &'t [RequestedAxis; 2],
    there: &'t [usize],
}

impl TradeoffConfigurations<'_, '_, '_> {
    fn point(&self, configuration: usize) -> TradeoffPoint {
        let [x, y] = [0, 1].map(|at| self.value(&self.axes[at], configuration));
        let mut point = TradeoffPoint {
            configuration: self.evaluator.cells.configurations[configuration].clone(),
            x,
            y,
            standing: Standing::Undecided,
            supported: false,
            dominated_by: Vec::new(),
            not_told_from: Vec::new(),
            equivalent_to: Vec::new(),
            because: None,
        };
        if self.there.contains(&configuration) {
            self.place(&mut point, configuration);
        } else {
            let axis = &self.axes[usize::from(point.x.mean.is_some())];
            let why = format!("no run has {} in {}", axis.metric, axis.workload);
            point.because = Some(why);
        }
        point
    }

    /// The mean of a configuration, and its row in the document.
    fn value(&self, axis: &RequestedAxis, configuration: usize) -> TradeoffValue {
        let cells = self.evaluator.cells;
        let found = axis.place.and_then(|(workload, metric)| {
            let key = CellKey {
                workload,
                metric,
                configuration,
            };
            Some((workload, &cells.metrics[metric], cells.get(key)?))
        });
        let Some((workload, metric, cell)) = found else {
            return TradeoffValue {
                n: None,
                mean: None,
                relative: None,
            };
        };
        let row = self.evaluator.comparisons.iter().find(|row| {
            row.workload == cells.workloads[workload]
                && (&row.metric, &row.unit) == (&metric.name, &metric.unit)
                && row.configuration == cells.configurations[configuration]
        });
        let (mean, n) = mean(cell);
        TradeoffValue {
            n,
            mean,
            relative: row.map(row_relation),
        }
    }

    /// Determines the standing of a configuration with both metrics among all others that have
    /// both.
    fn place(&self, point: &mut TradeoffPoint, configuration: usize) {
        for &other in self.there.iter().filter(|&&other| other != configuration) {
            let stands =
                [0, 1].map(|at| self.metric_standing(&self.axes[at], other, configuration));
            let name = self.evaluator.cells.configurations[other].clone();
            match stands {
                [MetricStanding::Worse { .. }, _] | [_, MetricStanding::Worse { .. }] => {
                    let strong = MetricStanding::Worse { supported: false };
                    point.supported |= !stands.contains(&strong);
                }
                [MetricStanding::Alike, MetricStanding::Alike] => point.equivalent_to.push(name),
                [MetricStanding::Unknown, _] | [_, MetricStanding::Unknown] => {
                    point.not_told_from.push(name)
                }
                _ => {
                    let [x, y] = [0, 1].map(|at| {
                        let contrast = contrast(&self.axes[at], other, configuration)?;
                        Some(of_first(self.evaluator.row(self.own, contrast)?, other))
                    });
                    let weak = |stand: &MetricStanding| {
                        *stand == MetricStanding::Better { supported: true }
                    };
                    point.dominated_by.push(Domination {
                        configuration: name,
                        supported: stands.iter().any(weak),
                        x,
                        y,
                    });
                }
            }
        }
        let nobody = (
            point.dominated_by.is_empty(),
            point.not_told_from.is_empty(),
        );
        point.standing = match nobody {
            (false, _) => Standing::Dominated,
            (true, true) => Standing::Front,
            (true, false) => Standing::Undecided,
        };
        point.supported = match point.standing {
            Standing::Front => point.supported,
            Standing::Dominated => point.dominated_by.iter().all(|one| one.supported),
            Standing::Undecided => false,
        };
    }

    /// How `one` compares with `other`.
    fn metric_standing(&self, axis: &RequestedAxis, one: usize, other: usize) -> MetricStanding {
        let Some(contrast) = contrast(axis, one, other) else {
            return MetricStanding::Unknown;
        };
        if are_same(self.evaluator.cells, one, other, contrast.workload) {
            return MetricStanding::Alike;
        }
        let Some(row) = self.evaluator.row(self.own, contrast) else {
            return MetricStanding::Unknown;
        };
        let supported = match row.verdict {
            Verdict::Established => false,
            Verdict::Supported => true,
            Verdict::Equivalent => return MetricStanding::Alike,
            Verdict::Undecided => return MetricStanding::Unknown,
        };
        let above = match (row.comparison.direction(), row.key.configuration == one) {
            (Some(Ordering::Equal) | None, _) => return MetricStanding::Unknown,
            (Some(way), true) => way == Ordering::Greater,
            (Some(way), false) => way == Ordering::Less,
        };
        match above == (axis.better == Better::Higher) {
            true => MetricStanding::Better { supported },
            false => MetricStanding::Worse { supported },
        }
    }
}

/// The mean as in comparisons, and the number of runs.
fn mean(cell: &Cell<'_>) -> (Option<f64>, Option<u32>) {
    if cell.runs.is_empty() {
        let summary = moments(cell);
        return (summary.map(|of| of.0), summary.and_then(|of| of.2));
    }
    let positive = cell.runs.iter().all(|run| run.value > 0.0);
    let counted = counted(cell, cell, positive);
    (counted.mean_a, counted.n_a)
}

fn contrast(axis: &RequestedAxis, one: usize, other: usize) -> Option<TradeoffContrast> {
    let (workload, metric) = axis.place?;
    Some(TradeoffContrast {
        workload,
        metric,
        one,
        other,
    })
}

/// A row's figures, expressed for `one` relative to the other configuration.
fn of_first(row: &ComparisonRow, one: usize) -> Relation {
    let found = Relation {
        verdict: Some(row.verdict),
        ..relation(&row.comparison, row.answer.p)
    };
    if row.key.configuration == one {
        return found;
    }
    let turned = |end: f64| match found.ratio {
        Some(_) => 1.0 / end,
        None => -end,
    };
    Relation {
        n_baseline: found.n,
        n: found.n_baseline,
        ratio: found.ratio.map(|ratio| 1.0 / ratio),
        ci: found.ci.map(|[low, high]| [turned(high), turned(low)]),
        difference: found.difference.map(|difference| -difference),
        ..found
    }
}
