//! How tracers are used, what they observe in a run, and records that all have in common.

use assize_job::gaps::{Cause, Gap, Seen, Window};
use assize_job::{AgentMessage, TracerKind, TracerSettings};

use super::event::{EventReading, Times, TracerEvent};
use crate::instruments::tracefs::CpuEvents;
use crate::records::{self, metric, number, raw};

/// How to use a tracer.
pub(super) struct TracerDescription {
    pub(super) kind: TracerKind,
    /// The configuration option that the kernel needs.
    pub(super) option: &'static str,
    /// Trace events to enable in addition to what the tracer records itself.
    pub(super) events: &'static [&'static str],
    /// The events to decode, and how.
    pub(super) read: &'static [EventReading],
    /// The filter of sched/sched_switch, if that event is enabled.
    pub(super) filter: Option<&'static str>,
    /// Evaluates the events of one CPU.
    pub(super) observe: fn(&CpuEvents<TracerEvent>, &TracerSettings) -> CpuObservation,
    /// Makes the records, except those that all tracers have.
    pub(super) records: fn(&RunObservation<'_>) -> Vec<AgentMessage>,
}

/// What a tracer observed on one CPU. Times are those of CLOCK_MONOTONIC, except for
/// latencies of hwlat, which are on CLOCK_REALTIME.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CpuObservation {
    /// Nanoseconds in which a latency would have been seen.
    pub(super) observed_ns: u64,
    /// When it watched; empty for timerlat, which always watches.
    pub(super) windows: Vec<Window>,
    /// Each latency at or above the threshold.
    pub(super) latencies: Vec<Gap>,
    /// When timerlat's late timer interrupts were due.
    pub(super) late_irqs: Vec<u64>,
    /// Latency of each timer interrupt, and then of the thread.
    pub(super) irq_ns: Vec<u64>,
    pub(super) thread_ns: Vec<u64>,
    /// CPU time taken by each cause.
    pub(super) time_ns: Times,
}

/// What a tracer observed in a run.
pub(super) struct RunObservation<'a> {
    pub(super) settings: &'a TracerSettings,
    pub(super) seen: &'a Seen,
    /// In the same order as the CPUs of `seen`.
    pub(super) cpus: &'a [CpuObservation],
    pub(super) span_ns: u64,
}

/// The records that all tracers have: the exposure and the raw text.
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

/// The record of the latencies with some causes. It has times only if the time of each
/// latency is known.
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
pub(super) fn histogram(name: &str, lengths: impl Iterator<Item = u64>) -> Option<AgentMessage> {
    let mut lengths = lengths.peekable();
    lengths.peek()?;
    Some(records::histogram(name, "ns", lengths))
}
