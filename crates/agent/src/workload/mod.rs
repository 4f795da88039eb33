//! Workloads: how each is started, and how its output is read.

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
#[cfg(target_arch = "x86_64")]
mod drawing;
mod frames;
#[cfg(target_arch = "x86_64")]
mod frames_stream;
mod graph;
mod hackbench;
mod hogs;
#[cfg(target_arch = "x86_64")]
mod instructions;
mod jobs;
mod load;
#[cfg(target_arch = "x86_64")]
mod memory;
#[cfg(target_arch = "x86_64")]
mod memory_routine;
pub(crate) mod output;
mod periodic;
mod ping_pong;
mod replay;
mod rt_app;
mod scratch;
mod series;
mod stream;
mod submit_threads;
mod sync;
mod threads;

use std::path::Path;

use assize_job::{
    AgentMessage, Drawing, ELAPSED, FramesStream, Job, MemoryRoutine, Scheduling, Workload,
    WorkloadKind as Kind,
};

use crate::process::{Body, ExecProgram, ProcessExit, Staged};
use crate::records::metric;
use crate::sys::{self, ProcessEnd};

/// A workload, ready to be started.
pub(crate) struct Prepared {
    /// What its process runs.
    pub(crate) body: Body,
    /// How it is scheduled.
    pub(crate) scheduling: Scheduling,
    /// Exit statuses that count as success.
    pub(crate) statuses: Vec<i32>,
    /// Makes records of what the process left, unless it failed.
    pub(crate) read: ResultReader,
}

/// Makes records of what a process left, and of how long it took in
/// nanoseconds. Owns what must last as long as the process.
pub(crate) type ResultReader = Box<dyn FnOnce(&ProcessExit, u64) -> Vec<AgentMessage>>;

/// Prepares a workload. `label` names its streams of random numbers;
/// `background`: whether it runs until it is killed.
pub(crate) fn prepare(
    workload: &Workload,
    job: &Job,
    label: &str,
    background: bool,
) -> Result<Prepared, String> {
    let prepared = of_kind(workload, job, label, background)?;
    if !workload.kind.works() {
        return Ok(prepared);
    }
    let read = prepared.read;
    let timed = move |left: &ProcessExit, elapsed_ns: u64| {
        let mut records = vec![metric(ELAPSED, elapsed_ns as f64, "ns")];
        records.extend(read(left, elapsed_ns));
        records
    };
    Ok(Prepared {
        read: Box::new(timed),
        ..prepared
    })
}

fn of_kind(
    workload: &Workload,
    job: &Job,
    label: &str,
    background: bool,
) -> Result<Prepared, String> {
    let (name, seed, samples) = (&workload.name, job.seed, job.samples);
    let terms = || client::ClientTerms::new(job, label, background).scheduled(&workload.kind);
    match &workload.kind {
        Kind::Audio(kind) => audio::prepare(name, kind, job, label, background),
        Kind::Browser(kind) => Ok(browser::prepare(kind, seed, label, samples, background)),
        Kind::Command(kind) => command::prepare(name, kind, seed),
        Kind::CpuScore(kind) => Ok(cpu_score::prepare(kind, background)),
        Kind::Cyclictest(kind) => cyclictest::prepare(name, kind, seed, samples, background),
        Kind::Hackbench(kind) => hackbench::prepare(name, kind, seed, background),
        Kind::Hogs(kind) => Ok(hogs::prepare(kind, seed, label, background)),
        Kind::Periodic(kind) => periodic::prepare(name, kind, job, label, background),
        Kind::PingPong(kind) => ping_pong::prepare(kind, samples, background),
        Kind::Compositor(kind) => {
            let load = compositor::Composing::new(kind.clone());
            Ok(load::prepare(load, &kind.scheduling, terms()))
        }
        Kind::Crowd(kind) => {
            let load = crowd::Crowding::new(kind.clone());
            Ok(load::prepare(load, &kind.scheduling, terms()))
        }
        Kind::Drawing(kind) => drawing(kind, job, label, background),
        Kind::Frames(kind) => {
            let load = frames::Rendering::new(kind.clone());
            Ok(load::prepare(load, &kind.scheduling, terms()))
        }
        Kind::FramesStream(kind) => copying(kind, job, label, background),
        Kind::MemoryRoutine(kind) => calling(kind, job, label, background),
        Kind::Stream(kind) => {
            let load = stream::StreamLoad::new(kind.clone());
            Ok(load::prepare(load, &kind.scheduling, terms()))
        }
        Kind::Sync(kind) => {
            let load = sync::SyncLoad(kind.clone());
            Ok(load::prepare(load, &kind.scheduling, terms()))
        }
        Kind::Threads(kind) => {
            let load = submit_threads::Submitters(kind.clone());
            Ok(load::prepare(load, &kind.scheduling, terms()))
        }
        Kind::Deep(kind) => {
            let load = graph::Graph::deep(kind.clone());
            Ok(load::prepare(load, &kind.scheduling, terms()))
        }
        Kind::Storm(kind) => {
            let load = graph::Graph::storm(kind.clone());
            Ok(load::prepare(load, &kind.scheduling, terms()))
        }
        Kind::Replay(kind) => {
            let load = replay::Replaying::new(kind)?;
            Ok(load::prepare(load, &kind.scheduling, terms()))
        }
    }
}

/// The workload that copies frames, on CPUs whose instructions are known.
#[cfg(target_arch = "x86_64")]
fn copying(
    kind: &FramesStream,
    job: &Job,
    label: &str,
    background: bool,
) -> Result<Prepared, String> {
    let (seed, samples) = (job.seed, job.samples);
    Ok(frames_stream::prepare(
        kind, seed, label, samples, background,
    ))
}

#[cfg(not(target_arch = "x86_64"))]
fn copying(_: &FramesStream, _: &Job, _: &str, _: bool) -> Result<Prepared, String> {
    Err("frames-stream knows no other CPUs than x86-64".into())
}

/// The workload that draws, on CPUs where images can be copied.
#[cfg(target_arch = "x86_64")]
fn drawing(kind: &Drawing, job: &Job, label: &str, background: bool) -> Result<Prepared, String> {
    let (seed, samples) = (job.seed, job.samples);
    Ok(drawing::prepare(kind, seed, label, samples, background))
}

#[cfg(not(target_arch = "x86_64"))]
fn drawing(_: &Drawing, _: &Job, _: &str, _: bool) -> Result<Prepared, String> {
    Err("drawing knows no other CPUs than x86-64".into())
}

/// The workload that calls a memory routine, on CPUs whose instructions are
/// known.
#[cfg(target_arch = "x86_64")]
fn calling(
    kind: &MemoryRoutine,
    job: &Job,
    label: &str,
    background: bool,
) -> Result<Prepared, String> {
    let (seed, samples) = (job.seed, job.samples);
    Ok(memory_routine::prepare(
        kind, seed, label, samples, background,
    ))
}

#[cfg(not(target_arch = "x86_64"))]
fn calling(_: &MemoryRoutine, _: &Job, _: &str, _: bool) -> Result<Prepared, String> {
    Err("memory-routine knows no other CPUs than x86-64".into())
}

/// A workload inside the agent, of which only one stage is measured.
fn prepare_staged(scheduling: Scheduling, run: impl Staged + 'static) -> Prepared {
    Prepared {
        body: Body::Staged(Box::new(run)),
        scheduling,
        statuses: vec![0],
        // It sends its records itself.
        read: Box::new(|_, _| Vec::new()),
    }
}

/// A workload inside the agent.
fn prepare_inside(
    scheduling: Scheduling,
    run: impl FnOnce() -> Result<Vec<AgentMessage>, String> + 'static,
) -> Prepared {
    Prepared {
        body: Body::Inside(Box::new(run)),
        scheduling,
        statuses: vec![0],
        // It sends its records itself.
        read: Box::new(|_, _| Vec::new()),
    }
}

/// Why a process that ended like this has failed; `None` if its exit status is
/// one of `statuses`.
pub(crate) fn failure(left: &ProcessExit, statuses: &[i32]) -> Option<String> {
    if let Some(why) = &left.failure {
        return Some(why.clone());
    }
    let how = match left.end {
        ProcessEnd::Exited(status) if statuses.contains(&status) => return None,
        ProcessEnd::Exited(status) => format!("exit status {status}"),
        ProcessEnd::Killed { signal, core } => {
            let core = if core { ", core dumped" } else { "" };
            format!("killed by {}{core}", sys::signal_name(signal))
        }
    };
    let said = output::last_lines(left);
    Some(if said.is_empty() {
        format!("{how}; it printed nothing")
    } else {
        format!("{how}: {said}")
    })
}

/// A program with its arguments, in which the seed replaces `{seed}`.
pub(crate) fn program(argv: &[String], seed: u64) -> Result<ExecProgram, String> {
    program_with(argv, &[], seed)
}

/// The same with variables added to its environment. A PATH among them is where
/// the program is searched.
pub(crate) fn program_with(
    argv: &[String],
    environment: &[(String, String)],
    seed: u64,
) -> Result<ExecProgram, String> {
    let Some(name) = argv.first() else {
        return Err("argv: no program is named".into());
    };
    let seed = seed.to_string();
    let mut path = environment.iter().rev();
    let path = path.find(|(name, _)| name == "PATH");
    let path = path.map_or_else(
        || std::env::var("PATH").unwrap_or_default(),
        |(_, path)| path.clone(),
    );
    let own = ("ASSIZE_SEED".into(), seed.clone());
    Ok(ExecProgram {
        path: find(name, &path)?,
        arguments: argv
            .iter()
            .map(|text| text.replace("{seed}", &seed))
            .collect(),
        environment: std::iter::once(own)
            .chain(environment.iter().cloned())
            .collect(),
        ..ExecProgram::default()
    })
}

/// The file of a program, given by path or searched in the directories of
/// `path`.
fn find(name: &str, path: &str) -> Result<String, String> {
    if name.contains('/') {
        return if is_program(name) {
            Ok(name.to_string())
        } else {
            Err(format!(
                "{name}: no such program here; it is not in the payload"
            ))
        };
    }
    path.split(':')
        .map(|directory| format!("{directory}/{name}"))
        .find(|file| is_program(file))
        .ok_or_else(|| {
            format!(
                "{name}: no such program in {path}; it is not in the payload, \
                 or not installed on this host"
            )
        })
}

fn is_program(path: &str) -> bool {
    // SAFETY: the path is a C string that outlives the call.
    Path::new(path).is_file()
        && unsafe { libc::access(sys::c_string(path).as_ptr(), libc::X_OK) } == 0
}
