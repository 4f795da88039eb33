//! The standing of each configuration of a trade-off.

use std::cmp::Ordering;

use super::reading::{Asked, Axis};
use super::{Contrast, Court, Own};
use crate::cells::{Cell, Key};
use crate::document::{
    Better, Domination, Relation, Standing, TradeoffPoint, TradeoffValue, Verdict,
};
use crate::identities::are_same;
use crate::noise::repeated;
use crate::row::Row;
use crate::summaries::moments;
use crate::tables::taken;
use crate::weigh::counted;

/// How one configuration compares with another in one metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stand {
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

/// All points. `there` are the configurations that have both metrics; those that have only one are
/// shown without a standing.
pub(super) fn points(
    court: &Court<'_, '_>,
    own: &[Own],
    asked: &Asked,
    there: &[usize],
) -> Vec<TradeoffPoint> {
    let cells = court.cells;
    let among = Among {
        court,
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
struct Among<'t, 'c, 'a> {
    court: &'t Court<'c, 'a>,
    own: &'t [Own],
    axes: &'t [Axis; 2],
    there: &'t [usize],
}

impl Among<'_, '_, '_> {
    fn point(&self, configuration: usize) -> TradeoffPoint {
        let [x, y] = [0, 1].map(|at| self.value(&self.axes[at], configuration));
        let mut point = TradeoffPoint {
            configuration: self.court.cells.configurations[configuration].clone(),
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
    fn value(&self, axis: &Axis, configuration: usize) -> TradeoffValue {
        let cells = self.court.cells;
        let found = axis.place.and_then(|(workload, metric)| {
            let key = Key {
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
        let row = self.court.comparisons.iter().find(|row| {
            row.workload == cells.workloads[workload]
                && (&row.metric, &row.unit) == (&metric.name, &metric.unit)
                && row.configuration == cells.configurations[configuration]
        });
        let (mean, n) = mean(cell);
        TradeoffValue {
            n,
            mean,
            relative: row.map(taken),
        }
    }

    /// Determines the standing of a configuration with both metrics among all others that have
    /// both.
    fn place(&self, point: &mut TradeoffPoint, configuration: usize) {
        for &other in self.there.iter().filter(|&&other| other != configuration) {
            let stands = [0, 1].map(|at| self.stand(&self.axes[at], other, configuration));
            let name = self.court.cells.configurations[other].clone();
            match stands {
                [Stand::Worse { .. }, _] | [_, Stand::Worse { .. }] => {
                    let strong = Stand::Worse { supported: false };
                    point.supported |= !stands.contains(&strong);
                }
                [Stand::Alike, Stand::Alike] => point.equivalent_to.push(name),
                [Stand::Unknown, _] | [_, Stand::Unknown] => point.not_told_from.push(name),
                _ => {
                    let [x, y] = [0, 1].map(|at| {
                        let contrast = contrast(&self.axes[at], other, configuration)?;
                        Some(of_first(self.court.row(self.own, contrast)?, other))
                    });
                    let weak = |stand: &Stand| *stand == Stand::Better { supported: true };
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
    fn stand(&self, axis: &Axis, one: usize, other: usize) -> Stand {
        let Some(contrast) = contrast(axis, one, other) else {
            return Stand::Unknown;
        };
        if are_same(self.court.cells, one, other, contrast.workload) {
            return Stand::Alike;
        }
        let Some(row) = self.court.row(self.own, contrast) else {
            return Stand::Unknown;
        };
        let supported = match row.verdict {
            Verdict::Established => false,
            Verdict::Supported => true,
            Verdict::Equivalent => return Stand::Alike,
            Verdict::Undecided => return Stand::Unknown,
        };
        let above = match (row.weighed.direction(), row.key.configuration == one) {
            (Some(Ordering::Equal) | None, _) => return Stand::Unknown,
            (Some(way), true) => way == Ordering::Greater,
            (Some(way), false) => way == Ordering::Less,
        };
        match above == (axis.better == Better::Higher) {
            true => Stand::Better { supported },
            false => Stand::Worse { supported },
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

fn contrast(axis: &Axis, one: usize, other: usize) -> Option<Contrast> {
    let (workload, metric) = axis.place?;
    Some(Contrast {
        workload,
        metric,
        one,
        other,
    })
}

/// A row's figures for `one` compared with the other of its two configurations.
fn of_first(row: &Row, one: usize) -> Relation {
    let weighed = &row.weighed;
    let relation = Relation {
        n_baseline: weighed.n_a,
        n: weighed.n_b,
        ratio: weighed.ratio,
        ci: weighed.ci_ends(),
        p_t: weighed.p_t,
        t_test: weighed.t_test,
        p: row.answer.p,
        difference: weighed.difference,
        verdict: Some(row.verdict),
        because: (!weighed.because.is_empty()).then(|| weighed.because.join("; ")),
    };
    if row.key.configuration == one {
        return relation;
    }
    let turned = |end: f64| match relation.ratio {
        Some(_) => 1.0 / end,
        None => -end,
    };
    Relation {
        n_baseline: relation.n,
        n: relation.n_baseline,
        ratio: relation.ratio.map(|ratio| 1.0 / ratio),
        ci: relation.ci.map(|[low, high]| [turned(high), turned(low)]),
        difference: relation.difference.map(|difference| -difference),
        ..relation
    }
}
