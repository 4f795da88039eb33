//! The top of an experiment file.

use assize_job::{Action, Display, GapsSettings, PlacementPolicy};
use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;

use crate::levels::{self, RawLevel};
use crate::payload::{self, RawPayload};
use crate::report::primary::{self, DeclaredDirections, PrimaryMetric};
use crate::report::tables::{self, DeclaredNames, RawTable};
use crate::report::tradeoffs::{self, RawTradeoff};
use crate::settings::tracer::{self, RawTracer};
use crate::settings::{frequency, gaps, idle, policy, queue, stalls};
use crate::steps::action;
use crate::until::{self, RUNS, RawStopRule};
use crate::values::document::{SourceText, TomlDocument};
use crate::values::error::Error;
use crate::values::keys::{
    Flag, Free, Instrument, KeySection, KeyType, List, Map, OneOrMore, Part, SIZE, Share, Table,
    Target, Text, Whole, Word, Workload, duration, key,
};
use crate::values::layers::Parameters;
use crate::values::read::{BACKGROUND, KeyGrammar, read};
use crate::workloads::kinds::KINDS;

/// The default number of runs of each cell.
pub(crate) const RUNS_DEFAULT: u32 = 8;
/// The largest seed in a file: TOML's largest integer.
const SEED_MAX: i64 = i64::MAX;

/// The keys at the top of the file.
pub(crate) static KEYS: KeySection = KeySection {
    name: "experiment",
    keys: &[
        key("title", Text.required(), "The experiment's title."),
        key(
            "question",
            Free.or(""),
            "The question that the experiment answers.",
        ),
        key(
            "target",
            Target.or("exact"),
            "Where to run: exact, live, host or ssh:HOST.",
        ),
        key(
            "kernel",
            Text.or("debian:6.12"),
            "debian:VERSION, running, or a name added by assize kernel add.",
        ),
        key("cpus", levels::CPUS.or("1"), "Number of CPUs."),
        key("memory", SIZE.or("256M"), "Memory."),
        key(
            "display",
            Word(&["bochs"]).optional(),
            "PCI graphics card (exact and live): QEMU's bochs-display, with 16 MiB in BAR 0.",
        ),
        key(
            "command_line",
            List(&Text).or("[]"),
            "Words added to the kernel command line.",
        ),
        key(
            "runs",
            RUNS.optional(),
            "Runs of each cell (a configuration on a workload), one per block; by default 8, if \
             there is no [until].",
        ),
        key(
            "images",
            RUNS.optional(),
            "Number of memory images, which are assigned to blocks in turn (exact only); by default one per block, up to 32. With images = 1, nothing in the image is random.",
        ),
        key(
            "seed",
            Whole(0, SEED_MAX).or("1"),
            "Seed of the schedule and of every run.",
        ),
        key(
            "aa",
            Flag.or("false"),
            "Run the baseline twice, to show the noise floor.",
        ),
        key(
            "retries",
            Whole(0, 100).or("0"),
            "How often to retry a failed run.",
        ),
        key(
            "timeout",
            duration(1_000_000).or("60s"),
            "A workload that takes longer by the target's clock is killed, and its run fails. In whole milliseconds.",
        ),
        key(
            "samples",
            Flag.or("false"),
            "Keep individual samples, not only histograms.",
        ),
        key(
            "offset",
            duration(0).or("10ms"),
            "Upper limit of the workload's random start offset.",
        ),
        key(
            "duration",
            duration(1).optional(),
            "Default duration of workloads that have the key duration.",
        ),
        key(
            "margin",
            Share.or("1%"),
            "Ratios within 1 ± margin are equivalent.",
        ),
        key(
            "until",
            Table(&until::KEYS).optional(),
            "When to stop early; used instead of runs.",
        ),
        key(
            "queue",
            Part(&queue::KEYS).optional(),
            "Queues of all workloads that submit to simgpu.",
        ),
        policy::KEY,
        key(
            "idle",
            Part(&idle::KEYS).optional(),
            "CPU idle states and their governor.",
        ),
        key(
            "frequency",
            Part(&frequency::KEYS).optional(),
            "CPU frequencies and their governor.",
        ),
        stalls::KEY,
        key(
            "instruments",
            List(&Instrument).or("[]"),
            "Instruments to use.",
        ),
        key(
            "gaps",
            Table(&gaps::KEYS).optional(),
            "Settings of the instrument gaps.",
        ),
        key(
            "tracer",
            Table(&tracer::KEYS).optional(),
            "Settings of hwlat, osnoise or timerlat.",
        ),
        key(
            "primary",
            List(&Table(&primary::KEYS)).or("[]"),
            "Primary metrics, the most important first.",
        ),
        key(
            "higher_is_better",
            List(&Text).or("[]"),
            "Other metrics for which more is better.",
        ),
        key(
            "claims",
            List(&Text).or("[]"),
            "Claims to test: A < B on METRIC [in WORKLOAD].",
        ),
        key(
            "setup",
            List(&KeyType::Action).or("[]"),
            "Steps before each run, in order.",
        ),
        key(
            "teardown",
            List(&KeyType::Action).or("[]"),
            "Steps after each run, in order.",
        ),
        key(
            "factors",
            Map(&Map(&Table(&levels::KEYS))).or("{}"),
            "Levels of each factor, the baseline first.",
        ),
        key(
            "workloads",
            Map(&Workload).required(),
            "What to measure on each configuration.",
        ),
        key(
            "background",
            Map(&Workload).or("{}"),
            "Background workloads; levels and workloads refer to them by name.",
        ),
        key(
            "include",
            List(&Map(&OneOrMore(&Text))).optional(),
            "Keep only configurations that match one of these patterns.",
        ),
        key(
            "exclude",
            List(&Map(&OneOrMore(&Text))).or("[]"),
            "Drop configurations that match one of these patterns.",
        ),
        key(
            "factorial",
            Map(&OneOrMore(&Text)).optional(),
            "Grid of factors whose effects are fitted.",
        ),
        key(
            "tables",
            List(&Table(&tables::KEYS)).or("[]"),
            "Tables for the report.",
        ),
        key(
            "tradeoffs",
            List(&Table(&tradeoffs::KEYS)).or("[]"),
            "Pairs of metrics to show as trade-offs.",
        ),
        key(
            "payload",
            Table(&payload::KEYS).optional(),
            "Other files that the target needs.",
        ),
    ],
};

/// A pattern: for each factor it names, the levels that match.
pub(crate) type Pattern = IndexMap<String, Vec<String>>;

/// The values at the top of the file.
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

/// A valid experiment file, which can be planned.
#[derive(Debug, Clone)]
pub struct Experiment {
    pub(crate) document: TomlDocument,
    pub(crate) file: RawExperiment,
}

impl Experiment {
    /// Reads a file, without checking how its keys combine.
    pub(crate) fn read(text: &str, name: &str) -> Result<Experiment, Error> {
        let source = SourceText { name, text };
        let grammar = KeyGrammar {
            top: &KEYS,
            steps: action::FORMS,
            workloads: KINDS,
        };
        let (value, spans) = read(source, grammar)?;
        let file = serde_json::from_value(value)
            .map_err(|why| source.error(&(0..0), "", format!("cannot be read: {why}")))?;
        let document = TomlDocument {
            name: name.to_owned(),
            text: text.to_owned(),
            spans,
        };
        Ok(Experiment { document, file })
    }

    /// The experiment's title.
    pub fn title(&self) -> &str {
        &self.file.title
    }

    /// The question that the experiment asks; may be empty.
    pub fn question(&self) -> &str {
        &self.file.question
    }

    /// Where the file first names this kernel, as messages print it: `FILE:LINE: KEY`.
    pub fn place_of_kernel(&self, name: &str) -> Option<String> {
        let of_level = |(path, level): (String, &RawLevel)| {
            let named = level.kernel.as_deref() == Some(name);
            named.then(|| format!("{path}.kernel"))
        };
        let path = match self.gives("kernel") && self.file.kernel == name {
            true => "kernel".to_owned(),
            false => self.every_level().find_map(of_level)?,
        };
        Some(self.document.place(&path))
    }

    /// Where the file first names this kernel module, like [`Experiment::place_of_kernel`].
    pub fn place_of_module(&self, name: &str) -> Option<String> {
        let in_payload = self.file.payload.modules.iter().position(|one| one == name);
        let in_steps = |path: &str, steps: &[Action]| {
            let is_it =
                |step: &Action| matches!(step, Action::Module { module, .. } if module == name);
            let at = steps.iter().position(is_it)?;
            Some(format!("{path}[{at}]"))
        };
        let of_level = |(path, level): (String, &RawLevel)| {
            let setup = in_steps(&format!("{path}.setup"), &level.setup);
            setup.or_else(|| in_steps(&format!("{path}.teardown"), &level.teardown))
        };
        let path = in_payload
            .map(|at| format!("payload.modules[{at}]"))
            .or_else(|| in_steps("setup", &self.file.setup))
            .or_else(|| in_steps("teardown", &self.file.teardown))
            .or_else(|| self.every_level().find_map(of_level));
        Some(self.document.place(&path?))
    }

    pub(crate) fn error(&self, path: &str, why: impl Into<String>) -> Error {
        self.document.error(path, why)
    }

    pub(crate) fn gives(&self, path: &str) -> bool {
        self.document.gives(path)
    }

    /// The parameters of all workloads, those in the background last.
    pub(crate) fn every_workload(&self) -> impl Iterator<Item = &Parameters> {
        let workloads = self.file.workloads.values();
        workloads.chain(self.file.background.values())
    }

    /// The parameters of all workloads, and the changes that levels make to them.
    pub(crate) fn every_parameters(&self) -> impl Iterator<Item = &Parameters> {
        let levels = self.file.factors.values().flat_map(IndexMap::values);
        let changes = levels.flat_map(|level| level.workload.values());
        self.every_workload().chain(changes)
    }

    /// All levels with their paths.
    pub(crate) fn every_level(&self) -> impl Iterator<Item = (String, &RawLevel)> {
        self.file.factors.iter().flat_map(|(factor, levels)| {
            let level =
                move |(name, level): (&String, _)| (levels::level_path(factor, name), level);
            levels.iter().map(level)
        })
    }

    /// The names that tables and trade-offs may use.
    pub(crate) fn names(&self) -> DeclaredNames<'_> {
        DeclaredNames {
            document: &self.document,
            workloads: self.file.workloads.keys().map(String::as_str).collect(),
            background: self.file.background.keys().map(String::as_str).collect(),
            factors: self.file.factors.keys().map(String::as_str).collect(),
        }
    }

    pub(crate) fn directions(&self) -> DeclaredDirections<'_> {
        DeclaredDirections {
            primary: &self.file.primary,
            higher_is_better: &self.file.higher_is_better,
        }
    }
}

/// The background workloads that a workload names.
pub(crate) fn background_names(workload: &Parameters) -> impl Iterator<Item = &str> {
    let names = workload.get(BACKGROUND).and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
}
