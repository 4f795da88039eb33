//! Figures that were set and not measured: they are read, and never compared.
//!
//! How long `sleep 5` takes is what it was told, the last time stamp of
//! `perf stat -I` is when its last interval ended, and a number of iterations that is
//! the same under all configurations was asked for. When something began and ended is no
//! result, and neither is how many samples there were.

use std::collections::{BTreeMap, BTreeSet};

use super::{Item, statements};
use crate::grammar::perf_stat::{ELAPSED, INTERVAL};
use crate::grammar::quantity::is_time;
use crate::grammar::{Figure, Finding};

/// The items with figures that were set as statements of their own.
pub(super) fn stated(items: Vec<Item>) -> Vec<Item> {
    let mut set = counts(&items);
    set.extend(moments(&items));
    set.extend(unequal_lengths(&items));
    set.extend(counters(&items));
    let mut all = Vec::with_capacity(items.len());
    for item in items {
        let is_given = |metric: &str| {
            waits(&item, metric)
                || is_time_stamp(&item, metric)
                || set.contains(metric)
                || metric.eq_ignore_ascii_case("samples")
        };
        match &item.finding {
            Finding::Run { labels, figures }
                if figures.iter().any(|figure| is_given(&figure.metric)) =>
            {
                let given = |figure: &&Figure| is_given(&figure.metric);
                let (given, measured): (Vec<&Figure>, Vec<&Figure>) =
                    figures.iter().partition(given);
                let run = |figures: Vec<&Figure>| Item {
                    finding: Finding::Run {
                        labels: labels.clone(),
                        figures: figures.into_iter().cloned().collect(),
                    },
                    ..item.clone()
                };
                if !measured.is_empty() {
                    all.push(run(measured));
                }
                all.extend(statements(run(given)));
            }
            Finding::Summary { figure, .. } if is_given(&figure.metric) => {
                all.extend(statements(item));
            }
            _ => all.push(item),
        }
    }
    all
}

/// Whether it is the time of a program that only waits.
fn waits(item: &Item, metric: &str) -> bool {
    const TIMES: [&str; 5] = [ELAPSED, "user", "sys", "real", "time"];
    let workload = item.workload_name.as_deref().unwrap_or_default();
    workload.split_whitespace().next() == Some("sleep") && TIMES.contains(&metric)
}

/// Whether it is the time stamp of the last interval.
fn is_time_stamp(item: &Item, metric: &str) -> bool {
    item.format == INTERVAL && metric == ELAPSED
}

/// The figures of all runs of some items.
fn measured<'i>(items: impl IntoIterator<Item = &'i Item>) -> impl Iterator<Item = &'i Figure> {
    let runs = items.into_iter().filter_map(|item| match &item.finding {
        Finding::Run { figures, .. } => Some(figures),
        _ => None,
    });
    runs.flatten()
}

/// The words of a name, the last first.
fn from_the_last(name: &str) -> impl Iterator<Item = &str> {
    let words = name.rsplit(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty())
}

/// Counters of a network card, which go on for as long as the card is up: large whole numbers
/// that are called `RX-packets` or `tx_bytes`, and errors, however few. A rate may be called so
/// too.
fn counters(items: &[Item]) -> BTreeSet<String> {
    const COUNTED: [&str; 5] = ["packets", "bytes", "errors", "dropped", "missed"];
    const LARGE: f64 = 1e6;
    let called = |metric: &str| {
        let lower = metric.to_lowercase();
        let mut words = from_the_last(&lower);
        let counted = words.next().unwrap_or_default();
        COUNTED.contains(&counted) && matches!(words.next(), Some("rx" | "tx"))
    };
    // Whether all of them are whole, and the largest.
    let mut met: BTreeMap<&str, (bool, f64)> = BTreeMap::new();
    for figure in measured(items).filter(|figure| called(&figure.metric)) {
        let (whole, largest) = met.entry(&figure.metric).or_insert((true, 0.0));
        *whole &= figure.unit.is_empty() && figure.value.fract() == 0.0;
        *largest = largest.max(figure.value);
    }
    let counted = |metric: &str, largest: f64| largest >= LARGE || metric.ends_with("errors");
    met.into_iter()
        .filter(|(metric, (whole, largest))| *whole && counted(metric, *largest))
        .map(|(metric, _)| metric.to_owned())
        .collect()
}

/// Metrics of when something began or ended, if both were noted: `parse start`, `parse end`.
fn moments(items: &[Item]) -> BTreeSet<String> {
    let timed = measured(items).filter(|figure| is_time(&figure.unit));
    let names: BTreeSet<&str> = timed.map(|figure| figure.metric.as_str()).collect();
    let pairs = names.iter().filter_map(|start| {
        let end = format!("{}end", start.strip_suffix("start")?);
        names
            .contains(end.as_str())
            .then(|| [(*start).to_owned(), end])
    });
    pairs.flatten().collect()
}

/// How long jobs of fio went on, and how much they did, if they were told to go on for times
/// that are not the same.
fn unequal_lengths(items: &[Item]) -> BTreeSet<String> {
    let mut lengths: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let jobs = items.iter().filter(|item| item.format == "fio");
    for figure in measured(jobs) {
        if let Some(direction) = figure.metric.strip_suffix(" run") {
            let scale = match figure.unit.as_str() {
                "usec" => 1e6,
                "msec" => 1e3,
                _ => 1.0,
            };
            let all = lengths.entry(direction).or_default();
            all.push(figure.value / scale);
        }
    }
    let unequal = |lengths: &[f64]| {
        let most = lengths.iter().copied().fold(f64::MIN, f64::max);
        let least = lengths.iter().copied().fold(f64::MAX, f64::min);
        lengths.iter().all(|length| was_given(*length)) && most - least >= 1.0
    };
    let unequal = lengths.into_iter().filter(|(_, all)| unequal(all));
    unequal
        .flat_map(|(direction, _)| ["run", "io"].map(|what| format!("{direction} {what}")))
        .collect()
}

/// Whether a job went on for whole seconds, and the few milliseconds that it takes to end.
fn was_given(seconds: f64) -> bool {
    let over = seconds - seconds.floor();
    seconds >= 5.0 && over <= 0.001 * seconds.min(100.0)
}

/// Metrics that are called by how often or for how long something was to be done, or might
/// take, and are one whole number wherever a message has them.
fn counts(items: &[Item]) -> BTreeSet<String> {
    const COUNTS: [&str; 13] = [
        "n",
        "runs",
        "iterations",
        "iters",
        "loops",
        "repetitions",
        "repeats",
        "samples",
        "runtime",
        "duration",
        "threads",
        "jobs",
        // What a network card says of its link.
        "speed",
    ];
    let mut met: BTreeMap<&str, (f64, usize, bool)> = BTreeMap::new();
    for figure in measured(items) {
        let lower = figure.metric.to_lowercase();
        // `Timeout per run is`
        let given = from_the_last(&lower).any(|word| word == "timeout")
            || from_the_last(&lower)
                .next()
                .is_some_and(|last| COUNTS.contains(&last));
        if given {
            let (value, count, same) = met.entry(&figure.metric).or_insert((figure.value, 0, true));
            *count += 1;
            *same &= *value == figure.value;
        }
    }
    let given = met
        .into_iter()
        .filter(|(_, (value, count, same))| *same && *count >= 2 && value.fract() == 0.0);
    given.map(|(metric, _)| metric.to_owned()).collect()
}
