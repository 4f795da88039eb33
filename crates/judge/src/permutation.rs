//! The exact permutation test of a difference of means, whole or within blocks.

use crate::error::{Error, Result, check_finite};
use crate::moments::mean;
use crate::random::Draws;

/// Up to this many relabelings every one is visited.
pub const EXACT_LIMIT: f64 = 1e6;
/// Above [`EXACT_LIMIT`], this many seeded draws are taken.
pub const MONTE_CARLO_DRAWS: u32 = 100_000;
/// Ties count as such within this share of the largest absolute value.
const TIE_TOLERANCE: f64 = 1e-12;

/// What a permutation test found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Permutation {
    /// The two-sided p, in (0, 1\].
    pub p: f64,
    /// The smallest p that this design can give, whatever the values.
    pub p_attainable: f64,
    /// The number of relabelings the design has, visited or not.
    pub relabelings: f64,
    /// Whether every relabeling was visited (else p is a Monte-Carlo figure).
    pub exact: bool,
}

/// One block: its values, those labelled `a` first.
struct Block {
    values: Vec<f64>,
    n_b: usize,
}

/// Tests whether the labels a and b are exchangeable.
///
/// The statistic is d = mean b - mean a of the values as given; the caller
/// passes logarithms where ratios are judged. p is the share of all
/// C(n_a + n_b, n_a) relabelings, the observed one included, with
/// |d| >= |d_obs| - 1e-12 max|x|, where max|x| is taken over the values as
/// passed: without that tolerance tied data give a wrong p.
///
/// - Shape: two unpaired samples in any order, n >= 1 each.
/// - Range: p is a multiple of 1 / relabelings, from `p_attainable` to 1. Above
///   1e6 relabelings it is (k + 1) / (m + 1) of m = 1e5 draws from the ChaCha8
///   stream of `seed`; below, `seed` is not used.
/// - Null hypothesis: both groups come from one distribution. Equal means with
///   unequal spread is not that hypothesis.
/// - Cost: at most 1e6 leaves of a recursion, a few milliseconds.
/// - Source: Fisher 1935, "The Design of Experiments", section 21; (k + 1) /
///   (m + 1) by Phipson and Smyth 2010.
/// - Checked against `scipy.stats.permutation_test` on |d|, and a plain
///   enumeration by `itertools.combinations`.
///
/// # Errors
/// [`Error::TooFew`] if a side is empty, [`Error::NotFinite`].
pub fn two_sample(a: &[f64], b: &[f64], seed: u64) -> Result<Permutation> {
    check_finite(a, 1)?;
    check_finite(b, 1)?;
    Ok(test(vec![block(a, b)], seed))
}

/// As [`two_sample`], with relabelings only inside blocks: each pair holds the
/// values of a and of b in one block.
///
/// The statistic is still the difference of the overall means. The number of
/// relabelings is the product over the blocks. A block may lack one side: it
/// then has one relabeling only, but its values count in the means.
///
/// # Errors
/// [`Error::TooFew`] if a side is empty over all blocks, [`Error::NotFinite`].
pub fn blocked(blocks: &[(Vec<f64>, Vec<f64>)], seed: u64) -> Result<Permutation> {
    let count = |side: fn(&(Vec<f64>, Vec<f64>)) -> usize| blocks.iter().map(side).sum::<usize>();
    let fewest = count(|p| p.0.len()).min(count(|p| p.1.len()));
    if fewest < 1 {
        return Err(Error::TooFew {
            needed: 1,
            got: fewest,
        });
    }
    for (a, b) in blocks {
        check_finite(a, 0)?;
        check_finite(b, 0)?;
    }
    Ok(test(
        blocks.iter().map(|(a, b)| block(a, b)).collect(),
        seed,
    ))
}

/// As [`blocked`], for blocks on several machines, each with a noise of its own.
///
/// Each stratum holds the blocks of one machine. Values are taken around the
/// mean of their block and divided by the machine's variance around those
/// means; then the statistic is the sum over the b labels. So it is a sum of the
/// machines' differences of means, each weighed by the inverse of its variance,
/// and a noisy machine does not drown a quiet one. Neither means nor variances
/// depend on the labels, so the test stays exact. Labels are exchanged inside
/// blocks only. A block that lacks one side is left out: it has one labeling.
///
/// - Range, cost, Monte-Carlo draws: as for [`two_sample`]. Ties: within 1e-12
///   of the machine's largest |x|, weighed alike.
/// - Source: Fisher 1935, section 21; aligned blocks by Hodges and Lehmann 1962,
///   "Rank methods for combination of independent experiments in analysis of
///   variance", Annals of Mathematical Statistics 33.
/// - Checked against a plain enumeration by `itertools.product`.
///
/// # Errors
/// [`Error::TooFew`] if no block has both sides, [`Error::NotFinite`].
pub fn stratified(strata: &[Vec<(Vec<f64>, Vec<f64>)>], seed: u64) -> Result<Permutation> {
    let mut blocks = Vec::new();
    let mut largest = 0.0_f64;
    for stratum in strata {
        let mut of_machine = Vec::new();
        let mut most = 0.0_f64;
        for (a, b) in stratum {
            check_finite(a, 0)?;
            check_finite(b, 0)?;
            if !a.is_empty() && !b.is_empty() {
                let mut block = block(a, b);
                let centre = mean(&block.values);
                for v in &mut block.values {
                    most = most.max(v.abs());
                    *v -= centre;
                }
                of_machine.push(block);
            }
        }
        let values = || of_machine.iter().flat_map(|block| &block.values);
        let variance = values().map(|v| v * v).sum::<f64>() / values().count().max(1) as f64;
        // What rounding leaves of equal values is no variation.
        let varies = variance.sqrt() > TIE_TOLERANCE * most;
        let weight = if varies { 1.0 / variance } else { 0.0 };
        for block in &mut of_machine {
            block.values.iter_mut().for_each(|v| *v *= weight);
        }
        largest = largest.max(most * weight);
        blocks.append(&mut of_machine);
    }
    if blocks.is_empty() {
        return Err(Error::TooFew { needed: 1, got: 0 });
    }
    Ok(test_within(blocks, largest, seed))
}

/// The smallest two-sided p of `n_a` against `n_b` runs: 2 / C for equal n (a
/// labeling and its mirror image always tie), 1 / C otherwise, and not below
/// 1 / 100,001 where Monte-Carlo draws take over. 1 if a side is empty.
///
/// Cost: O(min(n_a, n_b)). Checked against the definition by enumeration.
#[must_use]
pub fn attainable(n_a: usize, n_b: usize) -> f64 {
    floor_of(choose(n_a + n_b, n_a), n_a == n_b)
}

/// The smallest equal number of runs a side whose [`attainable`] p is at most
/// `alpha`: 4 for 0.05. `None` if `alpha` is below the Monte-Carlo floor
/// 1 / 100,001 or is `NaN`, so that no number of runs would do.
#[must_use]
pub fn runs_needed(alpha: f64) -> Option<u32> {
    // C(24, 12) is beyond the exact limit; nothing smaller follows.
    (1..=12_u32).find(|&n| attainable(n as usize, n as usize) <= alpha)
}

fn block(a: &[f64], b: &[f64]) -> Block {
    Block {
        values: a.iter().chain(b).copied().collect(),
        n_b: b.len(),
    }
}

/// The binomial coefficient; exact while below 2^53.
pub(crate) fn choose(n: usize, k: usize) -> f64 {
    (1..=k.min(n - k)).fold(1.0, |c, i| {
        (c * (n - k.min(n - k) + i) as f64 / i as f64).round()
    })
}

/// The smallest p of a design with `relabelings`.
fn floor_of(relabelings: f64, balanced: bool) -> f64 {
    if relabelings > EXACT_LIMIT {
        return 1.0 / f64::from(MONTE_CARLO_DRAWS + 1);
    }
    let ways = if balanced { 2.0 } else { 1.0 };
    (ways / relabelings).min(1.0)
}

/// Turns a sum over the b labels into |d|, given the overall sum.
struct Statistic {
    slope: f64,
    offset: f64,
    threshold: f64,
}

impl Statistic {
    fn reached_by(&self, sum_b: f64) -> bool {
        (sum_b * self.slope - self.offset).abs() >= self.threshold
    }
}

fn test(blocks: Vec<Block>, seed: u64) -> Permutation {
    let values = blocks.iter().flat_map(|b| &b.values);
    let largest = values.fold(0.0_f64, |m, v| m.max(v.abs()));
    test_within(blocks, largest, seed)
}

/// The test; ties are those within [`TIE_TOLERANCE`] of `largest`.
fn test_within(mut blocks: Vec<Block>, largest: f64, seed: u64) -> Permutation {
    let relabelings: f64 = blocks
        .iter()
        .map(|b| choose(b.values.len(), b.n_b))
        .product();
    let balanced = blocks.iter().all(|b| b.values.len() == 2 * b.n_b);
    let statistic = centre(&mut blocks, largest);
    let exact = relabelings <= EXACT_LIMIT;
    let p = if exact {
        blocks.retain(|b| b.n_b > 0);
        let mut walk = Walk {
            blocks: &blocks,
            statistic: &statistic,
            reached: 0,
        };
        walk.enter(0, 0.0);
        walk.reached as f64 / relabelings
    } else {
        monte_carlo(&mut blocks, &statistic, seed)
    };
    Permutation {
        p,
        p_attainable: floor_of(relabelings, balanced),
        relabelings,
        exact,
    }
}

/// Subtracts the overall mean, so that sums stay small, and fixes the threshold
/// from the largest value as it was.
fn centre(blocks: &mut [Block], largest: f64) -> Statistic {
    let all: Vec<f64> = blocks
        .iter()
        .flat_map(|b| b.values.iter().copied())
        .collect();
    let overall = mean(&all);
    let n_b: usize = blocks.iter().map(|b| b.n_b).sum();
    let n_a = all.len() - n_b;
    let (mut sum, mut observed) = (0.0, 0.0);
    for block in blocks.iter_mut() {
        let first_b = block.values.len() - block.n_b;
        for (i, v) in block.values.iter_mut().enumerate() {
            *v -= overall;
            sum += *v;
            observed += if i >= first_b { *v } else { 0.0 };
        }
    }
    let slope = 1.0 / n_b as f64 + 1.0 / n_a as f64;
    let offset = sum / n_a as f64;
    Statistic {
        slope,
        offset,
        threshold: (observed * slope - offset).abs() - TIE_TOLERANCE * largest,
    }
}

/// The recursion over all relabelings. Each partial sum is made once and passed
/// down, so a leaf has seen at most n additions.
struct Walk<'a> {
    blocks: &'a [Block],
    statistic: &'a Statistic,
    reached: u64,
}

impl Walk<'_> {
    fn enter(&mut self, index: usize, sum: f64) {
        match self.blocks.get(index) {
            Some(block) => self.pick(index, block, 0, block.n_b, sum),
            None => self.reached += u64::from(self.statistic.reached_by(sum)),
        }
    }

    /// Chooses `left` more of the block's values from `from` on.
    fn pick(&mut self, index: usize, block: &Block, from: usize, left: usize, sum: f64) {
        let last = block.values.len() - left;
        for i in from..=last {
            let next = sum + block.values[i];
            if left > 1 {
                self.pick(index, block, i + 1, left - 1, next);
            } else {
                self.enter(index + 1, next);
            }
        }
    }
}

/// (k + 1) / (m + 1) over uniform relabelings.
fn monte_carlo(blocks: &mut [Block], statistic: &Statistic, seed: u64) -> f64 {
    let mut draws = Draws::new(seed);
    let mut reached = 0_u32;
    for _ in 0..MONTE_CARLO_DRAWS {
        let mut sum = 0.0;
        for block in blocks.iter_mut() {
            let n = block.values.len();
            for i in 0..block.n_b {
                let j = i + draws.below(n - i);
                block.values.swap(i, j);
                sum += block.values[i];
            }
        }
        reached += u32::from(statistic.reached_by(sum));
    }
    f64::from(reached + 1) / f64::from(MONTE_CARLO_DRAWS + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_designs_are_known_by_heart() {
        assert_eq!(attainable(3, 3), 0.1);
        assert_eq!(attainable(2, 3), 0.1);
        assert_eq!(attainable(1, 1), 1.0);
        assert_eq!(attainable(4, 4), 2.0 / 70.0);
        assert_eq!(attainable(0, 4), 1.0);
        assert_eq!(runs_needed(0.05), Some(4));
        assert_eq!(runs_needed(0.1), Some(3));
        assert_eq!(runs_needed(1e-6), None);
        let p = two_sample(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], 0).unwrap();
        assert_eq!((p.p, p.relabelings, p.exact), (0.1, 20.0, true));
    }

    #[test]
    fn ties_count() {
        let p = two_sample(&[0.1, 0.2, 0.3], &[0.3, 0.2, 0.1], 0).unwrap();
        assert_eq!(p.p, 1.0);
        let same = two_sample(&[7.3; 5], &[7.3; 5], 0).unwrap();
        assert_eq!(same.p, 1.0);
    }

    #[test]
    fn blocks_without_one_side_have_one_labeling() {
        let blocks = [
            (vec![1.0, 2.0], vec![5.0, 6.0]),
            (vec![3.0], vec![]),
            (vec![], vec![4.0]),
        ];
        let p = blocked(&blocks, 0).unwrap();
        assert_eq!((p.relabelings, p.p_attainable), (6.0, 1.0 / 6.0));
        assert!(blocked(&[(vec![1.0], vec![])], 0).is_err());
    }

    #[test]
    fn monte_carlo_comes_near_the_exact_share() {
        let values: Vec<f64> = (0..22).map(|i| f64::from(i * i % 17)).collect();
        let exact = two_sample(&values[..11], &values[11..], 1).unwrap();
        assert!(exact.exact);
        let mut blocks = vec![block(&values[..11], &values[11..])];
        let statistic = centre(&mut blocks, 16.0);
        let drawn = monte_carlo(&mut blocks, &statistic, 1);
        assert!((drawn - exact.p).abs() < 5.0 * (exact.p / 1e5).sqrt());
    }

    #[test]
    fn above_the_limit_the_seed_decides_and_the_floor_is_stated() {
        let a: Vec<f64> = (0..12).map(f64::from).collect();
        let b: Vec<f64> = (0..12).map(|i| f64::from(i) + 100.0).collect();
        let p = two_sample(&a, &b, 7).unwrap();
        assert!(!p.exact);
        assert_eq!(p.p, p.p_attainable);
        assert_eq!(p, two_sample(&a, &b, 7).unwrap());
    }
}
