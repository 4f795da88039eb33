//! Checks of workload parameters that depend on each other.

use std::collections::BTreeSet;

use assize_job::{CommandWorkload, Periodic, Policy, Replay, Scheduling, WorkloadKind, replay};

use crate::experiment::Experiment;
use crate::values::error::Error;
use crate::values::read::join;
use crate::workloads::drawing;
use crate::workloads::frames_stream;
use crate::workloads::memory_routine;

/// Checks the parameters of one workload. `path` is where they were given last.
pub(crate) fn check(
    experiment: &Experiment,
    path: &str,
    kind: &WorkloadKind,
    cpus: u32,
) -> Result<(), Error> {
    match kind {
        WorkloadKind::Command(CommandWorkload { argv, .. })
            if argv.first().is_none_or(|program| program.trim().is_empty()) =>
        {
            let error = experiment.error(&join(path, "argv"), "names no program");
            return Err(error.mend("give the program first, then its arguments"));
        }
        WorkloadKind::Drawing(drawing) => drawing::check(experiment, path, drawing)?,
        WorkloadKind::FramesStream(stream) => frames_stream::check(experiment, path, stream)?,
        WorkloadKind::MemoryRoutine(routine) => memory_routine::check(experiment, path, routine)?,
        WorkloadKind::Periodic(periodic) => check_loops(experiment, path, periodic)?,
        WorkloadKind::Replay(replay) => check_steps(experiment, path, replay)?,
        _ => {}
    }
    for (key, scheduling) in kind.schedulings() {
        check_scheduling(experiment, &join(path, key), scheduling, cpus)?;
        let whole = key == "scheduling" && !matches!(kind, WorkloadKind::Periodic(_));
        check_group(experiment, &join(path, key), scheduling, whole)?;
    }
    Ok(())
}

fn check_loops(experiment: &Experiment, path: &str, periodic: &Periodic) -> Result<(), Error> {
    let loops = join(path, "loops");
    match (&periodic.rt_app, periodic.loops.is_empty()) {
        (None, true) => {
            let error = experiment.error(path, "has neither loops nor rt_app");
            return Err(error.mend("give loops = [{ period = \"10ms\", run = \"1ms\" }]"));
        }
        (Some(_), false) => {
            let error = experiment.error(&loops, "are not used with rt_app");
            return Err(error.mend("remove one of them"));
        }
        _ => {}
    }
    let mut names = BTreeSet::new();
    for (at, one) in periodic.loops.iter().enumerate() {
        let place = format!("{loops}[{at}]");
        if one.run_ns > one.period_ns {
            let why = "run is longer than period";
            return Err(experiment.error(&join(&place, "run"), why));
        }
        if !names.insert(&one.name) {
            let why = format!("a second loop is called '{}'", one.name);
            let error = experiment.error(&join(&place, "name"), why);
            return Err(error.mend("give each loop a name of its own"));
        }
    }
    Ok(())
}

fn check_steps(experiment: &Experiment, path: &str, replay: &Replay) -> Result<(), Error> {
    match (&replay.file, &replay.steps) {
        (None, None) => {
            let error = experiment.error(path, "has neither steps nor a file");
            Err(error.mend("give steps = \"1.RCS.1000.0.1\""))
        }
        (Some(_), Some(_)) => {
            let error = experiment.error(&join(path, "steps"), "are not used with a file");
            Err(error.mend("remove one of them"))
        }
        (None, Some(text)) => match replay::parse(text) {
            Ok(_) => Ok(()),
            Err(why) => {
                let error = experiment.error(&join(path, "steps"), why.to_string());
                Err(error)
            }
        },
        (Some(_), None) => Ok(()),
    }
}

fn check_scheduling(
    experiment: &Experiment,
    path: &str,
    scheduling: &Scheduling,
    cpus: u32,
) -> Result<(), Error> {
    let real_time = matches!(scheduling.policy, Policy::Fifo | Policy::Rr);
    let Scheduling { priority, nice, .. } = scheduling;
    if real_time && *priority == 0 {
        let why = "fifo and rr want a priority of 1 to 99";
        return Err(experiment.error(&join(path, "priority"), why));
    }
    if !real_time && *priority != 0 {
        let why = format!("priority {priority} is for the policies fifo and rr");
        let error = experiment.error(&join(path, "priority"), why);
        return Err(error.mend("set policy = \"fifo\" or priority = 0"));
    }
    if real_time && *nice != 0 {
        let why = format!("nice {nice} means nothing to fifo and rr");
        return Err(experiment.error(&join(path, "nice"), why).mend("remove it"));
    }
    if let Some(cpu) = scheduling.cpus.iter().find(|cpu| **cpu >= cpus) {
        let why = format!("there is no CPU {cpu} among {cpus}, which count from 0");
        let error = experiment.error(&join(path, "cpus"), why);
        return Err(error.mend(format!("set cpus = {} at the top", cpu.saturating_add(1))));
    }
    Ok(())
}

/// Checks a scheduling group. `whole`: these settings apply to every thread of
/// the workload.
fn check_group(
    experiment: &Experiment,
    path: &str,
    scheduling: &Scheduling,
    whole: bool,
) -> Result<(), Error> {
    let Some(group) = &scheduling.group else {
        return Ok(());
    };
    let error = |why| experiment.error(&join(path, "group"), why);
    if !whole {
        let why = "a control group is for all threads of a workload, not for some";
        return Err(error(why.to_string()).mend("remove it"));
    }
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if group.is_empty() || group.len() > 32 || !group.bytes().all(fits) {
        let why = format!("'{group}' is no name of a group");
        return Err(error(why).mend("use 1 to 32 letters, digits and '-'"));
    }
    Ok(())
}
