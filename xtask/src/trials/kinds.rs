//! The kinds of things that a level can set, and the trials of each.

/// A kind of thing that a level can set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Kernel,
    CommandLine,
    Cpus,
    Memory,
    ModuleName,
    ModulePath,
    ModuleParameter,
    Sysctl,
    SchedFeature,
    Write,
    Command,
    Teardown,
    Background,
    Workload,
    File,
    Program,
    Library,
    Scheduling,
    Queue,
    Idle,
    Frequency,
    Policy,
    Stalls,
    Environment,
}

/// All kinds. The compiler warns if one is missing, as it is then never constructed.
pub(super) const KINDS: &[Kind] = &[
    Kind::Kernel,
    Kind::CommandLine,
    Kind::Cpus,
    Kind::Memory,
    Kind::ModuleName,
    Kind::ModulePath,
    Kind::ModuleParameter,
    Kind::Sysctl,
    Kind::SchedFeature,
    Kind::Write,
    Kind::Command,
    Kind::Teardown,
    Kind::Background,
    Kind::Workload,
    Kind::File,
    Kind::Program,
    Kind::Library,
    Kind::Scheduling,
    Kind::Queue,
    Kind::Idle,
    Kind::Frequency,
    Kind::Policy,
    Kind::Stalls,
    Kind::Environment,
];

impl Kind {
    /// Its name on the command line and in the table.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Kernel => "kernel",
            Kind::CommandLine => "command-line",
            Kind::Cpus => "cpus",
            Kind::Memory => "memory",
            Kind::ModuleName => "module-name",
            Kind::ModulePath => "module-path",
            Kind::ModuleParameter => "module-parameter",
            Kind::Sysctl => "sysctl",
            Kind::SchedFeature => "sched-feature",
            Kind::Write => "write",
            Kind::Command => "command",
            Kind::Teardown => "teardown",
            Kind::Background => "background",
            Kind::Workload => "workload",
            Kind::File => "file",
            Kind::Program => "program",
            Kind::Library => "library",
            Kind::Scheduling => "scheduling",
            Kind::Queue => "queue",
            Kind::Idle => "idle",
            Kind::Frequency => "frequency",
            Kind::Stalls => "stalls",
            Kind::Policy => "policy",
            Kind::Environment => "environment",
        }
    }

    /// The key of a level that sets it, as in the schema of experiment files; keys of set-up steps
    /// have the prefix `setup.`.
    #[cfg(test)]
    fn key(self) -> &'static str {
        match self {
            Kind::Kernel => "kernel",
            Kind::CommandLine => "command_line",
            Kind::Cpus => "cpus",
            Kind::Memory => "memory",
            Kind::ModuleName | Kind::ModulePath => "setup.module",
            Kind::ModuleParameter => "setup.parameters",
            Kind::Sysctl => "setup.sysctl",
            Kind::SchedFeature | Kind::Write => "setup.write",
            Kind::Command => "setup.command",
            Kind::Teardown => "teardown",
            Kind::Background => "background",
            Kind::Workload | Kind::File | Kind::Program | Kind::Scheduling => "workload",
            Kind::Queue => "queue",
            Kind::Idle => "idle",
            Kind::Frequency => "frequency",
            Kind::Stalls => "stalls",
            Kind::Policy => "policy",
            Kind::Environment | Kind::Library => "environment",
        }
    }

    /// Its trials; at least one.
    pub(super) fn trials(self) -> Vec<Trial> {
        match self {
            Kind::Kernel => vec![
                exact("kernel", THREE).with(Need::Kernels),
                exact("kernel-headers", BUSY)
                    .by("busy_time_per_job")
                    .with(Need::Kernels)
                    .long(),
            ],
            Kind::CommandLine => vec![exact("command-line", THREE)],
            Kind::Cpus => vec![exact("cpus", ratio(2.85, 3.15)).beside(0.05)],
            Kind::Memory => vec![exact("memory", THREE)],
            Kind::ModuleName => vec![
                exact("module-name", THREE),
                exact("scheduler-name", BUSY)
                    .by("busy_time_per_job")
                    .with(Need::Scheduler),
            ],
            Kind::ModulePath => vec![
                exact("module-path", WAITED).with(Need::Module),
                exact("scheduler-path", BUSY)
                    .by("busy_time_per_job")
                    .with(Need::Scheduler)
                    .long(),
            ],
            Kind::ModuleParameter => vec![exact("module-parameter", WAITED).with(Need::Module)],
            Kind::Sysctl => vec![exact("sysctl", THREE)],
            Kind::SchedFeature => vec![exact("sched-feature", THREE)],
            Kind::Write => vec![anywhere("write", THREE)],
            Kind::Command => vec![anywhere("command", THREE)],
            Kind::Teardown => vec![anywhere("teardown", Truth::Fails)],
            Kind::Background => vec![exact("background", ratio(2.85, 3.15))],
            Kind::Workload => vec![anywhere("workload", THREE)],
            Kind::File => vec![exact("file", ratio(2.6, 3.0)).by("round_time_ns_p50")],
            Kind::Program => vec![anywhere("program", THREE)],
            Kind::Library => vec![anywhere("library", THREE)],
            Kind::Scheduling => vec![exact("scheduling", ratio(2.74, 3.02))],
            Kind::Queue => vec![exact("queue", ratio(1.61, 1.90)).by("round_time_ns_p50")],
            Kind::Idle => vec![exact("idle", THREE)],
            Kind::Frequency => vec![exact("frequency", THREE)],
            Kind::Stalls => vec![exact("stalls", THREE)],
            Kind::Policy => vec![exact("policy", THREE).with(Need::Policies)],
            Kind::Environment => vec![anywhere("environment", THREE)],
        }
    }
}

/// The fraction by which a null level may truly differ. Other bytes change the memory layout, and a
/// machine that counts instructions shows even a nanosecond in a second. The smallest planted
/// effect is a hundred times as large.
const LAYOUT: f64 = 0.005;

/// The known truth of an experiment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trial {
    /// Its file is `tests/trials/NAME.toml`.
    pub(super) name: &'static str,
    pub(super) truth: Truth,
    /// The fraction by which the null level may truly differ on the exact machine.
    pub(super) beside: f64,
    /// The metric to check; by default that of the probe's loop.
    pub(super) metric: Option<&'static str>,
    /// Its special requirement, if any.
    pub(super) need: Option<Need>,
    /// Whether it can run on a real machine.
    pub(super) real: bool,
    /// Whether it is left out of the light form, as it takes long; another trial of its kind
    /// remains.
    pub(super) long: bool,
}

/// The required result of the planted level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Truth {
    /// A ratio in this range.
    Ratio(f64, f64),
    /// This many nanoseconds more than the plain level, to within a tenth.
    Added(f64),
    /// No value: all runs fail.
    Fails,
}

/// The special requirement of some trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// Kernels with another version, byte or headers.
    Kernels,
    /// The module of the trials.
    Module,
    /// gpu-sched, built from the kernel's sources.
    Scheduler,
    /// A kernel with sched_ext, and the tools to build placement policies.
    Policies,
}

/// Three times as many instructions, give or take interrupts.
const THREE: Truth = Truth::Ratio(2.94, 3.06);
/// 150 us against 50 us, each plus at most 5 us for the read itself.
const WAITED: Truth = Truth::Ratio(2.8, 3.0);
/// 100 us per job.
const BUSY: Truth = Truth::Added(100_000.0);

const fn ratio(low: f64, high: f64) -> Truth {
    Truth::Ratio(low, high)
}

const fn exact(name: &'static str, truth: Truth) -> Trial {
    Trial {
        name,
        truth,
        beside: LAYOUT,
        metric: None,
        need: None,
        real: false,
        long: false,
    }
}

const fn anywhere(name: &'static str, truth: Truth) -> Trial {
    Trial {
        real: true,
        ..exact(name, truth)
    }
}

impl Trial {
    const fn beside(self, share: f64) -> Trial {
        Trial {
            beside: share,
            ..self
        }
    }

    const fn by(self, metric: &'static str) -> Trial {
        Trial {
            metric: Some(metric),
            ..self
        }
    }

    const fn long(self) -> Trial {
        Trial { long: true, ..self }
    }

    const fn with(self, need: Need) -> Trial {
        Trial {
            need: Some(need),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::tree;

    /// The keys of a level, with those of each set-up step.
    fn keys_of_a_level() -> BTreeSet<String> {
        let text = tree::read("schema/experiment.schema.json").unwrap();
        let schema: Value = serde_json::from_str(&text.unwrap()).unwrap();
        let definitions = &schema["$defs"];
        let names = |of: &Value| -> Vec<String> {
            let properties = of["properties"].as_object().unwrap();
            properties.keys().cloned().collect()
        };
        let mut keys: BTreeSet<String> = names(&definitions["level"]).into_iter().collect();
        assert!(keys.remove("setup"));
        for step in definitions["action"]["oneOf"].as_array().unwrap() {
            let name = step["$ref"].as_str().unwrap().rsplit('/').next().unwrap();
            let of_step = names(&definitions[name]).into_iter();
            keys.extend(
                of_step
                    .filter(|key| key != "value")
                    .map(|key| format!("setup.{key}")),
            );
        }
        keys
    }

    #[test]
    fn whatever_a_level_can_set_has_a_trial() {
        let tried: BTreeSet<String> = KINDS.iter().map(|kind| kind.key().to_owned()).collect();
        assert_eq!(tried, keys_of_a_level());
        let light = |kind: &Kind| kind.trials().iter().any(|trial| !trial.long);
        assert!(KINDS.iter().all(light));
    }

    #[test]
    fn every_trial_has_a_file_and_every_file_a_trial() {
        let trials = KINDS.iter().flat_map(|kind| kind.trials());
        let named: BTreeSet<String> = trials
            .map(|trial| format!("tests/trials/{}.toml", trial.name))
            .collect();
        let files = tree::files().unwrap().into_iter();
        let there: BTreeSet<String> = files
            .filter(|file| file.starts_with("tests/trials/") && file.ends_with(".toml"))
            .collect();
        assert_eq!(named, there);
    }

    #[test]
    fn every_file_has_the_levels_of_a_trial() {
        for trial in KINDS.iter().flat_map(|kind| kind.trials()) {
            let text = tree::read(&format!("tests/trials/{}.toml", trial.name)).unwrap();
            let text = text.unwrap();
            for level in ["plain", "planted", "null"] {
                let head = format!("\n[factors.level.{level}]\n");
                assert!(text.contains(&head), "{}: {level}", trial.name);
            }
        }
    }
}
