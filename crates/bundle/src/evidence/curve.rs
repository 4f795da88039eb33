//! One thinned distribution.

use assize_judge::{quantile, weighted};

use super::Curve;
use super::grain::EvidenceResolution;

/// The quantiles that a curve always includes, if the samples support them.
const NAMED: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// A value, and the number of samples that are not greater.
type CurvePoint = (f64, u64);

/// The distribution of one metric in one run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Distribution {
    pub(super) metric: String,
    pub(super) unit: String,
    pub(super) count: u64,
    /// The number of distinct values.
    pub(super) distinct: usize,
    /// Recorded values, ascending.
    points: Vec<CurvePoint>,
    /// Quantiles, ascending.
    named: Vec<CurvePoint>,
}

impl Distribution {
    /// Builds it from individual samples, which must be finite; `None` if there
    /// are none.
    pub(super) fn of_samples(metric: &str, unit: &str, mut values: Vec<f64>) -> Option<Self> {
        values.sort_unstable_by(f64::total_cmp);
        let same = values.chunk_by(|a, b| a == b);
        let buckets: Vec<(f64, u64)> = same
            .filter_map(|same| Some((*same.first()?, same.len() as u64)))
            .collect();
        let n = values.len();
        Self::of_buckets(metric, unit, &buckets).map(|mut distribution| {
            distribution.name(n, |p| quantile::type7(&values, p).ok());
            distribution
        })
    }

    /// Builds it from a histogram of measured values; `None` if nothing was
    /// counted.
    pub(super) fn of_counts(metric: &str, unit: &str, counts: &[(f64, u64)]) -> Option<Self> {
        Self::of_buckets(metric, unit, counts).map(|mut distribution| {
            let n = usize::try_from(distribution.count).unwrap_or(usize::MAX);
            distribution.name(n, |p| weighted::type7(counts, p).ok());
            distribution
        })
    }

    /// Builds it from a histogram whose values are the ends of buckets: only
    /// these ends are kept, without quantiles between them. `None` if nothing
    /// was counted, or the counts overflow.
    pub(super) fn of_buckets(metric: &str, unit: &str, buckets: &[(f64, u64)]) -> Option<Self> {
        let mut count = 0u64;
        let mut points = Vec::with_capacity(buckets.len());
        for &(value, more) in buckets.iter().filter(|(_, more)| *more > 0) {
            count = count.checked_add(more)?;
            points.push((value, count));
        }
        (count > 0).then(|| Distribution {
            metric: metric.to_owned(),
            unit: unit.to_owned(),
            count,
            distinct: points.len(),
            points,
            named: Vec::new(),
        })
    }

    fn name(&mut self, n: usize, quantile: impl Fn(f64) -> Option<f64>) {
        let supported = NAMED.iter().filter(|p| quantile::supported(n, **p));
        let named = supported.filter_map(|p| {
            let value = quantile(*p)?;
            let next = self.points.partition_point(|(known, _)| *known <= value);
            let (known, below) = *self.points.get(next.checked_sub(1)?)?;
            // A quantile equal to a recorded value keeps that exact value.
            Some((if known == value { known } else { value }, below))
        });
        self.named = named.collect();
    }

    /// Whether all values are kept.
    pub(super) fn is_whole(&self, grain: EvidenceResolution) -> bool {
        self.distinct <= grain.points()
    }

    /// Keeps the first value at which the share reaches each step of the grid,
    /// and the smallest and largest value. Between two kept values, the share
    /// changes by at most one step.
    pub(super) fn thin(&mut self, grain: EvidenceResolution) {
        if self.is_whole(grain) {
            return;
        }
        let tail = grain.tail();
        let cell = |below: u64| {
            let body = u128::from(below) * grain.body as u128 / u128::from(self.count);
            let above = (self.count - below) as f64 / self.count as f64;
            (body, tail.partition_point(|cut| above <= *cut))
        };
        let last = self.points.len().saturating_sub(1);
        let mut before = cell(0);
        let mut at = 0;
        self.points.retain(|&(_, below)| {
            let here = cell(below);
            let keep = at == 0 || at == last || here.0 > before.0 || here.1 > before.1;
            before = here;
            at += 1;
            keep
        });
        self.points.shrink_to_fit();
    }

    /// The curve as it is shown.
    pub(super) fn curve(&self, run: u32) -> Curve {
        let mut points: Vec<CurvePoint> = self.points.iter().chain(&self.named).copied().collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points.dedup_by(|a, b| a.0 == b.0);
        let share = shares(self.count);
        Curve {
            run,
            metric: self.metric.clone(),
            unit: self.unit.clone(),
            count: self.count,
            values: points.iter().map(|(value, _)| *value).collect(),
            shares: points.iter().map(|(_, below)| share(*below)).collect(),
        }
    }
}

/// Rounds shares to two digits more than are needed to distinguish single
/// samples.
fn shares(count: u64) -> impl Fn(u64) -> f64 {
    let digits = (count.max(1).ilog10() + 3).min(15);
    let scale = 10f64.powi(digits.cast_signed());
    move |below| (below as f64 / count as f64 * scale).round() / scale
}

#[cfg(test)]
#[path = "curve_tests.rs"]
mod tests;
