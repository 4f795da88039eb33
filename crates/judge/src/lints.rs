//! Pure functions that find problems in the data.

use crate::dist::normal_cdf;
use crate::moments::{logs, mean, median_absolute_deviation, median_of_sorted, sorted};

/// Whether the values do not vary: max - min <= `rel_tol` * max|x|.
///
/// Needs at least 2 values; `false` for fewer, and if any is not finite. All
/// zeros are constant. Cost: O(n).
#[must_use]
pub fn is_constant(values: &[f64], rel_tol: f64) -> bool {
    if values.len() < 2 || values.iter().any(|v| !v.is_finite()) {
        return false;
    }
    let (low, high) = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| {
            (l.min(v), h.max(v))
        });
    high - low <= rel_tol * low.abs().max(high.abs())
}

/// The number of CPUs, if every value is that many times its run's elapsed time.
///
/// A "CPU time" that equals CPUs x elapsed in every run was a wall clock. Some
/// integer c >= 1 must be within 0.5 % of value / elapsed in all runs; both in
/// the same unit, one entry per run, at least one run. A single-threaded,
/// CPU-bound workload legitimately gives c = 1, so the caller decides what 1
/// means. Cost: O(n).
#[must_use]
pub fn equals_cpus_times_elapsed(values: &[f64], elapsed: &[f64]) -> Option<u32> {
    if values.len() != elapsed.len() {
        return None;
    }
    let cpus = (values.first()? / elapsed.first()?).round();
    let fits = values
        .iter()
        .zip(elapsed)
        .all(|(v, e)| (v / e - cpus).abs() <= 0.005 * cpus);
    (fits && (1.0..=65_536.0).contains(&cpus)).then_some(cpus as u32)
}

/// Whether two counters are the same: |a - b| <= `rel_tol` * max(|a|, |b|) in
/// every run, in the same order of runs. Counters that are always zero are not
/// aliased, nor are lists that are empty or differ in length. The usual
/// tolerance is 1e-4. Cost: O(n).
#[must_use]
pub fn are_aliased(a: &[f64], b: &[f64], rel_tol: f64) -> bool {
    a.len() == b.len()
        && a.iter().any(|&v| v != 0.0)
        && a.iter()
            .zip(b)
            .all(|(x, y)| (x - y).abs() <= rel_tol * x.abs().max(y.abs()))
}

/// The indices of outlying runs, in ascending order.
///
/// The modified z of ln(value), 0.6745 |x - median| / MAD, exceeds 3.5. If the
/// MAD is zero (more than half the runs are equal) the mean absolute deviation
/// is used instead, |x - median| / (1.2533 * mean deviation), and differences
/// below 1e-9 count as rounding. If any value is zero or negative, the values
/// themselves are used instead of logarithms.
///
/// - Shape: one value per run, n >= 5; empty result for fewer or if any value is
///   not finite.
/// - Cost: O(n log n).
/// - Source: Iglewicz and Hoaglin 1993, "How to Detect and Handle Outliers",
///   section 3.
/// - Checked against the formula in numpy.
#[must_use]
pub fn outlier(values: &[f64]) -> Vec<usize> {
    const LIMIT: f64 = 3.5;
    if values.len() < 5 || values.iter().any(|v| !v.is_finite()) {
        return Vec::new();
    }
    let x = if values.iter().all(|&v| v > 0.0) {
        logs(values)
    } else {
        values.to_vec()
    };
    let centre = median_of_sorted(&sorted(&x));
    let deviations: Vec<f64> = x.iter().map(|v| (v - centre).abs()).collect();
    let mad = median_absolute_deviation(&x);
    let rounding = 1e-9 * centre.abs().max(1.0);
    let score = |d: f64| {
        if mad > rounding {
            0.6745 * d / mad
        } else if d > rounding {
            d / (1.253_314 * mean(&deviations))
        } else {
            0.0
        }
    };
    (0..x.len())
        .filter(|&i| score(deviations[i]) > LIMIT)
        .collect()
}

/// A trend over the order of the runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// Kendall's tau-b between order and value, in \[-1, 1\]; above 0, values
    /// rise.
    pub tau: f64,
    /// The two-sided p for no trend.
    pub p: f64,
}

/// The Mann-Kendall test for a trend in values in the order of their runs.
///
/// Exact for up to 33 runs without ties; otherwise normal with the variance
/// corrected for ties and without a continuity correction. Runs of different
/// configurations must not be mixed: center or rank them first.
///
/// - Shape: in run order, n >= 6; `None` for fewer, if any value is not finite,
///   or if all are equal.
/// - Cost: O(n^2).
/// - Source: Mann 1945, Econometrica 13; Kendall 1970, "Rank Correlation
///   Methods", chapters 3 to 5.
/// - Checked against `scipy.stats.kendalltau`.
#[must_use]
pub fn drift(values_in_order: &[f64]) -> Option<Drift> {
    let x = values_in_order;
    let n = x.len();
    if n < 6 || x.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let order = PairOrder::from_values(x);
    let tau = order.tau()?;
    let p = if n <= MOST_EXACT && order.untied == order.pairs {
        exact_kendall(&[n], order.fewest())
    } else {
        2.0 * normal_cdf(-order.balance().abs() / kendall_variance(x).sqrt())
    };
    Some(Drift { tau, p: p.min(1.0) })
}

/// The Mann-Kendall test for a trend within groups: each slice holds the values of one
/// configuration in the order of its runs, and only values of one configuration are compared with
/// each other.
///
/// This finds a drift if the runs of a configuration are consecutive, where [`drift`] over all runs
/// cannot distinguish it from a difference between configurations. S, rising minus falling pairs,
/// is the sum over the groups, and so is its variance, since the groups are independent of each
/// other. Exact by the distribution of that sum if there are no ties and no more pairs than 33 runs
/// have (528); otherwise normal with the variance corrected for ties and, as in the source, with
/// the continuity correction |S| - 1. `tau` is S over the geometric mean of pairs and untied pairs,
/// as in [`drift`], which this equals for one group without ties.
///
/// - Shape: any number of groups, each in run order; groups of one run add nothing. `None` if the
///   groups have fewer than 720 orders (as many as six runs have), if any value is not finite, or
///   if the values of each group are all equal.
/// - Cost: O(sum of n^2), plus O(pairs * runs) if exact.
/// - Source: Hirsch, Slack and Smith 1982, "Techniques of trend analysis for monthly water quality
///   data", Water Resources Research 18.
/// - Checked against all orders by `itertools.permutations`, and the formula in scipy.
#[must_use]
pub fn drift_inside(groups: &[&[f64]]) -> Option<Drift> {
    let mut values = groups.iter().flat_map(|group| group.iter());
    let ln_orders: f64 = groups
        .iter()
        .flat_map(|group| 2..=group.len())
        .map(|n| (n as f64).ln())
        .sum();
    if values.any(|v| !v.is_finite()) || ln_orders < 720.0_f64.ln() - 1e-9 {
        return None;
    }
    let mut order = PairOrder::default();
    let mut variance = 0.0;
    for group in groups {
        order.add(group);
        variance += kendall_variance(group);
    }
    let tau = order.tau()?;
    let p = if order.pairs <= pairs(MOST_EXACT) && order.untied == order.pairs {
        let sizes: Vec<usize> = groups.iter().map(|group| group.len()).collect();
        exact_kendall(&sizes, order.fewest())
    } else {
        let out = (order.balance().abs() - 1.0).max(0.0);
        2.0 * normal_cdf(-out / variance.sqrt())
    };
    Some(Drift { tau, p: p.min(1.0) })
}

/// The distribution is computed exactly for up to this many runs, or as many pairs as they form.
const MOST_EXACT: usize = 33;

fn pairs(n: usize) -> u64 {
    n as u64 * (n as u64).saturating_sub(1) / 2
}

/// Counts of pairs of values by which of the two is larger.
#[derive(Default)]
struct PairOrder {
    rising: u64,
    untied: u64,
    pairs: u64,
}

impl PairOrder {
    fn from_values(x: &[f64]) -> Self {
        let mut order = PairOrder::default();
        order.add(x);
        order
    }

    fn add(&mut self, x: &[f64]) {
        for (i, early) in x.iter().enumerate() {
            for late in &x[i + 1..] {
                self.rising += u64::from(late > early);
                self.untied += u64::from(late != early);
            }
        }
        self.pairs += pairs(x.len());
    }

    /// Rising minus falling pairs.
    fn balance(&self) -> f64 {
        2.0 * self.rising as f64 - self.untied as f64
    }

    /// Rising or falling pairs, whichever are fewer.
    fn fewest(&self) -> usize {
        self.rising.min(self.untied - self.rising) as usize
    }

    /// Kendall's tau-b; `None` if all pairs are tied.
    fn tau(&self) -> Option<f64> {
        let both = self.untied as f64 * self.pairs as f64;
        (self.untied > 0).then(|| self.balance() / both.sqrt())
    }
}

/// Twice the probability of at most `inversions` inversions in total, if groups
/// of these sizes are each in random order.
fn exact_kendall(sizes: &[usize], inversions: usize) -> f64 {
    let mut chance = vec![0.0; inversions + 1];
    chance[0] = 1.0;
    for size in sizes.iter().flat_map(|&n| 2..=n) {
        let mut next = vec![0.0; inversions + 1];
        for (total, slot) in next.iter_mut().enumerate() {
            let from = (total + 1).saturating_sub(size);
            *slot = chance[from..=total].iter().sum::<f64>() / size as f64;
        }
        chance = next;
    }
    2.0 * chance.iter().sum::<f64>()
}

/// The variance of rising minus falling pairs, corrected for ties.
fn kendall_variance(x: &[f64]) -> f64 {
    let term = |t: f64| t * (t - 1.0) * (2.0 * t + 5.0);
    let sorted = sorted(x);
    let ties: f64 = sorted
        .chunk_by(|a, b| a == b)
        .map(|group| term(group.len() as f64))
        .sum();
    (term(x.len() as f64) - ties) / 18.0
}

/// How similar consecutive runs are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SerialLikeness {
    /// The rank version of von Neumann's ratio: about 2 for independent runs, less if neighbours
    /// are similar.
    pub ratio: f64,
    /// The one-sided p for independent runs.
    pub p: f64,
}

/// Tests whether consecutive values are more similar than by chance, as samples of one run are: sum
/// of (r_i - r_{i+1})² over the sum of (r_i - mean)² of the ranks r.
///
/// - Shape: in run order, n >= 10; `None` for fewer, if any value is not finite, or if at least a
///   tenth of the values are tied (the ranks of ties carry little information here).
/// - Range: ratio in \[0, 4\]; normal with variance 4 (n - 2)(5 n² - 2 n - 9) / (5 n (n + 1)(n -
///   1)²).
/// - Cost: O(n log n).
/// - Source: Bartels 1982, "The rank version of von Neumann's ratio test for randomness", Journal
///   of the American Statistical Association 77.
/// - Checked against the formula in numpy.
#[must_use]
pub fn serial_likeness(values_in_order: &[f64]) -> Option<SerialLikeness> {
    let x = values_in_order;
    if x.len() < 10 || x.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|&i, &j| x[i].total_cmp(&x[j]));
    let ties = order.windows(2).filter(|w| x[w[0]] == x[w[1]]).count();
    if 10 * ties >= x.len() {
        return None;
    }
    let mut rank = vec![0.0; x.len()];
    for (at, &index) in order.iter().enumerate() {
        rank[index] = at as f64;
    }
    let n = x.len() as f64;
    let steps: f64 = rank.windows(2).map(|w| (w[0] - w[1]).powi(2)).sum();
    let ratio = steps / (n * (n * n - 1.0) / 12.0);
    let variance =
        4.0 * (n - 2.0) * (5.0 * n * n - 2.0 * n - 9.0) / (5.0 * n * (n + 1.0) * (n - 1.0).powi(2));
    Some(SerialLikeness {
        ratio,
        p: normal_cdf((ratio - 2.0) / variance.sqrt()),
    })
}

/// Whether the runs were grouped by configuration: each configuration's runs are
/// one contiguous stretch, and at least two configurations have two or more
/// runs. Then time and configuration are confounded.
///
/// Shape: the configuration of each run, as any number, in run order. Cost: O(n
/// log n).
#[must_use]
pub fn grouped_order(configurations_in_order: &[usize]) -> bool {
    let stretches: Vec<(usize, usize)> = configurations_in_order
        .chunk_by(|a, b| a == b)
        .map(|s| (s[0], s.len()))
        .collect();
    let mut seen: Vec<usize> = stretches.iter().map(|s| s.0).collect();
    seen.sort_unstable();
    seen.dedup();
    let repeated = stretches.iter().filter(|s| s.1 >= 2).count();
    seen.len() == stretches.len() && repeated >= 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::RandomStream;

    #[test]
    fn a_wall_clock_is_recognised() {
        let elapsed = [1.0, 1.1, 0.9];
        assert_eq!(
            equals_cpus_times_elapsed(&[8.0, 8.8, 7.2], &elapsed),
            Some(8)
        );
        assert_eq!(equals_cpus_times_elapsed(&[8.0, 8.8, 7.1], &elapsed), None);
        assert_eq!(equals_cpus_times_elapsed(&[0.1, 0.1, 0.1], &elapsed), None);
        assert_eq!(equals_cpus_times_elapsed(&[0.0, 0.0], &[0.0, 0.0]), None);
        assert_eq!(equals_cpus_times_elapsed(&[], &[]), None);
    }

    #[test]
    fn aliases_and_constants() {
        assert!(are_aliased(&[100.0, 5e6], &[100.0, 5_000_400.0], 1e-4));
        assert!(!are_aliased(&[100.0, 5e6], &[100.0, 5_001_000.0], 1e-4));
        assert!(!are_aliased(&[0.0, 0.0], &[0.0, 0.0], 1e-4));
        assert!(is_constant(&[5.0, 5.0], 0.0) && !is_constant(&[5.0], 0.0));
        assert!(!is_constant(&[5.0, 5.1], 1e-3));
    }

    #[test]
    fn outliers_with_and_without_spread() {
        assert_eq!(outlier(&[1.0, 1.01, 0.99, 1.02, 3.0]), [4]);
        assert_eq!(outlier(&[1.0, 1.0, 1.0, 1.0, 1.0, 2.0]), [5]);
        assert!(outlier(&[1.0, 1.0, 1.0, 1.0, 1.0 + 1e-12]).is_empty());
        assert!(outlier(&[1.0, 1.0, 1.0, 9.0]).is_empty());
        assert_eq!(outlier(&[0.0, 1.0, -1.0, 0.5, 90.0]), [4]);
    }

    /// Three configurations of five runs, one after the other; all values rise
    /// by `slope` from run to run, and each configuration has its own level.
    fn grouped(slope: f64, seed: u64) -> Vec<Vec<f64>> {
        let mut draws = RandomStream::new(seed);
        let mut run = 0.0;
        let mut value = |level: f64| {
            run += 1.0;
            level + slope * run + draws.normal()
        };
        [60.0, 30.0, 0.0]
            .map(|level| (0..5).map(|_| value(level)).collect())
            .to_vec()
    }

    fn inside(groups: &[Vec<f64>]) -> Drift {
        let slices: Vec<&[f64]> = groups.iter().map(Vec::as_slice).collect();
        drift_inside(&slices).unwrap()
    }

    #[test]
    fn a_drift_under_grouped_configurations_is_seen_inside_them_only() {
        let drifting = grouped(1.0, 4);
        let found = inside(&drifting);
        assert!(found.p < 0.01 && found.tau > 0.0);
        // Over all runs the trend seems reversed, because of the levels.
        let over_all = drift(&drifting.concat()).unwrap();
        assert!(over_all.p < 0.05 && over_all.tau < 0.0);
        // Levels alone are not a drift: there are no more alarms than promised,
        // and fewer, since p comes in steps.
        let alarms = (0..2000).filter(|&seed| inside(&grouped(0.0, seed)).p <= 0.05);
        let alarms = alarms.count();
        assert!((40..100).contains(&alarms), "{alarms} of 2000");
    }

    #[test]
    fn one_group_without_ties_is_the_plain_test_and_few_runs_say_nothing() {
        let x = [1.0, 5.0, 2.0, 9.0, 7.0, 11.0, 10.0];
        assert_eq!(drift_inside(&[&x]), drift(&x));
        assert_eq!(drift_inside(&[&x, &[4.0]]), drift(&x));
        assert_eq!(drift_inside(&[&x[..5]]), None);
        assert_eq!(drift_inside(&[&x[..3], &x[..3], &x[..3]]), None);
        assert!(drift_inside(&[&x[..3], &x[..3], &x[..3], &x[..3]]).is_some());
        assert_eq!(drift_inside(&[&[7.0; 9]]), None);
        assert_eq!(drift_inside(&[&x, &[f64::NAN]]), None);
        assert_eq!(drift_inside(&[]), None);
    }

    #[test]
    fn grouped_orders() {
        assert!(grouped_order(&[0, 0, 1, 1]));
        assert!(!grouped_order(&[0, 1, 0, 1]));
        assert!(!grouped_order(&[0, 0, 1]));
        assert!(!grouped_order(&[]));
    }
}
