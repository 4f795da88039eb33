//! Types exchanged between assize, a target and the agent on it.
//!
//! An [`Order`] is one run as a target sees it: the [`Machine`], the [`Payload`] to carry
//! there and the [`Job`] for the agent. The agent answers with a stream of [`AgentMessage`]s, one
//! JSON text per line. This crate contains only these types and no code that acts; the
//! agent is linked statically and must stay small.
//!
//! ```
//! use assize_job::{Job, AgentMessage};
//! let job = Job { seed: 7, ..Job::default() };
//! let text = serde_json::to_string(&job).unwrap();
//! assert_eq!(serde_json::from_str::<Job>(&text).unwrap(), job);
//! let end = AgentMessage::End { records: 1 };
//! assert_eq!(serde_json::to_string(&end).unwrap(), r#"{"record":"end","records":1}"#);
//! ```

mod drawing;
pub mod events;
mod frames_stream;
pub mod gaps;
mod identity;
mod image;
mod instrument;
mod interleaving;
mod job;
mod kind;
mod machine;
mod memory_routine;
mod metric;
mod phone;
mod policy;
mod power;
mod quantum;
mod queue;
mod record;
pub mod replay;
mod scheduling;
mod stalls;
mod submitting;
mod tracer;
mod workload;

pub use drawing::{Drawing, ImagesBy};
pub use frames_stream::{
    FlushInstruction, FrameEach, FrameFence, FrameFlush, FrameMemory, FrameStore, FramesStream,
};
pub use gaps::GapsSettings;
pub use identity::{IdentityKind, RunIdentityPart, SETTING_MAX};
pub use image::MemoryImage;
pub use instrument::{INSTRUMENTS, Instrument};
pub use interleaving::{Delay, Interleaving};
pub use job::{Action, Job, SCHEMA};
pub use machine::{
    CarriedPackage, Display, LinkedProgram, Machine, Order, Package, Payload, below_experiment,
};
pub use memory_routine::{CacheState, CpuMode, MemoryRoutine, Routine};
pub use metric::{
    ELAPSED, JITTER, JITTER_OF, JOBS, METRICS, Mark, Metric, MetricForm, MetricName, MetricSource,
    PER_JOB, Preference, Wording, event_names, instrument_of, is_event, measured, metric_sources,
    of_instrument, per_job, wording,
};
pub use phone::{Audio, Browser, CpuScore};
pub use policy::{
    POLICIES, PlacementPolicy, PolicyEntry, PolicyForm, Tunable, TunableUnit, policy,
};
pub use power::{
    FREQUENCY_POLICIES, Frequency, FrequencyGovernor, FrequencyStep, IDLE_DRIVER, IDLE_GOVERNOR,
    Idle, IdleGovernor, IdleState,
};
pub use quantum::WrongQuantum;
pub use queue::{Design, DriverShape, JobPicker, JobPutter, Queue, Worker, WorkerSharing};
pub use record::{AGENT_SCHEMA, AgentMessage, RESUMED_NS, RunStage, may_complain};
pub use scheduling::{Policy, Scheduling};
pub use stalls::{PLANTED_STALLS, StallKind, Stalls};
pub use submitting::{
    CompositorFences, CompositorWorkload, Crowd, Deep, FramesWorkload, Replay, Storm,
    StreamWorkload, Sync, ThreadsWorkload,
};
pub use tracer::{TracerKind, TracerMode, TracerSettings};
pub use workload::{
    CommandWorkload, CyclictestWorkload, Hackbench, Hogs, KeptOutput, Loop, Periodic, PingPong,
    WORKLOADS, WakeupMechanism, Workload, WorkloadKind,
};
