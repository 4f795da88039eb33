use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::{Boots, ComplainedRun, Events, FailedRun, Place};

/// A number with its unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// As printed; in the finest unit if a metric was printed in several (`3.97 us`, `109 ns`).
    pub value: f64,
    /// As usually written (`s`, `msec`, `Joules`, `%`, …); empty for a plain count, or if none was
    /// given.
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
    /// The workload.
    pub workload: String,
    /// Counted from 1 within configuration and workload.
    pub repetition: u32,
    /// Metrics by name, in the order read.
    pub metrics: IndexMap<String, Measurement>,
    /// Position in the order of execution, or of posting, from 0.
    pub order: u32,
    /// Its randomised block, if the schedule has blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
    /// Memory image that it started from, from 0, if machines start from images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<u32>,
    /// Its seed, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Its machine, kernel or bundle (see `across`), if there are several.
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
            seed: None,
            machine: None,
            place: Place::default(),
        }
    }
}

/// The stated uncertainty of a mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// Of the mean, in its unit (`perf stat -r`).
    StandardError(f64),
    /// Of the individual values (hyperfine, ministat).
    StandardDeviation(f64),
    /// Unknown, but the tool printed the p of its own test against the first mean of the line
    /// (benchstat).
    PrintedP(f64),
}

/// The mean of several runs whose individual values were not given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The configuration under test.
    pub configuration: String,
    /// The workload.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// Its unit; empty for a plain count, or if no run has the metric.
    pub unit: String,
    /// Arithmetic mean.
    pub mean: f64,
    /// Its uncertainty, if given.
    pub spread: Option<Spread>,
    /// Number of runs, if given.
    pub n: Option<u32>,
    /// Where it was read.
    #[serde(default)]
    pub place: Place,
}

/// A figure that is read but not judged: it has no replication, or nothing shows that it belongs to
/// a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    /// Its configuration, if known.
    pub configuration: Option<String>,
    /// Its workload, if known.
    pub workload: Option<String>,
    /// The metric.
    pub metric: String,
    /// Its unit; empty for a plain count, or if no run has the metric.
    pub unit: String,
    /// The value.
    pub value: f64,
    /// The figure it was divided by, if it is normalised.
    pub normalised_to: Option<String>,
    /// Whether it could be judged with more context; the doubt `not-judged` says what is missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_admitted: bool,
    /// Where it was read.
    #[serde(default)]
    pub place: Place,
}

/// A requested counter that gave no number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unsupported {
    /// The configuration under test.
    pub configuration: String,
    /// The workload.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// The tool's reason: `not supported` or `not counted`.
    pub reason: String,
    /// The position where it was read.
    #[serde(default)]
    pub place: Place,
}

/// A requested instrument or metric that the target cannot provide.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Unavailable {
    /// The configuration under test.
    pub configuration: String,
    /// The workload.
    pub workload: String,
    /// The instrument.
    pub instrument: String,
    /// The metric, if it is not the whole instrument.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// The reason, and how to make it available.
    pub reason: String,
}

/// One part of the identity of runs: a module, a library, a setting.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct IdentityPart {
    /// The kind of part: `module`, `library`, `sysctl`, ….
    pub kind: String,
    /// Its name; unique within its kind.
    pub name: String,
    /// A digest of its bytes, or its value as text; `None` if it was present but
    /// unreadable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// The settings that an experiment requests in one configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LevelSettings {
    /// The configuration under test.
    pub configuration: String,
    /// Parameters of workloads, steps of the set-up, queues, the machine; sorted
    /// by kind and name. Files are not included: their contents are in
    /// [`RunIdentity::parts`].
    pub settings: Vec<IdentityPart>,
    /// Kinds of [`IdentityPart`] in which, according to its levels, runs may
    /// differ from those of the first configuration.
    pub varies: BTreeSet<String>,
}

/// The identity of the runs of one configuration and workload.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunIdentity {
    /// The configuration under test.
    pub configuration: String,
    /// The workload.
    pub workload: String,
    /// The machine they ran on, as in [`Run::machine`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The runs, by their position in the order of execution.
    pub runs: Vec<u32>,
    /// The parts, sorted by kind and name.
    pub parts: Vec<IdentityPart>,
}

/// The step in which a source reports a metric, if it declares one: the
/// precision it prints, or its sampling period.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resolution {
    /// The configuration under test.
    pub configuration: String,
    /// The workload.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// The unit of the step.
    pub unit: String,
    /// The step; positive.
    pub step: f64,
}

/// A configuration and the levels of its factors.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Configuration {
    /// Short name, unique even if case is ignored.
    pub name: String,
    /// Heading or label, as in the source.
    pub label: String,
    /// Whether each factor is on, for configurations of a 2^k grid; else empty.
    pub factors: BTreeMap<String, bool>,
    /// The baseline that it repeats, to show the noise floor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<String>,
}

/// Whether all configurations request the same files and settings as the first, so that there is
/// nothing to run. `same`: those that request the same as an earlier one, by name.
#[must_use]
pub fn nothing_differs(configurations: &[Configuration], same: &BTreeMap<String, String>) -> bool {
    let Some((first, others)) = configurations.split_first() else {
        return false;
    };
    let is_first = |one: &Configuration| same.get(&one.name) == Some(&first.name);
    !same.is_empty()
        && others
            .iter()
            .all(|one| one.repeats.is_some() || is_first(one))
}

/// A table that an experiment asks for: one metric over several workloads.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DeclaredTable {
    /// The metric.
    pub metric: String,
    /// The workloads, one per column.
    pub workloads: Vec<String>,
    /// The workload relative to which each configuration's other columns are
    /// shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normalised_to: Option<String>,
    /// The factor along which each configuration is compared with the first
    /// level; without one, it is compared with the baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<String>,
    /// With a factor: maps each configuration to its baseline, which is itself
    /// at the first level. One without a baseline is absent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub baselines: BTreeMap<String, String>,
    /// The position where the metric was named: `FILE:LINE: KEY`.
    pub place: String,
}

/// Two metrics whose trade-off an experiment asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DeclaredTradeoff {
    /// The first metric, on the horizontal axis.
    pub x: DeclaredTradeoffMetric,
    /// The second metric, on the vertical axis.
    pub y: DeclaredTradeoffMetric,
    /// The position where it was requested: `FILE:LINE: KEY`.
    pub place: String,
}

/// One of the two metrics of a trade-off.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DeclaredTradeoffMetric {
    /// Its name.
    pub metric: String,
    /// The workload on which it is measured.
    pub workload: String,
    /// Whether more of it is better; otherwise less is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub higher_is_better: bool,
}

/// A doubt that arose while reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubt {
    /// A short code, like those of lints.
    pub code: String,
    /// What is doubtful, in one sentence.
    pub detail: String,
    /// The position where it was read.
    #[serde(default)]
    pub place: Place,
}

impl Doubt {
    /// A doubt about all records.
    #[must_use]
    pub fn new(code: &str, detail: String) -> Doubt {
        Doubt {
            code: code.into(),
            detail,
            place: Place::default(),
        }
    }
}

/// The things that the field `machine` of runs distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Across {
    /// Machines.
    #[default]
    Machines,
    /// Kernels, on one machine or on the exact target.
    Kernels,
    /// Bundles that differ in machine settings, or only in time.
    Bundles,
}

impl Across {
    /// The plural noun.
    pub fn plural(self) -> &'static str {
        match self {
            Across::Machines => "machines",
            Across::Kernels => "kernels",
            Across::Bundles => "bundles",
        }
    }

    /// Whether this is the default, which JSON omits.
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference.
    pub fn is_machines(&self) -> bool {
        *self == Across::Machines
    }
}

/// A bundle or file whose records were joined with those of others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinedSource {
    /// Its path.
    pub path: String,
    /// The number added to the order of its runs.
    pub shift: u32,
}

/// Everything that was recorded or read from one source.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Records {
    /// The file or bundle.
    pub source: String,
    /// Configurations in order of first appearance.
    pub configurations: Vec<Configuration>,
    /// Names of the factors of a recognised 2^k grid, in order of appearance.
    pub factors: Vec<String>,
    /// Workloads in order of first appearance.
    pub workloads: Vec<String>,
    /// Runs in order.
    pub runs: Vec<Run>,
    /// Whether the order of execution is unknown: [`Run::order`] then only numbers the runs, and
    /// they are not checked for drift or lack of randomisation.
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
    /// The steps in which figures were given, if known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resolutions: Vec<Resolution>,
    /// Doubts that arose while reading.
    pub doubts: Vec<Doubt>,
    /// Metrics for which more is better; nothing is assumed about the others.
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
    /// Metrics or instruments that the target could not provide.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unavailable: Vec<Unavailable>,
    /// The requested settings of each configuration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub level_settings: Vec<LevelSettings>,
    /// Configurations that request the same files and settings as an earlier one, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub same: BTreeMap<String, String>,
    /// The identities of completed runs; several entries for one configuration and workload if they
    /// differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identities: Vec<RunIdentity>,
    /// Limits of what the target can show, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<String>,
    /// For hosts, the boots that the runs come from.
    #[serde(default, skip_serializing_if = "Boots::is_empty")]
    pub boots: Boots,
    /// The things that [`Run::machine`] distinguishes.
    #[serde(default, skip_serializing_if = "Across::is_machines")]
    pub across: Across,
    /// The bundles and files that were joined, in the order of their runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joined: Vec<JoinedSource>,
}

impl Records {
    /// Places all runs after those of `before` in the order of execution, and records the bundle or
    /// file that they come from.
    pub fn follow(&mut self, before: &Records, source: &Path) {
        let others = before.runs.iter().map(|run| run.order);
        let others = others.chain(before.failures.iter().map(|run| run.order));
        let shift = others.max().map_or(0, |last| last + 1);
        let runs = self.runs.iter_mut().map(|run| &mut run.order);
        let failures = self.failures.iter_mut().map(|run| &mut run.order);
        let complained = self.complained.iter_mut().map(|run| &mut run.order);
        let identities = self.identities.iter_mut().flat_map(|one| &mut one.runs);
        let events = self.events.iter_mut().flat_map(|one| &mut one.by_run);
        let events = events.map(|run| &mut run.order);
        let all = runs.chain(failures).chain(complained);
        for order in all.chain(identities).chain(events) {
            *order += shift;
        }
        self.joined = vec![JoinedSource {
            path: source.display().to_string(),
            shift,
        }];
    }

    /// The number of a run in its own bundle, and that bundle if several were joined.
    #[must_use]
    pub fn run_in_bundle(&self, order: u32) -> (Option<&str>, u32) {
        let from = self.joined.iter().rfind(|from| from.shift <= order);
        match from {
            Some(from) if self.joined.len() > 1 => (Some(&from.path), order - from.shift),
            _ => (None, order),
        }
    }
}
