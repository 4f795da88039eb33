//! The methods that are compared: assize, and what people do by hand.

use super::noise::Trial;
use assize_judge::{Verdict, VerdictInput, decide, permutation, welch};

/// How many methods read a difference into the data, as columns of the tables.
pub(crate) const METHODS: [&str; 5] = [
    "established",
    "established or supported",
    "Welch t, raw",
    "mean ± sd apart",
    "hyperfine ± above 1",
];

/// Counts over trials.
#[derive(Clone, Copy, Default)]
pub(crate) struct Found {
    /// Differences found, by method.
    pub(crate) differences: [u32; METHODS.len()],
    /// 95 % intervals of assize that held the true ratio.
    pub(crate) covered: u32,
    /// Verdicts `equivalent`, at a margin of 1 %.
    pub(crate) equivalent: u32,
}

impl Found {
    pub(crate) fn add(&mut self, other: &Self) {
        for (sum, n) in self.differences.iter_mut().zip(other.differences) {
            *sum += n;
        }
        self.covered += other.covered;
        self.equivalent += other.equivalent;
    }
}

/// Judges one trial by every method. A figure that the judge refuses counts as
/// nothing found and nothing covered.
pub(crate) fn judge(trial: &Trial, effect: f64, seed: u64) -> Found {
    let (verdict, covered) = assize(trial, effect, seed).unwrap_or((Verdict::Undecided, false));
    let raw = welch::difference(&trial.a, &trial.b).is_ok_and(|e| e.p_t <= 0.05);
    let (a, b) = (Summary::of(&trial.a), Summary::of(&trial.b));
    let differences = [
        verdict == Verdict::Established,
        matches!(verdict, Verdict::Established | Verdict::Supported),
        raw,
        (a.mean - b.mean).abs() > a.sd + b.sd,
        hyperfine(&a, &b),
    ];
    Found {
        differences: differences.map(u32::from),
        covered: u32::from(covered),
        equivalent: u32::from(verdict == Verdict::Equivalent),
    }
}

/// The verdict, and whether the 95 % interval holds the truth.
fn assize(trial: &Trial, effect: f64, seed: u64) -> assize_judge::Result<(Verdict, bool)> {
    let estimate = welch::ratio(&trial.a, &trial.b)?;
    let logs = |v: &[f64]| v.iter().map(|x| x.ln()).collect::<Vec<_>>();
    let (a, b) = (logs(&trial.a), logs(&trial.b));
    let exact = if trial.blocked {
        let pairs: Vec<_> = a
            .iter()
            .zip(&b)
            .map(|(&a, &b)| (vec![a], vec![b]))
            .collect();
        permutation::blocked(&pairs, seed)?
    } else {
        permutation::two_sample(&a, &b, seed)?
    };
    let verdict = decide(VerdictInput {
        p_adjusted: Some(exact.p),
        p_t_adjusted: Some(estimate.p_t),
        p_attainable: Some(exact.p_attainable),
        ci90: Some(estimate.ci90),
        margin: 0.01,
        alpha: 0.05,
    });
    Ok((verdict, estimate.ci.contains(1.0 + effect)))
}

struct Summary {
    mean: f64,
    sd: f64,
}

impl Summary {
    fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        Self {
            mean,
            sd: (squares / (n - 1.0)).sqrt(),
        }
    }
}

/// hyperfine prints "x ± y times faster", y being the standard deviation of x by
/// error propagation (src/benchmark/relative_speed.rs). It is read as a
/// difference if x - y is above 1.
fn hyperfine(a: &Summary, b: &Summary) -> bool {
    let (fast, slow) = if a.mean < b.mean { (a, b) } else { (b, a) };
    let ratio = slow.mean / fast.mean;
    let error = ratio * (slow.sd / slow.mean).hypot(fast.sd / fast.mean);
    ratio - error > 1.0
}
