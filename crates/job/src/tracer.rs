//! The kernel's latency tracers: `hwlat`, `osnoise` and `timerlat`.
//!
//! [`TracerSettings`] has the settings of one of them. The result is a [gaps](crate::gaps) text
//! whose source is the name of the instrument.

use serde::{Deserialize, Serialize};

/// A tracer. Each is an instrument of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TracerKind {
    /// Reads the clock in a loop with interrupts off.
    Hwlat,
    /// Reads the clock in a loop with interrupts on.
    Osnoise,
    /// Wakes a high-priority thread by a timer.
    Timerlat,
}

impl TracerKind {
    /// All tracers.
    pub const ALL: [TracerKind; 3] = [TracerKind::Hwlat, TracerKind::Osnoise, TracerKind::Timerlat];

    /// Its name in the kernel and in experiment files.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            TracerKind::Hwlat => "hwlat",
            TracerKind::Osnoise => "osnoise",
            TracerKind::Timerlat => "timerlat",
        }
    }

    /// Finds a tracer by name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<TracerKind> {
        TracerKind::ALL.into_iter().find(|kind| kind.word() == name)
    }

    /// The lowest threshold in nanoseconds. Tracers count in whole microseconds, and for
    /// `hwlat` 0 means its default.
    #[must_use]
    pub fn threshold_ns_min(self) -> u64 {
        match self {
            TracerKind::Hwlat => 2_000,
            TracerKind::Osnoise | TracerKind::Timerlat => 1_000,
        }
    }
}

/// The CPUs on which `hwlat` samples at a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TracerMode {
    /// One thread, on any CPU that the scheduler chooses.
    None,
    /// One thread, which moves to the next CPU in each window.
    #[default]
    RoundRobin,
    /// A thread on each CPU.
    PerCpu,
}

impl TracerMode {
    /// Its name in the kernel.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            TracerMode::None => "none",
            TracerMode::RoundRobin => "round-robin",
            TracerMode::PerCpu => "per-cpu",
        }
    }
}

/// Settings of a tracer. It ignores those that do not apply to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TracerSettings {
    /// The CPUs to watch; if empty, all but CPU 0, or CPU 0 if there is no other.
    pub cpus: Vec<u32>,
    /// Minimum latency to record, in nanoseconds: whole microseconds.
    pub threshold_ns: u64,
    /// Period of `hwlat` and `osnoise`, in nanoseconds (whole microseconds): they sample
    /// once in each.
    pub window_ns: u64,
    /// How long `hwlat` and `osnoise` sample in each window, in nanoseconds (whole microseconds).
    pub width_ns: u64,
    /// The CPUs on which `hwlat` samples at a time.
    pub mode: TracerMode,
    /// Timer period of `timerlat`, in nanoseconds: whole microseconds.
    pub period_ns: u64,
}

impl TracerSettings {
    /// The default settings of a tracer.
    #[must_use]
    pub fn for_kind(kind: TracerKind) -> TracerSettings {
        TracerSettings {
            cpus: Vec::new(),
            threshold_ns: 10_000,
            window_ns: match kind {
                TracerKind::Hwlat => 1_000_000_000,
                TracerKind::Osnoise | TracerKind::Timerlat => 100_000_000,
            },
            width_ns: match kind {
                TracerKind::Hwlat => 500_000_000,
                TracerKind::Osnoise | TracerKind::Timerlat => 100_000_000,
            },
            mode: TracerMode::default(),
            period_ns: 1_000_000,
        }
    }

    /// The CPUs to watch, given those that are online.
    #[must_use]
    pub fn cpus_to_watch(&self, online: &[u32]) -> Vec<u32> {
        crate::gaps::cpus_to_watch(&self.cpus, online)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;
    use crate::INSTRUMENTS;

    #[test]
    fn each_is_an_instrument_and_called_as_it_is_written() {
        for kind in TracerKind::ALL {
            assert!(INSTRUMENTS.iter().any(|one| one.name == kind.word()));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.word());
            assert_eq!(TracerKind::from_name(kind.word()), Some(kind));
        }
        assert_eq!(TracerKind::from_name("gaps"), None);
        for mode in [TracerMode::None, TracerMode::RoundRobin, TracerMode::PerCpu] {
            assert_eq!(serde_json::to_value(mode).unwrap(), mode.word());
        }
    }

    #[test]
    fn what_holds_by_default_is_taken_by_the_kernel() {
        for kind in TracerKind::ALL {
            let settings = TracerSettings::for_kind(kind);
            assert!(settings.threshold_ns >= kind.threshold_ns_min());
            assert!(settings.width_ns <= settings.window_ns);
        }
        let hwlat = TracerSettings::for_kind(TracerKind::Hwlat);
        assert!(hwlat.width_ns < hwlat.window_ns, "others must run, too");
    }
}
