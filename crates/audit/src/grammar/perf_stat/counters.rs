//! Counters that were read to findings, the same for all four forms.

use std::collections::{HashMap, HashSet};

use assize_bundle::Spread;

use super::ELAPSED;
use crate::grammar::block::{Block, Figure, Finding, Labels};
use crate::grammar::cells::{label, summary};

/// The contents of the value column.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Amount {
    /// A number that can be used.
    Value(f64),
    /// An unusable token, with the reason.
    Bad(String),
    /// `not supported` or `not counted`.
    Missing(&'static str),
}

/// One counter, or one of the times.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Counter {
    /// Its line in the block.
    pub(super) at: usize,
    /// The end of its interval.
    pub(super) time: Option<f64>,
    pub(super) metric: String,
    pub(super) unit: String,
    pub(super) amount: Amount,
    /// Its standard error, in its unit.
    pub(super) error: Option<f64>,
    /// Percentage of the time in which it was counted.
    pub(super) share: Option<f64>,
}

impl Counter {
    /// With a standard error in percent of its value.
    pub(super) fn with_percent(mut self, percent: Option<f64>) -> Counter {
        if let (Amount::Value(mean), Some(percent)) = (&self.amount, percent) {
            self.error = Some(mean.abs() * percent / 100.0);
        }
        self
    }
}

/// Units of levels: they may be below zero, and do not add up over time.
const LEVELS: [&str; 14] = [
    "%", "'C", "A", "C", "Hz", "MHz", "V", "W", "Watts", "\u{b0}C", "mA", "mV", "mW", "rpm",
];

/// Returns the amount of a number, or why it is unusable or missing.
pub(super) fn amount(number: Option<f64>, printed: &str, unit: &str) -> Amount {
    match number {
        _ if printed == "<not supported>" => Amount::Missing("not supported"),
        _ if printed == "<not counted>" => Amount::Missing("not counted"),
        Some(value) if value >= 0.0 || LEVELS.contains(&unit) => Amount::Value(value),
        Some(_) => Amount::Bad(format!("`{}` is below zero", label(printed))),
        None => Amount::Bad(format!("`{}` is not a number", label(printed))),
    }
}

/// Gives each name once: the second `cycles` is `cycles #2`.
#[derive(Debug, Default)]
struct Names(HashMap<String, u32>);

impl Names {
    fn unique(&mut self, name: &str) -> String {
        let count = self.0.entry(name.to_owned()).or_default();
        *count += 1;
        match *count {
            1 => name.to_owned(),
            count => format!("{name} #{count}"),
        }
    }
}

/// Turns the counters of one execution, or of the mean of several, into findings; a run is
/// noted at line `at`.
pub(super) fn emit(
    block: &mut Block,
    labels: &Labels,
    runs: Option<u32>,
    at: usize,
    counters: Vec<Counter>,
) {
    let runs = runs.filter(|&runs| runs != 1);
    let summed = runs.is_some() || counters.iter().any(|counter| counter.error.is_some());
    multiplexed(block, &counters);
    let mut names = Names::default();
    let mut figures = Vec::new();
    for counter in counters {
        let metric = names.unique(&counter.metric);
        let finding = match counter.amount {
            Amount::Bad(why) => {
                Finding::Doubt("bad-number", format!("{why}; {metric} is left out"))
            }
            Amount::Missing(reason) => Finding::Unsupported {
                labels: labels.clone(),
                metric,
                reason: reason.to_owned(),
            },
            Amount::Value(value) if summed => {
                let figure = Figure::new(metric, value, counter.unit);
                summary(
                    labels,
                    figure,
                    counter.error.map(Spread::StandardError),
                    runs,
                )
            }
            Amount::Value(value) => {
                figures.push(Figure::new(metric, value, counter.unit));
                continue;
            }
        };
        block.find(counter.at, finding);
    }
    block.run(at, labels.clone(), figures);
    block.findings.sort_by_key(|(at, _)| *at);
}

/// Adds a doubt about counters that were multiplexed.
fn multiplexed(block: &mut Block, counters: &[Counter]) {
    let shared = counters.iter().filter_map(|counter| {
        let share = counter.share.filter(|share| *share < 100.0)?;
        matches!(counter.amount, Amount::Value(_)).then_some((counter, share))
    });
    let shared: Vec<(&Counter, f64)> = shared.collect();
    let Some((first, _)) = shared.first() else {
        return;
    };
    let least = shared.iter().fold(100.0_f64, |least, (_, s)| least.min(*s));
    let names = listed(shared.iter().map(|(counter, _)| counter.metric.as_str()));
    let sentence = format!(
        "counted only part of the time (the least {least} %) and scaled up by perf: {names}"
    );
    block.doubt(first.at, "multiplexed-counter", sentence);
}

/// Lists the distinct names, at most eight.
fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut seen = HashSet::new();
    let names: Vec<&str> = names.filter(|name| seen.insert(*name)).collect();
    let mut list = names.get(..8).unwrap_or(&names).join(", ");
    if names.len() > 8 {
        list.push_str(&format!(" and {} more", names.len() - 8));
    }
    list
}

/// Splits counters into executions, if they repeat the same list of metrics as the rows of several
/// executions without headings do.
pub(super) fn executions(counters: Vec<Counter>) -> Vec<Vec<Counter>> {
    let again = |at: &usize| counters[*at].metric == counters[0].metric;
    let period = (1..counters.len()).find(again).unwrap_or_default();
    let metric = |at: usize| &counters[at].metric;
    let regular = period > 0
        && counters.len().is_multiple_of(period)
        && (period..counters.len()).all(|at| metric(at) == metric(at - period));
    match regular {
        true => counters.chunks(period).map(<[Counter]>::to_vec).collect(),
        false => vec![counters],
    }
}

/// One counter over all intervals.
struct Sum {
    first: Counter,
    total: f64,
    counted: u32,
    missing: Option<&'static str>,
    bad: Option<String>,
}

/// Sums each counter over the intervals of one execution.
fn sums(counters: Vec<Counter>) -> Vec<Sum> {
    let mut sums: Vec<Sum> = Vec::new();
    let mut index: HashMap<String, usize> = HashMap::new();
    let mut names = Names::default();
    let mut time = None;
    for mut counter in counters {
        if time != counter.time {
            (time, names) = (counter.time, Names::default());
        }
        counter.metric = names.unique(&counter.metric);
        let at = *index.entry(counter.metric.clone()).or_insert(sums.len());
        if at == sums.len() {
            sums.push(Sum {
                first: counter.clone(),
                total: 0.0,
                counted: 0,
                missing: None,
                bad: None,
            });
        }
        let sum = &mut sums[at];
        match counter.amount {
            Amount::Value(value) => {
                sum.total += value;
                sum.counted += 1;
                let shares = sum.first.share.into_iter().chain(counter.share);
                sum.first.share = shares.reduce(f64::min);
            }
            Amount::Missing(reason) => sum.missing = Some(reason),
            Amount::Bad(why) => sum.bad = Some(why),
        }
    }
    sums
}

/// Adds up the intervals of one execution.
pub(super) fn add_up(block: &mut Block, labels: &Labels, first: usize, counters: Vec<Counter>) {
    let Some(last) = counters.last().cloned() else {
        return;
    };
    let sums = sums(counters);
    let lacking = |sum: &&Sum| sum.counted > 0 && sum.missing.is_some();
    let gaps = || sums.iter().filter(lacking);
    if let Some(first) = gaps().next() {
        let names = listed(gaps().map(|sum| sum.first.metric.as_str()));
        let sentence =
            format!("not counted in some intervals, which are missing from the sum: {names}");
        block.doubt(first.first.at, "not-counted-interval", sentence);
    }
    let mut all = Vec::new();
    for sum in sums {
        let Counter {
            metric, unit, at, ..
        } = &sum.first;
        if LEVELS.contains(&unit.as_str()) && sum.counted > 1 {
            let sentence =
                format!("values in {unit} cannot be summed over intervals; {metric} is left out");
            block.doubt(*at, "not-additive", sentence);
            continue;
        }
        let amount = match (sum.bad, sum.missing) {
            (Some(why), _) => Amount::Bad(why),
            (None, Some(reason)) if sum.counted == 0 => Amount::Missing(reason),
            // Without the dust of binary fractions: perf prints nine decimals at the most.
            _ if sum.total.abs() < 1e6 => Amount::Value((sum.total * 1e9).round() / 1e9),
            _ => Amount::Value(sum.total),
        };
        all.push(Counter {
            amount,
            ..sum.first
        });
    }
    all.push(Counter {
        metric: ELAPSED.to_owned(),
        unit: "s".to_owned(),
        amount: amount(last.time, "", "s"),
        error: None,
        share: None,
        ..last
    });
    emit(block, labels, None, first, all);
}
