//! Intervals that match the test by which two cells are compared.

use std::cmp::Ordering;

use assize_judge::{Interval, flips};

use crate::compare::CellComparison;
use crate::document::{Scale, TTest, Verdict};
use crate::options::LEVEL;

impl CellComparison {
    /// Recomputes `ci` at another level.
    pub(crate) fn at_level(mut self, level: f64) -> Self {
        if level != LEVEL {
            self.ci = self.interval(level);
        }
        if let Some(across) = &mut self.across {
            for on in &mut across.machines {
                on.comparison = on.comparison.clone().at_level(level);
            }
        }
        self
    }

    /// The interval of the deciding test: for pairs that of the sign-flip test, if it has one;
    /// otherwise that of the t test.
    pub(crate) fn interval(&self, level: f64) -> Option<Interval> {
        self.by_flips(level).or_else(|| self.by_t(level))
    }

    /// The interval of the t test.
    fn by_t(&self, level: f64) -> Option<Interval> {
        let estimate = self.estimate?;
        let interval = match self.scale {
            Scale::Raw => estimate.difference_interval(level),
            Scale::Log | Scale::Summary => estimate.ratio_interval(level),
        };
        interval.ok()
    }

    fn by_flips(&self, level: f64) -> Option<Interval> {
        let contrast = self.contrast.as_ref()?;
        if self.t_test != Some(TTest::Paired) {
            return None;
        }
        let differences = contrast.pairs()?;
        // If nothing varies, the interval is a point.
        let resolution = self.p_t.map_or(0.0, |_| contrast.resolution);
        let hidden = 2.0 * resolution / differences.len() as f64;
        let interval = flips::interval(&differences, level, hidden).ok()??;
        Some(match self.scale {
            Scale::Raw => interval,
            Scale::Log | Scale::Summary => interval.exponentiated(),
        })
    }

    /// Sets `ci` to the interval of the test behind the verdict.
    pub(crate) fn decided(&mut self, verdict: Verdict, level: f64) {
        // The mean over several machines may show no difference although each has one.
        if self.across.is_none() {
            self.ci = self.interval_of(verdict, level);
        }
    }

    /// The interval of the test behind a verdict.
    pub(crate) fn interval_of(&self, verdict: Verdict, level: f64) -> Option<Interval> {
        let interval = match verdict {
            Verdict::Supported => self.by_t(level),
            _ => self.interval(level),
        }?;
        let none = match self.scale {
            Scale::Raw => 0.0,
            Scale::Log | Scale::Summary => 1.0,
        };
        Some(clipped_at(interval, verdict, self.direction(), none))
    }
}

/// Clips an interval at `none` ("no difference") if the test finds a difference and the interval,
/// which is not the inverse of that test, includes `none` (Guilbaud 2008). `direction`: that of the
/// effect relative to `none`.
pub(crate) fn clipped_at(
    Interval { low, high }: Interval,
    verdict: Verdict,
    direction: Option<Ordering>,
    none: f64,
) -> Interval {
    let differs = matches!(verdict, Verdict::Established | Verdict::Supported);
    let (low, high) = match direction.filter(|_| differs) {
        Some(Ordering::Greater) => (low.max(none), high),
        Some(Ordering::Less) => (low, high.min(none)),
        _ => (low, high),
    };
    Interval { low, high }
}
