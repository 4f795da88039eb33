//! What two configurations spend otherwise, row by row.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::branches::{Branch, branches};
use crate::claims::{Explained, Has, Weighed, explained, weighed};
use crate::profile::USER;
use crate::tables::{Key, rows, smallest};
use crate::{Caches, Calls, Claim, Geometry, Misses, Profile};

/// The schema of [`Why`].
pub const SCHEMA: &str = "assize.why/1";

/// One seed, carried out in both configurations.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The seed.
    pub seed: u64,
    /// The first configuration.
    pub a: Side,
    /// The second one.
    pub b: Side,
}

/// One run, counted.
#[derive(Debug, Clone)]
pub struct Side {
    /// Its number in the schedule.
    pub run: u32,
    /// Its counts.
    pub profile: Profile,
    /// How many jobs it did, if it says so.
    pub jobs: Option<f64>,
    /// What the bundle says of the metric that is to be explained.
    pub metric: Option<f64>,
    /// How often each function that was asked for was entered, and with what.
    pub reached: Vec<Entered>,
    /// Its call trees, if they were asked for.
    pub calls: Option<Calls>,
    /// What it missed in a model of caches, if that was asked for.
    pub misses: Option<Misses>,
    /// What the kernel calls the functions of claims and then those of hunks:
    /// of each the full names.
    pub functions: Vec<BTreeSet<String>>,
}

/// Entries of one function in one run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Entered {
    /// How often.
    pub times: u64,
    /// Significant bits of the argument, and how often it had so many.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sizes: BTreeMap<u32, u64>,
}

/// What is compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The workload.
    pub workload: String,
    /// The first configuration.
    pub a: String,
    /// The second one.
    pub b: String,
    /// The metric that is to be explained.
    pub metric: String,
    /// The functions of which entries were counted, as they were asked for.
    pub reached: Vec<String>,
    /// The claims that are put to the counts.
    pub claims: Vec<Claim>,
    /// The hunks of which it is asked what they can explain.
    pub hunks: Vec<Hunk>,
    /// The caches that are modelled, if that was asked for.
    pub caches: Option<Geometry>,
}

/// A hunk of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The file.
    pub path: String,
    /// Its ranges: `-1,2 +3,4`.
    pub range: String,
    /// The functions that it touches.
    pub functions: Vec<String>,
    /// Whether it changes lines of which the diff does not tell in which
    /// function they are, or that are in none.
    pub outside: bool,
}

impl Asked {
    /// The functions that trees are asked about: those of claims and then those
    /// of hunks.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        let claims = self.claims.iter().map(|claim| claim.function.as_str());
        let hunks = self.hunks.iter().flat_map(|hunk| &hunk.functions);
        claims.chain(hunks.map(String::as_str))
    }
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Why {
    /// [`SCHEMA`].
    pub schema: Cow<'static, str>,
    /// The workload.
    pub workload: String,
    /// The first configuration.
    pub a: String,
    /// The second one.
    pub b: String,
    /// What values are of: `job` or `run`.
    pub per: Cow<'static, str>,
    /// The seeds that were carried out again.
    pub seeds: Vec<u64>,
    /// Numbers of their runs in the schedule, of the first and of the second
    /// configuration.
    pub runs: Vec<[u32; 2]>,
    /// All instructions.
    pub total: Row,
    /// How far the counts account for the machine's clock.
    pub account: Account,
    /// The metric of the same runs, as the bundle has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    /// By thread, largest difference first.
    pub threads: Vec<Row>,
    /// By subsystem.
    pub subsystems: Vec<Row>,
    /// By function.
    pub functions: Vec<Row>,
    /// The smallest p that so many seeds allow, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_attainable: Option<f64>,
    /// The functions that were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reached: Vec<Reached>,
    /// What came of the claims.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Explained>,
    /// What the hunks of a diff can explain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hunks: Vec<Weighed>,
    /// What a model of caches missed, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caches: Option<Caches>,
    /// The call trees of all threads, if they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tree: Vec<Branch>,
}

/// A metric beside the instructions.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Metric {
    /// Its name.
    pub name: String,
    /// Its value on the first configuration, per job or run.
    pub a: f64,
    /// On the second one.
    pub b: f64,
}

/// One row of a table.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Row {
    /// What it is of.
    pub name: String,
    /// Of a function its subsystem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Instructions of the first configuration, per job or run, mean over
    /// seeds.
    pub a: f64,
    /// Of the second one.
    pub b: f64,
    /// The first less the second.
    pub difference: f64,
    /// The 95 % interval of the difference, with several seeds that differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// With several seeds: whether the difference is established beside all
    /// others of its table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub established: Option<bool>,
}

/// Whether every instruction is accounted for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Account {
    /// Whether it is.
    pub whole: bool,
    /// Instructions that were counted, of all runs.
    pub instructions: u64,
    /// How often the clock was compared with the count.
    pub readings: u64,
    /// How often they did not agree.
    pub mismatches: u64,
    /// Blocks of which it is not known how far they were executed.
    pub unclear: u64,
    /// CPUs of the machine. With several the clock also goes on by costs that
    /// are declared, and agrees if it never goes on by less than the count.
    pub cpus: u32,
}

/// A function that was asked for.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Reached {
    /// As it was asked for.
    pub function: String,
    /// Entries in the first configuration, per job or run, mean over seeds.
    pub a: f64,
    /// In the second one.
    pub b: f64,
    /// Share of all instructions that the function itself has, without what
    /// it calls, in the first configuration.
    pub share_a: f64,
    /// In the second one.
    pub share_b: f64,
    /// Significant bits of the argument to entries of all runs of the first
    /// configuration.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sizes_a: BTreeMap<u32, u64>,
    /// Of the second one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sizes_b: BTreeMap<u32, u64>,
}

impl Why {
    /// Sets two configurations against each other. There must be a pair.
    #[must_use]
    pub fn of(asked: &Asked, pairs: &[Pair]) -> Why {
        let sides = || pairs.iter().flat_map(|pair| [&pair.a, &pair.b]);
        let by_job = sides().all(|side| side.jobs.is_some_and(|jobs| jobs > 0.0));
        let table = |key: &Key<'_>| rows(pairs, by_job, |side| &side.profile.places, key);
        let mut total = table(&|_| ("all instructions".into(), None));
        let nothing = Row {
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
        let claims =
            claims.map(|(at, claim)| explained(claim, Has::of(at, pairs, by_job), &account));
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
            p_attainable: (pairs.len() > 1).then(|| smallest(pairs.len())),
            reached: reached(asked, pairs, by_job),
            claims: claims.collect(),
            hunks: weighed(asked, pairs, by_job),
            caches: asked
                .caches
                .map(|geometry| Caches::of(geometry, pairs, by_job)),
            tree: branches(pairs, by_job),
            account,
        }
    }
}

/// What all runs together say of the counts.
fn account<'a>(sides: impl Iterator<Item = &'a Side>) -> Account {
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

pub(crate) fn divisor(side: &Side, by_job: bool) -> f64 {
    side.jobs.filter(|_| by_job).unwrap_or(1.0)
}

#[allow(clippy::cast_precision_loss)] // Counts stay far below 2^53.
pub(crate) fn number(count: u64) -> f64 {
    count as f64
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / number(values.len().max(1) as u64)
}

fn metric(asked: &Asked, pairs: &[Pair], by_job: bool) -> Option<Metric> {
    let one = |of: &dyn Fn(&Pair) -> &Side| {
        let values: Option<Vec<f64>> = pairs
            .iter()
            .map(|pair| Some(of(pair).metric? / divisor(of(pair), by_job)))
            .collect();
        values.map(|values| mean(&values))
    };
    Some(Metric {
        name: asked.metric.clone(),
        a: one(&|pair| &pair.a)?,
        b: one(&|pair| &pair.b)?,
    })
}

fn reached(asked: &Asked, pairs: &[Pair], by_job: bool) -> Vec<Reached> {
    let one = |(at, name): (usize, &String)| {
        let function = name.split(':').next().unwrap_or_default();
        let sums = |of: &dyn Fn(&Pair) -> &Side| {
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
        Reached {
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
