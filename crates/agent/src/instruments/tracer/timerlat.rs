//! timerlat: a timer on each CPU that wakes a thread of high priority.

use assize_job::gaps::{Cause, Gap};
use assize_job::{AgentMessage, TracerKind, TracerSettings};

use super::event::{self, TracerEvent};
use super::observation::{self, CpuObservation, RunObservation, TracerDescription};
use crate::instruments::tracefs::CpuEvents;

pub(super) static TIMERLAT: TracerDescription = TracerDescription {
    kind: TracerKind::Timerlat,
    option: "CONFIG_TIMERLAT_TRACER",
    events: &[
        event::NMI.0,
        event::IRQ.0,
        event::SOFTIRQ.0,
        event::THREAD.0,
    ],
    read: &[
        ("ftrace/timerlat", &["context", "timer_latency"], |fields| {
            Some(TracerEvent::Timer {
                in_thread: fields.number("context")? != 0,
                late_ns: fields.number("timer_latency")?,
            })
        }),
        event::NMI,
        event::IRQ,
        event::SOFTIRQ,
        event::THREAD,
    ],
    filter: None,
    observe,
    records,
};

/// Finds the latencies. A timer counts, together with the period before it, if its thread
/// ran before recording stopped.
fn observe(trace: &CpuEvents<TracerEvent>, settings: &TracerSettings) -> CpuObservation {
    let threshold = settings.threshold_ns;
    let mut observed = CpuObservation::default();
    let (mut irq, mut parts) = (None, Vec::new());
    let mut due: Option<(u64, u64)> = None;
    for &(at, event) in &trace.events {
        match event {
            TracerEvent::Part {
                cause, duration_ns, ..
            } => parts.push((cause, duration_ns)),
            TracerEvent::Timer {
                in_thread: false,
                late_ns,
            } => {
                irq = Some((at, late_ns));
                parts.clear();
            }
            TracerEvent::Timer {
                in_thread: true,
                late_ns,
            } => {
                let Some((irq_at, irq_ns)) = irq.take() else {
                    continue;
                };
                let was_due = at.saturating_sub(late_ns);
                due = Some((due.map_or(was_due, |(first, _)| first), was_due));
                observed.irq_ns.push(irq_ns);
                observed.thread_ns.push(late_ns);
                if irq_ns >= threshold {
                    observed.late_irqs.push(irq_at.saturating_sub(irq_ns));
                }
                if late_ns >= threshold {
                    observed.latencies.push(Gap {
                        cpu: trace.cpu,
                        at_ns: was_due,
                        length_ns: late_ns,
                        cause: cause(&parts, irq_ns, late_ns),
                        switches: count_of_cause(&parts, Cause::Switch),
                        interrupts: count_of_cause(&parts, Cause::Interrupt)
                            + count_of_cause(&parts, Cause::Nmi),
                        softirqs: count_of_cause(&parts, Cause::Softirq),
                        count: 1,
                    });
                }
            }
            _ => {}
        }
    }
    if let Some((first, last)) = due {
        observed.observed_ns = last.saturating_sub(first) + settings.period_ns;
    }
    observed
}

fn count_of_cause(parts: &[(Cause, u64)], wanted: Cause) -> u64 {
    parts.iter().filter(|(cause, _)| *cause == wanted).count() as u64
}

/// The cause of a latency: what took the CPU between the interrupt and the thread for at
/// least half of it. Otherwise the CPU was not available, or had interrupts off.
fn cause(parts: &[(Cause, u64)], irq_ns: u64, late_ns: u64) -> Cause {
    let longest = parts.iter().max_by_key(|(_, duration)| *duration);
    match longest {
        Some((cause, duration)) if irq_ns < late_ns / 2 && *duration >= late_ns / 2 => *cause,
        _ => Cause::Unexplained,
    }
}

fn records(outcome: &RunObservation<'_>) -> Vec<AgentMessage> {
    let mut irqs: Vec<u64> = outcome
        .cpus
        .iter()
        .flat_map(|cpu| cpu.late_irqs.iter().copied())
        .collect();
    irqs.sort_unstable();
    let mut records = vec![
        observation::events(outcome, "timerlat_late", |_| true),
        observation::events_at(outcome, "timerlat_late_irq", irqs),
    ];
    let all = |series: fn(&CpuObservation) -> &[u64]| outcome.cpus.iter().flat_map(series).copied();
    let irq = all(|cpu| &cpu.irq_ns);
    records.extend(observation::histogram("timerlat_irq_latency", irq));
    let thread = all(|cpu| &cpu.thread_ns);
    records.extend(observation::histogram("timerlat_thread_latency", thread));
    records
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    fn timer(in_thread: bool, late_ns: u64) -> TracerEvent {
        TracerEvent::Timer { in_thread, late_ns }
    }

    fn observed(events: &[(u64, TracerEvent)]) -> CpuObservation {
        let trace = CpuEvents {
            cpu: 2,
            events: events.to_vec(),
        };
        observe(&trace, &TracerSettings::for_kind(TracerKind::Timerlat))
    }

    #[test]
    fn a_timer_is_late_when_its_thread_is_and_stands_for_a_period() {
        let seen = observed(&[
            // From a timer before recording began.
            (500, timer(true, 400)),
            (1_002_000, timer(false, 2000)),
            (1_004_000, timer(true, 4000)),
            (2_060_000, timer(false, 60_000)),
            (2_063_000, timer(true, 63_000)),
            // Its thread had not run yet.
            (3_002_000, timer(false, 2000)),
        ]);
        assert_eq!(seen.irq_ns, [2000, 60_000]);
        assert_eq!(seen.thread_ns, [4000, 63_000]);
        assert_eq!(seen.observed_ns, 2_000_000);
        assert_eq!(seen.late_irqs, [2_000_000]);
        let late = seen.latencies[0];
        assert_eq!(
            (late.at_ns, late.length_ns, late.cpu),
            (2_000_000, 63_000, 2)
        );
        assert_eq!(late.cause, Cause::Unexplained);
        assert_eq!(seen.latencies.len(), 1);
        assert_eq!(observed(&[]).observed_ns, 0);
    }

    #[test]
    fn a_late_thread_is_of_what_held_its_cpu_for_half_of_that() {
        let part = |cause, duration_ns| TracerEvent::Part {
            cause,
            start_ns: 0,
            duration_ns,
        };
        let cause = |parts: &[TracerEvent], irq| {
            let mut events = vec![(1_001_000, timer(false, irq))];
            events.extend(parts.iter().map(|part| (1_010_000, *part)));
            events.push((1_040_000, timer(true, 40_000)));
            observed(&events).latencies[0].cause
        };
        let softirq = part(Cause::Softirq, 30_000);
        let irq = part(Cause::Interrupt, 2000);
        assert_eq!(cause(&[irq, softirq], 1000), Cause::Softirq);
        assert_eq!(cause(&[irq], 1000), Cause::Unexplained);
        assert_eq!(cause(&[softirq], 35_000), Cause::Unexplained);
        assert_eq!(cause(&[], 1000), Cause::Unexplained);
    }
}
