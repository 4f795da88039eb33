//! Extracts the figures of a table whose rows and columns have their roles.

use assize_bundle::Spread;

use super::roles::{
    MEANS, REPETITIONS, Roles, counts_runs, is_derived, is_mean, is_number, key_is, repeats_others,
    repetition, unitless,
};
use crate::grammar::block::{Figure, Finding, Labels};
use crate::grammar::cells::{label, summary};
use crate::grammar::grid::{Cell, DEVIATIONS, Grid, Row, has_word, is_deviation};
use crate::grammar::units::{is_unit, metric_of, parted, unit_of_header};
use crate::options::{Options, Role, SpreadKind};

/// Name used for a metric if nothing names it.
const VALUE: &str = "value";
impl Grid {
    /// Returns the findings, each with its line in the block; figures of one run together.
    pub(crate) fn findings(&self, roles: &Roles, options: &Options) -> Vec<(usize, Finding)> {
        let mut all: Vec<(usize, Labels, Vec<Figure>)> = Vec::new();
        let mut means = Vec::new();
        let repeats = self.repeats(roles);
        for (number, row) in (1..).zip(&self.rows) {
            let other = !roles.sides.contains(&(number as usize - 1));
            let sided = roles.rows == Role::Configurations && !roles.sides.is_empty();
            if sided && other || repeats(&row.label()) {
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
                if self.compares() && cell.spread.is_none() {
                    let n = options.runs_behind;
                    means.push((row.at, summary(&labels, figure, None, n)));
                    continue;
                }
                if let Some(spread) = cell.spread {
                    let kind = options.spread.or_else(|| self.said_of_spread(row, column));
                    let kind = kind.unwrap_or(SpreadKind::Se);
                    let n = Cell::runs(&cell.text).or(options.runs_behind);
                    let n = n.or_else(|| self.runs_of(row));
                    means.push((row.at, mean(&labels, figure, (spread, kind), n)));
                    continue;
                }
                if is_mean(&self.columns[column]) || self.shows_means(column, roles) {
                    let mean = self.mean_beside_deviation(row, column, &labels, figure);
                    means.push((row.at, mean));
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

    /// Tells which rows repeat others. Those with a mean or median beside a deviation are statistics
    /// of the runs of each column of a state, and metrics.
    fn repeats(&self, roles: &Roles) -> fn(&str) -> bool {
        let labels: Vec<String> = self.rows.iter().map(Row::label).collect();
        let has = |of: &dyn Fn(&str) -> bool| labels.iter().any(|label| of(label));
        let states = (roles.columns, roles.rows) == (Role::Configurations, Role::Metrics);
        let middle = |label: &str| is_mean(label) || has_word(label, &["median"]);
        match states && has(&middle) && has(&is_deviation) {
            true => is_deviation,
            false => repeats_others,
        }
    }

    /// Whether a column has figures that were measured. A mean is derived from the figures beside
    /// it; if there are none, it is what the table shows.
    fn is_measured(&self, column: usize, roles: &Roles) -> bool {
        if roles.columns == Role::Configurations && !roles.sides.is_empty() {
            return roles.sides.contains(&column);
        }
        if self.summarises() {
            return is_mean(&self.columns[column]);
        }
        if self.is_of_benchmark_dotnet() {
            return ["Mean", "Allocated"].contains(&self.columns[column].as_str());
        }
        let is_value = |column: usize| {
            let name = &self.columns[column];
            let key = roles.key.is_some_and(|key| key == self.keys.len() + column);
            let derived = is_derived(name) || self.holds_changes(column);
            !key && !counts_runs(name) && !roles.parameters.contains(&column) && !derived
        };
        // Beside extremes a mean is measured as well.
        let extreme = |name: &String| key_is(unitless(name), &["min", "max"]);
        let shows_means =
            || !(0..self.columns.len()).any(is_value) || self.columns.iter().any(extreme);
        is_value(column) || is_mean(&self.columns[column]) && shows_means()
    }

    /// Whether the columns of states hold means: one says so, or another holds their deviation.
    fn shows_means(&self, column: usize, roles: &Roles) -> bool {
        let sided = roles.columns == Role::Configurations && !roles.sides.is_empty();
        let medians = has_word(&self.columns[column], &["median"]);
        sided && (medians || self.columns.iter().any(|name| is_deviation(name)))
    }

    /// What the name of a row or column says that a `±` is: `Mean +- std dev`.
    fn said_of_spread(&self, row: &Row, column: usize) -> Option<SpreadKind> {
        let remark = row.cells[column]
            .as_ref()
            .is_some_and(|cell| is_deviation(&cell.text));
        let said = is_deviation(&row.label()) || is_deviation(&self.columns[column]);
        (said || remark).then_some(SpreadKind::Sd)
    }

    /// Whether it is not said what a `±` is.
    pub(crate) fn hides_spreads(&self) -> bool {
        let mut rows = self.rows.iter();
        rows.any(|row| {
            let mut cells = row.cells.iter().enumerate();
            cells.any(|(at, cell)| {
                let spread = cell.as_ref().is_some_and(|cell| cell.spread.is_some());
                spread && self.said_of_spread(row, at).is_none()
            })
        })
    }

    /// Whether the table has one column of means, with a `±` or beside one of the standard
    /// deviations of the same runs: its other columns say more of these runs.
    fn summarises(&self) -> bool {
        let count = |of: &dyn Fn(&str) -> bool| self.columns.iter().filter(|name| of(name)).count();
        let spread = || self.columns.len() > 2 && self.has_spreads();
        let one_mean = !self.is_of_benchmark_dotnet() && count(&is_mean) == 1;
        one_mean && (count(&is_deviation) == 1 || spread())
    }

    /// A mean, with the standard deviation and the number of runs of its row. Several means have each
    /// a deviation of their own: `old mean`, `old sd`, `new mean`, `new sd`.
    fn mean_beside_deviation(
        &self,
        row: &Row,
        column: usize,
        labels: &Labels,
        figure: Figure,
    ) -> Finding {
        let whose = without(&self.columns[column], &MEANS);
        let own = |name: &str| is_deviation(name) && without(name, &DEVIATIONS) == whose;
        let mut columns = self.columns.iter().zip(&row.cells);
        let own = || {
            columns
                .find(|(name, _)| own(name))
                .and_then(|(_, cell)| cell.as_ref())
        };
        let deviation = self.beside(row, &is_deviation).or_else(own);
        let deviation = deviation.filter(|cell| cell.unit != "%" || figure.unit == "%");
        let spread = deviation.map(|cell| Spread::StandardDeviation(cell.value));
        summary(labels, figure, spread, self.runs_of(row))
    }

    /// The number of runs in a column `N` or, as `n=10`, in the label of a row.
    fn runs_of(&self, row: &Row) -> Option<u32> {
        let counted = self.beside(row, &|name| key_is(name, &["n", "runs", "count"]));
        let counted = counted.map(|cell| cell.text.parse().ok());
        counted.unwrap_or_else(|| Cell::runs(&row.label()))
    }

    /// The cell of a row in the column of such a name, where that says more of a mean.
    fn beside<'g>(&'g self, row: &'g Row, of: &dyn Fn(&str) -> bool) -> Option<&'g Cell> {
        let columns = self.columns.iter().zip(&row.cells);
        let mut columns = columns.filter(|_| self.summarises());
        columns
            .find(|(name, _)| of(name))
            .and_then(|(_, cell)| cell.as_ref())
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
        let counted = roles.key.is_none() && roles.sides.is_empty();
        let (own, mut workload) = self.named(roles, row);
        // `old ns/op` is `old`, measured in `ns/op`.
        let (header, sided) = (&self.columns[column], roles.columns == Role::Configurations);
        let (name, unit) = match sided {
            true => (unitless(header), unit_of_header(header)),
            false => (header.as_str(), ""),
        };
        // `Before mean` is the mean of `Before`.
        let of_state = |(_, word): &(&str, &str)| sided && is_mean(word);
        let name = name
            .rsplit_once(' ')
            .filter(of_state)
            .map_or(name, |(state, _)| state);
        let sides = [
            (roles.columns, name, column as u32 + 1),
            (roles.rows, &own, number),
        ];
        for (role, name, number) in sides {
            match role {
                Role::Configurations => {
                    let numbered = repetition(name).filter(|_| counted);
                    labels.configuration = Some(label(numbered.map_or(name, |(stem, _)| stem)));
                    labels.repetition = numbered.map(|(_, number)| number).or(labels.repetition);
                }
                Role::Workloads if is_number(name) && !self.keys.is_empty() => {
                    workload.push(format!("{}={name}", self.keys.join(" ")));
                }
                Role::Workloads => workload.push(name.to_owned()),
                Role::Metrics => metric = Some(name.to_owned()),
                Role::Repetitions => labels.repetition = Some(number),
            }
        }
        for (at, (name, cell)) in self.columns.iter().zip(&row.cells).enumerate() {
            let Some(cell) = cell else { continue };
            if key_is(name, &REPETITIONS) {
                labels.repetition = Some(cell.value as u32);
            } else if sided && self.sets_before(at, &roles.sides) || roles.parameters.contains(&at)
            {
                workload.push(format!("{name}={}", cell.text));
            }
        }
        workload.retain(|part| !(part.is_empty() || is_mean(part) && is_deviation(part)));
        labels.workload = (!workload.is_empty()).then(|| label(&workload.join(" ")));
        let metric = metric.filter(|name| !name.is_empty());
        let (metric, unit) = self.metric(column, metric, unit);
        (labels, label(&metric), unit)
    }

    /// The name of the metric in a column, and its unit; `unit` is that of the header.
    fn metric(&self, column: usize, name: Option<String>, unit: &str) -> (String, String) {
        let unnamed = if unit.is_empty() {
            VALUE
        } else {
            metric_of(unit)
        };
        let metric = name.unwrap_or_else(|| unnamed.to_owned());
        // Before names that are numbered stands what all of them measure: `busy % cpu 0 cpu 1`.
        let shared = self.keys.first().filter(|_| self.is_numbered(column));
        if let Some(what) = shared.and_then(|key| key.strip_suffix('%')) {
            let metric = format!("{} {metric}", what.trim_end());
            return (metric.trim_start().to_owned(), "%".to_owned());
        }
        // `size (stage 1)` is not measured in stages, nor `Min` in minutes.
        match parted(&metric) {
            _ if metric.eq_ignore_ascii_case("min") => (metric, String::new()),
            (name, unit) if is_unit(unit) => (name.to_owned(), unit.to_owned()),
            _ => (metric, unit.to_owned()),
        }
    }
}

/// A name in small letters without some words.
fn without(name: &str, words: &[&str]) -> String {
    let lower = name.to_lowercase();
    let kept = lower
        .split_whitespace()
        .filter(|word| !words.contains(word));
    kept.collect::<Vec<_>>().join(" ")
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

/// A mean with a `±`.
fn mean(labels: &Labels, figure: Figure, spread: (f64, SpreadKind), n: Option<u32>) -> Finding {
    let spread = match spread {
        // Where it stands in percent, it was made absolute when it was read.
        (spread, SpreadKind::Cv) => Spread::StandardDeviation(spread),
        (spread, kind) => kind.spread(spread, figure.value),
    };
    summary(labels, figure, Some(spread), n)
}
