//! The overhead of each instrument: an empty workload with and without it.

use std::collections::BTreeMap;

use assize_job::{
    AgentMessage, CommandWorkload, ELAPSED, INSTRUMENTS, Job, Order, Payload, Workload,
    WorkloadKind,
};
use assize_report::significant;
use assize_target::exact::Options;
use assize_target::{RunOutcome, Target};
use serde::Serialize;

use crate::failure::Failure;
use crate::run::target_of;

/// Number of runs with and without each instrument, each with another seed, because exact runs with
/// one seed are identical.
const RUNS: u64 = 9;
/// The instrument that measures the others where the target has it.
const COUNTING: &str = "guest-instructions";

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct InstrumentOverhead {
    instrument: String,
    /// For each metric, the medians without and with the instrument.
    metrics: BTreeMap<String, [f64; 2]>,
    /// The reason, if it could not be measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    unavailable: Option<String>,
}

/// Measures every instrument on a target.
pub(super) fn measure(target: &str) -> Result<Vec<InstrumentOverhead>, Failure> {
    let here = target_of(target, Options::default())?;
    // Only exact machines have this instrument.
    let always: &[&str] = if target == "exact" { &[COUNTING] } else { &[] };
    let instruments = |more: Option<&str>| -> Vec<String> {
        let all = always.iter().copied().chain(more);
        all.map(str::to_string).collect()
    };
    let others = INSTRUMENTS.iter().filter(|i| i.name != COUNTING);
    let mut orders = orders(&instruments(None));
    for instrument in others.clone() {
        orders.extend(self::orders(&instruments(Some(instrument.name))));
    }
    here.prepare(&orders)?;
    let without = medians(&answers(here.as_ref(), &instruments(None))?);
    let mut costs = Vec::new();
    for instrument in others {
        let with = answers(here.as_ref(), &instruments(Some(instrument.name)))?;
        costs.push(cost(instrument.name, &without, &with));
    }
    Ok(costs)
}

/// The empty workload.
fn nothing() -> Workload {
    Workload {
        name: "true".into(),
        kind: WorkloadKind::Command(CommandWorkload {
            argv: vec!["true".into()],
            statuses: vec![0],
            ..CommandWorkload::default()
        }),
    }
}

fn orders(instruments: &[String]) -> Vec<Order> {
    let order = |seed| Order {
        job: Job {
            seed,
            workload: nothing(),
            instruments: instruments.to_vec(),
            timeout_ms: 60_000,
            ..Job::default()
        },
        payload: Payload {
            programs: vec!["true".into()],
            ..Payload::default()
        },
        ..Order::default()
    };
    (1..=RUNS).map(order).collect()
}

/// The agent's messages of each completed run.
fn answers(target: &dyn Target, instruments: &[String]) -> Result<Vec<Vec<AgentMessage>>, Failure> {
    let mut answers = Vec::new();
    for order in orders(instruments) {
        match target.run(&order, 0)?.outcome {
            RunOutcome::Completed(records) => answers.push(records),
            RunOutcome::Failed { failure, .. } => {
                return Err(Failure::Target(assize_target::Error {
                    what: format!("run an empty workload with [{}]", instruments.join(", ")),
                    why: failure.to_string(),
                    mend: None,
                    wrong_use: false,
                }));
            }
        }
    }
    Ok(answers)
}

/// The metrics compared: the time of the workload, and instructions.
const COMPARED: [&str; 2] = [ELAPSED, "guest_instructions"];

fn medians(answers: &[Vec<AgentMessage>]) -> BTreeMap<String, f64> {
    let mut all: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for record in answers.iter().flatten() {
        if let AgentMessage::Metric { metric, value, .. } = record
            && COMPARED.contains(&metric.as_str())
        {
            all.entry(metric.clone()).or_default().push(*value);
        }
    }
    all.into_iter()
        .filter_map(|(metric, mut values)| {
            values.sort_by(f64::total_cmp);
            let median = assize_judge::quantile::type7(&values, 0.5).ok()?;
            Some((metric, median))
        })
        .collect()
}

fn cost(
    instrument: &str,
    without: &BTreeMap<String, f64>,
    with: &[Vec<AgentMessage>],
) -> InstrumentOverhead {
    let unavailable = with.iter().flatten().find_map(|record| match record {
        AgentMessage::Unavailable {
            instrument: name,
            metric: None,
            reason,
        } if name == instrument => Some(reason.clone()),
        _ => None,
    });
    let metrics = match &unavailable {
        Some(_) => BTreeMap::new(),
        None => medians(with)
            .into_iter()
            .filter_map(|(metric, with)| {
                let without = *without.get(&metric)?;
                Some((metric, [without, with]))
            })
            .collect(),
    };
    InstrumentOverhead {
        instrument: instrument.into(),
        metrics,
        unavailable,
    }
}

/// The overhead as a table.
pub(super) fn text(target: &str, costs: &[InstrumentOverhead]) -> String {
    let mut text = format!(
        "\noverhead on {target}: medians of {RUNS} runs of an empty workload\n\
         {:20} {:>20} {:>12} {:>12}\n",
        "instrument", "metric", "without", "with"
    );
    for cost in costs {
        if let Some(why) = &cost.unavailable {
            text.push_str(&format!("{:20} unavailable: {why}\n", cost.instrument));
        }
        for (metric, [without, with]) in &cost.metrics {
            let unit = if metric == ELAPSED { " (ns)" } else { "" };
            text.push_str(&format!(
                "{:20} {:>20} {:>12} {:>12}\n",
                cost.instrument,
                format!("{metric}{unit}"),
                significant(*without, 4),
                significant(*with, 4)
            ));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metric(value: f64) -> Vec<AgentMessage> {
        vec![AgentMessage::Metric {
            metric: ELAPSED.into(),
            value,
            unit: "ns".into(),
        }]
    }

    #[test]
    fn medians_are_compared() {
        let without = medians(&[metric(1.0), metric(9.0), metric(2.0)]);
        let cost = cost("wakeup", &without, &[metric(4.0), metric(5.0), metric(6.0)]);
        assert_eq!(cost.metrics[ELAPSED], [2.0, 5.0]);
        assert!(text("host", &[cost]).contains("wakeup"));
    }

    #[test]
    fn an_instrument_that_is_not_there_costs_nothing_and_says_so() {
        let mut answer = metric(4.0);
        answer.push(AgentMessage::Unavailable {
            instrument: "energy".into(),
            metric: None,
            reason: "no RAPL".into(),
        });
        let cost = cost("energy", &medians(&[metric(1.0)]), &[answer]);
        assert!(cost.metrics.is_empty());
        assert!(text("host", &[cost]).contains("unavailable: no RAPL"));
    }
}
