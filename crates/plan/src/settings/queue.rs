//! Settings of simgpu's queues: the keys, their values in one configuration, and
//! the module they need.

use std::collections::BTreeMap;

use assize_job::{Action, Design, JobPutter, Queue, Workload};

use crate::steps::modules;
use crate::values::error::Error;
use crate::values::keys::{Flag, KeySection, Whole, Word, duration, key};
use crate::values::layers::SettingLayers;

/// The module of the GPU that workloads submit to.
const MODULE: &str = "simgpu";
/// The longest job timeout, in nanoseconds.
const TIMEOUT_NS_MAX: u64 = 60_000_000_000;
/// The longest time that freeing a job may take, in nanoseconds.
const FREE_COST_NS_MAX: u64 = 1_000_000;

/// The keys of a queue.
pub(crate) static KEYS: KeySection = KeySection {
    name: "queue",
    keys: &[
        key(
            "design",
            Word(&["drm-sched", "depq", "none"]).or("drm-sched"),
            "The kernel's drm_sched, the testbed's depq, or no queue. With none, the submitter itself waits for dependencies and hands the job to the engine: the lower bound for the cost of a queue.",
        ),
        key(
            "bypass",
            Flag.or("false"),
            "depq: the submitter runs a job that nothing blocks.",
        ),
        key(
            "put",
            Word(&["worker", "irq", "submit", "auto"]).optional(),
            "depq: who drops the reference to a finished job: the worker, the interrupt or the next submitter. With auto the queue chooses who drops it, and also who runs jobs. The default is auto if neither bypass nor worker is given; otherwise it is worker.",
        ),
        key(
            "worker",
            Word(&[
                "workqueue",
                "system",
                "highpri",
                "kthread",
                "follow",
                "follow-min",
            ])
            .or("workqueue"),
            "What runs jobs that no submitter runs: a private workqueue, the system's workqueue (depq only), a workqueue with WQ_HIGHPRI, a kthread_worker (depq only), or a kthread_worker that inherits the priority of its most urgent waiting submitter (depq only). follow-min is like follow, but takes any negative nice value as -20.",
        ),
        key(
            "share",
            Word(&["context", "engine", "device"]).or("context"),
            "depq: which contexts share a worker: none (context), those of one engine (engine), or all (device).",
        ),
        key(
            "pick",
            Word(&["ring", "fair"]).or("ring"),
            "depq: how the next job of an engine is picked: in order of arrival, or from the context that used the least engine time.",
        ),
        key(
            "shared",
            Flag.or("false"),
            "drm-sched: one scheduler for all contexts of an engine, not one for each.",
        ),
        key(
            "shape",
            Word(&["none", "xe", "panthor", "amdgpu"]).or("none"),
            "drm-sched: imitates a driver: a scheduler with its own workqueue per context (xe), one unbound workqueue for all (panthor), or a scheduler per engine with a run queue per priority (amdgpu). Replaces shared and worker.",
        ),
        key(
            "credits",
            Whole(1, 65536).or("64"),
            "Limit of a context's jobs on the engine. With shared or shape = \"amdgpu\" it limits all contexts of the engine together; with pick = \"fair\" it limits each context and all together. With shape = \"amdgpu\" the default is 2.",
        ),
        key(
            "ring",
            Whole(2, 65536).or("1024"),
            "Limit of unfinished jobs per context; a power of two.",
        ),
        key(
            "timeout",
            duration(1000).or("5s"),
            "A job that is on the engine for longer counts as hung; at most 60s.",
        ),
        key(
            "hang_limit",
            Whole(0, 1000).or("0"),
            "Hangs after which a context is banned.",
        ),
        key(
            "free_cost",
            duration(0).or("0ns"),
            "CPU time to free a job; at most 1ms.",
        ),
        key(
            "free_sleeps",
            Flag.or("false"),
            "Freeing a job takes a sleeping lock, as dropping a VM does; designs that free jobs in completions leave this to a work item.",
        ),
    ],
};

/// The merged settings of the experiment and its levels; `None` if no workload
/// submits jobs.
pub(crate) fn queue<'w>(
    layers: &SettingLayers<'_>,
    workloads: impl IntoIterator<Item = &'w Workload>,
) -> Result<Option<Queue>, Error> {
    let mut workloads = workloads.into_iter();
    if !workloads.any(|workload| workload.kind.submits()) {
        return Ok(None);
    }
    let mut queue: Queue = layers.read()?;
    let gives = |key: &&str| layers.gives(key);
    if !layers.gives("credits") {
        queue.credits = queue.shape.credits();
    }
    if !["bypass", "put", "worker"].iter().any(gives) && queue.design == Design::Depq {
        queue.put = JobPutter::Auto;
    }
    let error = |key: &str, why: String| {
        let key = if layers.gives(key) { key } else { "design" };
        layers.error(key, why)
    };
    let mend = "remove it there, or exclude the combination";
    if let Some((key, must)) = queue.unknown_to_design() {
        let design = word(&queue.design);
        let why = format!("is not supported by design = \"{design}\", where it must be {must}");
        return Err(error(key, why).mend(mend));
    }
    if let Some((key, must)) = queue.decided_by_shape() {
        let shape = word(&queue.shape);
        let why = format!("is decided by shape = \"{shape}\", where it must be {must}");
        return Err(error(key, why).mend(mend));
    }
    if queue.put == JobPutter::Auto && queue.bypass {
        let why = "is decided by put = \"auto\", where it must be false".to_owned();
        return Err(error("bypass", why).mend(mend));
    }
    if !queue.ring.is_power_of_two() {
        let why = format!("{} is not a power of two", queue.ring);
        let nearest = queue.ring.next_power_of_two();
        let error = error("ring", why);
        return Err(error.mend(format!("write {nearest}")));
    }
    if !queue.timeout_ns.is_multiple_of(1000) || queue.timeout_ns > TIMEOUT_NS_MAX {
        let why = "must be whole microseconds, at most 60s";
        return Err(error("timeout", why.to_owned()));
    }
    if queue.free_cost_ns > FREE_COST_NS_MAX {
        return Err(error("free_cost", "must be at most 1ms".to_owned()));
    }
    Ok(Some(queue))
}

/// An enum value as written in the file.
fn word(value: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// A step that loads the module, if it is needed and no step loads it yet.
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
