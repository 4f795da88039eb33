//! The records grouped into cells by workload, metric and configuration.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::OnceLock;

use assize_bundle::{Records, Run, Spread, Summary};

use crate::images::{self, MachineName};
use crate::names::folded;
use crate::steps;
use crate::units::{CommonUnits, convert};

/// The value of each part, by kind and name.
pub(crate) type PartValues = BTreeMap<(String, String), Option<String>>;
/// The parts of the runs of each configuration and workload, by machine; `None` if unknown.
pub(crate) type PartsByCell = BTreeMap<(usize, usize), BTreeMap<Option<String>, PartValues>>;

/// Values beyond this overflow when the variance is computed.
const LARGEST: f64 = 1e140;

/// Whether a value can be used in calculations.
pub(crate) fn usable(value: f64) -> bool {
    value.abs() <= LARGEST
}

/// A metric; the same name in two units is two metrics, unless the units are of
/// one dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MeasuredMetric {
    pub(crate) name: String,
    pub(crate) unit: String,
}

/// The coordinates of a cell: indices into the lists of [`Cells`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CellKey {
    pub(crate) workload: usize,
    pub(crate) metric: usize,
    pub(crate) configuration: usize,
}

/// One run's value of one metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RunValue {
    /// Index into [`Records::runs`].
    pub(crate) run: usize,
    /// In the unit of the metric.
    pub(crate) value: f64,
    pub(crate) block: Option<u32>,
    /// The memory image that the run shares with others of its cell, if there are several images:
    /// the replicates are then images, not runs.
    pub(crate) image: Option<u32>,
    /// Index into [`Cells::machines`].
    pub(crate) machine: Option<usize>,
}

/// The data on one metric of one configuration on one workload.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Cell<'a> {
    /// The runs' values, in order.
    pub(crate) runs: Vec<RunValue>,
    /// The first summary given, in the unit of the metric.
    pub(crate) summary: Option<Cow<'a, Summary>>,
    /// The number of further summaries given.
    pub(crate) further_summaries: usize,
    /// The step size of the values, if known; `None` for plain counts.
    pub(crate) step: Option<f64>,
}

impl Cell<'_> {
    /// The values of the runs.
    pub(crate) fn values(&self) -> Vec<f64> {
        self.runs.iter().map(|r| r.value).collect()
    }

    /// The machines that have runs of the cell.
    pub(crate) fn machines(&self) -> BTreeSet<usize> {
        self.runs.iter().filter_map(|run| run.machine).collect()
    }

    /// The cell with only its runs on one machine.
    pub(crate) fn on_machine(&self, machine: Option<usize>) -> Self {
        let runs = self.runs.iter().filter(|run| run.machine == machine);
        Cell {
            runs: runs.copied().collect(),
            summary: None,
            further_summaries: 0,
            step: self.step,
        }
    }

    /// The cell split by machine; one cell if there is only one machine.
    pub(crate) fn by_machine(&self) -> Vec<Self> {
        let machines: BTreeSet<Option<usize>> = self.runs.iter().map(|run| run.machine).collect();
        machines
            .into_iter()
            .map(|machine| self.on_machine(machine))
            .collect()
    }
}

/// The standard error that a summary gives or implies.
pub(crate) fn standard_error(summary: &Summary) -> Option<f64> {
    match (summary.spread?, summary.n) {
        (Spread::StandardError(error), _) => Some(error),
        (Spread::StandardDeviation(sd), Some(n)) if n > 0 => Some(sd / f64::from(n).sqrt()),
        (Spread::StandardDeviation(_) | Spread::PrintedP(_), _) => None,
    }
}

/// The records by workload, metric and configuration. Names are in the order of the records' lists,
/// then of first appearance; configurations and workloads are compared without regard to case.
pub(crate) struct Cells<'a> {
    pub(crate) records: &'a Records,
    pub(crate) configurations: Vec<String>,
    pub(crate) workloads: Vec<String>,
    pub(crate) metrics: Vec<MeasuredMetric>,
    /// The machines in order of first appearance; empty if the runs name none.
    pub(crate) machines: Vec<String>,
    /// Workload and configuration of each run, by index into the records.
    pub(crate) run_places: Vec<(usize, usize)>,
    /// The number of values left out because they are not finite or too large.
    pub(crate) left_out: usize,
    /// Memory images by machine, for machines on which several runs of a cell start from the same
    /// image.
    pub(crate) repeated_images: BTreeMap<MachineName<'a>, BTreeSet<u32>>,
    /// The full identities of the runs, computed on first use.
    pub(crate) wholes: OnceLock<PartsByCell>,
    units: CommonUnits,
    cells: BTreeMap<CellKey, Cell<'a>>,
}

/// Names in order, with an index by folded name.
#[derive(Default)]
struct NameIndex {
    names: Vec<String>,
    index: HashMap<String, usize>,
}

impl NameIndex {
    fn index_or_insert(&mut self, name: &str) -> usize {
        let next = self.names.len();
        let index = *self.index.entry(folded(name)).or_insert(next);
        if index == next {
            self.names.push(name.to_owned());
        }
        index
    }
}

impl<'a> Cells<'a> {
    pub(crate) fn new(records: &'a Records) -> Self {
        let mut configurations = NameIndex::default();
        let mut workloads = NameIndex::default();
        for configuration in &records.configurations {
            configurations.index_or_insert(&configuration.name);
        }
        for workload in &records.workloads {
            workloads.index_or_insert(workload);
        }
        let mut table = Cells {
            records,
            configurations: Vec::new(),
            workloads: Vec::new(),
            metrics: Vec::new(),
            machines: Vec::new(),
            run_places: Vec::new(),
            left_out: 0,
            repeated_images: images::repeated(&records.runs),
            wholes: OnceLock::new(),
            units: units_of(records),
            cells: BTreeMap::new(),
        };
        let mut metrics = HashMap::new();
        table.add_runs(&mut configurations, &mut workloads, &mut metrics);
        table.add_summaries(&mut configurations, &mut workloads, &mut metrics);
        for event in &records.events {
            configurations.index_or_insert(&event.configuration);
            workloads.index_or_insert(&event.workload);
        }
        table.configurations = configurations.names;
        table.workloads = workloads.names;
        let steps = steps::of_all(&table);
        for (key, step) in steps {
            if let Some(cell) = table.cells.get_mut(&key) {
                cell.step = Some(step);
            }
        }
        table
    }

    fn add_runs(
        &mut self,
        configurations: &mut NameIndex,
        workloads: &mut NameIndex,
        metrics: &mut HashMap<(String, String), usize>,
    ) {
        for (run, record) in self.records.runs.iter().enumerate() {
            let configuration = configurations.index_or_insert(&record.configuration);
            let workload = workloads.index_or_insert(&record.workload);
            self.run_places.push((workload, configuration));
            let machine = record.machine.as_ref().map(|name| self.machine(name));
            let image = self.image_of(record);
            for (name, measurement) in &record.metrics {
                if !usable(measurement.value) {
                    self.left_out += 1;
                    continue;
                }
                let metric = self.metric(metrics, name, &measurement.unit);
                let key = CellKey {
                    workload,
                    metric,
                    configuration,
                };
                let value = self.converted(measurement.value, &measurement.unit, metric);
                self.cells.entry(key).or_default().runs.push(RunValue {
                    run,
                    value,
                    block: record.block,
                    image,
                    machine,
                });
            }
        }
    }

    /// The names of the metrics; a metric with several units occurs once.
    pub(crate) fn metric_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for metric in &self.metrics {
            if !names.contains(&metric.name) {
                names.push(metric.name.clone());
            }
        }
        names
    }

    pub(crate) fn image_of(&self, run: &Run) -> Option<u32> {
        let images = self.repeated_images.get(&run.machine.as_deref());
        run.image
            .filter(|_| images.is_some_and(|images| images.len() > 1))
    }

    fn add_summaries(
        &mut self,
        configurations: &mut NameIndex,
        workloads: &mut NameIndex,
        metrics: &mut HashMap<(String, String), usize>,
    ) {
        for summary in &self.records.summaries {
            if !usable(summary.mean) {
                self.left_out += 1;
                continue;
            }
            let metric = self.metric(metrics, &summary.metric, &summary.unit);
            let key = CellKey {
                workload: workloads.index_or_insert(&summary.workload),
                metric,
                configuration: configurations.index_or_insert(&summary.configuration),
            };
            let summary = self.converted_summary(summary, metric);
            let cell = self.cells.entry(key).or_default();
            if cell.summary.is_some() {
                cell.further_summaries += 1;
            } else {
                cell.summary = Some(summary);
            }
        }
    }

    fn machine(&mut self, name: &str) -> usize {
        let known = self.machines.iter().position(|machine| machine == name);
        known.unwrap_or_else(|| {
            self.machines.push(name.to_owned());
            self.machines.len() - 1
        })
    }

    fn metric(
        &mut self,
        index: &mut HashMap<(String, String), usize>,
        name: &str,
        unit: &str,
    ) -> usize {
        let next = self.metrics.len();
        let unit = self.units.common_unit(name, unit);
        let known = index
            .entry((name.to_owned(), unit.to_owned()))
            .or_insert(next);
        if *known == next {
            self.metrics.push(MeasuredMetric {
                name: name.to_owned(),
                unit: unit.to_owned(),
            });
        }
        *known
    }

    /// The index of a metric by its name and a unit of its dimension.
    pub(crate) fn metric_of(&self, name: &str, unit: &str) -> Option<usize> {
        let mut metrics = self.metrics.iter();
        metrics.position(|metric| metric.name == name && convert(1.0, unit, &metric.unit).is_some())
    }

    /// Converts a value from the recorded unit to that of its metric.
    pub(crate) fn converted(&self, value: f64, unit: &str, metric: usize) -> f64 {
        convert(value, unit, &self.metrics[metric].unit).unwrap_or(value)
    }

    fn converted_summary<'s>(&self, summary: &'s Summary, metric: usize) -> Cow<'s, Summary> {
        let unit = &self.metrics[metric].unit;
        if summary.unit == *unit {
            return Cow::Borrowed(summary);
        }
        let to = |value| self.converted(value, &summary.unit, metric);
        Cow::Owned(Summary {
            unit: unit.clone(),
            mean: to(summary.mean),
            spread: summary.spread.map(|spread| match spread {
                Spread::StandardError(error) => Spread::StandardError(to(error)),
                Spread::StandardDeviation(sd) => Spread::StandardDeviation(to(sd)),
                Spread::PrintedP(p) => Spread::PrintedP(p),
            }),
            ..summary.clone()
        })
    }

    /// Whether a configuration has a metric on a workload.
    pub(crate) fn has(&self, (workload, metric): (usize, usize), configuration: usize) -> bool {
        let key = CellKey {
            workload,
            metric,
            configuration,
        };
        self.get(key).is_some()
    }

    /// The cell at `key`.
    pub(crate) fn get(&self, key: CellKey) -> Option<&Cell<'a>> {
        self.cells.get(&key)
    }

    /// All cells, ordered by workload, metric, configuration.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (CellKey, &Cell<'a>)> {
        self.cells.iter().map(|(key, cell)| (*key, cell))
    }

    /// The cells of one metric in one workload, ordered by configuration.
    pub(crate) fn row(
        &self,
        workload: usize,
        metric: usize,
    ) -> impl Iterator<Item = (usize, &Cell<'a>)> {
        let key = |configuration| CellKey {
            workload,
            metric,
            configuration,
        };
        self.cells
            .range(key(0)..=key(usize::MAX))
            .map(|(key, cell)| (key.configuration, cell))
    }

    /// Pairs of workload and metric that have any cell, in order.
    pub(crate) fn rows(&self) -> Vec<(usize, usize)> {
        let mut rows: Vec<_> = self.cells.keys().map(|k| (k.workload, k.metric)).collect();
        rows.dedup();
        rows
    }

    /// The configurations that have any cell in a workload, in order.
    pub(crate) fn present(&self, workload: usize) -> Vec<usize> {
        let first = |workload| CellKey {
            workload,
            metric: 0,
            configuration: 0,
        };
        let cells = self.cells.range(first(workload)..first(workload + 1));
        let mut present: Vec<usize> = cells.map(|(key, _)| key.configuration).collect();
        present.sort_unstable();
        present.dedup();
        present
    }

    /// The index of a configuration by its name in the records.
    pub(crate) fn configuration(&self, name: &str) -> Option<usize> {
        let wanted = folded(name);
        self.configurations.iter().position(|c| folded(c) == wanted)
    }

    /// The index of a workload by its name in the records.
    pub(crate) fn workload(&self, name: &str) -> Option<usize> {
        let wanted = folded(name);
        self.workloads.iter().position(|w| folded(w) == wanted)
    }
}

/// Every unit in which a metric was recorded.
fn units_of(records: &Records) -> CommonUnits {
    let mut units = CommonUnits::default();
    for run in &records.runs {
        for (name, measurement) in &run.metrics {
            units.note(name, &measurement.unit);
        }
    }
    for summary in &records.summaries {
        units.note(&summary.metric, &summary.unit);
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;
    use assize_bundle::{Measurement, Run};

    fn run(configuration: &str, metric: &str, value: f64, unit: &str) -> Run {
        let mut run = Run::new(configuration, "w", 1);
        run.metrics
            .insert(metric.into(), Measurement::new(value, unit));
        run
    }

    #[test]
    fn names_differing_in_case_are_one_configuration() {
        let records = Records {
            runs: vec![run("Base", "t", 1.0, "s"), run("base", "t", 2.0, "s")],
            ..Records::default()
        };
        let cells = Cells::new(&records);
        assert_eq!(cells.configurations, ["Base"]);
        let key = CellKey {
            workload: 0,
            metric: 0,
            configuration: 0,
        };
        assert_eq!(cells.get(key).unwrap().values(), [1.0, 2.0]);
    }

    #[test]
    fn units_of_one_dimension_are_one_metric() {
        let records = Records {
            runs: vec![run("a", "t", 1500.0, "ms"), run("b", "t", 2.0, "s")],
            ..Records::default()
        };
        let cells = Cells::new(&records);
        assert_eq!(cells.metrics.len(), 1);
        assert_eq!(cells.metrics[0].unit, "s");
        let values = |configuration| {
            let key = CellKey {
                workload: 0,
                metric: 0,
                configuration,
            };
            cells.get(key).unwrap().values()
        };
        assert_eq!((values(0), values(1)), (vec![1.5], vec![2.0]));
    }

    #[test]
    fn one_name_in_two_units_is_two_metrics_and_nan_is_left_out() {
        let records = Records {
            runs: vec![
                run("a", "t", 1.0, "s"),
                run("a", "t", 1000.0, "J"),
                run("a", "t", f64::NAN, "s"),
            ],
            ..Records::default()
        };
        let cells = Cells::new(&records);
        assert_eq!(cells.metrics.len(), 2);
        assert_eq!(cells.rows(), [(0, 0), (0, 1)]);
        assert_eq!(cells.left_out, 1);
    }
}
