//! Idle states and frequencies that a run declares, and their power.
//!
//! They are not properties of the machine: the modules `simidle` and `simfreq` let the
//! kernel's governors choose among the declared ones, and energy is modelled from the
//! declared power.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Action;

/// The file with the name of the current idle governor.
pub const IDLE_GOVERNOR: &str = "/sys/devices/system/cpu/cpuidle/current_governor";
/// The file with the name of the driver that provides the idle states.
pub const IDLE_DRIVER: &str = "/sys/devices/system/cpu/cpuidle/current_driver";
/// The directory with a subdirectory for each group of CPUs that share a frequency.
pub const FREQUENCY_POLICIES: &str = "/sys/devices/system/cpu/cpufreq";

/// The module that provides idle states.
const IDLE_MODULE: &str = "simidle";
/// The module that provides frequencies.
const FREQUENCY_MODULE: &str = "simfreq";
/// Frequency governors that are modules in Debian's kernels.
const GOVERNOR_MODULES: [FrequencyGovernor; 4] = [
    FrequencyGovernor::Powersave,
    FrequencyGovernor::Ondemand,
    FrequencyGovernor::Conservative,
    FrequencyGovernor::Userspace,
];

/// The idle states of all CPUs, and their governor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Idle {
    /// The states, shallowest first.
    pub states: Vec<IdleState>,
    /// The governor.
    pub governor: IdleGovernor,
    /// Whether leaving a state really takes the exit latency.
    pub delay: bool,
    /// Power of a CPU that is not idle, in microwatts, if no frequencies are declared.
    pub active_uw: u64,
    /// Power of the parts that all CPUs share, in microwatts.
    pub package_uw: u64,
    /// Power of the shared parts while all CPUs are in the deepest state, in microwatts.
    pub package_idle_uw: u64,
}

/// One idle state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdleState {
    /// Its name.
    pub name: String,
    /// Minimum idle time for which it saves energy (target residency), in nanoseconds.
    pub residency_ns: u64,
    /// Exit latency, in nanoseconds.
    pub exit_ns: u64,
    /// Power of a CPU in it, in microwatts.
    pub power_uw: u64,
    /// Energy of entering and leaving it once, in nanojoules.
    pub transition_nj: u64,
}

/// The governor that chooses idle states.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdleGovernor {
    /// Predicts from the next timer and past idle times.
    #[default]
    Menu,
    /// Moves one state at a time.
    Ladder,
    /// For guests: polls for a while before it halts.
    Haltpoll,
    /// Predicts from the next timer.
    Teo,
}

/// The frequencies of all CPUs, and their governor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frequency {
    /// The frequencies, ascending.
    pub steps: Vec<FrequencyStep>,
    /// The governor.
    pub governor: FrequencyGovernor,
    /// Number of CPUs that share a frequency; 0 for all.
    pub domain: u32,
    /// With [`FrequencyGovernor::Userspace`], the frequency in kilohertz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_khz: Option<u64>,
    /// Minimum time between two changes by schedutil, in nanoseconds.
    pub rate_ns: u64,
}

/// One frequency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrequencyStep {
    /// The frequency in kHz.
    pub frequency_khz: u64,
    /// Power of a CPU that is not idle, in microwatts.
    pub power_uw: u64,
}

/// The governor that chooses frequencies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrequencyGovernor {
    /// The scheduler, from its utilisation signal.
    #[default]
    Schedutil,
    /// The highest frequency.
    Performance,
    /// The lowest frequency.
    Powersave,
    /// Follows the share of busy time; rises at once.
    Ondemand,
    /// Follows the share of busy time, step by step.
    Conservative,
    /// A fixed frequency.
    Userspace,
}

impl IdleGovernor {
    /// Its name in the kernel.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            IdleGovernor::Menu => "menu",
            IdleGovernor::Ladder => "ladder",
            IdleGovernor::Haltpoll => "haltpoll",
            IdleGovernor::Teo => "teo",
        }
    }
}

impl FrequencyGovernor {
    /// Its name in the kernel.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            FrequencyGovernor::Schedutil => "schedutil",
            FrequencyGovernor::Performance => "performance",
            FrequencyGovernor::Powersave => "powersave",
            FrequencyGovernor::Ondemand => "ondemand",
            FrequencyGovernor::Conservative => "conservative",
            FrequencyGovernor::Userspace => "userspace",
        }
    }
}

impl Idle {
    /// The step that loads the module with these states.
    #[must_use]
    pub fn module(&self) -> Action {
        let list =
            |field: fn(&IdleState) -> String| self.states.iter().map(field).collect::<Vec<_>>();
        let mut parameters = BTreeMap::new();
        for (name, values) in [
            ("names", list(|state| state.name.clone())),
            ("residency_ns", list(|state| state.residency_ns.to_string())),
            ("exit_ns", list(|state| state.exit_ns.to_string())),
            ("power_uw", list(|state| state.power_uw.to_string())),
            ("delay", vec![if self.delay { "Y" } else { "N" }.into()]),
        ] {
            parameters.insert(name.to_owned(), values.join(","));
        }
        Action::Module {
            module: IDLE_MODULE.to_owned(),
            parameters,
        }
    }

    /// The kernel's files with the settings in effect, and their required contents.
    #[must_use]
    pub fn settings(&self) -> Vec<(String, String)> {
        vec![
            (IDLE_DRIVER.to_owned(), IDLE_MODULE.to_owned()),
            (IDLE_GOVERNOR.to_owned(), self.governor.word().to_owned()),
        ]
    }
}

impl Frequency {
    /// The steps that load the module with these frequencies, and the governor if it is a
    /// module.
    #[must_use]
    pub fn modules(&self) -> Vec<Action> {
        let list = |field: fn(&FrequencyStep) -> u64| {
            let values = self.steps.iter().map(|step| field(step).to_string());
            values.collect::<Vec<_>>().join(",")
        };
        let mut parameters = BTreeMap::new();
        for (name, value) in [
            ("frequency_khz", list(|step| step.frequency_khz)),
            ("power_uw", list(|step| step.power_uw)),
            ("domain", self.domain.to_string()),
            ("rate_us", (self.rate_ns / 1000).to_string()),
        ] {
            parameters.insert(name.to_owned(), value);
        }
        let mut modules = vec![Action::Module {
            module: FREQUENCY_MODULE.to_owned(),
            parameters,
        }];
        if GOVERNOR_MODULES.contains(&self.governor) {
            modules.push(Action::Module {
                module: format!("cpufreq_{}", self.governor.word()),
                parameters: BTreeMap::new(),
            });
        }
        modules
    }

    /// The kernel's files with the settings in effect for the first group of CPUs, and
    /// their required contents.
    #[must_use]
    pub fn settings(&self) -> Vec<(String, String)> {
        let of_first = |file: &str| format!("{FREQUENCY_POLICIES}/policy0/{file}");
        let mut settings = vec![
            (of_first("scaling_driver"), FREQUENCY_MODULE.to_owned()),
            (
                of_first("scaling_governor"),
                self.governor.word().to_owned(),
            ),
        ];
        if let Some(khz) = self.set_khz {
            settings.push((of_first("scaling_setspeed"), khz.to_string()));
        }
        settings
    }

    /// Power in microwatts of a CPU that is not idle at this frequency: that of the next
    /// declared frequency that is not lower.
    #[must_use]
    pub fn power_uw(&self, khz: u64) -> u64 {
        let mut steps = self.steps.iter();
        let found = steps.find(|step| step.frequency_khz >= khz);
        let found = found.or(self.steps.last());
        found.map_or(0, |step| step.power_uw)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)] // A test may fail.
mod tests {
    use super::*;

    fn frequency(governor: FrequencyGovernor) -> Frequency {
        let step = |frequency_khz, power_uw| FrequencyStep {
            frequency_khz,
            power_uw,
        };
        Frequency {
            steps: vec![step(500_000, 10), step(1_000_000, 30)],
            governor,
            domain: 2,
            set_khz: None,
            rate_ns: 1_000_000,
        }
    }

    #[test]
    fn what_is_declared_becomes_lists_of_one_length() {
        let state = |name: &str, residency_ns| IdleState {
            name: name.into(),
            residency_ns,
            exit_ns: residency_ns / 2,
            power_uw: 7,
            transition_nj: 0,
        };
        let idle = Idle {
            states: vec![state("a", 2), state("b", 600)],
            governor: IdleGovernor::Ladder,
            delay: false,
            active_uw: 9,
            package_uw: 0,
            package_idle_uw: 0,
        };
        let Action::Module { module, parameters } = idle.module() else {
            panic!("a module is loaded");
        };
        assert_eq!(module, "simidle");
        let value = |name: &str| parameters[name].as_str();
        let given = ["names", "residency_ns", "exit_ns", "power_uw", "delay"].map(value);
        assert_eq!(given, ["a,b", "2,600", "1,300", "7,7", "N"]);
        assert_eq!(idle.settings()[1], (IDLE_GOVERNOR.into(), "ladder".into()));
    }

    #[test]
    fn a_governor_that_is_a_module_is_loaded() {
        let names = |governor| {
            let modules = frequency(governor).modules().into_iter();
            let name = |step| match step {
                Action::Module { module, .. } => module,
                other => panic!("{other:?}"),
            };
            modules.map(name).collect::<Vec<_>>()
        };
        assert_eq!(names(FrequencyGovernor::Schedutil), ["simfreq"]);
        assert_eq!(names(FrequencyGovernor::Performance), ["simfreq"]);
        let ondemand = names(FrequencyGovernor::Ondemand);
        assert_eq!(ondemand, ["simfreq", "cpufreq_ondemand"]);
    }

    #[test]
    fn a_frequency_draws_what_is_declared_for_it() {
        let frequency = frequency(FrequencyGovernor::Schedutil);
        for (khz, uw) in [
            (1, 10),
            (500_000, 10),
            (500_001, 30),
            (1_000_000, 30),
            (2_000_000, 30),
        ] {
            assert_eq!(frequency.power_uw(khz), uw, "{khz}");
        }
    }

    #[test]
    fn governors_are_called_as_they_are_written() {
        for governor in [
            IdleGovernor::Menu,
            IdleGovernor::Ladder,
            IdleGovernor::Haltpoll,
            IdleGovernor::Teo,
        ] {
            assert_eq!(serde_json::to_value(governor).unwrap(), governor.word());
        }
        for governor in [
            FrequencyGovernor::Schedutil,
            FrequencyGovernor::Performance,
            FrequencyGovernor::Powersave,
            FrequencyGovernor::Ondemand,
            FrequencyGovernor::Conservative,
            FrequencyGovernor::Userspace,
        ] {
            assert_eq!(serde_json::to_value(governor).unwrap(), governor.word());
        }
    }
}
