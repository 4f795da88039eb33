//! osnoise: a loop that reads the clock and can be interrupted like any thread.

use assize_job::gaps::{Cause, Gap, Window};
use assize_job::{AgentMessage, TracerKind, TracerSettings};

use super::event::{self, Times, TracerEvent};
use super::observation::{self, CpuObservation, RunObservation, TracerDescription};
use crate::instruments::tracefs::CpuEvents;
use crate::records::{metric, number};

pub(super) static OSNOISE: TracerDescription = TracerDescription {
    kind: TracerKind::Osnoise,
    option: "CONFIG_OSNOISE_TRACER",
    events: &[
        "osnoise/sample_threshold",
        event::NMI.0,
        event::IRQ.0,
        event::SOFTIRQ.0,
        event::THREAD.0,
    ],
    read: &[
        (
            "osnoise/sample_threshold",
            &["start", "duration", "interference"],
            |fields| {
                Some(TracerEvent::Noise {
                    start_ns: fields.number("start")?,
                    duration_ns: fields.number("duration")?,
                    interferences: fields.number("interference")?,
                })
            },
        ),
        ("ftrace/osnoise", &["runtime"], |fields| {
            fields.number("runtime").map(TracerEvent::Sample)
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

/// Finds the windows and their noise. What follows the last completed window is ignored.
fn observe(trace: &CpuEvents<TracerEvent>, _: &TracerSettings) -> CpuObservation {
    let is_sample = |(_, event): &(u64, TracerEvent)| matches!(event, TracerEvent::Sample(_));
    let whole = trace.events.iter().rposition(is_sample);
    let events = whole.and_then(|end| trace.events.get(..=end));
    let events = events.unwrap_or_default();
    let mut observed = CpuObservation::default();
    let mut parts: Vec<(Cause, u64, u64)> = Vec::new();
    for &(at, event) in events {
        match event {
            TracerEvent::Sample(runtime_us) => {
                let length_ns = runtime_us.saturating_mul(1000);
                observed.observed_ns += length_ns;
                observed.windows.push(Window {
                    cpu: trace.cpu,
                    at_ns: at.saturating_sub(length_ns),
                    length_ns,
                });
                parts.clear();
            }
            TracerEvent::Part {
                cause,
                start_ns,
                duration_ns,
            } => {
                observed.time_ns.add(cause, duration_ns);
                parts.push((cause, start_ns, duration_ns));
            }
            TracerEvent::Noise {
                start_ns,
                duration_ns,
                interferences,
            } => {
                let end_ns = start_ns.saturating_add(duration_ns);
                let of_it = parts
                    .iter()
                    .filter(|(_, start, _)| (start_ns..end_ns).contains(start));
                let cause = cause(of_it.clone(), interferences);
                if cause == Cause::Unexplained {
                    observed.time_ns.add(cause, duration_ns);
                }
                let many =
                    |wanted| of_it.clone().filter(|(cause, ..)| *cause == wanted).count() as u64;
                observed.latencies.push(Gap {
                    cpu: trace.cpu,
                    at_ns: at.saturating_sub(duration_ns),
                    length_ns: duration_ns,
                    cause,
                    switches: many(Cause::Switch),
                    interrupts: many(Cause::Interrupt) + many(Cause::Nmi),
                    softirqs: many(Cause::Softirq),
                    count: 1,
                });
                parts.retain(|(_, start, _)| *start >= end_ns);
            }
            _ => {}
        }
    }
    observed
}

/// The cause of a noise: `Unexplained` if the kernel knows of none, otherwise whatever
/// took the CPU for the longest time.
fn cause<'p>(parts: impl Iterator<Item = &'p (Cause, u64, u64)>, interferences: u64) -> Cause {
    if interferences == 0 {
        return Cause::Unexplained;
    }
    let longest = parts.max_by_key(|(_, _, duration)| *duration);
    longest.map_or(Cause::Unclear, |(cause, ..)| *cause)
}

fn records(outcome: &RunObservation<'_>) -> Vec<AgentMessage> {
    let mut records = vec![observation::events(outcome, "osnoise", |_| true)];
    for (name, cause) in [
        ("osnoise_hardware", Cause::Unexplained),
        ("osnoise_nmi", Cause::Nmi),
        ("osnoise_irq", Cause::Interrupt),
        ("osnoise_softirq", Cause::Softirq),
        ("osnoise_thread", Cause::Switch),
        ("osnoise_unclear", Cause::Unclear),
    ] {
        records.push(observation::events(outcome, name, |each| each == cause));
    }
    let lengths = || outcome.seen.gaps.iter().map(|gap| gap.length_ns);
    records.extend(observation::histogram("osnoise_noise", lengths()));
    let noise: u64 = lengths().fold(0, u64::saturating_add);
    let share = 100.0 * number(noise) / number(observation::observed_ns(outcome)).max(1.0);
    records.push(metric("osnoise_share", share, "%"));
    let mut times = Times::default();
    for cpu in outcome.cpus {
        times += cpu.time_ns;
    }
    for (name, ns) in [
        ("osnoise_time_hardware", times.hardware),
        ("osnoise_time_nmi", times.nmi),
        ("osnoise_time_irq", times.irq),
        ("osnoise_time_softirq", times.softirq),
        ("osnoise_time_thread", times.thread),
    ] {
        records.push(metric(name, number(ns), "ns"));
    }
    records
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    fn noise(start_ns: u64, duration_ns: u64, interferences: u64) -> TracerEvent {
        TracerEvent::Noise {
            start_ns,
            duration_ns,
            interferences,
        }
    }

    fn part(cause: Cause, start_ns: u64, duration_ns: u64) -> TracerEvent {
        TracerEvent::Part {
            cause,
            start_ns,
            duration_ns,
        }
    }

    fn observed(events: &[TracerEvent]) -> CpuObservation {
        let times = (1_000_000..).step_by(1_000_000);
        let events = CpuEvents {
            cpu: 1,
            events: times.zip(events.iter().copied()).collect(),
        };
        observe(&events, &TracerSettings::for_kind(TracerKind::Osnoise))
    }

    #[test]
    fn a_noise_is_of_what_took_the_cpu_longest_or_of_the_hardware() {
        let seen = observed(&[
            // Before the noise, and too short to be one.
            part(Cause::Interrupt, 10, 300),
            part(Cause::Interrupt, 1000, 700),
            part(Cause::Softirq, 1800, 2000),
            part(Cause::Switch, 3900, 900),
            noise(990, 5000, 3),
            noise(20_000, 4000, 0),
            part(Cause::Nmi, 30_010, 1500),
            noise(30_000, 2000, 1),
            noise(40_000, 2000, 1),
            TracerEvent::Sample(100_000),
        ]);
        let causes: Vec<Cause> = seen.latencies.iter().map(|gap| gap.cause).collect();
        let wanted = [
            Cause::Softirq,
            Cause::Unexplained,
            Cause::Nmi,
            Cause::Unclear,
        ];
        assert_eq!(causes, wanted);
        let first = seen.latencies[0];
        assert_eq!(
            (first.interrupts, first.softirqs, first.switches),
            (1, 1, 1)
        );
        assert_eq!((first.at_ns, first.length_ns), (5_000_000 - 5000, 5000));
        let wanted = Times {
            hardware: 4000,
            nmi: 1500,
            irq: 1000,
            softirq: 2000,
            thread: 900,
        };
        assert_eq!(seen.time_ns, wanted);
    }

    #[test]
    fn what_comes_after_the_last_whole_window_is_neither_exposure_nor_counted() {
        let seen = observed(&[
            noise(10, 2000, 0),
            TracerEvent::Sample(100_000),
            TracerEvent::Sample(100_001),
            part(Cause::Interrupt, 3_000_000, 700),
            noise(3_100_000, 9000, 0),
        ]);
        assert_eq!((seen.windows.len(), seen.observed_ns), (2, 200_001_000));
        assert_eq!(seen.latencies.len(), 1);
        assert_eq!((seen.time_ns.irq, seen.time_ns.hardware), (0, 2000));
        let none = observed(&[noise(10, 2000, 0)]);
        assert_eq!((none.observed_ns, none.latencies.len()), (0, 0));
        assert_eq!(observed(&[]), CpuObservation::default());
    }
}
