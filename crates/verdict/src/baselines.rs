//! Chooses the configuration that the others are compared with.

use crate::cells::{CellKey, Cells};
use crate::document::Lint;
use crate::error::Error;
use crate::names::folded;
use crate::names::{NameKind, resolve};
use crate::options::{Against, Options};
use crate::words::and_list;

/// The baseline of each workload.
pub(crate) struct Baselines {
    of_workload: Vec<Option<usize>>,
    /// The configuration that the user chose, if any.
    pub(crate) chosen: Option<usize>,
    pub(crate) against: Against,
}

impl Baselines {
    /// Uses the user's baseline for all workloads or, without one, the first configuration of each
    /// workload.
    pub(crate) fn new(cells: &Cells<'_>, options: &Options) -> Result<Self, Error> {
        let chosen = options.baseline.as_deref();
        let chosen = chosen
            .map(|name| resolve(NameKind::Configuration, name, &cells.configurations))
            .transpose()
            .map_err(Error::Baseline)?;
        let of_workload = (0..cells.workloads.len())
            .map(|workload| {
                let present = cells.present(workload);
                match chosen {
                    Some(chosen) => present.contains(&chosen).then_some(chosen),
                    None => present.first().copied(),
                }
            })
            .collect();
        Ok(Baselines {
            of_workload,
            chosen,
            against: options.against,
        })
    }

    pub(crate) fn baseline_on(&self, workload: usize) -> Option<usize> {
        self.of_workload.get(workload).copied().flatten()
    }

    /// Every cell to compare and its baseline, in the order of the cells. A repeated baseline is
    /// not compared with anything.
    pub(crate) fn compared(&self, cells: &Cells<'_>) -> Vec<(CellKey, usize)> {
        let mut all = Vec::new();
        for (workload, metric) in cells.rows() {
            let key = |configuration| CellKey {
                workload,
                metric,
                configuration,
            };
            let there = cells.row(workload, metric).map(|(at, _)| at);
            let pairs = self.pairs(cells, there.collect(), self.baseline_on(workload));
            all.extend(pairs.map(|(at, baseline)| (key(at), baseline)));
        }
        all
    }

    /// Pairs each configuration in `there` with the one that it is compared with, in order; those
    /// that are not compared are left out. `baseline` is the workload's baseline.
    pub(crate) fn pairs(
        &self,
        cells: &Cells<'_>,
        mut there: Vec<usize>,
        baseline: Option<usize>,
    ) -> impl Iterator<Item = (usize, usize)> + use<> {
        let baseline = baseline.filter(|at| there.contains(at));
        there.retain(|&at| Some(at) == baseline || repeated(cells, at).is_none());
        let before: Vec<Option<usize>> = match self.against {
            Against::Baseline => vec![baseline; there.len()],
            Against::Predecessor => std::iter::once(None)
                .chain(there.iter().copied().map(Some))
                .collect(),
        };
        let pairs = there.into_iter().zip(before);
        pairs.filter_map(|(at, before)| Some((at, before.filter(|&before| before != at)?)))
    }

    /// The name of [`Baselines::main`].
    pub(crate) fn main_name(&self, cells: &Cells<'_>) -> Option<String> {
        self.main(cells).map(|at| cells.configurations[at].clone())
    }

    /// The document's main baseline: the user's choice, or the baseline of most
    /// workloads with something to compare, or the first configuration.
    pub(crate) fn main(&self, cells: &Cells<'_>) -> Option<usize> {
        let rank = |configuration: usize| {
            (0..cells.workloads.len())
                .filter(|&w| self.baseline_on(w) == Some(configuration))
                .map(|w| cells.present(w).len().saturating_sub(1))
                .sum::<usize>()
        };
        let all = 0..cells.configurations.len();
        self.chosen
            .or_else(|| all.min_by_key(|&c| std::cmp::Reverse(rank(c))))
    }

    /// Lints for workloads where the main baseline could not be used.
    pub(crate) fn lints(&self, cells: &Cells<'_>) -> Vec<Lint> {
        let main = self.main(cells);
        let Some(main) = main.filter(|_| self.against == Against::Baseline) else {
            return Vec::new();
        };
        let main_name = &cells.configurations[main];
        if self.chosen.is_some() {
            return self.left_out(cells, main_name).into_iter().collect();
        }
        (0..cells.workloads.len())
            .filter_map(|w| Some((w, self.baseline_on(w).filter(|&b| b != main)?)))
            .filter(|&(w, _)| cells.present(w).len() > 1)
            .map(|(w, baseline)| Lint {
                code: "missing-baseline".into(),
                location: cells.workloads[w].clone(),
                detail: format!(
                    "{main_name} was not run here: {} is the baseline instead",
                    cells.configurations[baseline]
                ),
                ..Lint::default()
            })
            .collect()
    }

    fn left_out(&self, cells: &Cells<'_>, baseline: &str) -> Option<Lint> {
        let without: Vec<&str> = (0..cells.workloads.len())
            .filter(|&w| self.baseline_on(w).is_none() && !cells.present(w).is_empty())
            .map(|w| cells.workloads[w].as_str())
            .collect();
        (!without.is_empty()).then(|| Lint {
            code: "missing-cell".into(),
            location: without.join(", "),
            detail: format!(
                "the baseline {baseline} was not run on {}: nothing is compared there",
                and_list(&without)
            ),
            ..Lint::default()
        })
    }
}

/// The configuration that this one repeats, if any.
pub(crate) fn repeated(cells: &Cells<'_>, configuration: usize) -> Option<usize> {
    let name = folded(&cells.configurations[configuration]);
    let recorded = &cells.records.configurations;
    let of = recorded.iter().find(|c| folded(&c.name) == name)?;
    let baseline = cells.configuration(of.repeats.as_ref()?)?;
    (baseline != configuration).then_some(baseline)
}
