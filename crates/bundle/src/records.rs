use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::{Boots, ComplainedRun, FailedRun};

/// Where in the source something was read.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
pub struct Place {
    /// The message in a mailbox, counted from 1; 1 where there is only one.
    pub message: u32,
    /// The line in the file, counted from 1. In a part that was sent as
    /// base64 it is the line at which that part begins.
    pub line: u32,
}

/// One number with its unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The value, as printed; in the finest unit where one metric was printed in
    /// several (`3.97 us`, `109 ns`).
    pub value: f64,
    /// The unit as the field writes it (`s`, `msec`, `Joules`, `%`, …); empty
    /// for a plain count or where none was given.
    pub unit: String,
}

impl Measurement {
    /// A value with its unit.
    pub fn new(value: f64, unit: impl Into<String>) -> Self {
        Measurement {
            value,
            unit: unit.into(),
        }
    }
}

/// One execution of one configuration and workload: the unit of replication.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The configuration under test.
    pub configuration: String,
    /// What was executed.
    pub workload: String,
    /// Counted from 1 within configuration and workload.
    pub repetition: u32,
    /// Metric name to value, in the order in which they were read.
    pub metrics: IndexMap<String, Measurement>,
    /// Position in the order of execution (or of posting), counted from 0.
    pub order: u32,
    /// The randomised block this run belongs to, where the schedule has blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
    /// The memory image that its machine went on from, counted from 0; none
    /// where machines do not begin with one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<u32>,
    /// Where it was carried out, if the records hold runs of several machines
    /// (or kernels: see [`Records::across`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Where it was read.
    #[serde(default)]
    pub place: Place,
}

impl Run {
    /// A run without metrics yet.
    pub fn new(
        configuration: impl Into<String>,
        workload: impl Into<String>,
        repetition: u32,
    ) -> Self {
        Run {
            configuration: configuration.into(),
            workload: workload.into(),
            repetition,
            metrics: IndexMap::new(),
            order: 0,
            block: None,
            image: None,
            machine: None,
            place: Place::default(),
        }
    }
}

/// How uncertain a [`Summary`] says its mean is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// Standard error of the mean, in the unit of the mean (`perf stat -r`).
    StandardError(f64),
    /// Standard deviation of the single values (hyperfine, ministat).
    StandardDeviation(f64),
}

/// The mean of several runs whose single values were not given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The configuration under test.
    pub configuration: String,
    /// What was executed.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Arithmetic mean over the runs.
    pub mean: f64,
    /// How uncertain that mean is, where it was said.
    pub spread: Option<Spread>,
    /// Number of runs, where it was said.
    pub n: Option<u32>,
    /// Where it was read.
    #[serde(default)]
    pub place: Place,
}

/// How names of events end that the machine has at rest.
pub const AT_REST: &str = "_at_rest";

/// A count of events and the time during which they could have happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Events {
    /// The configuration under test.
    pub configuration: String,
    /// What was executed.
    pub workload: String,
    /// What was counted.
    pub event: String,
    /// How many.
    pub count: u64,
    /// Seconds of exposure, where known.
    pub exposure_s: Option<f64>,
    /// When they happened, in seconds on one clock, ascending; may be empty.
    pub times_s: Vec<f64>,
    /// For how many seconds of the clock of `times_s` they could happen, where
    /// that is not the exposure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span_s: Option<f64>,
    /// Of events that the machine has at rest, and whose name ends with
    /// [`AT_REST`]: one in so many seconds is tolerated. With more, the events
    /// of the name without that give no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerated_s: Option<f64>,
    /// What each run has counted of it, in their order: `count` is the sum.
    /// Empty where it is not known of which runs the count is, as in a posted
    /// text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_run: Vec<RunCount>,
    /// Where it was read.
    #[serde(default)]
    pub place: Place,
}

/// What one run has counted of [`Events`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RunCount {
    /// Which run: [`Run::order`] of the same configuration and workload.
    pub order: u32,
    /// How many.
    pub count: u64,
    /// Seconds of exposure, where known.
    pub exposure_s: Option<f64>,
}

/// A figure that is read and not judged: no number of repetitions stands
/// behind it, or nothing says that it belongs to a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    /// The configuration it is about, where that is known.
    pub configuration: Option<String>,
    /// The workload it is about, where that is known.
    pub workload: Option<String>,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// The value.
    pub value: f64,
    /// What it was divided by, if it is a normalised figure.
    pub normalised_to: Option<String>,
    /// Whether it could be judged if more were known of what it stands under;
    /// the doubt `not-judged` says what is missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_admitted: bool,
    /// Where it was read.
    #[serde(default)]
    pub place: Place,
}

/// A counter that was asked for and gave no number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unsupported {
    /// The configuration under test.
    pub configuration: String,
    /// What was executed.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// What the tool said: `not supported` or `not counted`.
    pub reason: String,
    /// Where it was read.
    #[serde(default)]
    pub place: Place,
}

/// Something that was asked for and that the target cannot give.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Unavailable {
    /// The configuration under test.
    pub configuration: String,
    /// What was executed.
    pub workload: String,
    /// The instrument.
    pub instrument: String,
    /// The metric, if it is not the whole instrument.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// Why, and what would make it available.
    pub reason: String,
}

/// One thing that runs were made of: a module, a library, a setting.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct IdentityPart {
    /// What it is: `module`, `library`, `sysctl`, ….
    pub kind: String,
    /// Which one; unique within its kind.
    pub name: String,
    /// A digest of its bytes, or its value as text; none if it was there and
    /// could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// What an experiment asks for in one configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LevelSettings {
    /// The configuration under test.
    pub configuration: String,
    /// Parameters of workloads, steps of the set-up, queues, the machine;
    /// sorted by kind and name. Files are not here: what they hold is in
    /// [`Identity::parts`].
    pub settings: Vec<IdentityPart>,
    /// Kinds of [`IdentityPart`] in which runs may differ from those of the
    /// first configuration, as its levels say.
    pub varies: BTreeSet<String>,
}

/// What runs of one configuration and workload were made of.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Identity {
    /// The configuration under test.
    pub configuration: String,
    /// What was executed.
    pub workload: String,
    /// Where they were carried out, as [`Run::machine`] says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Which runs, by their position in the order of execution.
    pub runs: Vec<u32>,
    /// Sorted by kind and name.
    pub parts: Vec<IdentityPart>,
}

/// In which steps a source gives a metric, where it says so: what it prints, or
/// how often it looks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resolution {
    /// The configuration under test.
    pub configuration: String,
    /// What was executed.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// The unit of the step.
    pub unit: String,
    /// The step; positive.
    pub step: f64,
}

/// A configuration and the levels of the factors it stands for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Configuration {
    /// Short name, unique without regard to case.
    pub name: String,
    /// The heading or label as it was given.
    pub label: String,
    /// Factor to level (on or off) for configurations of a 2^k grid; empty
    /// for those outside it.
    pub factors: BTreeMap<String, bool>,
    /// The baseline that this configuration is once more, so that their
    /// difference shows the noise floor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<String>,
}

/// A table that an experiment asks for: one metric over several workloads.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DeclaredTable {
    /// The metric.
    pub metric: String,
    /// The columns.
    pub workloads: Vec<String>,
    /// The column to which each configuration's others are relative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normalised_to: Option<String>,
    /// The factor of which each configuration is compared with the first
    /// level; without one it is compared with the baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<String>,
    /// With a factor: configuration to the one it is compared with, itself if
    /// it has the first level. Those without such a one are not here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub baselines: BTreeMap<String, String>,
    /// Where the metric was named: `FILE:LINE: KEY`.
    pub place: String,
}

/// Two metrics of which an experiment asks what the one costs in the other.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DeclaredTradeoff {
    /// The first, along the plot.
    pub x: TradeoffMetric,
    /// The second, up the plot.
    pub y: TradeoffMetric,
    /// Where it was asked for: `FILE:LINE: KEY`.
    pub place: String,
}

/// One of the two metrics of a trade-off.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TradeoffMetric {
    /// Its name.
    pub metric: String,
    /// The workload on which it is taken.
    pub workload: String,
    /// Whether more of it is better; else less is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub higher_is_better: bool,
}

/// Something doubtful that was noticed while reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubt {
    /// A short code, as the lints have.
    pub code: String,
    /// What is doubtful, in one sentence.
    pub detail: String,
    /// Where it was read.
    #[serde(default)]
    pub place: Place,
}

/// What differs between the runs of one experiment that [`Run::machine`] tells
/// apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Across {
    /// The machine.
    #[default]
    Machines,
    /// The kernel, on one machine or on the exact target.
    Kernels,
    /// Something else that was asked of the machine, or only the time.
    Bundles,
}

impl Across {
    /// The noun for one of them.
    pub fn one(self) -> &'static str {
        match self {
            Across::Machines => "machine",
            Across::Kernels => "kernel",
            Across::Bundles => "bundle",
        }
    }

    /// The noun for several.
    pub fn several(self) -> &'static str {
        match self {
            Across::Machines => "machines",
            Across::Kernels => "kernels",
            Across::Bundles => "bundles",
        }
    }

    /// Whether it is the usual case, which JSON leaves out.
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference.
    pub fn is_machines(&self) -> bool {
        *self == Across::Machines
    }
}

/// Everything that was recorded or read from one source.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Records {
    /// The file or bundle.
    pub source: String,
    /// Configurations in the order in which they first appear.
    pub configurations: Vec<Configuration>,
    /// Names of the factors of a recognised 2^k grid, in order of appearance.
    pub factors: Vec<String>,
    /// Workloads in the order in which they first appear.
    pub workloads: Vec<String>,
    /// Runs in order.
    pub runs: Vec<Run>,
    /// Whether nobody knows in which order the runs were made: then [`Run::order`] only
    /// numbers them, and neither drift nor a lack of randomisation is looked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub order_unknown: bool,
    /// Means of runs.
    pub summaries: Vec<Summary>,
    /// Counts of events.
    pub events: Vec<Events>,
    /// Figures without replication.
    pub statements: Vec<Statement>,
    /// Counters without a number.
    pub unsupported: Vec<Unsupported>,
    /// In which steps figures were given, where that is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resolutions: Vec<Resolution>,
    /// What was doubtful on the way.
    pub doubts: Vec<Doubt>,
    /// Metrics of which more is better; of all others nothing is assumed.
    pub higher_is_better: Vec<String>,
    /// Metrics declared primary, before the data were seen.
    pub primary: Vec<String>,
    /// Claims declared before the data were seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<String>,
    /// Tables that the report shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<DeclaredTable>,
    /// Trade-offs declared before the data were seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tradeoffs: Vec<DeclaredTradeoff>,
    /// Runs that failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailedRun>,
    /// Completed runs in which the kernel complained.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub complained: Vec<ComplainedRun>,
    /// What the target could not give.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unavailable: Vec<Unavailable>,
    /// What was asked for in each configuration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub level_settings: Vec<LevelSettings>,
    /// What completed runs were made of; several for one configuration and
    /// workload if that was not always the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identities: Vec<Identity>,
    /// What the target cannot tell, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<String>,
    /// Of hosts, which boots the runs are of.
    #[serde(default, skip_serializing_if = "Boots::is_empty")]
    pub boots: Boots,
    /// What [`Run::machine`] names.
    #[serde(default, skip_serializing_if = "Across::is_machines")]
    pub across: Across,
}
