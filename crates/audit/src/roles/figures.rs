//! The figures of a table whose roles are known.

use std::collections::BTreeMap;

use assize_bundle::{Place, Spread};

use super::words::{self, CONFIGURATION_KEYS, WORKLOAD_KEYS, key_is};
use super::{Context, Role, Roles};
use crate::admission::alone;
use crate::grammar::table::{Cell, Grid, Row, cell_value, is_unit, split_unit};
use crate::grammar::{Figure, Finding, Labels};
use crate::options::SpreadKind;

/// What a figure is called where nothing names it.
pub(super) const VALUE: &str = "value";

/// A figure and what stood behind its `±`.
struct Read {
    figure: Figure,
    spread: Option<f64>,
}

/// Figures that stand at one place of the experiment.
#[derive(Default)]
struct Cells {
    /// By configuration, workload and repetition, in order of appearance.
    all: Vec<(Labels, Place, Vec<Read>)>,
    index: BTreeMap<(String, String, u32), usize>,
}

impl Cells {
    fn add(&mut self, labels: Labels, place: Place, read: Vec<Read>) {
        let key = (
            labels.configuration.clone().unwrap_or_default(),
            labels.workload.clone().unwrap_or_default(),
            labels.repetition.unwrap_or(0),
        );
        let next = self.all.len();
        let at = *self.index.entry(key).or_insert(next);
        if at == next {
            self.all.push((labels, place, read));
        } else {
            self.all[at].2.extend(read);
        }
    }

    /// Whether a place has several figures of a metric.
    fn pool(&self) -> bool {
        self.all.iter().any(|(.., read)| {
            let mut met = BTreeMap::new();
            read.iter().any(|one| {
                let value = one.figure.value.to_bits();
                // The same figure is the same row, printed again.
                *met.entry(&one.figure.metric).or_insert(value) != value
            })
        })
    }

    /// One run for each place. Where it has several figures of a metric they
    /// are samples of one run, for nothing says that they are more: their
    /// mean is the run's.
    fn findings(self, context: &Context<'_>) -> Vec<(Place, Finding)> {
        let mut findings = Vec::new();
        for (labels, place, read) in self.all {
            let (spread, plain): (Vec<Read>, Vec<Read>) =
                read.into_iter().partition(|one| one.spread.is_some());
            for one in spread {
                findings.push((place, summary(&labels, one, context)));
            }
            let figures = crate::scan::mean_figures(plain.iter().map(|one| &one.figure));
            if !figures.is_empty() {
                findings.push((place, Finding::Run { labels, figures }));
            }
        }
        findings
    }
}

/// A mean with a `±`. Of unknown kind it is taken for what leaves most doubt:
/// a standard error, and no number of runs unless the text names one.
fn summary(labels: &Labels, read: Read, context: &Context<'_>) -> Finding {
    let value = read.spread.unwrap_or_default();
    let kind = context.options.spread.or(context.spread);
    let spread = match kind {
        Some(SpreadKind::Sd | SpreadKind::Cv) => Spread::StandardDeviation(value),
        // The quantile of t is larger: this leaves more doubt than there is.
        Some(SpreadKind::Ci95) => Spread::StandardError(value / 1.96),
        Some(SpreadKind::Se) | None => Spread::StandardError(value),
    };
    Finding::Summary {
        labels: labels.clone(),
        figure: read.figure,
        spread: Some(spread),
        n: context.runs.filter(|n| *n >= 2),
    }
}

/// The figures of a table, and whether rows that have names, or rise or fall from first
/// to last, became one figure because their names do not tell them apart.
pub(super) fn read(
    grid: &Grid,
    roles: &Roles,
    context: &Context<'_>,
) -> (Vec<(Place, Finding)>, bool) {
    let mut cells = Cells::default();
    match roles.columns {
        Role::Configurations | Role::Workloads | Role::Repetitions => {
            by_column(grid, roles, &mut cells);
        }
        Role::Metrics => by_row(grid, roles, &mut cells),
    }
    let named = || grid.rows.iter().any(|row| !row.labels.is_empty());
    let pooled = cells.pool() && named();
    (cells.findings(context), pooled)
}

pub(super) fn place(grid: &Grid, row: usize) -> Place {
    grid.places.get(row).copied().unwrap_or_default()
}

/// `threads=4`, of the column that is a parameter.
fn parameter(grid: &Grid, roles: &Roles, row: &Row) -> Option<String> {
    let at = roles.parameter?;
    let cell = row.cells.get(at)?;
    Some(format!(
        "{}={}{}",
        grid.header.columns[at].name, cell.value, cell.unit
    ))
}

fn both(a: Option<String>, b: Option<String>) -> Option<String> {
    match (a, b) {
        (Some(a), Some(b)) if !a.is_empty() => Some(format!("{a} {b}")),
        (a, b) => b.or(a),
    }
}

/// Columns are metrics.
fn by_row(grid: &Grid, roles: &Roles, cells: &mut Cells) {
    for (at, row) in grid.rows.iter().enumerate() {
        let keys = row_keys(grid, row, roles);
        if keys
            .configuration
            .as_deref()
            .is_some_and(words::is_derived_row)
        {
            continue;
        }
        let mut labels = labels(keys);
        if let Some(column) = roles.repetition {
            labels.repetition = Some(row.cells[column].value as u32);
        } else if roles.rows == Role::Repetitions
            || labels.repetition.is_none() && repeated_name(grid, roles, at)
        {
            labels.repetition = Some(at as u32 + 1);
        }
        labels.workload = both(labels.workload, parameter(grid, roles, row));
        let read = figures_of(grid, roles, row);
        if !read.is_empty() {
            cells.add(labels, place(grid, at), read);
        }
    }
}

/// Whether a row has the name of a configuration that other rows have too:
/// then it is one more run of it. Other names that come again are samples.
fn repeated_name(grid: &Grid, roles: &Roles, at: usize) -> bool {
    let name = grid.rows[at].labels.join(" ");
    // A row of changes ends a block of the table, behind which another one begins.
    let ended = grid.rows[..at]
        .iter()
        .any(|row| words::is_derived_row(&row.labels.join(" ")));
    roles.rows == Role::Configurations
        && !ended
        && roles.because.is_some()
        && grid
            .rows
            .iter()
            .filter(|row| row.labels.join(" ") == name)
            .count()
            > 1
}

/// What the label columns of a row say.
#[derive(Default)]
struct RowKeys {
    configuration: Option<String>,
    workload: Option<String>,
}

/// So many rows are asked what stands under a key.
const ASKED: usize = 8;

/// Whether nothing but figures stand under a key, such as sizes: they name no configurations,
/// whatever the key is called.
pub(super) fn holds_figures(grid: &Grid, key: usize) -> bool {
    let mut labels = grid
        .rows
        .iter()
        .take(ASKED)
        .filter_map(|row| row.labels.get(key));
    labels.all(|label| alone::is_figure(label))
}

/// Splits the labels of a row into configuration and workload.
fn row_keys(grid: &Grid, row: &Row, roles: &Roles) -> RowKeys {
    let (labels, keys) = (&row.labels, &grid.header.keys);
    if labels.is_empty() || roles.rows == Role::Repetitions {
        return RowKeys::default();
    }
    if roles.rows != Role::Configurations {
        return RowKeys {
            configuration: None,
            workload: Some(labels.join(" ")),
        };
    }
    if keys.len() != labels.len() || labels.len() == 1 {
        return RowKeys {
            configuration: Some(labels.join(" ")),
            workload: None,
        };
    }
    let chosen = (0..labels.len())
        .find(|&at| key_is(&keys[at], CONFIGURATION_KEYS) && !holds_figures(grid, at))
        .or_else(|| {
            (0..labels.len())
                .rev()
                .find(|&at| !key_is(&keys[at], WORKLOAD_KEYS) && !holds_figures(grid, at))
        })
        .unwrap_or(labels.len() - 1);
    let rest: Vec<&str> = labels
        .iter()
        .enumerate()
        .filter(|(at, _)| *at != chosen)
        .map(|(_, label)| label.as_str())
        .collect();
    RowKeys {
        configuration: Some(labels[chosen].clone()),
        workload: Some(rest.join(" ")),
    }
}

fn labels(keys: RowKeys) -> Labels {
    let mut labels = Labels {
        configuration: None,
        workload: keys.workload,
        repetition: None,
    };
    if let Some(name) = keys.configuration {
        match words::repetition_suffix(&name) {
            Some((stem, number)) => {
                labels.configuration = Some(stem.to_string());
                labels.repetition = Some(number);
            }
            None => labels.configuration = Some(name),
        }
    }
    labels
}

fn figure(name: String, cell: &Cell, unit: &str) -> Read {
    let mut figure = Figure::new(name, cell.value, unit);
    figure.step = cell.step;
    Read {
        spread: cell.spread.map(|spread| spread.of_value(cell.value)),
        figure,
    }
}

fn figures_of(grid: &Grid, roles: &Roles, row: &Row) -> Vec<Read> {
    let mut read: Vec<Read> = Vec::new();
    let (mut total, mut numbered) = (0.0, 0);
    for (at, cell) in row.cells.iter().enumerate() {
        let column = &grid.header.columns[at];
        if !cell.value.is_finite()
            || Some(at) == roles.repetition
            || Some(at) == roles.parameter
            || words::is_derived(&column.name, &grid.rows, at)
        {
            continue;
        }
        if column.numbered {
            total += cell.value;
            numbered += 1;
        }
        let unit = [
            cell.unit.as_str(),
            column.unit.as_str(),
            grid.caption.as_str(),
        ];
        let unit = unit.into_iter().find(|unit| !unit.is_empty()).unwrap_or("");
        let name = grid.header.columns[at].name.clone();
        let twins = read.iter().any(|one| one.figure.metric == name);
        let name = if twins {
            format!("{name} #{}", at + 1)
        } else {
            name
        };
        read.push(figure(name, cell, unit));
    }
    if numbered >= 2 {
        let name = format!("{} total", grid.header.corner);
        let numbered = grid.header.columns.iter().find(|column| column.numbered);
        let unit = numbered.map_or("", |column| column.unit.as_str());
        let sum = Figure::new(name.trim(), (total * 1e9).round() / 1e9, unit);
        read.push(Read {
            figure: sum,
            spread: None,
        });
    }
    read
}

/// Columns are configurations, workloads or repetitions; rows are metrics
/// or repetitions.
fn by_column(grid: &Grid, roles: &Roles, cells: &mut Cells) {
    let mut run = 0;
    for (column, head) in grid.header.columns.iter().enumerate() {
        // `Avg` behind `Run 1`, `Run 2` is computed from them.
        let mean = roles.columns == Role::Repetitions && words::is_derived_row(&head.name);
        if Some(column) == roles.parameter
            || Some(column) == roles.repetition
            || mean
            || words::is_derived(&head.name, &grid.rows, column)
        {
            continue;
        }
        run += 1;
        for (at, row) in grid.rows.iter().enumerate() {
            let label = row.labels.join(" ");
            if words::is_derived_row(&label) && grid.rows.len() > 2 {
                continue;
            }
            let cell = &row.cells[column];
            if !cell.value.is_finite() {
                continue;
            }
            let (metric, unit) = metric_of(grid, roles, &label);
            let units = [cell.unit.as_str(), unit.as_str(), head.unit.as_str()];
            let unit = units.into_iter().find(|unit| !unit.is_empty());
            let unit = unit.unwrap_or("");
            let mut labels = Labels {
                workload: parameter(grid, roles, row),
                ..Labels::default()
            };
            match roles.columns {
                Role::Configurations => {
                    (labels.configuration, labels.repetition) = match repeated_column(grid, column)
                    {
                        Some((stem, number)) => (Some(stem), Some(number)),
                        None => (Some(distinct_name(grid, column)), None),
                    };
                }
                Role::Workloads => {
                    let name = head.name.clone();
                    labels.workload = both(Some(name), labels.workload);
                }
                Role::Repetitions => labels.repetition = Some(run),
                Role::Metrics => {}
            }
            if roles.rows == Role::Repetitions {
                labels.repetition = Some(at as u32 + 1);
            }
            if roles.rows == Role::Metrics && !grid.metric.is_empty() && !label.is_empty() {
                labels.workload = both(Some(label.clone()), labels.workload);
            }
            if roles.rows == Role::Configurations {
                labels.configuration = Some(label.clone()).filter(|label| !label.is_empty());
            }
            cells.add(labels, place(grid, at), vec![figure(metric, cell, unit)]);
        }
    }
}

/// Of a column called like another one but for the number of a run (`base`, `base 2nd
/// run`), that name and number.
fn repeated_column(grid: &Grid, column: usize) -> Option<(String, u32)> {
    let name = |at: usize| grid.header.columns[at].name.as_str();
    let numbered = |at: usize| {
        words::repetition_suffix(name(at)).filter(|_| name(at).to_lowercase().contains("run"))
    };
    let own = numbered(column);
    let stem = own.map_or(name(column), |(stem, _)| stem);
    let again = (0..grid.header.columns.len())
        .filter(|at| *at != column)
        .any(|at| {
            numbered(at).is_some_and(|(other, _)| other == stem)
                || own.is_some() && name(at) == stem
        });
    again.then(|| (stem.to_string(), own.map_or(1, |(_, number)| number)))
}

/// The name of a column; nothing says that a second one of the same name is the same.
fn distinct_name(grid: &Grid, column: usize) -> String {
    let columns = &grid.header.columns;
    let name = &columns[column].name;
    let before = columns[..column].iter().filter(|c| c.name == *name).count();
    match before {
        0 => name.clone(),
        n => format!("{name} #{}", n + 1),
    }
}

/// The metric of a row in a table whose columns are no metrics.
fn metric_of(grid: &Grid, roles: &Roles, label: &str) -> (String, String) {
    if !grid.metric.is_empty() {
        return (grid.metric.clone(), String::new());
    }
    let bare = label.trim().trim_end_matches(':');
    let caption = grid.caption.trim().trim_end_matches(':');
    let caption = caption.trim_matches(|c| matches!(c, '(' | ')' | '[' | ']'));
    let (named, own) = split_unit(grid.caption.trim().trim_end_matches(':'));
    let unit = if is_unit(caption) {
        caption
    } else {
        own.as_str()
    };
    let says_nothing = bare.is_empty()
        || matches!(roles.rows, Role::Repetitions | Role::Configurations)
        || cell_value(bare).is_some();
    match (says_nothing, grid.caption.is_empty()) {
        (true, true) => (VALUE.to_string(), String::new()),
        (true, false) if own.is_empty() => (grid.caption.clone(), unit.to_string()),
        (true, false) => (named, unit.to_string()),
        (false, _) => {
            let (name, own) = split_unit(bare);
            let unit = if own.is_empty() {
                unit.to_string()
            } else {
                own
            };
            (name, unit)
        }
    }
}
