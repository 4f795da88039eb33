#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use std::collections::BTreeMap;

use prost::Message;

use super::proto::{TracePacket, TrackEvent, TrackEventType};
use crate::TracedRun;
use crate::event_builder::EventBuilder;

#[derive(Clone, PartialEq, Message)]
struct DecodedTrace {
    #[prost(message, repeated, tag = "1")]
    packet: Vec<TracePacket>,
}

fn packets(builder: &EventBuilder) -> Vec<TracePacket> {
    let bytes = super::trace(&TracedRun::new(builder.events()));
    DecodedTrace::decode(bytes.as_slice()).unwrap().packet
}

fn both() -> EventBuilder {
    let mut builder = EventBuilder::default();
    builder.call(57, "sync").call(3, "kworker/1:0");
    builder
        .by_worker(1000, 1, "drm_sched_job")
        .by_submitter(3000, 2);
    // Two jobs at once on the engine, one of which never completes.
    builder
        .submitted(5000, 3, "depq_job_queue")
        .submitted(5000, 4, "depq_job_queue");
    builder.switch(5090, 1, (0, 0), 3);
    builder.event(5100, (1, 3), "simgpu_run", &[1, 3, 0]);
    builder.event(5110, (1, 3), "simgpu_run", &[1, 4, 0]);
    builder.event(5200, (0, 0), "hw_done", &[1, 4, 0]);
    builder.event(5300, (0, 3), "depq_timeout", &[1, 3, 1]);
    builder
}

fn events(packets: &[TracePacket]) -> Vec<(u64, &TrackEvent)> {
    let event =
        |packet: &'_ TracePacket| packet.timestamp.zip(packet.track_event.clone()).is_some();
    let packets = packets.iter().filter(|packet| event(packet));
    packets
        .map(|packet| {
            (
                packet.timestamp.unwrap(),
                packet.track_event.as_ref().unwrap(),
            )
        })
        .collect()
}

#[test]
fn every_event_has_a_track_and_every_track_a_place() {
    let packets = packets(&both());
    let mut known = Vec::new();
    for packet in &packets {
        if let Some(track) = &packet.track_descriptor {
            assert!(
                track
                    .parent_uuid
                    .is_none_or(|parent| known.contains(&parent))
            );
            assert!(!known.contains(&track.uuid.unwrap()));
            known.push(track.uuid.unwrap());
        }
        if let Some(event) = &packet.track_event {
            assert!(known.contains(&event.track_uuid.unwrap()));
            assert_eq!(packet.trusted_packet_sequence_id, Some(1));
        }
    }
    let times: Vec<u64> = events(&packets).iter().map(|(at, _)| *at).collect();
    assert!(times.is_sorted());
}

#[test]
fn slices_lie_side_by_side_or_within_each_other() {
    let packets = packets(&both());
    let mut open: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    let mut slices = 0;
    for (at, event) in events(&packets) {
        let open = open.entry(event.track_uuid.unwrap()).or_default();
        match event.r#type() {
            TrackEventType::SliceBegin => open.push(at),
            TrackEventType::SliceEnd => {
                assert!(open.pop().unwrap() <= at);
                slices += 1;
            }
            _ => {}
        }
    }
    assert!(open.values().all(Vec::is_empty), "{open:?}");
    // On threads 4 submissions and a wait; on the engine 4 jobs; in contexts 4 jobs with
    // 6, 3, 4 (incomplete) and 5 stages.
    assert_eq!(slices, 5 + 4 + 4 + 6 + 3 + 4 + 5);
}

#[test]
fn a_flow_leads_from_the_submission_to_the_waiter() {
    let packets = packets(&both());
    let steps = |flow: u64| -> Vec<String> {
        events(&packets)
            .iter()
            .filter(|(_, e)| e.flow_ids.contains(&flow) || e.terminating_flow_ids.contains(&flow))
            .map(|(_, event)| event.name().to_owned())
            .collect()
    };
    assert_eq!(steps(1), ["submit 1:1", "run_job 1:1", "1:1", "done 1:1"]);
    assert_eq!(steps(2), ["submit 1:2", "run_job 1:2", "1:2"]);
}

#[test]
fn counters_end_where_they_should() {
    let packets = packets(&both());
    let mut names = BTreeMap::new();
    for track in packets
        .iter()
        .filter_map(|packet| packet.track_descriptor.as_ref())
    {
        if track.counter.is_some() {
            names.insert(track.uuid.unwrap(), track.name().to_owned());
        }
    }
    let mut last = BTreeMap::new();
    let mut most = BTreeMap::new();
    for (_, event) in events(&packets) {
        if let Some(value) = event.counter_value {
            let name = names[&event.track_uuid.unwrap()].as_str();
            last.insert(name, value);
            let most = most.entry(name).or_insert(value);
            *most = value.max(*most);
        }
    }
    assert_eq!((last["jobs queued"], most["jobs queued"]), (0, 2));
    // The incomplete job is shown up to the end of the recording.
    assert_eq!(
        (last["jobs on the engine"], most["jobs on the engine"]),
        (0, 2)
    );
    let priority = "priority (0 first, 120 is nice 0) of kworker/1:0 3";
    assert_eq!(last[priority], 120);
}

#[test]
fn the_scheduler_events_are_the_kernels() {
    let packets = packets(&both());
    let bundles: Vec<_> = packets
        .iter()
        .filter_map(|p| p.ftrace_events.as_ref())
        .collect();
    let cpus: Vec<u32> = bundles.iter().map(|bundle| bundle.cpu()).collect();
    assert_eq!(cpus, [0, 1]);
    let switches = bundles[1]
        .event
        .iter()
        .filter_map(|event| event.sched_switch.as_ref());
    let names: Vec<(&str, &str)> = switches.map(|s| (s.prev_comm(), s.next_comm())).collect();
    assert_eq!(
        names,
        [
            ("swapper/1", "kworker/1:0"),
            ("kworker/1:0", "swapper/1"),
            ("swapper/1", "kworker/1:0")
        ]
    );
    let wakings = bundles[0]
        .event
        .iter()
        .filter(|event| event.sched_waking.is_some());
    assert_eq!(wakings.count(), 2);
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let bytes = || super::trace(&TracedRun::new(both().events()));
    assert_eq!(bytes(), bytes());
}
