//! Figures that were set and not measured: they are read, and never compared.
//!
//! How long `sleep 5` takes is what it was told, the last time stamp of
//! `perf stat -I` is when its last interval ended, and a number of iterations that is
//! the same under all configurations was asked for.

use std::collections::{BTreeMap, BTreeSet};

use super::{Item, statements};
use crate::grammar::perf_stat::{ELAPSED, INTERVAL};
use crate::grammar::{Figure, Finding};

/// The items with figures that were set as statements of their own.
pub(super) fn stated(items: Vec<Item>) -> Vec<Item> {
    let counts = counts(&items);
    let mut all = Vec::with_capacity(items.len());
    for item in items {
        let is_given = |metric: &str| {
            waits(&item, metric) || is_time_stamp(&item, metric) || counts.contains(metric)
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

/// Metrics that are called by how often or for how long something was to be done, or might
/// take, and are one whole number wherever a message has them.
fn counts(items: &[Item]) -> BTreeSet<String> {
    const COUNTS: [&str; 12] = [
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
    ];
    let mut met: BTreeMap<&str, (f64, usize, bool)> = BTreeMap::new();
    for item in items {
        let Finding::Run { figures, .. } = &item.finding else {
            continue;
        };
        for figure in figures {
            let lower = figure.metric.to_lowercase();
            let words = lower.rsplit(|c: char| !c.is_alphanumeric());
            let mut words = words.filter(|word| !word.is_empty());
            // `Timeout per run is`
            let given = words.clone().any(|word| word == "timeout")
                || words.next().is_some_and(|last| COUNTS.contains(&last));
            if given {
                let (value, count, same) =
                    met.entry(&figure.metric).or_insert((figure.value, 0, true));
                *count += 1;
                *same &= *value == figure.value;
            }
        }
    }
    let given = met
        .into_iter()
        .filter(|(_, (value, count, same))| *same && *count >= 2 && value.fract() == 0.0);
    given.map(|(metric, _)| metric.to_owned()).collect()
}
