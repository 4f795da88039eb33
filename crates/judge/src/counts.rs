//! Exact tests of two shares: how many runs of each side have an outcome.

use crate::dist::{binomial_lower, binomial_pmf, binomial_upper};
use crate::error::{Error, Result, check_open_unit};
use crate::welch::Interval;

/// Probabilities that differ by less than this share are equal, as in R.
const TIE: f64 = 1e-7;
/// Larger numbers of runs are not worth suggesting.
const MOST_RUNS: u32 = 1_000_000;

/// `count` of `of` runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunShare {
    /// The number of runs that have the outcome.
    pub count: u32,
    /// The number of all runs.
    pub of: u32,
}

/// The exact interval of the probability of an outcome.
///
/// At each end, the tail from the observed count outwards has the probability (1 - `level`) / 2;
/// if no run or every run has the outcome, the interval ends at 0 or 1.
///
/// - Shape: `count` <= `of`; 0 < level < 1.
/// - Range: 0 <= low < high <= 1; 0 to 1 if `of` is 0. Coverage is at least `level`.
/// - Cost: 120 binomial tails.
/// - Source: Clopper and Pearson 1934, Biometrika 26.
/// - Checked against the closed form for no run and every run, and the tails at its ends.
///
/// # Errors
/// [`Error::BadArgument`] for a count above its number of runs, or the level.
pub fn interval(share: RunShare, level: f64) -> Result<Interval> {
    check(share)?;
    check_open_unit(level, "the level must lie between 0 and 1")?;
    let (count, of) = (share.count.into(), share.of.into());
    let tail = 0.5 * (1.0 - level);
    let low = crossing(|chance| binomial_upper(count, of, chance) > tail);
    let high = crossing(|chance| binomial_lower(count, of, chance) <= tail);
    Ok(Interval {
        low: if share.count == 0 { 0.0 } else { low },
        high: if share.count == share.of { 1.0 } else { high },
    })
}

/// The smallest probability for which `is_so` holds, if it holds for all larger ones.
fn crossing(is_so: impl Fn(f64) -> bool) -> f64 {
    let (mut least, mut most) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(least, most);
        if is_so(middle) {
            most = middle;
        } else {
            least = middle;
        }
    }
    most
}

/// Fisher's exact two-sided p of two shares, for unpaired runs.
///
/// Given the total count of both sides, the count of one side is hypergeometric if both have the
/// same probability. p is the sum of the probabilities of all outcomes that are no more likely than
/// the observed one.
///
/// - Shape: `count` <= `of` on each side.
/// - Range: p in (0, 1\]; 1 if no run, or every run, has the outcome.
/// - Cost: O(count of both).
/// - Source: Fisher 1935, "The logic of inductive inference", Journal of the Royal Statistical
///   Society 98; the tolerance is that of R's `fisher.test`.
/// - Checked against sums of exact fractions.
///
/// # Errors
/// [`Error::BadArgument`] for a count above its number of runs.
pub fn fisher(a: RunShare, b: RunShare) -> Result<f64> {
    check(a)?;
    check(b)?;
    let total = a.count + b.count;
    let observed = hypergeometric(a.count, total, a.of, b.of) * (1.0 + TIE);
    let all = total.saturating_sub(b.of)..=total.min(a.of);
    let p: f64 = all
        .map(|count| hypergeometric(count, total, a.of, b.of))
        .filter(|chance| *chance <= observed)
        .sum();
    Ok(p.min(1.0))
}

/// The smallest p that [`fisher`] can give for these numbers of runs, of which `total` on both
/// sides together have the outcome.
///
/// - Range: (0, 1\]. Cost: that of [`fisher`], twice.
#[must_use]
pub fn fisher_attainable(total: u32, of_a: u32, of_b: u32) -> f64 {
    let ends = [total.saturating_sub(of_b), total.min(of_a)];
    let p = ends.map(|count| {
        let (a, b) = (
            RunShare { count, of: of_a },
            RunShare {
                count: total - count,
                of: of_b,
            },
        );
        fisher(a, b).unwrap_or(1.0)
    });
    p[0].min(p[1])
}

/// McNemar's exact two-sided p, for paired runs. Arguments: the numbers of pairs in which only the
/// run of `a`, or only that of `b`, has the outcome.
///
/// If both sides have the same probability, each such pair is a fair coin toss, so p is twice the
/// smaller binomial tail. Pairs whose runs ended alike carry no information.
///
/// - Range: p in (0, 1\]; 1 if no pair differs.
/// - Cost: O(sqrt of the pairs).
/// - Source: McNemar 1947, Psychometrika 12; the exact form is the sign test.
/// - Checked against sums of exact fractions.
#[must_use]
pub fn mcnemar(only_a: u32, only_b: u32) -> f64 {
    let differing = u64::from(only_a) + u64::from(only_b);
    let fewer = u64::from(only_a.min(only_b));
    (2.0 * binomial_lower(fewer, differing, 0.5)).min(1.0)
}

/// The smallest p that [`mcnemar`] can give for this many differing pairs.
#[must_use]
pub fn mcnemar_attainable(differing: u32) -> f64 {
    mcnemar(0, differing)
}

/// Sums over one cluster of values, such as all pairs of runs of one memory image.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClusterSum {
    /// The number of values.
    pub of: f64,
    /// Their sum.
    pub sum: f64,
    /// The sum of their squares.
    pub squares: f64,
}

/// The factor by which similarity within clusters raises the variance of the mean, compared with
/// independent values. That many values count as one.
///
/// The factor is the variance between clusters, of the ratio of sums to sizes, divided by the
/// variance of independent values. If this is undefined, because all values are equal or there is
/// one cluster, each cluster counts once.
///
/// - Shape: one sum per cluster; empty clusters have no effect.
/// - Range: 1 to the size of the largest cluster; 1 for no values.
/// - Cost: O(clusters).
/// - Source: Rao and Scott 1992, "A simple method for the analysis of clustered binary data",
///   Biometrics 48, equation 3.
/// - Checked by simulated clusters, from independent to identical values.
#[must_use]
pub fn design_effect(clusters: &[ClusterSum]) -> f64 {
    let total = |value: fn(&ClusterSum) -> f64| clusters.iter().map(value).sum::<f64>();
    let (of, sum, squares) = (
        total(|it| it.of),
        total(|it| it.sum),
        total(|it| it.squares),
    );
    if of <= 0.0 {
        return 1.0;
    }
    let largest = clusters.iter().map(|it| it.of).fold(1.0, f64::max);
    let (mean, count) = (
        sum / of,
        clusters.iter().filter(|it| it.of > 0.0).count() as f64,
    );
    let independent = (squares / of - mean * mean) / of;
    if count < 2.0 || independent <= 1e-12 {
        return (of / count.max(1.0)).clamp(1.0, largest);
    }
    let residuals = clusters.iter().map(|it| (it.sum - it.of * mean).powi(2));
    let between = count / (count - 1.0) * residuals.sum::<f64>() / (of * of);
    (between / independent).clamp(1.0, largest)
}

/// The smallest count on one side, with none on the other, for which [`fisher`] gives p <= `level`
/// with these numbers of runs; `None` if there is none.
///
/// - Cost: O(runs²) if there is none.
#[must_use]
pub fn fewest_by_fisher(of_a: u32, of_b: u32, level: f64) -> Option<u32> {
    (1..=of_b.min(MOST_RUNS)).find(|&count| {
        let none = RunShare { count: 0, of: of_a };
        fisher(none, RunShare { count, of: of_b }).is_ok_and(|p| p <= level)
    })
}

/// The smallest number of differing pairs, all on one side, for which [`mcnemar`] gives p <=
/// `level`; `None` if there is none in this many pairs.
#[must_use]
pub fn fewest_by_mcnemar(pairs: u32, level: f64) -> Option<u32> {
    (1..=pairs.min(MOST_RUNS)).find(|&count| mcnemar(0, count) <= level)
}

/// Two-sided p of the hypothesis that the probability of `b` exceeds that of `a` by exactly
/// `excess`, for paired or unpaired runs.
///
/// If each of the four tails has p / 4, both probabilities lie in their Clopper-Pearson intervals
/// with a joint confidence of at least 1 - p, whatever the dependence between the sides. p is the
/// largest for which the two intervals still allow that excess. Conservative: with `excess` 0 use
/// [`fisher`] or [`mcnemar`].
///
/// - Shape: `count` <= `of` on each side; `excess` in (-1, 1).
/// - Range: p in \[0, 1\]; 1 if the observed excess equals `excess`, or a side has no runs.
/// - Cost: 124 binomial tails.
/// - Source: Clopper and Pearson 1934, Biometrika 26; Bonferroni's inequality.
/// - Checked by the probabilities of all outcomes of 20 runs per side.
///
/// # Errors
/// [`Error::BadArgument`] for a count above its number of runs, or an `excess` out of range.
pub fn exceeds(a: RunShare, b: RunShare, excess: f64) -> Result<f64> {
    check(a)?;
    check(b)?;
    if !(-1.0 < excess && excess < 1.0) {
        return Err(Error::BadArgument("the excess must lie between -1 and 1"));
    }
    if a.of == 0 || b.of == 0 {
        return Ok(1.0);
    }
    let observed = f64::from(b.count) / f64::from(b.of) - f64::from(a.count) / f64::from(a.of);
    // `low` is the side whose probability must be lower for the observed excess, `high` the other.
    let (low, high, excess) = match observed > excess {
        true => (a, b, excess),
        false => (b, a, -excess),
    };
    let few = |share: RunShare, chance| binomial_lower(share.count.into(), share.of.into(), chance);
    let many =
        |share: RunShare, chance| binomial_upper(share.count.into(), share.of.into(), chance);
    // As the probability of `low` increases, its tail falls and that of `high`
    // rises.
    let tails = |chance: f64| (few(low, chance), many(high, (chance + excess).min(1.0)));
    let (mut least, mut most) = ((-excess).max(0.0), (1.0 - excess).min(1.0));
    for _ in 0..60 {
        let middle = least.midpoint(most);
        let (falls, rises) = tails(middle);
        if falls > rises {
            least = middle;
        } else {
            most = middle;
        }
    }
    let at = |chance| {
        let (falls, rises) = tails(chance);
        f64::min(falls, rises)
    };
    Ok((4.0 * f64::max(at(least), at(most))).min(1.0))
}

/// The smallest p that [`exceeds`] can give for these numbers of runs.
#[must_use]
pub fn exceeds_attainable(of_a: u32, of_b: u32, excess: f64) -> f64 {
    let ends = [(0, of_b), (of_a, 0)].map(|(a, b)| {
        let (a, b) = (
            RunShare { count: a, of: of_a },
            RunShare { count: b, of: of_b },
        );
        exceeds(a, b, excess).unwrap_or(1.0)
    });
    f64::min(ends[0], ends[1])
}

/// The number of runs per side that rule out an excess above `excess` at `level` if none of them
/// has the outcome; `None` if it is above 2^19 (524,288).
///
/// - Range: `excess` in (0, 1). Cost: O(log runs) of [`exceeds`].
#[must_use]
pub fn runs_to_exclude(excess: f64, level: f64) -> Option<u32> {
    let excludes = |of: u32| {
        let none = RunShare { count: 0, of };
        exceeds(none, none, excess).is_ok_and(|p| p <= level)
    };
    let mut enough = 1;
    while !excludes(enough) {
        enough *= 2;
        if enough > MOST_RUNS {
            return None;
        }
    }
    let mut too_few = enough / 2;
    while enough - too_few > 1 {
        let middle = too_few.midpoint(enough);
        if excludes(middle) {
            enough = middle;
        } else {
            too_few = middle;
        }
    }
    Some(enough)
}

/// The probability that `count` of `total` are among the `of_a` runs of one
/// side.
fn hypergeometric(count: u32, total: u32, of_a: u32, of_b: u32) -> f64 {
    let all = u64::from(of_a) + u64::from(of_b);
    let [count, total, of_a, of_b] = [count, total, of_a, of_b].map(u64::from);
    // Any probability per run gives the same conditional probability; this one avoids small
    // denominators.
    let chance = total as f64 / all.max(1) as f64;
    binomial_pmf(count, of_a, chance) * binomial_pmf(total - count, of_b, chance)
        / binomial_pmf(total, all, chance)
}

fn check(share: RunShare) -> Result<()> {
    if share.count <= share.of {
        return Ok(());
    }
    Err(Error::BadArgument(
        "more runs have the outcome than there are runs",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(count: u32, of: u32) -> RunShare {
        RunShare { count, of }
    }

    fn close(got: f64, want: f64) {
        assert!((got - want).abs() <= 1e-9 * want, "{got} {want}");
    }

    #[test]
    fn an_interval_ends_where_a_tail_is_half_of_the_rest() {
        // The closed form for no run.
        let none = interval(share(0, 20), 0.95).unwrap();
        close(none.high, 1.0 - 0.025_f64.powf(1.0 / 20.0));
        assert!(none.low == 0.0);
        let all = interval(share(20, 20), 0.95).unwrap();
        close(all.low, 1.0 - none.high);
        assert!(all.high == 1.0);
        let some = interval(share(3, 10), 0.9).unwrap();
        close(binomial_upper(3, 10, some.low), 0.05);
        close(binomial_lower(3, 10, some.high), 0.05);
        let nothing = interval(share(0, 0), 0.95).unwrap();
        assert!(nothing.low == 0.0 && nothing.high == 1.0);
        assert!(interval(share(3, 2), 0.95).is_err() && interval(share(1, 2), 1.0).is_err());
    }

    /// Compares with sums of exact fractions, computed independently of this
    /// project.
    #[test]
    fn fishers_p_is_that_of_exact_fractions() {
        for (a, b, want) in [
            (share(0, 40), share(6, 40), 0.025_546_605_293_440_737),
            (share(0, 32), share(7, 32), 0.010_836_343_428_730_202),
            (share(0, 40), share(12, 40), 0.000_185_466_050_576_269_18),
            (share(0, 40), share(1, 40), 1.0),
            (share(3, 20), share(9, 25), 0.176_772_622_603_592_53),
            (share(10, 40), share(8, 40), 0.789_510_612_340_418_1),
            (share(2, 100), share(11, 60), 0.000_420_090_158_051_605_47),
            (share(0, 5), share(5, 5), 0.007_936_507_936_507_936),
            (share(40, 40), share(0, 40), 1.860_340_365_603_626_4e-23),
        ] {
            close(fisher(a, b).unwrap(), want);
            close(fisher(b, a).unwrap(), want);
        }
        assert_eq!(fisher(share(0, 9), share(0, 4)), Ok(1.0));
        assert!(fisher(share(3, 2), share(0, 4)).is_err());
    }

    #[test]
    fn values_that_are_alike_in_their_clusters_count_once_per_cluster() {
        let cluster = |of: f64, sum: f64| ClusterSum {
            of,
            sum,
            squares: sum,
        };
        // All seven values of a cluster are equal.
        let alike = [7.0, 7.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0].map(|sum| cluster(7.0, sum));
        close(design_effect(&alike), 7.0);
        // Sums that vary as those of independent values do: their variance is 4 x 1/4 x 3/4.
        let apart = [2.0, 0.0, 1.0, 1.0, 2.0, 0.0, 1.0, 1.0].map(|sum| cluster(4.0, sum));
        close(design_effect(&apart), 1.0);
        // One cluster, or equal values, give no information on similarity within clusters.
        close(design_effect(&[cluster(5.0, 2.0)]), 5.0);
        close(design_effect(&[cluster(4.0, 4.0), cluster(4.0, 4.0)]), 4.0);
        close(design_effect(&[cluster(1.0, 1.0), cluster(1.0, 0.0)]), 1.0);
        close(design_effect(&[]), 1.0);
    }

    #[test]
    fn mcnemars_p_is_that_of_exact_fractions() {
        for (only_a, only_b, want) in [
            (0, 6, 0.031_25),
            (0, 7, 0.015_625),
            (0, 12, 0.000_488_281_25),
            (1, 9, 0.021_484_375),
            (3, 8, 0.226_562_5),
            (6, 16, 0.052_478_790_283_203_125),
            (5, 5, 1.0),
            (0, 0, 1.0),
        ] {
            close(mcnemar(only_a, only_b), want);
            close(mcnemar(only_b, only_a), want);
        }
    }

    #[test]
    fn the_smallest_difference_that_can_be_shown_is_known() {
        assert_eq!(fewest_by_fisher(40, 40, 0.05), Some(6));
        assert_eq!(fewest_by_fisher(5, 5, 0.05), Some(4));
        assert_eq!(fewest_by_fisher(2, 2, 0.05), None);
        assert_eq!(fewest_by_mcnemar(40, 0.05), Some(6));
        assert_eq!(fewest_by_mcnemar(5, 0.05), None);
        close(
            fisher_attainable(6, 40, 40),
            fisher(share(0, 40), share(6, 40)).unwrap(),
        );
        close(mcnemar_attainable(6), 0.031_25);
    }

    #[test]
    fn an_excess_is_excluded_as_the_binomial_tails_have_it() {
        // For none of n runs the tail is (1 - excess)^n.
        close(
            exceeds(share(0, 64), share(0, 64), 0.1).unwrap(),
            4.0 * 0.9_f64.powi(64),
        );
        close(
            exceeds(share(0, 64), share(0, 64), -0.1).unwrap(),
            4.0 * 0.9_f64.powi(64),
        );
        assert_eq!(exceeds(share(3, 30), share(9, 30), 0.2), Ok(1.0));
        // All against none, and the reverse.
        let all = exceeds(share(0, 20), share(20, 20), 0.5).unwrap();
        close(all, 4.0 * 0.75_f64.powi(20));
        close(exceeds(share(20, 20), share(0, 20), -0.5).unwrap(), all);
        close(exceeds_attainable(20, 20, 0.5), 4.0 * 0.25_f64.powi(20));
        assert_eq!(exceeds(share(0, 0), share(3, 9), 0.1), Ok(1.0));
        assert!(exceeds(share(0, 9), share(3, 9), 1.0).is_err());
        assert!(exceeds(share(0, 9), share(3, 9), f64::NAN).is_err());
        for (excess, level) in [(0.1, 0.05), (0.02, 0.01), (0.5, 0.05)] {
            let runs = runs_to_exclude(excess, level).unwrap();
            let p = |of: u32| exceeds(self::share(0, of), self::share(0, of), excess).unwrap();
            assert!(p(runs) <= level && p(runs - 1) > level, "{runs}");
        }
        assert_eq!(runs_to_exclude(0.1, 0.05), Some(42));
        assert_eq!(runs_to_exclude(1e-9, 0.05), None);
    }

    /// The test keeps its level at the true excess, whatever the lower probability.
    #[test]
    fn a_true_excess_is_seldom_excluded() {
        for excess in [0.05, 0.2, 0.5] {
            for chance in [0.0, 0.1, 0.4] {
                let (n, mut wrong) = (20, 0.0);
                for a in 0..=n {
                    for b in 0..=n {
                        let p = exceeds(share(a, n), share(b, n), excess).unwrap();
                        let [a, b, n] = [a, b, n].map(u64::from);
                        if p <= 0.05 {
                            wrong +=
                                binomial_pmf(a, n, chance) * binomial_pmf(b, n, chance + excess);
                        }
                    }
                }
                assert!(wrong <= 0.05, "{excess} {chance}: {wrong}");
            }
        }
    }

    /// Both tests keep their level, whatever the common probability of a crash.
    #[test]
    fn equal_chances_are_seldom_called_different() {
        for chance in [0.025, 0.1, 0.3, 0.5, 0.9] {
            let (n, mut wrong) = (20, 0.0);
            for a in 0..=n {
                for b in 0..=n {
                    if fisher(share(a, n), share(b, n)).unwrap() <= 0.05 {
                        wrong += binomial_pmf(a.into(), n.into(), chance)
                            * binomial_pmf(b.into(), n.into(), chance);
                    }
                }
            }
            assert!(wrong <= 0.05, "{chance}: {wrong}");
        }
    }
}
