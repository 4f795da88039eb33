//! From what was read to findings, the same for all four formats.

use std::collections::HashSet;

use assize_bundle::Spread;

use super::{event, token};
use crate::grammar::{Block, Figure, Finding, Labels};
use crate::printed;

/// What the value column gave.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Amount {
    /// A number that can be used.
    Value(f64),
    /// A token that is not, and why.
    Bad(String),
    /// `not supported` or `not counted`.
    Missing(&'static str),
}

/// How uncertain the value is.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum Noise {
    /// Not printed.
    #[default]
    None,
    /// Standard error of the mean in percent of the mean.
    Percent(f64),
    /// Standard error of the mean.
    Absolute(f64),
    /// A token that is no number.
    Bad(String),
}

impl Noise {
    /// From a printed percentage.
    pub(super) fn percent(token: &str) -> Noise {
        match token::plain_decimal(token) {
            Some(percent) if percent >= 0.0 => Noise::Percent(printed::spread(percent, token)),
            _ => Noise::Bad(token::shown(token)),
        }
    }

    /// From a printed standard error.
    pub(super) fn absolute(token: &str) -> Noise {
        match token::plain_decimal(token) {
            Some(error) if error >= 0.0 => Noise::Absolute(printed::spread(error, token)),
            _ => Noise::Bad(token::shown(token)),
        }
    }

    fn spread(&self, mean: f64) -> Option<Spread> {
        let error = match self {
            Noise::Percent(percent) => mean.abs() * percent / 100.0,
            Noise::Absolute(error) => *error,
            Noise::None | Noise::Bad(_) => return None,
        };
        error.is_finite().then_some(Spread::StandardError(error))
    }
}

/// One counter, or one of the times.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reading {
    /// Its line in the block.
    pub(super) at: usize,
    /// Its name.
    pub(super) metric: String,
    /// Its unit.
    pub(super) unit: String,
    /// Its value.
    pub(super) amount: Amount,
    /// Its uncertainty.
    pub(super) noise: Noise,
    /// Percentage of the time in which it was counted.
    pub(super) share: Option<f64>,
}

/// A number that a counter can have, or why it is not one.
pub(super) fn amount(number: Option<f64>, printed: &str, unit: &str) -> Amount {
    match number {
        Some(value) if value >= 0.0 || event::may_be_negative(unit) => Amount::Value(value),
        Some(_) => Amount::Bad(format!("`{}` is below zero", token::shown(printed))),
        None => Amount::Bad(format!("`{}` is not a number", token::shown(printed))),
    }
}

/// Gives each name once: the second `cycles` is `cycles #2`.
#[derive(Debug, Default)]
pub(super) struct Names {
    seen: HashSet<String>,
    counts: std::collections::HashMap<String, u32>,
}

impl Names {
    /// The name to use for the next `name`.
    pub(super) fn unique(&mut self, name: &str) -> String {
        if self.seen.insert(name.to_owned()) {
            return name.to_owned();
        }
        let count = self.counts.entry(name.to_owned()).or_insert(1);
        loop {
            *count += 1;
            let numbered = format!("{name} #{count}");
            if self.seen.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

/// Turns the readings of one execution (or of the mean of several) into
/// findings. `at` is the line that a run is noted at.
pub(super) fn emit(
    block: &mut Block,
    labels: &Labels,
    runs: Option<u32>,
    at: usize,
    readings: Vec<Reading>,
) {
    let runs = runs.filter(|&runs| runs != 1);
    let summary = runs.is_some() || readings.iter().any(|r| r.noise != Noise::None);
    multiplexed(block, &readings);
    let mut names = Names::default();
    let mut figures = Vec::new();
    for reading in readings {
        let metric = names.unique(&reading.metric);
        let value = match reading.amount {
            Amount::Value(value) => value,
            Amount::Bad(why) => {
                bad_number(block, reading.at, &metric, &why);
                continue;
            }
            Amount::Missing(reason) => {
                unsupported(block, reading.at, labels, metric, reason);
                continue;
            }
        };
        if let Noise::Bad(token) = &reading.noise {
            let sentence = format!("the uncertainty `{token}` of {metric} is not a number");
            block.find(reading.at, Finding::Doubt("bad-number", sentence));
        }
        let figure = Figure::new(metric, value, reading.unit);
        if !summary {
            figures.push(figure);
            continue;
        }
        let finding = Finding::Summary {
            labels: labels.clone(),
            spread: reading.noise.spread(value),
            figure,
            n: runs,
        };
        block.find(reading.at, finding);
    }
    if !figures.is_empty() {
        run(block, at, labels, figures);
    }
}

/// Notes one execution.
pub(super) fn run(block: &mut Block, at: usize, labels: &Labels, figures: Vec<Figure>) {
    let labels = labels.clone();
    block.find(at, Finding::Run { labels, figures });
}

/// Notes that a figure is not used.
pub(super) fn bad_number(block: &mut Block, at: usize, metric: &str, why: &str) {
    let sentence = format!("{why}; {metric} is left out");
    block.find(at, Finding::Doubt("bad-number", sentence));
}

/// Notes a counter that gave no number.
pub(super) fn unsupported(
    block: &mut Block,
    at: usize,
    labels: &Labels,
    metric: String,
    reason: &str,
) {
    let finding = Finding::Unsupported {
        labels: labels.clone(),
        metric,
        reason: reason.to_owned(),
    };
    block.find(at, finding);
}

/// Doubts the counters that shared a hardware counter with others.
fn multiplexed(block: &mut Block, readings: &[Reading]) {
    let shared: Vec<(&Reading, f64)> = readings
        .iter()
        .filter(|reading| matches!(reading.amount, Amount::Value(_)))
        .filter_map(|reading| reading.share.map(|share| (reading, share)))
        .filter(|&(_, share)| share < 100.0)
        .collect();
    let Some((first, _)) = shared.first() else {
        return;
    };
    let smallest = shared.iter().fold(100.0_f64, |least, (_, s)| least.min(*s));
    let names = listed(shared.iter().map(|(reading, _)| reading.metric.as_str()));
    let sentence = format!(
        "counted only part of the time (the least {smallest} %) and scaled up by perf: {names}"
    );
    block.find(first.at, Finding::Doubt("multiplexed-counter", sentence));
}

/// The different names, eight at the most.
pub(super) fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut seen = HashSet::new();
    let names: Vec<&str> = names.filter(|name| seen.insert(*name)).collect();
    let mut list = names.get(..8).unwrap_or(&names).join(", ");
    if names.len() > 8 {
        list.push_str(&format!(" and {} more", names.len() - 8));
    }
    list
}

/// Puts the findings in the order of their lines.
pub(super) fn sort(block: &mut Block) {
    block.findings.sort_by_key(|&(at, _)| at);
}

/// Parts readings that repeat the same list of metrics over and over, as the
/// rows of several executions without headings do.
pub(super) fn periods(readings: Vec<Reading>) -> Vec<Vec<Reading>> {
    let period = readings
        .iter()
        .skip(1)
        .position(|reading| Some(&reading.metric) == readings.first().map(|r| &r.metric))
        .map_or(readings.len(), |at| at + 1);
    let regular = period > 0
        && readings.len().is_multiple_of(period)
        && readings
            .iter()
            .zip(readings.iter().skip(period))
            .all(|(one, next)| one.metric == next.metric);
    if !regular {
        return vec![readings];
    }
    let mut periods: Vec<Vec<Reading>> = Vec::new();
    for (at, reading) in readings.into_iter().enumerate() {
        if at.is_multiple_of(period) {
            periods.push(Vec::with_capacity(period));
        }
        if let Some(last) = periods.last_mut() {
            last.push(reading);
        }
    }
    periods
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(metric: &str) -> Reading {
        Reading {
            at: 0,
            metric: metric.to_owned(),
            unit: String::new(),
            amount: Amount::Value(1.0),
            noise: Noise::None,
            share: None,
        }
    }

    #[test]
    fn a_name_is_given_only_once() {
        let mut names = Names::default();
        let got: Vec<_> = ["a", "a #2", "a", "a", "b"].map(|n| names.unique(n)).into();
        assert_eq!(got, ["a", "a #2", "a #3", "a #4", "b"]);
    }

    #[test]
    fn regular_repetitions_are_several_executions() {
        let of = |names: &[&str]| -> Vec<usize> {
            let readings = names.iter().map(|name| reading(name)).collect();
            periods(readings).iter().map(Vec::len).collect()
        };
        assert_eq!(of(&["a", "b", "a", "b"]), [2, 2]);
        assert_eq!(of(&["a", "b", "c"]), [3]);
        assert_eq!(of(&["a", "b", "a"]), [3]);
        assert_eq!(of(&["a", "a", "b"]), [3]);
        assert_eq!(of(&[]), [0]);
    }
}
