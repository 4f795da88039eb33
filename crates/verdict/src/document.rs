//! The verdict document, which is written as JSON.

mod machines;
mod outcomes;
mod rates;
mod tables;
mod tradeoffs;

use assize_bundle::{Across, Configuration, Run, Statement, Summary};
use serde::{Deserialize, Serialize};

use crate::options::LEVEL;

pub use machines::{Agreement, MachineComparison, Pooled};
pub use outcomes::{
    OutcomeComparison, OutcomePairs, OutcomeRun, OutcomeSignature, OutcomeTest, RunEnd, Tail,
};
pub use rates::{Rate, RateComparison, RateTest};
pub use tables::{Relation, Table, TableCell, TableRow};
pub use tradeoffs::{
    Better, Domination, Standing, Tradeoff, TradeoffAxis, TradeoffPoint, TradeoffValue,
};

/// The schema that [`Document`] follows.
pub const SCHEMA: &str = "assize.verdict/1";

/// A number in a text that was not read as a figure of the records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unassigned {
    /// The number.
    pub value: f64,
    /// The unit after it; empty if there is none or it is unknown.
    pub unit: String,
    /// Its line, counted from 1.
    pub line: u32,
}

/// All results for one set of records.
///
/// Numbers that do not exist are `null`; no field is ever NaN or infinite. Rows
/// are ordered by workload, metric and configuration, each by first appearance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The file or bundle that was judged.
    pub source: String,
    /// The configuration that the others are compared with, unless a row names
    /// another; `null` if nothing was recorded.
    pub baseline: Option<String>,
    /// The significance level of all tests.
    pub alpha: f64,
    /// The confidence level of the intervals of `comparisons`, if it is not
    /// 0.95.
    #[serde(default = "usual_level", skip_serializing_if = "is_usual_level")]
    pub level: f64,
    /// The equivalence margin: two configurations whose ratio differs from 1 by less than this
    /// count as equal.
    pub margin: f64,
    /// Configurations in the order of their first appearance.
    pub configurations: Vec<Configuration>,
    /// Workloads in the order of their first appearance.
    pub workloads: Vec<String>,
    /// Runs as recorded.
    pub runs: Vec<Run>,
    /// Summaries (means of runs) as recorded.
    pub summaries: Vec<Summary>,
    /// Statements (figures without replication) as recorded.
    pub statements: Vec<Statement>,
    /// Numbers of a post that were not read as any of these figures, if requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unassigned: Vec<Unassigned>,
    /// The families of tests that are corrected together: the primary tests, and
    /// the others.
    #[serde(default)]
    pub families: Vec<Family>,
    /// How often runs failed or complained, compared with the baseline. Reported before everything
    /// else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<OutcomeComparison>,
    /// Every configuration compared with its baseline.
    pub comparisons: Vec<Comparison>,
    /// What the entries of `machines` are, if not machines.
    #[serde(default, skip_serializing_if = "Across::is_machines")]
    pub across: Across,
    /// The comparisons on each machine, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<MachineComparison>,
    /// The comparisons pooled over all machines, if there are several. The row
    /// in `comparisons` has the same ratio, interval, p and verdict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pooled: Vec<Pooled>,
    /// Tables that the experiment asks for.
    #[serde(default)]
    pub tables: Vec<Table>,
    /// Trade-offs that the experiment or the command line asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tradeoffs: Vec<Tradeoff>,
    /// Repeated baselines compared with the baseline itself.
    #[serde(default)]
    pub noise_floor: Vec<NoiseFloor>,
    /// Effects of the factors, if the configurations form a full grid.
    pub factorial: Vec<Factorial>,
    /// Events per second.
    pub rates: Vec<Rate>,
    /// Rates compared with the baseline's rate.
    pub rate_comparisons: Vec<RateComparison>,
    /// The claims that were tested.
    pub claims: Vec<Claim>,
    /// How the runs of each configuration differ from those of the baseline in kernel, modules,
    /// programs and settings, if recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identity_differences: Vec<IdentityDifference>,
    /// Problems with the data themselves.
    pub lints: Vec<Lint>,
    /// At most five plain sentences, the most important first.
    pub sentences: Vec<Sentence>,
    /// Limits of what this target can show, in sentences.
    #[serde(default)]
    pub limits: Vec<String>,
    /// The command that reruns the experiment, if there is one; absent until the
    /// caller, who knows it, fills it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerun: Option<String>,
    /// The command that reruns the first run that failed or complained; absent until the caller,
    /// who knows it, fills it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look: Option<String>,
    /// The command that reproduces this document; empty until the caller, who
    /// knows it, fills it in.
    pub reproduce: String,
    /// The unit in which texts and pages show times, if the reader chose one; otherwise each
    /// gets the one in which it is easiest to read.
    #[serde(skip)]
    pub time_unit: Option<String>,
}

fn usual_level() -> f64 {
    LEVEL
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference.
fn is_usual_level(level: &f64) -> bool {
    *level == LEVEL
}

/// Tests that are corrected together by step-down maxT.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Family {
    /// Whether this is the family of the primary metrics (comparisons, claims, effects and rates
    /// declared before the data were seen); otherwise it contains everything else.
    pub primary: bool,
    /// Number of tests. Tests with too few runs to reach `Document::alpha`, whatever the data, are
    /// left out.
    pub tests: u32,
    /// The share of `Document::alpha` for this family. A family whose tests are all rejected passes
    /// its share to the other.
    pub alpha: f64,
    /// Number of joint relabelings of the runs.
    pub relabelings: f64,
    /// Number of relabelings evaluated.
    pub visited: u32,
    /// Whether all relabelings were evaluated.
    pub exact: bool,
    /// The smallest p that any of its tests can reach.
    pub p_attainable: f64,
}

/// How a configuration differs from its baseline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdentityDifference {
    /// The configuration.
    pub configuration: String,
    /// The configuration that it is compared with.
    pub baseline: String,
    /// The differing parts, sorted by kind and name.
    pub parts: Vec<DifferingPart>,
}

/// One part that differs between a configuration and its baseline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DifferingPart {
    /// The kind of part: `module`, `library`, `sysctl`, ….
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its digest or value in the baseline; `null` if absent there.
    pub baseline: Option<String>,
    /// Its digest or value in the configuration; `null` if absent there.
    pub value: Option<String>,
    /// Whether the levels of the two configurations explain the difference.
    pub by_level: bool,
}

/// One configuration compared with its baseline on one metric of one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The workload.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// Its unit; empty for plain counts. Values recorded in another unit of the
    /// same dimension are converted.
    pub unit: String,
    /// The reference configuration.
    pub baseline: String,
    /// The configuration under test.
    pub configuration: String,
    /// Number of runs of the baseline, if known.
    pub n_baseline: Option<u32>,
    /// Number of runs of the configuration, if known.
    pub n: Option<u32>,
    /// Number of memory images of each side, if several runs start from one: then images are the
    /// replicates, each with the mean of its runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<u32>,
    /// Number of attempted runs of the baseline and of the configuration, if some did not complete:
    /// the row covers only those that did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempted: Option<[u32; 2]>,
    /// Mean of the baseline: geometric on the log scale, otherwise arithmetic.
    pub mean_baseline: Option<f64>,
    /// Mean of the configuration: geometric on the log scale, otherwise
    /// arithmetic.
    pub mean: Option<f64>,
    /// Configuration over baseline; `null` on the raw scale.
    pub ratio: Option<f64>,
    /// Interval of `ratio`, or of `difference` on the raw scale: 95 %, or the level of
    /// `Options::level`. For 6 to 16 pairs it is that of the sign-flip test, otherwise that of the
    /// t test. In a row that is established or supported, it never extends beyond "no difference".
    pub ci: Option<[f64; 2]>,
    /// The simultaneous interval over all tests of the family. In a row that is established or
    /// supported, it never extends beyond "no difference".
    #[serde(default)]
    pub ci_simultaneous: Option<[f64; 2]>,
    /// p of the t test; `null` if nothing varies.
    pub p_t: Option<f64>,
    /// Which t test gave `p_t`; `null` if there is none.
    #[serde(default)]
    pub t_test: Option<TTest>,
    /// Uncorrected p of the permutation test; `null` if only summaries are known.
    pub p: Option<f64>,
    /// The smallest p that the permutation test can reach with this many runs.
    pub p_attainable: Option<f64>,
    /// `p` corrected for its family; `null` if `p_attainable` is above alpha.
    pub p_adjusted: Option<f64>,
    /// `p_t` corrected for its family.
    pub p_t_adjusted: Option<f64>,
    /// Whether it belongs to the primary family.
    #[serde(default)]
    pub primary: bool,
    /// The lint that lowered the verdict, if one did.
    #[serde(default)]
    pub capped_by: Option<String>,
    /// The scale on which the values were compared.
    pub scale: Scale,
    /// Configuration minus baseline, in the metric's unit; raw scale only.
    pub difference: Option<f64>,
    /// The step size of the values, if known: declared by the source or inferred from the values.
    /// Absent for plain counts, and if it is finer than a hundred-thousandth of the values.
    #[serde(default)]
    pub resolution: Option<f64>,
    /// Whether `resolution` exceeds `margin` times the baseline's mean: then the verdict is never
    /// `equivalent`.
    #[serde(default)]
    pub too_coarse: bool,
    /// The verdict.
    pub verdict: Verdict,
    /// Runs per configuration that could establish the difference (if `supported`), or that would
    /// probably settle the row (if `undecided`): with a probability of 80 % if the two do not
    /// differ, or differ by the margin.
    pub runs_needed: Option<u32>,
    /// Explains the row, if that is needed.
    pub because: Option<String>,
}

/// The kind of t test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TTest {
    /// Welch's, of independent runs.
    Welch,
    /// Student's, on the differences within blocks of one run each.
    Paired,
    /// Of the machines' effects, weighted by the inverse of their squared standard errors, with
    /// Meier's variance and degrees of freedom.
    Pooled,
}

/// A repeated baseline compared with the baseline: what the method finds where
/// nothing differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NoiseFloor {
    /// The workload.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// The baseline.
    pub baseline: String,
    /// The repeated baseline.
    pub configuration: String,
    /// Runs of the baseline.
    pub n_baseline: Option<u32>,
    /// Runs of the repeated baseline.
    pub n: Option<u32>,
    /// Repeated baseline over baseline; `null` on the raw scale.
    pub ratio: Option<f64>,
    /// 95 % interval of `ratio`, or of `difference` on the raw scale.
    pub ci: Option<[f64; 2]>,
    /// p of the t test, not corrected.
    pub p_t: Option<f64>,
    /// p of the permutation test, uncorrected.
    pub p: Option<f64>,
    /// Repeated baseline minus baseline, in the metric's unit; raw scale only.
    pub difference: Option<f64>,
}

/// The scale on which values were compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Logarithms of the runs' values, which give ratios.
    Log,
    /// The runs' values themselves, which give differences, because not all are
    /// positive.
    Raw,
    /// Means with their standard errors, which give ratios without a permutation
    /// test.
    Summary,
}

/// The verdict on a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The permutation test, corrected for the family, finds a difference.
    Established,
    /// Only the t test, with the same correction, finds a difference: there are too few runs for
    /// the permutation test, or a lint caps the verdict.
    Supported,
    /// Two one-sided t tests, with the same correction, show that the difference is less than the
    /// margin.
    Equivalent,
    /// None of these.
    Undecided,
}

impl Verdict {
    /// The word used in the document.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Established => "established",
            Verdict::Supported => "supported",
            Verdict::Equivalent => "equivalent",
            Verdict::Undecided => "undecided",
        }
    }
}

/// The effects of two-level factors on one metric of one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Factorial {
    /// The workload.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// The factors in the order of the records.
    pub factors: Vec<String>,
    /// Number of runs in the whole grid.
    pub n: u32,
    /// Residual degrees of freedom: complete blocks minus 1 or, without complete blocks, those of
    /// the least-squares fit.
    pub residual_df: f64,
    /// Main effects, then two-way interactions.
    pub effects: Vec<Effect>,
}

/// One main effect or interaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// The factor, or two factors as `a:b`.
    pub name: String,
    /// On over off, averaged over the other factors; for an interaction, the
    /// ratio of the two ratios.
    pub ratio: f64,
    /// 95 % interval of `ratio`.
    pub ci: Option<[f64; 2]>,
    /// p of the t test, not corrected.
    pub p: Option<f64>,
    /// p corrected for the family: of the permutation test if every block holds
    /// the whole grid, otherwise of the t test.
    #[serde(default)]
    pub p_adjusted: Option<f64>,
    /// The verdict.
    #[serde(default = "undecided")]
    pub verdict: Verdict,
}

fn undecided() -> Verdict {
    Verdict::Undecided
}

/// A claim and its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The claim as it was given.
    pub text: String,
    /// Whether it was declared before the runs.
    #[serde(default)]
    pub origin: ClaimOrigin,
    /// The outcome.
    pub outcome: Outcome,
    /// The reason, with the figures; ratios and differences compare the claim's first configuration
    /// with its second.
    pub because: String,
}

/// When a claim was stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimOrigin {
    /// Before the runs, in the experiment file.
    Declared,
    /// Afterwards, on the command line or in a file named there.
    #[default]
    PostHoc,
}

impl ClaimOrigin {
    /// The words that reports use.
    pub fn words(self) -> &'static str {
        match self {
            ClaimOrigin::Declared => "declared",
            ClaimOrigin::PostHoc => "post hoc",
        }
    }
}

/// The outcome of testing a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The data establish it.
    Upheld,
    /// The data establish the opposite.
    Refuted,
    /// Neither.
    Undecided,
}

impl Outcome {
    /// The word used in the document.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Upheld => "upheld",
            Outcome::Refuted => "refuted",
            Outcome::Undecided => "undecided",
        }
    }
}

/// A problem with the data themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lint {
    /// A short code such as `constant-metric`.
    pub code: String,
    /// The workload, configuration, metric or line concerned.
    #[serde(rename = "where")]
    pub location: String,
    /// What is wrong, in one sentence.
    pub detail: String,
    /// The number of the scheduled run that the lint is about, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<u32>,
    /// The path of the bundle of this run, if the document is of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle: Option<String>,
    /// The command that executes this run again; absent until the caller, who knows it, fills it
    /// in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// A plain sentence and the rows that back it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sentence {
    /// The sentence, with its full stop.
    pub text: String,
    /// The rows that back it, as `workload metric configuration` (for a
    /// factorial fit the effect, for events the event), or a workload for all
    /// its rows.
    pub rows: Vec<String>,
}
