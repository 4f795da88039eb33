//! Decides what the rows and columns of a table are.

use std::collections::{BTreeMap, BTreeSet};

use crate::grammar::grid::{Cell, Grid, Row, has_word};
use crate::grammar::units::{is_unit, metric_of, parted, unit_of_header};
use crate::options::{Options, Role};
use crate::states::{are_before_and_after, are_states, side};

#[rustfmt::skip]
const CONFIGURATIONS: [&str; 11] = [
    "kernel", "config", "configuration", "version", "patch", "variant", "branch", "policy",
    "governor", "sched", "scheduler",
];
#[rustfmt::skip]
pub(super) const REPETITIONS: [&str; 11] = [
    "iter", "iteration", "run", "rep", "repetition", "round", "trial", "#", "loop", "sample",
    "seed",
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

pub(super) fn key_is(name: &str, list: &[&str]) -> bool {
    let name = name
        .trim_matches(|c: char| !c.is_alphanumeric() && c != '#')
        .to_lowercase();
    list.contains(&name.as_str())
}

/// Whether a name stands before the number of a run.
pub(in crate::grammar) fn counts_runs(name: &str) -> bool {
    key_is(name, &REPETITIONS)
}

pub(super) fn is_number(name: &str) -> bool {
    name.parse::<f64>().is_ok()
}

/// Words for columns with means.
pub(super) const MEANS: [&str; 3] = ["average", "avg", "mean"];

pub(super) fn is_derived(name: &str) -> bool {
    name.trim() == "%" || has_word(name, &DERIVED)
}

/// A name without the unit behind it: `old ns/op`.
pub(super) fn unitless(name: &str) -> &str {
    let (bare, unit) = parted(name);
    if is_unit(unit) { bare } else { name }
}

/// Whether a row repeats others: `average of 3`. `CPU average` was measured.
pub(super) fn repeats_others(label: &str) -> bool {
    let label = label.split('(').next().unwrap_or_default();
    let words = label.split(|c: char| !c.is_alphanumeric());
    let mut words = words.filter(|word| word.contains(char::is_alphabetic) && *word != "of");
    label.trim() == "%" || words.clone().next().is_some() && words.all(is_derived)
}

pub(super) fn is_mean(name: &str) -> bool {
    has_word(name, &MEANS)
}

/// `3.9_1` is `3.9` and 1; also `base #2`, `base run 2`, `base-run2`.
pub(super) fn repetition(name: &str) -> Option<(&str, u32)> {
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

/// Whether each of two or more names has the same whole numbers, two or more: these are parameters,
/// by which the rows of a name differ.
pub(crate) fn are_parameters<'n>(cells: impl Iterator<Item = (&'n str, Option<u64>)>) -> bool {
    let mut numbers: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for (name, number) in cells {
        let Some(number) = number else { return false };
        numbers.entry(name).or_default().push(number);
    }
    numbers.values_mut().for_each(|all| all.sort_unstable());
    let mut all = numbers.values();
    let first = all.next().filter(|first| first.len() > 1);
    first.is_some_and(|first| numbers.len() > 1 && all.all(|other| other == first))
}

/// The roles of rows and columns, and the reason for them.
pub(crate) struct Roles {
    pub(super) columns: Role,
    pub(super) rows: Role,
    /// The index of the label or column that names configurations.
    pub(super) key: Option<usize>,
    /// The columns or rows that alone are configurations, if the others are changes between them.
    pub(crate) sides: Vec<usize>,
    /// The columns with parameters of the workload.
    pub(super) parameters: Vec<usize>,
    /// The declaration; none if there is none.
    pub(crate) because: Option<&'static str>,
}

impl Roles {
    fn said_by(
        columns: Role,
        rows: Role,
        key: Option<usize>,
        because: impl Into<Option<&'static str>>,
    ) -> Roles {
        Roles {
            columns,
            rows,
            key,
            sides: Vec::new(),
            parameters: Vec::new(),
            because: because.into(),
        }
    }

    /// Whether rows or columns are configurations.
    pub(crate) fn name_configurations(&self) -> bool {
        self.columns == Role::Configurations || self.rows == Role::Configurations
    }

    /// For `--explain`.
    pub(crate) fn said(&self) -> String {
        let (columns, rows) = (self.columns.word(), self.rows.word());
        let because = self.because.unwrap_or("the text does not say so");
        format!("columns are {columns}, rows are {rows} ({because})")
    }
}

impl Grid {
    /// Whether BenchmarkDotNet printed it: `Method | Job | N | Mean | Error | …`. Its columns
    /// before the mean are parameters.
    pub(super) fn is_of_benchmark_dotnet(&self) -> bool {
        let has = |name: &str| self.columns.iter().any(|column| column == name);
        self.keys.first().is_some_and(|key| key == "Method") && has("Mean") && has("Error")
    }

    /// Whether a column holds parameters of the workload.
    pub(super) fn is_parameter(&self, column: usize) -> bool {
        let mut before = self.columns[..=column].iter();
        let set = self.is_of_benchmark_dotnet() && before.all(|name| name != "Mean");
        set || key_is(&self.columns[column], &PARAMETERS) || self.crosses_rows(column)
    }

    /// Whether the rows of each name have the same numbers in a column.
    fn crosses_rows(&self, column: usize) -> bool {
        let whole = |row: &Row| row.cells[column].as_ref()?.text.parse().ok();
        let labels = self.rows.iter().map(|row| row.labels.len()).min();
        let labels = labels.filter(|_| self.columns.len() > 1).unwrap_or(0);
        (0..labels).any(|at| {
            let rows = self.rows.iter();
            are_parameters(rows.map(|row| (row.labels[at].as_str(), whole(row))))
        })
    }

    /// The label that names the states before and after a change, in several rows each.
    fn label_of_states(&self) -> Option<usize> {
        (0..self.keys.len()).find(|at| {
            let names = self.rows.iter().map(|row| row.labels.get(*at));
            let names = names.collect::<Option<BTreeSet<_>>>().unwrap_or_default();
            names.len() < self.rows.len() && are_before_and_after(&Vec::from_iter(names))
        })
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

    /// Whether the states of a list of one column have one unit: other lines are of other things.
    pub(crate) fn is_of_one(&self) -> bool {
        if self.columns.len() > 1 {
            return true;
        }
        let sides = self.declared().map_or(Vec::new(), |roles| roles.sides);
        let rows = sides.iter().filter_map(|at| self.rows.get(*at));
        let cells = rows.flat_map(|row| row.cells.first()).flatten();
        let units: BTreeSet<&str> = cells.map(|cell| metric_of(&cell.unit)).collect();
        let labels: Vec<String> = sides.iter().map(|at| self.rows[*at].label()).collect();
        let named = || are_before_and_after(&labels);
        units.len() < 2 && (!units.contains("") || named())
    }

    /// Whether a figure has a `±`.
    pub(crate) fn has_spreads(&self) -> bool {
        let mut cells = self.rows.iter().flat_map(|row| &row.cells).flatten();
        cells.any(|cell| cell.spread.is_some())
    }

    /// The units in which the headers of columns say that they measure, of `sides` if there are any.
    pub(crate) fn units_of_columns(&self, sides: &[usize]) -> BTreeSet<&str> {
        let measured = |at: &usize| sides.is_empty() || sides.contains(at);
        let columns = (0..self.columns.len()).filter(measured);
        let units = columns.map(|at| unit_of_header(&self.columns[at]));
        units.filter(|unit| !unit.is_empty()).collect()
    }

    /// Decides the roles of rows and columns. Columns in several units are no configurations,
    /// whoever says so.
    pub(crate) fn roles(&self, options: &Options) -> Roles {
        let unnamed = self.rows.iter().all(|row| row.labels.is_empty());
        let rows = match unnamed {
            true => Role::Repetitions,
            false => Role::Workloads,
        };
        let undeclared = || Roles::said_by(Role::Metrics, rows, None, None);
        let mut roles = self.declared().unwrap_or_else(undeclared);
        let parameters = (0..self.columns.len()).filter(|at| self.is_parameter(*at));
        roles.parameters = parameters.collect();
        if let Some(role) = options.columns_are {
            let rows = match role {
                Role::Configurations | Role::Workloads if unnamed => Role::Repetitions,
                Role::Configurations | Role::Workloads => Role::Metrics,
                Role::Repetitions => Role::Configurations,
                Role::Metrics => roles.rows,
            };
            if (roles.columns, roles.rows) != (role, rows) {
                roles.sides.clear();
            }
            (roles.columns, roles.rows) = (role, rows);
            roles.because = Some("the user says so");
        }
        let columns = roles.columns == Role::Configurations;
        if columns && self.units_of_columns(&roles.sides).len() > 1 {
            roles.because = None;
        }
        roles
    }

    /// The roles that the table itself declares: its rows or columns number the runs of
    /// configurations, or a column's name says that it holds their names.
    fn declared(&self) -> Option<Roles> {
        let said = Roles::said_by;
        let (configurations, metrics) = (Role::Configurations, Role::Metrics);
        let labels: Vec<String> = self.rows.iter().map(Row::label).collect();
        let headed = self.keys.first().is_some_and(|key| key == "Benchmark");
        if headed && self.compares() {
            let because = "cells say how many times faster or slower each is";
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
            true => &["configuration", "toolchain", "runtime", "job"],
            false => &CONFIGURATIONS,
        };
        let mut fields = self.keys.iter().chain(&self.columns);
        let key = fields.position(|name| key_is(name, known));
        let key = key.or_else(|| self.label_of_states().filter(|_| self.rows_differ(&[])))?;
        // Where each row has changed, none is what the others are compared with.
        let changed = |column: usize| {
            let mut cells = self.rows.iter().map(|row| row.cells[column].as_ref());
            self.holds_changes(column) && cells.all(|one| one.is_some_and(|one| one.value != 0.0))
        };
        let is_name = key < self.keys.len() || !self.is_change(key - self.keys.len());
        if !is_name || (0..self.columns.len()).any(changed) {
            return None;
        }
        let because = "the key names configurations";
        Some(said(metrics, configurations, Some(key), because))
    }

    /// Whether no two rows have the same labels and parameters.
    fn rows_differ(&self, sides: &[usize]) -> bool {
        let set = |at: &usize| self.is_parameter(*at) || self.sets_before(*at, sides);
        let set: Vec<usize> = (0..self.columns.len()).filter(set).collect();
        let mut met = BTreeSet::new();
        self.rows.iter().all(|row| {
            let cells = set
                .iter()
                .map(|at| row.cells[*at].as_ref().map(|cell| &cell.text));
            met.insert((&row.labels, cells.collect::<Vec<_>>()))
        })
    }

    /// Columns or rows of which others are the change, or that are named for states. Beside such
    /// columns a row is a workload if all figures are times or have one unit, else a metric.
    fn before_and_after(&self, labels: &[String]) -> Option<Roles> {
        let set = |at: &usize| counts_runs(&self.columns[*at]);
        let is_set = (0..self.columns.len()).any(|at| set(&at));
        let lettered = |label: &String| label.contains(char::is_alphanumeric);
        let named = is_set || labels.iter().all(lettered);
        let columns = |sides: Vec<usize>, because: &'static str| {
            let measured = self.measured(&sides);
            let rows = match measured.len() == 1 && !measured.contains("") {
                true => Role::Workloads,
                false => Role::Metrics,
            };
            let said = Roles::said_by(Role::Configurations, rows, None, because);
            Roles { sides, ..said }
        };
        let kept = |sides: &Vec<usize>| named && self.rows_differ(sides);
        if let Some(sides) = self.recomputed().filter(kept) {
            let because = "a column is the change from one column to another";
            return Some(columns(sides, because));
        }
        let sizes = self.columns.iter().all(|name| is_number(name));
        let rows = |sides: Vec<usize>, because: &'static str| {
            // `M | 1 | 2 | 4`: the columns are parameters.
            let columns = match sizes {
                true => Role::Workloads,
                false => Role::Metrics,
            };
            let said = Roles::said_by(columns, Role::Configurations, None, because);
            Roles { sides, ..said }
        };
        let mut met = BTreeSet::new();
        let mut names = self.columns.iter();
        if !names.all(|name| is_derived(name) || met.insert(name)) {
            return None;
        }
        if let Some(sides) = self.recomputed_rows() {
            return Some(rows(sides, "a row is the change from one row to another"));
        }
        let name = |at: &usize| unitless(&self.columns[*at]);
        let is_side = |at: &usize| side(name(at)).is_some() || !self.is_change(*at) && !set(at);
        let figures: Vec<usize> = (0..self.columns.len()).filter(is_side).collect();
        let names: Vec<&str> = figures.iter().map(name).collect();
        // Beside `master` may stand the number of rounds, which has neither a unit nor a fraction.
        let units = self.measured(&figures);
        let broken = || figures.iter().all(|at| !self.counts(*at));
        let measured = units.len() == 1 && (!units.contains("") || broken());
        let states = are_before_and_after(&names) || measured && are_states(&names);
        if states && kept(&figures) {
            let because = "the columns are named for before and after a change";
            return Some(columns(figures, because));
        }
        let measured = (0..labels.len()).filter(|at| !repeats_others(&labels[*at]));
        let measured: Vec<usize> = measured.collect();
        let names: Vec<&String> = measured.iter().map(|at| &labels[*at]).collect();
        let because = "the rows are named for before and after a change";
        // `a | master` and `b | replica` are two hosts.
        let whole = self.rows.iter().all(|row| row.labels.len() == 1);
        let states = are_before_and_after(&names) || whole && are_states(&names);
        states.then(|| rows(measured, because))
    }
}
