//! Items whose place is decided become records.

use std::collections::BTreeMap;

use assize_bundle::{
    Events, Measurement, Place, Records, Run, Spread, Statement, Summary, Unsupported,
};

use super::Item;
use super::assemble::name_of;
use super::repeat::Stand;
use crate::grammar::{Figure, Finding};

/// Runs as they are collected.
#[derive(Default)]
pub(super) struct Runs {
    runs: Vec<(Run, Option<u32>, Option<Place>, Stand)>,
}

impl Runs {
    /// Adds a run, or joins its figures to the run they belong to: the same
    /// repetition by name, or the same execution of a command.
    fn add(&mut self, run: Run, repetition: Option<u32>, command: Option<Place>, stand: Stand) {
        let mate = self.runs.iter_mut().rev().take(256).find(
            |(other, other_repetition, other_command, other_stand)| {
                other.configuration == run.configuration
                    && other.workload == run.workload
                    && *other_stand == stand
                    && other
                        .metrics
                        .keys()
                        .all(|metric| !run.metrics.contains_key(metric))
                    && match (repetition, command) {
                        (Some(_), _) => *other_repetition == repetition,
                        (None, Some(_)) => *other_command == command && other_repetition.is_none(),
                        (None, None) => false,
                    }
            },
        );
        match mate {
            Some((other, ..)) => other.metrics.extend(run.metrics),
            None => self.runs.push((run, repetition, command, stand)),
        }
    }

    /// The runs, with repetitions counted from 1.
    pub(super) fn finish(self) -> Vec<Run> {
        let mut count: BTreeMap<(String, String), u32> = BTreeMap::new();
        let mut runs: Vec<Run> = self.runs.into_iter().map(|(run, ..)| run).collect();
        for (order, run) in runs.iter_mut().enumerate() {
            let repetition = count
                .entry((run.configuration.clone(), run.workload.clone()))
                .or_insert(0);
            *repetition += 1;
            run.repetition = *repetition;
            run.order = order as u32;
        }
        runs
    }
}

/// Where a record belongs.
struct Cell {
    configuration: String,
    /// Whether the post gives the configuration a name.
    named: bool,
    workload: String,
    place: Place,
    format: &'static str,
}

/// Adds what an item holds to the records.
pub(super) fn record(
    records: &mut Records,
    runs: &mut Runs,
    item: Item,
    names: &BTreeMap<String, String>,
) {
    let cell = Cell {
        configuration: name_of(&item, names),
        named: item.configuration_label.is_some(),
        workload: item.workload_name.clone().unwrap_or_default(),
        place: item.place,
        format: item.format,
    };
    match item.finding {
        Finding::Run { labels, figures } => {
            let mut run = Run::new(cell.configuration, cell.workload, 1);
            run.place = cell.place;
            for figure in figures {
                let measurement = Measurement::new(figure.value, figure.unit);
                run.metrics.insert(figure.metric, measurement);
            }
            let command = item.command.map(|(place, _)| place);
            runs.add(run, labels.repetition, command, item.stand);
        }
        other => record_other(records, cell, other),
    }
}

fn record_other(records: &mut Records, cell: Cell, finding: Finding) {
    match finding {
        Finding::Summary {
            figure, spread, n, ..
        } => records.summaries.push(Summary {
            configuration: cell.configuration,
            workload: cell.workload,
            metric: figure.metric,
            unit: figure.unit,
            mean: figure.value,
            spread: spread.filter(|spread| is_usable(*spread)),
            n,
            place: cell.place,
        }),
        Finding::Events {
            event,
            count,
            exposure_s,
            times_s,
            ..
        } => records.events.push(Events {
            configuration: cell.configuration,
            workload: cell.workload,
            event,
            count,
            exposure_s,
            times_s,
            place: cell.place,
        }),
        Finding::Statement {
            figure,
            normalised_to,
            ..
        } => records
            .statements
            .push(statement(cell, figure, normalised_to)),
        Finding::Unsupported { metric, reason, .. } => records.unsupported.push(Unsupported {
            configuration: cell.configuration,
            workload: cell.workload,
            metric,
            reason,
            place: cell.place,
        }),
        Finding::Run { .. } | Finding::Sample(_) | Finding::Command(_) | Finding::Doubt(..) => {}
    }
}

/// A statement names a configuration and a workload only if the post does.
fn statement(cell: Cell, figure: Figure, normalised_to: Option<String>) -> Statement {
    Statement {
        configuration: cell.named.then_some(cell.configuration),
        workload: Some(cell.workload).filter(|name| name != cell.format),
        metric: figure.metric,
        unit: figure.unit,
        value: figure.value,
        normalised_to,
        place: cell.place,
    }
}

fn is_usable(spread: Spread) -> bool {
    let (Spread::StandardError(value) | Spread::StandardDeviation(value)) = spread;
    value.is_finite() && value >= 0.0
}
