//! Collects figures of known configuration and workload, and turns them into records.

use std::collections::{BTreeMap, HashMap};

use assize_bundle::{
    Configuration, Doubt, Measurement, Place, Records, Resolution, Run, Spread, Summary,
};

use super::changes::{self, Printed};
use super::error::Fault;
use super::input::Declared;
use super::metric::{Better, Metric};
use crate::grammar::number::Number;
use crate::states::{Side, baseline_first, side};

/// Names with numbers.
#[derive(Debug, Default)]
struct Names {
    names: Vec<String>,
    index: HashMap<String, u32>,
    last: u32,
}

impl Names {
    fn enter(&mut self, name: &str) -> u32 {
        // Neighbours mostly have the same name.
        let last = self.names.get(self.last as usize);
        if last.is_some_and(|last| last == name) {
            return self.last;
        }
        self.last = match self.index.get(name) {
            Some(at) => *at,
            None => {
                let next = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
                self.names.push(name.to_owned());
                self.index.insert(name.to_owned(), next);
                next
            }
        };
        self.last
    }
}

/// The run of a figure.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Of<'t> {
    pub(crate) configuration: &'t str,
    pub(crate) workload: &'t str,
    /// The name of the run; figures of one name in one cell belong to one run.
    pub(crate) run: Option<&'t str>,
    /// Its position in the order of all runs.
    pub(crate) order: Option<f64>,
    pub(crate) line: u32,
}

/// A mean with the spread and number of its runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mean {
    pub(crate) mean: Number,
    pub(crate) spread: Option<Spread>,
    pub(crate) n: Option<u32>,
}

/// The configuration and the workload of a figure.
type Cell = (u32, u32);

/// The only figure of a run.
#[derive(Debug, Clone, Copy)]
struct Single {
    cell: Cell,
    metric: u32,
    unit: u32,
    line: u32,
    value: f64,
}

/// If a cell has more rows than this, without names or an order, only their mean and standard
/// deviation are kept: a permutation test of them would show no more.
const MANY: usize = 1_000;

/// The figures as they are collected.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    configurations: Names,
    workloads: Names,
    metrics: Names,
    units: Names,
    singles: Vec<Single>,
    runs: Vec<Run>,
    cells: Vec<Cell>,
    orders: Vec<f64>,
    /// Runs that have a name, by cell.
    named: HashMap<Cell, HashMap<String, usize>>,
    summaries: Vec<Summary>,
    /// The finest digit of each metric of a cell.
    steps: HashMap<(Cell, u32), Finest>,
    better: BTreeMap<String, Better>,
    pub(crate) doubts: Vec<Doubt>,
    pub(crate) limits: Vec<String>,
    /// Printed changes.
    pub(crate) changes: Vec<Printed>,
}

/// Running mean and sum of squared deviations (Welford 1962).
#[derive(Debug, Default)]
struct Moments {
    n: usize,
    mean: f64,
    squares: f64,
    /// Where the first stands.
    line: u32,
}

impl Moments {
    fn add(&mut self, value: f64, line: u32) {
        if self.n == 0 {
            self.line = line;
        }
        self.n += 1;
        let off = value - self.mean;
        self.mean += off / self.n as f64;
        self.squares += off * (value - self.mean);
    }

    fn deviation(&self) -> f64 {
        (self.squares / (self.n.max(2) - 1) as f64).sqrt()
    }
}

#[derive(Debug)]
struct Finest {
    step: f64,
    unit: String,
}

impl Sheet {
    /// The run that figures belong to: a new one, or that of the same name.
    pub(crate) fn run(&mut self, of: Of<'_>) -> usize {
        let cell = self.cell(of);
        let known = of.run.and_then(|run| self.named.get(&cell)?.get(run));
        if let Some(&at) = known {
            return at;
        }
        let at = self.runs.len();
        if let Some(run) = of.run {
            let named = self.named.entry(cell).or_default();
            named.insert(run.to_owned(), at);
        }
        let mut run = Run::new(String::new(), String::new(), 0);
        run.place = place(of.line);
        run.metrics.reserve_exact(1);
        self.runs.push(run);
        self.cells.push(cell);
        self.orders.extend(of.order);
        at
    }

    fn cell(&mut self, of: Of<'_>) -> Cell {
        let configuration = self.configurations.enter(of.configuration);
        (configuration, self.workloads.enter(of.workload))
    }

    /// Adds a figure to a run.
    pub(crate) fn figure(
        &mut self,
        run: usize,
        metric: &str,
        unit: &str,
        number: Number,
        line: u32,
    ) -> Result<(), Fault> {
        let cell = self.cells[run];
        self.note_step(cell, metric, unit, number);
        let measurement = Measurement::new(number.value, unit);
        let into = &mut self.runs[run];
        if into.metrics.contains_key(metric) {
            let first = into.place.line;
            return Err(format!(
                "a run of {} on {} has {metric} already in line {first}; give each run a row or a \
                 number of its own",
                self.configurations.names[cell.0 as usize], self.workloads.names[cell.1 as usize]
            ));
        }
        if into.metrics.is_empty() {
            into.place = place(line);
        }
        into.metrics.insert(metric.to_owned(), measurement);
        Ok(())
    }

    /// Adds the only figure of a run.
    pub(crate) fn single(&mut self, of: Of<'_>, metric: &str, unit: &str, number: Number) {
        let cell = self.cell(of);
        self.note_step(cell, metric, unit, number);
        self.singles.push(Single {
            cell,
            metric: self.metrics.enter(metric),
            unit: self.units.enter(unit),
            line: of.line,
            value: number.value,
        });
    }

    /// Turns single figures into runs, or into a mean where there are very many.
    fn expand(&mut self) {
        let mut moments: BTreeMap<(Cell, u32, u32), Moments> = BTreeMap::new();
        for one in &self.singles {
            let key = (one.cell, one.metric, one.unit);
            moments.entry(key).or_default().add(one.value, one.line);
        }
        let name = |names: &Names, at: u32| names.names[at as usize].as_str().to_owned();
        for one in std::mem::take(&mut self.singles) {
            let of = &moments[&(one.cell, one.metric, one.unit)];
            if of.n > MANY {
                continue;
            }
            let mut run = Run::new(String::new(), String::new(), 0);
            run.place = place(one.line);
            run.metrics.reserve_exact(1);
            let measurement = Measurement::new(one.value, name(&self.units, one.unit));
            let metric = name(&self.metrics, one.metric);
            run.metrics.insert(metric, measurement);
            self.runs.push(run);
            self.cells.push(one.cell);
        }
        for ((cell, metric, unit), of) in moments {
            if of.n <= MANY {
                continue;
            }
            self.summaries.push(Summary {
                configuration: name(&self.configurations, cell.0),
                workload: name(&self.workloads, cell.1),
                metric: name(&self.metrics, metric),
                unit: name(&self.units, unit),
                mean: of.mean,
                spread: Some(Spread::StandardDeviation(of.deviation())),
                n: u32::try_from(of.n).ok(),
                place: place(of.line),
            });
            let said = format!(
                "if a configuration has more than {MANY} rows on a workload, only their mean and \
                 standard deviation are used"
            );
            if !self.limits.contains(&said) {
                self.limits.push(said);
            }
        }
    }

    /// Adds a mean.
    pub(crate) fn mean(&mut self, of: Of<'_>, metric: &str, unit: &str, mean: Mean) {
        let cell = self.cell(of);
        self.note_step(cell, metric, unit, mean.mean);
        self.summaries.push(Summary {
            configuration: of.configuration.to_owned(),
            workload: of.workload.to_owned(),
            metric: metric.to_owned(),
            unit: unit.to_owned(),
            mean: mean.mean.value,
            spread: mean.spread,
            n: mean.n,
            place: place(of.line),
        });
    }

    /// Notes the better direction of a metric.
    pub(crate) fn better(&mut self, metric: &Metric) {
        if let Some(better) = metric.better {
            self.better.insert(metric.name.clone(), better);
        }
    }

    /// Records the step in which a number was given. Counts have none: they are exact.
    fn note_step(&mut self, cell: Cell, metric: &str, unit: &str, number: Number) {
        let Some(step) = number.step else { return };
        if unit.is_empty() && number.value.fract() == 0.0 {
            return;
        }
        let metric = self.metrics.enter(metric);
        let known = self.steps.entry((cell, metric)).or_insert_with(|| Finest {
            step,
            unit: unit.to_owned(),
        });
        if known.unit == unit {
            known.step = known.step.min(step);
        }
    }

    /// How many configurations have figures.
    pub(crate) fn configurations(&self) -> usize {
        self.configurations.names.len()
    }

    /// Whether nothing was read.
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.summaries.is_empty() && self.singles.is_empty()
    }

    /// Returns the records. Without an order, the runs of a cell are sorted by their figures, so
    /// that the order of the rows changes nothing.
    pub(crate) fn finish(mut self, source: &str, format: &'static str) -> Declared {
        self.expand();
        let in_order = !self.runs.is_empty() && self.orders.len() == self.runs.len();
        self.number();
        let resolutions = self.resolutions();
        let mut order: Vec<usize> = (0..self.runs.len()).collect();
        if in_order {
            order.sort_by(|a, b| self.orders[*a].total_cmp(&self.orders[*b]));
        } else {
            order.sort_by(|a, b| {
                let by_cell = self.cells[*a].cmp(&self.cells[*b]);
                by_cell.then_with(|| compare(&self.runs[*a], &self.runs[*b]))
            });
        }
        let mut runs: Vec<Option<Run>> = self.runs.into_iter().map(Some).collect();
        let sorted = order.iter().filter_map(|at| runs[*at].take());
        let mut runs: Vec<Run> = sorted.collect();
        for (at, run) in runs.iter_mut().enumerate() {
            run.order = u32::try_from(at).unwrap_or(u32::MAX);
        }
        let named = |name: &String| Configuration {
            name: name.clone(),
            label: name.clone(),
            ..Configuration::default()
        };
        let mut configurations: Vec<Configuration> =
            self.configurations.names.iter().map(named).collect();
        // The order of rows carries no meaning.
        baseline_first(&mut configurations, |name| side(name) == Some(Side::Before));
        let of = |wanted: Better| {
            let all = self.better.iter().filter(move |(_, way)| **way == wanted);
            all.map(|(metric, _)| metric.clone()).collect::<Vec<_>>()
        };
        let mut declared = Declared {
            format,
            lower_is_better: of(Better::Lower),
            checks: Vec::new(),
            records: Records {
                source: source.to_owned(),
                configurations,
                workloads: self.workloads.names,
                order_unknown: !in_order,
                higher_is_better: of(Better::Higher),
                runs,
                summaries: self.summaries,
                resolutions,
                doubts: self.doubts,
                limits: self.limits,
                ..Records::default()
            },
        };
        declared.checks = changes::checked(self.changes, &mut declared.records);
        declared
    }

    /// Gives runs their names, and counts them within their cells.
    fn number(&mut self) {
        let mut counts: HashMap<Cell, u32> = HashMap::new();
        for (run, cell) in self.runs.iter_mut().zip(&self.cells) {
            let count = counts.entry(*cell).or_default();
            *count += 1;
            run.repetition = *count;
            let name = |names: &Names, at: u32| names.names[at as usize].as_str().to_owned();
            run.configuration = name(&self.configurations, cell.0);
            run.workload = name(&self.workloads, cell.1);
        }
    }

    fn resolutions(&self) -> Vec<Resolution> {
        let name = |names: &Names, at: u32| names.names[at as usize].clone();
        let mut all: Vec<Resolution> = self
            .steps
            .iter()
            .map(|((cell, metric), finest)| Resolution {
                configuration: name(&self.configurations, cell.0),
                workload: name(&self.workloads, cell.1),
                metric: name(&self.metrics, *metric),
                unit: finest.unit.clone(),
                step: finest.step,
            })
            .collect();
        let names = |one: &'_ Resolution| {
            [&one.configuration, &one.workload, &one.metric].map(String::clone)
        };
        all.sort_by_cached_key(names);
        all
    }
}

/// Compares runs by their figures, metric by metric.
fn compare(a: &Run, b: &Run) -> std::cmp::Ordering {
    let values = |run: &Run| match run.metrics.len() {
        1 => run.metrics.first().map(|(_, m)| m.value),
        _ => None,
    };
    if let (Some(x), Some(y)) = (values(a), values(b)) {
        let names = a.metrics.keys().cmp(b.metrics.keys());
        return names.then(x.total_cmp(&y));
    }
    let sorted = |run: &Run| {
        let mut all: Vec<(String, u64)> = Vec::new();
        all.extend((run.metrics.iter()).map(|(name, m)| (name.clone(), m.value.to_bits())));
        all.sort();
        all
    };
    sorted(a).cmp(&sorted(b))
}

pub(crate) fn place(line: u32) -> Place {
    Place { message: 1, line }
}
