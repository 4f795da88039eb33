//! What an experiment file becomes.

use assize_job::{
    Action, Frequency, Gaps, Idle, Image, Job, Machine, Order, Payload, PlacementPolicy, Queue,
    Stalls, Tracer, Workload,
};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::experiment::Overrides;

/// The schema of [`Plan`].
pub const SCHEMA: &str = "assize.plan/1";

/// An experiment, complete: nothing more has to be looked up to carry it out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// [`SCHEMA`].
    pub schema: String,
    /// What the experiment file was called.
    pub source: String,
    /// The experiment file as it was given.
    pub experiment: String,
    /// What the command line said instead.
    #[serde(default)]
    pub overrides: Overrides,
    /// Its title.
    pub title: String,
    /// The question it asks.
    pub question: String,
    /// `exact`, `live`, `host` or `ssh:HOST`.
    pub target: String,
    /// Seed of the schedule and, through [`PlannedRun::seed`], of every run.
    pub seed: u64,
    /// Factor to its levels, baseline first, in the order of the file.
    pub factors: IndexMap<String, Vec<String>>,
    /// Names of the switches whose effects are fitted; empty without a grid.
    #[serde(default)]
    pub switches: Vec<String>,
    /// Baseline first. With `aa` the second is the baseline once more.
    pub configurations: Vec<PlannedConfiguration>,
    /// What is measured, each on each configuration, without its overrides.
    pub workloads: Vec<Workload>,
    /// In order of execution, `index` ascending from 0. With [`Plan::until`]
    /// these are the runs up to the largest number of blocks.
    pub runs: Vec<PlannedRun>,
    /// What was drawn for each memory image that runs start from; empty where
    /// the target has no such images.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// Names from [`assize_job::INSTRUMENTS`].
    pub instruments: Vec<String>,
    /// How `gaps` watches, if it is among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gaps: Option<Gaps>,
    /// How the tracer among them looks, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracer: Option<Tracer>,
    /// Metrics declared primary, most important first.
    pub primary: Vec<Primary>,
    /// Metrics of which more is better, primary or not.
    pub higher_is_better: Vec<String>,
    /// Claims to try. Their form, and whether their names are there, is for
    /// the caller to check: this crate does not read them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
    /// Tables that the report shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<Table>,
    /// Pairs of metrics of which the report shows what the one costs in the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tradeoffs: Vec<Tradeoff>,
    /// When to stop early, if at all.
    pub until: Option<Until>,
    /// Ratios within 1 ± this are equivalent.
    pub margin: f64,
    /// How often a failed run is tried again.
    pub retries: u32,
    /// Milliseconds after which a run has failed.
    pub timeout_ms: u64,
    /// Whether single samples are kept beside histograms.
    pub samples: bool,
    /// The start offset of a workload is drawn below this.
    pub offset_ns_max: u64,
    /// What every run needs on the target.
    pub payload: Payload,
}

/// One combination of levels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedConfiguration {
    /// Short name: the levels joined by `+`. A level `off` adds nothing, a
    /// level `on` adds the name of its factor; `base` if nothing is left.
    pub name: String,
    /// `factor=level, factor=level`.
    pub label: String,
    /// Factor to level.
    pub levels: IndexMap<String, String>,
    /// Which of [`Plan::switches`] are on; empty if it is not of the grid.
    #[serde(default)]
    pub switches: IndexMap<String, bool>,
    /// Whether it repeats the baseline to show the noise floor.
    pub aa: bool,
    /// The machine it wants.
    pub machine: Machine,
    /// Done before each run.
    pub setup: Vec<Action>,
    /// Done after each run.
    pub teardown: Vec<Action>,
    /// What runs beside every workload.
    pub background: Vec<Workload>,
    /// What else runs beside each of [`PlannedConfiguration::workloads`], in
    /// their order; empty if there is nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Vec<Workload>>,
    /// How queues of simgpu are, if a workload submits to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// The idle states of CPUs, if they are declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<Idle>,
    /// The frequencies of CPUs, if they are declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency: Option<Frequency>,
    /// Stalls that are planted, if any are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalls: Option<Stalls>,
    /// What places tasks on CPUs, if not the kernel's own scheduler.
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
    /// Each block holds each cell (configuration × workload) once.
    pub block: u32,
    /// Which of [`Plan::configurations`].
    pub configuration: usize,
    /// Which of [`Plan::workloads`].
    pub workload: usize,
    /// Counted from 1 within its cell.
    pub repetition: u32,
    /// What the agent gets. Runs of one block share it, so that
    /// configurations meet the same perturbations; the repeated baseline of
    /// `aa` has its own, else exact runs of it would be the same run.
    pub seed: u64,
    /// Which of [`Plan::images`] it goes on from; none where the target has no
    /// such images. Runs of one block share it, the repeated baseline too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<u32>,
}

/// Which direction is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
}

/// A metric declared primary before the data were seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Primary {
    /// Its name.
    pub metric: String,
    /// Which direction is good.
    pub better: Better,
}

/// A claim declared before the data were seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// As it was written.
    pub text: String,
    /// Where the experiment makes it: `FILE:LINE: KEY`.
    pub place: String,
}

/// A table of the report: one metric over several workloads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// The metric.
    pub metric: String,
    /// The columns.
    pub workloads: Vec<String>,
    /// The column to which each configuration's others are relative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normalised_to: Option<String>,
    /// The factor of which configurations are compared with the first level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<String>,
    /// With a factor: configuration to the one it is compared with, which
    /// has the first level and else the same ones. Those of the first level
    /// lead to themselves; those without such a one are not here.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub baselines: IndexMap<String, String>,
    /// Where the experiment names the metric: `FILE:LINE: KEY`.
    pub place: String,
}

/// What one metric costs in another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tradeoff {
    /// The first metric, along the plot.
    pub x: TradeoffMetric,
    /// The second metric, up the plot.
    pub y: TradeoffMetric,
    /// Where the experiment asks for it: `FILE:LINE: KEY`.
    pub place: String,
}

/// One of the two metrics of a trade-off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TradeoffMetric {
    /// Its name.
    pub metric: String,
    /// The workload on which it is taken.
    pub workload: String,
    /// Which direction is good.
    pub better: Better,
}

/// When to stop before all runs are done.
///
/// Looking several times at growing data makes intervals lie. So each look has
/// a share of alpha, and so has the final verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Until {
    /// Stop when all primary metrics have verdicts, and intervals within the ratio
    /// × / ÷ (1 + this).
    pub within: f64,
    /// The primary metric that is watched, if not all are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// The first look comes after this many blocks.
    pub first_look: u32,
    /// And then after every so many.
    pub every: u32,
    /// Number of looks until all runs are done. Those at which nothing could
    /// be established yet are not taken.
    pub looks: u32,
}

impl PlannedConfiguration {
    /// Every workload, measured or in the background.
    pub fn every_workload(&self) -> impl Iterator<Item = &Workload> {
        let background = self.background.iter().chain(self.beside.iter().flatten());
        self.workloads.iter().chain(background)
    }

    /// What runs beside one of its workloads.
    fn background_of(&self, workload: usize) -> Vec<Workload> {
        let of_its_own = self.beside.get(workload).into_iter().flatten();
        self.background.iter().chain(of_its_own).cloned().collect()
    }
}

impl Plan {
    /// What a target is given for one run; `None` if there is no such run.
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
        })
    }
}
