//! Planted stalls: ground truth for stall detectors.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Action;

/// The instrument that plants stalls and reports them.
pub const PLANTED_STALLS: &str = "planted-stalls";

/// The module that produces stalls.
const MODULE: &str = "simstall";

/// Stalls of known length at known times, on one CPU.
///
/// Stalls begin and end with the workload. Lengths and times are drawn from the seed of the
/// run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stalls {
    /// The kind of stall.
    pub kind: StallKind,
    /// Possible lengths in nanoseconds; each stall has one of these.
    pub lengths_ns: Vec<u64>,
    /// Nanoseconds between the beginnings of two stalls, and from the start to the first.
    pub period_ns: u64,
    /// Largest random deviation from the period, in nanoseconds, in either direction.
    pub jitter_ns: u64,
    /// The CPU to stall.
    pub cpu: u32,
}

/// A kind of stall.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum StallKind {
    /// A system management interrupt, which the kernel does not see.
    #[default]
    Smi,
    /// A timer interrupt with a slow handler.
    IrqsOff,
}

impl StallKind {
    /// Its name in the module.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            StallKind::Smi => "smi",
            StallKind::IrqsOff => "irqs-off",
        }
    }
}

impl Stalls {
    /// Maximum number of different lengths.
    pub const LENGTHS_MAX: usize = 16;
    /// Minimum length of a stall, in nanoseconds.
    pub const LENGTH_NS_MIN: u64 = 100;
    /// Maximum length of a stall, in nanoseconds.
    pub const LENGTH_NS_MAX: u64 = 100_000_000;
    /// Maximum period, in nanoseconds.
    pub const PERIOD_NS_MAX: u64 = 3_600_000_000_000;
    /// Minimum time from the end of a stall to the next, in nanoseconds.
    pub const APART_NS: u64 = 20_000;
    /// Maximum number of stalls in a run.
    pub const COUNT_MAX: u32 = 16_384;
    /// Writing a seed to this file starts the planting.
    pub const START: &str = "/sys/kernel/debug/simstall/start";
    /// Writing to this file stops the planting.
    pub const STOP: &str = "/sys/kernel/debug/simstall/stop";
    /// The file with the list of planted stalls.
    pub const LOG: &str = "/sys/kernel/debug/simstall/log";

    /// The step that loads the module with these settings.
    #[must_use]
    pub fn module(&self) -> Action {
        let lengths: Vec<String> = self.lengths_ns.iter().map(u64::to_string).collect();
        let mut parameters = BTreeMap::new();
        for (name, value) in [
            ("kind", self.kind.word().to_owned()),
            ("cpu", self.cpu.to_string()),
            ("length_ns", lengths.join(",")),
            ("period_ns", self.period_ns.to_string()),
            ("jitter_ns", self.jitter_ns.to_string()),
            ("count", Stalls::COUNT_MAX.to_string()),
        ] {
            parameters.insert(name.to_owned(), value);
        }
        Action::Module {
            module: MODULE.to_owned(),
            parameters,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)] // A test may fail.
mod tests {
    use super::*;

    #[test]
    fn what_is_declared_becomes_parameters_of_the_module() {
        let stalls = Stalls {
            kind: StallKind::IrqsOff,
            lengths_ns: vec![2000, 20_000],
            period_ns: 250_000_000,
            jitter_ns: 7,
            cpu: 1,
        };
        let Action::Module { module, parameters } = stalls.module() else {
            panic!("a module is loaded");
        };
        assert_eq!(module, "simstall");
        let names = ["kind", "cpu", "length_ns", "period_ns", "jitter_ns"];
        let given = names.map(|name| parameters[name].as_str());
        assert_eq!(given, ["irqs-off", "1", "2000,20000", "250000000", "7"]);
    }

    #[test]
    fn kinds_are_called_as_they_are_written() {
        for kind in [StallKind::Smi, StallKind::IrqsOff] {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.word());
        }
    }
}
