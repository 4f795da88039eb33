//! The terms for judging that an experiment declared before the data were seen.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use assize_bundle::Error;
use assize_judge::power::{ComparisonLayout, PowerDesign};
use assize_judge::spending;
use assize_plan::{Plan, StopRule};
use assize_verdict::PRIMARY_SHARE;
use serde::Deserialize;

use crate::cli::ALPHA;
use crate::failure::Failure;

/// The terms on which records are judged.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct JudgingTerms {
    /// Ratios within 1 ± this are equivalent, if the experiment declares it.
    pub(crate) margin: Option<f64>,
    /// The interim looks of each experiment that may stop early.
    pub(crate) looks: Vec<InterimLooks>,
}

/// The planned looks at the data of an experiment, and how many blocks are complete now.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InterimLooks {
    /// The number of complete blocks at each look; all blocks at the last.
    pub(crate) ends: Vec<u32>,
    /// The number of blocks that are complete now.
    there: u32,
}

impl InterimLooks {
    /// The planned looks at which anything could be established (see [`spending::able_looks`]), and
    /// the last.
    pub(crate) fn planned(until: &StopRule, most: u32) -> Self {
        let (first, every) = (until.first_look.max(1), until.every.max(1));
        let mut ends: Vec<u32> = (first..most).step_by(every as usize).collect();
        ends.push(most);
        let floor = |&runs: &u32| {
            let layout = ComparisonLayout::Pairs;
            (PowerDesign { layout, runs }.least_p() / PRIMARY_SHARE).min(1.0)
        };
        let floors: Vec<f64> = ends.iter().map(floor).collect();
        let able = spending::able_looks(ALPHA, &fractions(&ends), &floors);
        let ends = match able.ok().flatten() {
            Some(looks) => looks.iter().map(|look| ends[look.planned]).collect(),
            None => vec![most],
        };
        InterimLooks { ends, there: most }
    }

    /// The same looks with this many complete blocks.
    pub(crate) fn with_complete(mut self, blocks: u32) -> Self {
        self.there = blocks;
        self
    }

    /// The share of alpha at each look.
    pub(crate) fn levels(&self, alpha: f64) -> Vec<f64> {
        let even = |_| vec![alpha / self.ends.len() as f64; self.ends.len()];
        spending::levels(alpha, &fractions(&self.ends)).unwrap_or_else(even)
    }

    /// The share of alpha at the last look reached; before the first look, the share of the first,
    /// which is the smallest.
    fn level(&self, alpha: f64) -> f64 {
        let reached = self.ends.iter().rposition(|end| *end <= self.there);
        self.levels(alpha)[reached.unwrap_or(0)]
    }
}

/// The fraction of all blocks that is complete at each look.
fn fractions(ends: &[u32]) -> Vec<f64> {
    let most = ends.last().copied().unwrap_or(1);
    let share = |end: &u32| f64::from(*end) / f64::from(most);
    ends.iter().map(share).collect()
}

/// The relevant keys of a plan.
#[derive(Deserialize)]
struct PlanTerms {
    margin: f64,
    until: Option<StopRule>,
    #[serde(default)]
    runs: Vec<BlockOfRun>,
}

#[derive(Deserialize)]
struct BlockOfRun {
    index: u32,
    block: u32,
}

impl JudgingTerms {
    /// The terms of an experiment once all its runs are done.
    pub(crate) fn planned(plan: &Plan) -> Self {
        let blocks: BTreeSet<u32> = plan.runs.iter().map(|run| run.block).collect();
        let looks = |until: &StopRule| InterimLooks::planned(until, blocks.len() as u32);
        JudgingTerms {
            margin: Some(plan.margin),
            looks: plan.until.iter().map(looks).collect(),
        }
    }

    /// The terms of a bundle of runs; results read from text have none.
    pub(crate) fn of_bundle(path: &Path) -> Result<Self, Failure> {
        if !path.is_dir() {
            return Ok(JudgingTerms::default());
        }
        let head = match assize_bundle::read_plan(path) {
            Ok(head) => head,
            Err(Error::NoSchedule(_)) => return Ok(JudgingTerms::default()),
            Err(error) => return Err(error.into()),
        };
        let declared = PlanTerms::deserialize(&head.plan).map_err(|error| {
            let file = path.join("bundle.json");
            Failure::Argument(format!("{}: the plan is damaged: {error}", file.display()))
        })?;
        let mut looks = Vec::new();
        if let Some(until) = &declared.until {
            let there = recorded_in(path)?;
            let mut blocks: BTreeMap<u32, bool> = BTreeMap::new();
            for run in &declared.runs {
                *blocks.entry(run.block).or_insert(true) &= there.contains(&run.index);
            }
            let complete = blocks.values().filter(|complete| **complete).count();
            looks.push(
                InterimLooks::planned(until, blocks.len() as u32).with_complete(complete as u32),
            );
        }
        Ok(JudgingTerms {
            margin: Some(declared.margin),
            looks,
        })
    }

    /// Whether no look is planned, or exactly the blocks of one of the looks are complete.
    pub(crate) fn is_at_a_look(&self) -> bool {
        self.looks.iter().all(|of| of.ends.contains(&of.there))
    }

    /// The same terms with this many complete blocks.
    pub(crate) fn with_complete(mut self, blocks: u32) -> JudgingTerms {
        self.looks = self
            .looks
            .into_iter()
            .map(|of| of.with_complete(blocks))
            .collect();
        self
    }

    /// The terms of records that are judged together: the margin if both have the same, and the
    /// looks of both, of which the strictest level applies.
    pub(crate) fn and(mut self, other: JudgingTerms) -> JudgingTerms {
        self.looks.extend(other.looks);
        JudgingTerms {
            margin: self.margin.filter(|_| self.margin == other.margin),
            looks: self.looks,
        }
    }

    /// The level at this look.
    pub(crate) fn alpha(&self, asked: f64) -> f64 {
        let levels = self.looks.iter().map(|looks| looks.level(asked));
        levels.fold(asked, f64::min)
    }
}

/// The indices of the runs in a bundle, completed or failed.
pub(crate) fn recorded_in(directory: &Path) -> Result<BTreeSet<u32>, Failure> {
    let runs = directory.join("runs");
    let failed = |source| Failure::Read {
        path: runs.clone(),
        source,
    };
    let entries = match fs::read_dir(&runs) {
        Ok(entries) => entries,
        // The process was killed before it created the directory.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut found = BTreeSet::new();
    for entry in entries {
        let name = entry.map_err(failed)?.file_name();
        let index = name.to_str().and_then(|name| name.strip_suffix(".json"));
        found.extend(index.and_then(|index| index.parse::<u32>().ok()));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn until(first_look: u32, every: u32) -> StopRule {
        StopRule {
            metric: None,
            within: 0.1,
            first_look,
            every,
            looks: 0,
        }
    }

    fn looks(first_look: u32, every: u32, most: u32) -> InterimLooks {
        InterimLooks::planned(&until(first_look, every), most)
    }

    #[test]
    fn looks_begin_where_something_can_be_established() {
        // 5 of 30 blocks may spend 2e-6 of alpha and 10 blocks 0.0007, but their smallest p is 2 /
        // 2^10 = 0.002; after 15 blocks it is 6e-5.
        assert_eq!(looks(5, 5, 30).ends, [15, 20, 25, 30]);
        assert_eq!(looks(3, 1, 6).ends, [6]);
        assert_eq!(looks(5, 3, 5).ends, [5]);
        assert_eq!(looks(0, 0, 3).ends, [3], "which cannot establish anything");
    }

    #[test]
    fn looks_spend_alpha_and_no_more() {
        let all = looks(5, 5, 30);
        let levels = all.levels(0.05);
        assert!((levels.iter().sum::<f64>() - 0.05).abs() < 1e-15);
        assert!(levels.windows(2).take(2).all(|pair| pair[0] < pair[1]));
        let at = |blocks| {
            let looks = vec![all.clone().with_complete(blocks)];
            let margin = None;
            JudgingTerms { margin, looks }.alpha(0.05)
        };
        assert_eq!([15, 20, 30].map(at), [levels[0], levels[1], levels[3]]);
        // Between two looks, the level of the previous look applies.
        assert_eq!([3, 17, 29].map(at), [levels[0], levels[0], levels[2]]);
        assert_eq!(JudgingTerms::default().alpha(0.05), 0.05);
    }

    #[test]
    fn terms_that_differ_are_not_guessed() {
        let terms = |margin, looks: &[InterimLooks]| JudgingTerms {
            margin,
            looks: looks.to_vec(),
        };
        let (all, first) = (looks(5, 5, 30), looks(5, 5, 30).with_complete(15));
        let (a, b) = (
            terms(Some(0.01), &[]),
            terms(Some(0.02), std::slice::from_ref(&all)),
        );
        assert_eq!(a.clone().and(a.clone()), a);
        assert_eq!(a.clone().and(b.clone()), terms(None, &[all]));
        // The strictest level applies.
        let both = b.and(terms(None, std::slice::from_ref(&first)));
        assert_eq!(both.alpha(0.05), terms(None, &[first]).alpha(0.05));
        assert!(both.alpha(0.05) < 0.01);
    }
}
