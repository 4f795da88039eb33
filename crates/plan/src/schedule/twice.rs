//! Selects the runs that are executed twice, to detect a target that is not deterministic although
//! it should be.

use std::collections::BTreeSet;

use crate::plan::{Plan, PlannedRun};
use crate::schedule::draws::BlockDraws;

/// One run in this many is executed twice: 2 %.
const STRETCH: u32 = 50;
/// Stands for the block number in these draws. No block has this number.
const TWICE: u32 = u32::MAX - 1;

impl Plan {
    /// Indices of the runs that only count if two executions agree: one in each stretch of 50,
    /// drawn from the experiment's seed. That of the first stretch is in the first block, which
    /// runs even if the experiment stops early. More blocks leave the earlier choices unchanged.
    /// Empty on targets that are not deterministic.
    pub fn reproducibility_checks(&self) -> BTreeSet<u32> {
        if self.target == "exact" {
            draw_checks(self.seed, &self.runs)
        } else {
            BTreeSet::new()
        }
    }
}

fn draw_checks(seed: u64, runs: &[PlannedRun]) -> BTreeSet<u32> {
    let all = u32::try_from(runs.len()).unwrap_or(u32::MAX);
    let block = runs.first().map(|run| run.block);
    let of_block = runs.iter().take_while(|run| Some(run.block) == block);
    let first = u32::try_from(of_block.count()).map_or(STRETCH, |n| n.clamp(1, STRETCH));
    let mut draws = BlockDraws::new(seed, TWICE);
    let stretches = (0..all.div_ceil(STRETCH)).map(|number| match number {
        0 => draws.whole(first),
        _ => number * STRETCH + draws.whole(STRETCH),
    });
    // The last stretch may be too short to contain its draw.
    stretches.filter(|index| *index < all).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::blocks;

    fn drawn_runs(seed: u64, blocks: u32, cells: usize) -> Vec<u32> {
        let runs = blocks::runs(seed, blocks, (cells, 1), None, 1);
        draw_checks(seed, &runs).into_iter().collect()
    }

    #[test]
    fn one_of_fifty_runs_is_drawn_and_one_of_the_first_block() {
        for seed in 0..200 {
            let drawn = drawn_runs(seed, 50, 10);
            assert_eq!(drawn.len(), 10, "seed {seed}");
            assert!(drawn[0] < 10, "seed {seed}: {drawn:?}");
            let stretches: Vec<u32> = drawn.iter().map(|index| index / STRETCH).collect();
            assert_eq!(stretches, (0..10).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_smallest_experiment_has_one() {
        assert_eq!(drawn_runs(1, 1, 1), [0]);
        for seed in 0..50 {
            assert_eq!(drawn_runs(seed, 2, 2).len(), 1);
        }
        assert!(draw_checks(1, &[]).is_empty());
    }

    #[test]
    fn another_seed_draws_others_and_more_blocks_draw_the_same() {
        let seeds: BTreeSet<Vec<u32>> = (0..20).map(|seed| drawn_runs(seed, 30, 10)).collect();
        assert!(seeds.len() > 15);
        let (fewer, more) = (drawn_runs(7, 13, 10), drawn_runs(7, 60, 10));
        assert_eq!(fewer, more[..fewer.len()]);
    }

    #[test]
    fn a_block_larger_than_a_stretch_has_its_first_stretch_drawn_alike() {
        for seed in 0..50 {
            let drawn = drawn_runs(seed, 1, 120);
            assert!(drawn[0] < STRETCH && drawn.len() >= 2);
        }
    }
}
