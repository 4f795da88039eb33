//! How the queues of simgpu are in one configuration, and the module they
//! need.

use std::collections::BTreeMap;

use assize_job::{Action, Queue, Workload};
use serde_json::Value;

use crate::check::join;
use crate::combine::{Levels, level_path, merge};
use crate::error::Error;
use crate::experiment::Experiment;
use crate::modules;
use crate::raw::Parameters;

/// The module of the device that workloads submit to.
const MODULE: &str = "simgpu";
/// The longest time a job may be given, in nanoseconds.
const TIMEOUT_NS_MAX: u64 = 60_000_000_000;
/// The longest time that to free a job may take, in nanoseconds.
const FREE_COST_NS_MAX: u64 = 1_000_000;

/// The settings of the experiment and of the levels; `None` if there are none.
pub(crate) fn queue<'w>(
    experiment: &Experiment,
    levels: &Levels<'_>,
    workloads: impl IntoIterator<Item = &'w Workload>,
) -> Result<Option<Queue>, Error> {
    let mut workloads = workloads.into_iter();
    if !workloads.any(|workload| workload.kind.submits()) {
        return Ok(None);
    }
    let mut settings: Parameters = experiment.file.queue.clone();
    for (_, _, level) in levels {
        merge(&mut settings, &level.queue);
    }
    let queue: Queue = serde_json::from_value(Value::Object(settings))
        .map_err(|why| experiment.error("queue", format!("cannot be read: {why}")))?;
    let at = |key: &str| path(experiment, levels, key);
    if let Some((key, must)) = queue.unknown_to_design() {
        let design = word(&queue.design);
        let why = format!("is not known to design = \"{design}\", where it must be {must}");
        let error = experiment.error(&at(key), why);
        return Err(error.mend("leave it out there, or exclude the combination"));
    }
    if !queue.ring.is_power_of_two() {
        let why = format!("{} is no power of two", queue.ring);
        let nearest = queue.ring.next_power_of_two();
        let error = experiment.error(&at("ring"), why);
        return Err(error.mend(format!("write {nearest}")));
    }
    if !queue.timeout_ns.is_multiple_of(1000) || queue.timeout_ns > TIMEOUT_NS_MAX {
        let why = "must be whole microseconds, at most 60s";
        return Err(experiment.error(&at("timeout"), why));
    }
    if queue.free_cost_ns > FREE_COST_NS_MAX {
        return Err(experiment.error(&at("free_cost"), "must be at most 1ms"));
    }
    Ok(Some(queue))
}

/// A word as it is written in the file.
fn word(value: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// Where a setting was made last; if nowhere, where the design was chosen.
fn path(experiment: &Experiment, levels: &Levels<'_>, key: &str) -> String {
    let tables = levels
        .iter()
        .map(|(factor, level, _)| join(&level_path(factor, level), "queue"));
    let tables: Vec<String> = std::iter::once("queue".to_owned()).chain(tables).collect();
    let given = |key: &str| {
        let paths = tables.iter().map(|table| join(table, key));
        paths.rev().find(|path| experiment.gives(path))
    };
    given(key)
        .or_else(|| given("design"))
        .unwrap_or_else(|| "queue".to_owned())
}

/// The step that loads the module, if no step does.
pub(crate) fn missing_step(setup: &[Action], queue: Option<&Queue>) -> Option<Action> {
    queue?;
    (!modules::is_loaded(setup, MODULE)).then(|| Action::Module {
        module: MODULE.to_owned(),
        parameters: BTreeMap::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(name: &str) -> Action {
        Action::Module {
            module: name.to_owned(),
            parameters: BTreeMap::new(),
        }
    }

    #[test]
    fn the_module_is_loaded_once() {
        let queue = Queue::default();
        assert_eq!(missing_step(&[], None), None);
        assert_eq!(missing_step(&[], Some(&queue)), Some(module("simgpu")));
        let other = [module("simgpu2"), module("depq")];
        assert_eq!(missing_step(&other, Some(&queue)), Some(module("simgpu")));
        for name in ["simgpu", "/x/simgpu.ko", "y/simgpu.ko.xz"] {
            assert_eq!(missing_step(&[module(name)], Some(&queue)), None, "{name}");
        }
    }
}
