//! Encodes packets, tracks and events.

use prost::Message;

use super::proto::{
    CounterDescriptor, DebugAnnotation, SEQ_INCREMENTAL_STATE_CLEARED, ThreadDescriptor,
    TracePacket, TrackDescriptor, TrackEvent, TrackEventType,
};

/// The sequence ID that all track events share.
const SEQUENCE: u32 = 1;
/// The tag of the field `packet` in a trace: length-delimited bytes.
const PACKET: u8 = 1 << 3 | 2;

/// A track for events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Track(u64);

/// Optional fields of an event.
#[derive(Debug, Clone, Default)]
pub(super) struct EventFields {
    /// The flow that the event belongs to.
    pub(super) flow: Option<u64>,
    /// Whether the flow ends at this event.
    pub(super) last: bool,
    pub(super) details: Vec<(&'static str, EventDetail)>,
}

#[derive(Debug, Clone)]
pub(super) enum EventDetail {
    Number(i64),
    Text(String),
}

/// A trace under construction.
#[derive(Default)]
pub(super) struct PerfettoFile {
    bytes: Vec<u8>,
    tracks: u64,
    /// Sorted by time when the trace is written; events with equal times keep their
    /// order.
    events: Vec<(u64, TrackEvent)>,
}

impl PerfettoFile {
    /// Adds a packet unchanged.
    pub(super) fn packet(&mut self, packet: &TracePacket) {
        self.bytes.push(PACKET);
        // Writing to a vector does not fail.
        let _ = packet.encode_length_delimited(&mut self.bytes);
    }

    /// Adds a named track below another.
    pub(super) fn track(&mut self, parent: Option<Track>, name: &str) -> Track {
        self.describe(
            parent,
            TrackDescriptor {
                name: Some(name.to_owned()),
                ..TrackDescriptor::default()
            },
        )
    }

    /// Adds the track of a thread.
    pub(super) fn thread(&mut self, process: u32, tid: u32, name: &str) -> Track {
        self.describe(
            None,
            TrackDescriptor {
                thread: Some(ThreadDescriptor {
                    pid: i32::try_from(process).ok(),
                    tid: Some(tid.into()),
                    thread_name: Some(name.to_owned()),
                }),
                ..TrackDescriptor::default()
            },
        )
    }

    /// Adds a counter track.
    pub(super) fn counter(&mut self, parent: Option<Track>, name: &str, unit: &str) -> Track {
        self.describe(
            parent,
            TrackDescriptor {
                name: Some(name.to_owned()),
                counter: Some(CounterDescriptor {
                    unit_name: Some(unit.to_owned()),
                }),
                ..TrackDescriptor::default()
            },
        )
    }

    fn describe(&mut self, parent: Option<Track>, descriptor: TrackDescriptor) -> Track {
        let first = self.tracks == 0;
        self.tracks += 1;
        let track = Track(self.tracks);
        self.packet(&TracePacket {
            trusted_packet_sequence_id: Some(SEQUENCE),
            sequence_flags: first.then_some(SEQ_INCREMENTAL_STATE_CLEARED),
            track_descriptor: Some(TrackDescriptor {
                uuid: Some(track.0),
                parent_uuid: parent.map(|parent| parent.0),
                ..descriptor
            }),
            ..TracePacket::default()
        });
        track
    }

    /// Adds a slice. The slices of one track must be added in order and must not overlap.
    pub(super) fn slice(
        &mut self,
        track: Track,
        (from, to): (u64, u64),
        name: &str,
        with: EventFields,
    ) {
        self.begin(track, from, name, with);
        self.end(track, to);
    }

    /// Starts a slice. Slices that start on this track before its end are nested in it.
    pub(super) fn begin(&mut self, track: Track, at_ns: u64, name: &str, with: EventFields) {
        self.event(track, at_ns, TrackEventType::SliceBegin, name, with);
    }

    pub(super) fn end(&mut self, track: Track, at_ns: u64) {
        self.events.push((
            at_ns,
            TrackEvent {
                r#type: Some(TrackEventType::SliceEnd.into()),
                track_uuid: Some(track.0),
                ..TrackEvent::default()
            },
        ));
    }

    pub(super) fn instant(&mut self, track: Track, at_ns: u64, name: &str, with: EventFields) {
        self.event(track, at_ns, TrackEventType::Instant, name, with);
    }

    fn event(
        &mut self,
        track: Track,
        at_ns: u64,
        kind: TrackEventType,
        name: &str,
        with: EventFields,
    ) {
        let (ends, goes_on): (Vec<u64>, Vec<u64>) = with.flow.iter().partition(|_| with.last);
        self.events.push((
            at_ns,
            TrackEvent {
                r#type: Some(kind.into()),
                track_uuid: Some(track.0),
                name: Some(name.to_owned()),
                flow_ids: goes_on,
                terminating_flow_ids: ends,
                debug_annotations: with.details.into_iter().map(annotation).collect(),
                counter_value: None,
            },
        ));
    }

    /// Sets the value of a counter from a time on.
    pub(super) fn value(&mut self, track: Track, at_ns: u64, value: i64) {
        self.events.push((
            at_ns,
            TrackEvent {
                r#type: Some(TrackEventType::Counter.into()),
                track_uuid: Some(track.0),
                counter_value: Some(value),
                ..TrackEvent::default()
            },
        ));
    }

    /// Returns the encoded trace.
    pub(super) fn bytes(mut self) -> Vec<u8> {
        let mut events = std::mem::take(&mut self.events);
        events.sort_by_key(|(at_ns, _)| *at_ns);
        for (at_ns, event) in events {
            self.packet(&TracePacket {
                timestamp: Some(at_ns),
                trusted_packet_sequence_id: Some(SEQUENCE),
                track_event: Some(event),
                ..TracePacket::default()
            });
        }
        self.bytes
    }
}

fn annotation((name, detail): (&'static str, EventDetail)) -> DebugAnnotation {
    let (int_value, string_value) = match detail {
        EventDetail::Number(number) => (Some(number), None),
        EventDetail::Text(text) => (None, Some(text)),
    };
    DebugAnnotation {
        int_value,
        string_value,
        name: Some(name.to_owned()),
    }
}
