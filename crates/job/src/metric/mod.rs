//! The metrics, what provides each, and their names in a run.

mod name;
mod table;
mod wording;

use std::fmt;

pub use name::{MetricName, event_names, is_event, measured, metric_sources};
pub use table::METRICS;
pub use wording::{Preference, Wording, wording};

/// A metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metric {
    /// Its name in the agent. `LOOP` is a placeholder for the name of a loop of `periodic`,
    /// `THREAD` for that of a thread, `STATE` for that of an idle state, `FREQUENCY` for a
    /// frequency, `N` for a number.
    pub name: &'static str,
    /// The unit's usual symbol; empty for a count.
    pub unit: &'static str,
    /// The form of its values.
    pub form: MetricForm,
    /// The workloads or the instrument that provide it.
    pub source: MetricSource,
    /// The smallest step between two values, in `unit`, if that is coarser than the unit.
    pub resolution: Option<f64>,
}

/// The form in which a run has a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricForm {
    /// One number.
    Number,
    /// Many values; each [`Mark`] of them is a metric of the run.
    Distribution,
    /// Times of events. They become rates, and are not a metric.
    Events,
}

/// The source of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricSource {
    /// Each of these kinds of workload, as the measured one.
    Workloads(&'static [&'static str]),
    /// This instrument.
    Instrument(&'static str),
}

/// A statistic of a distribution; each is a metric of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The median.
    P50,
    /// The 90 % quantile.
    P90,
    /// The 99 % quantile.
    P99,
    /// The 99.9 % quantile.
    P999,
    /// The largest value.
    Max,
    /// The 99 % quantile minus the median.
    P99MinusP50,
    /// The median absolute deviation from the median.
    Mad,
}

impl Mark {
    /// All marks.
    pub const ALL: [Mark; 7] = [
        Mark::P50,
        Mark::P90,
        Mark::P99,
        Mark::P999,
        Mark::Max,
        Mark::P99MinusP50,
        Mark::Mad,
    ];

    /// Its name within names of metrics.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Mark::P50 => "p50",
            Mark::P90 => "p90",
            Mark::P99 => "p99",
            Mark::P999 => "p99.9",
            Mark::Max => "max",
            Mark::P99MinusP50 => "p99_minus_p50",
            Mark::Mad => "mad",
        }
    }

    /// The name of this metric of a distribution: `latency` in ns and `p99` give
    /// `latency_ns_p99`. A suffix after a colon stays at the end:
    /// `wakeup_latency_ns_p99:kworker`.
    #[must_use]
    pub fn metric_name(self, distribution: &str, unit: &str) -> String {
        let (stem, part) = match distribution.split_once(':') {
            Some((stem, part)) => (stem, format!(":{part}")),
            None => (distribution, String::new()),
        };
        let unit = match unit {
            "" => String::new(),
            unit => format!("_{unit}"),
        };
        format!("{stem}{unit}_{}{part}", self.word())
    }
}

/// A metric derived from a distribution of consecutive operations: its standard deviation
/// in the run.
pub const JITTER: &str = "jitter";
/// The distribution from which [`JITTER`] is derived.
pub const JITTER_OF: &str = "round_trip";
/// The time that a workload took, for those that end when their work is done.
pub const ELAPSED: &str = "elapsed";
/// The number of jobs, by which per-job metrics are divided.
pub const JOBS: &str = "jobs";

/// Metrics that a run with [`JOBS`] also has per job, in display order.
pub const PER_JOB: [&str; 7] = [
    "busy_time",
    "context_switches",
    "switches",
    "guest_instructions",
    "cycles",
    "instructions",
    "modelled_energy",
];

/// The name of a metric per job.
#[must_use]
pub fn per_job(metric: &str) -> String {
    format!("{metric}_per_job")
}

/// The metrics of the instruments with this name.
pub fn of_instrument(instrument: &str) -> impl Iterator<Item = &'static Metric> {
    METRICS
        .iter()
        .filter(move |metric| metric.source.is_instrument(instrument))
}

/// The instrument that counts this event; `None` if a workload counts it, or nothing does.
#[must_use]
pub fn instrument_of(event: &str) -> Option<&'static str> {
    let of_it = |metric: &&Metric| metric.form == MetricForm::Events && metric.name == event;
    METRICS
        .iter()
        .find(of_it)
        .and_then(|metric| match metric.source {
            MetricSource::Instrument(name) => Some(name),
            MetricSource::Workloads(_) => None,
        })
}

/// Name and unit: `run_time ns`.
impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        if !self.unit.is_empty() {
            write!(f, " {}", self.unit)?;
        }
        match self.form {
            MetricForm::Number => Ok(()),
            MetricForm::Distribution => f.write_str(" (histogram)"),
            MetricForm::Events => f.write_str(" (events)"),
        }
    }
}

impl MetricSource {
    fn is_instrument(&self, instrument: &str) -> bool {
        matches!(self, MetricSource::Instrument(name) if *name == instrument)
    }

    fn is_workload(&self, kind: &str) -> bool {
        matches!(self, MetricSource::Workloads(kinds) if kinds.contains(&kind))
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
