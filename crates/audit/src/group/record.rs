//! Turns items with a decided configuration and workload into records.

use std::collections::{BTreeMap, HashMap};

use assize_bundle::{
    Events, Measurement, Place, Records, Resolution, Run, Spread, Statement, Summary, Unsupported,
};

use super::item::{Item, Stand, doubt, name_of};
use super::names::tool;
use crate::grammar::block::{Figure, Finding};

/// Runs as they are collected.
#[derive(Default)]
pub(super) struct Runs {
    /// The coarsest step in which a metric of a cell was printed, by
    /// configuration, workload, metric and unit.
    steps: BTreeMap<[String; 4], f64>,
    runs: Vec<(Run, Execution)>,
    /// The runs of each cell in each message and quote depth, in order.
    cells: HashMap<(String, String, Stand), Vec<usize>>,
}

/// What tells one execution from another.
#[derive(Clone, Copy)]
struct Execution {
    repetition: Option<u32>,
    command: Option<Place>,
}

impl Execution {
    /// Whether figures of the two may be of the same execution: the same
    /// repetition by name, or the same execution of a command.
    fn fits(self, other: Execution) -> bool {
        match (self.repetition, self.command) {
            (Some(_), _) => self.repetition == other.repetition,
            (None, Some(_)) => self.command == other.command && other.repetition.is_none(),
            (None, None) => false,
        }
    }
}

/// How many earlier runs of a cell are searched for the one to which the figures of a later block
/// belong.
const LOOK_BACK: usize = 256;

impl Runs {
    /// Adds a run, or joins its figures to the run they belong to.
    fn add(&mut self, run: Run, execution: Execution, stand: Stand) {
        let key = (run.configuration.clone(), run.workload.clone(), stand);
        let cell = self.cells.entry(key).or_default();
        let runs = &mut self.runs;
        let mate = cell.iter().rev().take(LOOK_BACK).copied().find(|&at| {
            let (other, other_execution) = &runs[at];
            let apart = |metric| !run.metrics.contains_key(metric);
            execution.fits(*other_execution) && other.metrics.keys().all(apart)
        });
        match mate {
            Some(at) => runs[at].0.metrics.extend(run.metrics),
            None => {
                cell.push(runs.len());
                runs.push((run, execution));
            }
        }
    }

    /// Records the step in which a figure was printed. Plain counts are exact and have none.
    fn note_step(&mut self, configuration: &str, workload: &str, figure: &Figure) {
        let is_count = figure.unit.is_empty() && figure.value.fract() == 0.0;
        let Some(step) = figure.step.filter(|_| !is_count) else {
            return;
        };
        let key = [configuration, workload, &figure.metric, &figure.unit].map(str::to_owned);
        let known = self.steps.entry(key).or_insert(step);
        *known = known.max(step);
    }

    /// In which steps figures were printed.
    pub(super) fn resolutions(&self) -> Vec<Resolution> {
        let resolution = |(of, &step): (&[String; 4], &f64)| {
            let [configuration, workload, metric, unit] = of.clone();
            Resolution {
                configuration,
                workload,
                metric,
                unit,
                step,
            }
        };
        self.steps.iter().map(resolution).collect()
    }

    /// The runs, with repetitions counted from 1.
    pub(super) fn finish(self) -> Vec<Run> {
        let mut count: BTreeMap<(String, String), u32> = BTreeMap::new();
        let mut runs: Vec<Run> = self.runs.into_iter().map(|(run, ..)| run).collect();
        for (order, run) in runs.iter_mut().enumerate() {
            let cell = (run.configuration.clone(), run.workload.clone());
            let repetition = count.entry(cell).or_default();
            *repetition += 1;
            run.repetition = *repetition;
            run.order = order as u32;
        }
        runs
    }
}

/// Adds what an item holds to the records.
pub(super) fn record(
    records: &mut Records,
    runs: &mut Runs,
    item: Item,
    names: &BTreeMap<String, String>,
) {
    let configuration = name_of(&item, names);
    let workload = item.workload_name.clone().unwrap_or_default();
    match item.finding {
        Finding::Run { labels, figures } => {
            let mut run = Run::new(configuration, workload, 1);
            run.place = item.place;
            for figure in figures {
                runs.note_step(&run.configuration, &run.workload, &figure);
                let measurement = Measurement::new(figure.value, figure.unit);
                run.metrics.insert(figure.metric, measurement);
            }
            let execution = Execution {
                repetition: labels.repetition,
                command: item.command.map(|(place, _)| place),
            };
            runs.add(run, execution, item.stand);
        }
        Finding::Summary {
            figure, spread, n, ..
        } => {
            runs.note_step(&configuration, &workload, &figure);
            if n == Some(0) {
                let detail = format!("{} is said to be the mean of 0 runs", figure.metric);
                records.doubts.push(doubt("bad-number", detail, item.place));
            }
            let usable = |spread: &Spread| {
                let (Spread::StandardError(value)
                | Spread::StandardDeviation(value)
                | Spread::PrintedP(value)) = *spread;
                value.is_finite() && value >= 0.0
            };
            records.summaries.push(Summary {
                configuration,
                workload,
                metric: figure.metric,
                unit: figure.unit,
                mean: figure.value,
                spread: spread.filter(usable),
                n: n.filter(|n| *n > 0),
                place: item.place,
            });
        }
        _ => record_other(records, item, configuration, workload),
    }
}

/// Adds an item that is neither a run nor a mean.
fn record_other(records: &mut Records, item: Item, configuration: String, workload: String) {
    let place = item.place;
    match item.finding {
        Finding::Events {
            event,
            count,
            exposure_s,
            times_s,
            ..
        } => records.events.push(Events {
            configuration,
            workload,
            event,
            count,
            exposure_s,
            times_s,
            span_s: None,
            tolerated_s: None,
            by_run: Vec::new(),
            place,
        }),
        // A statement names a configuration and a workload only if the post does.
        Finding::Statement {
            figure,
            normalised_to,
            ..
        } => records.statements.push(Statement {
            configuration: item.configuration_label.map(|_| configuration),
            workload: Some(workload).filter(|name| name != tool(item.format)),
            metric: figure.metric,
            unit: figure.unit,
            value: figure.value,
            normalised_to,
            not_admitted: item.not_admitted,
            place,
        }),
        Finding::Unsupported { metric, reason, .. } => records.unsupported.push(Unsupported {
            configuration,
            workload,
            metric,
            reason,
            place,
        }),
        _ => {}
    }
}
