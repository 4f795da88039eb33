//! Series of measurements.

use assize_job::AgentMessage;

use crate::records::histogram;

/// Measurements and when they were taken.
#[derive(Debug, Default, Clone)]
pub(super) struct TimedSeries {
    /// When, in nanoseconds of CLOCK_MONOTONIC.
    times: Vec<u64>,
    values: Vec<u64>,
}

impl TimedSeries {
    /// Reserves memory for `count` measurements, so that the kernel need not do so during
    /// the measurement.
    pub(super) fn with_room(count: u64) -> TimedSeries {
        // Beyond this limit the vectors grow.
        let count = usize::try_from(count.min(1 << 22)).unwrap_or(0);
        // Nonzero, so that the pages are present.
        let room = || {
            let mut room = vec![u64::MAX; count];
            room.clear();
            room
        };
        TimedSeries {
            times: room(),
            values: room(),
        }
    }

    pub(super) fn push(&mut self, time: u64, value: u64) {
        self.times.push(time);
        self.values.push(value);
    }

    /// Adds the measurements of another thread.
    pub(super) fn append(&mut self, mut other: TimedSeries) {
        self.times.append(&mut other.times);
        self.values.append(&mut other.values);
    }

    /// The number of measurements.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// The values, in order of measurement.
    pub(super) fn values(&self) -> &[u64] {
        &self.values
    }

    /// Applies `convert` to each value.
    pub(super) fn map(mut self, convert: impl Fn(u64) -> u64) -> TimedSeries {
        self.values
            .iter_mut()
            .for_each(|value| *value = convert(*value));
        self
    }

    /// The mean of the values; 0 if there is none.
    pub(super) fn mean(&self) -> f64 {
        let sum: u128 = self.values.iter().map(|value| u128::from(*value)).sum();
        sum as f64 / self.values.len().max(1) as f64
    }

    /// Makes the records: a histogram and, if `samples`, each value with the time since
    /// the previous one, or since `start` for the first.
    pub(super) fn records(
        self,
        metric: &str,
        unit: &str,
        start: u64,
        samples: bool,
    ) -> Vec<AgentMessage> {
        let mut records = vec![histogram(metric, unit, self.values.iter().copied())];
        if samples {
            let mut both: Vec<(u64, u64)> = self.times.into_iter().zip(self.values).collect();
            both.sort_by_key(|(time, _)| *time);
            let mut before = start;
            let t_ns = both.iter().map(|(time, _)| {
                let since = time.saturating_sub(before);
                before = *time;
                since
            });
            records.push(AgentMessage::Samples {
                metric: metric.into(),
                unit: unit.into(),
                start_ns: Some(start),
                t_ns: t_ns.collect(),
                values: both.iter().map(|(_, value)| *value as f64).collect(),
            });
        }
        records
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_and_times_are_differences() {
        let mut series = TimedSeries::with_room(2);
        series.push(130, 7);
        series.push(110, 9);
        let mut other = TimedSeries::default();
        other.push(120, 7);
        series.append(other);
        let records = series.records("m", "ns", 100, true);
        assert!(
            matches!(&records[0], AgentMessage::Histogram { buckets, exact: true, .. }
                if *buckets == [(7, 2), (9, 1)])
        );
        assert!(
            matches!(&records[1], AgentMessage::Samples { t_ns, values, .. }
                if *t_ns == [10, 10, 10] && *values == [9.0, 7.0, 7.0])
        );
    }

    #[test]
    fn the_mean_is_that_of_all_values() {
        let mut series = TimedSeries::default();
        assert!(series.mean().abs() < f64::EPSILON);
        series.push(0, 1);
        series.push(0, 4);
        assert!((series.mean() - 2.5).abs() < f64::EPSILON);
    }

    #[test]
    fn samples_are_sent_only_if_asked_for() {
        assert_eq!(TimedSeries::default().records("m", "ns", 0, false).len(), 1);
    }
}
