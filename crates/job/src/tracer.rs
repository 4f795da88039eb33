//! The kernel's own tracers of latencies: `hwlat`, `osnoise` and `timerlat`.
//!
//! [`Tracer`] says how one of them looks. What it saw is the text of
//! [gaps](crate::gaps), its source the name of the instrument.

use serde::{Deserialize, Serialize};

/// Which of them. Each is an instrument of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TracerKind {
    /// Reads the clock in a loop with interrupts off.
    Hwlat,
    /// Reads the clock in a loop with interrupts on.
    Osnoise,
    /// Has a timer wake a thread of high priority.
    Timerlat,
}

impl TracerKind {
    /// Each of them.
    pub const ALL: [TracerKind; 3] = [TracerKind::Hwlat, TracerKind::Osnoise, TracerKind::Timerlat];

    /// As the kernel and experiment files call it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            TracerKind::Hwlat => "hwlat",
            TracerKind::Osnoise => "osnoise",
            TracerKind::Timerlat => "timerlat",
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<TracerKind> {
        TracerKind::ALL.into_iter().find(|kind| kind.word() == name)
    }

    /// The least threshold in nanoseconds: they count in whole microseconds, and
    /// `hwlat` takes 0 for its default.
    #[must_use]
    pub fn threshold_ns_min(self) -> u64 {
        match self {
            TracerKind::Hwlat => 2_000,
            TracerKind::Osnoise | TracerKind::Timerlat => 1_000,
        }
    }
}

/// Which CPUs `hwlat` looks on at a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TracerMode {
    /// One thread, wherever the scheduler has it run.
    None,
    /// One thread, on the next CPU in each window.
    #[default]
    RoundRobin,
    /// A thread on each.
    PerCpu,
}

impl TracerMode {
    /// As the kernel calls it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            TracerMode::None => "none",
            TracerMode::RoundRobin => "round-robin",
            TracerMode::PerCpu => "per-cpu",
        }
    }
}

/// Settings of one of the tracers. Those that it does not know are not looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tracer {
    /// CPUs that are watched; empty for all but CPU 0, or CPU 0 where there is no
    /// other.
    pub cpus: Vec<u32>,
    /// The shortest latency, in nanoseconds: whole microseconds.
    pub threshold_ns: u64,
    /// `hwlat` and `osnoise` look once in this time, in nanoseconds: whole
    /// microseconds.
    pub window_ns: u64,
    /// For so long, likewise.
    pub width_ns: u64,
    /// Which CPUs `hwlat` looks on at a time.
    pub mode: TracerMode,
    /// From one timer of `timerlat` to the next, in nanoseconds: whole microseconds.
    pub period_ns: u64,
}

impl Tracer {
    /// What holds where nothing is said.
    #[must_use]
    pub fn of(kind: TracerKind) -> Tracer {
        Tracer {
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

    /// The CPUs that are watched of those that there are.
    #[must_use]
    pub fn chosen(&self, online: &[u32]) -> Vec<u32> {
        crate::gaps::chosen(&self.cpus, online)
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
            assert_eq!(TracerKind::named(kind.word()), Some(kind));
        }
        assert_eq!(TracerKind::named("gaps"), None);
        for mode in [TracerMode::None, TracerMode::RoundRobin, TracerMode::PerCpu] {
            assert_eq!(serde_json::to_value(mode).unwrap(), mode.word());
        }
    }

    #[test]
    fn what_holds_by_default_is_taken_by_the_kernel() {
        for kind in TracerKind::ALL {
            let settings = Tracer::of(kind);
            assert!(settings.threshold_ns >= kind.threshold_ns_min());
            assert!(settings.width_ns <= settings.window_ns);
        }
        let hwlat = Tracer::of(TracerKind::Hwlat);
        assert!(hwlat.width_ns < hwlat.window_ns, "others must run, too");
    }
}
