//! Decides what the rows and columns of a table are, and extracts its figures.

use std::collections::{BTreeMap, BTreeSet};

use assize_bundle::Spread;

use crate::grammar::block::{Figure, Finding, Labels};
use crate::grammar::cells::{label, summary};
use crate::grammar::grid::{Cell, Grid, Row};
use crate::grammar::units::{is_unit, metric_of, parted};
use crate::options::{Options, Role, SpreadKind};
use crate::states::{are_before_and_after, side};

/// Name used for a metric if nothing names it.
const VALUE: &str = "value";

#[rustfmt::skip]
const CONFIGURATIONS: [&str; 11] = [
    "kernel", "config", "configuration", "version", "patch", "variant", "branch", "policy",
    "governor", "sched", "scheduler",
];
#[rustfmt::skip]
const REPETITIONS: [&str; 10] = [
    "iter", "iteration", "run", "rep", "repetition", "round", "trial", "#", "loop", "sample",
];
#[rustfmt::skip]
const PARAMETERS: [&str; 21] = [
    "threads", "thread", "groups", "clients", "procs", "processes", "tasks", "jobs", "size", "bs",
    "qd", "depth", "iodepth", "connections", "pairs", "cpus", "vcpus", "nodes", "workers",
    "length", "blocksize",
];
/// Words for columns and rows that are computed from others.
#[rustfmt::skip]
const DERIVED: [&str; 31] = [
    "change", "delta", "diff", "difference", "gain", "improvement", "speedup", "ratio",
    "relative", "regression", "reduction", "stddev", "stdev", "std", "sd", "stderr", "variance",
    "cov", "sem", "error", "pct", "percent", "average", "avg", "mean", "median", "geomean",
    "geometric", "total", "\u{3c3}", "\u{3b4}",
];

fn key_is(name: &str, list: &[&str]) -> bool {
    let name = name
        .trim_matches(|c: char| !c.is_alphanumeric() && c != '#')
        .to_lowercase();
    list.contains(&name.as_str())
}

/// Whether a name stands before the number of a run.
pub(in crate::grammar) fn counts_runs(name: &str) -> bool {
    key_is(name, &REPETITIONS)
}

/// Whether a column of this name counts the runs, or holds a parameter of the workload.
pub(super) fn counts_or_sets(name: &str) -> bool {
    counts_runs(name) || key_is(name, &PARAMETERS)
}

fn is_number(name: &str) -> bool {
    name.parse::<f64>().is_ok()
}

/// Words for columns with means, and with standard deviations of runs.
const MEANS: [&str; 3] = ["average", "avg", "mean"];
const DEVIATIONS: [&str; 4] = ["stddev", "stdev", "std", "sd"];

fn has_word(name: &str, words: &[&str]) -> bool {
    let lower = name.to_lowercase();
    let mut all = lower.split(|c: char| !c.is_alphanumeric());
    all.any(|word| words.contains(&word))
}

pub(super) fn is_derived(name: &str) -> bool {
    name.trim() == "%" || has_word(name, &DERIVED)
}

/// Whether a row repeats others: `average of 3`. `CPU average` was measured.
fn repeats_others(label: &str) -> bool {
    let first = label.split_whitespace().next();
    first.is_some_and(is_derived)
}

fn is_mean(name: &str) -> bool {
    has_word(name, &MEANS)
}

/// `3.9_1` is `3.9` and 1; also `base #2`, `base run 2`, `base-run2`.
fn repetition(name: &str) -> Option<(&str, u32)> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = name[stem.len()..]
        .parse()
        .ok()
        .filter(|number| *number < 1000)?;
    let marks = ["_", "#", " run ", "-run", "_run", " run"];
    let stem = marks
        .iter()
        .find_map(|mark| stem.strip_suffix(mark))?
        .trim_end();
    (!stem.is_empty()).then_some((stem, number))
}

/// Whether the names number the runs of two or more configurations, starting at 1: `base_1`,
/// `base_2`, `new_1`, `new_2`. Derived columns are ignored. CPUs and the like count from 0, and
/// amounts, such as numbers of threads, are not runs.
fn number_runs(names: &[String]) -> bool {
    let measured = names.iter().filter(|name| !is_derived(name));
    let runs: Option<Vec<(&str, u32)>> = measured.map(|name| repetition(name)).collect();
    let runs = runs.unwrap_or_default();
    let mut by_name: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for (name, number) in &runs {
        by_name.entry(name).or_default().insert(*number);
    }
    let numbered = |(name, numbers): (&&str, &BTreeSet<u32>)| {
        numbers.len() >= 2 && !numbers.contains(&0) && !key_is(name, &PARAMETERS)
    };
    let distinct = by_name.values().map(BTreeSet::len).sum::<usize>() == runs.len();
    by_name.len() >= 2 && distinct && by_name.iter().all(numbered)
}

/// The roles of rows and columns, and the reason for them.
pub(crate) struct Roles {
    columns: Role,
    rows: Role,
    /// The index of the label or column that names configurations.
    key: Option<usize>,
    /// The columns that alone have figures, if the others are changes between them.
    sides: Vec<usize>,
    /// The declaration; none if there is none.
    pub(crate) because: Option<&'static str>,
}

impl Roles {
    /// Whether rows or columns are configurations.
    pub(crate) fn name_configurations(&self) -> bool {
        self.columns == Role::Configurations || self.rows == Role::Configurations
    }

    /// For `--explain`.
    pub(crate) fn said(&self) -> String {
        let (columns, rows) = (self.columns.word(), self.rows.word());
        let because = self.because.unwrap_or("nothing says it");
        format!("columns are {columns}, rows are {rows} ({because})")
    }
}

impl Grid {
    /// Whether BenchmarkDotNet printed it: `Method | Job | N | Mean | Error | …`. Its columns
    /// before the mean are parameters.
    fn is_of_benchmark_dotnet(&self) -> bool {
        let has = |name: &str| self.columns.iter().any(|column| column == name);
        self.keys.first().is_some_and(|key| key == "Method") && has("Mean") && has("Error")
    }

    /// Whether a column holds parameters of the workload.
    fn is_parameter(&self, column: usize) -> bool {
        let mut before = self.columns[..=column].iter();
        let set = self.is_of_benchmark_dotnet() && before.all(|name| name != "Mean");
        set || key_is(&self.columns[column], &PARAMETERS)
    }

    /// Whether cells compare themselves with those of another column, as pyperf prints them.
    pub(crate) fn compares(&self) -> bool {
        let mut cells = self.rows.iter().flat_map(|row| &row.cells).flatten();
        cells.any(Cell::compares)
    }

    /// Whether the table itself says what is compared.
    pub(crate) fn declares(&self) -> bool {
        let roles = self.declared();
        roles.is_some_and(|roles| roles.name_configurations())
    }

    /// Whether a figure has a `±`.
    pub(crate) fn has_spreads(&self) -> bool {
        let mut cells = self.rows.iter().flat_map(|row| &row.cells).flatten();
        cells.any(|cell| cell.spread.is_some())
    }

    /// The units in which the headers of columns say that they measure.
    pub(crate) fn units_of_columns(&self) -> BTreeSet<&str> {
        let units = self.columns.iter().map(|name| parted(name).1);
        units.filter(|unit| is_unit(unit)).collect()
    }

    /// Decides the roles of rows and columns. Columns in several units are no configurations,
    /// whoever says so.
    pub(crate) fn roles(&self, options: &Options) -> Roles {
        let unnamed = self.rows.iter().all(|row| row.labels.is_empty());
        let mut roles = self.declared().unwrap_or(Roles {
            columns: Role::Metrics,
            rows: match unnamed {
                true => Role::Repetitions,
                false => Role::Workloads,
            },
            key: None,
            sides: Vec::new(),
            because: None,
        });
        if options.transpose {
            std::mem::swap(&mut roles.columns, &mut roles.rows);
        }
        let complement = |role: Role| match role {
            Role::Configurations | Role::Workloads => Role::Metrics,
            Role::Metrics | Role::Repetitions => Role::Configurations,
        };
        if let Some(role) = options.columns_are {
            roles.columns = role;
            roles.rows = match role {
                Role::Configurations | Role::Workloads if unnamed => Role::Repetitions,
                _ if roles.rows == role || roles.columns != Role::Metrics => complement(role),
                _ => roles.rows,
            };
        }
        if let Some(role) = options.rows_are {
            roles.rows = role;
            if options.columns_are.is_none() && roles.columns == role {
                roles.columns = complement(role);
            }
        }
        if options.says_roles() {
            roles.because = Some("the user says so");
        }
        if roles.columns == Role::Configurations && self.units_of_columns().len() > 1 {
            roles.because = None;
        }
        roles
    }

    /// The roles that the table itself declares: its rows or columns number the runs of
    /// configurations, or a column's name says that it holds their names.
    fn declared(&self) -> Option<Roles> {
        let said = |columns, rows, key, because| Roles {
            columns,
            rows,
            key,
            sides: Vec::new(),
            because: Some(because),
        };
        let (configurations, metrics) = (Role::Configurations, Role::Metrics);
        let labels: Vec<String> = self.rows.iter().map(Row::label).collect();
        if self.compares() {
            let because = "cells say how many times faster or slower they are";
            return Some(said(configurations, Role::Workloads, None, because));
        }
        if number_runs(&labels) {
            let because = "the rows number the runs of each name";
            return Some(said(metrics, configurations, None, because));
        }
        if number_runs(&self.columns) && !labels.iter().any(String::is_empty) {
            let because = "the columns number the runs of each name";
            return Some(said(configurations, metrics, None, because));
        }
        if let Some(found) = self.before_and_after(&labels) {
            return Some(found);
        }
        let known: &[&str] = match self.is_of_benchmark_dotnet() {
            true => &["toolchain", "runtime", "job"],
            false => &CONFIGURATIONS,
        };
        let mut fields = self.keys.iter().chain(&self.columns);
        let key = fields.position(|name| key_is(name, known))?;
        // Where each row has changed, none is what the others are compared with.
        let changed = |column: usize| {
            let mut cells = self.rows.iter().map(|row| row.cells[column].as_ref());
            self.holds_changes(column) && cells.all(|one| one.is_some_and(|one| one.value != 0.0))
        };
        if (0..self.columns.len()).any(changed) {
            return None;
        }
        let because = "the key names configurations";
        Some(said(metrics, configurations, Some(key), because))
    }

    /// Whether no two rows have the same labels and parameters.
    fn rows_differ(&self) -> bool {
        let set = |at: &usize| self.is_parameter(*at);
        let set: Vec<usize> = (0..self.columns.len()).filter(set).collect();
        let mut met = BTreeSet::new();
        self.rows.iter().all(|row| {
            let cells = set
                .iter()
                .map(|at| row.cells[*at].as_ref().map(|cell| &cell.text));
            met.insert((&row.labels, cells.collect::<Vec<_>>()))
        })
    }

    /// Columns or rows that are named for the state before a change and after it, or two columns of
    /// which another is the change. Beside such columns a row is a workload if all figures are
    /// times or have one unit, else a metric.
    fn before_and_after(&self, labels: &[String]) -> Option<Roles> {
        let all: Vec<usize> = (0..self.columns.len()).collect();
        let (figures, others): (Vec<usize>, Vec<usize>) = all
            .iter()
            .partition(|at| side(&self.columns[**at]).is_some());
        let name = |at: &usize| self.columns[*at].as_str();
        let named = are_before_and_after(&figures.iter().map(name).collect::<Vec<_>>());
        let set = |at: &usize| key_is(&self.columns[*at], &PARAMETERS);
        let by_name = named && others.iter().all(|at| self.is_change(*at) || set(at));
        let is_set = others.iter().any(set);
        let sides = match by_name {
            true => Some(figures),
            false => self.recomputed().map(|sides| sides.to_vec()),
        };
        let lettered = |label: &String| label.contains(char::is_alphanumeric);
        let named = is_set || labels.iter().all(lettered);
        if let Some(sides) = sides.filter(|_| named && self.rows_differ()) {
            let cells = self
                .rows
                .iter()
                .flat_map(|row| sides.iter().map(|at| &row.cells[*at]));
            let measured: BTreeSet<&str> =
                cells.flatten().map(|cell| metric_of(&cell.unit)).collect();
            let one = measured.len() == 1 && !measured.contains("");
            return Some(Roles {
                columns: Role::Configurations,
                rows: if one { Role::Workloads } else { Role::Metrics },
                key: None,
                sides,
                because: Some(match by_name {
                    true => "the columns are named for before and after a change",
                    false => "a column is the change from one column to another",
                }),
            });
        }
        let rows = labels.iter().filter(|name| !repeats_others(name));
        let rows: Vec<&String> = rows.collect();
        let sizes = self.columns.iter().all(|name| is_number(name));
        are_before_and_after(&rows).then_some(Roles {
            // `M | 1 | 2 | 4`: the columns are parameters.
            columns: if sizes {
                Role::Workloads
            } else {
                Role::Metrics
            },
            rows: Role::Configurations,
            key: None,
            sides: Vec::new(),
            because: Some("the rows are named for before and after a change"),
        })
    }

    /// Returns the findings, each with its line in the block; figures of one run together.
    pub(crate) fn findings(&self, roles: &Roles, options: &Options) -> Vec<(usize, Finding)> {
        let mut all: Vec<(usize, Labels, Vec<Figure>)> = Vec::new();
        let mut means = Vec::new();
        for (number, row) in (1..).zip(&self.rows) {
            if repeats_others(&row.label()) && self.rows.len() > 1 {
                continue;
            }
            let mut sum: Vec<Figure> = Vec::new();
            for (column, cell) in row.cells.iter().enumerate() {
                let Some(cell) = cell.as_ref().filter(|_| self.is_measured(column, roles)) else {
                    continue;
                };
                let (labels, mut metric, named) = self.place(roles, row, number, column);
                if metric == VALUE && !cell.unit.is_empty() {
                    metric = metric_of(&cell.unit).to_owned();
                }
                let unit = if cell.unit.is_empty() {
                    named
                } else {
                    cell.unit.clone()
                };
                let mut figure = Figure::new(metric, cell.value, unit);
                figure.step = cell.step;
                if self.is_numbered(column) {
                    sum.push(figure.clone());
                }
                if self.compares() {
                    let n = options.runs_behind;
                    means.push((row.at, summary(&labels, figure, None, n)));
                    continue;
                }
                if let Some(spread) = cell.spread {
                    means.push((row.at, mean(labels, figure, spread, options)));
                    continue;
                }
                if is_mean(&self.columns[column]) {
                    means.push((row.at, self.mean_beside_deviation(row, labels, figure)));
                    continue;
                }
                add(&mut all, row.at, labels, figure);
            }
            if sum.len() >= 2 && roles.columns == Role::Metrics && roles.because.is_some() {
                let (labels, ..) = self.place(roles, row, number, 0);
                add(&mut all, row.at, labels, total(&sum, self.keys.first()));
            }
        }
        let runs = all
            .into_iter()
            .map(|(at, labels, figures)| (at, Finding::Run { labels, figures }));
        runs.chain(means).collect()
    }

    /// Whether a column has figures that were measured. A mean is derived from the figures beside
    /// it; if there are none, it is what the table shows.
    fn is_measured(&self, column: usize, roles: &Roles) -> bool {
        if !roles.sides.is_empty() {
            return roles.sides.contains(&column);
        }
        if self.is_of_benchmark_dotnet() {
            return ["Mean", "Allocated"].contains(&self.columns[column].as_str());
        }
        let is_value = |column: usize| {
            let name = &self.columns[column];
            let key = roles.key.is_some_and(|key| key == self.keys.len() + column);
            let derived = is_derived(name) || self.holds_changes(column);
            !key && !counts_or_sets(name) && !derived
        };
        let shows_means = || !(0..self.columns.len()).any(is_value);
        is_value(column) || is_mean(&self.columns[column]) && shows_means()
    }

    /// A mean, with the standard deviation of its row and the `n=10` of its label, if there is one.
    fn mean_beside_deviation(&self, row: &Row, labels: Labels, figure: Figure) -> Finding {
        let columns = || self.columns.iter().zip(&row.cells);
        let means = columns().filter(|(name, _)| is_mean(name)).count();
        let mut deviations = columns().filter(|(name, _)| has_word(name, &DEVIATIONS));
        let deviation = deviations.next().and_then(|(_, cell)| cell.as_ref());
        let spread = deviation.filter(|cell| means == 1 && cell.unit != "%");
        let label = row.label();
        let n = label.split_once("(n=").map(|(_, rest)| {
            let end = rest.find(|c: char| !c.is_ascii_digit());
            rest[..end.unwrap_or(rest.len())].parse().ok()
        });
        Finding::Summary {
            labels,
            figure,
            spread: spread.map(|cell| Spread::StandardDeviation(cell.value)),
            n: n.flatten(),
        }
    }

    /// Whether a column is one of several that are numbered: `cpu 0`, `cpu 1`.
    fn is_numbered(&self, column: usize) -> bool {
        let stem = |at: usize| {
            let (stem, number) = self.columns[at].rsplit_once(' ')?;
            number.parse::<u32>().ok().map(|_| stem)
        };
        let own = stem(column);
        own.is_some() && (0..self.columns.len()).any(|at| at != column && stem(at) == own)
    }

    /// Returns the name of a row, and the other labels before its figures.
    fn named(&self, roles: &Roles, row: &Row) -> (String, Vec<String>) {
        match roles.key {
            Some(key) if key < row.labels.len() && self.keys.len() == row.labels.len() => {
                let mut rest = row.labels.clone();
                (rest.remove(key), rest)
            }
            Some(key) if key >= self.keys.len() => {
                let cell = row.cells[key - self.keys.len()].as_ref();
                let own = cell.map_or(String::new(), |cell| cell.text.clone());
                (own, row.labels.clone())
            }
            _ => (row.label(), Vec::new()),
        }
    }

    /// Returns the labels, metric and unit of a figure.
    fn place(
        &self,
        roles: &Roles,
        row: &Row,
        number: u32,
        column: usize,
    ) -> (Labels, String, String) {
        let mut labels = Labels::default();
        let mut metric = None;
        let (own, mut workload) = self.named(roles, row);
        let sides = [
            (roles.columns, &self.columns[column], column as u32 + 1),
            (roles.rows, &own, number),
        ];
        for (role, name, number) in sides {
            match role {
                Role::Configurations => {
                    let numbered = repetition(name).filter(|_| roles.key.is_none());
                    labels.configuration =
                        Some(label(numbered.map_or(name.as_str(), |(stem, _)| stem)));
                    labels.repetition = numbered.map(|(_, number)| number).or(labels.repetition);
                }
                Role::Workloads if is_number(name) && !self.keys.is_empty() => {
                    workload.push(format!("{}={name}", self.keys.join(" ")));
                }
                Role::Workloads => workload.push(name.clone()),
                Role::Metrics => metric = Some(name.clone()),
                Role::Repetitions => labels.repetition = Some(number),
            }
        }
        for (at, (name, cell)) in self.columns.iter().zip(&row.cells).enumerate() {
            let Some(cell) = cell else { continue };
            if self.is_parameter(at) {
                workload.push(format!("{name}={}", cell.text));
            } else if key_is(name, &REPETITIONS) {
                labels.repetition = Some(cell.value as u32);
            }
        }
        workload.retain(|part| !part.is_empty());
        labels.workload = (!workload.is_empty()).then(|| label(&workload.join(" ")));
        let metric = metric
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| VALUE.to_owned());
        // Before names that are numbered stands what all of them measure: `busy % cpu 0 cpu 1`.
        let shared = self.keys.first().filter(|_| self.is_numbered(column));
        if let Some(what) = shared.and_then(|key| key.strip_suffix('%')) {
            let metric = format!("{} {metric}", what.trim_end());
            return (labels, label(metric.trim_start()), "%".to_owned());
        }
        // `size (stage 1)` is not measured in stages.
        match parted(&metric) {
            (name, unit) if is_unit(unit) => (labels, label(name), unit.to_owned()),
            _ => (labels, label(&metric), String::new()),
        }
    }
}

/// Adds a figure to its run, or to a new one if the run already has that metric.
fn add(all: &mut Vec<(usize, Labels, Vec<Figure>)>, at: usize, labels: Labels, figure: Figure) {
    let fits = |(_, own, figures): &&mut (usize, Labels, Vec<Figure>)| {
        *own == labels && figures.iter().all(|other| other.metric != figure.metric)
    };
    match all.iter_mut().rev().take(64).find(fits) {
        Some((.., figures)) => figures.push(figure),
        None => all.push((at, labels, vec![figure])),
    }
}

/// The sum of figures that are numbered.
fn total(parts: &[Figure], corner: Option<&String>) -> Figure {
    let sum: f64 = parts.iter().map(|part| part.value).sum();
    let corner = corner.map_or("", |corner| corner.trim_end_matches(['%', ' ']));
    let name = format!("{corner} total");
    Figure::new(
        name.trim(),
        (sum * 1e9).round() / 1e9,
        parts[0].unit.clone(),
    )
}

/// A mean with a `±`, which is taken for a standard error if the user does not name it.
fn mean(labels: Labels, figure: Figure, spread: f64, options: &Options) -> Finding {
    let spread = match options.spread {
        // Where it stands in percent, it was made absolute when it was read.
        Some(SpreadKind::Cv) => Spread::StandardDeviation(spread),
        kind => kind.unwrap_or(SpreadKind::Se).spread(spread, figure.value),
    };
    Finding::Summary {
        labels,
        figure,
        spread: Some(spread),
        n: options.runs_behind,
    }
}
