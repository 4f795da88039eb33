//! The metrics there are, who gives each, and what they are called in a run.

mod name;
mod table;
mod wording;

use std::fmt;

pub use name::{Name, event_names, givers, is_event, measured};
pub use table::METRICS;
pub use wording::{Preference, Wording, wording};

/// One thing that is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metric {
    /// As the agent calls it. `LOOP` stands for the name of a loop of
    /// `periodic`, `THREAD` for that of a thread, `STATE` for that of an idle
    /// state, `FREQUENCY` for a frequency, `N` for a number.
    pub name: &'static str,
    /// As the field writes it; empty for a count.
    pub unit: &'static str,
    /// What there is of it in a run.
    pub form: Form,
    /// Who gives it.
    pub giver: Giver,
    /// The smallest step between two values, in `unit`, where that is
    /// coarser than the unit.
    pub resolution: Option<f64>,
}

/// What there is of a metric in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One number.
    Number,
    /// Many values, of which each [`Mark`] is a metric of the run.
    Distribution,
    /// Times at which something happened. They become rates, and are no
    /// metric.
    Events,
}

/// Who gives a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Giver {
    /// Each of these kinds of workload, when it is measured.
    Workloads(&'static [&'static str]),
    /// This instrument.
    Instrument(&'static str),
}

/// What of a distribution is a metric of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The median.
    P50,
    /// The quantile for 90 %.
    P90,
    /// The quantile for 99 %.
    P99,
    /// The quantile for 99.9 %.
    P999,
    /// The largest value.
    Max,
    /// The quantile for 99 % less the median.
    P99MinusP50,
    /// The median absolute deviation from the median.
    Mad,
}

impl Mark {
    /// Each of them.
    pub const ALL: [Mark; 7] = [
        Mark::P50,
        Mark::P90,
        Mark::P99,
        Mark::P999,
        Mark::Max,
        Mark::P99MinusP50,
        Mark::Mad,
    ];

    /// As it is called in names of metrics.
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

    /// The metric that it is of a distribution: `latency` in ns and `p99` give
    /// `latency_ns_p99`. What follows a colon stays at the end:
    /// `wakeup_latency_ns_p99:kworker`.
    #[must_use]
    pub fn of(self, distribution: &str, unit: &str) -> String {
        let (stem, of) = match distribution.split_once(':') {
            Some((stem, of)) => (stem, format!(":{of}")),
            None => (distribution, String::new()),
        };
        let unit = match unit {
            "" => String::new(),
            unit => format!("_{unit}"),
        };
        format!("{stem}{unit}_{}{of}", self.word())
    }
}

/// A metric that is made of a distribution: its standard deviation in the run,
/// where the distribution is of operations that follow each other.
pub const JITTER: &str = "jitter";
/// The distribution that [`JITTER`] is made of.
pub const JITTER_OF: &str = "round_trip";
/// How long a workload took, of those that end when their work is done.
pub const ELAPSED: &str = "elapsed";
/// The number by which others are divided to be per job.
pub const JOBS: &str = "jobs";

/// What is there once more, divided by [`JOBS`], where a run has these; in the
/// order in which it is shown.
pub const PER_JOB: [&str; 7] = [
    "busy_time",
    "context_switches",
    "switches",
    "guest_instructions",
    "cycles",
    "instructions",
    "modelled_energy",
];

/// A counter per job.
#[must_use]
pub fn per_job(metric: &str) -> String {
    format!("{metric}_per_job")
}

/// What instruments of this name give.
pub fn of_instrument(instrument: &str) -> impl Iterator<Item = &'static Metric> {
    METRICS
        .iter()
        .filter(move |metric| metric.giver.is_instrument(instrument))
}

/// The instrument that counts this event; `None` if a workload does, or nothing.
#[must_use]
pub fn instrument_of(event: &str) -> Option<&'static str> {
    let of_it = |metric: &&Metric| metric.form == Form::Events && metric.name == event;
    METRICS
        .iter()
        .find(of_it)
        .and_then(|metric| match metric.giver {
            Giver::Instrument(name) => Some(name),
            Giver::Workloads(_) => None,
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
            Form::Number => Ok(()),
            Form::Distribution => f.write_str(" (histogram)"),
            Form::Events => f.write_str(" (events)"),
        }
    }
}

impl Giver {
    fn is_instrument(&self, instrument: &str) -> bool {
        matches!(self, Giver::Instrument(name) if *name == instrument)
    }

    fn is_workload(&self, kind: &str) -> bool {
        matches!(self, Giver::Workloads(kinds) if kinds.contains(&kind))
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
