//! Trade-offs: two metrics, and the configurations that no other dominates.
//!
//! Whether a configuration dominates another depends on two comparisons, so each pair of
//! configurations is compared in both metrics. Rows of the document are reused; the other
//! comparisons are tested with them, in the same family.

mod reading;
mod standing;

use std::collections::BTreeSet;

use assize_judge::equivalence;

pub(crate) use reading::check_form;

use crate::baselines::Baselines;
use crate::baselines::repeated;
use crate::caps::Caps;
use crate::cells::{CellKey, Cells};
use crate::claims::{pairs, survives};
use crate::document::{ClaimOrigin, Comparison, Lint, Scale, Tradeoff, TradeoffAxis, Verdict};
use crate::error::Error;
use crate::family::{Hypotheses, HypothesisResults};
use crate::identities::are_same;
use crate::options::Options;
use crate::row::{ComparisonRow, ConfigurationPair};
use reading::{RequestedAxis, RequestedTradeoff, absent, requested_tradeoffs};

/// Two configurations to compare in one metric of one workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TradeoffContrast {
    workload: usize,
    metric: usize,
    one: usize,
    other: usize,
}

/// All trade-offs, before the family is tested.
pub(crate) struct PendingTradeoffs {
    asked: Vec<RequestedTradeoff>,
    /// Comparisons made only for trade-offs, because no row covers them.
    own: Vec<OwnComparison>,
    lints: Vec<Lint>,
}

/// A comparison that only trade-offs ask for.
struct OwnComparison {
    row: ComparisonRow,
    origin: ClaimOrigin,
}

/// Registers the hypotheses of the trade-offs.
///
/// All pairs are tested whatever the runs show, so that no pair is selected by its result.
/// Trade-offs that are declared between primary metrics are primary.
pub(crate) fn ask_all(
    cells: &Cells<'_>,
    rows: &[ComparisonRow],
    primary: &BTreeSet<usize>,
    caps: &Caps<'_>,
    options: &Options,
    hypotheses: &mut Hypotheses,
) -> Result<PendingTradeoffs, Error> {
    for text in &options.tradeoffs {
        check_form(text)?;
    }
    let asked = match cells.rows().is_empty() {
        true => Vec::new(),
        false => requested_tradeoffs(cells, options)?,
    };
    let mut own: Vec<OwnComparison> = Vec::new();
    for tradeoff in &asked {
        for contrast in contrasts(cells, tradeoff) {
            let known = rows.iter().chain(own.iter().map(|own| &own.row));
            if known.into_iter().any(|row| contrast.is_of(row)) {
                continue;
            }
            let declared = tradeoff.origin == ClaimOrigin::Declared;
            let pair = ConfigurationPair {
                key: contrast.key(contrast.other),
                baseline: contrast.one,
                primary: declared && primary.contains(&contrast.metric),
                bound: 1.0,
            };
            let row = ComparisonRow::ask(cells, pair, caps, options, hypotheses);
            own.extend(row.map(|row| OwnComparison {
                row,
                origin: tradeoff.origin,
            }));
        }
    }
    let declared = cells.records.tradeoffs.iter();
    let lints = declared.flat_map(|one| absent(cells, one)).collect();
    Ok(PendingTradeoffs { asked, own, lints })
}

impl TradeoffContrast {
    fn key(self, configuration: usize) -> CellKey {
        CellKey {
            workload: self.workload,
            metric: self.metric,
            configuration,
        }
    }

    fn is_of(self, row: &ComparisonRow) -> bool {
        let pair = (row.baseline, row.key.configuration);
        (row.key.workload, row.key.metric) == (self.workload, self.metric)
            && (pair == (self.one, self.other) || pair == (self.other, self.one))
    }
}

/// The configurations that have both metrics, without repeated baselines.
fn complete(cells: &Cells<'_>, tradeoff: &RequestedTradeoff) -> Vec<usize> {
    let has = |axis: &RequestedAxis, at| axis.place.is_some_and(|place| cells.has(place, at));
    (0..cells.configurations.len())
        .filter(|&at| tradeoff.axes.iter().all(|axis| has(axis, at)))
        .filter(|&at| repeated(cells, at).is_none())
        .collect()
}

/// Each pair of configurations in both metrics, except pairs that are identical on the workload.
fn contrasts(cells: &Cells<'_>, tradeoff: &RequestedTradeoff) -> Vec<TradeoffContrast> {
    let there = complete(cells, tradeoff);
    let mut all = Vec::new();
    for (workload, metric) in tradeoff.axes.iter().filter_map(|axis| axis.place) {
        for (at, &one) in there.iter().enumerate() {
            let others = there[at + 1..].iter();
            let others = others.filter(|&&other| !are_same(cells, one, other, workload));
            all.extend(others.map(|&other| TradeoffContrast {
                workload,
                metric,
                one,
                other,
            }));
        }
    }
    all
}

/// Everything needed to decide trade-offs.
pub(crate) struct TradeoffEvaluator<'c, 'a> {
    pub(crate) cells: &'c Cells<'a>,
    pub(crate) baselines: &'c Baselines,
    /// The decided rows; `comparisons` holds the same rows in the form of the document.
    pub(crate) rows: &'c [ComparisonRow],
    pub(crate) comparisons: &'c [Comparison],
}

impl TradeoffEvaluator<'_, '_> {
    /// Decides all trade-offs; also returns lints for names that no run has.
    pub(crate) fn settle(
        &self,
        pending: PendingTradeoffs,
        answers: &HypothesisResults,
        options: &Options,
    ) -> (Vec<Tradeoff>, Vec<Lint>) {
        let mut own = pending.own;
        let among = pairs(self.cells);
        for one in &mut own {
            one.row.settle(answers, options);
            if one.origin == ClaimOrigin::PostHoc && !holds_among(&one.row, among, options) {
                one.row.verdict = Verdict::Undecided;
            }
        }
        let tradeoffs = pending.asked.iter().map(|asked| {
            let there = complete(self.cells, asked);
            Tradeoff {
                origin: asked.origin,
                x: self.axis(&asked.axes[0]),
                y: self.axis(&asked.axes[1]),
                level: options.level,
                because: there
                    .is_empty()
                    .then(|| "no configuration has runs with both metrics".to_owned()),
                points: standing::points(self, &own, asked, &there),
            }
        });
        (tradeoffs.collect(), pending.lints)
    }

    /// The row that compares two configurations.
    fn row<'o>(
        &'o self,
        own: &'o [OwnComparison],
        contrast: TradeoffContrast,
    ) -> Option<&'o ComparisonRow> {
        let own = own.iter().map(|own| &own.row);
        let mut known = self.rows.iter().chain(own);
        known.find(|row| contrast.is_of(row))
    }

    fn axis(&self, axis: &RequestedAxis) -> TradeoffAxis {
        let unit = axis
            .place
            .map(|(_, metric)| self.cells.metrics[metric].unit.clone());
        let baseline = axis
            .place
            .and_then(|(workload, _)| self.baselines.baseline_on(workload));
        TradeoffAxis {
            workload: axis.workload.clone(),
            metric: axis.metric.clone(),
            unit: unit.unwrap_or_default(),
            better: axis.better,
            baseline: baseline.map(|at| self.cells.configurations[at].clone()),
        }
    }
}

/// Whether a row's verdict survives correction for all `pairs` from which a trade-off could be
/// chosen after the runs.
fn holds_among(row: &ComparisonRow, pairs: usize, options: &Options) -> bool {
    match row.verdict {
        Verdict::Established | Verdict::Supported => survives(&row.comparison, 1.0, pairs, options),
        Verdict::Equivalent => {
            let estimate = row
                .comparison
                .estimate
                .filter(|_| row.comparison.scale != Scale::Raw);
            let tests = estimate.and_then(|one| equivalence::of_ratio(&one, options.margin).ok());
            tests.is_some_and(|tests| tests.p <= options.alpha / pairs as f64)
        }
        Verdict::Undecided => true,
    }
}
