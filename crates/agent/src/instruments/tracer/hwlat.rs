//! hwlat: a loop that reads the clock with interrupts off.

use assize_job::gaps::{Cause, Gap, Window};
use assize_job::{AgentMessage, TracerKind, TracerMode, TracerSettings};

use super::event::TracerEvent;
use super::observation::{self, CpuObservation, RunObservation, TracerDescription};
use crate::instruments::tracefs::CpuEvents;
use crate::records::{doubt, metric, number};

/// Prefix of the names of its threads.
const THREAD: &str = "hwlatd";

pub(super) static HWLAT: TracerDescription = TracerDescription {
    kind: TracerKind::Hwlat,
    option: "CONFIG_HWLAT_TRACER",
    events: &["sched/sched_switch"],
    read: &[
        (
            "sched/sched_switch",
            &["prev_comm", "next_comm"],
            |fields| match (
                fields.is_named("prev_comm", THREAD)?,
                fields.is_named("next_comm", THREAD)?,
            ) {
                (_, true) => Some(TracerEvent::In),
                (true, false) => Some(TracerEvent::Out),
                (false, false) => None,
            },
        ),
        (
            "ftrace/hwlat",
            &["duration", "outer_duration", "tv_sec", "tv_nsec"],
            |fields| {
                let seconds = fields.number("tv_sec")?;
                let at_ns = seconds
                    .saturating_mul(1_000_000_000)
                    .saturating_add(fields.number("tv_nsec")?);
                Some(TracerEvent::Latencies {
                    at_ns,
                    longest_us: fields
                        .number("duration")?
                        .max(fields.number("outer_duration")?),
                    // Kernels before 5.9 report no count.
                    count: fields.number("count").unwrap_or(1).max(1),
                    nmis: fields.number("nmi_count").unwrap_or(0),
                })
            },
        ),
    ],
    filter: Some("prev_comm ~ \"hwlatd*\" || next_comm ~ \"hwlatd*\""),
    observe,
    records,
};

/// Finds the windows that hwlat watched. It watches with interrupts off, so it watched
/// one window whenever its thread had the CPU without a break for at least the width. A
/// window that had not ended when recording stopped does not count.
fn observe(trace: &CpuEvents<TracerEvent>, settings: &TracerSettings) -> CpuObservation {
    let mut observed = CpuObservation::default();
    let (mut since, mut pending) = (None, Vec::new());
    for &(at, event) in &trace.events {
        match event {
            TracerEvent::In => {
                since = Some(at);
                pending.clear();
            }
            TracerEvent::Latencies {
                at_ns,
                longest_us,
                count,
                nmis,
            } => {
                let length_ns = longest_us.saturating_mul(1000);
                // The time is when the first was noticed: its end. With only one, its
                // length is known, and so its start.
                let before = if count == 1 { length_ns } else { 0 };
                pending.push(Gap {
                    cpu: trace.cpu,
                    at_ns: at_ns.saturating_sub(before),
                    length_ns,
                    cause: match nmis {
                        0 => Cause::Unexplained,
                        _ => Cause::Nmi,
                    },
                    switches: 0,
                    interrupts: nmis,
                    softirqs: 0,
                    count,
                });
            }
            TracerEvent::Out => {
                let length_ns = settings.width_ns;
                let whole = |since: &u64| at.saturating_sub(*since) >= length_ns;
                if let Some(at_ns) = since.take().filter(whole) {
                    observed.observed_ns += length_ns;
                    observed.windows.push(Window {
                        cpu: trace.cpu,
                        at_ns,
                        length_ns,
                    });
                    observed.latencies.append(&mut pending);
                }
                pending.clear();
            }
            _ => {}
        }
    }
    observed
}

fn records(outcome: &RunObservation<'_>) -> Vec<AgentMessage> {
    let windows = outcome.seen.windows.len() as u64;
    let mut records = vec![
        observation::events(outcome, "hwlat", |_| true),
        observation::events(outcome, "hwlat_nmi", |cause| cause == Cause::Nmi),
        metric("hwlat_windows", number(windows), ""),
    ];
    let lengths = outcome.seen.gaps.iter().map(|gap| gap.length_ns);
    records.extend(observation::histogram("hwlat_latency", lengths));
    let cpus = outcome.cpus.len();
    if cpus > 1 && outcome.settings.mode != TracerMode::PerCpu {
        let detail = format!(
            "hwlat watched one of {cpus} CPUs at a time, each for a small share of the time \
             (hwlat_watched_share): rates are per second of that time, and latencies at other \
             times were not detected; tracer.mode = \"per-cpu\" watches all CPUs"
        );
        records.push(doubt("watched-in-turn", detail));
    }
    records
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    const WIDTH: u64 = 20_000_000;

    fn observed(events: &[(u64, TracerEvent)]) -> CpuObservation {
        let trace = CpuEvents {
            cpu: 3,
            events: events.to_vec(),
        };
        let settings = TracerSettings {
            width_ns: WIDTH,
            ..TracerSettings::for_kind(TracerKind::Hwlat)
        };
        observe(&trace, &settings)
    }

    fn latencies(longest_us: u64, count: u64, nmis: u64) -> TracerEvent {
        TracerEvent::Latencies {
            at_ns: 1_000_000,
            longest_us,
            count,
            nmis,
        }
    }

    #[test]
    fn only_windows_that_were_looked_at_to_their_end_are_exposure() {
        let seen = observed(&[
            // Where recording began, and a run of the thread too short for a look.
            (10, TracerEvent::Out),
            (20, TracerEvent::In),
            (5000, TracerEvent::Out),
            (10_000, TracerEvent::In),
            (10_000 + WIDTH + 300, TracerEvent::Out),
            (50_000_000, TracerEvent::In),
            (50_000_100, TracerEvent::Out),
            (60_000_000, TracerEvent::In),
            (60_000_000 + WIDTH, latencies(50, 1, 0)),
            (60_000_700 + WIDTH, TracerEvent::Out),
            (90_000_000, TracerEvent::In),
            // Recorded, but its window had not ended.
            (90_000_000 + WIDTH, latencies(70, 1, 0)),
        ]);
        assert_eq!((seen.windows.len(), seen.observed_ns), (2, 2 * WIDTH));
        assert_eq!(seen.windows[1].at_ns, 60_000_000);
        assert_eq!(seen.latencies.len(), 1);
        let gap = seen.latencies[0];
        assert_eq!((gap.cpu, gap.length_ns, gap.count), (3, 50_000, 1));
        assert_eq!((gap.at_ns, gap.cause), (950_000, Cause::Unexplained));
    }

    #[test]
    fn of_several_latencies_of_a_window_the_number_is_kept_and_nmis_are_named() {
        let seen = observed(&[
            (0, TracerEvent::In),
            (WIDTH, latencies(200, 7, 2)),
            (WIDTH + 500, TracerEvent::Out),
        ]);
        let gap = seen.latencies[0];
        assert_eq!(
            (gap.length_ns, gap.count, gap.at_ns),
            (200_000, 7, 1_000_000)
        );
        assert_eq!(gap.cause, Cause::Nmi);
    }
}
