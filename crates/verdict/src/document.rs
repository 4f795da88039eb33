//! The verdict document, as it is written to JSON.

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

/// A number of a text that is no figure of the records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unassigned {
    /// The number.
    pub value: f64,
    /// The unit behind it; empty if there is none that is known.
    pub unit: String,
    /// Its line, counted from 1.
    pub line: u32,
}

/// Everything that was found out about one set of records.
///
/// Numbers that do not exist are `null`; no field is ever NaN or infinite.
/// Rows stand in the order workload, metric, configuration, each by first
/// appearance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The file or bundle that was judged.
    pub source: String,
    /// The configuration that the others are compared with, unless a row
    /// names another; `null` where nothing was recorded.
    pub baseline: Option<String>,
    /// The level of all tests.
    pub alpha: f64,
    /// The level of the intervals of `comparisons`, where it is not 0.95.
    #[serde(default = "usual_level", skip_serializing_if = "is_usual_level")]
    pub level: f64,
    /// Two configurations whose ratio differs from 1 by less count as equal.
    pub margin: f64,
    /// Configurations in the order of their first appearance.
    pub configurations: Vec<Configuration>,
    /// Workloads in the order of their first appearance.
    pub workloads: Vec<String>,
    /// Runs as recorded.
    pub runs: Vec<Run>,
    /// Means of runs as recorded.
    pub summaries: Vec<Summary>,
    /// Figures without replication as recorded.
    pub statements: Vec<Statement>,
    /// Numbers of a post that are none of these figures, where they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unassigned: Vec<Unassigned>,
    /// What was tested together: the primary tests, and the others.
    #[serde(default)]
    pub families: Vec<Family>,
    /// How often runs ended otherwise than they should, against the baseline: before
    /// all else what there is to say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<OutcomeComparison>,
    /// Every configuration against its baseline.
    pub comparisons: Vec<Comparison>,
    /// What `machines` tells apart, where it is not machines.
    #[serde(default, skip_serializing_if = "Across::is_machines")]
    pub across: Across,
    /// The comparisons on each machine, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<MachineComparison>,
    /// The comparisons over all machines, where there are several. The row of
    /// `comparisons` has the same ratio, interval, p and verdict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pooled: Vec<Pooled>,
    /// Tables that the experiment asks for.
    #[serde(default)]
    pub tables: Vec<Table>,
    /// Trade-offs that the experiment or the command line asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tradeoffs: Vec<Tradeoff>,
    /// Baselines that were run twice, against themselves.
    #[serde(default)]
    pub noise_floor: Vec<NoiseFloor>,
    /// Effects of the factors, where the configurations form a full grid.
    pub factorial: Vec<Factorial>,
    /// Counts of events per second.
    pub rates: Vec<Rate>,
    /// Rates against the baseline's rate.
    pub rate_comparisons: Vec<RateComparison>,
    /// The claims that were asked about.
    pub claims: Vec<Claim>,
    /// What each configuration differs in from the baseline, where runs say
    /// what they were made of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identity_differences: Vec<IdentityDifference>,
    /// What is wrong with the data itself.
    pub lints: Vec<Lint>,
    /// At most five plain sentences, the most striking first.
    pub sentences: Vec<Sentence>,
    /// What the target cannot tell, in sentences.
    #[serde(default)]
    pub limits: Vec<String>,
    /// The command that carries the experiment out again, where there is one;
    /// absent until the caller, who knows it, fills it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerun: Option<String>,
    /// The command that carries the first run out again that ended otherwise than it
    /// should; absent until the caller, who knows it, fills it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look: Option<String>,
    /// The command that makes this document again; empty until the caller,
    /// who knows it, fills it in.
    pub reproduce: String,
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
    /// Whether these are the comparisons, claims, effects and rates of primary
    /// metrics, declared before the data were seen; else all others.
    pub primary: bool,
    /// How many tests; those that so few runs cannot bring to `Document::alpha`
    /// whatever they show are left out.
    pub tests: u32,
    /// The part of `Document::alpha` at which they are tested unless the other
    /// family is rejected whole.
    pub alpha: f64,
    /// Joint relabelings of the runs.
    pub relabelings: f64,
    /// How many of them were visited.
    pub visited: u32,
    /// Whether that is all of them.
    pub exact: bool,
    /// The smallest p that any of them can have.
    pub p_attainable: f64,
}

/// What a configuration differs in from the baseline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdentityDifference {
    /// The configuration.
    pub configuration: String,
    /// What it is compared with.
    pub baseline: String,
    /// Sorted by kind and name.
    pub parts: Vec<DifferingPart>,
}

/// One thing that is another in a configuration than in the baseline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DifferingPart {
    /// What it is: `module`, `library`, `sysctl`, ….
    pub kind: String,
    /// Which one.
    pub name: String,
    /// A digest or a value in the baseline; `null` if it was not there.
    pub baseline: Option<String>,
    /// A digest or a value in the configuration; `null` if it was not there.
    pub value: Option<String>,
    /// Whether the levels say that it may differ.
    pub by_level: bool,
}

/// One configuration against its baseline on one metric of one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// What was executed.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// Its unit; empty for plain counts. Values that were recorded in another
    /// unit of its dimension are converted.
    pub unit: String,
    /// The configuration compared with.
    pub baseline: String,
    /// The configuration under trial.
    pub configuration: String,
    /// Runs of the baseline, where known.
    pub n_baseline: Option<u32>,
    /// Runs of the configuration, where known.
    pub n: Option<u32>,
    /// Memory images of each of the two, where several runs start from one: then these
    /// are the replicates, each with the mean of its runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<u32>,
    /// How many runs of the baseline and of the configuration there were, where some
    /// of them were not completed: what the row says is of those that were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempted: Option<[u32; 2]>,
    /// Mean of the baseline: geometric on the log scale, else arithmetic.
    pub mean_baseline: Option<f64>,
    /// Mean of the configuration: geometric on the log scale, else arithmetic.
    pub mean: Option<f64>,
    /// Configuration over baseline; `null` on the raw scale.
    pub ratio: Option<f64>,
    /// Interval of `ratio`, or of `difference` on the raw scale: 95 %, or the
    /// level of `Options::level`. Of 6 to 16 pairs it is that of their flips, else of
    /// the t test. Of a row that is established or supported it ends at "no difference"
    /// at the latest.
    pub ci: Option<[f64; 2]>,
    /// The interval at the level that is right for all tests of the family
    /// together. Of a row that is established or supported it ends at "no
    /// difference" at the latest.
    #[serde(default)]
    pub ci_simultaneous: Option<[f64; 2]>,
    /// p of the t test; `null` where nothing varies.
    pub p_t: Option<f64>,
    /// Which t gave `p_t`; `null` where there is none.
    #[serde(default)]
    pub t_test: Option<TTest>,
    /// p of the permutation test by itself; `null` where only summaries are known.
    pub p: Option<f64>,
    /// The smallest p that so many runs allow the permutation test.
    pub p_attainable: Option<f64>,
    /// `p` corrected for its family; `null` where `p_attainable` is above alpha.
    pub p_adjusted: Option<f64>,
    /// `p_t` corrected for its family.
    pub p_t_adjusted: Option<f64>,
    /// Whether it is of the primary family.
    #[serde(default)]
    pub primary: bool,
    /// The lint for which the verdict is no better than it is, if one is.
    #[serde(default)]
    pub capped_by: Option<String>,
    /// On which scale the values were compared.
    pub scale: Scale,
    /// Configuration minus baseline, in the metric's unit; raw scale only.
    pub difference: Option<f64>,
    /// In which steps the values come, where that is known: as the source says, as
    /// they were printed, or as they show. Not of plain counts, and not where it
    /// is finer than a hundred-thousandth of the values.
    #[serde(default)]
    pub resolution: Option<f64>,
    /// Whether `resolution` is more than `margin` of the baseline's mean: then the
    /// verdict is never `equivalent`.
    #[serde(default)]
    pub too_coarse: bool,
    /// What may be said of it.
    pub verdict: Verdict,
    /// Runs per configuration that could establish it (`supported`), or that likely
    /// show whether the two differ by the margin (`undecided`: with a chance of 80 % if
    /// they do not differ, or do by the margin).
    pub runs_needed: Option<u32>,
    /// Why the row is as it is, where that needs saying.
    pub because: Option<String>,
}

/// Which t test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TTest {
    /// Welch's, of independent runs.
    Welch,
    /// Student's, on the differences inside blocks of one run each.
    Paired,
    /// Of the machines' effects, weighed by the inverse of their squared standard
    /// errors; Meier's variance and degrees of freedom.
    Pooled,
}

/// A baseline that was run twice: what the method finds where nothing differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NoiseFloor {
    /// What was executed.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// The baseline.
    pub baseline: String,
    /// The same again, from the repeated baseline.
    pub configuration: String,
    /// Runs of the baseline.
    pub n_baseline: Option<u32>,
    /// Runs of the repeated baseline.
    pub n: Option<u32>,
    /// Second over first; `null` on the raw scale.
    pub ratio: Option<f64>,
    /// 95 % interval of `ratio`, or of `difference` on the raw scale.
    pub ci: Option<[f64; 2]>,
    /// p of the t test, not corrected.
    pub p_t: Option<f64>,
    /// p of the permutation test, not corrected.
    pub p: Option<f64>,
    /// Second minus first, in the metric's unit; raw scale only.
    pub difference: Option<f64>,
}

/// On which scale values were compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Logarithms of the runs' values: ratios.
    Log,
    /// The runs' values themselves: differences, because not all are positive.
    Raw,
    /// Means with their standard errors: ratios, without a permutation test.
    Summary,
}

/// What may be said of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The permutation test, corrected for the family, says so.
    Established,
    /// Only the t test, with the same correction, says so; the runs are too few for the
    /// other, or a lint forbids more.
    Supported,
    /// Two one-sided t tests, with the same correction, say that the difference is less
    /// than the margin.
    Equivalent,
    /// None of these.
    Undecided,
}

impl Verdict {
    /// The word that the document uses.
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
    /// What was executed.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// The factors in the order of the records.
    pub factors: Vec<String>,
    /// Runs in the whole grid.
    pub n: u32,
    /// Degrees of freedom of the error: complete blocks less 1, or without such
    /// blocks what the least squares leave.
    pub residual_df: f64,
    /// Main effects, then two-way interactions.
    pub effects: Vec<Effect>,
}

/// One main effect or interaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// The factor, or two factors as `a:b`.
    pub name: String,
    /// On over off, averaged over the other factors; of an interaction, the
    /// ratio of the two ratios.
    pub ratio: f64,
    /// 95 % interval of `ratio`.
    pub ci: Option<[f64; 2]>,
    /// p of the t test, not corrected.
    pub p: Option<f64>,
    /// p corrected for the family: of the permutation test where every block
    /// holds the whole grid, else of the t test.
    #[serde(default)]
    pub p_adjusted: Option<f64>,
    /// What may be said of it. Never `equivalent`.
    #[serde(default = "undecided")]
    pub verdict: Verdict,
}

fn undecided() -> Verdict {
    Verdict::Undecided
}

/// A claim and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The claim as it was given.
    pub text: String,
    /// When it was made.
    #[serde(default)]
    pub origin: ClaimOrigin,
    /// What became of it.
    pub outcome: Outcome,
    /// On what grounds, with the figures; ratios and differences are of the
    /// claim's first configuration to its second.
    pub because: String,
}

/// When a claim was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimOrigin {
    /// Before the runs: the experiment file makes it.
    Declared,
    /// Afterwards, on the command line or in a file that it names.
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

/// What became of a claim.
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
    /// The word that the document uses.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Upheld => "upheld",
            Outcome::Refuted => "refuted",
            Outcome::Undecided => "undecided",
        }
    }
}

/// Something wrong with the data itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lint {
    /// A short code such as `constant-metric`.
    pub code: String,
    /// The workload, configuration, metric or line it is about.
    #[serde(rename = "where")]
    pub location: String,
    /// What is wrong, in one sentence.
    pub detail: String,
}

/// A plain sentence and the rows that back it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sentence {
    /// The sentence, with its full stop.
    pub text: String,
    /// Which rows back it, as `workload metric configuration` (in a factorial
    /// fit the effect, for events the event), or a workload for all its rows.
    pub rows: Vec<String>,
}
