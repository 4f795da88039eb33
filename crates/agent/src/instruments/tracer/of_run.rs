//! The records that all tracers have.

use std::collections::BTreeMap;

use assize_job::AgentMessage;
use assize_job::gaps::Cause;

use super::RunObservation;
use crate::records::{metric, number, raw};

/// The exposure and the text.
pub(super) fn records(outcome: &RunObservation<'_>) -> Vec<AgentMessage> {
    let name = &outcome.seen.source;
    let observed = number(observed_ns(outcome));
    let could = number(outcome.span_ns) * number(outcome.seen.cpus.len() as u64);
    let share = (100.0 * observed / could.max(1.0)).min(100.0);
    vec![
        metric(format!("{name}_observed"), observed, "ns"),
        metric(format!("{name}_watched_share"), share, "%"),
        raw(format!("{name}.txt"), outcome.seen.text()),
    ]
}

/// The exposure: the total of all CPUs, in nanoseconds.
pub(super) fn observed_ns(outcome: &RunObservation<'_>) -> u64 {
    let all = outcome.seen.cpus.iter().map(|cpu| cpu.observed_ns);
    all.fold(0, u64::saturating_add)
}

/// The record of the latencies with some causes. It has times only if each latency has
/// its own.
pub(super) fn events(
    outcome: &RunObservation<'_>,
    name: &str,
    which: impl Fn(Cause) -> bool,
) -> AgentMessage {
    let gaps = outcome.seen.gaps.iter().filter(|gap| which(gap.cause));
    let count = gaps.clone().map(|gap| gap.count).sum();
    let times: Vec<u64> = gaps.map(|gap| gap.at_ns).collect();
    let known = times.len() as u64 == count;
    record(outcome, name, count, if known { times } else { Vec::new() })
}

/// The record of events at these times, which must ascend.
pub(super) fn events_at(outcome: &RunObservation<'_>, name: &str, t_ns: Vec<u64>) -> AgentMessage {
    record(outcome, name, t_ns.len() as u64, t_ns)
}

fn record(outcome: &RunObservation<'_>, name: &str, count: u64, t_ns: Vec<u64>) -> AgentMessage {
    AgentMessage::Events {
        event: name.to_owned(),
        count,
        exposure_ns: observed_ns(outcome),
        t_ns,
        span_ns: Some(outcome.span_ns),
        tolerated_ns: None,
    }
}

/// A histogram of lengths in nanoseconds; `None` if there are none.
pub(super) fn histogram(metric: &str, lengths: impl Iterator<Item = u64>) -> Option<AgentMessage> {
    let mut buckets: BTreeMap<u64, u64> = BTreeMap::new();
    for length in lengths {
        *buckets.entry(length).or_default() += 1;
    }
    (!buckets.is_empty()).then(|| AgentMessage::Histogram {
        metric: metric.into(),
        unit: "ns".into(),
        buckets: buckets.into_iter().collect(),
        exact: true,
    })
}
