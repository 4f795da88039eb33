//! The messages of a Perfetto trace, with only the fields that are written here.
//!
//! Names, numbers and types of the fields are those in protos/perfetto/trace of the
//! Perfetto sources. A test decodes the output with Perfetto's complete definitions.

/// An entry of a trace.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TracePacket {
    #[prost(message, optional, tag = "1")]
    pub(super) ftrace_events: Option<FtraceEventBundle>,
    #[prost(uint64, optional, tag = "8")]
    pub(super) timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    pub(super) trusted_packet_sequence_id: Option<u32>,
    #[prost(message, optional, tag = "11")]
    pub(super) track_event: Option<TrackEvent>,
    #[prost(uint32, optional, tag = "13")]
    pub(super) sequence_flags: Option<u32>,
    #[prost(message, optional, tag = "60")]
    pub(super) track_descriptor: Option<TrackDescriptor>,
}

/// The sequence can be read from here on without earlier packets.
pub(super) const SEQ_INCREMENTAL_STATE_CLEARED: u32 = 1;

/// A track and its position.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    pub(super) uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub(super) name: Option<String>,
    #[prost(message, optional, tag = "4")]
    pub(super) thread: Option<ThreadDescriptor>,
    #[prost(uint64, optional, tag = "5")]
    pub(super) parent_uuid: Option<u64>,
    #[prost(message, optional, tag = "8")]
    pub(super) counter: Option<CounterDescriptor>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ThreadDescriptor {
    #[prost(int32, optional, tag = "1")]
    pub(super) pid: Option<i32>,
    #[prost(int64, optional, tag = "2")]
    pub(super) tid: Option<i64>,
    #[prost(string, optional, tag = "5")]
    pub(super) thread_name: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct CounterDescriptor {
    #[prost(string, optional, tag = "6")]
    pub(super) unit_name: Option<String>,
}

/// An event on a track.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TrackEvent {
    #[prost(message, repeated, tag = "4")]
    pub(super) debug_annotations: Vec<DebugAnnotation>,
    #[prost(enumeration = "TrackEventType", optional, tag = "9")]
    pub(super) r#type: Option<i32>,
    #[prost(uint64, optional, tag = "11")]
    pub(super) track_uuid: Option<u64>,
    #[prost(string, optional, tag = "23")]
    pub(super) name: Option<String>,
    #[prost(int64, optional, tag = "30")]
    pub(super) counter_value: Option<i64>,
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    pub(super) flow_ids: Vec<u64>,
    #[prost(fixed64, repeated, packed = "false", tag = "48")]
    pub(super) terminating_flow_ids: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub(super) enum TrackEventType {
    Unspecified = 0,
    SliceBegin = 1,
    SliceEnd = 2,
    Instant = 3,
    Counter = 4,
}

/// A detail of an event.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct DebugAnnotation {
    #[prost(int64, optional, tag = "4")]
    pub(super) int_value: Option<i64>,
    #[prost(string, optional, tag = "6")]
    pub(super) string_value: Option<String>,
    #[prost(string, optional, tag = "10")]
    pub(super) name: Option<String>,
}

/// Kernel events of one CPU.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct FtraceEventBundle {
    #[prost(uint32, optional, tag = "1")]
    pub(super) cpu: Option<u32>,
    #[prost(message, repeated, tag = "2")]
    pub(super) event: Vec<FtraceEvent>,
    #[prost(bool, optional, tag = "3")]
    pub(super) lost_events: Option<bool>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct FtraceEvent {
    #[prost(uint64, optional, tag = "1")]
    pub(super) timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "2")]
    pub(super) pid: Option<u32>,
    #[prost(message, optional, tag = "4")]
    pub(super) sched_switch: Option<SchedSwitch>,
    #[prost(message, optional, tag = "20")]
    pub(super) sched_waking: Option<SchedWaking>,
    #[prost(message, optional, tag = "235")]
    pub(super) task_newtask: Option<TaskNewtask>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct SchedSwitch {
    #[prost(string, optional, tag = "1")]
    pub(super) prev_comm: Option<String>,
    #[prost(int32, optional, tag = "2")]
    pub(super) prev_pid: Option<i32>,
    #[prost(int32, optional, tag = "3")]
    pub(super) prev_prio: Option<i32>,
    #[prost(int64, optional, tag = "4")]
    pub(super) prev_state: Option<i64>,
    #[prost(string, optional, tag = "5")]
    pub(super) next_comm: Option<String>,
    #[prost(int32, optional, tag = "6")]
    pub(super) next_pid: Option<i32>,
    #[prost(int32, optional, tag = "7")]
    pub(super) next_prio: Option<i32>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct SchedWaking {
    #[prost(string, optional, tag = "1")]
    pub(super) comm: Option<String>,
    #[prost(int32, optional, tag = "2")]
    pub(super) pid: Option<i32>,
    #[prost(int32, optional, tag = "3")]
    pub(super) prio: Option<i32>,
    #[prost(int32, optional, tag = "5")]
    pub(super) target_cpu: Option<i32>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TaskNewtask {
    #[prost(int32, optional, tag = "1")]
    pub(super) pid: Option<i32>,
    #[prost(string, optional, tag = "2")]
    pub(super) comm: Option<String>,
    #[prost(uint64, optional, tag = "3")]
    pub(super) clone_flags: Option<u64>,
}
