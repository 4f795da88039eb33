//! The kinds of workloads, and checks of parameters that depend on each other.

use assize_job::{CommandWorkload, WorkloadKind};
use serde_json::json;

use super::{
    audio, browser, command, compositor, cpu_score, crowd, cyclictest, deep, drawing, frames,
    frames_stream, hackbench, hogs, memory_routine, periodic, ping_pong, replay, scheduling, storm,
    stream, sync, threads,
};
use crate::values::document::{TomlDocument, join};
use crate::values::error::Error;
use crate::values::keys::KeySection;

/// The parameters of each kind.
pub(crate) static KINDS: &[&KeySection] = &[
    &audio::KEYS,
    &browser::KEYS,
    &command::KEYS,
    &compositor::KEYS,
    &cpu_score::KEYS,
    &crowd::KEYS,
    &cyclictest::KEYS,
    &deep::KEYS,
    &drawing::KEYS,
    &frames::KEYS,
    &frames_stream::KEYS,
    &hackbench::KEYS,
    &hogs::KEYS,
    &memory_routine::KEYS,
    &periodic::KEYS,
    &ping_pong::KEYS,
    &replay::KEYS,
    &storm::KEYS,
    &stream::KEYS,
    &sync::KEYS,
    &threads::KEYS,
];

/// The parameters of a kind.
pub(crate) fn find(name: &str) -> Option<&'static KeySection> {
    KINDS.iter().copied().find(|kind| kind.name == name)
}

/// Whether workloads of this kind submit jobs to simgpu.
pub(crate) fn submits(name: &str) -> bool {
    let kind = serde_json::from_value::<WorkloadKind>(json!({ "kind": name }));
    kind.is_ok_and(|kind| kind.submits())
}

/// Checks the parameters of one workload. `path` is the last place where they are given.
pub(crate) fn check(
    document: &TomlDocument,
    path: &str,
    kind: &WorkloadKind,
    cpus: u32,
) -> Result<(), Error> {
    match kind {
        WorkloadKind::Command(CommandWorkload { argv, .. })
            if argv.first().is_none_or(|program| program.trim().is_empty()) =>
        {
            let error = document.error(&join(path, "argv"), "names no program");
            return Err(error.mend("give the program first, then its arguments"));
        }
        WorkloadKind::Drawing(drawing) => document.reject(path, drawing::mistake(drawing))?,
        WorkloadKind::FramesStream(stream) => {
            document.reject(path, frames_stream::mistake(stream))?
        }
        WorkloadKind::MemoryRoutine(routine) => {
            document.reject(path, memory_routine::mistake(routine))?
        }
        WorkloadKind::Periodic(periodic) => periodic::check(document, path, periodic)?,
        WorkloadKind::Replay(replay) => replay::check(document, path, replay)?,
        _ => {}
    }
    for (key, scheduling) in kind.schedulings() {
        scheduling::check(document, &join(path, key), scheduling, cpus)?;
        let whole = key == "scheduling" && !matches!(kind, WorkloadKind::Periodic(_));
        scheduling::check_group(document, &join(path, key), scheduling, whole)?;
    }
    Ok(())
}
