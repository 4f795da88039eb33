//! Comparisons of metrics after runs were lost.
//!
//! Runs that crash are seldom a random sample: if the slow ones crash, a kernel looks fast. So if
//! one side lost a larger share of its runs, nothing is called equivalent, and a difference must
//! survive the worst case: the runs of the other side that most favour the difference are removed
//! until both have lost the same share (the bounds of Lee 2009, Review of Economic Studies 76).
//! With pairs, the same share of pairs is removed.

use assize_judge::{Estimate, paired, welch};

use crate::caps::Cap;
use crate::cells::Cell;
use crate::document::Verdict;
use crate::pairs::paired_runs;

/// Lost and attempted runs of each side, baseline first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LostRuns(pub(crate) [(u32, u32); 2]);

impl LostRuns {
    /// The numbers of attempted runs, if any was lost.
    pub(crate) fn attempted(self) -> Option<[u32; 2]> {
        let [a, b] = self.0;
        (a.0 + b.0 > 0).then_some([a.1, b.1])
    }

    /// The share of runs lost by the configuration minus that of the baseline.
    fn excess(self) -> f64 {
        let [a, b] = self
            .0
            .map(|(lost, of)| f64::from(lost) / f64::from(of.max(1)));
        b - a
    }

    /// Whether one side lost a larger share.
    pub(crate) fn is_uneven(self) -> bool {
        self.excess().abs() > 1e-9
    }

    /// The numbers of completed runs, as a note for a row.
    pub(crate) fn words(self) -> Option<String> {
        self.attempted()?;
        let [a, b] = self.0.map(|(lost, of)| format!("{} of {of}", of - lost));
        Some(format!("runs completed: {b}, of the baseline {a}"))
    }

    /// The best verdict on a difference between the completed runs.
    pub(crate) fn cap(self, a: &Cell<'_>, b: &Cell<'_>) -> Option<Cap> {
        (self.is_uneven() && !self.holds_without_favourable(a, b)).then_some(Cap {
            verdict: Verdict::Undecided,
            lint: "failed-run",
        })
    }

    /// Whether the difference remains after the runs that most favour it are removed from the side
    /// that lost fewer.
    fn holds_without_favourable(self, a: &Cell<'_>, b: &Cell<'_>) -> bool {
        if let Some((in_a, in_b)) = paired_runs(a, b) {
            return self.pairs_bear(&in_a.values(), &in_b.values());
        }
        let (mut of_a, mut of_b) = (a.values(), b.values());
        let Some(below) = effect(&of_a, &of_b).map(|(_, below)| below) else {
            return false;
        };
        of_a.sort_by(f64::total_cmp);
        of_b.sort_by(f64::total_cmp);
        let excess = self.excess();
        let [all_a, all_b] = self.0.map(|(_, of)| f64::from(of));
        let (values, many, from_top) = if excess > 0.0 {
            (&mut of_a, excess * all_a, below)
        } else {
            (&mut of_b, -excess * all_b, !below)
        };
        let many = (many - 1e-9).ceil() as usize;
        if values.len() < many + 2 {
            return false;
        }
        if from_top {
            values.truncate(values.len() - many);
        } else {
            values.drain(..many);
        }
        let kept = effect(&of_a, &of_b);
        kept.is_some_and(|(stays, still_below)| stays && still_below == below)
    }
}

impl LostRuns {
    /// Like `holds_without_favourable`, for pairs. If the sides are equal, differences are
    /// symmetric about zero, so as many pairs are removed from one end as were lost at the other.
    fn pairs_bear(self, a: &[f64], b: &[f64]) -> bool {
        let positive = a.iter().chain(b).all(|&value| value > 0.0);
        let difference = |&(a, b): &(f64, f64)| match positive {
            true => (b / a).ln(),
            false => b - a,
        };
        let mut pairs: Vec<(f64, f64)> = a.iter().copied().zip(b.iter().copied()).collect();
        pairs.sort_by(|one, two| difference(one).total_cmp(&difference(two)));
        let below = pairs.iter().map(difference).sum::<f64>() < 0.0;
        let all = self.0.map(|(_, of)| f64::from(of));
        let many = (self.excess().abs() * all[0].max(all[1]) - 1e-9).ceil() as usize;
        if pairs.len() < many + 2 {
            return false;
        }
        if below {
            pairs.drain(..many);
        } else {
            pairs.truncate(pairs.len() - many);
        }
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let (estimate, none) = match positive {
            true => (paired::ratio(&a, &b), 1.0),
            false => (paired::difference(&a, &b), 0.0),
        };
        estimate.is_ok_and(|it| !it.ci.contains(none) && (it.effect < none) == below)
    }
}

/// Whether the interval of a difference excludes "no difference", and whether `b` is lower.
fn effect(a: &[f64], b: &[f64]) -> Option<(bool, bool)> {
    let positive = a.iter().chain(b).all(|&value| value > 0.0);
    let (estimate, none): (Estimate, f64) = match positive {
        true => (welch::ratio(a, b).ok()?, 1.0),
        false => (welch::difference(a, b).ok()?, 0.0),
    };
    Some((!estimate.ci.contains(none), estimate.effect < none))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::RunValue;

    fn cell(values: impl IntoIterator<Item = f64>) -> Cell<'static> {
        let reading = |(run, value)| RunValue {
            run,
            value,
            block: None,
            image: None,
            machine: None,
        };
        Cell {
            runs: values.into_iter().enumerate().map(reading).collect(),
            ..Cell::default()
        }
    }

    /// Twenty runs around `mean`, of which some are slow.
    fn runs(mean: f64, slow: usize) -> Vec<f64> {
        let of = |at: usize| {
            let spread = 0.02 * (at % 5) as f64;
            mean * (1.0 + spread) * if at < slow { 3.0 } else { 1.0 }
        };
        (0..20).map(of).collect()
    }

    #[test]
    fn a_side_that_lost_its_slow_runs_is_not_better() {
        let all = runs(10.0, 6);
        let without_slow: Vec<f64> = all.iter().copied().filter(|v| *v < 20.0).collect();
        let lost = LostRuns([(0, 20), (6, 20)]);
        let cap = lost.cap(&cell(all), &cell(without_slow));
        assert_eq!(cap.map(|cap| cap.verdict), Some(Verdict::Undecided));
    }

    #[test]
    fn a_difference_that_lost_runs_cannot_make_stays() {
        let slower = runs(13.0, 0);
        let lost = LostRuns([(0, 20), (2, 20)]);
        let left = cell(slower[2..].iter().copied());
        assert_eq!(lost.cap(&cell(runs(10.0, 0)), &left), None);
        // Both sides lost the same share, so nothing is capped.
        let even = LostRuns([(2, 20), (2, 20)]);
        assert_eq!(even.cap(&left, &left), None);
        assert_eq!(even.attempted(), Some([20, 20]));
    }
}
