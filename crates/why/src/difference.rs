//! Compares the instructions of two configurations, row by row.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::branches::{Branch, branches};
use crate::claims::{ExplainedClaim, FunctionShare, HunkShare, explained_claim, hunk_shares};
use crate::profile::USER;
use crate::tables::{RowKey, rows, smallest_p};
use crate::{Caches, Calls, Geometry, Misses, Profile, ShareClaim};

/// The schema of [`Why`].
pub const SCHEMA: &str = "assize.why/1";

/// One seed, run in both configurations.
#[derive(Debug, Clone)]
pub struct CountedPair {
    /// The seed.
    pub seed: u64,
    /// The first configuration.
    pub a: CountedRun,
    /// The second configuration.
    pub b: CountedRun,
}

/// One counted run.
#[derive(Debug, Clone)]
pub struct CountedRun {
    /// Its index in the schedule.
    pub run: u32,
    /// Its instruction counts.
    pub profile: Profile,
    /// How many jobs it did, if it reports them.
    pub jobs: Option<f64>,
    /// The recorded value of the metric to be explained.
    pub metric: Option<f64>,
    /// The entries of each requested function.
    pub reached: Vec<FunctionEntries>,
    /// Its call trees, if they were requested.
    pub calls: Option<Calls>,
    /// Its misses in the cache model, if one was requested.
    pub misses: Option<Misses>,
    /// For each function of the claims and then of the hunks, the full names of the
    /// kernel functions it refers to.
    pub functions: Vec<BTreeSet<String>>,
}

/// The entries of one function in one run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct FunctionEntries {
    /// The number of entries.
    pub times: u64,
    /// The number of entries by the number of significant bits of the argument.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sizes: BTreeMap<u32, u64>,
}

/// The comparison to make.
#[derive(Debug, Clone, PartialEq)]
pub struct WhyQuestion {
    /// The workload.
    pub workload: String,
    /// The first configuration.
    pub a: String,
    /// The second configuration.
    pub b: String,
    /// The metric to be explained.
    pub metric: String,
    /// The functions whose entries are counted, as requested.
    pub reached: Vec<String>,
    /// The claims to be tested.
    pub claims: Vec<ShareClaim>,
    /// The hunks of a diff whose functions are measured.
    pub hunks: Vec<DiffHunk>,
    /// The modelled caches, if a model was requested.
    pub caches: Option<Geometry>,
}

/// A hunk of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffHunk {
    /// The file.
    pub path: String,
    /// Its line ranges: `-1,2 +3,4`.
    pub range: String,
    /// The functions that it touches.
    pub functions: Vec<String>,
    /// Whether it changes lines outside functions, or lines that the diff does not assign
    /// to a function.
    pub outside: bool,
}

impl WhyQuestion {
    /// The functions of the claims, followed by those of the hunks.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        let claims = self.claims.iter().map(|claim| claim.function.as_str());
        let hunks = self.hunks.iter().flat_map(|hunk| &hunk.functions);
        claims.chain(hunks.map(String::as_str))
    }
}

/// The result of comparing two configurations.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Why {
    /// Always [`SCHEMA`].
    pub schema: Cow<'static, str>,
    /// The workload.
    pub workload: String,
    /// The first configuration.
    pub a: String,
    /// The second configuration.
    pub b: String,
    /// The unit of the values: per `job` or per `run`.
    pub per: Cow<'static, str>,
    /// The seeds that were rerun.
    pub seeds: Vec<u64>,
    /// The indexes of these runs in the schedule, for the first and the second
    /// configuration.
    pub runs: Vec<[u32; 2]>,
    /// All instructions.
    pub total: DifferenceRow,
    /// Whether the counts account for the machine's clock.
    pub account: Account,
    /// The metric of the same runs, as recorded in the bundle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<RecordedMetric>,
    /// Rows by thread, largest difference first.
    pub threads: Vec<DifferenceRow>,
    /// Rows by subsystem.
    pub subsystems: Vec<DifferenceRow>,
    /// Rows by function.
    pub functions: Vec<DifferenceRow>,
    /// The smallest attainable p value with this many seeds, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_attainable: Option<f64>,
    /// The requested functions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reached: Vec<RequestedFunction>,
    /// The outcomes of the claims.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<ExplainedClaim>,
    /// How much the hunks of a diff can explain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hunks: Vec<HunkShare>,
    /// The results of the cache model, if one was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caches: Option<Caches>,
    /// The call trees of all threads, if they were requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tree: Vec<Branch>,
}

/// A metric recorded in the same runs.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct RecordedMetric {
    /// Its name.
    pub name: String,
    /// Its value in the first configuration, per job or per run.
    pub a: f64,
    /// Its value in the second configuration.
    pub b: f64,
}

/// One row of a table.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct DifferenceRow {
    /// The name of the thread, subsystem or function.
    pub name: String,
    /// For a function, its subsystem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Instructions in the first configuration, per job or per run, averaged over seeds.
    pub a: f64,
    /// Instructions in the second configuration.
    pub b: f64,
    /// `a - b`.
    pub difference: f64,
    /// The 95 % interval of the difference, if there are several seeds and they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// With several seeds, whether the difference is established, corrected for all rows
    /// of its table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub established: Option<bool>,
}

/// Whether every instruction is accounted for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Account {
    /// Whether every instruction is accounted for.
    pub whole: bool,
    /// The number of instructions counted in all runs.
    pub instructions: u64,
    /// How often the clock was compared with the count.
    pub readings: u64,
    /// How often the two disagreed.
    pub mismatches: u64,
    /// The number of block executions whose exit point is unknown.
    pub unclear: u64,
    /// The number of CPUs of the machine. With several, declared costs advance the clock
    /// too, and the clock agrees if it never advances by less than the count.
    pub cpus: u32,
}

/// A function whose entries were requested.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct RequestedFunction {
    /// The name as requested.
    pub function: String,
    /// Entries in the first configuration, per job or per run, averaged over seeds.
    pub a: f64,
    /// Entries in the second configuration.
    pub b: f64,
    /// The share of the function's self instructions in all instructions of the first
    /// configuration.
    pub share_a: f64,
    /// The same share in the second configuration.
    pub share_b: f64,
    /// Entries by the number of significant bits of the argument, over all runs of the
    /// first configuration.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sizes_a: BTreeMap<u32, u64>,
    /// The same for the second configuration.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sizes_b: BTreeMap<u32, u64>,
}

impl Why {
    /// Compares two configurations. `pairs` must not be empty.
    #[must_use]
    pub fn compare(asked: &WhyQuestion, pairs: &[CountedPair]) -> Why {
        let sides = || pairs.iter().flat_map(|pair| [&pair.a, &pair.b]);
        let by_job = sides().all(|side| side.jobs.is_some_and(|jobs| jobs > 0.0));
        let table = |key: &RowKey<'_>| rows(pairs, by_job, |side| &side.profile.places, key);
        let mut total = table(&|_| ("all instructions".into(), None));
        let nothing = DifferenceRow {
            name: "all instructions".into(),
            of: None,
            a: 0.0,
            b: 0.0,
            difference: 0.0,
            interval: None,
            established: None,
        };
        let account = account(sides());
        let claims = asked.claims.iter().enumerate();
        let claims = claims.map(|(at, claim)| {
            explained_claim(
                claim,
                FunctionShare::from_pairs(at, pairs, by_job),
                &account,
            )
        });
        Why {
            schema: SCHEMA.into(),
            workload: asked.workload.clone(),
            a: asked.a.clone(),
            b: asked.b.clone(),
            per: if by_job { "job" } else { "run" }.into(),
            seeds: pairs.iter().map(|pair| pair.seed).collect(),
            runs: pairs.iter().map(|pair| [pair.a.run, pair.b.run]).collect(),
            total: total.pop().unwrap_or(nothing),
            metric: metric(asked, pairs, by_job),
            threads: table(&|place| (place.thread.clone(), None)),
            subsystems: table(&|place| (place.subsystem.clone(), None)),
            functions: table(&|place| (place.function.clone(), Some(place.subsystem.clone()))),
            p_attainable: (pairs.len() > 1).then(|| smallest_p(pairs.len())),
            reached: requested_functions(asked, pairs, by_job),
            claims: claims.collect(),
            hunks: hunk_shares(asked, pairs, by_job),
            caches: asked
                .caches
                .map(|geometry| Caches::from_pairs(geometry, pairs, by_job)),
            tree: branches(pairs, by_job),
            account,
        }
    }
}

/// The consistency checks of all runs combined.
fn account<'a>(sides: impl Iterator<Item = &'a CountedRun>) -> Account {
    let mut account = Account {
        whole: true,
        ..Account::default()
    };
    for side in sides {
        let checks = &side.profile.checks;
        account.instructions += side.profile.instructions;
        account.readings += checks.readings;
        account.mismatches += checks.mismatches;
        account.unclear += checks.unclear;
        account.cpus = account.cpus.max(checks.cpus);
        account.whole &= checks.closed
            && checks.mismatches == 0
            && checks.unclear == 0
            && checks.lost == 0
            && checks.readings > 0;
    }
    account
}

pub(crate) fn divisor(side: &CountedRun, by_job: bool) -> f64 {
    side.jobs.filter(|_| by_job).unwrap_or(1.0)
}

#[allow(clippy::cast_precision_loss)] // Counts stay far below 2^53.
pub(crate) fn number(count: u64) -> f64 {
    count as f64
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / number(values.len().max(1) as u64)
}

fn metric(asked: &WhyQuestion, pairs: &[CountedPair], by_job: bool) -> Option<RecordedMetric> {
    let one = |of: &dyn Fn(&CountedPair) -> &CountedRun| {
        let values: Option<Vec<f64>> = pairs
            .iter()
            .map(|pair| Some(of(pair).metric? / divisor(of(pair), by_job)))
            .collect();
        values.map(|values| mean(&values))
    };
    Some(RecordedMetric {
        name: asked.metric.clone(),
        a: one(&|pair| &pair.a)?,
        b: one(&|pair| &pair.b)?,
    })
}

fn requested_functions(
    asked: &WhyQuestion,
    pairs: &[CountedPair],
    by_job: bool,
) -> Vec<RequestedFunction> {
    let one = |(at, name): (usize, &String)| {
        let function = name.split(':').next().unwrap_or_default();
        let sums = |of: &dyn Fn(&CountedPair) -> &CountedRun| {
            let mut sizes: BTreeMap<u32, u64> = BTreeMap::new();
            let (mut entries, mut shares) = (Vec::new(), Vec::new());
            for side in pairs.iter().map(of) {
                let entered = side.reached.get(at).cloned().unwrap_or_default();
                entries.push(number(entered.times) / divisor(side, by_job));
                for (bits, times) in entered.sizes {
                    *sizes.entry(bits).or_default() += times;
                }
                let own: u64 = side
                    .profile
                    .places
                    .iter()
                    .filter(|(place, _)| place.subsystem != USER)
                    .filter(|(place, _)| place.function.split(' ').next() == Some(function))
                    .map(|(_, times)| times)
                    .sum();
                shares.push(number(own) / number(side.profile.instructions.max(1)));
            }
            (mean(&entries), mean(&shares), sizes)
        };
        let (a, share_a, sizes_a) = sums(&|pair| &pair.a);
        let (b, share_b, sizes_b) = sums(&|pair| &pair.b);
        RequestedFunction {
            function: name.clone(),
            a,
            b,
            share_a,
            share_b,
            sizes_a,
            sizes_b,
        }
    };
    asked.reached.iter().enumerate().map(one).collect()
}

#[cfg(test)]
#[path = "difference_tests.rs"]
mod tests;
