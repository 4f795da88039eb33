#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use super::*;
use crate::instruments::tracefs::CpuEvents;
use crate::records::metric_value;
use assize_job::{METRICS, TracerMode};

const START: u64 = 7_000_000_000;
const WALL: u64 = 1_000_000_000_000;
const SPAN: u64 = 40_000_000;

fn tracing(kind: TracerKind, cpus: &[u32]) -> Tracing {
    Tracing {
        cpus: cpus.to_vec(),
        settings: TracerSettings {
            width_ns: 10_000_000,
            window_ns: 20_000_000,
            ..TracerSettings::for_kind(kind)
        },
        has_counter: true,
        start: (500, START),
        stop: (500 + 2 * SPAN, START + SPAN),
        wall_ns: WALL,
        ..Tracing::new(kind)
    }
}

fn trace(events: &[(u64, TracerEvent)]) -> RecordedTrace<TracerEvent> {
    RecordedTrace {
        cpus: vec![CpuEvents {
            cpu: 1,
            events: events
                .iter()
                .map(|(at, event)| (START + at, *event))
                .collect(),
        }],
        lost: 0,
        broken: false,
    }
}

/// A window of hwlat with `count` latencies.
fn window(count: u64) -> Vec<(u64, TracerEvent)> {
    let latencies = TracerEvent::Latencies {
        at_ns: START + WALL + 3_000_000,
        longest_us: 100,
        count,
        nmis: 0,
    };
    vec![
        (1_000_000, TracerEvent::In),
        (11_000_500, latencies),
        (11_001_000, TracerEvent::Out),
    ]
}

fn counted<'r>(records: &'r [AgentMessage], wanted: &str) -> (u64, u64, &'r [u64]) {
    let found = records.iter().find_map(|record| match record {
        AgentMessage::Events {
            event,
            count,
            exposure_ns,
            t_ns,
            ..
        } if event == wanted => Some((*count, *exposure_ns, &t_ns[..])),
        _ => None,
    });
    found.unwrap()
}

#[test]
fn what_is_sent_is_what_is_declared() {
    let noise = TracerEvent::Noise {
        start_ns: 5,
        duration_ns: 20_000,
        interferences: 0,
    };
    let timer = |in_thread| TracerEvent::Timer {
        in_thread,
        late_ns: 20_000,
    };
    for (kind, events) in [
        (TracerKind::Hwlat, window(1)),
        (
            TracerKind::Osnoise,
            vec![(1, noise), (2, TracerEvent::Sample(9_000))],
        ),
        (
            TracerKind::Timerlat,
            vec![(30_000, timer(false)), (40_000, timer(true))],
        ),
    ] {
        let mut sent = 0;
        for record in tracing(kind, &[1]).trace_records(&trace(&events)) {
            let (name, unit) = match &record {
                AgentMessage::Events { event, .. } => (event, ""),
                AgentMessage::Metric { metric, unit, .. }
                | AgentMessage::Histogram { metric, unit, .. } => (metric, unit.as_str()),
                AgentMessage::Raw { name, text } => {
                    assert_eq!(*name, format!("{}.txt", kind.word()));
                    assert_eq!(Seen::parse(text).unwrap().text(), *text);
                    continue;
                }
                other => panic!("{other:?}"),
            };
            let declared = METRICS.iter().filter(|one| one.name == name);
            assert_eq!(declared.map(|one| one.unit).collect::<Vec<_>>(), [unit]);
            sent += 1;
        }
        assert_eq!(sent, assize_job::of_instrument(kind.word()).count());
    }
}

#[test]
fn a_latency_is_told_with_its_time_from_the_start_and_the_counter() {
    let records = tracing(TracerKind::Hwlat, &[1]).trace_records(&trace(&window(1)));
    let (count, exposure, times) = counted(&records, "hwlat");
    assert_eq!((count, exposure, times), (1, 10_000_000, &[2_900_000][..]));
    let text = records.iter().find_map(|record| match record {
        AgentMessage::Raw { text, .. } => Some(text),
        _ => None,
    });
    let seen = Seen::parse(text.unwrap()).unwrap();
    assert_eq!((seen.start_ns, seen.tsc), (START, Some((500, 2_000_000))));
    assert_eq!(seen.gaps[0].length_ns, 100_000);
}

#[test]
fn when_several_latencies_were_is_not_told_since_it_is_known_of_the_first_alone() {
    let records = tracing(TracerKind::Hwlat, &[1]).trace_records(&trace(&window(5)));
    assert_eq!(counted(&records, "hwlat"), (5, 10_000_000, &[][..]));
}

#[test]
fn a_cpu_that_was_watched_in_turn_has_the_exposure_it_really_had_and_that_is_said() {
    let mut one = tracing(TracerKind::Hwlat, &[1, 2]);
    let is_doubt = |record: &AgentMessage| matches!(record, AgentMessage::Doubt { code, .. } if code == "watched-in-turn");
    let records = one.trace_records(&trace(&window(1)));
    // A window of 10 ms on one of two CPUs, in a run of 40 ms.
    assert!((metric_value(&records, "hwlat_watched_share").unwrap() - 12.5).abs() < 1e-9);
    assert_eq!(counted(&records, "hwlat").1, 10_000_000);
    assert!(records.iter().any(is_doubt), "{records:?}");
    one.settings.mode = TracerMode::PerCpu;
    assert!(!one.trace_records(&trace(&window(1))).iter().any(is_doubt));
}

#[test]
fn a_run_without_a_whole_window_gives_no_rate_and_says_what_to_do() {
    for kind in TracerKind::ALL {
        let records = tracing(kind, &[1]).trace_records(&trace(&[(0, TracerEvent::In)]));
        let [
            AgentMessage::Unavailable {
                metric: None,
                reason,
                ..
            },
        ] = &records[..]
        else {
            panic!("{records:?}");
        };
        assert!(reason.contains("tracer."), "{reason}");
    }
}
