//! The contents of an experiment file, with defaults filled in.

use assize_job::{Action, Display, GapsSettings, PlacementPolicy};
use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::plan::{BetterDirection, PrimaryMetric};
use crate::settings::tracer::RawTracer;

/// Parameters of a workload by field name.
pub(crate) type Parameters = Map<String, Value>;
/// The key of a workload that names its background workloads.
pub(crate) const BACKGROUND: &str = "background";

/// The background workloads that a workload names.
pub(crate) fn background_names(workload: &Parameters) -> impl Iterator<Item = &str> {
    let names = workload.get(BACKGROUND).and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
}

/// A pattern: for each factor it names, the levels that match.
pub(crate) type Pattern = IndexMap<String, Vec<String>>;

/// The top of the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawExperiment {
    pub(crate) title: String,
    pub(crate) question: String,
    pub(crate) target: String,
    pub(crate) kernel: String,
    pub(crate) cpus: u32,
    pub(crate) memory_mib: u32,
    pub(crate) display: Option<Display>,
    pub(crate) command_line: Vec<String>,
    pub(crate) runs: Option<u32>,
    pub(crate) images: Option<u32>,
    pub(crate) seed: u64,
    pub(crate) aa: bool,
    pub(crate) retries: u32,
    pub(crate) timeout_ns: u64,
    pub(crate) samples: bool,
    pub(crate) offset_ns: u64,
    pub(crate) duration_ns: Option<u64>,
    pub(crate) margin: f64,
    pub(crate) until: Option<RawStopRule>,
    #[serde(default)]
    pub(crate) queue: Parameters,
    #[serde(default)]
    pub(crate) idle: Parameters,
    #[serde(default)]
    pub(crate) frequency: Parameters,
    #[serde(default)]
    pub(crate) stalls: Parameters,
    pub(crate) policy: Option<PlacementPolicy>,
    pub(crate) instruments: Vec<String>,
    pub(crate) gaps: Option<GapsSettings>,
    pub(crate) tracer: Option<RawTracer>,
    pub(crate) primary: Vec<PrimaryMetric>,
    pub(crate) higher_is_better: Vec<String>,
    pub(crate) claims: Vec<String>,
    pub(crate) setup: Vec<Action>,
    pub(crate) teardown: Vec<Action>,
    pub(crate) factors: IndexMap<String, IndexMap<String, RawLevel>>,
    pub(crate) workloads: IndexMap<String, Parameters>,
    pub(crate) background: IndexMap<String, Parameters>,
    pub(crate) include: Option<Vec<Pattern>>,
    pub(crate) exclude: Vec<Pattern>,
    pub(crate) factorial: Option<Pattern>,
    pub(crate) tables: Vec<RawTable>,
    pub(crate) tradeoffs: Vec<RawTradeoff>,
    #[serde(default)]
    pub(crate) payload: RawPayload,
}

/// What a level sets.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RawLevel {
    pub(crate) kernel: Option<String>,
    pub(crate) cpus: Option<u32>,
    pub(crate) memory_mib: Option<u32>,
    pub(crate) command_line: Vec<String>,
    pub(crate) setup: Vec<Action>,
    pub(crate) teardown: Vec<Action>,
    pub(crate) background: Vec<String>,
    pub(crate) workload: IndexMap<String, Parameters>,
    pub(crate) queue: Parameters,
    pub(crate) idle: Parameters,
    pub(crate) frequency: Parameters,
    pub(crate) stalls: Parameters,
    pub(crate) policy: Option<PlacementPolicy>,
    pub(crate) environment: IndexMap<String, String>,
}

/// When to stop early.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawStopRule {
    pub(crate) within: f64,
    pub(crate) metric: Option<String>,
    pub(crate) first_look: u32,
    pub(crate) every: u32,
    pub(crate) max_runs: u32,
}

/// A table of the report.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawTable {
    pub(crate) metric: Vec<String>,
    pub(crate) workloads: Option<Vec<String>>,
    pub(crate) normalised_to: Option<String>,
    pub(crate) factor: Option<String>,
}

/// A trade-off between two metrics.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawTradeoff {
    pub(crate) x: RawTradeoffMetric,
    pub(crate) y: RawTradeoffMetric,
}

/// One of the two metrics of a trade-off.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawTradeoffMetric {
    pub(crate) metric: String,
    pub(crate) workload: Option<String>,
    pub(crate) better: Option<BetterDirection>,
}

/// What the file says the target needs.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawPayload {
    pub(crate) programs: Vec<String>,
    pub(crate) files: Vec<RawCarried>,
    pub(crate) modules: Vec<String>,
    pub(crate) packages: Vec<String>,
}

/// One file or directory to carry.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawCarried {
    pub(crate) from: String,
    pub(crate) to: String,
}
