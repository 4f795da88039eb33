//! The hierarchical bootstrap of a ratio of quantiles, with BCa intervals.

use crate::dist::{normal_cdf, normal_quantile};
use crate::error::{Error, Result, check_open_unit, check_positive};
use crate::moments::sorted;
use crate::quantile::{type7_position, type7_unchecked};
use crate::random::RandomStream;
use crate::welch::Interval;

/// Minimum number of runs per side; with fewer, resampling runs is almost uninformative.
const FEWEST_RUNS: usize = 5;
/// A replicate counts as equal to the estimate within this distance, relative to the replicate of
/// the largest magnitude.
const TIE_TOLERANCE: f64 = 1e-12;

/// The ratio of a quantile between two configurations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    /// The ratio b / a: the ratio of the geometric means, over runs, of the
    /// runs' quantiles.
    pub ratio: f64,
    /// The 95 % BCa interval of `ratio`.
    pub ci: Interval,
    /// The bias correction, in standard normal units.
    pub z0: f64,
    /// The acceleration, from a jackknife over the runs.
    pub acceleration: f64,
}

/// The ratio b / a of the `p` quantile, resampling runs and then samples.
///
/// theta = mean over the runs of b of ln(type-7 quantile) minus the same of a. Each of the `draws`
/// replicates picks runs with replacement, and in each picked run samples with replacement, and
/// recomputes theta.
///
/// The samples are not actually resampled. n draws with replacement from sorted values x are
/// x\[floor(n U_i)\] for n independent uniform U_i, and since that map does not decrease, the k-th
/// smallest draw is x\[floor(n U_(k))\]. U_(k) is beta(k, n + 1 - k) distributed; given it, the n -
/// k larger uniforms are independent on (U_(k), 1), so the next one is U_(k) + (1 - U_(k)) (1 -
/// V^(1 / (n - k))) with a uniform V. Two such draws give the type-7 quantile of a resample exactly
/// in distribution, at a cost that does not depend on n. A test compares this with plain
/// resampling.
///
/// - Shape: at least 5 runs per side, each run non-empty, in any order, positive; unit of the
///   samples cancels; 0 <= p <= 1; draws >= 100 (10,000 is usual).
/// - Range: ratio > 0. The 95 % interval is too narrow with few runs: simulated (1,500 trials,
///   standard deviations 0.1 between and 0.5 within runs, 200 samples per run) it covers 91 to 92 %
///   with 5 runs per side, 93 to 95 % with 8, 95 % with 15. Intervals of extreme quantiles are
///   meaningless where [`crate::quantile::supported`] is false.
/// - Deterministic: a pure function of data and `seed`.
/// - Cost: O(draws x runs) after sorting; 30 ms for 10 against 10 runs of 10,000 samples.
/// - Source: Efron 1987, "Better bootstrap confidence intervals", JASA 82; Davison and Hinkley
///   1997, section 3.8, for the hierarchy.
/// - Checked: the interval by [`bca_interval`]; the draws against plain resampling.
///
/// # Errors
/// [`Error::TooFew`], [`Error::NotFinite`], [`Error::NotPositive`], [`Error::BadArgument`] for p or
/// draws.
pub fn quantile_ratio(
    runs_a: &[Vec<f64>],
    runs_b: &[Vec<f64>],
    p: f64,
    draws: usize,
    seed: u64,
) -> Result<Bootstrap> {
    if !(0.0..=1.0).contains(&p) {
        return Err(Error::BadArgument("the probability must lie in [0, 1]"));
    }
    if draws < 100 {
        return Err(Error::BadArgument("the draws must number 100 or more"));
    }
    let unit = runs_a.first().and_then(|r| r.first()).copied();
    let unit = unit.unwrap_or(1.0);
    let a = QuantileRuns::new(runs_a, p, unit)?;
    let b = QuantileRuns::new(runs_b, p, unit)?;
    let theta = b.mean() - a.mean();
    let mut stream = RandomStream::new(seed);
    let mut replicates: Vec<f64> = (0..draws)
        .map(|_| {
            let of_a = a.replicate(&mut stream);
            b.replicate(&mut stream) - of_a
        })
        .collect();
    replicates.sort_by(f64::total_cmp);
    let without_a: Vec<f64> = a.leave_one_out().map(|m| b.mean() - m).collect();
    let without_b: Vec<f64> = b.leave_one_out().map(|m| m - a.mean()).collect();
    let bca = bca_interval(theta, &replicates, &[&without_a, &without_b], 0.95)?;
    Ok(Bootstrap {
        ratio: theta.exp(),
        ci: Interval {
            low: bca.interval.low.exp(),
            high: bca.interval.high.exp(),
        },
        z0: bca.z0,
        acceleration: bca.acceleration,
    })
}

/// The runs of one configuration, sorted, with their observed quantiles.
struct QuantileRuns {
    runs: Vec<Vec<f64>>,
    ln_quantiles: Vec<f64>,
    p: f64,
}

impl QuantileRuns {
    /// The samples are divided by `unit`, one of them, so that logarithms stay
    /// near zero and keep their digits.
    fn new(runs: &[Vec<f64>], p: f64, unit: f64) -> Result<Self> {
        if runs.len() < FEWEST_RUNS {
            return Err(Error::TooFew {
                needed: FEWEST_RUNS,
                got: runs.len(),
            });
        }
        for run in runs {
            check_positive(run, 1)?;
        }
        let runs: Vec<Vec<f64>> = runs
            .iter()
            .map(|r| sorted(r).iter().map(|v| v / unit).collect())
            .collect();
        Ok(Self {
            ln_quantiles: runs.iter().map(|r| type7_unchecked(r, p).ln()).collect(),
            runs,
            p,
        })
    }

    fn mean(&self) -> f64 {
        self.ln_quantiles.iter().sum::<f64>() / self.runs.len() as f64
    }

    /// The mean without each run in turn.
    fn leave_one_out(&self) -> impl Iterator<Item = f64> {
        let total: f64 = self.ln_quantiles.iter().sum();
        let others = self.runs.len() as f64 - 1.0;
        self.ln_quantiles.iter().map(move |q| (total - q) / others)
    }

    /// The mean over resampled runs of their resampled quantiles.
    fn replicate(&self, stream: &mut RandomStream) -> f64 {
        let sum: f64 = (0..self.runs.len())
            .map(|_| {
                let run = &self.runs[stream.below(self.runs.len())];
                resampled_quantile(run, self.p, stream).ln()
            })
            .sum();
        sum / self.runs.len() as f64
    }
}

/// The type-7 quantile of one resample of `sorted`, in O(1).
fn resampled_quantile(sorted: &[f64], p: f64, stream: &mut RandomStream) -> f64 {
    let n = sorted.len();
    let (rank, share) = type7_position(n, p);
    let value = |u: f64| sorted[((u * n as f64) as usize).min(n - 1)];
    let k = rank + 1;
    let u = stream.beta(k as f64, (n + 1 - k) as f64);
    let below = value(u);
    if share == 0.0 {
        return below;
    }
    let gap = 1.0 - stream.uniform().powf(1.0 / (n - k) as f64);
    below + share * (value(u + (1.0 - u) * gap) - below)
}

/// A BCa interval and its parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bca {
    /// The interval, on the scale of the replicates.
    pub interval: Interval,
    /// The bias correction: the normal quantile of the share of replicates below
    /// the estimate, ties (within 1e-12 of the largest) counted half.
    pub z0: f64,
    /// The acceleration.
    pub acceleration: f64,
}

/// The bias-corrected and accelerated interval from given replicates.
///
/// `jackknife` holds, for each independent group, the estimate with each of its
/// units left out in turn. The interval's ends are type-7 quantiles of the
/// replicates. If all replicates are equal the interval is that point; if all
/// lie on one side of the estimate, the share is taken to be half a replicate
/// from 0 or 1, so that z0 stays finite.
///
/// - Shape: `replicates_sorted` ascending, at least two; each jackknife group at
///   least two; 0 < level < 1.
/// - Cost: O(replicates).
/// - Source: Efron and Tibshirani 1993, "An Introduction to the Bootstrap", eqs.
///   14.9-14.15; several groups as in Davison and Hinkley 1997, eq. 5.28.
/// - Checked against `scipy.stats.bootstrap(method="BCa")` on equal replicates.
///
/// # Errors
/// [`Error::TooFew`], [`Error::NotFinite`], [`Error::BadArgument`].
pub fn bca_interval(
    theta_hat: f64,
    replicates_sorted: &[f64],
    jackknife: &[&[f64]],
    level: f64,
) -> Result<Bca> {
    check_open_unit(level, "the level must lie between 0 and 1")?;
    crate::quantile::check_sorted(replicates_sorted, 2)?;
    crate::error::check_finite(&[theta_hat], 1)?;
    for group in jackknife {
        crate::error::check_finite(group, 2)?;
    }
    let n = replicates_sorted.len() as f64;
    let ends = [
        replicates_sorted[0],
        replicates_sorted[replicates_sorted.len() - 1],
    ];
    let tie = TIE_TOLERANCE * ends[0].abs().max(ends[1].abs());
    let below = replicates_sorted.partition_point(|&r| r < theta_hat - tie) as f64;
    let not_above = replicates_sorted.partition_point(|&r| r <= theta_hat + tie) as f64;
    let share = ((below + not_above) / (2.0 * n)).clamp(0.5 / n, 1.0 - 0.5 / n);
    let z0 = normal_quantile(share);
    let acceleration = acceleration(jackknife);
    let end = |z: f64| {
        let shifted = z0 + z;
        let p = normal_cdf(z0 + shifted / (1.0 - acceleration * shifted));
        type7_unchecked(replicates_sorted, p)
    };
    let z = normal_quantile(0.5 * (1.0 - level));
    Ok(Bca {
        interval: Interval {
            low: end(z),
            high: end(-z),
        },
        z0,
        acceleration,
    })
}

/// The acceleration: the sum of the cubed empirical influences over the 3/2
/// power of the sum of their squares, / 6.
fn acceleration(jackknife: &[&[f64]]) -> f64 {
    let (mut cubes, mut squares) = (0.0, 0.0);
    for group in jackknife {
        let n = group.len() as f64;
        let centre = crate::moments::mean(group);
        for value in *group {
            let influence = (n - 1.0) * (centre - value) / n;
            cubes += influence.powi(3);
            squares += influence.powi(2);
        }
    }
    if squares > 0.0 {
        cubes / (6.0 * squares.powf(1.5))
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the two ways to resample by a two-sample Kolmogorov distance.
    fn distance(n: usize, p: f64) -> f64 {
        let values: Vec<f64> = (0..n).map(|i| 1.0 + (i * i) as f64).collect();
        let mut stream = RandomStream::new(9);
        let m = 20_000;
        let mut quick: Vec<f64> = (0..m)
            .map(|_| resampled_quantile(&values, p, &mut stream))
            .collect();
        let mut plain: Vec<f64> = (0..m)
            .map(|_| {
                let draw: Vec<f64> = (0..n).map(|_| values[stream.below(n)]).collect();
                type7_unchecked(&sorted(&draw), p)
            })
            .collect();
        quick.sort_by(f64::total_cmp);
        plain.sort_by(f64::total_cmp);
        plain
            .iter()
            .map(|x| {
                let share = |v: &[f64]| v.partition_point(|q| q <= x) as f64 / m as f64;
                (share(&quick) - share(&plain)).abs()
            })
            .fold(0.0, f64::max)
    }

    #[test]
    fn quick_resampling_has_the_distribution_of_plain_resampling() {
        // The 0.1 % point of the distance between two samples of 20,000 is
        // 0.0195.
        for (n, p) in [
            (1, 0.5),
            (2, 0.3),
            (7, 0.5),
            (8, 0.5),
            (40, 0.9),
            (101, 0.99),
            (9, 1.0),
        ] {
            assert!(distance(n, p) < 0.0195, "n = {n}, p = {p}");
        }
    }

    #[test]
    fn a_known_ratio_is_covered_and_the_seed_decides() {
        let run = |shift: f64, r: usize| -> Vec<f64> {
            (0..50)
                .map(|i| shift * (10.0 + ((i * 7 + r * 3) % 50) as f64))
                .collect()
        };
        let a: Vec<_> = (0..6).map(|r| run(1.0, r)).collect();
        let b: Vec<_> = (0..6).map(|r| run(2.0, r + 1)).collect();
        let one = quantile_ratio(&a, &b, 0.5, 2000, 4).unwrap();
        assert!(one.ci.contains(2.0) && (one.ratio - 2.0).abs() < 1e-12);
        assert_eq!(one, quantile_ratio(&a, &b, 0.5, 2000, 4).unwrap());
        assert_eq!(
            quantile_ratio(&a[..4], &b, 0.5, 2000, 4),
            Err(Error::TooFew { needed: 5, got: 4 })
        );
        let flat = vec![vec![3.0; 20]; 5];
        let point = quantile_ratio(&flat, &flat, 0.9, 100, 0).unwrap();
        assert_eq!((point.ratio, point.ci.low, point.ci.high), (1.0, 1.0, 1.0));
    }

    #[test]
    fn coverage_with_five_runs_is_what_the_documentation_says() {
        let mut stream = RandomStream::new(11);
        let mut covered = 0;
        for seed in 0..400 {
            let mut group = || -> Vec<Vec<f64>> {
                (0..5)
                    .map(|_| {
                        let run = 0.1 * stream.normal();
                        let sample = |_| (run + 0.5 * stream.normal()).exp();
                        (0..200).map(sample).collect()
                    })
                    .collect()
            };
            let (a, b) = (group(), group());
            let found = quantile_ratio(&a, &b, 0.5, 500, seed).unwrap();
            covered += u32::from(found.ci.contains(1.0));
        }
        assert!((350..385).contains(&covered), "{covered} of 400");
    }
}
