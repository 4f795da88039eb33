//! Alternative methods in common use, applied to the same runs.

use assize_judge::{benjamini_hochberg, holm, paired, welch};
use std::collections::BTreeMap;

use super::trial::{BASELINE, Trial, row};

/// The names of the methods.
pub(crate) const PEERS: [&str; 5] = [
    "t, each row",
    "t, Holm",
    "t, Benjamini-Hochberg",
    "hyperfine's ±",
    "benchstat",
];

/// The names of the rows, and whether each method finds a difference at 5 %.
pub(crate) fn found(trial: &Trial) -> (Vec<String>, [Vec<bool>; PEERS.len()]) {
    let rows = rows(trial);
    let names = rows.iter().map(|row| row.name.clone()).collect();
    let of_t: Vec<f64> = rows.iter().map(Row::p_t).collect();
    let small = |p: Vec<f64>| p.iter().map(|&p| p <= 0.05).collect();
    let found = [
        small(of_t.clone()),
        small(holm(&of_t)),
        small(benjamini_hochberg(&of_t)),
        rows.iter().map(|row| hyperfine(&row.a, &row.b)).collect(),
        rows.iter()
            .map(|row| p_of_ranks(&row.a, &row.b) <= 0.05)
            .collect(),
    ];
    (names, found)
}

/// The values of one configuration and of the baseline.
struct Row {
    name: String,
    a: Vec<f64>,
    b: Vec<f64>,
    /// Whether entry i of both sides belongs to block i.
    in_blocks: bool,
}

impl Row {
    /// p of the paired test in blocks, otherwise of Welch's; 1 if it is undefined.
    fn p_t(&self) -> f64 {
        let test = if self.in_blocks {
            paired::difference(&self.a, &self.b)
        } else {
            welch::difference(&self.a, &self.b)
        };
        test.map_or(1.0, |estimate| estimate.p_t)
    }
}

fn rows(trial: &Trial) -> Vec<Row> {
    let mut values: BTreeMap<[&str; 3], Vec<(Option<u32>, f64)>> = BTreeMap::new();
    for run in &trial.records.runs {
        for (metric, value) in &run.metrics {
            let cell = [run.workload.as_str(), metric, &run.configuration];
            let of_cell = values.entry(cell).or_default();
            of_cell.push((run.block, value.value));
        }
    }
    for of_cell in values.values_mut() {
        of_cell.sort_by_key(|value| value.0);
    }
    let only = |values: &[(Option<u32>, f64)]| values.iter().map(|v| v.1).collect();
    values
        .iter()
        .filter(|([.., configuration], _)| *configuration != BASELINE)
        .filter_map(|(&[workload, metric, configuration], b)| {
            let a = values.get(&[workload, metric, BASELINE])?;
            let blocks = |side: &[(Option<u32>, f64)]| side.iter().map(|v| v.0).collect::<Vec<_>>();
            Some(Row {
                name: row(workload, metric, configuration),
                in_blocks: b[0].0.is_some() && blocks(a) == blocks(b),
                a: only(a),
                b: only(b),
            })
        })
        .collect()
}

/// hyperfine prints "x ± y times faster", where y is the standard deviation of x by error
/// propagation (src/benchmark/relative_speed.rs). It counts as a difference if x - y is
/// above 1.
fn hyperfine(a: &[f64], b: &[f64]) -> bool {
    let moments = |values: &[f64]| {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        (mean, (squares / (n - 1.0)).sqrt())
    };
    let (a, b) = (moments(a), moments(b));
    let (fast, slow) = if a.0 < b.0 { (a, b) } else { (b, a) };
    let ratio = slow.0 / fast.0;
    let error = ratio * (slow.1 / slow.0).hypot(fast.1 / fast.0);
    ratio - error > 1.0
}

/// p of the Mann-Whitney U test as in benchstat: exact, two-sided as twice the smaller
/// tail.
fn p_of_ranks(a: &[f64], b: &[f64]) -> f64 {
    let mut all: Vec<f64> = a.iter().chain(b).copied().collect();
    all.sort_by(f64::total_cmp);
    // Twice the mean rank of a value, so that ties give integers.
    let rank = |value: f64| {
        let below = all.partition_point(|&other| other < value);
        let up_to = all.partition_point(|&other| other <= value);
        below + up_to + 1
    };
    let ranks: Vec<usize> = all.iter().map(|&value| rank(value)).collect();
    let observed: usize = a.iter().map(|&value| rank(value)).sum();
    // ways[k][s]: the number of sets of k values with rank sum s.
    let largest: usize = ranks.iter().sum();
    let mut ways = vec![vec![0.0_f64; largest + 1]; a.len() + 1];
    ways[0][0] = 1.0;
    for &rank in &ranks {
        for k in (1..=a.len()).rev() {
            let (fewer, these) = ways.split_at_mut(k);
            for (sum, count) in these[0].iter_mut().enumerate().skip(rank) {
                *count += fewer[k - 1][sum - rank];
            }
        }
    }
    let of_sums = &ways[a.len()];
    let total: f64 = of_sums.iter().sum();
    let low: f64 = of_sums[..=observed].iter().sum();
    let high: f64 = of_sums[observed..].iter().sum();
    (2.0 * low.min(high) / total).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_give_the_p_of_tables() {
        // 4 against 4, all of one side above: 2/70.
        let p = p_of_ranks(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0]);
        assert!((p - 2.0 / 70.0).abs() < 1e-12, "{p}");
        // scipy.stats.mannwhitneyu([1, 3, 5], [2, 4, 6], method="exact").
        let p = p_of_ranks(&[1.0, 3.0, 5.0], &[2.0, 4.0, 6.0]);
        assert!((p - 0.7).abs() < 1e-12, "{p}");
        assert_eq!(p_of_ranks(&[1.0, 1.0], &[1.0, 1.0]), 1.0);
    }
}
