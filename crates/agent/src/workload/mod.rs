//! The workloads: how each is started, and how its output is read.

mod audio;
mod blanks;
mod browser;
mod calibration;
mod client;
mod command;
mod compositor;
mod cpu_score;
mod crowd;
mod cyclictest;
mod drawing;
mod frames;
mod frames_stream;
mod graph;
mod hackbench;
mod hogs;
mod instructions;
mod jobs;
mod load;
mod memory;
mod memory_routine;
pub(crate) mod output;
mod periodic;
mod ping_pong;
mod prepared;
mod replay;
mod rt_app;
mod scratch;
mod series;
mod stream;
mod submit_threads;
mod sync;
mod threads;

use assize_job::{ELAPSED, Job, Scheduling, Workload, WorkloadKind as Kind};

use self::client::ClientTerms;
use self::compositor::Composing;
use self::crowd::Crowding;
use self::frames::Rendering;
use self::graph::Graph;
use self::load::Load;
use self::prepared::WorkloadContext;
use self::replay::Replaying;
use self::stream::StreamLoad;
use self::submit_threads::Submitters;
use self::sync::SyncLoad;
use crate::process::ProcessExit;
use crate::records::{metric, number};

pub(crate) use prepared::{Prepared, ResultReader};

/// Prepares a workload. `label`: prefix of the labels of its random streams;
/// `background`: whether it runs until it is killed.
pub(crate) fn prepare(
    workload: &Workload,
    job: &Job,
    label: &str,
    background: bool,
) -> Result<Prepared, String> {
    let context = WorkloadContext {
        name: &workload.name,
        job,
        label,
        background,
    };
    let prepared = prepare_kind(&workload.kind, &context)?;
    if !workload.kind.works() {
        return Ok(prepared);
    }
    let read = prepared.read;
    let timed = move |left: &ProcessExit, elapsed_ns: u64| {
        let mut records = vec![metric(ELAPSED, number(elapsed_ns), "ns")];
        records.extend(read(left, elapsed_ns));
        records
    };
    Ok(Prepared {
        read: Box::new(timed),
        ..prepared
    })
}

fn prepare_kind(kind: &Kind, context: &WorkloadContext<'_>) -> Result<Prepared, String> {
    let submit = |load: Box<dyn Load>, scheduling: &Scheduling| {
        load::prepare(load, scheduling, ClientTerms::new(context, kind))
    };
    Ok(match kind {
        Kind::Audio(kind) => audio::prepare(kind, context)?,
        Kind::Browser(kind) => browser::prepare(kind, context),
        Kind::Command(kind) => command::prepare(kind, context)?,
        Kind::CpuScore(kind) => cpu_score::prepare(kind, context),
        Kind::Cyclictest(kind) => cyclictest::prepare(kind, context)?,
        Kind::Drawing(kind) => drawing::prepare(kind, context),
        Kind::FramesStream(kind) => frames_stream::prepare(kind, context),
        Kind::Hackbench(kind) => hackbench::prepare(kind, context)?,
        Kind::Hogs(kind) => hogs::prepare(kind, context),
        Kind::MemoryRoutine(kind) => memory_routine::prepare(kind, context),
        Kind::Periodic(kind) => periodic::prepare(kind, context)?,
        Kind::PingPong(kind) => ping_pong::prepare(kind, context)?,
        Kind::Compositor(kind) => submit(Box::new(Composing::new(kind.clone())), &kind.scheduling),
        Kind::Crowd(kind) => submit(Box::new(Crowding::new(kind.clone())), &kind.scheduling),
        Kind::Deep(kind) => submit(Box::new(Graph::deep(kind.clone())), &kind.scheduling),
        Kind::Frames(kind) => submit(Box::new(Rendering::new(kind.clone())), &kind.scheduling),
        Kind::Replay(kind) => submit(Box::new(Replaying::new(kind)?), &kind.scheduling),
        Kind::Storm(kind) => submit(Box::new(Graph::storm(kind.clone())), &kind.scheduling),
        Kind::Stream(kind) => submit(Box::new(StreamLoad::new(kind.clone())), &kind.scheduling),
        Kind::Sync(kind) => submit(Box::new(SyncLoad(kind.clone())), &kind.scheduling),
        Kind::Threads(kind) => submit(Box::new(Submitters(kind.clone())), &kind.scheduling),
    })
}
