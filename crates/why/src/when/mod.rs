//! When the bad end of a run became certain.
//!
//! A run is repeated up to an instant and continued with another interleaving of its CPUs (a draw).
//! [`Search`] chooses the instants, [`When`] is the result, and [`Parting`] says where two
//! executions diverge.

mod parting;
mod search;

use std::borrow::Cow;

use assize_judge::{RunShare, counts};
use serde::{Deserialize, Serialize};

pub use parting::{ExecutedPath, PartedCpu, PathStep, part};
pub use search::{Certain, LEVEL, NARROW, Search, TURN, WantedDraws};

/// The schema of [`When`].
pub const SCHEMA: &str = "assize.when/1";

/// The result: since when it was certain that a run would become bad.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct When {
    /// Always [`SCHEMA`].
    pub schema: Cow<'static, str>,
    /// The run's index in the schedule.
    pub run: u32,
    /// Its configuration.
    pub configuration: String,
    /// Its workload.
    pub workload: String,
    /// Its seed.
    pub seed: u64,
    /// How many CPUs its machine has.
    pub cpus: u32,
    /// The property that is bad.
    pub bad: Bad,
    /// Since when the bad end was certain.
    pub answer: WhenAnswer,
    /// The shares of draws that ended as bad, by moment.
    pub moments: Vec<DrawnMoment>,
    /// The share of runs with other seeds that ended as bad; `None` if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seeds: Option<DrawnShare>,
    /// Where the run and a draw that ended otherwise diverge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parting: Option<Parting>,
}

/// The property of a run that is bad.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Bad {
    /// The run did not complete.
    Ending {
        /// How it ended: `crashed`, `hung`.
        ending: String,
        /// The reason.
        why: String,
    },
    /// A sample of the run.
    Sample {
        /// The metric.
        metric: String,
        /// The number of the sample, from 1.
        number: u64,
        /// The number of all samples.
        of: u64,
        /// The value of the sample.
        value: f64,
        /// The median of all samples.
        median: f64,
        /// A draw is bad if its sample is at least as bad as this.
        threshold: f64,
        /// The unit of value, median and threshold.
        unit: String,
        /// When the sample begins, in ns of CLOCK_MONOTONIC.
        begin_ns: u64,
        /// When the sample ends, in ns of CLOCK_MONOTONIC.
        end_ns: u64,
    },
    /// A metric of the run.
    Metric {
        /// Its name.
        metric: String,
        /// Whether values above the threshold are bad, rather than those below.
        above: bool,
        /// Its value.
        value: f64,
        /// A draw is bad if its value is beyond this.
        threshold: f64,
        /// The unit of value and threshold.
        unit: String,
    },
}

/// Since when it was certain that the run ends as bad.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(tag = "since", rename_all = "kebab-case")]
pub enum WhenAnswer {
    /// Nothing is bad about this run.
    Nothing {
        /// The reason.
        why: String,
    },
    /// All draws and all other seeds end as bad.
    Start,
    /// Choices that are drawn from the seed before the workload starts determine the end.
    Seed,
    /// The end became certain within an interval.
    Moment {
        /// A draw at this time ended otherwise, in ns of CLOCK_MONOTONIC.
        open_ns: u64,
        /// All draws from this time on ended as bad.
        certain_ns: u64,
        /// Earlier intervals in which the share rose.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rises: Vec<[u64; 2]>,
    },
}

/// The share of draws that ended as bad.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
pub struct DrawnShare {
    /// The draws that ended as bad.
    pub bad: u32,
    /// All draws.
    pub draws: u32,
    /// The lower end of the 95 % interval of the share.
    pub low: f64,
    /// The upper end of that interval.
    pub high: f64,
}

impl DrawnShare {
    /// Computes the interval of the share; 0 to 1 without draws.
    #[must_use]
    pub fn new(bad: u32, draws: u32) -> DrawnShare {
        let share = RunShare {
            count: bad,
            of: draws,
        };
        let interval = counts::interval(share, LEVEL);
        DrawnShare {
            bad,
            draws,
            low: interval.as_ref().map_or(0.0, |it| it.low),
            high: interval.as_ref().map_or(1.0, |it| it.high),
        }
    }
}

/// The draws from one moment.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
pub struct DrawnMoment {
    /// The time, in ns of CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// The instant, in ns since the machine was switched on.
    pub instruction: u64,
    /// The share of them that ended as bad.
    #[serde(flatten)]
    pub share: DrawnShare,
}

/// Where the run and a draw that ended otherwise diverge.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct Parting {
    /// Start of the time in which both were followed, in ns of CLOCK_MONOTONIC.
    pub from_ns: u64,
    /// End of that time.
    pub until_ns: u64,
    /// The number of the draw, from 1.
    pub draw: u32,
    /// The CPUs whose executions diverge, in order of time.
    pub cpus: Vec<PartedCpu>,
    /// The first kernel events that differ, if events were recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<PartedCpu>,
}
