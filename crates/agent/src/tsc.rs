//! The time-stamp counter: whether it can serve as a clock, and its rate.

use std::path::Path;

use crate::files;
use crate::sys;

/// Duration of the comparison with CLOCK_MONOTONIC.
const CALIBRATION_NS: u64 = 50_000_000;

/// The rate of the counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CounterRate {
    /// In kilohertz; never 0.
    pub(crate) khz: u64,
}

impl CounterRate {
    /// Converts ticks to nanoseconds.
    pub(crate) fn ns(self, ticks: u64) -> u64 {
        let ns = u128::from(ticks) * 1_000_000 / u128::from(self.khz);
        u64::try_from(ns).unwrap_or(u64::MAX)
    }

    /// Converts nanoseconds to ticks.
    pub(crate) fn ticks(self, ns: u64) -> u64 {
        let ticks = u128::from(ns) * u128::from(self.khz) / 1_000_000;
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }
}

/// Reads the counter.
#[inline]
pub(crate) fn counter() -> u64 {
    // SAFETY: only reads a counter that every CPU of this architecture has.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// Reads the counter after all earlier instructions have completed and before any
/// later one starts.
#[inline]
pub(crate) fn ordered_counter() -> u64 {
    // SAFETY: every CPU of this architecture has the fence, which changes nothing.
    unsafe {
        std::arch::x86_64::_mm_lfence();
        let now = counter();
        std::arch::x86_64::_mm_lfence();
        now
    }
}

/// Checks that the counter of this machine can serve as a clock.
pub(crate) fn check() -> Result<(), String> {
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let source = files::read(Path::new(source)).unwrap_or_default();
    usable(&files::read(Path::new("/proc/cpuinfo"))?, &source)
}

/// Checks that the counter can serve as a clock. `flags`: from /proc/cpuinfo; `source`:
/// the kernel's clock source.
fn usable(flags: &str, source: &str) -> Result<(), String> {
    let flag = |name: &str| flags.split_ascii_whitespace().any(|flag| flag == name);
    if source.trim() == "tsc" || (flag("constant_tsc") && flag("nonstop_tsc")) {
        return Ok(());
    }
    Err(format!(
        "the time-stamp counter is no clock here: the kernel uses '{}', and the CPU lacks \
         constant_tsc or nonstop_tsc; use another machine",
        source.trim()
    ))
}

/// Reads the counter and CLOCK_MONOTONIC as close together as possible.
pub(crate) fn both() -> (u64, u64) {
    let one = || {
        let before = counter();
        let ns = sys::now();
        let length = counter().wrapping_sub(before);
        (length, before.wrapping_add(length / 2), ns)
    };
    let best = (0..16).map(|_| one()).min_by_key(|(length, ..)| *length);
    best.map_or((0, 0), |(_, ticks, ns)| (ticks, ns))
}

/// Measures the rate of the counter.
pub(crate) fn calibrate() -> Result<CounterRate, String> {
    let before = both();
    sys::sleep_until(before.1 + CALIBRATION_NS);
    rate(before, both())
}

/// Computes the rate from two results of [`both`].
pub(crate) fn rate(before: (u64, u64), after: (u64, u64)) -> Result<CounterRate, String> {
    let ticks = u128::from(after.0.wrapping_sub(before.0));
    let ns = u128::from(after.1.saturating_sub(before.1)).max(1);
    let khz = (ticks * 1_000_000 + ns / 2) / ns;
    match u64::try_from(khz) {
        Ok(khz @ 1_000..=100_000_000) => Ok(CounterRate { khz }),
        _ => Err(format!(
            "the time-stamp counter advances by {ticks} in {ns} ns and cannot be a clock; use \
             another machine"
        )),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    #[test]
    fn ticks_are_nanoseconds_at_the_rate() {
        let rate = rate((u64::MAX - 10, 5), (209_999_989, 100_000_005)).unwrap();
        assert_eq!(rate.khz, 2_100_000);
        assert_eq!(rate.ns(2_100), 1_000);
        assert_eq!(rate.ticks(1_000), 2_100);
        assert_eq!(rate.ticks(u64::MAX), u64::MAX);
    }

    #[test]
    fn a_counter_that_stands_or_runs_wild_is_refused() {
        for after in [10, u64::MAX] {
            let why = rate((10, 0), (after, 50_000_000)).unwrap_err();
            assert!(why.contains("cannot be a clock"), "{why}");
        }
    }

    #[test]
    fn a_counter_that_stops_or_changes_is_refused() {
        usable("", "tsc\n").unwrap();
        usable("fpu constant_tsc rdtscp nonstop_tsc", "kvm-clock").unwrap();
        let why = usable("fpu constant_tsc rdtscp", "hpet\n").unwrap_err();
        assert!(
            why.contains("'hpet'") && why.contains("nonstop_tsc"),
            "{why}"
        );
    }
}
