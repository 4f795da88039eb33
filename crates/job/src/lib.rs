//! Types exchanged between assize, a target and the agent on it.
//!
//! An [`Order`] is one run as a target sees it: the [`Machine`], the [`Payload`] to carry
//! there and the [`Job`] for the agent. The agent answers with a stream of [`Record`]s, one
//! JSON text per line. This crate contains only these types and no code that acts; the
//! agent is linked statically and must stay small.
//!
//! ```
//! use assize_job::{Job, Record};
//! let job = Job { seed: 7, ..Job::default() };
//! let text = serde_json::to_string(&job).unwrap();
//! assert_eq!(serde_json::from_str::<Job>(&text).unwrap(), job);
//! let end = Record::End { records: 1 };
//! assert_eq!(serde_json::to_string(&end).unwrap(), r#"{"record":"end","records":1}"#);
//! ```

mod drawing;
pub mod events;
mod frames_stream;
pub mod gaps;
mod identity;
mod image;
mod instrument;
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
mod stalls;
mod submitting;
mod tracer;
mod workload;

pub use drawing::{Drawing, ImagesBy};
pub use frames_stream::{
    FlushInstruction, FrameEach, FrameFence, FrameFlush, FrameMemory, FrameStore, FramesStream,
};
pub use gaps::Gaps;
pub use identity::{IdentityKind, IdentityPart, SETTING_MAX};
pub use image::Image;
pub use instrument::{INSTRUMENTS, Instrument};
pub use job::{Action, Job, SCHEMA};
pub use machine::{
    CarriedPackage, Display, Linked, Machine, Order, Package, Payload, below_experiment,
};
pub use memory_routine::{CacheState, CpuMode, MemoryRoutine, Routine};
pub use metric::{
    ELAPSED, Form, Giver, JITTER, JITTER_OF, JOBS, METRICS, Mark, Metric, Name, PER_JOB,
    Preference, Wording, event_names, givers, instrument_of, is_event, measured, of_instrument,
    per_job, wording,
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
pub use queue::{Design, Pick, Put, Queue, Shape, Share, Worker};
pub use record::{AGENT_SCHEMA, RESUMED_NS, Record, Stage, may_complain};
pub use stalls::{PLANTED_STALLS, StallKind, Stalls};
pub use submitting::{
    Compositor, Crowd, Deep, Fences, Frames, Replay, Storm, Stream, Sync, Threads,
};
pub use tracer::{Tracer, TracerKind, TracerMode};
pub use workload::{
    Command, Cyclictest, Hackbench, Hogs, Kind, Loop, Periodic, PingPong, Policy, Scheduling, Via,
    WORKLOADS, Workload,
};
