//! Shares and goals.

use crate::validity::cases::{Case, Goal};
use crate::validity::tally::Measure;

/// Normal quantile of the printed 95 % intervals.
const PRINTED: f64 = 1.959_964;
/// Normal quantile for missed goals. With 1.96, some of the many goals would be missed by chance at
/// a true rate of exactly 5 %.
const FAILING: f64 = 3.5;

/// A share and its sample size.
#[derive(Clone, Copy)]
pub(super) struct Share {
    value: f64,
    /// The number of documents: rows of one document may be correlated, so they are not separate
    /// trials.
    documents: f64,
}

impl Share {
    /// The share of a measure in a case; `None` if nothing was counted.
    pub(super) fn of_measure(case: &Case, measure: Measure) -> Option<Self> {
        let (count, of) = case.tally.get(measure);
        (of > 0).then(|| Self {
            value: count as f64 / of as f64,
            documents: case.tally.documents() as f64,
        })
    }

    pub(super) fn value(self) -> f64 {
        self.value
    }

    /// Wilson's interval for a share (1927).
    fn wilson(self, z: f64) -> (f64, f64) {
        let (p, n) = (self.value, self.documents);
        let centre = p + z * z / (2.0 * n);
        let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
        let scale = 1.0 + z * z / n;
        (
            ((centre - half) / scale).max(0.0),
            ((centre + half) / scale).min(1.0),
        )
    }

    /// `5.0`, in per cent.
    pub(super) fn plain(self) -> String {
        format!("{:.1}", 100.0 * self.value)
    }

    /// `5.0 [4.7, 5.3]`, all in per cent.
    pub(super) fn with_interval(self) -> String {
        let (low, high) = self.wilson(PRINTED);
        format!("{} [{:.1}, {:.1}]", self.plain(), 100.0 * low, 100.0 * high)
    }

    /// Whether it misses a goal by more than the error of the simulation.
    pub(super) fn breaks(self, goal: Goal) -> bool {
        let (low, high) = self.wilson(FAILING);
        match goal {
            Goal::None => false,
            Goal::NoMore(most) => low > most,
            Goal::NoLess(least) => high < least,
            Goal::Never => self.value > 0.0,
        }
    }

    /// Whether it is below another by more than the error of the simulation.
    pub(super) fn is_below(self, other: Self) -> bool {
        let variance = |share: Self| {
            // Never zero, as a share of 0 or 1 is not known exactly either.
            let p = (share.value * share.documents + 1.0) / (share.documents + 2.0);
            p * (1.0 - p) / share.documents
        };
        let error = (variance(self) + variance(other)).sqrt();
        other.value - self.value > FAILING * error
    }
}

/// `≤ 5`, `≥ 80`, `0`, in per cent.
pub(super) fn goal(goal: Goal) -> String {
    match goal {
        Goal::None => "–".into(),
        Goal::NoMore(most) => format!("≤ {:.0}", 100.0 * most),
        Goal::NoLess(least) => format!("≥ {:.0}", 100.0 * least),
        Goal::Never => "0".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(value: f64, documents: f64) -> Share {
        Share { value, documents }
    }

    #[test]
    fn a_promise_is_broken_only_beyond_the_error() {
        assert!(!share(0.08, 100.0).breaks(Goal::NoMore(0.05)));
        assert!(share(0.08, 10_000.0).breaks(Goal::NoMore(0.05)));
        assert!(!share(0.85, 100.0).breaks(Goal::NoLess(0.9)));
        assert!(share(0.85, 10_000.0).breaks(Goal::NoLess(0.9)));
        assert!(share(0.001, 1000.0).breaks(Goal::Never));
        assert!(!share(1.0, 1000.0).breaks(Goal::None));
    }

    #[test]
    fn less_is_less_beyond_the_error() {
        assert!(share(0.0, 60.0).is_below(share(0.65, 60.0)));
        assert!(!share(0.6, 60.0).is_below(share(0.65, 60.0)));
        assert!(!share(1.0, 60.0).is_below(share(0.65, 60.0)));
        assert!(!share(0.0, 20.0).is_below(share(0.1, 20.0)));
    }
}
