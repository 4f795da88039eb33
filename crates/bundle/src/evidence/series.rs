//! One thinned series.

use super::ThinnedSeries;
use super::grain::EvidenceResolution;

#[derive(Debug, Clone, Copy, PartialEq)]
struct TimeStretch {
    t_ns: u64,
    low: f64,
    high: f64,
}

/// The samples of one metric in one run, in order of time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TimeCourse {
    pub(super) metric: String,
    pub(super) unit: String,
    pub(super) count: usize,
    first: u64,
    last: u64,
    stretches: Vec<TimeStretch>,
}

impl TimeCourse {
    /// Builds it from samples, which must be finite; `None` if there are none.
    pub(super) fn new(metric: &str, unit: &str, t_ns: &[u64], values: &[f64]) -> Option<Self> {
        let pairs = t_ns.iter().zip(values);
        let mut stretches: Vec<TimeStretch> = pairs
            .map(|(&t_ns, &value)| TimeStretch {
                t_ns,
                low: value,
                high: value,
            })
            .collect();
        stretches.sort_by_key(|stretch| stretch.t_ns);
        Some(TimeCourse {
            metric: metric.to_owned(),
            unit: unit.to_owned(),
            count: stretches.len(),
            first: stretches.first()?.t_ns,
            last: stretches.last()?.t_ns,
            stretches,
        })
    }

    /// Whether every sample is kept.
    pub(super) fn is_whole(&self, grain: EvidenceResolution) -> bool {
        self.count <= grain.stretches
    }

    /// Keeps the smallest and the largest sample of each stretch.
    pub(super) fn thin(&mut self, grain: EvidenceResolution) {
        if self.is_whole(grain) {
            return;
        }
        let span = u128::from(self.last - self.first) + 1;
        let cell = |t_ns: u64| u128::from(t_ns - self.first) * grain.stretches as u128 / span;
        self.stretches.dedup_by(|next, kept| {
            let same = cell(next.t_ns) == cell(kept.t_ns);
            if same {
                kept.low = kept.low.min(next.low);
                kept.high = kept.high.max(next.high);
            }
            same
        });
        self.stretches.shrink_to_fit();
    }

    /// The series as it is shown.
    pub(super) fn series(&self, run: u32) -> ThinnedSeries {
        let all = self.stretches.iter();
        ThinnedSeries {
            run,
            metric: self.metric.clone(),
            unit: self.unit.clone(),
            count: self.count as u64,
            t_ns: all.clone().map(|stretch| stretch.t_ns as f64).collect(),
            low: all.clone().map(|stretch| stretch.low).collect(),
            high: all.map(|stretch| stretch.high).collect(),
        }
    }
}

#[cfg(test)]
#[path = "series_tests.rs"]
mod tests;
