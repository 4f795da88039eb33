//! Idle states and frequencies that a run declares, and what it says they draw.
//!
//! None of it is of the machine: the modules `simidle` and `simfreq` let the
//! kernel's governors choose among what is declared here, and energy is modelled
//! from it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Action;

/// Where the kernel says who chooses among idle states.
pub const IDLE_GOVERNOR: &str = "/sys/devices/system/cpu/cpuidle/current_governor";
/// Where it says whose idle states there are.
pub const IDLE_DRIVER: &str = "/sys/devices/system/cpu/cpuidle/current_driver";
/// Below this lies a directory for each group of CPUs that have one frequency.
pub const FREQUENCY_POLICIES: &str = "/sys/devices/system/cpu/cpufreq";

/// The module that has idle states.
const IDLE_MODULE: &str = "simidle";
/// The module that has frequencies.
const FREQUENCY_MODULE: &str = "simfreq";
/// Governors of frequencies that Debian's kernels have as modules.
const GOVERNOR_MODULES: [FrequencyGovernor; 4] = [
    FrequencyGovernor::Powersave,
    FrequencyGovernor::Ondemand,
    FrequencyGovernor::Conservative,
    FrequencyGovernor::Userspace,
];

/// The idle states of all CPUs, and who chooses among them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Idle {
    /// The shallowest first.
    pub states: Vec<IdleState>,
    /// Who chooses.
    pub governor: IdleGovernor,
    /// Whether the exit latency is spent.
    pub delay: bool,
    /// Microwatts of a CPU that is not idle, where no frequencies are declared.
    pub active_uw: u64,
    /// Microwatts of what all CPUs share.
    pub package_uw: u64,
    /// The same while all CPUs are in the deepest state at once.
    pub package_idle_uw: u64,
}

/// One idle state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdleState {
    /// Its name.
    pub name: String,
    /// Idle times from which on it pays, in nanoseconds.
    pub residency_ns: u64,
    /// How long leaving it takes, in nanoseconds.
    pub exit_ns: u64,
    /// Microwatts of a CPU in it.
    pub power_uw: u64,
    /// Nanojoules of entering and leaving it once.
    pub transition_nj: u64,
}

/// Who chooses among idle states.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdleGovernor {
    /// From the next timer and how long CPUs were idle before.
    #[default]
    Menu,
    /// Step by step.
    Ladder,
    /// For guests: waits a while before it halts.
    Haltpoll,
    /// From the next timer.
    Teo,
}

/// The frequencies of all CPUs, and who chooses among them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frequency {
    /// Ascending.
    pub steps: Vec<FrequencyStep>,
    /// Who chooses.
    pub governor: FrequencyGovernor,
    /// CPUs that have one frequency together; 0 for all.
    pub domain: u32,
    /// With [`FrequencyGovernor::Userspace`], the frequency in kilohertz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_khz: Option<u64>,
    /// Least nanoseconds between two changes by schedutil.
    pub rate_ns: u64,
}

/// One frequency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrequencyStep {
    /// In kilohertz.
    pub frequency_khz: u64,
    /// Microwatts of a CPU that is not idle.
    pub power_uw: u64,
}

/// Who chooses among frequencies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrequencyGovernor {
    /// The scheduler, from the utilisation that it keeps.
    #[default]
    Schedutil,
    /// The highest.
    Performance,
    /// The lowest.
    Powersave,
    /// From the share of busy time, up at once.
    Ondemand,
    /// From the share of busy time, step by step.
    Conservative,
    /// What was set.
    Userspace,
}

impl IdleGovernor {
    /// As the kernel calls it.
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
    /// As the kernel calls it.
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
    /// The step that has the kernel know the states.
    #[must_use]
    pub fn module(&self) -> Action {
        let list = |of: fn(&IdleState) -> String| self.states.iter().map(of).collect::<Vec<_>>();
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

    /// Files of the kernel that say what is in effect, and what they must say.
    #[must_use]
    pub fn settings(&self) -> Vec<(String, String)> {
        vec![
            (IDLE_DRIVER.to_owned(), IDLE_MODULE.to_owned()),
            (IDLE_GOVERNOR.to_owned(), self.governor.word().to_owned()),
        ]
    }
}

impl Frequency {
    /// The steps that have the kernel know the frequencies, and the governor if
    /// it is a module.
    #[must_use]
    pub fn modules(&self) -> Vec<Action> {
        let list = |of: fn(&FrequencyStep) -> u64| {
            let values = self.steps.iter().map(|step| of(step).to_string());
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

    /// Files of the kernel that say what is in effect for the first group of
    /// CPUs, and what they must say.
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

    /// Microwatts of a CPU that is not idle at this frequency: those of the
    /// nearest that is declared and not below it.
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
        let of = |name: &str| parameters[name].as_str();
        let given = ["names", "residency_ns", "exit_ns", "power_uw", "delay"].map(of);
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
