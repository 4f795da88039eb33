//! Gathers the evidence for each claim, and registers hypotheses that no row tests yet.

use assize_judge::counts;

use super::declared::RequestedClaim;
use super::grammar::{KnownNames, ParsedClaim};
use super::{ClaimEvidence, EvidenceFigures, OtherHypotheses, PendingClaim, VerdictSource};
use crate::cells::{CellKey, Cells};
use crate::compare::{CellComparison, compare_cells};
use crate::document::{ClaimOrigin, RunEnd, Scale};
use crate::family::{Hypotheses, OutcomeHypothesis};
use crate::options::Options;
use crate::rates::{self, PlacedEvents};
use crate::row::{ComparisonRow, ConfigurationPair};

/// Everything needed to test claims.
pub(super) struct ClaimEvaluator<'c, 'a> {
    pub(super) cells: &'c Cells<'a>,
    pub(super) grounds: OtherHypotheses<'c, 'a>,
    pub(super) events: &'c [PlacedEvents<'a>],
    pub(super) options: &'c Options,
    pub(super) hypotheses: &'c mut Hypotheses,
}

impl ClaimEvaluator<'_, '_> {
    pub(super) fn gather_evidence(
        &mut self,
        heard: RequestedClaim<'_>,
        reading: ParsedClaim,
        names: &KnownNames,
    ) -> PendingClaim {
        let declared = heard.origin == ClaimOrigin::Declared;
        let (parts, left_out) = match names.outcome(reading.metric) {
            Some(end) => {
                let whole = self.by_outcomes(reading, end);
                (whole.into_iter().collect(), Vec::new())
            }
            None => self.by_workloads(declared, reading, names),
        };
        PendingClaim {
            text: heard.text.to_owned(),
            origin: heard.origin,
            reading: Ok(reading),
            parts,
            left_out,
        }
    }

    /// Compares A with B on each workload; also returns the workloads that only one of them has.
    fn by_workloads(
        &mut self,
        declared: bool,
        reading: ParsedClaim,
        names: &KnownNames,
    ) -> (Vec<ClaimEvidence>, Vec<String>) {
        let metric = &names.metrics[reading.metric];
        let (mut parts, mut left_out) = (Vec::new(), Vec::new());
        for workload in 0..names.workloads.len() {
            if reading.workload.is_some_and(|wanted| wanted != workload) {
                continue;
            }
            let mut found = self.by_values(declared, reading, metric, workload);
            if found.is_empty() {
                found.extend(self.by_events(reading, metric, workload));
            }
            if found.is_empty() {
                left_out.push(names.workloads[workload].clone());
            }
            parts.append(&mut found);
        }
        (parts, left_out)
    }

    /// Compares A with B by runs or summaries, in each unit that both have.
    fn by_values(
        &mut self,
        declared: bool,
        reading: ParsedClaim,
        metric: &str,
        workload: usize,
    ) -> Vec<ClaimEvidence> {
        let cells = self.cells;
        let same = (0..cells.metrics.len()).filter(|&m| cells.metrics[m].name == metric);
        let parts = same.filter_map(|metric| {
            let key = |configuration| CellKey {
                workload,
                metric,
                configuration,
            };
            let (a, b) = (cells.get(key(reading.a))?, cells.get(key(reading.b))?);
            let comparison = compare_cells(cells, b, a);
            let row = self.grounds.rows.iter().position(|row| {
                let pair = (row.baseline, row.key.configuration);
                let (there, back) = ((reading.b, reading.a), (reading.a, reading.b));
                (row.key.workload, row.key.metric) == (workload, metric)
                    && (pair == there || pair == back)
            });
            let source = match row {
                Some(row) if reading.bound == 1.0 => VerdictSource::Row(row),
                _ => {
                    let pair = ConfigurationPair {
                        key: key(reading.a),
                        baseline: reading.b,
                        primary: declared
                            && self.grounds.rows.iter().any(|row| {
                                row.primary
                                    && (row.key.workload, row.key.metric) == (workload, metric)
                            }),
                        bound: reading.bound,
                    };
                    self.own_comparison(&comparison, pair, row)
                }
            };
            Some(ClaimEvidence {
                workload: cells.workloads[workload].clone(),
                evidence: EvidenceFigures::Values(Box::new(comparison)),
                source,
            })
        });
        parts.collect()
    }

    /// Compares A with B for this claim alone: tests on which side of the bound the ratio is.
    fn own_comparison(
        &mut self,
        comparison: &CellComparison,
        pair: ConfigurationPair,
        beside: Option<usize>,
    ) -> VerdictSource {
        if comparison.scale == Scale::Raw && pair.bound != 1.0 {
            return VerdictSource::None("a margin in per cent needs positive values");
        }
        if comparison.across.is_some() && pair.bound != 1.0 {
            return VerdictSource::None("a margin is tested on one machine at a time");
        }
        let row = ComparisonRow::ask(
            self.cells,
            pair,
            self.grounds.caps,
            self.options,
            self.hypotheses,
        );
        row.map_or(
            VerdictSource::None("one of the two configurations has no values"),
            |row| VerdictSource::Own(Box::new(row), beside),
        )
    }

    /// Compares A with B by counts of events.
    fn by_events(
        &mut self,
        reading: ParsedClaim,
        event: &str,
        workload: usize,
    ) -> Option<ClaimEvidence> {
        let of = |configuration| {
            self.events.iter().position(|c| {
                c.workload == workload
                    && c.configuration == configuration
                    && c.events.event == event
            })
        };
        let (at_a, at_b) = (of(reading.a)?, of(reading.b)?);
        let (a, b) = (&self.events[at_a], &self.events[at_b]);
        let OtherHypotheses { rates, caps, .. } = self.grounds;
        let known = rates.hypothesis(at_b, at_a);
        let compared = rates::ask(self.cells, b, a, known, caps, self.hypotheses);
        let source = if reading.bound == 1.0 {
            VerdictSource::Rates(at_b, at_a)
        } else {
            VerdictSource::None("rates of events are not tested against a margin")
        };
        Some(ClaimEvidence {
            workload: self.cells.workloads[workload].clone(),
            evidence: EvidenceFigures::Events {
                counts: [a.events.count, b.events.count],
                exposures: [a.exposure_s, b.exposure_s],
                compared: Box::new(compared),
            },
            source,
        })
    }

    /// Compares the shares of A's and B's runs with one ending, pooled over all common workloads
    /// unless the claim names one. A margin is in percentage points.
    fn by_outcomes(&mut self, reading: ParsedClaim, end: RunEnd) -> Option<ClaimEvidence> {
        let OtherHypotheses { ends, ended, .. } = self.grounds;
        let configurations = &self.cells.configurations;
        let names = [reading.a, reading.b].map(|at| configurations[at].as_str());
        let share = |pair| ends.share(end, reading.workload, pair);
        let (a, b) = (share([reading.a, reading.b]), share([reading.b, reading.a]));
        if a.of == 0 || b.of == 0 {
            return None;
        }
        let is_whole = reading.workload.is_none() || self.cells.workloads.len() == 1;
        let excess = reading.excess();
        let row = ended
            .iter()
            .find_map(|row| row.hypothesis_about(end, names));
        let row = row.filter(|_| is_whole && excess == 0.0);
        let (asked, p, p_attainable) = row.unwrap_or_else(|| {
            let [a, b] = ends.effective_shares(end, reading.workload, [reading.a, reading.b]);
            let (p, p_attainable) = match excess == 0.0 {
                true => (
                    counts::fisher(b, a),
                    counts::fisher_attainable(a.count + b.count, b.of, a.of),
                ),
                false => (
                    counts::exceeds(b, a, excess),
                    counts::exceeds_attainable(b.of, a.of, excess),
                ),
            };
            let p = p.unwrap_or(1.0);
            let asked = self.hypotheses.ask_outcome(OutcomeHypothesis {
                p,
                p_attainable,
                rare: false,
            });
            (asked, p, p_attainable)
        });
        let workload = reading.workload.map(|at| &*self.cells.workloads[at]);
        Some(ClaimEvidence {
            workload: workload.unwrap_or("all runs").to_owned(),
            evidence: EvidenceFigures::Outcomes {
                end,
                shares: [a, b],
                p,
                p_attainable,
            },
            source: VerdictSource::Outcome(asked),
        })
    }
}
