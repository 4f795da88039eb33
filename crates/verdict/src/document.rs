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

/// A number in a text that was not read as a figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unassigned {
    /// The number.
    pub value: f64,
    /// The unit after it; empty if there is none or it is unknown.
    pub unit: String,
    /// Its line, from 1.
    pub line: u32,
}

/// All results for one set of records.
///
/// Numbers that do not exist are `null`; no field is ever NaN or infinite. Rows are ordered by
/// workload, metric and configuration, each by first appearance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// `assize.verdict/1`.
    pub schema: String,
    /// The file or bundle judged.
    pub source: String,
    /// The baseline, unless a row names another; `null` if nothing was recorded.
    pub baseline: Option<String>,
    /// Significance level of all tests.
    pub alpha: f64,
    /// Confidence level of the intervals of `comparisons`; absent if 0.95.
    #[serde(default = "usual_level", skip_serializing_if = "is_usual_level")]
    pub level: f64,
    /// Equivalence margin: ratios this close to 1 count as equal.
    pub margin: f64,
    /// In order of first appearance.
    pub configurations: Vec<Configuration>,
    /// In order of first appearance.
    pub workloads: Vec<String>,
    /// Runs, as recorded.
    pub runs: Vec<Run>,
    /// Means over runs, as recorded.
    pub summaries: Vec<Summary>,
    /// Figures without replication, as recorded.
    pub statements: Vec<Statement>,
    /// Numbers not read as figures, if requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unassigned: Vec<Unassigned>,
    /// Families of tests: the primary ones, and all others.
    #[serde(default)]
    pub families: Vec<Family>,
    /// How often runs failed or complained.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<OutcomeComparison>,
    /// Each configuration compared with its baseline.
    pub comparisons: Vec<Comparison>,
    /// What the rows of `machines` stand for, if not machines.
    #[serde(default, skip_serializing_if = "Across::is_machines")]
    pub across: Across,
    /// The comparisons on each machine, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<MachineComparison>,
    /// The comparisons over all machines; `comparisons` has the same ratio, interval, p and
    /// verdict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pooled: Vec<Pooled>,
    /// Tables that the experiment asks for.
    #[serde(default)]
    pub tables: Vec<Table>,
    /// Trade-offs that the experiment or the command line asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tradeoffs: Vec<Tradeoff>,
    /// Repeated baselines compared with the baseline.
    #[serde(default)]
    pub noise_floor: Vec<NoiseFloor>,
    /// Effects of the factors, if the configurations form a full grid.
    pub factorial: Vec<Factorial>,
    /// Event rates.
    pub rates: Vec<Rate>,
    /// Event rates compared with the baseline's.
    pub rate_comparisons: Vec<RateComparison>,
    /// The claims tested.
    pub claims: Vec<Claim>,
    /// How runs differ from the baseline's in kernel, modules, programs and settings, if recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identity_differences: Vec<IdentityDifference>,
    /// Configurations with the same files and settings as the baseline. They are not compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub same: Vec<SameConfiguration>,
    /// Defects of the data.
    pub lints: Vec<Lint>,
    /// At most five plain sentences, the most important first.
    pub sentences: Vec<Sentence>,
    /// Limits of what this target can show, in sentences.
    #[serde(default)]
    pub limits: Vec<String>,
    /// The command that reruns the experiment, if there is one.
    ///
    /// Absent until the caller, who knows it, fills it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerun: Option<String>,
    /// The command that reruns the first run that failed or complained.
    ///
    /// Absent until the caller, who knows it, fills it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look: Option<String>,
    /// The command that reproduces this document.
    ///
    /// Empty until the caller, who knows it, fills it in.
    pub reproduce: String,
    /// The unit that the user chose for times, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    /// Whether it holds the comparisons, claims, effects and rates declared primary before the data
    /// were seen, or all others.
    pub primary: bool,
    /// Number of tests, without those with too few runs to reach alpha whatever the data.
    pub tests: u32,
    /// Its share of the document's `alpha`, which passes to the other family if all its hypotheses
    /// are rejected.
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

/// A configuration that consists of the same files and settings as its baseline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SameConfiguration {
    /// The configuration under test.
    pub configuration: String,
    /// The configuration that `configuration` is compared with.
    pub baseline: String,
}

/// How a configuration differs from its baseline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdentityDifference {
    /// The configuration under test.
    pub configuration: String,
    /// The configuration that `configuration` is compared with.
    pub baseline: String,
    /// Sorted by kind and name.
    pub parts: Vec<DifferingPart>,
}

/// A part that differs between a configuration and its baseline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DifferingPart {
    /// `module`, `library`, `sysctl`, ….
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Digest or value of the part in the baseline; `null` if absent there.
    pub baseline: Option<String>,
    /// Digest or value in the configuration.
    pub value: Option<String>,
    /// Whether the levels of both explain the difference.
    pub by_level: bool,
}

/// One configuration compared with its baseline. Values in several units of one dimension are
/// converted. In an established or supported row no interval extends past "no difference".
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The workload.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// Its unit; empty for a plain count, or if no run has the metric.
    pub unit: String,
    /// The configuration that `configuration` is compared with.
    pub baseline: String,
    /// The configuration under test.
    pub configuration: String,
    /// Runs of the baseline, if known.
    pub n_baseline: Option<u32>,
    /// Runs of the configuration, if known.
    pub n: Option<u32>,
    /// Memory images of each side, if several runs start from one; the replicates are then images,
    /// each with the mean of its runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<u32>,
    /// Attempted runs of baseline and configuration, if some did not complete; the row covers only
    /// those that did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempted: Option<[u32; 2]>,
    /// Mean of the baseline: geometric on the log scale, else arithmetic.
    pub mean_baseline: Option<f64>,
    /// Mean of the configuration, of the same kind.
    pub mean: Option<f64>,
    /// Configuration over baseline; `null` on the raw scale.
    pub ratio: Option<f64>,
    /// Interval of `ratio`, or of `difference` on the raw scale, at the document's `level`: of the
    /// sign-flip test for 6 to 16 pairs, else of the t test.
    pub ci: Option<[f64; 2]>,
    /// The same, simultaneous over all tests of the family.
    #[serde(default)]
    pub ci_simultaneous: Option<[f64; 2]>,
    /// p of the t test, uncorrected; `null` if nothing varies.
    pub p_t: Option<f64>,
    /// The t test that gave `p_t`.
    #[serde(default)]
    pub t_test: Option<TTest>,
    /// p of the permutation test, uncorrected; `null` if only summaries are known.
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
    /// Configuration minus baseline, in `unit`; raw scale only.
    pub difference: Option<f64>,
    /// Step of the values, declared by the source or inferred; `null` for plain counts, or if below
    /// 1/100,000 of the values.
    #[serde(default)]
    pub resolution: Option<f64>,
    /// Whether `resolution` exceeds `margin` times the baseline's mean, so that the verdict is
    /// never `equivalent`.
    #[serde(default)]
    pub too_coarse: bool,
    /// The verdict.
    pub verdict: Verdict,
    /// Runs per configuration that could establish the difference (if `supported`), or that would
    /// settle the row with 80 % probability if the two are equal or differ by the margin (if
    /// `undecided`).
    pub runs_needed: Option<u32>,
    /// An explanation, if needed.
    pub because: Option<String>,
}

/// The kind of t test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TTest {
    /// Welch's, for independent runs.
    Welch,
    /// Student's, on the differences within blocks of one run each.
    Paired,
    /// Of the machines' effects, weighted by inverse variance, with Meier's variance and df.
    Pooled,
    /// None: the tool that printed the means printed the p of its own test.
    Printed,
}

/// A repeated baseline (`configuration`) compared with the baseline. The interval is at 95 %.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NoiseFloor {
    /// The workload.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// Its unit; empty for a plain count, or if no run has the metric.
    pub unit: String,
    /// The configuration that `configuration` is compared with.
    pub baseline: String,
    /// The configuration under test.
    pub configuration: String,
    /// Runs of the baseline, if known.
    pub n_baseline: Option<u32>,
    /// Runs of the configuration, if known.
    pub n: Option<u32>,
    /// Configuration over baseline; `null` on the raw scale.
    pub ratio: Option<f64>,
    /// Interval of `ratio`, or of `difference` on the raw scale.
    pub ci: Option<[f64; 2]>,
    /// p of the t test, uncorrected; `null` if nothing varies.
    pub p_t: Option<f64>,
    /// p of the permutation test, uncorrected; `null` if only summaries are known.
    pub p: Option<f64>,
    /// Configuration minus baseline, in `unit`; raw scale only.
    pub difference: Option<f64>,
    /// `equivalent`, corrected for all rows of this list, or `undecided`.
    #[serde(default)]
    pub verdict: Verdict,
}

/// The scale on which values were compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Logarithms of the values, which give ratios.
    Log,
    /// The values themselves, which give differences; used if not all are positive.
    Raw,
    /// Means with standard errors, which give ratios without a permutation test.
    Summary,
}

/// The verdict on a difference; all tests are corrected for the family.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The permutation test finds a difference.
    Established,
    /// Only the t test does: there are too few runs, or a lint caps the verdict.
    Supported,
    /// Two one-sided t tests show the difference to be within the margin.
    Equivalent,
    /// None of these.
    #[default]
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

/// Effects of two-level factors on one metric of one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Factorial {
    /// The workload.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// Its unit; empty for a plain count, or if no run has the metric.
    pub unit: String,
    /// In the order of the records.
    pub factors: Vec<String>,
    /// Runs of the whole grid.
    pub n: u32,
    /// Residual degrees of freedom: complete blocks less 1; without complete blocks, those of the
    /// least-squares fit.
    pub residual_df: f64,
    /// Main effects, then two-way interactions.
    pub effects: Vec<Effect>,
}

/// A main effect or an interaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// The factor, or two factors as `a:b`.
    pub name: String,
    /// On over off, averaged over the other factors; for an interaction, the ratio of two such
    /// ratios.
    pub ratio: f64,
    /// 95 % interval of `ratio`.
    pub ci: Option<[f64; 2]>,
    /// p of the t test, uncorrected.
    pub p: Option<f64>,
    /// p corrected for the family: of the permutation test if every block holds the whole grid,
    /// else of the t test.
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
    /// The claim as given.
    pub text: String,
    /// Whether it was declared before the runs.
    #[serde(default)]
    pub origin: ClaimOrigin,
    /// The outcome.
    pub outcome: Outcome,
    /// The reason, with figures of the claim's first configuration against its second.
    pub because: String,
}

/// When a claim or trade-off was stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimOrigin {
    /// Before the runs, in the experiment file.
    Declared,
    /// Later, on the command line or in a file named there.
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

/// A defect of the data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lint {
    /// Its code, such as `constant-metric`.
    pub code: String,
    /// The workload, configuration, metric or line concerned.
    #[serde(rename = "where")]
    pub location: String,
    /// What is wrong, in one sentence.
    pub detail: String,
    /// The scheduled run concerned, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<u32>,
    /// The bundle of this run, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle: Option<String>,
    /// The command that executes this run again.
    ///
    /// Absent until the caller, who knows it, fills it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// A plain sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sentence {
    /// The sentence, with its full stop.
    pub text: String,
    /// The rows that back it, as `workload metric configuration` (for factorial fits the effect,
    /// for events the event, instead of the configuration), or a workload for all its rows.
    pub rows: Vec<String>,
}
