//! Runs that repeat another run's figures to the last digit.

use std::collections::BTreeMap;

use super::{first_names, lint};
use crate::cells::Cells;
use crate::document::Lint;

/// Equal values with fewer digits are coincidence.
const FEW_DIGITS: usize = 3;
/// With this many digits, three equal values are suspicious in a run of many
/// metrics.
const MANY_DIGITS: usize = 5;

/// With more repetitions of a cell than this, pairs are not compared.
const MANY_RUNS: usize = 100;

/// The distribution of one metric's values on one workload over its runs.
struct ValueDistribution {
    /// Digits after the point in the most precise value.
    decimals: usize,
    /// The number of runs in which each value occurs, keyed by its bits.
    occurrences: BTreeMap<u64, usize>,
    runs: usize,
}

type ValueDistributions = BTreeMap<(usize, usize), ValueDistribution>;

/// Lints for repetitions of one configuration that share too many values, one
/// per pair of repetitions.
pub(super) fn repetitions(cells: &Cells<'_>) -> Vec<Lint> {
    let columns = columns(cells);
    let runs = metrics_by_run(cells);
    let mut found: BTreeMap<(usize, u32, u32), Vec<SharedMetrics<'_>>> = BTreeMap::new();
    for (i, j) in pairs_of_repetitions(cells) {
        let workload = cells.run_places[i].0;
        let shared = shared(&columns, workload, &runs[i], &runs[j]);
        let common = runs[i].keys().filter(|m| runs[j].contains_key(m)).count();
        let precise = shared.iter().filter(|s| s.1 >= MANY_DIGITS).count();
        let many = shared.len() >= 2 && 5 * shared.len() >= 2 * common;
        if !many && precise < 3 {
            continue;
        }
        let metrics: Vec<usize> = shared.iter().map(|s| s.0).collect();
        let run = |i: usize| &cells.records.runs[i];
        let key = (cells.run_places[i].1, run(i).repetition, run(j).repetition);
        let repeats = found.entry(key).or_default();
        let name = cells.workloads[workload].as_str();
        match repeats.iter_mut().find(|r| r.metrics == metrics) {
            Some(repeat) => repeat.workloads.push(name),
            None => repeats.push(SharedMetrics {
                metrics,
                workloads: vec![name],
            }),
        }
    }
    found
        .into_iter()
        .map(|((configuration, first, second), repeats)| {
            let lines: Vec<String> = repeats.iter().map(|r| r.line(cells)).collect();
            lint(
                "duplicate-rows",
                format!(
                    "{}, runs {first} and {second}",
                    cells.configurations[configuration]
                ),
                format!("identical to the last digit: {}", lines.join("; ")),
            )
        })
        .collect()
}

/// Metrics that two runs share, and the workloads on which they do.
struct SharedMetrics<'c> {
    metrics: Vec<usize>,
    workloads: Vec<&'c str>,
}

impl SharedMetrics<'_> {
    fn line(&self, cells: &Cells<'_>) -> String {
        let name = |&metric: &usize| cells.metrics[metric].name.as_str();
        let names: Vec<&str> = self.metrics.iter().map(name).collect();
        format!(
            "{} on {}",
            first_names(&names, 6),
            first_names(&self.workloads, 6)
        )
    }
}

/// Lints for runs of different configurations or workloads that are identical in
/// every metric.
pub(super) fn whole_runs(cells: &Cells<'_>) -> Vec<Lint> {
    let columns = columns(cells);
    let mut seen: BTreeMap<Vec<(usize, u64)>, usize> = BTreeMap::new();
    let mut lints = Vec::new();
    for (i, metrics) in metrics_by_run(cells).iter().enumerate() {
        let (workload, configuration) = cells.run_places[i];
        if scheduled(cells, i) {
            continue;
        }
        let telling = metrics.iter().filter(|&(&metric, &value)| {
            let column = &columns[&(workload, metric)];
            digits(value, column.decimals) >= FEW_DIGITS && column.is_rare(value)
        });
        if telling.count() < 2 {
            continue;
        }
        let print: Vec<(usize, u64)> = metrics.iter().map(|(&m, v)| (m, v.to_bits())).collect();
        let first = *seen.entry(print).or_insert(i);
        if cells.run_places[first] == (workload, configuration) {
            continue;
        }
        let named = |run: usize| {
            let (workload, configuration) = cells.run_places[run];
            format!(
                "{} on {}, run {}",
                cells.configurations[configuration],
                cells.workloads[workload],
                cells.records.runs[run].repetition
            )
        };
        lints.push(lint(
            "duplicate-rows",
            format!("{}; {}", named(first), named(i)),
            format!(
                "all {} metrics are identical to the last digit",
                metrics.len()
            ),
        ));
    }
    lints
}

impl ValueDistribution {
    /// Whether a value is rare enough for its repetition to be suspicious.
    fn is_rare(&self, value: f64) -> bool {
        let times = self.occurrences.get(&value.to_bits()).copied().unwrap_or(0);
        times < self.runs && (self.runs <= 3 || 2 * times <= self.runs)
    }
}

fn columns(cells: &Cells<'_>) -> ValueDistributions {
    let mut columns = ValueDistributions::new();
    for (key, cell) in cells.iter() {
        let column = columns
            .entry((key.workload, key.metric))
            .or_insert_with(|| ValueDistribution {
                decimals: 0,
                occurrences: BTreeMap::new(),
                runs: 0,
            });
        for reading in &cell.runs {
            column.decimals = column.decimals.max(decimals(reading.value));
            *column
                .occurrences
                .entry(reading.value.to_bits())
                .or_default() += 1;
            column.runs += 1;
        }
    }
    columns
}

fn metrics_by_run(cells: &Cells<'_>) -> Vec<BTreeMap<usize, f64>> {
    let mut runs = vec![BTreeMap::new(); cells.records.runs.len()];
    for (key, cell) in cells.iter() {
        for reading in &cell.runs {
            runs[reading.run].insert(key.metric, reading.value);
        }
    }
    runs
}

/// Whether assize recorded the run. Then it was not pasted twice, and equal figures on the exact
/// target only mean that nothing has changed.
fn scheduled(cells: &Cells<'_>, run: usize) -> bool {
    cells.records.runs[run].block.is_some()
}

fn pairs_of_repetitions(cells: &Cells<'_>) -> Vec<(usize, usize)> {
    let mut by_place: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (run, &place) in cells.run_places.iter().enumerate() {
        if scheduled(cells, run) {
            continue;
        }
        by_place.entry(place).or_default().push(run);
    }
    let mut pairs = Vec::new();
    // With hundreds of repetitions, equal figures are expected, and pairs are too many to compare.
    for runs in by_place.values().filter(|runs| runs.len() <= MANY_RUNS) {
        for (at, &i) in runs.iter().enumerate() {
            pairs.extend(runs[at + 1..].iter().map(|&j| (i, j)));
        }
    }
    pairs
}

/// Metrics whose equal values are suspicious, with their digits.
fn shared(
    columns: &ValueDistributions,
    workload: usize,
    a: &BTreeMap<usize, f64>,
    b: &BTreeMap<usize, f64>,
) -> Vec<(usize, usize)> {
    a.iter()
        .filter(|&(metric, value)| b.get(metric) == Some(value))
        .filter_map(|(&metric, &value)| {
            let column = columns.get(&(workload, metric))?;
            let digits = digits(value, column.decimals);
            (digits >= FEW_DIGITS && column.is_rare(value)).then_some((metric, digits))
        })
        .collect()
}

/// Digits after the point.
fn decimals(value: f64) -> usize {
    let text = value.to_string();
    text.split_once('.').map_or(0, |(_, after)| after.len())
}

/// Significant digits of a value printed with this many decimals.
fn digits(value: f64, decimals: usize) -> usize {
    let text = format!("{value:.decimals$}");
    text.chars()
        .filter(char::is_ascii_digit)
        .skip_while(|&c| c == '0')
        .count()
}
