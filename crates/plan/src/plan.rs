//! The plan of an experiment.

use std::collections::BTreeMap;

use assize_job::{
    Action, Frequency, GapsSettings, Idle, Interleaving, Job, Machine, MemoryImage, Order, Payload,
    PlacementPolicy, Queue, Stalls, TracerSettings, Workload,
};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::overrides::Overrides;
use crate::report::primary::{BetterDirection, PrimaryMetric};

/// The schema of [`Plan`].
pub const SCHEMA: &str = "assize.plan/1";

/// A complete experiment, with everything resolved that is needed to run it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// [`SCHEMA`].
    pub schema: String,
    /// The name of the experiment file.
    pub source: String,
    /// The text of the experiment file.
    pub experiment: String,
    /// The command-line overrides.
    #[serde(default)]
    pub overrides: Overrides,
    /// The experiment's title.
    pub title: String,
    /// The question that the experiment asks.
    pub question: String,
    /// The target: `exact`, `live`, `host` or `ssh:HOST`.
    pub target: String,
    /// The seed of the schedule and, through [`PlannedRun::seed`], of every run.
    pub seed: u64,
    /// The levels of each factor, baseline first, in the order of the file.
    pub factors: IndexMap<String, Vec<String>>,
    /// Names of the switches whose effects are fitted; empty if no grid of
    /// switches is fitted.
    #[serde(default)]
    pub switches: Vec<String>,
    /// The configurations, baseline first. With `aa` the second repeats the
    /// baseline.
    pub configurations: Vec<PlannedConfiguration>,
    /// The measured workloads, each of which runs on every configuration,
    /// without the configurations' parameter changes.
    pub workloads: Vec<Workload>,
    /// The runs in order of execution, `index` ascending from 0. With
    /// [`Plan::until`] these are the runs up to the largest number of blocks.
    pub runs: Vec<PlannedRun>,
    /// How CPUs take turns in some runs, by [`PlannedRun::index`]; in others this follows from the
    /// seed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub interleavings: BTreeMap<u32, Interleaving>,
    /// The random draws for each memory image that runs start from; empty if the
    /// target has no such images.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<MemoryImage>,
    /// The instruments, by their names in [`assize_job::INSTRUMENTS`].
    pub instruments: Vec<String>,
    /// Settings of the `gaps` instrument, if it is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gaps: Option<GapsSettings>,
    /// Settings of the kernel tracer among the instruments, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracer: Option<TracerSettings>,
    /// Metrics declared primary, most important first.
    pub primary: Vec<PrimaryMetric>,
    /// Metrics for which more is better, primary or not.
    pub higher_is_better: Vec<String>,
    /// Claims to test. Not parsed here: the caller must check their syntax and names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<PlannedClaim>,
    /// Tables that the report shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<PlannedTable>,
    /// Pairs of metrics whose trade-off the report shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tradeoffs: Vec<PlannedTradeoff>,
    /// When to stop early, if at all.
    pub until: Option<StopRule>,
    /// The equivalence margin: ratios within 1 ± this are equivalent.
    pub margin: f64,
    /// How often a failed run is retried.
    pub retries: u32,
    /// Milliseconds after which a run counts as failed.
    pub timeout_ms: u64,
    /// Whether individual samples are kept in addition to histograms.
    pub samples: bool,
    /// Each workload's random start offset is below this many nanoseconds.
    pub offset_ns_max: u64,
    /// What every run needs on the target.
    pub payload: Payload,
}

/// One combination of levels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedConfiguration {
    /// Short name: the parts of all levels, joined by `+`. A level `off` adds nothing, a level `on`
    /// adds the name of its factor; `base` if nothing is left.
    pub name: String,
    /// `factor=level, factor=level`.
    pub label: String,
    /// The level of each factor.
    pub levels: IndexMap<String, String>,
    /// Which of [`Plan::switches`] are on; empty if the configuration is not in
    /// the grid.
    #[serde(default)]
    pub switches: IndexMap<String, bool>,
    /// Whether it repeats the baseline to show the noise floor.
    pub aa: bool,
    /// The machine that it needs.
    pub machine: Machine,
    /// Set-up steps before each run.
    pub setup: Vec<Action>,
    /// Tear-down steps after each run.
    pub teardown: Vec<Action>,
    /// Background workloads that run alongside every workload.
    pub background: Vec<Workload>,
    /// Further background workloads for each of
    /// [`PlannedConfiguration::workloads`], in the same order; empty if there
    /// are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Vec<Workload>>,
    /// Settings of simgpu's queues, if a workload submits to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// The idle states of CPUs, if they are declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<Idle>,
    /// The frequencies of CPUs, if they are declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency: Option<Frequency>,
    /// The stalls that are injected, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalls: Option<Stalls>,
    /// The placement policy; `None` for the kernel's own scheduler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PlacementPolicy>,
    /// The workloads with this configuration's parameters, in the order of
    /// [`Plan::workloads`].
    pub workloads: Vec<Workload>,
}

/// One run of the schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedRun {
    /// Position in the order of execution, from 0.
    pub index: u32,
    /// The number of its block. Each block holds each cell (configuration ×
    /// workload) once.
    pub block: u32,
    /// Index into [`Plan::configurations`].
    pub configuration: usize,
    /// Index into [`Plan::workloads`].
    pub workload: usize,
    /// Counted from 1 within its cell.
    pub repetition: u32,
    /// The seed that the agent gets. Runs of one block share it, so that all configurations face
    /// the same perturbations; the repeated baseline of `aa` has a different one, because otherwise
    /// its exact runs would be identical to the baseline's.
    pub seed: u64,
    /// Index into [`Plan::images`] of the image it starts from; `None` if the
    /// target has no such images. All runs of one block share it, including the
    /// repeated baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<u32>,
}

/// A claim declared before the data were seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedClaim {
    /// The claim as written.
    pub text: String,
    /// Where the experiment states it: `FILE:LINE: KEY`.
    pub place: String,
}

/// A table of the report: one metric over several workloads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedTable {
    /// The metric.
    pub metric: String,
    /// The workloads, one per column.
    pub workloads: Vec<String>,
    /// The workload relative to which each configuration's other columns are
    /// shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normalised_to: Option<String>,
    /// The factor along which configurations are compared: each with the one at
    /// the factor's first level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<String>,
    /// With a factor: maps each configuration to its baseline, which has the
    /// first level of that factor and otherwise the same levels. A configuration
    /// at the first level maps to itself; one without a baseline is absent.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub baselines: IndexMap<String, String>,
    /// Where the experiment names the metric: `FILE:LINE: KEY`.
    pub place: String,
}

/// A trade-off: what one metric costs in another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedTradeoff {
    /// The first metric, on the horizontal axis.
    pub x: PlannedTradeoffMetric,
    /// The second metric, on the vertical axis.
    pub y: PlannedTradeoffMetric,
    /// Where the experiment asks for it: `FILE:LINE: KEY`.
    pub place: String,
}

/// One of the two metrics of a trade-off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedTradeoffMetric {
    /// Its name.
    pub metric: String,
    /// The workload on which it is measured.
    pub workload: String,
    /// Which direction is good.
    pub better: BetterDirection,
}

/// When to stop before all runs are done.
///
/// Repeated looks at growing data inflate the error rate. So alpha is divided
/// among the looks and the final verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopRule {
    /// Stop once all primary metrics have verdicts and intervals between the ratio / (1 + this) and
    /// the ratio × (1 + this).
    pub within: f64,
    /// The only primary metric to watch; `None` for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// The first look comes after this many blocks.
    pub first_look: u32,
    /// Blocks between later looks.
    pub every: u32,
    /// Number of looks until all runs are done. Looks at which nothing could be
    /// established yet are skipped.
    pub looks: u32,
}

impl PlannedConfiguration {
    /// All workloads, measured and background.
    pub fn every_workload(&self) -> impl Iterator<Item = &Workload> {
        let background = self.background.iter().chain(self.beside.iter().flatten());
        self.workloads.iter().chain(background)
    }

    /// All background workloads of one workload of this configuration.
    fn background_of(&self, workload: usize) -> Vec<Workload> {
        let of_its_own = self.beside.get(workload).into_iter().flatten();
        self.background.iter().chain(of_its_own).cloned().collect()
    }
}

impl Plan {
    /// The order that a target gets for one run; `None` if there is no such run.
    pub fn order(&self, index: u32) -> Option<Order> {
        let run = self.runs.get(usize::try_from(index).ok()?)?;
        let configuration = self.configurations.get(run.configuration)?;
        let image = run.image.and_then(|image| usize::try_from(image).ok());
        let image = image.and_then(|image| self.images.get(image));
        Some(Order {
            machine: Machine {
                image: image.copied().unwrap_or_default(),
                ..configuration.machine.clone()
            },
            payload: self.payload.clone(),
            job: Job {
                seed: run.seed,
                setup: configuration.setup.clone(),
                workload: configuration.workloads.get(run.workload)?.clone(),
                background: configuration.background_of(run.workload),
                queue: configuration.queue.clone(),
                idle: configuration.idle.clone(),
                frequency: configuration.frequency.clone(),
                stalls: configuration.stalls.clone(),
                policy: configuration.policy.clone(),
                teardown: configuration.teardown.clone(),
                instruments: self.instruments.clone(),
                gaps: self.gaps.clone(),
                tracer: self.tracer.clone(),
                samples: self.samples,
                offset_ns_max: self.offset_ns_max,
                timeout_ms: self.timeout_ms,
                ..Job::default()
            },
            interleaving: self.interleavings.get(&index).cloned().unwrap_or_default(),
        })
    }
}
